# Headers, CMake package and pkg-config files. The libraries and the command are installed where they
# are defined.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/trommel TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
if(NOT TML_IO)
    install(CODE "file(REMOVE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/trommel/io.h\")")
endif()

if(NOT TML_VULKAN)
    install(CODE "file(REMOVE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/trommel/vulkan.h\")")
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Trommel)
if(TML_VULKAN)
    install(FILES cmake/TrommelKernels.cmake DESTINATION ${package_dir})
endif()
install(EXPORT trommel-STATIC FILE TrommelStatic.cmake NAMESPACE Trommel:: DESTINATION ${package_dir})
if(TML_SHARED)
    install(EXPORT trommel-SHARED FILE TrommelShared.cmake NAMESPACE Trommel::
            DESTINATION ${package_dir})
endif()
configure_package_config_file(cmake/TrommelConfig.cmake.in ${PROJECT_BINARY_DIR}/TrommelConfig.cmake
    INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_BINDIR)
# Before 1.0 a minor version may break.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TrommelConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TrommelConfig.cmake
        ${PROJECT_BINARY_DIR}/TrommelConfigVersion.cmake DESTINATION ${package_dir})

# Relative, so that "cmake --install --prefix" may choose another place than was configured.
file(RELATIVE_PATH prefix_from_pkgconfig ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" prefix_from_pkgconfig "${prefix_from_pkgconfig}")
set(pkgconfig_names trommel)
set(pkgconfig_modules "")
set(pkgconfig_libraries "")
if(TML_JPEG)
    list(APPEND pkgconfig_modules libjpeg)
endif()
if(TML_EXR)
    list(APPEND pkgconfig_libraries -l${exr_name})
endif()
if(TML_BZIP2) # which has no pkg-config file
    list(APPEND pkgconfig_libraries -lbz2)
endif()
if(TML_TIFF)
    list(APPEND pkgconfig_modules libtiff-4)
endif()
if(TML_XML)
    list(APPEND pkgconfig_modules expat)
endif()
if(TML_IO)
    list(APPEND pkgconfig_names trommel-io)
endif()
list(JOIN pkgconfig_modules " " pkgconfig_modules)
list(JOIN pkgconfig_libraries " " pkgconfig_libraries)
foreach(name ${pkgconfig_names})
    configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
