/* The HistoPyramid of the float tier (see gl_pyramid.h for the papers and the integer one). Level 0 holds
 * what items count, and every level above a quarter as many sums.
 *
 * In float textures a texel holds the running sums of four children, so a descent fetches one texel a
 * level; in bytes a texel holds one number of 24 bits, and a descent fetches three. Levels 1, 3, 5 ...
 * lie one after the other in one texture and 2, 4, 6 ... in another: no draw reads its own target.
 * Sums stay at 2^24, from where on they are not exact. */
#ifndef TML_GL_FLOAT_PYRAMID_H
#define TML_GL_FLOAT_PYRAMID_H

#include "gl/device/gl_float.h"

enum { GL_FLOAT_LEVELS = 13 };

typedef struct gl_float_pyramid {
    const gl_texture *base, *odd, *even;
    const gl_texture *total; /* a number in bytes */
    uint64_t items;
    uint32_t level_count;            /* with the base */
    uint64_t first[GL_FLOAT_LEVELS]; /* texel of each level */
} gl_float_pyramid;

/* Takes the textures. The caller draws the base, gl_float_base_texels of it, and then builds. */
tml_status gl_float_pyramid_take(tml_context *tml, uint64_t items, gl_float_pyramid *out);
/* Gives the textures back early. */
void gl_float_pyramid_release(tml_context *tml, const gl_float_pyramid *pyramid);
uint64_t gl_float_base_texels(const gl_float_pyramid *pyramid);
tml_status gl_float_pyramid_build(tml_context *tml, const gl_float_pyramid *pyramid);

/* The items that outputs [0, count) belong to, as numbers in bytes, or their ranks in them. */
tml_status gl_float_locate(tml_context *tml, const gl_float_pyramid *pyramid, bool ranks,
                           uint64_t count, const gl_texture **out);
/* Waits, and gives the total. */
tml_status gl_float_total(tml_context *tml, const gl_float_pyramid *pyramid, uint64_t *out);
/* Stores the total into a u32 or u64 buffer; none: nothing. */
tml_status gl_float_store_total(tml_context *tml, const gl_float_pyramid *pyramid, tml_buffer out);

/* The first count outputs' elements of an array; in none: the sources themselves, into u32 or u64. What
 * lies past the total stays. */
tml_status gl_float_gather(tml_context *tml, const gl_float_pyramid *pyramid,
                           const gl_texture *sources, tml_buffer in, tml_buffer out,
                           uint64_t count);

#endif
