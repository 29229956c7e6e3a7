/* Histogram on the CPU, in one of two ways.
 *
 * Tables: each worker counts its tiles in a table of its own, and the tables are added up. Workers
 * share nothing, whatever the data, but there are as many tables as workers.
 *
 * Parts, if a table is larger than a cache: elements are first moved to the part that contains
 * their bin (a digit of a radix sort). Then each part is counted in its own range of the sums,
 * which fits a cache. If a part has more than its share of the elements (for example, all have the
 * same bin), it is counted in slices with tables.
 *
 * Sums of integers do not depend on the order of counting; float weights are integers here
 * (kernels/histogram.k.h). */
#include "cpu/cpu_internal.h"

#include <string.h>

#include "kernels/kernel.h"

#include "kernels/histogram.k.h"

#include "kernels/kernel_end.h"

enum {
    TILE_ITEMS = 64 * CPU_BLOCK,
    /* Consecutive elements are often equal, and incrementing a bin waits for the previous
     * increment. So elements alternate between LANES copies of the bins if these fit the
     * first-level cache; otherwise LANES equal elements are counted at once. */
    LANES = 4,
    BINS_IN_LANES = 1024,
    /* The most bins of a worker's table. Measured on 2^24 elements: a table of 2^18 bins takes a
     * third of the time of parts, one of 2^20 the same time, one of 2^24 twice the time. All tables
     * together have at most as many counters as there are elements, or this many if that is
     * more. */
    TABLE_BINS = 1 << 20,
    PART_LOG2 = 16,    /* bins of a part: counters in a second-level cache */
    PARTS_MOST = 1024, /* with more, moving would miss the TLB at each element */
    CHUNKS = 4,        /* of the stream per worker; each is moved in one step */
    SLICES = 2,        /* per worker; at most that many more than there are parts */
    SUM_BINS = 1024,   /* bins of a tile of sums */
};

typedef struct histogram_job {
    tml_context *tml;
    cpu_tickets tickets;
    uint64_t length;
    uint32_t bins, workers;
    /* The source of bins: a kernel, edges, or in. */
    cpu_call call;
    cpu_call_space *spaces; /* one a worker */
    cpu_search search;
    const unsigned char *in;
    tml_type in_type;
    size_t in_size;
    /* Weights; NULL: each counts 1. */
    const unsigned char *weights;
    tml_type weight_type;
    uint32_t *largest; /* of float weights, one per worker */
    int shift;
    tml_slot *out;
    bool is_wide, is_real; /* counters have 64 bits; out has floats */
    uint32_t lanes;
    size_t stride; /* counters of a table: the bins, then one for all other values */
    void *tables;  /* stride counters each */
    size_t copies; /* of them */
    /* For parts. sums: out's elements; for floats, counters. */
    uint32_t part_log2, parts;
    uint64_t chunks;
    /* parts x chunks: where a chunk's elements of a part begin; later, where they end */
    uint64_t *starts;
    uint32_t *made; /* the bins, unless in has them */
    uint32_t *moved;
    uint64_t *moved_weights;
    struct slice {
        uint64_t first, end;  /* of moved */
        uint32_t part, table; /* table 0: the part's range of sums, else table - 1 of tables */
    } * slices;
    uint64_t slice_count;
    void *sums;
} histogram_job;

/* ---- elements and weights -------------------------------------------------------------------- */

/* A pointer to the bins of a block of elements: computed into a block, or in memory already. */
static const uint32_t *bins_of(const histogram_job *job, uint32_t worker, uint64_t first,
                               size_t count, uint32_t *made)
{
    if (job->call.kernel)
        cpu_call_run(&job->call, &job->spaces[worker], first, count, made);
    else if (job->search.sorted)
        cpu_search_bins(&job->search, first, count, made);
    else if (job->in_type == TML_U32)
        return (const uint32_t *)job->in + first;
    else
        cpu_widen(job->in_type, job->in + first * job->in_size, count, made);
    return made;
}

ALWAYS_INLINE void fixed_loop(const uint32_t *bits, size_t count, int shift, uint64_t *out)
{
    for (size_t i = 0; i < count; i++) {
        tml_uvec2 sum = histogram_fixed(bits[i], shift);
        out[i] = tml_words_uint64(sum.x, sum.y);
    }
}
SIMD_INSTANTIATE(void, fixed, (const uint32_t *bits, size_t count, int shift, uint64_t *out),
                 fixed_loop(bits, count, shift, out))
static void (*const fixed_fns[])(const uint32_t *bits, size_t count, int shift,
                                 uint64_t *out) = SIMD_EACH_LEVEL(fixed);

static void weights_of(const histogram_job *job, uint64_t first, size_t count, uint64_t *out)
{
#define WEIGHTS(T, value)                                                                          \
    for (size_t i = 0; i < count; i++) {                                                           \
        T x = ((const T *)job->weights)[first + i];                                                \
        out[i] = (value);                                                                          \
    }                                                                                              \
    break
    switch (job->weight_type) {
    case TML_U8:
        WEIGHTS(uint8_t, x);
    case TML_U16:
        WEIGHTS(uint16_t, x);
    case TML_U32:
        WEIGHTS(uint32_t, x);
    default:
        fixed_fns[tml_simd_level()]((const uint32_t *)job->weights + first, count, job->shift, out);
    }
#undef WEIGHTS
}

static void largest_worker(void *argument, uint32_t worker)
{
    histogram_job *job = argument;
    uint32_t largest = 0;
    uint64_t tile;
    while (cpu_take_tile(&job->tickets, &tile) && !tml_is_cancelled(job->tml)) {
        uint64_t first = tile * TILE_ITEMS, end = TML_MIN_OF(first + TILE_ITEMS, job->length);
        for (; first < end; first++) {
            uint32_t size = histogram_weight_size(((const uint32_t *)job->weights)[first]);
            largest = TML_MAX_OF(largest, size);
        }
    }
    job->largest[worker] = largest;
}

static void find_shift(histogram_job *job, uint64_t bound)
{
    uint32_t largest = 0, length_log2 = 0;
    cpu_run_tiles(job->tml, &job->tickets, TML_CEIL_DIV(job->length, TILE_ITEMS), largest_worker,
                  job);
    for (uint32_t w = 0; w < cpu_workers(job->tml, TML_CEIL_DIV(job->length, TILE_ITEMS)); w++)
        largest = TML_MAX_OF(largest, job->largest[w]);
    while (bound > (uint64_t)1 << length_log2)
        length_log2++;
    job->shift = histogram_shift(largest, length_log2);
}

/* ---- counting -------------------------------------------------------------------------------- */

#define COUNT(T, C)                                                                                \
    do {                                                                                           \
        const T *x = in;                                                                           \
        C *lane[LANES];                                                                            \
        for (size_t l = 0; l < LANES; l++)                                                         \
            lane[l] = (C *)table + l % job->lanes * job->stride;                                   \
        size_t i = 0;                                                                              \
        for (; i + LANES <= count; i += LANES)                                                     \
            if (job->lanes == 1 && x[i] == x[i + 1] && x[i] == x[i + 2] && x[i] == x[i + 3])       \
                lane[0][TML_MIN_OF((uint32_t)x[i], bins)] += LANES;                                \
            else                                                                                   \
                for (size_t l = 0; l < LANES; l++)                                                 \
                    lane[l][TML_MIN_OF((uint32_t)x[i + l], bins)]++;                               \
        for (; i < count; i++)                                                                     \
            lane[0][TML_MIN_OF((uint32_t)x[i], bins)]++;                                           \
    } while (0)

static void count_bins(const histogram_job *job, void *table, size_t size, const void *in,
                       size_t count)
{
    uint32_t bins = job->bins;
    if (size == 1 && job->is_wide)
        COUNT(uint8_t, uint64_t);
    else if (size == 1)
        COUNT(uint8_t, uint32_t);
    else if (size == 2 && job->is_wide)
        COUNT(uint16_t, uint64_t);
    else if (size == 2)
        COUNT(uint16_t, uint32_t);
    else if (job->is_wide)
        COUNT(uint32_t, uint64_t);
    else
        COUNT(uint32_t, uint32_t);
}

/* Adds weights (NULL: 1 each) to the counters of their bins. Bins that are not below most count in
 * counter most. */
#define ADD(C)                                                                                     \
    for (size_t i = 0, run = 1; i < count; i += run) {                                             \
        C *counter = (C *)counters + TML_MIN_OF(bins[i] - first_bin, most);                        \
        for (run = 1; !weights && run < LANES && i + run < count && bins[i + run] == bins[i];)     \
            run++;                                                                                 \
        *counter += weights ? (C)weights[i] : (C)run;                                              \
    }
static void add_weights(const histogram_job *job, void *counters, const uint32_t *bins,
                        uint32_t first_bin, uint32_t most, const uint64_t *weights, size_t count)
{
    if (job->is_wide)
        ADD(uint64_t)
    else
        ADD(uint32_t)
}

static size_t counter_size(const histogram_job *job)
{
    return job->is_wide ? sizeof(uint64_t) : sizeof(uint32_t);
}

static void *counters_at(const histogram_job *job, void *counters, uint64_t i)
{
    return (unsigned char *)counters + i * counter_size(job);
}

static void histogram_worker(void *argument, uint32_t worker)
{
    histogram_job *job = argument;
    size_t own = job->lanes * job->stride;
    void *table = counters_at(job, job->tables, worker * own);
    uint32_t made[CPU_BLOCK];
    uint64_t weights[CPU_BLOCK], tile;
    bool is_direct = !job->call.kernel && !job->search.sorted && !job->weights;
    memset(table, 0, own * counter_size(job));
    while (cpu_take_tile(&job->tickets, &tile) && !tml_is_cancelled(job->tml)) {
        uint64_t first = tile * TILE_ITEMS, end = TML_MIN_OF(first + TILE_ITEMS, job->length);
        if (is_direct)
            count_bins(job, table, job->in_size, job->in + first * job->in_size,
                       (size_t)(end - first));
        for (; first < end && !is_direct; first += CPU_BLOCK) {
            size_t count = (size_t)TML_MIN_OF(end - first, (uint64_t)CPU_BLOCK);
            const uint32_t *bins = bins_of(job, worker, first, count, made);
            if (job->weights) {
                weights_of(job, first, count, weights);
                add_weights(job, table, bins, 0, job->bins, weights, count);
            } else {
                count_bins(job, table, sizeof *bins, bins, count);
            }
        }
    }
}

/* Adds up the tables' counters of a bin, and stores the sum. */
static void store_worker(void *argument, uint32_t worker)
{
    histogram_job *job = argument;
    uint64_t tile, sums[SUM_BINS];
    (void)worker;
    while (cpu_take_tile(&job->tickets, &tile)) {
        uint64_t first = tile * SUM_BINS;
        size_t count = (size_t)TML_MIN_OF(job->bins - first, (uint64_t)SUM_BINS);
        memset(sums, 0, sizeof sums);
        for (size_t c = 0; c < job->copies; c++) {
            const void *table = counters_at(job, job->tables, c * job->stride + first);
            for (size_t b = 0; b < count; b++)
                sums[b] +=
                    job->is_wide ? ((const uint64_t *)table)[b] : ((const uint32_t *)table)[b];
        }
        for (size_t b = 0; b < count; b++)
            if (job->is_real)
                ((uint32_t *)job->out->memory)[first + b] = histogram_float(
                    tml_make_uvec2((uint32_t)sums[b], (uint32_t)(sums[b] >> 32)), job->shift);
            else if (job->is_wide)
                ((uint64_t *)job->out->memory)[first + b] = sums[b];
            else
                ((uint32_t *)job->out->memory)[first + b] = (uint32_t)sums[b];
    }
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void chunk_range(const histogram_job *job, uint64_t chunk, uint64_t *first, uint64_t *end)
{
    uint64_t tiles = TML_CEIL_DIV(job->length, TILE_ITEMS);
    *first = chunk * tiles / job->chunks * TILE_ITEMS;
    *end = TML_MIN_OF((chunk + 1) * tiles / job->chunks * TILE_ITEMS, job->length);
}

/* job->parts: in none. */
static uint32_t part_of(const histogram_job *job, uint32_t bin)
{
    return bin < job->bins ? bin >> job->part_log2 : job->parts;
}

/* Counts the elements of each part in each chunk, and keeps their bins. */
static void chunk_worker(void *argument, uint32_t worker)
{
    histogram_job *job = argument;
    uint64_t chunk, first, end, counts[PARTS_MOST + 1];
    while (cpu_take_tile(&job->tickets, &chunk) && !tml_is_cancelled(job->tml)) {
        memset(counts, 0, sizeof counts);
        for (chunk_range(job, chunk, &first, &end); first < end; first += CPU_BLOCK) {
            size_t count = (size_t)TML_MIN_OF(end - first, (uint64_t)CPU_BLOCK);
            uint32_t *made = job->made ? job->made + first : NULL;
            const uint32_t *bins = bins_of(job, worker, first, count, made);
            for (size_t i = 0, run; i < count; i += run) {
                uint32_t part = part_of(job, bins[i]);
                for (run = 1;
                     run < LANES && i + run < count && part_of(job, bins[i + run]) == part;)
                    run++;
                counts[part] += run;
            }
        }
        for (uint32_t p = 0; p < job->parts; p++)
            job->starts[p * job->chunks + chunk] = counts[p];
    }
}

static void move_worker(void *argument, uint32_t worker)
{
    histogram_job *job = argument;
    uint64_t chunk, first, end, next[PARTS_MOST + 1], weights[CPU_BLOCK];
    (void)worker;
    while (cpu_take_tile(&job->tickets, &chunk) && !tml_is_cancelled(job->tml)) {
        for (uint32_t p = 0; p < job->parts; p++)
            next[p] = job->starts[p * job->chunks + chunk];
        for (chunk_range(job, chunk, &first, &end); first < end; first += CPU_BLOCK) {
            size_t count = (size_t)TML_MIN_OF(end - first, (uint64_t)CPU_BLOCK);
            const uint32_t *bins = (const uint32_t *)job->in + first;
            if (job->weights)
                weights_of(job, first, count, weights);
            for (size_t i = 0; i < count; i++) {
                uint32_t part = part_of(job, bins[i]);
                if (part == job->parts)
                    continue;
                if (job->weights)
                    job->moved_weights[next[part]] = weights[i];
                job->moved[next[part]++] = bins[i];
            }
        }
    }
}

/* Replaces counts by starts, and divides the parts into slices. */
static void lay_out_slices(histogram_job *job)
{
    uint64_t sum = 0, share = SLICES * (uint64_t)cpu_workers(job->tml, job->chunks);
    uint64_t most = TML_MAX_OF(share ? TML_CEIL_DIV(job->length, share) : 0, (uint64_t)TILE_ITEMS);
    uint32_t table = 0;
    job->slice_count = 0;
    for (uint32_t p = 0; p < job->parts; p++) {
        uint64_t first = sum;
        for (uint64_t c = 0; c < job->chunks; c++) {
            uint64_t count = job->starts[p * job->chunks + c];
            job->starts[p * job->chunks + c] = sum;
            sum += count;
        }
        uint64_t end = TML_MIN_OF(first + most, sum);
        job->slices[job->slice_count++] = (struct slice){first, end, p, 0};
        for (; end < sum; end = job->slices[job->slice_count++].end)
            job->slices[job->slice_count] =
                (struct slice){end, TML_MIN_OF(end + most, sum), p, ++table};
    }
}

/* A slice's counters, and how many there are. */
static void *slice_counters(const histogram_job *job, const struct slice *slice, uint32_t *count)
{
    uint64_t first = (uint64_t)slice->part << job->part_log2, size = (uint64_t)1 << job->part_log2;
    *count = (uint32_t)TML_MIN_OF(size, job->bins - first);
    return slice->table ? counters_at(job, job->tables, (uint64_t)(slice->table - 1) * size)
                        : counters_at(job, job->sums, first);
}

static void slice_worker(void *argument, uint32_t worker)
{
    histogram_job *job = argument;
    uint64_t tile;
    (void)worker;
    while (cpu_take_tile(&job->tickets, &tile) && !tml_is_cancelled(job->tml)) {
        const struct slice *slice = &job->slices[tile];
        uint32_t count;
        void *counters = slice_counters(job, slice, &count);
        memset(counters, 0, count * counter_size(job));
        add_weights(job, counters, job->moved + slice->first, slice->part << job->part_log2, count,
                    job->weights ? job->moved_weights + slice->first : NULL,
                    (size_t)(slice->end - slice->first));
    }
}

/* Adds the tables of a part's further slices to its range of sums. */
static void join_worker(void *argument, uint32_t worker)
{
    histogram_job *job = argument;
    uint64_t tile;
    (void)worker;
    while (cpu_take_tile(&job->tickets, &tile)) {
        const struct slice *first = &job->slices[tile], *end = job->slices + job->slice_count;
        if (first->table)
            continue;
        uint32_t count;
        void *sums = slice_counters(job, first, &count);
        for (const struct slice *s = first + 1; s < end && s->table; s++) {
            const void *table = slice_counters(job, s, &count);
            for (uint32_t b = 0; b < count; b++)
                if (job->is_wide)
                    ((uint64_t *)sums)[b] += ((const uint64_t *)table)[b];
                else
                    ((uint32_t *)sums)[b] += ((const uint32_t *)table)[b];
        }
    }
}

static void count_by_parts(histogram_job *job)
{
    tml_context *tml = job->tml;
    job->chunks =
        TML_MIN_OF(TML_CEIL_DIV(job->length, TILE_ITEMS),
                   CHUNKS * (uint64_t)cpu_workers(tml, TML_CEIL_DIV(job->length, TILE_ITEMS)));
    job->sums = job->sums ? job->sums : job->out->memory;
    cpu_run_tiles(tml, &job->tickets, job->chunks, chunk_worker, job);
    if (tml_is_cancelled(tml))
        return;
    if (job->made)
        job->in = (const unsigned char *)job->made;
    lay_out_slices(job);
    cpu_run_tiles(tml, &job->tickets, job->chunks, move_worker, job);
    if (tml_is_cancelled(tml))
        return;
    cpu_run_tiles(tml, &job->tickets, job->slice_count, slice_worker, job);
    cpu_run_tiles(tml, &job->tickets, job->slice_count, join_worker, job);
    job->tables = job->sums;
    job->copies = 1;
}

/* ---- the operation --------------------------------------------------------------------------- */

static void lay_out_parts(cpu_arena *arena, uint64_t bound, histogram_job *job)
{
    job->part_log2 = PART_LOG2;
    while ((uint64_t)PARTS_MOST << job->part_log2 < job->bins)
        job->part_log2++;
    uint64_t range = (uint64_t)1 << job->part_log2, extra = SLICES * (uint64_t)job->workers;
    job->parts = (uint32_t)TML_CEIL_DIV(job->bins, range);
    uint64_t chunks = TML_MIN_OF(TML_CEIL_DIV(bound, TILE_ITEMS), CHUNKS * (uint64_t)job->workers);
    job->starts = cpu_arena_take(arena, job->parts * chunks, sizeof *job->starts);
    job->slices = cpu_arena_take(arena, job->parts + extra, sizeof *job->slices);
    job->tables = cpu_arena_take(arena, extra * range, counter_size(job));
    job->moved = cpu_arena_take(arena, bound, sizeof *job->moved);
    if (job->weights)
        job->moved_weights = cpu_arena_take(arena, bound, sizeof *job->moved_weights);
    if (job->call.kernel || job->search.sorted || job->in_type != TML_U32)
        job->made = cpu_arena_take(arena, bound, sizeof *job->made);
    if (job->is_real)
        job->sums = cpu_arena_take(arena, job->bins, counter_size(job));
}

/* Binds the source, the weights and the result, and lays out scratch. */
static void bind(tml_context *tml, const tml_histogram_resolved *resolved, cpu_arena *arena,
                 histogram_job *job)
{
    const tml_histogram_desc *desc = &resolved->desc;
    const tml_slot *in = tml_slot_of(tml, desc->in[0]), *weights = tml_slot_of(tml, desc->weights);
    uint64_t bound = desc->length.count;
    *job = (histogram_job){.tml = tml,
                           .bins = desc->bins,
                           .workers = cpu_workers(tml, TML_CEIL_DIV(bound, TILE_ITEMS)),
                           .out = tml_slot_of(tml, desc->out),
                           .weights = weights ? weights->memory : NULL,
                           .weight_type = weights ? weights->type : TML_TYPE_NONE};
    job->is_real = weights && weights->type == TML_F32;
    job->is_wide = job->is_real || job->out->type == TML_U64;
    if (desc->kernel) {
        cpu_call_bind(tml, desc->kernel, &desc->params, desc->in, &job->call);
        job->spaces = cpu_arena_take(arena, job->workers, sizeof *job->spaces);
    } else {
        job->in = in->memory;
        job->in_type = in->type;
        job->in_size = in->element_size;
        if (!tml_buffer_is_none(desc->edges))
            cpu_search_bind(tml, &resolved->search, &job->search);
    }
    if (job->is_real)
        job->largest = cpu_arena_take(arena, job->workers, sizeof *job->largest);
    if (job->bins > TABLE_BINS ||
        (uint64_t)job->workers * job->bins > TML_MAX_OF(bound, (uint64_t)TABLE_BINS)) {
        lay_out_parts(arena, bound, job);
        return;
    }
    job->lanes = job->bins <= BINS_IN_LANES && !job->weights ? LANES : 1;
    job->stride = TML_ALIGN_UP((size_t)job->bins + 1, (size_t)16); /* whole cache lines */
    job->tables =
        cpu_arena_take(arena, (uint64_t)job->workers * job->lanes * job->stride, counter_size(job));
}

static size_t histogram_scratch_size(tml_context *tml, const void *desc)
{
    cpu_arena arena = {0};
    histogram_job job;
    bind(tml, desc, &arena, &job);
    return arena.size;
}

static tml_status histogram_run(tml_context *tml, const void *argument, void *scratch, size_t size)
{
    const tml_histogram_resolved *resolved = argument;
    cpu_arena arena = {scratch, 0};
    histogram_job job;
    (void)size;
    bind(tml, resolved, &arena, &job);
    job.length = cpu_length(tml, &resolved->desc.length);
    if (job.is_real)
        find_shift(&job, resolved->desc.length.count);
    if (job.parts) {
        count_by_parts(&job);
    } else {
        cpu_run_tiles(tml, &job.tickets, TML_CEIL_DIV(job.length, TILE_ITEMS), histogram_worker,
                      &job);
        job.copies = (size_t)cpu_workers(tml, TML_CEIL_DIV(job.length, TILE_ITEMS)) * job.lanes;
    }
    tml_status status = cpu_finish(tml, "tml_histogram");
    if (!status && (job.is_real || !job.parts))
        cpu_run_tiles(tml, &job.tickets, TML_CEIL_DIV((uint64_t)job.bins, SUM_BINS), store_worker,
                      &job);
    return status;
}

const tml_engine_op cpu_op_histogram = {.scratch_size = histogram_scratch_size,
                                        .run = histogram_run};
