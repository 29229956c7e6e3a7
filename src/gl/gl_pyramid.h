/* The HistoPyramid: which input an output is made of. After: Ziegler, Tevs, Theobalt, Seidel: GPU Point
 * List Generation through Histogram Pyramids. 2006; Dyken, Ziegler, Theobalt, Seidel: High-speed
 * Marching Cubes using HistoPyramids. 2008.
 *
 * The base holds what each item counts: a bit (128 items a texel) or a number (4 items a texel). Above
 * it every texel of a level stands for four of the level below and holds their sums, running: x, x + y,
 * x + y + z, and all four. Items are in stream order (one dimension, not Z order), so outputs are
 * stable. Sums stay at 2^32 - 1 when they would pass it.
 *
 * The levels above the base lie one after the other in an atlas. It is two textures, in which levels
 * take turns: a draw may not read the texture that it writes to, and nothing is copied so. The nodes
 * of all levels are numbered from the apex, 0, down, as if each level were full: node n has the
 * children 4 n + 1 to 4 n + 4. Node n is texel n of the texture that its level is in.
 *
 * A descent fetches one texel a level. Shaders that descend include "gl_pyramid.glsl" after
 * "gl_common.glsl" and have
 *   uint pyramid_total()
 *   pyramid_spot pyramid_locate(uint key)   the item that output key belongs to, and its rank in it;
 *                                           key must be below the total
 *   uint pyramid_before(uint item)          outputs of all items before this one
 *   uvec4 pyramid_before_four(uint texel)   outputs before each of four texels of the base
 * and for outputs in a row, of which most need no descent,
 *   pyramid_cursor pyramid_seek(uint key)
 *   bool pyramid_is_used_up(pyramid_cursor cursor)       then seek again
 *   pyramid_spot pyramid_next(inout pyramid_cursor cursor) */
#ifndef TML_GL_PYRAMID_H
#define TML_GL_PYRAMID_H

#include "gl/device/gl_internal.h"

enum { GL_PYRAMID_LEVELS = 16 };

typedef struct gl_pyramid {
    bool is_bits;
    uint64_t items; /* that the base has room for */
    const gl_texture
        *base; /* QUADS; item i: bit i % 128 of texel i / 128, or component i % 4 of texel
                              * i / 4. Bits and counts past the stream must be zero */
    const gl_texture *atlas[2]; /* QUADS; levels 0, 2, 4 ... and 1, 3, 5 ... */
    uint32_t level_count;       /* in the atlas; at least 1 */
    uint32_t
        level_first[GL_PYRAMID_LEVELS]; /* node that each level begins with, lowest level first */
    uint32_t level_nodes[GL_PYRAMID_LEVELS]; /* that there are of it */
} gl_pyramid;

/* The most items: sums and numbers of nodes stay below 2^32. */
enum { GL_PYRAMID_ITEMS_MAX = 1 << 30 };
/* Of bits, unless PYRAMID_OTHERS reads them, there may be more: as many as 32 bits number. */
#define GL_PYRAMID_BITS_MAX UINT32_MAX

/* Fills all but the textures. */
void gl_pyramid_lay_out(bool is_bits, uint64_t items, gl_pyramid *out);
/* Takes the textures. The caller draws the base (all of its gl_pyramid_base_texels) and then builds. */
tml_status gl_pyramid_take(tml_context *tml, bool is_bits, uint64_t items, gl_pyramid *out);
uint64_t gl_pyramid_base_texels(const gl_pyramid *pyramid);
tml_status gl_pyramid_build(tml_context *tml, const gl_pyramid *pyramid);
/* Adds what gl_pyramid.glsl needs to a draw: inputs, uniforms; and the defines to put in
 * info.defines ("#define PYRAMID_BITS\n" or "#define PYRAMID_COUNTS\n"). */
void gl_pyramid_bind(gl_draw_info *info, const gl_pyramid *pyramid);
const char *gl_pyramid_defines(const gl_pyramid *pyramid);
/* Where the total lies, for gl_store_count and gl_exact: number and texture. */
const gl_texture *gl_pyramid_total(const gl_pyramid *pyramid, uint64_t *texel);

#endif
