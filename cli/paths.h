/* Tests on the names of files. */
#ifndef CLI_PATHS_H
#define CLI_PATHS_H

#include <stdbool.h>

/* Whether path ends with one of the endings, such as ".ply .stl". Ignores case. */
bool path_ends_with(const char *path, const char *endings);
/* Whether path has a place for a number, "%d" or "%04d" (tml_path_number). */
bool path_is_numbered(const char *path);

#endif
