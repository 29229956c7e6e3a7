/* Names of files: their endings, and numbers in them. */
#ifndef CLI_PATHS_H
#define CLI_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Does path end in one of the endings, such as ".ply .stl", in any case? */
bool path_ends_with(const char *path, const char *endings);

/* The names of a series: "%d" or "%04d" in pattern, once, becomes number. A pattern without it stays as it is.
 * False where the result is longer than size or the pattern has another conversion. A label that is_signed is an
 * int64_t. */
bool path_is_numbered(const char *pattern);
bool path_label(const char *pattern, uint64_t label, bool is_signed, char *out, size_t size);
bool path_number(const char *pattern, uint32_t number, char *out, size_t size);

#endif
