/* The paths that replace standard input and output, and their names for users. */
#include "standard_names.h"

#include <string.h>

struct standard_paths standard_paths;

bool standard_is_input(const char *path)
{
    return standard_paths.input[0] && strcmp(path, standard_paths.input) == 0;
}

const char *standard_name(const char *path)
{
    return standard_is_input(path) ? "standard input"
           : standard_paths.output[0] && strcmp(path, standard_paths.output) == 0
               ? "standard output"
               : path;
}

static void replace(char *message, size_t size, const char *path, const char *name)
{
    size_t length = strlen(path), with = strlen(name);
    for (char *at = message; length && (at = strstr(at, path)); at += with) {
        size_t rest = strlen(at + length) + 1;
        if ((size_t)(at - message) + with + rest > size)
            return;
        memmove(at + with, at + length, rest);
        memcpy(at, name, with);
    }
}

void standard_names_in(char *message, size_t size)
{
    replace(message, size, standard_paths.input, "standard input");
    replace(message, size, standard_paths.output, "standard output");
}
