/* Numbers in the forms that people read. Each function writes to text (TEXT_SIZE bytes) and returns
 * it. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdint.h>

enum { TEXT_SIZE = 128 };

char *text_count(char *text, uint64_t count);     /* 1,234,567 */
char *text_bytes(char *text, uint64_t bytes);     /* 3.2 MiB */
char *text_seconds(char *text, double seconds);   /* 12.3 ms */
char *text_triple(char *text, const double v[3]); /* 0.5 x 0.5 x 2 */

/* The shortest usual precision that reads back as the same number, or as the same float. */
char *text_number(char *text, double number);
char *text_float(char *text, float number);

/* Prints "  label      " to stdout: the left column of what info and surface report. */
enum { TEXT_LABEL_WIDTH = 10 };
void text_label(const char *label);

/* The part of path after its last slash. */
const char *text_file_name(const char *path);

/* The length in bytes of the well-formed UTF-8 sequence at text, or 0. Overlong forms, surrogates
 * and code points above U+10FFFF are not well formed (Unicode, table 3-7). */
int text_utf8_length(const char *text);

#endif
