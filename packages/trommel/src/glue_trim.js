// For Emscripten's compiler (--js-library): its library without what makes contexts and hears events, which the page does.
for (const name of ['removeAllEventListeners', 'registerRemoveEventListeners', 'deferCall', 'removeDeferredCalls',
    'canPerformEventHandlerRequests', 'runDeferredCalls', 'isInternetExplorer', 'registerOrRemoveHandler',
    'getTargetThreadForEventCallback', 'getNodeNameForTarget', 'fullscreenEnabled'])
    delete LibraryManager.library.$JSEvents[name];
delete LibraryManager.library.$GL.createContext;
delete LibraryManager.library.$GL.deleteContext;
// Nothing draws many at once, and no extension that the library asks for has functions.
for (const name of ['multi_draw', 'draw_instanced_base_vertex_base_instance', 'multi_draw_instanced_base_vertex_base_instance'])
    LibraryManager.library[`_webgl_enable_WEBGL_${name}`] = function () {};
mergeInto(LibraryManager.library, {
    emscripten_webgl_enable_extension__deps: ['$GL'],
    emscripten_webgl_enable_extension: function (context, name) {
        return !!GL.getContext(context).GLctx.getExtension(UTF8ToString(name));
    },
});
