// For Emscripten's compiler (--js-library): its file system without files of the network's, of databases and of
// preloading, none of which the library opens, and without what makes contexts and hears events, which the page does.
const FS = LibraryManager.library.$FS;
for (const name of ['createLazyFile', 'createPreloadedFile', 'forceLoadFile', 'indexedDB', 'DB_NAME', 'DB_VERSION',
    'DB_STORE_NAME', 'saveFilesToDB', 'loadFilesFromDB', 'findObject', 'analyzePath', 'createPath', 'createFile',
    'createDataFile', 'mkdirTree', 'quit', 'syncfs', 'unmount', 'absolutePath', 'standardizePath', 'destroyPolyfill',
    'createLink', 'createFolder', 'joinPath', 'mmapAlloc', 'allocate', 'chown', 'fchown', 'lchmod', 'lchown', 'utime'])
    delete FS[name];

// Nobody types into a page's library, nor looks its files up by number.
FS.createSpecialDirectories = () => {};
for (const ops of ['default_tty_ops', 'default_tty1_ops'])
    LibraryManager.library.$TTY[ops].get_char = () => null;
for (const name of ['removeAllEventListeners', 'registerRemoveEventListeners', 'deferCall', 'removeDeferredCalls',
    'canPerformEventHandlerRequests', 'runDeferredCalls', 'isInternetExplorer', 'registerOrRemoveHandler',
    'getTargetThreadForEventCallback', 'getNodeNameForTarget', 'fullscreenEnabled'])
    delete LibraryManager.library.$JSEvents[name];
delete LibraryManager.library.$GL.createContext;
