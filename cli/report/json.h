/* Writes JSON (RFC 8259), one value after another, indented. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct json {
    FILE *out;
    uint32_t depth;
    char brackets[16]; /* of the containers that are open */
    bool needs_comma;
} json;

/* name is NULL for the outermost value, and inside arrays. Containers: '{' or '['. */
void json_open(json *j, const char *name, char bracket);
void json_close(json *j, char bracket);
void json_text(json *j, const char *name, const char *text); /* NULL: null; bad UTF-8: U+FFFD */
void json_number(json *j, const char *name, double number);  /* not finite: null */
void json_count(json *j, const char *name, uint64_t count);
void json_integer(json *j, const char *name, int64_t number);
/* A number that is already text. Values for which JSON has no number (nan, inf) become null. */
void json_literal(json *j, const char *name, const char *number);
void json_flag(json *j, const char *name, bool flag);
void json_counts(json *j, const char *name, const uint64_t *counts, uint32_t count);
void json_numbers(json *j, const char *name, const double *numbers, uint32_t count);

#endif
