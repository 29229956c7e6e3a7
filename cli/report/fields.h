/* What a command tells of its run, to people or, with --json, to programs. Each figure is said
 * once: with the name of its member in JSON, and its place in the lines for people.
 *
 *     field_count("vertices", "mesh", "%s vertices", 8);        "vertices": 8
 *     field_count("triangles", NULL, ", %s triangle(s)", 1);    "triangles": 1
 *     "  mesh       8 vertices, 1 triangle"
 * key     the member; NULL: none
 * label   begins a line; NULL: goes on with the one before
 * text    a format with one conversion: %s of what people read as text (counts with commas, sizes
 *         with units), of numbers one for a double; "(s)" becomes the plural's s; NULL: not for
 *         people. After a "?" it is said only where the value is not 0, NaN or empty
 *
 * JSON is one object on stdout: "trommel", "command", what is told here, and on failure "error". */
#ifndef CLI_FIELDS_H
#define CLI_FIELDS_H

#include <trommel/core.h>

#include "report/json.h"

typedef enum fields_mode { FIELDS_NONE, FIELDS_TEXT, FIELDS_JSON } fields_mode;

void fields_begin(fields_mode mode, const char *command);
bool fields_are_text(void);
/* Ends the line, or the object; code: an exit code, and if it is not 0, message says why. */
void fields_end(int code, const char *message);

void field_count(const char *key, const char *label, const char *text, uint64_t value);
void field_integer(const char *key, const char *label, const char *text, int64_t value);
void field_bytes(const char *key, const char *label, const char *text, uint64_t value);
void field_number(const char *key, const char *label, const char *text, double value);
void field_text(const char *key, const char *label, const char *text, const char *value);
void field_flag(const char *key, const char *label, const char *text, bool value); /* yes, no */
/* A number that is already text. */
void field_literal(const char *key, const char *label, const char *text, const char *value);
/* Three of them. */
void field_dims(const char *key, const char *label, const char *text, const uint64_t dims[3]);
void field_triple(const char *key, const char *label, const char *text, const double values[3]);

/* For people: a heading, which is a line; a line that begins, or NULL goes on, with what the
 * format says. */
void field_heading(const char *format, ...) TML_FORMAT(1, 2);
void field_line(const char *label, const char *format, ...) TML_FORMAT(2, 3);
/* In JSON: an object '{' or an array '['. */
void field_open(const char *key, char bracket);
void field_close(char bracket);
/* The object, for more; NULL: not asked for. */
json *fields_json(void);

#endif
