/* The HistoPyramid, which finds the input of each output. After: Ziegler, Tevs, Theobalt, Seidel:
 * GPU Point List Generation through Histogram Pyramids. 2006; Dyken, Ziegler, Theobalt, Seidel:
 * High-speed Marching Cubes using HistoPyramids. 2008.
 *
 * The base holds each item's count: a bit (128 items per texel) or a number (4 items per texel).
 * Above the base, a texel has four children in the level below and holds their inclusive prefix
 * sums: x, x + y, x + y + z, and the sum of all. Items are in stream order (one dimension, not Z
 * order), so outputs are stable. Sums saturate at 2^32 - 1.
 *
 * The levels above the base alternate between two atlas textures, since a draw may not read its own
 * target; nothing is copied. Nodes of all levels are numbered from the apex, 0, as if each level
 * were full: node n has the children 4 n + 1 to 4 n + 4. Node n is texel n of its level's texture.
 *
 * A descent loads one texel per level. A shader that descends includes "gl_pyramid.glsl" after
 * "gl_common.glsl", and has
 *   uint pyramid_total()
 *   pyramid_spot pyramid_locate(uint key)   the item to which output key belongs, and the output's
 *                                           rank in it; key must be below the total
 *   uint pyramid_before(uint item)          outputs of all items before this one
 *   uvec4 pyramid_before_four(uint texel)   outputs before each of four texels of the base
 * For consecutive outputs, most of which need no descent, it has
 *   pyramid_cursor pyramid_seek(uint key)
 *   bool pyramid_is_used_up(pyramid_cursor cursor)       then seek again
 *   pyramid_spot pyramid_next(inout pyramid_cursor cursor) */
#ifndef TML_GL_PYRAMID_H
#define TML_GL_PYRAMID_H

#include "gl/device/gl_internal.h"

enum { GL_PYRAMID_LEVELS = 16 };

typedef struct gl_pyramid {
    bool is_bits;
    uint64_t items; /* capacity of the base */
    /* QUADS. Item i: bit i % 128 of texel i / 128, or component i % 4 of texel i / 4. Bits and
     * counts past the stream must be zero. */
    const gl_texture *base;
    const gl_texture *atlas[2]; /* QUADS; levels 0, 2, 4 ... and 1, 3, 5 ... */
    uint32_t level_count;       /* in the atlas; at least 1 */
    uint32_t
        level_first[GL_PYRAMID_LEVELS]; /* node that each level begins with, lowest level first */
    uint32_t level_nodes[GL_PYRAMID_LEVELS]; /* number of nodes of each level */
} gl_pyramid;

/* Most items: sums and node numbers stay below 2^32. */
enum { GL_PYRAMID_ITEMS_MAX = 1 << 30 };
/* The most items with bits, since their indices have 32 bits; fewer if PYRAMID_OTHERS reads
 * them. */
#define GL_PYRAMID_BITS_MAX UINT32_MAX

/* Fills all but the textures. */
void gl_pyramid_lay_out(bool is_bits, uint64_t items, gl_pyramid *out);
/* Takes the textures. The caller then draws the base (gl_pyramid_base_texels) and builds. */
tml_status gl_pyramid_take(tml_context *tml, bool is_bits, uint64_t items, gl_pyramid *out);
uint64_t gl_pyramid_base_texels(const gl_pyramid *pyramid);
tml_status gl_pyramid_build(tml_context *tml, const gl_pyramid *pyramid);
/* Adds the inputs and uniforms of gl_pyramid.glsl to a draw. gl_pyramid_defines returns the text
 * for info.defines ("#define PYRAMID_BITS\n" or "#define PYRAMID_COUNTS\n"). */
void gl_pyramid_bind(gl_draw_info *info, const gl_pyramid *pyramid);
const char *gl_pyramid_defines(const gl_pyramid *pyramid);
/* The texture of the total, and its texel, for gl_store_count and gl_exact. */
const gl_texture *gl_pyramid_total(const gl_pyramid *pyramid, uint64_t *texel);

#endif
