# Written after vcpkg's documentation; not built by its tools yet.
vcpkg_download_distfile(archive
    URLS "@HOMEPAGE@/releases/trommel_@VERSION@.orig.tar.gz"
    FILENAME "trommel_@VERSION@.orig.tar.gz"
    SHA512 @SHA512@)
vcpkg_extract_source_archive(source ARCHIVE "${archive}")
vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES
    io TML_IO
    vulkan TML_VULKAN
    gl TML_GL)
string(COMPARE EQUAL "${VCPKG_LIBRARY_LINKAGE}" dynamic shared)
vcpkg_cmake_configure(SOURCE_PATH "${source}"
    OPTIONS ${features} -DTML_SHARED=${shared} -DTML_CLI=OFF -DTML_TESTS=OFF -DTML_EXAMPLES=OFF -DTML_EXR=OFF
        -DTML_GLTF=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME Trommel CONFIG_PATH lib/cmake/Trommel)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
vcpkg_install_copyright(FILE_LIST "${source}/LICENSE")
