/* --labels: which labels of a volume, and what the volume has of them. */
#include "labels.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* ---- the option ------------------------------------------------------------------------------ */

/* Digits are taken exactly; other notations of a whole number, as "1e3", up to 2^53. */
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

/* Is a label a value of the type? */
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
    tml_volume labels;
    *is_made = !tml_volume_has_labels(volume);
    tml_status status = *is_made ? tml_volume_labels(tml, volume, &labels) : TML_OK;
    if (!*is_made || status != TML_OK)
        return status;
    tml_volume_free(tml, volume);
    *volume = labels;
    return TML_OK;
}

/* A set of labels: open addresses; 0 is not in it. */
enum { SET_LOG2 = 17, SET_SIZE = 1 << SET_LOG2, SET_MOST = SET_SIZE / 2 };

static uint64_t sample_at(const unsigned char *row, uint64_t x, size_t size)
{
    uint64_t bits = 0;
    switch (size) {
    case 1:
        return row[x];
    case 2: {
        uint16_t two;
        memcpy(&two, row + 2 * x, 2);
        return two;
    }
    case 4: {
        uint32_t four;
        memcpy(&four, row + 4 * x, 4);
        return four;
    }
    default:
        memcpy(&bits, row + 8 * x, 8);
        return bits;
    }
}

/* The sample after a run of equal ones, which are compared eight bytes at a time. */
static uint64_t run_end(const unsigned char *row, uint64_t x, uint64_t end, size_t size)
{
    static const uint64_t repeat[9] = {[1] = UINT64_C(0x0101010101010101),
                                       [2] = UINT64_C(0x0001000100010001),
                                       [4] = UINT64_C(0x0000000100000001),
                                       [8] = 1};
    const uint64_t label = sample_at(row, x, size), eight = label * repeat[size], each = 8 / size;
    for (x++; x + each <= end; x += each) {
        uint64_t next;
        memcpy(&next, row + x * size, 8);
        if (next != eight)
            break;
    }
    while (x < end && sample_at(row, x, size) == label)
        x++;
    return x;
}

typedef struct label_set {
    uint64_t *slots;
    uint64_t last;
    const label_list *chosen;
    labels_found *out;
} label_set;

static void take_label(label_set *set, uint64_t label)
{
    labels_found *out = set->out;
    uint32_t place;
    set->last = label;
    if (is_chosen(set->chosen, label, &place)) {
        out->is_there[place] = true;
        return;
    }
    uint64_t at = label * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SET_LOG2);
    if (label == 0 || out->has_more)
        return;
    while (set->slots[at] && set->slots[at] != label)
        at = (at + 1) % SET_SIZE;
    if (set->slots[at])
        return;
    if (out->other_count == SET_MOST) {
        out->has_more = true;
        return;
    }
    set->slots[at] = label;
    if (out->other_count < LABELS_NAMED)
        out->others[out->other_count] = label;
    out->other_count++;
}

/* Is there nothing more to find? */
static bool is_done(const label_set *set)
{
    bool has_all = true;
    for (uint32_t i = 0; i < set->chosen->count; i++)
        has_all = has_all && set->out->is_there[i];
    return has_all && set->out->has_more;
}

tml_status labels_find(tml_context *tml, const tml_volume *volume, const tml_region *region,
                       const label_list *chosen, labels_found *out)
{
    const size_t size = tml_type_size(volume->type);
    const unsigned unused = 64 - 8 * (unsigned)size;
    const bool is_signed = tml_type_is_signed(volume->type);
    uint64_t first[3], end[3];
    label_set set = {.chosen = chosen, .out = out};
    *out = (labels_found){.other_count = 0};
    for (int a = 0; a < 3; a++) {
        const uint64_t dim = volume->grid.dims[a];
        first[a] = region->first[a] < dim ? region->first[a] : dim;
        end[a] = region->count[a] && region->count[a] < dim - first[a] ? first[a] + region->count[a]
                                                                       : dim;
    }
    set.slots = tml_alloc_array(tml, SET_SIZE, sizeof *set.slots);
    if (!set.slots)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a table of labels");
    memset(set.slots, 0, SET_SIZE * sizeof *set.slots);
    bool is_begun = false;
    for (uint64_t z = first[2]; z < end[2] && !is_done(&set); z++)
        for (uint64_t y = first[1]; y < end[1]; y++) {
            const unsigned char *row = (const unsigned char *)volume->data +
                                       (z * volume->grid.dims[1] + y) * volume->grid.dims[0] * size;
            for (uint64_t x = first[0]; x < end[0];) {
                uint64_t label = sample_at(row, x, size);
                if (is_signed)
                    label = (uint64_t)((int64_t)(label << unused) >> unused);
                if (!is_begun || label != set.last)
                    take_label(&set, label);
                is_begun = true;
                x = run_end(row, x, end[0], size);
            }
        }
    tml_free(tml, set.slots, SET_SIZE * sizeof *set.slots);
    return TML_OK;
}
