/* The order of keys on OpenGL ES (gl_sort.c), for operations that gather in that order. */
#ifndef TML_GL_SORT_H
#define TML_GL_SORT_H

#include "gl/device/gl_internal.h"

typedef struct gl_sort_keys {
    const gl_texture *keys;
    uint32_t size; /* of an element */
    uint64_t flip, real_flip;
    uint32_t first_bit, bit_count;
    /* If it is not 0, larger codes are replaced by it. Codes then fit bit_count bits from bit 0,
     * and keys fit a word. */
    uint32_t most;
    const tml_sort_desc *segments; /* each is sorted separately; NULL: none */
} gl_sort_keys;

/* Four elements per texel. codes: in order, only if `most` is not 0; indices: in the source. Both
 * are 2^32 - 1 past the length. */
typedef struct gl_sorted {
    const gl_texture *codes, *indices;
} gl_sorted;

/* Can so many elements be sorted? */
bool gl_sort_supports(uint64_t length);
/* Takes *out and sorts; the length's bound is not 0. */
tml_status gl_sort(tml_context *tml, const gl_sort_keys *keys, const tml_length *length,
                   gl_sorted *out);

#endif
