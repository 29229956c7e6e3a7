/* Text files that commands write: beside the target, and renamed when complete. */
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
/* Puts the file in its place, or removes it where it is not wanted. False after printing why it
 * failed. */
bool text_file_finish(text_file *file, bool is_wanted);

#endif
