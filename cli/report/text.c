/* Numbers in the forms that people read. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/text.h"
#include "standard_names.h"

char *text_count(char *text, uint64_t count)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count), used = 0;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = '\0';
    return text;
}

char *text_bytes(char *text, uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double size = (double)bytes / 1024;
    int unit = 0;
    while (size >= 999.5 && unit < 5) {
        size /= 1024;
        unit++;
    }
    if (bytes < 1024)
        snprintf(text, TEXT_SIZE, "%" PRIu64 " bytes", bytes);
    else
        snprintf(text, TEXT_SIZE, "%.*f %s", size < 9.95 ? 1 : 0, size, units[unit]);
    return text;
}

char *text_seconds(char *text, double seconds)
{
    if (seconds < 1)
        snprintf(text, TEXT_SIZE, "%.*f ms",
                 seconds < 0.00995  ? 2
                 : seconds < 0.0995 ? 1
                                    : 0,
                 1e3 * seconds);
    else
        snprintf(text, TEXT_SIZE, "%.*f s", seconds < 9.95 ? 2 : 1, seconds);
    return text;
}

char *text_triple(char *text, const double v[3])
{
    snprintf(text, TEXT_SIZE, "%g x %g x %g", v[0], v[1], v[2]);
    return text;
}

const char *text_file_name(const char *path)
{
    const char *name = path = standard_name(path);
    for (const char *at = path; *at; at++)
        if (at[0] == '/' && at[1]) /* a folder's name may end in one */
            name = at + 1;
    return name;
}

char *text_number(char *text, double number)
{
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, TEXT_SIZE, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    return text;
}

char *text_float(char *text, float number)
{
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, TEXT_SIZE, "%.*g", digits, (double)number);
        if (strtof(text, NULL) == number)
            break;
    }
    return text;
}

void text_label(const char *label)
{
    printf("  %-*s ", TEXT_LABEL_WIDTH, label);
}

int text_utf8_length(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    int length = s[0] < 0x80                    ? 1
                 : s[0] >= 0xc2 && s[0] <= 0xdf ? 2
                 : (s[0] & 0xf0) == 0xe0        ? 3
                 : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                                : 0;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    bool bad = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
               (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f);
    return bad ? 0 : length;
}
