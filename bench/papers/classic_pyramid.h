/* The pyramid of ziegler_2006.c, for compaction and surfaces. */
#ifndef CLASSIC_PYRAMID_H
#define CLASSIC_PYRAMID_H

#include "gl/gl_parts.h"
#include "papers.h"

/* The largest number up to which floats represent all integers. */
#define CLASSIC_MOST (1ull << 24)

typedef enum classic_form {
    CLASSIC_THREE_FETCHES, /* one sum a texel */
    CLASSIC_PARTIAL_SUMS,  /* four sums per texel, those of its children */
    CLASSIC_COPIED,        /* the same; each level is drawn separately and copied into one atlas */
} classic_form;

/* A pyramid: levels of sides side / 2, side / 4 ... 1 above a base with side texels. Levels
 * alternate between the two atlases; or both are the same atlas, into which levels are copied. */
typedef struct classic_pyramid {
    classic_form form;
    uint32_t side, levels;
    const gl_texture *base, *atlas[2];
} classic_pyramid;

/* Checks that the context's engine is OpenGL ES 3 with integer textures. Errors: UNSUPPORTED. */
tml_status classic_check(tml_context *tml, const char *call);

/* Allocates the textures for a square of elements with that side, a power of two. The caller draws
 * the base, then calls classic_build. classic_defines: the defines for shaders that include
 * classic_descent.glsl, or NULL. */
tml_status classic_take(tml_context *tml, classic_form form, uint32_t side, classic_pyramid *out);
const char *classic_defines(classic_form form);
tml_status classic_build(tml_context *tml, const classic_pyramid *pyramid);
/* *out: a temporary texture with the total as a 64-bit number in a quad. */
tml_status classic_total(tml_context *tml, const classic_pyramid *pyramid, const gl_texture **out);

#endif
