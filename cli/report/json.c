/* Writes JSON (RFC 8259), one value after another, indented. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "report/json.h"
#include "report/text.h"

static void print_string(FILE *out, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    fputc('"', out);
    while (*s) {
        int length = text_utf8_length((const char *)s);
        if (length == 0) {
            fputs("\\ufffd", out);
            length = 1;
        } else if (*s == '"' || *s == '\\') {
            fprintf(out, "\\%c", *s);
        } else if (*s < 0x20) {
            fprintf(out, "\\u%04x", *s);
        } else {
            fwrite(s, 1, (size_t)length, out);
        }
        s += length;
    }
    fputc('"', out);
}

static void begin_value(json *j, const char *name)
{
    if (j->needs_comma)
        fputc(',', j->out);
    if (j->depth)
        fprintf(j->out, "\n%*s", (int)(2 * j->depth), "");
    if (name) {
        print_string(j->out, name);
        fputs(": ", j->out);
    }
    j->needs_comma = true;
}

void json_open(json *j, const char *name, char bracket)
{
    begin_value(j, name);
    fputc(bracket, j->out);
    if (j->depth < sizeof j->brackets)
        j->brackets[j->depth] = bracket;
    j->depth++;
    j->needs_comma = false;
}

void json_close(json *j, char bracket)
{
    j->depth--;
    if (j->needs_comma)
        fprintf(j->out, "\n%*s", (int)(2 * j->depth), "");
    fputc(bracket == '{' ? '}' : ']', j->out);
    j->needs_comma = true;
    if (j->depth == 0)
        fputc('\n', j->out);
}

void json_text(json *j, const char *name, const char *text)
{
    begin_value(j, name);
    if (text)
        print_string(j->out, text);
    else
        fputs("null", j->out);
}

static void print_number(FILE *out, double number)
{
    char text[TEXT_SIZE];
    fputs(isfinite(number) ? text_number(text, number) : "null", out);
}

void json_number(json *j, const char *name, double number)
{
    begin_value(j, name);
    print_number(j->out, number);
}

void json_count(json *j, const char *name, uint64_t count)
{
    begin_value(j, name);
    fprintf(j->out, "%" PRIu64, count);
}

void json_integer(json *j, const char *name, int64_t number)
{
    begin_value(j, name);
    fprintf(j->out, "%" PRId64, number);
}

void json_literal(json *j, const char *name, const char *number)
{
    begin_value(j, name);
    fputs(isfinite(strtod(number, NULL)) ? number : "null", j->out);
}

void json_flag(json *j, const char *name, bool flag)
{
    begin_value(j, name);
    fputs(flag ? "true" : "false", j->out);
}

void json_counts(json *j, const char *name, const uint64_t *counts, uint32_t count)
{
    begin_value(j, name);
    fputc('[', j->out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(j->out, "%s%" PRIu64, i ? ", " : "", counts[i]);
    fputc(']', j->out);
}

void json_numbers(json *j, const char *name, const double *numbers, uint32_t count)
{
    begin_value(j, name);
    fputc('[', j->out);
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            fputs(", ", j->out);
        print_number(j->out, numbers[i]);
    }
    fputc(']', j->out);
}
