/* The loops of mip chains. They are plain loops, which compilers vectorise because the number of
 * channels is a constant. */
#include "image/cpu/cpu_image_filter.h"

#include <string.h>

enum { CHUNK = 512 }; /* floats of a row of sums, which stay in the L1 cache */

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

ALWAYS_INLINE void join_rows(image_taps taps, const float *const rows[3], size_t count,
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

SIMD_INSTANTIATE(void, join_rows,
                 (image_taps taps, const float *const rows[3], size_t count, float *out),
                 join_rows(taps, rows, count, out))

void cpu_join_rows(tml_simd level, image_taps taps, const float *const rows[3], size_t count,
                   float *out)
{
    typedef void (*join_rows_fn)(image_taps taps, const float *const rows[3], size_t count,
                                 float *out);
    static const join_rows_fn join_rows_for[TML_SIMD_LEVELS] = SIMD_EACH_LEVEL(join_rows);
    join_rows_for[level](taps, rows, count, out);
}

ALWAYS_INLINE void pair_columns(size_t channels, const float *restrict row, size_t count,
                                float *restrict out)
{
    for (size_t x = 0; x < count; x++)
        for (size_t c = 0; c < channels; c++)
            out[channels * x + c] =
                image_paired(row[2 * channels * x + c], row[2 * channels * x + channels + c]);
}

ALWAYS_INLINE void tap_columns(size_t channels, const float *restrict row,
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

SIMD_INSTANTIATE(void, pair_columns,
                 (uint32_t channels, const float *row, size_t count, float *out),
                 EACH_CHANNELS(pair_columns(CHANNELS, row, count, out)))
SIMD_INSTANTIATE(void, tap_columns,
                 (uint32_t channels, const float *row, const float *const parts[2], size_t count,
                  float *out),
                 EACH_CHANNELS(tap_columns(CHANNELS, row, parts[0], parts[1], count, out)))

void cpu_join_columns(tml_simd level, uint32_t channels, const float *row,
                      const float *const parts[2], size_t count, float *out)
{
    typedef void (*pair_fn)(uint32_t channels, const float *row, size_t count, float *out);
    typedef void (*tap_fn)(uint32_t channels, const float *row, const float *const parts[2],
                           size_t count, float *out);
    static const pair_fn pair_for[TML_SIMD_LEVELS] = SIMD_EACH_LEVEL(pair_columns);
    static const tap_fn tap_for[TML_SIMD_LEVELS] = SIMD_EACH_LEVEL(tap_columns);
    if (parts[0])
        tap_for[level](channels, row, parts, count, out);
    else
        pair_for[level](channels, row, count, out);
}

ALWAYS_INLINE void join_quads(size_t channels, const float *const rows[2], size_t count,
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

SIMD_INSTANTIATE(void, join_quads,
                 (uint32_t channels, const float *const rows[2], size_t count, float *out),
                 EACH_CHANNELS(join_quads(CHANNELS, rows, count, out)))

void cpu_join_quads(tml_simd level, uint32_t channels, const float *const rows[2], size_t count,
                    float *out)
{
    typedef void (*quads_fn)(uint32_t channels, const float *const rows[2], size_t count,
                             float *out);
    static const quads_fn quads_for[TML_SIMD_LEVELS] = SIMD_EACH_LEVEL(join_quads);
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

/* Computes a tap's weights for new texels [first, end), and adds them to the sums. */
ALWAYS_INLINE void weigh_tap(uint32_t tap, uint32_t old_size, uint32_t first, uint32_t end,
                             float *restrict sums, float *restrict weights)
{
    for (uint32_t i = first; i < end; i++) {
        uint32_t j = 2 * i + tap - IMAGE_KAISER_BEFORE; /* below 0 it wraps to a large number */
        float weight = image_either(j < old_size, image_kaiser(i, j, old_size), 0.0f);
        weights[i] = weight;
        sums[i] += weight;
    }
}

SIMD_INSTANTIATE(SIMD_FLAT void, weigh_tap,
                 (uint32_t tap, uint32_t old_size, uint32_t first, uint32_t end, float *sums,
                  float *weights),
                 weigh_tap(tap, old_size, first, end, sums, weights))

/* Finds the range of new texels that have the middle texel's weights; empty if one of these is 0.
 * For an even size it is all texels but a few at each end. weights: not yet repeated. */
static void find_alike(cpu_kaiser *out)
{
    const size_t size = out->size;
    size_t first = size / 2, end = first + 1;
    for (uint32_t tap = out->first; tap < out->end; tap++) {
        const float *weights = out->weights + tap * size;
        size_t left = size / 2, right = left + 1;
        while (left > 0 && weights[left - 1] == weights[size / 2])
            left--;
        while (right < size && weights[right] == weights[size / 2])
            right++;
        first = tap == out->first || left > first ? left : first;
        end = tap == out->first || right < end ? right : end;
        if (weights[size / 2] == 0.0f)
            end = first = size; /* empty */
    }
    out->alike_first = (uint32_t)first;
    out->alike_end = (uint32_t)end;
}

/* An even size has the same weights everywhere, except within FILTER_REACH texels of its ends.
 * These weights are computed once. */
void cpu_kaiser_weigh(tml_simd level, uint32_t old_size, uint32_t repeats, cpu_kaiser *out)
{
    enum { FILTER_REACH = IMAGE_KAISER_TAPS };
    typedef void (*weigh_tap_fn)(uint32_t tap, uint32_t old_size, uint32_t first, uint32_t end,
                                 float *sums, float *weights);
    static const weigh_tap_fn weigh_tap_for[TML_SIMD_LEVELS] = SIMD_EACH_LEVEL(weigh_tap);
    uint32_t size = TML_MAX_OF(old_size / 2, 1u);
    bool repeat_middle = old_size % 2 == 0 && size > 2 * FILTER_REACH;
    uint32_t middle = repeat_middle ? FILTER_REACH : size, right = size - middle;
    float *weights = out->weights, *sums = weights + (size_t)IMAGE_KAISER_TAPS * size * repeats;
    out->size = size;
    out->first = IMAGE_KAISER_TAPS;
    out->end = 0;
    memset(sums, 0, size * sizeof *sums);
    for (uint32_t tap = 0; tap < IMAGE_KAISER_TAPS; tap++) {
        float *here = weights + (size_t)tap * size;
        weigh_tap_for[level](tap, old_size, 0, middle, sums, here);
        weigh_tap_for[level](tap, old_size, TML_MAX_OF(right, middle), size, sums, here);
        for (uint32_t i = middle; i < right; i++)
            here[i] = here[middle - 1];
        for (uint32_t i = 0; i < size && out->end <= tap; i++)
            if (here[i] != 0.0f)
                out->end = tap + 1;
        out->first = TML_MIN_OF(out->first, out->end == tap + 1 ? tap : IMAGE_KAISER_TAPS);
    }
    for (uint32_t i = middle; i < right; i++)
        sums[i] = sums[middle - 1];
    for (uint32_t tap = 0; tap < IMAGE_KAISER_TAPS; tap++)
        for (uint32_t i = 0; i < size; i++)
            weights[(size_t)tap * size + i] /= sums[i];
    find_alike(out);
    for (size_t i = (size_t)IMAGE_KAISER_TAPS * size;
         i-- > 0 && repeats > 1;) { /* backwards, because it spreads weights in place */
        float weight = weights[i];
        for (uint32_t c = 0; c < repeats; c++)
            weights[i * repeats + c] = weight;
    }
}

/* A texel with weight 0 is left out, not multiplied by 0: it may be NaN. */
ALWAYS_INLINE float weighed(float weight, float x)
{
    return image_either(weight != 0.0f, weight * x, 0.0f);
}

ALWAYS_INLINE void add_tap(const float *restrict weights, const float *restrict in, size_t count,
                           float *restrict sums)
{
    for (size_t i = 0; i < count; i++)
        sums[i] += weighed(weights[i], in[i]);
}

/* Adds four successive taps, alternately of even and odd texels. room: floats from one tap's
 * weights to the next tap's. */
ALWAYS_INLINE void add_taps(const float *restrict weights, size_t room, const float *restrict in0,
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

/* Adds six weighted rows, in order. are_first: overwrites sums. */
ALWAYS_INLINE void add_rows(bool are_first, const float *weights, const float *const *rows,
                            size_t first, size_t count, float *restrict sums)
{
    const float *restrict a = rows[0] + first, *restrict b = rows[1] + first;
    const float *restrict c = rows[2] + first, *restrict d = rows[3] + first;
    const float *restrict e = rows[4] + first, *restrict f = rows[5] + first;
    float w0 = weights[0], w1 = weights[1], w2 = weights[2], w3 = weights[3], w4 = weights[4],
          w5 = weights[5];
    for (size_t i = 0; i < count; i++) {
        float sum = are_first ? w0 * a[i] : sums[i] + w0 * a[i];
        sums[i] = sum + w1 * b[i] + w2 * c[i] + w3 * d[i] + w4 * e[i] + w5 * f[i];
    }
}

ALWAYS_INLINE void add_row(bool is_first, float weight, const float *restrict in, size_t count,
                           float *restrict sums)
{
    for (size_t i = 0; i < count; i++)
        sums[i] = is_first ? weight * in[i] : sums[i] + weight * in[i];
}

/* Sums floats [first, first + count) of weighted rows, in order. There is at least one row. */
ALWAYS_INLINE void add_all_rows(uint32_t row_count, const float *weights, const float *const *rows,
                                size_t first, size_t count, float *restrict sums)
{
    uint32_t k = 0;
    for (; k + 6 <= row_count; k += 6)
        if (k == 0)
            add_rows(true, weights, rows, first, count, sums);
        else
            add_rows(false, weights + k, rows + k, first, count, sums);
    for (; k < row_count; k++)
        if (k == 0)
            add_row(true, weights[0], rows[0] + first, count, sums);
        else
            add_row(false, weights[k], rows[k] + first, count, sums);
}

/* Splits count pairs of texels into even and odd ones. */
ALWAYS_INLINE void split_row(size_t channels, const float *restrict row, size_t count,
                             float *restrict even, float *restrict odd)
{
    for (size_t x = 0; x < count; x++)
        for (size_t c = 0; c < channels; c++) {
            even[channels * x + c] = row[2 * channels * x + c];
            odd[channels * x + c] = row[2 * channels * x + channels + c];
        }
}

/* Sums rows in chunks, and splits each chunk while it is in the L1 cache. */
ALWAYS_INLINE void weigh_rows(size_t channels, uint32_t row_count, const float *const *rows,
                              const float *weights, size_t texels, float *even, float *odd)
{
    float sums[CHUNK];
    const size_t pairs_most = CHUNK / (2 * channels), pairs = texels / 2;
    for (size_t first = 0; first <= pairs; first += pairs_most) {
        size_t count = TML_MIN_OF(pairs_most, pairs - first), at = 2 * channels * first;
        bool has_last = first + count == pairs && count < pairs_most && texels % 2 == 1;
        size_t size = channels * (2 * count + has_last);
        add_all_rows(row_count, weights, rows, at, size, sums);
        split_row(channels, sums, count, even + channels * first, odd + channels * first);
        if (has_last)
            memcpy(even + channels * pairs, sums + 2 * channels * count, channels * sizeof *even);
    }
}

SIMD_INSTANTIATE(void, weigh_rows,
                 (uint32_t channels, uint32_t row_count, const float *const *rows,
                  const float *weights, size_t texels, float *even, float *odd),
                 EACH_CHANNELS(weigh_rows(CHANNELS, row_count, rows, weights, texels, even, odd)))

void cpu_weigh_rows(tml_simd level, uint32_t channels, uint32_t row_count, const float *const *rows,
                    const float *weights, size_t texels, float *even, float *odd)
{
    typedef void (*weigh_rows_fn)(uint32_t channels, uint32_t row_count, const float *const *rows,
                                  const float *weights, size_t texels, float *even, float *odd);
    static const weigh_rows_fn weigh_rows_for[TML_SIMD_LEVELS] = SIMD_EACH_LEVEL(weigh_rows);
    weigh_rows_for[level](channels, row_count, rows, weights, texels, even, odd);
}

/* New texels [first, first + count) of a row, to be made from even and odd old texels. */
typedef struct kaiser_part {
    const cpu_kaiser *kaiser;
    size_t first; /* index of the first float in the row */
    const float *even, *odd;
} kaiser_part;

/* The old texel of a tap, for the part's first new texel. The old texels for the next new texels
 * follow. */
ALWAYS_INLINE const float *tapped_texels(const kaiser_part *part, uint32_t tap, uint32_t channels)
{
    return (tap % 2 ? part->odd : part->even) + (size_t)(tap / 2) * channels;
}

/* Computes floats [at, at + count) of the part, where weights may differ between texels. */
ALWAYS_INLINE void weigh_some(const kaiser_part *part, uint32_t channels, size_t at, size_t count,
                              float *out)
{
    const cpu_kaiser *kaiser = part->kaiser;
    const size_t room = (size_t)kaiser->size * channels;
    const float *weights = kaiser->weights + part->first + at;
    uint32_t tap = kaiser->first;
    memset(out + at, 0, count * sizeof *out);
    for (; tap + 4 <= kaiser->end; tap += 4)
        add_taps(weights + tap * room, room, tapped_texels(part, tap, channels) + at,
                 tapped_texels(part, tap + 1, channels) + at, channels, count, out + at);
    for (; tap < kaiser->end; tap++)
        add_tap(weights + tap * room, tapped_texels(part, tap, channels) + at, count, out + at);
}

/* As weigh_some, where all texels have the same weights and none is 0. */
ALWAYS_INLINE void weigh_alike(const kaiser_part *part, uint32_t channels, size_t at, size_t count,
                               float *out)
{
    const cpu_kaiser *kaiser = part->kaiser;
    const float *rows[IMAGE_KAISER_TAPS];
    float weights[IMAGE_KAISER_TAPS];
    uint32_t taps = kaiser->end - kaiser->first;
    for (uint32_t k = 0; k < taps; k++) {
        rows[k] = tapped_texels(part, kaiser->first + k, channels);
        weights[k] =
            kaiser->weights[((size_t)(kaiser->first + k) * kaiser->size + kaiser->alike_first) *
                            channels];
    }
    add_all_rows(taps, weights, rows, at, count, out + at);
}

ALWAYS_INLINE void weigh_columns(uint32_t channels, const kaiser_part *part, size_t count,
                                 float *out)
{
    const size_t alike_first = (size_t)part->kaiser->alike_first * channels;
    const size_t alike_end = (size_t)part->kaiser->alike_end * channels;
    for (size_t at = 0, end; at < count; at = end) {
        size_t first = part->first + at;
        bool is_alike = first >= alike_first && first < alike_end;
        end = is_alike ? alike_end : first < alike_first ? alike_first : SIZE_MAX;
        end = TML_MIN_OF(end - part->first, TML_MIN_OF(at + CHUNK, count));
        if (is_alike)
            weigh_alike(part, channels, at, end - at, out);
        else
            weigh_some(part, channels, at, end - at, out);
    }
}

SIMD_INSTANTIATE(void, weigh_columns,
                 (uint32_t channels, const kaiser_part *part, size_t count, float *out),
                 weigh_columns(channels, part, count, out))

void cpu_weigh_columns(tml_simd level, uint32_t channels, const cpu_kaiser *kaiser, uint32_t first,
                       uint32_t count, const float *even, const float *odd, float *out)
{
    typedef void (*weigh_columns_fn)(uint32_t channels, const kaiser_part *part, size_t count,
                                     float *out);
    static const weigh_columns_fn weigh_columns_for[TML_SIMD_LEVELS] =
        SIMD_EACH_LEVEL(weigh_columns);
    const kaiser_part part = {kaiser, (size_t)first * channels, even, odd};
    weigh_columns_for[level](channels, &part, (size_t)count * channels, out);
}
