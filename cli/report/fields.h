/* The report of a command's run, for people, or with --json for programs. Each figure is reported
 * by one call, with the name of its member in JSON and its place in the lines for people.
 *
 *     field_count("vertices", "mesh", "%s vertices", 8);        "vertices": 8
 *     field_count("triangles", NULL, ", %s triangle(s)", 1);    "triangles": 1
 *     "  mesh       8 vertices, 1 triangle"
 *   key     the member; NULL: none
 *   label   begins a line; NULL: continues the previous line
 *   text    a format with one conversion: %s for text (counts with commas, sizes with units), or
 *           one for a double; "(s)" becomes the plural's s; NULL: not for people. A text that
 *           begins with "?" is omitted if the value is 0, NaN or empty
 *
 * JSON is one object on stdout: "trommel", "command", the reported figures, and on failure
 * "error". */
#ifndef CLI_FIELDS_H
#define CLI_FIELDS_H

#include <trommel/core.h>

#include "report/json.h"

typedef enum fields_mode { FIELDS_NONE, FIELDS_TEXT, FIELDS_JSON } fields_mode;

void fields_begin(fields_mode mode, const char *command);
bool fields_are_text(void);
/* Ends the line, or the object. code: an exit code; if it is not 0, message gives the reason. */
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

/* For people: a heading, which is a line of its own; and a line that begins with label, or for NULL
 * continues the previous one, with the formatted text. */
void field_heading(const char *format, ...) TML_FORMAT(1, 2);
void field_line(const char *label, const char *format, ...) TML_FORMAT(2, 3);
/* In JSON: an object '{' or an array '['. */
void field_open(const char *key, char bracket);
void field_close(char bracket);
/* The object, for more; NULL: not asked for. */
json *fields_json(void);

#endif
