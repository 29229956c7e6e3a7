/* Names of files: their endings. */
#ifndef CLI_PATHS_H
#define CLI_PATHS_H

#include <stdbool.h>

/* Does path end in one of the endings, such as ".ply .stl", in any case? */
bool path_ends_with(const char *path, const char *endings);
/* Has it the place of a number, "%d" or "%04d" (tml_path_number)? */
bool path_is_numbered(const char *path);

#endif
