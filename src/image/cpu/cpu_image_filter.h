/* The loops of mip chains on the CPU: rows of floats, colours interleaved, joined to rows and then made half
 * as wide. image_mips.k.h has the formulas. */
#ifndef TML_CPU_IMAGE_FILTER_H
#define TML_CPU_IMAGE_FILTER_H

#include "image/cpu/cpu_image.h"

#include "kernels/kernel.h"

#include "kernels/image_mips.k.h"

#include "kernels/kernel_end.h"

/* ---- AREA ------------------------------------------------------------------------------------ */

/* image_tapped of count floats of three rows; without a last part, of the first two. */
void cpu_join_rows(tml_simd level, image_taps taps, const float *const rows[3], size_t count,
                   float *out);
/* The same of each texel of out and the two or three of row that it is made of: texel x of 2 x, 2 x + 1,
 * and with parts 2 x + 2. parts: those of the first and of the last, for each float of out; none: pairs. */
void cpu_join_columns(tml_simd level, uint32_t channels, const float *row,
                      const float *const parts[2], size_t count, float *out);
/* Both, where both are of pairs: each texel of out from two of each row. */
void cpu_join_quads(tml_simd level, uint32_t channels, const float *const rows[2], size_t count,
                    float *out);
/* Fills parts for a width (odd) that is halved. */
void cpu_column_parts(uint32_t old_width, uint32_t channels, float *const parts[2]);

/* ---- KAISER ---------------------------------------------------------------------------------- */

/* The weights of an axis, each new texel's with a sum of 1: of tap k, the texel k - IMAGE_KAISER_BEFORE
 * after twice the new one, weights[k * size + i]; 0 outside of the level. Taps from first on to before end
 * have weights other than 0. */
typedef struct cpu_kaiser {
    float *weights;
    uint32_t size, first, end;
} cpu_kaiser;
/* Fills weights, of room for CPU_KAISER_ROOM(size) * repeats, for an axis that is halved to size; each
 * weight repeatedly: once for rows, for columns once a channel. */
#define CPU_KAISER_ROOM(size) ((uint64_t)(size) * (IMAGE_KAISER_TAPS + 1))
void cpu_kaiser_weigh(tml_simd level, uint32_t old_size, uint32_t repeats, cpu_kaiser *out);

/* out = the sum of count floats of some rows, each times its weight. */
void cpu_weigh_rows(tml_simd level, uint32_t row_count, const float *const *rows,
                    const float *weights, size_t count, float *out);
/* A row's even and odd texels apart; then the sum of count new texels' taps of them. There are
 * CPU_KAISER_MARGIN texels before and after, of numbers. */
enum { CPU_KAISER_MARGIN = (IMAGE_KAISER_TAPS + 1) / 4 + 1 };
void cpu_split_row(tml_simd level, uint32_t channels, const float *row, size_t count, float *even,
                   float *odd);
void cpu_weigh_columns(tml_simd level, uint32_t channels, const cpu_kaiser *kaiser,
                       const float *even, const float *odd, float *out);

#endif
