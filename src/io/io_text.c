/* Text that is independent of the locale and needs no terminator: lines, words, numbers.
 *
 * Reals: with a mantissa to 2^53 and a power to 10^22, both factors are exact doubles, so one
 * multiplication or division rounds correctly (Clinger: How to Read Floating Point Numbers
 * Accurately. 1990). That covers nearly all numbers in files. The C library parses the others under
 * its "C" locale. */
#include <stdlib.h>

#include "io/io_internal.h"
#include "io/io_system.h"

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool tml_io_line(io_text *text, io_span *line)
{
    if (text->at == text->end)
        return false;
    size_t room = (size_t)(text->end - text->at);
    const char *newline = memchr(text->at, '\n', room);
    size_t size = newline ? (size_t)(newline - text->at) : room;
    *line = (io_span){text->at, size - (size > 0 && text->at[size - 1] == '\r')};
    text->at += size + (newline != NULL);
    text->line += newline != NULL;
    return true;
}

bool tml_io_any_line(io_text *text, io_span *line)
{
    const char *start = text->at, *end = NULL;
    if (start == text->end)
        return false;
    /* Searches a window at a time: a file of only "\r" is not searched to its end per line. */
    for (size_t window = 256; !end && text->at < text->end; window *= 2) {
        const size_t left = (size_t)(text->end - text->at), size = left < window ? left : window;
        const char *newline = memchr(text->at, '\n', size);
        end = memchr(text->at, '\r', newline ? (size_t)(newline - text->at) : size);
        end = end ? end : newline;
        text->at = end ? end : text->at + size;
    }
    *line = (io_span){start, (size_t)(text->at - start)};
    if (end) {
        text->at += *end == '\r' && text->at + 1 < text->end && text->at[1] == '\n' ? 2 : 1;
        text->line++;
    }
    return true;
}

bool tml_io_word(io_text *text, io_span *word)
{
    while (text->at < text->end && is_blank(*text->at))
        text->line += *text->at++ == '\n';
    const char *start = text->at;
    while (text->at < text->end && !is_blank(*text->at))
        text->at++;
    *word = (io_span){start, (size_t)(text->at - start)};
    return word->size > 0;
}

io_span tml_io_trim(io_span span)
{
    while (span.size && is_blank(span.text[span.size - 1]))
        span.size--;
    while (span.size && is_blank(*span.text)) {
        span.text++;
        span.size--;
    }
    return span;
}

bool tml_io_is(io_span span, const char *word)
{
    return strlen(word) == span.size && memcmp(span.text, word, span.size) == 0;
}

bool tml_io_is_any_case(io_span span, const char *word)
{
    if (strlen(word) != span.size)
        return false;
    for (size_t i = 0; i < span.size; i++)
        if (lower(span.text[i]) != lower(word[i]))
            return false;
    return true;
}

const char *tml_io_find(io_span span, const char *word)
{
    const size_t size = strlen(word);
    for (size_t i = 0; i + size <= span.size; i++)
        if (memcmp(span.text + i, word, size) == 0)
            return span.text + i;
    return NULL;
}

bool tml_io_starts_with(io_span span, const char *prefix)
{
    size_t size = strlen(prefix);
    return span.size >= size && memcmp(span.text, prefix, size) == 0;
}

void tml_io_copy(char *out, size_t size, io_span span)
{
    size_t length = span.size < size ? span.size : size - 1;
    if (length)
        memcpy(out, span.text, length);
    out[length] = '\0';
}

bool tml_io_parse_u64(io_span span, uint64_t *out)
{
    size_t i = span.size && span.text[0] == '+';
    if (i == span.size)
        return false;
    uint64_t value = 0;
    for (; i < span.size; i++)
        if (!is_digit(span.text[i]) || __builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(span.text[i] - '0'), &value))
            return false;
    *out = value;
    return true;
}

bool tml_io_parse_i64(io_span span, int64_t *out)
{
    bool negative = span.size && span.text[0] == '-';
    io_span digits = {span.text + negative, span.size - negative};
    uint64_t magnitude;
    if ((negative && digits.size && !is_digit(digits.text[0])) ||
        !tml_io_parse_u64(digits, &magnitude) || magnitude > (uint64_t)INT64_MAX + negative)
        return false;
    *out = (int64_t)(negative ? 0 - magnitude : magnitude);
    return true;
}

/* Returns whether the word is "nan" or has a form such as "nan(ind)". */
static bool is_nan_word(io_span word)
{
    const io_span start = {word.text, word.size < 3 ? word.size : 3};
    return tml_io_is_any_case(start, "nan") &&
           (word.size == 3 ||
            (word.size > 4 && word.text[3] == '(' && word.text[word.size - 1] == ')'));
}

/* Returns whether the word is one that Windows writes after "1.": "#INF", "#IND", "#QNAN", "#SNAN",
 * perhaps with zeros after it, or rounded as if its letters were digits: "#J", "#R". */
static bool is_windows_word(io_span word, bool *is_nan)
{
    static const char *const names[] = {"#INF", "#J", "#IND", "#R", "#QNAN", "#SNAN"};
    while (word.size && word.text[word.size - 1] == '0')
        word.size--;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (tml_io_is_any_case(word, names[i])) {
            *is_nan = i > 1;
            return true;
        }
    return false;
}

/* Parses the rare numbers that are no product of two exact factors: too many digits, or a large
 * exponent. */
static bool parse_f64_slowly(io_span span, double *out)
{
    char copy[1024]; /* no double needs more than 767 digits */
    if (span.size >= sizeof copy)
        return false;
    tml_io_copy(copy, sizeof copy, span);
    double value;
    if (!tml_io_strtod(copy, &value) || value - value != 0) /* overflowed */
        return false;
    *out = value;
    return true;
}

/* Returns whether word is infinity or NaN. has_digits, has_point: what stood before the word. */
static bool is_no_number(io_span word, bool has_digits, bool has_point, bool *is_nan)
{
    if (has_digits)
        return is_windows_word(word, is_nan);
    *is_nan = is_nan_word(word);
    return !has_point &&
           (*is_nan || tml_io_is_any_case(word, "inf") || tml_io_is_any_case(word, "infinity"));
}

bool tml_io_parse_f64(io_span span, double *out)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *at = span.text, *end = span.text + span.size;
    bool negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');

    /* The value is mantissa * 10^exponent. Digits after the 18th are only counted. */
    const int digits_max = 18;
    uint64_t mantissa = 0;
    int64_t exponent = 0, written = 0;
    int digits = 0;
    bool any = false, point = false;
    for (; at < end && (is_digit(*at) || (*at == '.' && !point)); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        any = true;
        exponent -= point;
        if (digits || *at != '0') {
            if (digits++ < digits_max)
                mantissa = 10 * mantissa + (uint64_t)(*at - '0');
        }
    }
    if (!any || (at < end && *at == '#' && point)) {
        bool is_nan = false;
        if (!is_no_number((io_span){at, (size_t)(end - at)}, any, point, &is_nan))
            return false;
        double value = is_nan ? (double)__builtin_nanf("") : __builtin_inf();
        *out = negative ? -value : value;
        return true;
    }
    if (at < end && lower(*at) == 'e') {
        io_span power = {at + 1, (size_t)(end - at - 1)};
        if (!tml_io_parse_i64(power, &written))
            return false;
        at = end;
    }
    if (at < end)
        return false;

    const uint64_t exact_max = (uint64_t)1 << 53;
    if (mantissa == 0 && digits == 0) {
        *out = negative ? -0.0 : 0.0;
        return true;
    }
    if (digits > digits_max || mantissa > exact_max || written > 400 || written < -400 ||
        exponent + written > 22 || exponent + written < -22)
        return parse_f64_slowly(span, out);
    int64_t power = exponent + written;
    double value = (double)mantissa;
    value = power < 0 ? value / powers[-power] : value * powers[power];
    *out = negative ? -value : value;
    return true;
}

size_t tml_io_format_f64(char out[IO_NUMBER_SIZE], double value)
{
    if (value - value != 0)
        return (size_t)snprintf(out, IO_NUMBER_SIZE, "%s",
                                value != value ? "nan"
                                : value > 0    ? "inf"
                                               : "-inf");
    int length = 0;
    double back = 0;
    for (int precision = 15; precision <= 17; precision++) { /* 15 digits may do, 17 always do */
        length = tml_io_print_double(out, IO_NUMBER_SIZE, precision, value);
        if (tml_io_parse_f64((io_span){out, (size_t)length}, &back) && back == value)
            break;
    }
    return (size_t)length;
}
