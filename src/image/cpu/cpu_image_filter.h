/* The loops of mip chains on the CPU. Rows are interleaved floats. Several rows are reduced to one,
 * whose width is then halved. image_mips.k.h has the formulas. */
#ifndef TML_CPU_IMAGE_FILTER_H
#define TML_CPU_IMAGE_FILTER_H

#include "image/cpu/cpu_image.h"

#include "kernels/kernel.h"

#include "kernels/image_mips.k.h"

#include "kernels/kernel_end.h"

/* ---- AREA ------------------------------------------------------------------------------------ */

/* Reduces three rows of count floats to out by image_tapped. If taps.last_part is 0, reduces the
 * first two by image_paired. */
void cpu_join_rows(tml_simd level, image_taps taps, const float *const rows[3], size_t count,
                   float *out);
/* Reduces a row in the same way along x: texel x of out comes from texels 2 x, 2 x + 1 and, with
 * parts, 2 x + 2 of row.
 * parts  first_part and last_part of image_taps for each float of out; parts[0] NULL: pairs
 * count  texels of out */
void cpu_join_columns(tml_simd level, uint32_t channels, const float *row,
                      const float *const parts[2], size_t count, float *out);
/* Both steps at once, if both pair: a texel of out is the mean of a square of four texels. */
void cpu_join_quads(tml_simd level, uint32_t channels, const float *const rows[2], size_t count,
                    float *out);
/* Fills parts, to halve an odd width. */
void cpu_column_parts(uint32_t old_width, uint32_t channels, float *const parts[2]);

/* ---- KAISER ---------------------------------------------------------------------------------- */

/* The weights along an axis. Tap k of new texel i is old texel 2 i + k - IMAGE_KAISER_BEFORE. Its
 * weight is weights[k * size + i], which is 0 outside the level. The weights of a new texel sum to
 * 1. Only taps in [first, end) have weights other than 0. */
typedef struct cpu_kaiser {
    float *weights;
    uint32_t size, first, end;
    uint32_t alike_first, alike_end; /* new texels with equal weights, none of them 0 */
} cpu_kaiser;
/* Fills weights for an axis that is halved to size. Each weight is stored repeats times: once for
 * rows, once per channel for columns. weights has CPU_KAISER_ROOM(size) * repeats floats. */
#define CPU_KAISER_ROOM(size) ((uint64_t)(size) * (IMAGE_KAISER_TAPS + 1))
void cpu_kaiser_weigh(tml_simd level, uint32_t old_size, uint32_t repeats, cpu_kaiser *out);

/* cpu_weigh_rows sums at least one weighted row of texels, and splits the sum into even and odd
 * texels. cpu_weigh_columns makes new texels [first, first + count) of a row from these. Its even
 * and odd begin at old texel 2 first - IMAGE_KAISER_BEFORE and have count + CPU_KAISER_MARGIN
 * initialised texels each. Texels outside the level have weight 0. */
enum { CPU_KAISER_MARGIN = (IMAGE_KAISER_TAPS + 1) / 2 };
void cpu_weigh_rows(tml_simd level, uint32_t channels, uint32_t row_count, const float *const *rows,
                    const float *weights, size_t texels, float *even, float *odd);
void cpu_weigh_columns(tml_simd level, uint32_t channels, const cpu_kaiser *kaiser, uint32_t first,
                       uint32_t count, const float *even, const float *odd, float *out);

#endif
