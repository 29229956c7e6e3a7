/* The HistoPyramid of the float tier (gl_pyramid.h has the integer one and the papers). Level 0
 * holds the items' counts; each level above holds a quarter as many sums.
 *
 * In a float texture, a texel holds the inclusive prefix sums of four children, and a descent loads
 * one texel per level. In a texture of bytes, a texel holds one number of 24 bits, and a descent
 * loads three per level. Levels 1, 3, 5 ... are in one texture and 2, 4, 6 ... in another, since a
 * draw may not read its own target. Sums saturate at 2^24, up to which all integers are exact. */
#ifndef TML_GL_FLOAT_PYRAMID_H
#define TML_GL_FLOAT_PYRAMID_H

#include "gl/device/gl_float.h"

enum { GL_FLOAT_LEVELS = 13 };

typedef struct gl_float_pyramid {
    const gl_texture *base, *odd, *even;
    const gl_texture *total; /* a number in bytes */
    uint64_t items;
    uint32_t level_count;            /* including the base */
    uint64_t first[GL_FLOAT_LEVELS]; /* first texel of each level */
} gl_float_pyramid;

/* Takes the textures. The caller then draws the base, gl_float_base_texels texels, and calls
 * build. */
tml_status gl_float_pyramid_take(tml_context *tml, uint64_t items, gl_float_pyramid *out);
/* Releases the textures early. */
void gl_float_pyramid_release(tml_context *tml, const gl_float_pyramid *pyramid);
uint64_t gl_float_base_texels(const gl_float_pyramid *pyramid);
tml_status gl_float_pyramid_build(tml_context *tml, const gl_float_pyramid *pyramid);

/* The sources of outputs [0, count), as numbers in bytes; if ranks, their ranks instead. */
tml_status gl_float_locate(tml_context *tml, const gl_float_pyramid *pyramid, bool ranks,
                           uint64_t count, const gl_texture **out);
/* Waits, and returns the total. */
tml_status gl_float_total(tml_context *tml, const gl_float_pyramid *pyramid, uint64_t *out);
/* Stores the total into a u32 or u64 buffer, if there is one. */
tml_status gl_float_store_total(tml_context *tml, const gl_float_pyramid *pyramid, tml_buffer out);

/* The first count outputs: elements of an array, or without in, the sources themselves as u32 or
 * u64. Elements past the total keep their values. */
tml_status gl_float_gather(tml_context *tml, const gl_float_pyramid *pyramid,
                           const gl_texture *sources, tml_buffer in, tml_buffer out,
                           uint64_t count);

#endif
