# Shaders for OpenGL ES: GLSL of both tiers (src/gl, src/gl_float) and of programs' rooms, their text in
# the library.
#
# Every NAME.frag becomes a gl_shader gl_shader_NAME, declared in a generated header for its folder: its text
# with the includes resolved, but for kernel_glue.glsl, where a user's kernel goes; in pieces, which the
# shaders share. Drivers compile it at run time.
tml_find_headers(TML_GL_HEADERS GLES3/gl3.h GLES2 GLES3 KHR)
tml_find_headers(TML_EGL_HEADERS EGL/egl.h EGL KHR)
if(TML_GL_HEADERS AND TML_EGL_HEADERS)
    set(has_gl_headers ON)
else()
    set(has_gl_headers OFF)
endif()
option(TML_GL "Build the OpenGL ES engine (needs the headers of OpenGL ES and EGL)" ${has_gl_headers})
if(NOT TML_GL)
    if(NOT has_gl_headers)
        message(STATUS "Trommel: no OpenGL ES engine, for want of GLES3/gl3.h or EGL/egl.h "
            "(Debian: libgles-dev, libegl-dev)")
    endif()
    return()
elseif(NOT has_gl_headers)
    message(FATAL_ERROR "TML_GL needs GLES3/gl3.h (${TML_GL_HEADERS}) and EGL/egl.h "
        "(${TML_EGL_HEADERS}); Debian: apt-get install libgles-dev libegl-dev")
endif()

set(gl_folder ${TML_GENERATED}/gl)
file(MAKE_DIRECTORY ${gl_folder})
file(GLOB gl_shaders CONFIGURE_DEPENDS src/gl/shaders/*.frag src/gl/device/shaders/*.frag
     src/gl_float/shaders/*.frag src/*/gl/shaders/*.frag src/*/gl_float/shaders/*.frag)
# flatten_gl_shaders(list path...): their texts without includes, in files that the list gets.
function(flatten_gl_shaders list)
    set(flats "")
    foreach(path ${ARGN})
        get_filename_component(name ${path} NAME_WE)
        set(flat ${gl_folder}/${name}.frag)
        # It may include what is its tier's, and what both tiers share.
        set(tier gl)
        if(path MATCHES "/gl_float/")
            set(tier gl_float)
        endif()
        tml_generate(${flat}
            COMMAND trommel-make-shader flatten ${flat} ${path} -keep kernel_glue.glsl -pieces
                    -depfile ${flat}.d -target ${flat}
                    -I ${PROJECT_SOURCE_DIR}/src -I ${PROJECT_SOURCE_DIR}/src/${tier}/shaders
                    -I ${PROJECT_SOURCE_DIR}/src/gl/device/shaders -I ${TML_GENERATED}
            DEPFILE ${flat}.d
            DEPENDS trommel-make-shader ${path} ${TML_GENERATED}/surface_tables.k.h)
        list(APPEND flats ${flat})
    endforeach()
    set(${list} ${flats} PARENT_SCOPE)
endfunction()
flatten_gl_shaders(gl_flats ${gl_shaders})
include(cmake/declare_shaders.cmake)
declare_shaders(gl_shader gl_shader gl/device/gl_internal.h ${gl_shaders})
tml_generate(${TML_GENERATED}/gl_shaders.c
    COMMAND trommel-make-shader pieces ${TML_GENERATED}/gl_shaders.c ${gl_flats}
    DEPENDS trommel-make-shader ${gl_flats})
add_custom_target(trommel-gl-shaders DEPENDS ${TML_GENERATED}/gl_shaders.c)
add_dependencies(trommel-gl-shaders trommel-tables)

file(GLOB TML_GL_SOURCES CONFIGURE_DEPENDS src/gl/*.c src/gl/device/*.c src/gl_float/*.c
     src/*/gl/*.c src/*/gl_float/*.c)
list(APPEND TML_GL_SOURCES ${TML_GENERATED}/gl_shaders.c)
