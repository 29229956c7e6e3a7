/* --labels: which labels of a volume, exactly, and what the volume has of them. */
#ifndef CLI_LABELS_H
#define CLI_LABELS_H

#include <trommel/volumes.h>

#include "options/options.h"

/* As given; then chosen for a volume's type: ascending, without repeats, as desc.labels. */
typedef struct label_list {
    bool all;
    uint32_t count;
    uint64_t labels[OPT_MAX_NUMBERS];
    bool is_negative[OPT_MAX_NUMBERS];
} label_list;

/* opt_parse_fn: "all", or whole numbers with commas between. */
const char *labels_parse(const char *text, void *member);
/* The list for a volume of this type. Prints a label that is no value of it. Returns an exit
 * code. */
int labels_choose(const label_list *given, tml_type type, label_list *out);
/* A label that counts as background beside the chosen ones: 0, or the least above 0 that is none of
 * them. */
uint64_t labels_background(const label_list *chosen);
/* Makes labels of a volume's physical values, in place, where its samples are none as they are.
 * is_made: were they made? */
tml_status labels_make(tml_context *tml, tml_volume *volume, bool *is_made);

/* What a region of a volume has of the list, and beside it. */
typedef struct labels_found {
    bool is_there[OPT_MAX_NUMBERS];
    uint64_t others[TML_LABELS_LISTED];
    uint64_t other_count; /* of more than TML_LABELS_COUNTED one more than that */
} labels_found;

/* "-3". size: that of out. */
char *labels_text(char *out, size_t size, uint64_t label, bool is_signed);

#endif
