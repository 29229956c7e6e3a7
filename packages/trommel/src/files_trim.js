// For Emscripten's compiler (--js-library): its file system without files of the network's, of databases and of
// preloading, none of which the library opens.
const FS = LibraryManager.library.$FS;
for (const name of ['createLazyFile', 'createPreloadedFile', 'forceLoadFile', 'indexedDB', 'DB_NAME', 'DB_VERSION',
    'DB_STORE_NAME', 'saveFilesToDB', 'loadFilesFromDB', 'findObject', 'analyzePath', 'createPath', 'createFile',
    'createDataFile', 'mkdirTree', 'quit', 'syncfs', 'unmount', 'absolutePath', 'standardizePath', 'destroyPolyfill',
    'createLink', 'createFolder', 'joinPath', 'mmapAlloc'])
    delete FS[name];
