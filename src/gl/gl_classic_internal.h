/* The classic pyramid itself, for compaction and surfaces (gl_classic.h). */
#ifndef TML_GL_CLASSIC_INTERNAL_H
#define TML_GL_CLASSIC_INTERNAL_H

#include "gl/device/gl_internal.h"
#include "gl/gl_classic.h"

/* Floats count without gaps up to here. */
#define GL_CLASSIC_MOST (1ull << 24)

/* Levels of sides side / 2, side / 4 ... 1 above a base of that side. */
typedef struct classic_pyramid {
    gl_classic_form form;
    uint32_t side, levels;
    const gl_texture *base, *atlas[2];
} classic_pyramid;

/* Is the context on integer textures, which the classic programs read and write? Says why not. */
tml_status gl_classic_check(tml_context *tml, const char *call);

/* Takes the textures for a square of elements of that side, a power of two. The caller draws the base and
 * builds. */
tml_status gl_classic_take(tml_context *tml, gl_classic_form form, uint32_t side,
                           classic_pyramid *out);
tml_status gl_classic_build(tml_context *tml, const classic_pyramid *pyramid);
/* The total as a number of 64 bits, in a quad. */
tml_status gl_classic_total(tml_context *tml, const classic_pyramid *pyramid,
                            const gl_texture **out);

#endif
