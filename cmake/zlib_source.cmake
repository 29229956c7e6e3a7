# zlib where the compiler's system brings none (Emscripten, other machines): of its source, which scripts/setup leaves in
# build/zlib, and for a page only what inflates. Its code is compiled by its own standards.
set(TML_ZLIB_SOURCE ${PROJECT_SOURCE_DIR}/build/zlib CACHE PATH "Where zlib's source lies")
if(NOT EXISTS ${TML_ZLIB_SOURCE}/inflate.c)
    message(FATAL_ERROR "No source of zlib in ${TML_ZLIB_SOURCE}; \"scripts/setup --web\" fetches it")
endif()
set(zlib_sources adler32 crc32 inffast inflate inftrees zutil)
if(NOT TML_WEB)
    list(APPEND zlib_sources compress deflate trees uncompr gzclose gzlib gzread gzwrite)
endif()
list(TRANSFORM zlib_sources PREPEND ${TML_ZLIB_SOURCE}/)
list(TRANSFORM zlib_sources APPEND .c)
add_library(zlib-source STATIC ${zlib_sources})
target_include_directories(zlib-source SYSTEM PUBLIC ${TML_ZLIB_SOURCE})
if(NOT TML_WEB) # tests and the papers' tables ask for zlib, too
    include_directories(SYSTEM ${TML_ZLIB_SOURCE})
endif()
target_compile_options(zlib-source PRIVATE -w -DHAVE_UNISTD_H)
if(TML_WEB)
    # Tables of CRCs, which no compression makes smaller, are made when first asked for. Small rather than fast, but for
    # what most of a file goes through.
    target_compile_options(zlib-source PRIVATE -Oz -DDYNAMIC_CRC_TABLE)
    set_source_files_properties(${TML_ZLIB_SOURCE}/inffast.c PROPERTIES COMPILE_OPTIONS -O3)
endif()
add_library(ZLIB::ZLIB ALIAS zlib-source)
