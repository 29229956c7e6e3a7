/* The pyramid of ziegler_2006.c, for compaction and surfaces. */
#ifndef CLASSIC_PYRAMID_H
#define CLASSIC_PYRAMID_H

#include "gl/gl_parts.h"
#include "papers.h"

/* Floats count without gaps up to here. */
#define CLASSIC_MOST (1ull << 24)

typedef enum classic_form {
    CLASSIC_FOUR_FETCHES, /* a sum a texel */
    CLASSIC_PARTIAL_SUMS, /* the sums of the four children */
} classic_form;

/* Levels of sides side / 2, side / 4 ... 1 above a base of that side. */
typedef struct classic_pyramid {
    classic_form form;
    uint32_t side, levels;
    const gl_texture *base, *atlas[2];
} classic_pyramid;

/* Is the context on integer textures, which the classic programs read and write? Says why not. */
tml_status classic_check(tml_context *tml, const char *call);

/* Takes the textures for a square of elements of that side, a power of two. The caller draws the base and
 * builds. */
tml_status classic_take(tml_context *tml, classic_form form, uint32_t side, classic_pyramid *out);
tml_status classic_build(tml_context *tml, const classic_pyramid *pyramid);
/* The total as a number of 64 bits, in a quad. */
tml_status classic_total(tml_context *tml, const classic_pyramid *pyramid, const gl_texture **out);

#endif
