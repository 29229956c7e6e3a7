/* tml_image_measure on the CPU: tiles of pixels in parallel, block by block. A block needs a few
 * loops over arrays in the L1 cache. Integers are summed in any order. Moments are joined tile by
 * tile in the region's order. No result depends on the number of threads or on the SIMD level. */
#include <math.h>
#include <string.h>

#include "image/cpu/cpu_image.h"

#include "kernels/kernel.h"

#define IMAGE_REAL double
#include "kernels/image_moments.k.h"

#include "kernels/kernel_end.h"

enum {
    TILE_BLOCKS = 64, /* blocks per tile; means depend on it, on IMAGE_BLOCK and on LANES */
    LANES = 32,       /* partial sums, as in cpu_fold.c */
    CHUNK = 128,      /* pixels; a sum of 128 24-bit fractions fits 32 bits */
    COPIES = 4,       /* of the histogram: increments of a bin by neighbours do not wait */
    PARTS = 64,       /* prefetches per block, half of them in the first pass */
    CHUNK_PARTS = PARTS / 2 / (IMAGE_BLOCK / CHUNK),
    LINE = 64, /* bytes of a cache line */
    NO_BIN = TML_HISTOGRAM_BINS,
};

/* Sums of integers, and extremes. */
typedef struct measure_counts {
    uint64_t kinds[IMAGE_KINDS];
    uint64_t pixels, weight, log_weight, log_fraction;
    int64_t log_whole;
    float least, most;
    uint64_t histogram[TML_HISTOGRAM_BINS];
} measure_counts;

/* A worker's block of pixels, and its counts so far. A block is weighted if there is a mask or a
 * pixel is not finite. */
typedef struct measure_block {
    cpu_image_space image;
    _Alignas(64) float luminance[IMAGE_BLOCK];  /* 0 where it is not finite */
    _Alignas(64) uint32_t weights[IMAGE_BLOCK]; /* if weighted; 0 where luminance is not finite */
    _Alignas(64) uint8_t mask[IMAGE_BLOCK];
    _Alignas(64) uint16_t bins[IMAGE_BLOCK]; /* NO_BIN: the pixel has no logarithm */
    uint32_t copies[COPIES][TML_HISTOGRAM_BINS + 1];
    measure_counts counts;
    size_t count;
    bool is_masked, is_weighted;
    uintptr_t next;   /* address of the next block's pixels */
    size_t next_part; /* bytes of one of PARTS parts, if rows have no gaps */
} measure_block;

/* ---- loops over a block ---------------------------------------------------------------------- */

#define LEAST(a, b) ((b) < (a) ? (b) : (a))
#define MOST(a, b)  ((a) < (b) ? (b) : (a))
#define ADD(a, b)   ((a) + (b))

typedef enum luminance_kind { BY_WEIGHTS, BY_MAX, GREY } luminance_kind;
typedef enum block_sort { POSITIVE, FINITE, WEIGHTED } block_sort;

typedef struct pixel_luminance {
    float value;
    uint32_t largest; /* image_magnitude of the colours */
} pixel_luminance;

ALWAYS_INLINE pixel_luminance luminance_of(const image_measure_plan *plan, luminance_kind how,
                                           const measure_block *block, size_t i)
{
    float red = block->image.planes[0][i];
    pixel_luminance pixel = {image_colour(red), image_magnitude(red)};
    if (how == GREY)
        return pixel;
    float green = block->image.planes[1][i], blue = block->image.planes[2][i];
    uint32_t g = image_magnitude(green), b = image_magnitude(blue);
    pixel.largest = pixel.largest < g ? g : pixel.largest;
    pixel.largest = pixel.largest < b ? b : pixel.largest;
    green = image_colour(green);
    blue = image_colour(blue);
    pixel.value = how == BY_MAX
                      ? image_luminance_max(pixel.value, green, blue)
                      : image_luminance(pixel.value, green, blue, plan->weight_r, plan->weight_b);
    return pixel;
}

/* Prefetches parts of the next block while this one is computed. Without it, memory is idle half of
 * the time. A prefetch beyond the picture does not fault. */
ALWAYS_INLINE void fetch_next(const measure_block *block, size_t part, size_t parts)
{
    uintptr_t first = block->next + part * block->next_part;
    for (size_t at = 0; at < parts * block->next_part; at += LINE)
        __builtin_prefetch((const void *)(first + at));
}

/* Computes the luminances of a block without a mask. Returns whether all are positive and finite,
 * as in most blocks. The bits of positive finite floats are ordered as the floats, and lie between
 * the bits of 0 and of infinity. The bits of other floats do not. So three extremes replace
 * image_kind of each pixel. Two of them are results anyway. */
ALWAYS_INLINE bool find_positive(const image_measure_plan *plan, luminance_kind how,
                                 measure_block *block)
{
    float *restrict luminance = block->luminance;
    measure_counts *counts = &block->counts;
    uint32_t least = UINT32_MAX, most = 0, largest = 0;
    for (size_t first = 0; first < block->count; first += CHUNK) {
        size_t end = TML_MIN_OF(first + CHUNK, block->count);
        fetch_next(block, first / CHUNK * CHUNK_PARTS, CHUNK_PARTS);
        for (size_t i = first; i < end; i++) {
            pixel_luminance pixel = luminance_of(plan, how, block, i);
            uint32_t bits = tml_float_bits(pixel.value);
            luminance[i] = pixel.value;
            least = bits < least ? bits : least;
            most = bits > most ? bits : most;
            if (how == BY_MAX) /* a weighted sum of non-finite colours is not finite */
                largest = pixel.largest > largest ? pixel.largest : largest;
        }
    }
    if (least == 0 || most >= IMAGE_INFINITE || largest >= IMAGE_INFINITE)
        return false;
    counts->least = LEAST(counts->least, tml_bits_float(least));
    counts->most = MOST(counts->most, tml_bits_float(most));
    counts->kinds[IMAGE_POSITIVE] += block->count;
    counts->pixels += block->count;
    counts->weight += block->count;
    return true;
}

/* Computes luminances and counts kinds. If an unweighted pass finds a pixel that is not finite, it
 * only sets is_weighted. */
ALWAYS_INLINE void find_luminance(const image_measure_plan *plan, luminance_kind how, bool weighted,
                                  measure_block *block)
{
    float *restrict luminance = block->luminance;
    uint32_t *restrict weights = block->weights;
    const uint8_t *restrict mask = block->mask;
    size_t count = block->count;
    bool is_masked = block->is_masked;
    uint32_t positive = 0, zero = 0, negative = 0, nan_count = 0, pixels = 0;
    uint32_t total = 0;
    for (size_t i = 0; i < count; i++) {
        pixel_luminance pixel = luminance_of(plan, how, block, i);
        uint32_t kind = image_kind(pixel.largest, pixel.value);
        uint32_t is_finite = kind < IMAGE_NAN;
        luminance[i] = tml_bits_float(tml_float_bits(pixel.value) & (0u - is_finite));
        uint32_t one = 1;
        if (weighted) {
            uint32_t weight = is_masked ? mask[i] : 1;
            one = weight > 0;
            weights[i] = weight * is_finite;
            total += weight * is_finite;
        }
        pixels += one;
        positive += one & (kind == IMAGE_POSITIVE);
        zero += one & (kind == IMAGE_ZERO);
        negative += one & (kind == IMAGE_NEGATIVE);
        nan_count += one & (kind == IMAGE_NAN);
    }
    uint32_t finite = positive + zero + negative;
    block->is_weighted = block->is_masked || finite != pixels;
    if (block->is_weighted && !weighted)
        return; /* the block is measured again, with weights */
    measure_counts *counts = &block->counts;
    counts->pixels += pixels;
    counts->kinds[IMAGE_POSITIVE] += positive;
    counts->kinds[IMAGE_ZERO] += zero;
    counts->kinds[IMAGE_NEGATIVE] += negative;
    counts->kinds[IMAGE_NAN] += nan_count;
    counts->kinds[IMAGE_NOT_FINITE] += pixels - finite - nan_count;
    counts->weight += weighted ? total : pixels;
}

/* Reduces a block's arrays to lane[0]. JOIN(lane, i) adds element i to one of LANES partial
 * results. FOLD reduces these in a fixed tree. Prefetches the next block from part fetched on. */
#define OVER_LANES(T, start, JOIN, FOLD)                                                           \
    T lane[LANES];                                                                                 \
    size_t first = 0, count = block->count;                                                        \
    for (size_t l = 0; l < LANES; l++)                                                             \
        lane[l] = start;                                                                           \
    for (; first + LANES <= count; first += LANES) {                                               \
        fetch_next(block, fetched + first / LANES, 1);                                             \
        for (size_t l = 0; l < LANES; l++)                                                         \
            lane[l] = JOIN(lane[l], first + l);                                                    \
    }                                                                                              \
    for (size_t l = 0; first + l < count; l++)                                                     \
        lane[l] = JOIN(lane[l], first + l);                                                        \
    for (size_t width = LANES / 2; width > 0; width /= 2)                                          \
        for (size_t l = 0; l < width; l++)                                                         \
    lane[l] = FOLD(lane[l], lane[l + width])

ALWAYS_INLINE float least_of(const measure_block *block, bool weighted)
{
    const float *restrict x = block->luminance;
    const uint32_t *restrict weights = block->weights;
    const size_t fetched = PARTS / 2;
#define JOIN_LEAST(a, i) LEAST(a, weighted &&weights[i] == 0 ? INFINITY : x[i])
    OVER_LANES(float, INFINITY, JOIN_LEAST, LEAST);
    return lane[0];
}
ALWAYS_INLINE float most_of(const measure_block *block, bool weighted)
{
    const float *restrict x = block->luminance;
    const uint32_t *restrict weights = block->weights;
    const size_t fetched = PARTS / 2;
#define JOIN_MOST(a, i) MOST(a, weighted &&weights[i] == 0 ? -INFINITY : x[i])
    OVER_LANES(float, -INFINITY, JOIN_MOST, MOST);
    return lane[0];
}
ALWAYS_INLINE double sum_of(const measure_block *block, bool weighted)
{
    const float *restrict x = block->luminance;
    const uint32_t *restrict weights = block->weights;
    const size_t fetched = PARTS / 2;
#define JOIN_SUM(a, i) ((a) + (weighted ? (double)weights[i] * (double)x[i] : (double)x[i]))
    OVER_LANES(double, 0.0, JOIN_SUM, ADD);
    return lane[0];
}
ALWAYS_INLINE double squares_of(const measure_block *block, bool weighted, double mean)
{
    const float *restrict x = block->luminance;
    const uint32_t *restrict weights = block->weights;
    const size_t fetched = PARTS * 3 / 4;
#define SQUARE(i)         (((double)x[i] - mean) * ((double)x[i] - mean))
#define JOIN_SQUARE(a, i) ((a) + (weighted ? (double)weights[i] * SQUARE(i) : SQUARE(i)))
    OVER_LANES(double, 0.0, JOIN_SQUARE, ADD);
    return lane[0];
}

ALWAYS_INLINE void find_extremes(bool weighted, measure_block *block)
{
    measure_counts *counts = &block->counts;
    float least = least_of(block, weighted);
    float most = most_of(block, weighted);
    counts->least = LEAST(counts->least, least);
    counts->most = MOST(counts->most, most);
}

/* Computes the moments of a block. Squares are of differences from the block's mean, so that small
 * deviations of large luminances keep their precision. */
ALWAYS_INLINE image_moments find_moments(bool weighted, const measure_block *block)
{
    uint64_t weight = block->count;
    if (weighted) {
        weight = 0;
        for (size_t i = 0; i < block->count; i++)
            weight += block->weights[i];
    }
    image_moments moments = {.weight = (double)weight};
    if (weight == 0)
        return moments;
    moments.mean = sum_of(block, weighted) / moments.weight;
    moments.square = squares_of(block, weighted, moments.mean);
    return moments;
}

ALWAYS_INLINE void find_logarithms(const image_measure_plan *plan, block_sort sort, bool binned,
                                   measure_block *block)
{
    bool weighted = sort == WEIGHTED;
    const float *restrict luminance = block->luminance;
    const uint32_t *restrict weights = block->weights;
    uint16_t *restrict bins = block->bins;
    float lowest = plan->floor;
    int32_t low = plan->histogram_low;
    uint32_t bin_log2 = plan->bin_log2;
    measure_counts *counts = &block->counts;
    for (size_t first = 0; first < block->count; first += CHUNK) {
        size_t end = TML_MIN_OF(first + CHUNK, block->count);
        fetch_next(block, PARTS / 2 + first / CHUNK * CHUNK_PARTS, CHUNK_PARTS);
        uint64_t weight = 0, fraction = 0;
        int64_t whole = 0;
        uint32_t plain_fraction = 0, plain_weight = 0;
        int32_t plain_whole = 0;
        for (size_t i = first; i < end; i++) {
            float value = MOST(luminance[i], lowest);
            bool has = sort == POSITIVE || (value > 0.0f && (!weighted || weights[i] > 0));
            int32_t stops = image_log2_fixed(has ? value : 1.0f);
            if (weighted) {
                uint32_t own = has ? weights[i] : 0;
                weight += own;
                whole += (int64_t)own * image_log2_whole(stops);
                fraction += (uint64_t)own * image_log2_fraction(stops);
            } else {
                plain_weight += has ? 1 : 0;
                plain_whole += image_log2_whole(stops);
                plain_fraction += image_log2_fraction(stops);
            }
            if (binned)
                bins[i] = (uint16_t)(has ? image_bin(stops, low, bin_log2) : NO_BIN);
        }
        counts->log_weight += weight + plain_weight;
        counts->log_whole += whole + plain_whole;
        counts->log_fraction += fraction + plain_fraction;
    }
}

static void fill_histogram(measure_block *block)
{
    const uint16_t *restrict bins = block->bins;
    const uint32_t *restrict weights = block->weights;
    uint32_t(*restrict copies)[TML_HISTOGRAM_BINS + 1] = block->copies;
    size_t i = 0, count = block->count;
    for (; block->is_weighted && i < count; i++)
        copies[i % COPIES][bins[i]] += weights[i];
    for (; i + COPIES <= count; i += COPIES)
        for (size_t k = 0; k < COPIES; k++)
            copies[k][bins[i + k]]++;
    for (; i < count; i++)
        copies[i % COPIES][bins[i]]++;
}

/* ---- a block --------------------------------------------------------------------------------- */

ALWAYS_INLINE bool measure_luminance(const image_measure_plan *plan, luminance_kind how,
                                     block_sort sort, measure_block *block)
{
    if (sort == POSITIVE)
        return find_positive(plan, how, block);
    find_luminance(plan, how, sort == WEIGHTED, block);
    return block->is_weighted == (sort == WEIGHTED);
}

ALWAYS_INLINE image_moments measure_as(const image_measure_plan *plan, block_sort sort,
                                       measure_block *block, bool *fits)
{
    bool binned = plan->what & TML_MEASURE_HISTOGRAM, weighted = sort == WEIGHTED;
    image_moments moments = {.weight = 0.0};
    if (plan->in.channels < 3)
        *fits = measure_luminance(plan, GREY, sort, block);
    else if (plan->max_rgb)
        *fits = measure_luminance(plan, BY_MAX, sort, block);
    else
        *fits = measure_luminance(plan, BY_WEIGHTS, sort, block);
    if (!*fits)
        return moments;
    if (sort != POSITIVE)
        find_extremes(weighted, block);
    if (binned)
        find_logarithms(plan, sort, true, block);
    else if (plan->what & TML_MEASURE_LOG)
        find_logarithms(plan, sort, false, block);
    return plan->what & TML_MEASURE_MEAN ? find_moments(weighted, block) : moments;
}

/* Measures a block by the fastest pass that fits: all pixels positive, all finite, or weighted. */
ALWAYS_INLINE image_moments measure(const image_measure_plan *plan, measure_block *block)
{
    bool fits = false;
    image_moments moments = {.weight = 0.0};
    block->is_weighted = block->is_masked;
    if (!block->is_masked)
        moments = measure_as(plan, POSITIVE, block, &fits);
    if (!fits && !block->is_masked)
        moments = measure_as(plan, FINITE, block, &fits);
    if (!fits)
        moments = measure_as(plan, WEIGHTED, block, &fits);
    return moments;
}

SIMD_INSTANTIATE(image_moments, measure, (const image_measure_plan *plan, measure_block *block),
                 return measure(plan, block))

typedef image_moments (*measure_fn)(const image_measure_plan *plan, measure_block *block);
static const measure_fn measure_for[TML_SIMD_LEVELS] = SIMD_EACH_LEVEL(measure);

/* ---- tiles ----------------------------------------------------------------------------------- */

typedef struct measure_job {
    tml_context *tml;
    const image_measure_plan *plan;
    cpu_image image;
    const uint8_t *mask;
    measure_fn measure;
    uint64_t pixels;
    cpu_tickets tickets;
    image_moments *moments; /* one per tile */
    measure_block *blocks;  /* one per worker */
} measure_job;

static uint64_t measure_tiles(const image_measure_plan *plan)
{
    return TML_CEIL_DIV((uint64_t)plan->in.width * plan->in.height,
                        (uint64_t)TILE_BLOCKS * IMAGE_BLOCK);
}

/* Writes the mask's weights for count pixels of row y, from x on. Each mask column has a run of
 * pixels. */
static void take_weights(const measure_job *job, uint64_t y, uint64_t x, size_t count, uint8_t *out)
{
    const image_measure_plan *plan = job->plan;
    uint64_t width = plan->in.width, columns = plan->mask_width;
    const uint8_t *row =
        job->mask +
        (size_t)image_mask_at((uint32_t)y, plan->mask_height, plan->in.height) * columns;
    uint64_t column = image_mask_at((uint32_t)x, plan->mask_width, plan->in.width);
    for (size_t i = 0; i < count; column++) {
        uint64_t end = ((column + 1) * width + columns - 1) / columns; /* the column's end */
        size_t run = (size_t)TML_MIN_OF(end - x - i, count - i);
        memset(out + i, row[column], run);
        i += run;
    }
}

/* Loads pixels [first, first + block->count) of the region, row by row. */
static void load_block(const measure_job *job, uint64_t first, measure_block *block)
{
    uint64_t width = job->plan->in.width, y = first / width, x = first % width;
    uint32_t wanted = job->plan->in.channels < 3 ? 1 : 3;
    for (size_t done = 0; done < block->count;) {
        size_t count = (size_t)TML_MIN_OF(width - x, block->count - done);
        cpu_image_load(&job->image, y, x, count, wanted, &block->image, done);
        if (job->mask)
            take_weights(job, y, x, count, block->mask + done);
        done += count;
        x += count;
        y += x == width;
        x = x < width ? x : 0;
    }
    const cpu_image *image = &job->image;
    block->next = (uintptr_t)image->pixels + y * image->row_size + x * image->pixel_size;
    block->next_part = y < job->plan->in.height ? block->count * job->image.pixel_size / PARTS : 0;
}

/* Adds the 32-bit copies to the 64-bit histogram. This happens once per tile, so the copies do not
 * overflow. */
static void gather_histogram(measure_block *block)
{
    for (uint32_t copy = 0; copy < COPIES; copy++)
        for (uint32_t bin = 0; bin < TML_HISTOGRAM_BINS; bin++)
            block->counts.histogram[bin] += block->copies[copy][bin];
    memset(block->copies, 0, sizeof block->copies);
}

static void measure_tile(const measure_job *job, uint64_t tile, measure_block *block)
{
    uint64_t first = tile * TILE_BLOCKS * IMAGE_BLOCK;
    uint64_t end = TML_MIN_OF(first + (uint64_t)TILE_BLOCKS * IMAGE_BLOCK, job->pixels);
    bool binned = job->plan->what & TML_MEASURE_HISTOGRAM;
    image_moments moments = {.weight = 0.0};
    for (; first < end; first += block->count) {
        block->count = (size_t)TML_MIN_OF((uint64_t)IMAGE_BLOCK, end - first);
        load_block(job, first, block);
        moments = image_moments_join(moments, job->measure(job->plan, block));
        if (binned)
            fill_histogram(block);
    }
    if (binned)
        gather_histogram(block);
    job->moments[tile] = moments;
}

static void measure_worker(void *argument, uint32_t index)
{
    measure_job *job = argument;
    measure_block *block = &job->blocks[index];
    memset(&block->counts, 0, sizeof block->counts);
    memset(block->copies, 0, sizeof block->copies);
    block->counts.least = INFINITY;
    block->counts.most = -INFINITY;
    block->is_masked = job->mask != NULL;
    uint64_t tile;
    while (cpu_take_tile(&job->tickets, &tile) && !tml_is_cancelled(job->tml))
        measure_tile(job, tile, block);
}

/* ---- results --------------------------------------------------------------------------------- */

static void cpu_image_measure_add_counts(measure_counts *sum, const measure_counts *part)
{
    for (uint32_t kind = 0; kind < IMAGE_KINDS; kind++)
        sum->kinds[kind] += part->kinds[kind];
    sum->pixels += part->pixels;
    sum->weight += part->weight;
    sum->log_weight += part->log_weight;
    sum->log_whole += part->log_whole;
    sum->log_fraction += part->log_fraction;
    sum->least = LEAST(sum->least, part->least);
    sum->most = MOST(sum->most, part->most);
    for (uint32_t bin = 0; bin < TML_HISTOGRAM_BINS; bin++)
        sum->histogram[bin] += part->histogram[bin];
}

static void put_number(uint32_t *words, uint32_t word, uint64_t value)
{
    words[word] = (uint32_t)value;
    words[word + 1] = (uint32_t)(value >> 32);
}

static void put_float(uint32_t *words, uint32_t word, float value)
{
    memcpy(words + word, &value, sizeof value);
}

/* Stores a double as the sum of two floats. */
static void put_pair(uint32_t *words, uint32_t word, double value)
{
    put_float(words, word, (float)value);
    put_float(words, word + 1, isfinite((float)value) ? (float)(value - (double)(float)value) : 0);
}

static void put_stats(const image_measure_plan *plan, const measure_counts *counts,
                      const image_moments *moments, uint32_t *words)
{
    memset(words, 0, TML_IMAGE_STATS_WORDS * sizeof *words);
    put_number(words, TML_STATS_PIXELS, counts->pixels);
    for (uint32_t kind = 0; kind < IMAGE_KINDS; kind++)
        put_number(words, TML_STATS_POSITIVE + 2 * kind, counts->kinds[kind]);
    put_number(words, TML_STATS_WEIGHT, counts->weight);
    if (plan->what & TML_MEASURE_LOG) {
        put_number(words, TML_STATS_LOG_WEIGHT, counts->log_weight);
        put_number(words, TML_STATS_LOG_WHOLE, (uint64_t)counts->log_whole);
        put_number(words, TML_STATS_LOG_FRACTION, counts->log_fraction);
    }
    put_float(words, TML_STATS_MIN, counts->least);
    put_float(words, TML_STATS_MAX, counts->most);
    if (plan->what & TML_MEASURE_MEAN && moments->weight > 0.0) {
        put_pair(words, TML_STATS_MEAN, moments->mean);
        put_pair(words, TML_STATS_DEVIATION, moments->square / moments->weight);
    }
    words[TML_STATS_HISTOGRAM_LOW] = (uint32_t)plan->histogram_low;
    words[TML_STATS_BIN_LOG2] = plan->bin_log2;
    put_float(words, TML_STATS_FLOOR, plan->floor);
    words[TML_STATS_WHAT] = plan->what;
    if (plan->what & TML_MEASURE_HISTOGRAM)
        for (uint32_t bin = 0; bin < TML_HISTOGRAM_BINS; bin++)
            put_number(words, TML_STATS_HISTOGRAM + 2 * bin, counts->histogram[bin]);
}

/* ---- the operation --------------------------------------------------------------------------- */

static void cpu_image_measure_lay_out(cpu_arena *arena, tml_context *tml,
                                      const image_measure_plan *plan, measure_job *job)
{
    uint64_t tiles = measure_tiles(plan);
    job->moments = cpu_arena_take(arena, tiles, sizeof *job->moments);
    job->blocks = cpu_arena_take(arena, cpu_workers(tml, tiles), sizeof *job->blocks);
}

static size_t measure_scratch_size(tml_context *tml, const void *argument)
{
    cpu_arena arena = {0};
    measure_job job;
    cpu_image_measure_lay_out(&arena, tml, argument, &job);
    return arena.size;
}

static tml_status measure_run(tml_context *tml, const void *argument, void *scratch, size_t size)
{
    const image_measure_plan *plan = argument;
    cpu_arena arena = {.memory = scratch};
    measure_job job = {.tml = tml,
                       .plan = plan,
                       .mask = cpu_memory(tml, plan->mask),
                       .measure = measure_for[tml_simd_level()],
                       .pixels = (uint64_t)plan->in.width * plan->in.height};
    (void)size;
    cpu_image_bind(tml, &plan->in, &job.image);
    cpu_image_measure_lay_out(&arena, tml, plan, &job);
    uint64_t tiles = measure_tiles(plan);
    cpu_run_tiles(tml, &job.tickets, tiles, measure_worker, &job);
    tml_status status = cpu_finish(tml, "tml_image_measure");
    if (status != TML_OK)
        return status;

    measure_counts counts = job.blocks[0].counts;
    for (uint32_t worker = 1; worker < cpu_workers(tml, tiles); worker++)
        cpu_image_measure_add_counts(&counts, &job.blocks[worker].counts);
    image_moments moments = {.weight = 0.0};
    for (uint64_t tile = 0; tile < tiles; tile++)
        moments = image_moments_join(moments, job.moments[tile]);
    put_stats(plan, &counts, &moments, cpu_memory(tml, plan->stats));
    return TML_OK;
}

const tml_engine_op cpu_op_image_measure = {.scratch_size = measure_scratch_size,
                                            .run = measure_run};
