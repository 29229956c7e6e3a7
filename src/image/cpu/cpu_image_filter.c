/* The loops of mip chains: plain ones, which compilers vectorise once the number of channels is a
 * constant. */
#include "image/cpu/cpu_image_filter.h"

#include <string.h>

enum { CHUNK = 512 }; /* floats of a row of sums that stay in the L1 cache */

/* Executes statement with CHANNELS as a constant. */
#define EACH_CHANNELS(statement)                                                                   \
    do {                                                                                           \
        if (channels == 1) {                                                                       \
            enum { CHANNELS = 1 };                                                                 \
            statement;                                                                             \
        } else if (channels == 2) {                                                                \
            enum { CHANNELS = 2 };                                                                 \
            statement;                                                                             \
        } else if (channels == 3) {                                                                \
            enum { CHANNELS = 3 };                                                                 \
            statement;                                                                             \
        } else {                                                                                   \
            enum { CHANNELS = 4 };                                                                 \
            statement;                                                                             \
        }                                                                                          \
    } while (0)

/* ---- AREA ------------------------------------------------------------------------------------ */

CPU_INLINE void join_rows(image_taps taps, const float *const rows[3], size_t count,
                          float *restrict out)
{
    const float *restrict first = rows[0], *restrict middle = rows[1], *restrict last = rows[2];
    if (taps.last_part == 0.0f)
        for (size_t i = 0; i < count; i++)
            out[i] = image_paired(first[i], middle[i]);
    else
        for (size_t i = 0; i < count; i++)
            out[i] = image_tapped(taps, first[i], middle[i], last[i]);
}

CPU_INSTANTIATE(void, join_rows,
                (image_taps taps, const float *const rows[3], size_t count, float *out),
                join_rows(taps, rows, count, out))

void cpu_join_rows(tml_simd level, image_taps taps, const float *const rows[3], size_t count,
                   float *out)
{
    typedef void (*join_rows_fn)(image_taps taps, const float *const rows[3], size_t count,
                                 float *out);
    static const join_rows_fn join_rows_for[TML_SIMD_LEVELS] = CPU_EACH_LEVEL(join_rows);
    join_rows_for[level](taps, rows, count, out);
}

CPU_INLINE void pair_columns(size_t channels, const float *restrict row, size_t count,
                             float *restrict out)
{
    for (size_t x = 0; x < count; x++)
        for (size_t c = 0; c < channels; c++)
            out[channels * x + c] =
                image_paired(row[2 * channels * x + c], row[2 * channels * x + channels + c]);
}

CPU_INLINE void tap_columns(size_t channels, const float *restrict row,
                            const float *restrict first_part, const float *restrict last_part,
                            size_t count, float *restrict out)
{
    for (size_t x = 0; x < count; x++)
        for (size_t c = 0; c < channels; c++) {
            size_t i = channels * x + c, j = 2 * channels * x + c;
            image_taps taps = {.first_part = first_part[i], .last_part = last_part[i]};
            out[i] = image_tapped(taps, row[j], row[j + channels], row[j + 2 * channels]);
        }
}

CPU_INSTANTIATE(void, pair_columns, (uint32_t channels, const float *row, size_t count, float *out),
                EACH_CHANNELS(pair_columns(CHANNELS, row, count, out)))
CPU_INSTANTIATE(void, tap_columns,
                (uint32_t channels, const float *row, const float *const parts[2], size_t count,
                 float *out),
                EACH_CHANNELS(tap_columns(CHANNELS, row, parts[0], parts[1], count, out)))

void cpu_join_columns(tml_simd level, uint32_t channels, const float *row,
                      const float *const parts[2], size_t count, float *out)
{
    typedef void (*pair_fn)(uint32_t channels, const float *row, size_t count, float *out);
    typedef void (*tap_fn)(uint32_t channels, const float *row, const float *const parts[2],
                           size_t count, float *out);
    static const pair_fn pair_for[TML_SIMD_LEVELS] = CPU_EACH_LEVEL(pair_columns);
    static const tap_fn tap_for[TML_SIMD_LEVELS] = CPU_EACH_LEVEL(tap_columns);
    if (parts[0])
        tap_for[level](channels, row, parts, count, out);
    else
        pair_for[level](channels, row, count, out);
}

CPU_INLINE void join_quads(size_t channels, const float *const rows[2], size_t count,
                           float *restrict out)
{
    const float *restrict top = rows[0], *restrict bottom = rows[1];
    for (size_t x = 0; x < count; x++)
        for (size_t c = 0; c < channels; c++) {
            size_t i = 2 * channels * x + c, j = i + channels;
            out[channels * x + c] =
                image_paired(image_paired(top[i], bottom[i]), image_paired(top[j], bottom[j]));
        }
}

CPU_INSTANTIATE(void, join_quads,
                (uint32_t channels, const float *const rows[2], size_t count, float *out),
                EACH_CHANNELS(join_quads(CHANNELS, rows, count, out)))

void cpu_join_quads(tml_simd level, uint32_t channels, const float *const rows[2], size_t count,
                    float *out)
{
    typedef void (*quads_fn)(uint32_t channels, const float *const rows[2], size_t count,
                             float *out);
    static const quads_fn quads_for[TML_SIMD_LEVELS] = CPU_EACH_LEVEL(join_quads);
    quads_for[level](channels, rows, count, out);
}

void cpu_column_parts(uint32_t old_width, uint32_t channels, float *const parts[2])
{
    for (uint32_t x = 0; x < old_width / 2; x++) {
        image_taps taps = image_taps_of(x, old_width);
        for (uint32_t c = 0; c < channels; c++) {
            parts[0][(size_t)channels * x + c] = taps.first_part;
            parts[1][(size_t)channels * x + c] = taps.last_part;
        }
    }
}

/* ---- KAISER ---------------------------------------------------------------------------------- */

/* Computes one tap's weights and adds them to the sums. */
CPU_INLINE void weigh_tap(uint32_t tap, uint32_t old_size, uint32_t size, float *restrict sums,
                          float *restrict weights)
{
    for (uint32_t i = 0; i < size; i++) {
        uint32_t j = 2 * i + tap - IMAGE_KAISER_BEFORE; /* wraps to a large number below 0 */
        float weight = image_either(j < old_size, image_kaiser(i, j, old_size), 0.0f);
        weights[i] = weight;
        sums[i] += weight;
    }
}

CPU_INSTANTIATE(CPU_FLAT void, weigh_tap,
                (uint32_t tap, uint32_t old_size, uint32_t size, float *sums, float *weights),
                weigh_tap(tap, old_size, size, sums, weights))

void cpu_kaiser_weigh(tml_simd level, uint32_t old_size, uint32_t repeats, cpu_kaiser *out)
{
    typedef void (*weigh_tap_fn)(uint32_t tap, uint32_t old_size, uint32_t size, float *sums,
                                 float *weights);
    static const weigh_tap_fn weigh_tap_for[TML_SIMD_LEVELS] = CPU_EACH_LEVEL(weigh_tap);
    size_t size = TML_MAX_OF(old_size / 2, 1u);
    float *weights = out->weights, *sums = weights + IMAGE_KAISER_TAPS * size * repeats;
    out->size = (uint32_t)size;
    out->first = IMAGE_KAISER_TAPS;
    out->end = 0;
    memset(sums, 0, size * sizeof *sums);
    for (uint32_t tap = 0; tap < IMAGE_KAISER_TAPS; tap++) {
        weigh_tap_for[level](tap, old_size, out->size, sums, weights + tap * size);
        for (size_t i = 0; i < size && out->end <= tap; i++)
            if (weights[tap * size + i] != 0.0f)
                out->end = tap + 1;
        out->first = TML_MIN_OF(out->first, out->end == tap + 1 ? tap : IMAGE_KAISER_TAPS);
    }
    for (size_t i = IMAGE_KAISER_TAPS * size; i-- > 0;) { /* backwards, since it spreads in place */
        float weight = weights[i] / sums[i % size];
        for (uint32_t c = 0; c < repeats; c++)
            weights[i * repeats + c] = weight;
    }
}

/* A texel with weight 0 is left out rather than multiplied by 0: it may be NaN. */
CPU_INLINE float weighed(float weight, float x)
{
    return image_either(weight != 0.0f, weight * x, 0.0f);
}

CPU_INLINE void add_tap(const float *restrict weights, const float *restrict in, size_t count,
                        float *restrict sums)
{
    for (size_t i = 0; i < count; i++)
        sums[i] += weighed(weights[i], in[i]);
}

/* Adds four successive taps, of even and odd texels in turn. room: floats between their weights. */
CPU_INLINE void add_taps(const float *restrict weights, size_t room, const float *restrict in0,
                         const float *restrict in1, size_t channels, size_t count,
                         float *restrict sums)
{
    const float *restrict w0 = weights, *restrict w1 = weights + room;
    const float *restrict w2 = weights + 2 * room, *restrict w3 = weights + 3 * room;
    const float *restrict in2 = in0 + channels, *restrict in3 = in1 + channels;
    for (size_t i = 0; i < count; i++)
        sums[i] = sums[i] + weighed(w0[i], in0[i]) + weighed(w1[i], in1[i]) +
                  weighed(w2[i], in2[i]) + weighed(w3[i], in3[i]);
}

/* Adds four weighted rows, in order. */
CPU_INLINE void add_rows(const float *weights, const float *const *rows, size_t first, size_t count,
                         float *restrict sums)
{
    const float *restrict a = rows[0] + first, *restrict b = rows[1] + first;
    const float *restrict c = rows[2] + first, *restrict d = rows[3] + first;
    float w0 = weights[0], w1 = weights[1], w2 = weights[2], w3 = weights[3];
    for (size_t i = 0; i < count; i++)
        sums[i] = sums[i] + w0 * a[i] + w1 * b[i] + w2 * c[i] + w3 * d[i];
}

CPU_INLINE void add_row(float weight, const float *restrict in, size_t count, float *restrict sums)
{
    for (size_t i = 0; i < count; i++)
        sums[i] += weight * in[i];
}

CPU_INLINE void weigh_rows(uint32_t row_count, const float *const *rows, const float *weights,
                           size_t count, float *out)
{
    for (size_t first = 0; first < count; first += CHUNK) {
        size_t size = TML_MIN_OF((size_t)CHUNK, count - first);
        memset(out + first, 0, size * sizeof *out);
        uint32_t k = 0;
        for (; k + 4 <= row_count; k += 4)
            add_rows(weights + k, rows + k, first, size, out + first);
        for (; k < row_count; k++)
            add_row(weights[k], rows[k] + first, size, out + first);
    }
}

CPU_INSTANTIATE(void, weigh_rows,
                (uint32_t row_count, const float *const *rows, const float *weights, size_t count,
                 float *out),
                weigh_rows(row_count, rows, weights, count, out))

void cpu_weigh_rows(tml_simd level, uint32_t row_count, const float *const *rows,
                    const float *weights, size_t count, float *out)
{
    typedef void (*weigh_rows_fn)(uint32_t row_count, const float *const *rows,
                                  const float *weights, size_t count, float *out);
    static const weigh_rows_fn weigh_rows_for[TML_SIMD_LEVELS] = CPU_EACH_LEVEL(weigh_rows);
    weigh_rows_for[level](row_count, rows, weights, count, out);
}

/* Splits count pairs of texels. */
CPU_INLINE void split_row(size_t channels, const float *restrict row, size_t count,
                          float *restrict even, float *restrict odd)
{
    for (size_t x = 0; x < count; x++)
        for (size_t c = 0; c < channels; c++) {
            even[channels * x + c] = row[2 * channels * x + c];
            odd[channels * x + c] = row[2 * channels * x + channels + c];
        }
}

CPU_INSTANTIATE(void, split_row,
                (uint32_t channels, const float *row, size_t count, float *even, float *odd),
                EACH_CHANNELS(split_row(CHANNELS, row, count, even, odd)))

void cpu_split_row(tml_simd level, uint32_t channels, const float *row, size_t count, float *even,
                   float *odd)
{
    typedef void (*split_row_fn)(uint32_t channels, const float *row, size_t count, float *even,
                                 float *odd);
    static const split_row_fn split_row_for[TML_SIMD_LEVELS] = CPU_EACH_LEVEL(split_row);
    split_row_for[level](channels, row, count / 2, even, odd);
    if (count % 2 == 1)
        memcpy(even + count / 2 * channels, row + (count - 1) * channels, channels * sizeof *row);
}

/* A tap's old texel of new texel 0; those of the next new texels follow it. */
CPU_INLINE const float *tapped_texels(uint32_t tap, uint32_t channels, const float *even,
                                      const float *odd)
{
    ptrdiff_t shift = (ptrdiff_t)(tap / 2) - IMAGE_KAISER_BEFORE / 2;
    return (tap % 2 ? odd : even) + shift * (ptrdiff_t)channels;
}

CPU_INLINE void weigh_columns(uint32_t channels, const cpu_kaiser *kaiser, const float *even,
                              const float *odd, float *out)
{
    size_t count = (size_t)kaiser->size * channels;
    for (size_t first = 0; first < count; first += CHUNK) {
        size_t size = TML_MIN_OF((size_t)CHUNK, count - first);
        uint32_t tap = kaiser->first;
        memset(out + first, 0, size * sizeof *out);
        for (; tap + 4 <= kaiser->end; tap += 4)
            add_taps(kaiser->weights + tap * count + first, count,
                     tapped_texels(tap, channels, even, odd) + first,
                     tapped_texels(tap + 1, channels, even, odd) + first, channels, size,
                     out + first);
        for (; tap < kaiser->end; tap++)
            add_tap(kaiser->weights + tap * count + first,
                    tapped_texels(tap, channels, even, odd) + first, size, out + first);
    }
}

CPU_INSTANTIATE(void, weigh_columns,
                (uint32_t channels, const cpu_kaiser *kaiser, const float *even, const float *odd,
                 float *out),
                weigh_columns(channels, kaiser, even, odd, out))

void cpu_weigh_columns(tml_simd level, uint32_t channels, const cpu_kaiser *kaiser,
                       const float *even, const float *odd, float *out)
{
    typedef void (*weigh_columns_fn)(uint32_t channels, const cpu_kaiser *kaiser, const float *even,
                                     const float *odd, float *out);
    static const weigh_columns_fn weigh_columns_for[TML_SIMD_LEVELS] =
        CPU_EACH_LEVEL(weigh_columns);
    weigh_columns_for[level](channels, kaiser, even, odd, out);
}
