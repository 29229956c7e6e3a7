# trommel_add_kernels(TARGET [NAME symbol] [source ...])
#
# Compiles the kernels (TML_KERNEL) in a target's C and C++ sources, all of them or those named, to
# SPIR-V, packs it and adds to the target a C file that defines
#     const tml_vulkan_kernel symbol[];          (without NAME: TARGET_kernels)
# to be declared extern by the program and given to tml_open in tml_vulkan_desc.kernels. Kernels that
# are in no such list are compiled at run time, where libshaderc is found. Call it after the target's
# sources are known; include folders, definitions and linked libraries may follow. A source that
# includes generated files names them in its property OBJECT_DEPENDS.
function(trommel_add_kernels target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME" "")
    if(NOT TROMMEL_GLSLC)
        message(FATAL_ERROR "trommel_add_kernels(${target}) needs glslc; Debian: apt-get install glslc")
    elseif(NOT TROMMEL_KERNELS_TOOL)
        message(FATAL_ERROR "trommel_add_kernels(${target}): the tool trommel-kernels is not beside the "
            "library; set TROMMEL_KERNELS_TOOL to its path")
    endif()
    if(NOT arg_NAME)
        string(MAKE_C_IDENTIFIER "${target}_kernels" arg_NAME)
    endif()
    set(sources ${arg_UNPARSED_ARGUMENTS})
    if(NOT sources)
        get_target_property(sources ${target} SOURCES)
        list(FILTER sources INCLUDE REGEX "\\.(c|cc|cpp|cxx)$")
    endif()

    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}.dir)
    file(MAKE_DIRECTORY ${folder})
    # Empty lists must leave no "-I" behind.
    set(includes "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
    set(defines "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
    if(TML_GENERATED_BY) # another build of these sources has made it
        file(RELATIVE_PATH folder ${CMAKE_BINARY_DIR} ${folder})
        target_sources(${target} PRIVATE ${TML_GENERATED_BY}/${folder}/${arg_NAME}.c)
        return()
    endif()
    set(preprocessed "")
    foreach(source ${sources})
        get_filename_component(path ${source} ABSOLUTE)
        get_filename_component(name ${source} NAME)
        set(output ${folder}/${name}.i)
        set(compiler ${CMAKE_C_COMPILER})
        if(NOT name MATCHES "\\.c$")
            set(compiler ${CMAKE_CXX_COMPILER})
        endif()
        get_property(generated SOURCE ${source} PROPERTY OBJECT_DEPENDS)
        add_custom_command(OUTPUT ${output}
            COMMAND ${compiler} -E -P -DTML_KERNEL_EXTRACT
                    "$<$<BOOL:${defines}>:-D$<JOIN:${defines},;-D>>"
                    "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>"
                    -MD -MF ${output}.d -MT ${output} -o ${output} ${path}
            DEPFILE ${output}.d DEPENDS ${path} ${generated} COMMAND_EXPAND_LISTS VERBATIM
            COMMENT "Looking for kernels in ${source}")
        list(APPEND preprocessed ${output})
    endforeach()
    set(output ${folder}/${arg_NAME}.c)
    add_custom_command(OUTPUT ${output}
        COMMAND ${TROMMEL_KERNELS_TOOL} ${output} ${arg_NAME} ${folder} ${TROMMEL_GLSLC} ${preprocessed}
        DEPENDS ${TROMMEL_KERNELS_TOOL} ${preprocessed} VERBATIM
        COMMENT "Compiling the kernels of ${target}")
    target_sources(${target} PRIVATE ${output})
endfunction()
