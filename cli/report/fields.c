/* The report of a command's run, for people or for programs. Its state belongs to the process,
 * since there is one stdout. */
#include "report/fields.h"
#include "standard_names.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "report/text.h"

static struct {
    fields_mode mode;
    const char *command;
    json json;
    bool in_line;
} told;

void fields_begin(fields_mode mode, const char *command)
{
    told.mode = mode;
    told.command = command;
}

bool fields_are_text(void)
{
    return told.mode == FIELDS_TEXT;
}

json *fields_json(void)
{
    char version[32];
    if (told.mode != FIELDS_JSON)
        return NULL;
    if (told.json.depth)
        return &told.json;
    told.json.out = stdout;
    snprintf(version, sizeof version, "%d.%d.%d", TML_VERSION_MAJOR, TML_VERSION_MINOR,
             TML_VERSION_PATCH);
    json_open(&told.json, NULL, '{');
    json_text(&told.json, "trommel", version);
    json_text(&told.json, "command", told.command);
    return &told.json;
}

static void end_line(void)
{
    if (told.in_line)
        putchar('\n');
    told.in_line = false;
}

static void begin_line(const char *label)
{
    if (!label)
        return;
    end_line();
    text_label(label);
    told.in_line = true;
}

void fields_end(int code, const char *message)
{
    end_line();
    json *j = fields_json();
    if (!j)
        return;
    while (j->depth > 1)
        json_close(j, j->brackets[j->depth - 1]);
    if (code) {
        json_open(j, "error", '{');
        json_count(j, "code", (uint64_t)code);
        json_text(j, "message", message);
        json_close(j, '{');
    }
    json_close(j, '{');
}

/* Begins the line of a figure if the figure is for people, and writes its format, singular or
 * plural, to out (TEXT_SIZE bytes). Returns false if it is not for people. */
static bool begin_text(const char *label, const char *text, bool is_some, bool is_one, char *out)
{
    if (told.mode != FIELDS_TEXT || !text || (*text == '?' && !is_some))
        return false;
    text += *text == '?';
    const char *plural = strstr(text, "(s)");
    if (plural)
        snprintf(out, TEXT_SIZE, "%.*s%s%s", (int)(plural - text), text, is_one ? "" : "s",
                 plural + 3);
    else
        snprintf(out, TEXT_SIZE, "%s", text);
    begin_line(label);
    return true;
}

static void tell(const char *label, const char *text, bool is_some, bool is_one, const char *value)
{
    char format[TEXT_SIZE];
    if (begin_text(label, text, is_some, is_one, format))
        printf(format, value);
}

void field_count(const char *key, const char *label, const char *text, uint64_t value)
{
    char number[TEXT_SIZE];
    tell(label, text, value, value == 1, text_count(number, value));
    if (key && fields_json())
        json_count(&told.json, key, value);
}

void field_integer(const char *key, const char *label, const char *text, int64_t value)
{
    char number[TEXT_SIZE];
    snprintf(number, sizeof number, "%" PRId64, value);
    tell(label, text, value, value == 1, number);
    if (key && fields_json())
        json_integer(&told.json, key, value);
}

void field_bytes(const char *key, const char *label, const char *text, uint64_t value)
{
    char number[TEXT_SIZE];
    tell(label, text, value, false, text_bytes(number, value));
    if (key && fields_json())
        json_count(&told.json, key, value);
}

void field_number(const char *key, const char *label, const char *text, double value)
{
    char format[TEXT_SIZE];
    if (begin_text(label, text, value != 0 && !isnan(value), value == 1, format))
        printf(format, value);
    if (key && fields_json())
        json_number(&told.json, key, value);
}

void field_text(const char *key, const char *label, const char *text, const char *value)
{
    value = value ? standard_name(value) : NULL;
    tell(label, text, value && *value, false, value);
    if (key && fields_json())
        json_text(&told.json, key, value);
}

void field_flag(const char *key, const char *label, const char *text, bool value)
{
    tell(label, text, value, false, value ? "yes" : "no");
    if (key && fields_json())
        json_flag(&told.json, key, value);
}

void field_literal(const char *key, const char *label, const char *text, const char *value)
{
    tell(label, text, true, false, value);
    if (key && fields_json())
        json_literal(&told.json, key, value);
}

void field_dims(const char *key, const char *label, const char *text, const uint64_t dims[3])
{
    char list[TEXT_SIZE];
    snprintf(list, sizeof list, "%" PRIu64 " x %" PRIu64 " x %" PRIu64, dims[0], dims[1], dims[2]);
    tell(label, text, true, false, list);
    if (key && fields_json())
        json_counts(&told.json, key, dims, 3);
}

void field_triple(const char *key, const char *label, const char *text, const double values[3])
{
    char list[TEXT_SIZE];
    tell(label, text, true, false, text_triple(list, values));
    if (key && fields_json())
        json_numbers(&told.json, key, values, 3);
}

void field_heading(const char *format, ...)
{
    va_list values;
    if (told.mode != FIELDS_TEXT)
        return;
    end_line();
    va_start(values, format);
    vprintf(format, values);
    va_end(values);
    putchar('\n');
}

void field_line(const char *label, const char *format, ...)
{
    va_list values;
    if (told.mode != FIELDS_TEXT)
        return;
    begin_line(label);
    va_start(values, format);
    vprintf(format, values);
    va_end(values);
}

void field_open(const char *key, char bracket)
{
    if (fields_json())
        json_open(&told.json, key, bracket);
}

void field_close(char bracket)
{
    if (fields_json())
        json_close(&told.json, bracket);
}
