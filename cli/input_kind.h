/* What a file holds, by its contents. */
#ifndef CLI_INPUT_KIND_H
#define CLI_INPUT_KIND_H

#include <trommel/core.h>

typedef enum input_kind {
    INPUT_NONE, /* nothing that is known here */
    INPUT_VOLUME,
    INPUT_POINTS,
    INPUT_MESH,
    INPUT_PICTURE,
    INPUT_INDEX,
} input_kind;

/* INPUT_NONE: nothing that is known, or a file that cannot be read. */
input_kind input_kind_of_file(tml_context *tml, const char *path);

#endif
