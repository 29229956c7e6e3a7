# The target trommel-amalgamation: the library as one C file and one header (tools/make_amalgamation.c), in the build's
# folder amalgamation with the CPU engine alone, and in amalgamation/gpu with the build's other engines too. Included when
# all sources and their flags are known.
tml_add_tool(trommel-make-amalgamation tools/make_amalgamation.c)

# Headers that say something else each time that they are included, or leave macros to the including file.
set(templates lanes.h real64_host.h real64.k.h subdivide_kernels.h surface.k.h
    surface_gradient.k.h surface_open.k.h)
list(TRANSFORM templates PREPEND "-each;")

# amalgamate(VARIABLE folder headers defines source...): the command.
function(amalgamate variable folder headers defines)
    set(words "")
    foreach(source ${ARGN})
        get_source_file_property(flags ${source} COMPILE_OPTIONS)
        if(flags)
            list(APPEND words ${flags})
        endif()
        if(source MATCHES "/platform_posix\\.c$")
            string(PREPEND source "!defined(_WIN32):")
        elseif(source MATCHES "/platform_windows\\.c$")
            string(PREPEND source "defined(_WIN32):")
        endif()
        list(APPEND words ${source})
    endforeach()
    file(MAKE_DIRECTORY ${folder})
    set(${variable} COMMAND trommel-make-amalgamation ${folder} ${PROJECT_SOURCE_DIR}/LICENSE ${headers} ${templates} ${defines}
        -I ${PROJECT_SOURCE_DIR}/include -I ${PROJECT_SOURCE_DIR}/src -I ${TML_GENERATED} ${words} PARENT_SCOPE)
endfunction()

get_target_property(sources trommel-objects SOURCES)
list(APPEND sources ${PROJECT_SOURCE_DIR}/src/core/platform_posix.c ${PROJECT_SOURCE_DIR}/src/core/platform_windows.c)
list(REMOVE_DUPLICATES sources)
list(SORT sources)
set(of_cpu ${sources})
list(REMOVE_ITEM of_cpu ${TML_VULKAN_SOURCES} ${TML_GL_SOURCES} src/gpu/kernel_glue.c)
list(FILTER of_cpu EXCLUDE REGEX "_own_kernels\\.c$")
set(headers trommel/trommel.h,trommel/extend.h,trommel/kernel_math.h)
set(folder ${PROJECT_BINARY_DIR}/amalgamation)
amalgamate(with_cpu ${folder} ${headers} "" ${of_cpu})
set(defines "")
foreach(engine VULKAN GL)
    if(TML_${engine})
        list(APPEND defines -D TML_${engine})
        string(TOLOWER ,trommel/${engine}.h header)
        string(APPEND headers ${header})
    endif()
endforeach()
set(with_gpus "")
if(defines)
    amalgamate(with_gpus ${folder}/gpu ${headers} "${defines}" ${sources})
endif()
add_custom_target(trommel-amalgamation ${with_cpu} ${with_gpus} DEPENDS ${sources}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
add_dependencies(trommel-amalgamation trommel-generated)
if(TML_VULKAN)
    add_dependencies(trommel-amalgamation trommel-shaders)
endif()
