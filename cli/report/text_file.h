/* Text files that commands write: next to the target, and renamed when complete. */
#ifndef CLI_TEXT_FILE_H
#define CLI_TEXT_FILE_H

#include <stdbool.h>
#include <stdio.h>

enum { TEXT_FILE_PATH = 4096 };

typedef struct text_file {
    FILE *stream; /* NULL: could not be made */
    const char *path;
    char target[TEXT_FILE_PATH]; /* what path is, or leads to */
    char temporary[TEXT_FILE_PATH];
} text_file;

/* False after printing why not. */
bool text_file_create(const char *path, text_file *out);
/* Moves the file to its place, or removes it if it is unwanted. Returns false, after printing the
 * reason, on failure. */
bool text_file_finish(text_file *file, bool is_wanted);

#endif
