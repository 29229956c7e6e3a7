/* --labels: which labels of a volume to extract, and which of them the volume has. */
#ifndef CLI_LABELS_H
#define CLI_LABELS_H

#include <trommel/volumes.h>

#include "options/options.h"

/* Labels as given or, after labels_choose, ascending without repeats, as in desc.labels. */
typedef struct label_list {
    bool all;
    uint32_t count;
    uint64_t labels[OPT_MAX_NUMBERS];
    bool is_negative[OPT_MAX_NUMBERS];
} label_list;

/* opt_parse_fn: "all", or whole numbers separated by commas. */
const char *labels_parse(const char *text, void *member);
/* Makes the list for a type. Prints a label that is not a value of it. Returns an exit code. */
int labels_choose(const label_list *given, tml_type type, label_list *out);
/* Returns a label to use as background: the smallest that is not chosen, from 0 on. */
uint64_t labels_background(const label_list *chosen);
/* Converts a volume's physical values to labels, in place, if its samples cannot be labels.
 * is_made: whether it did. */
tml_status labels_make(tml_context *tml, tml_volume *volume, bool *is_made);

/* Which labels of the list a region has, and which others. */
typedef struct labels_found {
    bool is_there[OPT_MAX_NUMBERS];
    uint64_t others[TML_LABELS_LISTED];
    uint64_t other_count; /* more than TML_LABELS_COUNTED count as one more than that */
} labels_found;

/* Writes a label as text, "-3". size: of out. */
char *labels_text(char *out, size_t size, uint64_t label, bool is_signed);

#endif
