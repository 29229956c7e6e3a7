// For Emscripten's compiler (--js-library): its library without what makes contexts and hears events, which the page does.
for (const name of ['removeAllEventListeners', 'registerRemoveEventListeners', 'deferCall', 'removeDeferredCalls',
    'canPerformEventHandlerRequests', 'runDeferredCalls', 'isInternetExplorer', 'registerOrRemoveHandler',
    'getTargetThreadForEventCallback', 'getNodeNameForTarget', 'fullscreenEnabled'])
    delete LibraryManager.library.$JSEvents[name];
delete LibraryManager.library.$GL.createContext;
