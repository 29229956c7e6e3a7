/* Paths that replace standard input and output (standard_files.h), and their names for users. */
#ifndef CLI_STANDARD_NAMES_H
#define CLI_STANDARD_NAMES_H

#include <stdbool.h>
#include <stddef.h>

enum { STANDARD_PATH = 512 };
extern struct standard_paths {
    char input[STANDARD_PATH];  /* "/dev/fd/3"; empty: standard input is not used */
    char output[STANDARD_PATH]; /* empty: standard output is for the summary */
} standard_paths;

/* Whether path replaces standard input. */
bool standard_is_input(const char *path);
/* Returns a path's name for users: "standard input", "standard output", or path itself. */
const char *standard_name(const char *path);
/* Replaces these paths in a message by their names, in place. */
void standard_names_in(char *message, size_t size);

#endif
