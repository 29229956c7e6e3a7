/* What other programs call the options that are here: what people type first. */
#ifndef CLI_OTHER_NAMES_H
#define CLI_OTHER_NAMES_H

#include <stdbool.h>

typedef struct other_name {
    const char *words; /* "isovalue|level": names elsewhere */
    const char *name;  /* the option here; NULL: there is none */
    const char *note;  /* then: what to do instead */
} other_name;

/* The entries that list word, in any case and with "_" for "-": the first (after: NULL), or the
 * next one. NULL: there are no more. */
const other_name *other_name_find(const other_name *after, const char *word);
/* Is word one of "isovalue|level", in any case and with "_" for "-"? */
bool other_name_is_among(const char *words, const char *word);

#endif
