# zlib for Emscripten, which brings none: what inflating needs of its source, which "scripts/setup --web"
# leaves in build/web/zlib. Its code is compiled by its own standards.
set(TML_ZLIB_SOURCE ${PROJECT_SOURCE_DIR}/build/web/zlib CACHE PATH "Where zlib's source lies")
if(NOT EXISTS ${TML_ZLIB_SOURCE}/inflate.c)
    message(FATAL_ERROR "No source of zlib in ${TML_ZLIB_SOURCE}; \"scripts/setup --web\" fetches it")
endif()
set(zlib_sources adler32 crc32 inffast inflate inftrees zutil)
list(TRANSFORM zlib_sources PREPEND ${TML_ZLIB_SOURCE}/)
list(TRANSFORM zlib_sources APPEND .c)
add_library(web-zlib STATIC ${zlib_sources})
target_include_directories(web-zlib SYSTEM PUBLIC ${TML_ZLIB_SOURCE})
# Tables of CRCs, which no compression makes smaller, are made when first asked for.
target_compile_options(web-zlib PRIVATE -w -DDYNAMIC_CRC_TABLE)
