/* Other programs' names for our options, since people try these first. */
#ifndef CLI_OTHER_NAMES_H
#define CLI_OTHER_NAMES_H

#include <stdbool.h>

typedef struct other_name {
    const char *words; /* "isovalue|level": names elsewhere */
    const char *name;  /* our option; NULL: there is none */
    const char *note;  /* if name is NULL: what to do instead */
} other_name;

/* Returns the first entry that lists word (after: NULL), or the next one after `after`; NULL if
 * there is none. Ignores case; "_" equals "-". */
const other_name *other_name_find(const other_name *after, const char *word);
/* Whether word is one of words, such as "isovalue|level". Ignores case; "_" equals "-". */
bool other_name_is_among(const char *words, const char *word);

#endif
