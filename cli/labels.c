/* --labels: parses the list, and chooses the labels for a volume's type. */
#include "labels.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* ---- the option ------------------------------------------------------------------------------ */

/* Parses a label: digits exactly; other notations of whole numbers, such as "1e3", to 2^53. */
static bool parse_label(const char *word, uint64_t *label, bool *is_negative)
{
    const bool minus = word[0] == '-';
    const char *digits = word + (minus || word[0] == '+');
    double number;
    if (strspn(digits, "0123456789") == strlen(digits) && digits[0]) {
        errno = 0;
        const uint64_t size = strtoull(digits, NULL, 10);
        if (errno == ERANGE || (minus && size > (uint64_t)INT64_MAX + 1))
            return false;
        *label = minus ? 0 - size : size;
        *is_negative = minus && size;
        return true;
    }
    if (!opt_number(word, &number) || number != floor(number) || fabs(number) > 0x1p53)
        return false;
    *label = (uint64_t)(int64_t)number;
    *is_negative = number < 0;
    return true;
}

const char *labels_parse(const char *text, void *member)
{
    static const char expected[] = "all, or whole numbers separated by commas such as 1,4";
    label_list *list = member;
    list->all = strcmp(text, "all") == 0;
    list->count = 0;
    while (!list->all) {
        char word[64];
        const size_t length = strcspn(text, ",");
        if (length >= sizeof word || list->count == OPT_MAX_NUMBERS)
            return list->count == OPT_MAX_NUMBERS ? "all, or at most 64 labels" : expected;
        memcpy(word, text, length);
        word[length] = '\0';
        const uint32_t i = list->count++;
        if (!parse_label(word, &list->labels[i], &list->is_negative[i]))
            return expected;
        if (!text[length])
            break;
        text += length + 1;
    }
    return NULL;
}

char *labels_text(char *out, size_t size, uint64_t label, bool is_signed)
{
    if (is_signed)
        snprintf(out, size, "%" PRId64, (int64_t)label);
    else
        snprintf(out, size, "%" PRIu64, label);
    return out;
}

/* Whether a label is a value of the type. */
static bool is_value(tml_type type, uint64_t label, bool is_negative)
{
    const unsigned bits = 8 * (unsigned)tml_type_size(type);
    if (!tml_type_is_signed(type))
        return !is_negative && (bits == 64 || label >> bits == 0);
    const int64_t most = (int64_t)(UINT64_MAX >> (65 - bits));
    return is_negative ? (int64_t)label >= -most - 1 : label <= (uint64_t)most;
}

int labels_choose(const label_list *given, tml_type type, label_list *out)
{
    const bool is_signed = tml_type_is_signed(type);
    *out = (label_list){.all = given->all};
    for (uint32_t i = 0; i < given->count; i++) {
        char text[32];
        const uint64_t label = given->labels[i];
        if (!is_value(type, label, given->is_negative[i]))
            return cli_error("--labels: %s is no value of %s, of which the labels are",
                             labels_text(text, sizeof text, label, given->is_negative[i]),
                             tml_type_name(type));
        uint32_t at = out->count;
        while (at > 0 && (is_signed ? (int64_t)out->labels[at - 1] > (int64_t)label
                                    : out->labels[at - 1] > label))
            at--;
        if (at > 0 && out->labels[at - 1] == label)
            continue;
        memmove(out->labels + at + 1, out->labels + at, (out->count - at) * sizeof *out->labels);
        out->labels[at] = label;
        out->count++;
    }
    for (uint32_t i = 0; i < out->count; i++)
        out->is_negative[i] = is_signed && (int64_t)out->labels[i] < 0;
    return CLI_OK;
}

static bool is_chosen(const label_list *list, uint64_t label, uint32_t *at)
{
    for (*at = 0; *at < list->count; ++*at)
        if (list->labels[*at] == label)
            return true;
    return false;
}

uint64_t labels_background(const label_list *chosen)
{
    uint64_t background = 0;
    uint32_t at;
    while (is_chosen(chosen, background, &at))
        background++;
    return background;
}

/* ---- what a volume has ----------------------------------------------------------------------- */

tml_status labels_make(tml_context *tml, tml_volume *volume, bool *is_made)
{
    *is_made = !tml_volume_has_labels(volume);
    return *is_made ? tml_volume_convert(tml, volume, TML_VALUES_LABELS, volume) : TML_OK;
}
