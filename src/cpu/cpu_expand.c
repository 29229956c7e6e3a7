/* tml_expand on the CPU, REDUCE_THEN_SCAN: sum the counts of each tile of sources, scan the sums,
 * then walk the sources again and emit. The walk is cut into chunks of equal length along the merge
 * path, on which every source and every output is a step. This balances workers in both extreme
 * cases: one source with all outputs, and millions of sources without outputs.
 *
 * After: Baxter: moderngpu, load-balancing search. 2013; Merrill, Garland: Merge-based parallel
 * sparse matrix-vector multiplication. 2016. */
#include <string.h>

#include "cpu/cpu_internal.h"
#include "cpu/cpu_locate.h"

enum {
    TILE = CPU_BLOCK,    /* sources in one sum; a chunk skips at most this many at its start */
    TILES_PER_TASK = 64, /* tiles that a worker sums at a time */
    CHUNK = 1 << 16,     /* steps of the path: some hundred KiB of output */
    RUN = 8,             /* outputs written at once for a source; later ones overwrite surplus */
};

/* ---- the two loops, for each size of counts and each SIMD level ------------------------------ */

ALWAYS_INLINE uint64_t load_count(const void *counts, size_t size, size_t i)
{
    return size == 1   ? ((const uint8_t *)counts)[i]
           : size == 2 ? ((const uint16_t *)counts)[i]
                       : ((const uint32_t *)counts)[i];
}

ALWAYS_INLINE uint64_t sum_of(const void *counts, size_t size, size_t n)
{
    uint32_t low = 0; /* holds the sum of a tile of 16-bit counts */
    uint64_t sum = 0;
    if (size < sizeof(uint32_t))
        for (size_t i = 0; i < n; i++)
            low += (uint32_t)load_count(counts, size, i);
    else
        for (size_t i = 0; i < n; i++)
            sum += load_count(counts, size, i);
    return sum + low;
}

/* One worker's block of outputs, which it fills before it writes. */
typedef struct expand_space {
    size_t used;
    _Alignas(64) uint32_t source[CPU_BLOCK + RUN]; /* minus the block's base */
    _Alignas(64) uint32_t rank[CPU_BLOCK + RUN];
    _Alignas(64) uint64_t index[CPU_BLOCK];
    cpu_gather_space gather;
} expand_space;

ALWAYS_INLINE void put_run(expand_space *space, size_t at, uint32_t source, uint32_t rank)
{
    for (uint32_t i = 0; i < RUN; i++)
        space->source[at + i] = source;
    for (uint32_t i = 0; i < RUN; i++)
        space->rank[at + i] = rank + i;
}

/* Bitwise or of the counts of RUN sources, a power of two. It is 0 if all counts are 0, and below
 * RUN if all are below RUN. */
ALWAYS_INLINE uint64_t any_of(const unsigned char *counts, size_t size)
{
    uint64_t words[sizeof(uint32_t)] = {0}, any = 0;
    memcpy(words, counts, RUN * size);
    for (size_t i = 0; i < size; i++)
        any |= words[i];
    if (size <= 2)
        any |= any >> 32;
    if (size == 1)
        any |= any >> 16;
    any |= any >> (8 * size);
    return any & (UINT64_MAX >> (64 - 8 * size));
}

/* Appends outputs of a tile's n sources to the block, from source *source and rank *rank on, until
 * either the sources or the block end. name: the relative number of the tile's source 0. */
ALWAYS_INLINE void fill(expand_space *space, const unsigned char *counts, size_t size, size_t n,
                        uint32_t name, size_t *source, uint32_t *rank)
{
    size_t s = *source, used = space->used;
    uint32_t made = *rank;
    while (s < n && used < CPU_BLOCK) {
        /* RUN sources with fewer than RUN outputs each, without a branch that depends on a single
         * count. */
        while (made == 0 && s + RUN <= n) {
            uint64_t any = any_of(counts + s * size, size);
            if (any >= RUN || (any > 0 && used + RUN * RUN > CPU_BLOCK))
                break;
            for (size_t i = 0; any && i < RUN; i++) {
                put_run(space, used, name + (uint32_t)(s + i), 0);
                used += load_count(counts, size, s + i);
            }
            s += RUN;
        }
        if (s == n)
            break;
        uint64_t left = load_count(counts, size, s) - made;
        size_t take = (size_t)TML_MIN_OF(left, (uint64_t)(CPU_BLOCK - used));
        for (size_t i = 0; i < take; i += RUN)
            put_run(space, used + i, name + (uint32_t)s, made + (uint32_t)i);
        used += take;
        made += (uint32_t)take;
        if (take == left) {
            made = 0;
            s++;
        }
    }
    space->used = used;
    *source = s;
    *rank = made;
}

#define FILL_PARAMETERS                                                                            \
    (expand_space * space, const unsigned char *counts, size_t n, uint32_t name, size_t *source,   \
     uint32_t *rank)

#define COUNTS_OF_SIZE(size)                                                                       \
    SIMD_INSTANTIATE(uint64_t, sum##size, (const unsigned char *counts, size_t n),                 \
                     return sum_of(counts, size, n))                                               \
    SIMD_INSTANTIATE(void, fill##size, FILL_PARAMETERS,                                            \
                     fill(space, counts, size, n, name, source, rank))
COUNTS_OF_SIZE(1)
COUNTS_OF_SIZE(2)
COUNTS_OF_SIZE(4)

typedef uint64_t (*sum_fn)(const unsigned char *counts, size_t n);
typedef void(*fill_fn) FILL_PARAMETERS;

/* Indexed by half the bytes of a count, rounded down: 1, 2, 4. */
static const sum_fn sum_fns[3][TML_SIMD_LEVELS] = {SIMD_EACH_LEVEL(sum1), SIMD_EACH_LEVEL(sum2),
                                                   SIMD_EACH_LEVEL(sum4)};
static const fill_fn fill_fns[3][TML_SIMD_LEVELS] = {SIMD_EACH_LEVEL(fill1), SIMD_EACH_LEVEL(fill2),
                                                     SIMD_EACH_LEVEL(fill4)};

/* ---- the job --------------------------------------------------------------------------------- */

typedef struct expand_job {
    tml_context *tml;
    cpu_tickets tickets;
    cpu_counts counts;           /* counts as the caller gives them */
    const unsigned char *values; /* counts in memory, size bytes each */
    size_t size;
    uint32_t *stored; /* values computed by a kernel, else NULL */
    uint64_t source_count, tile_count;
    uint64_t *first; /* tile_count + 1: exclusive prefix of the tiles' outputs */
    uint64_t limit;  /* number of outputs that are written */
    expand_space *spaces;
    unsigned char *source, *rank, *outs[TML_MAX_OUTS];
    size_t source_size, out_sizes[TML_MAX_OUTS];
    bool stream_source, stream_rank;
    cpu_call emit;
    sum_fn sum;
    fill_fn fill;
} expand_job;

static size_t tile_length(const expand_job *job, uint64_t tile)
{
    return (size_t)TML_MIN_OF(job->source_count - tile * TILE, (uint64_t)TILE);
}

static void sum_worker(void *argument, uint32_t worker)
{
    expand_job *job = argument;
    uint64_t task;
    while (cpu_take_tile(&job->tickets, &task)) {
        uint64_t end = TML_MIN_OF((task + 1) * TILES_PER_TASK, job->tile_count);
        for (uint64_t tile = task * TILES_PER_TASK; tile < end; tile++) {
            size_t n = tile_length(job, tile);
            if (job->stored)
                cpu_counts_read(&job->counts, &job->spaces[worker].gather.call, tile * TILE, n,
                                job->stored + tile * TILE);
            job->first[tile + 1] = job->sum(job->values + tile * TILE * job->size, n);
        }
    }
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* Number of written outputs before a tile. */
static uint64_t first_of(const expand_job *job, uint64_t tile)
{
    return TML_MIN_OF(job->first[tile], job->limit);
}

/* The number of outputs among the first `step` steps of the path. On the path, a tile's outputs
 * precede its sources, so the tiles' prefixes suffice to split it. */
static uint64_t output_at(const expand_job *job, uint64_t step)
{
    uint64_t low = 0, high = job->tile_count; /* low: last tile that begins at or before step */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (middle * TILE + first_of(job, middle) <= step)
            low = middle;
        else
            high = middle;
    }
    uint64_t output = step - low * TILE;
    return TML_MIN_OF(output, first_of(job, low + 1));
}

/* The tile of an output below the limit. */
static uint64_t tile_of(const expand_job *job, uint64_t output)
{
    uint64_t low = 0, high = job->tile_count;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (job->first[middle] <= output)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Writes the block as outputs from `output` on. The block's source numbers are relative to base. */
static void flush(const expand_job *job, expand_space *space, uint64_t base, uint64_t output)
{
    size_t n = space->used;
    if (job->emit.kernel || job->source_size == sizeof(uint64_t))
        for (size_t i = 0; i < n; i++)
            space->index[i] = base + space->source[i];
    if (job->emit.kernel) {
        void *outs[TML_MAX_OUTS];
        for (uint32_t k = 0; k < TML_MAX_OUTS; k++)
            outs[k] = job->outs[k] ? job->outs[k] + output * job->out_sizes[k] : NULL;
        cpu_call_run_at(&job->emit, &space->gather, space->index, space->rank, n, outs);
    }
    if (job->rank)
        cpu_copy_out(job->rank + output * sizeof(uint32_t), space->rank, n * sizeof(uint32_t),
                     job->stream_rank);
    if (job->source_size == sizeof(uint32_t))
        for (size_t i = 0; i < n; i++)
            space->source[i] += (uint32_t)base;
    if (job->source)
        cpu_copy_out(job->source + output * job->source_size,
                     job->source_size == sizeof(uint64_t) ? (const void *)space->index
                                                          : space->source,
                     n * job->source_size, job->stream_source);
    space->used = 0;
}

/* Writes outputs [output, end). */
static void walk(const expand_job *job, expand_space *space, uint64_t output, uint64_t end)
{
    uint64_t tile = tile_of(job, output), base = tile * TILE;
    size_t source = 0;
    uint64_t skip = output - job->first[tile];
    const unsigned char *values = job->values + tile * TILE * job->size;
    for (uint64_t count; skip >= (count = load_count(values, job->size, source)); source++)
        skip -= count;
    uint32_t made = (uint32_t)skip;
    space->used = 0;
    while (output + space->used < end) {
        size_t n = tile_length(job, tile);
        job->fill(space, job->values + tile * TILE * job->size, n, (uint32_t)(tile * TILE - base),
                  &source, &made);
        if (source == n) {
            source = 0;
            do
                tile++;
            while (tile < job->tile_count && job->first[tile] == job->first[tile + 1]);
        }
        if (space->used > end - output)
            space->used = (size_t)(end - output);
        bool is_far = tile * TILE - base > UINT32_MAX - TILE; /* for 32 bits */
        if (space->used == CPU_BLOCK || output + space->used == end || is_far) {
            size_t n_out = space->used;
            flush(job, space, base, output);
            output += n_out;
            base = tile * TILE;
        }
    }
}

static void walk_worker(void *argument, uint32_t worker)
{
    expand_job *job = argument;
    uint64_t chunk, steps = job->tile_count * TILE + job->limit;
    while (cpu_take_tile(&job->tickets, &chunk)) {
        if (tml_is_cancelled(job->tml))
            continue;
        uint64_t output = output_at(job, TML_MIN_OF(chunk * CHUNK, steps));
        uint64_t end = output_at(job, TML_MIN_OF((chunk + 1) * CHUNK, steps));
        if (output < end)
            walk(job, &job->spaces[worker], output, end);
    }
    cpu_stream_fence();
}

/* ---- the operation --------------------------------------------------------------------------- */

static uint64_t pieces(uint64_t count, uint64_t piece)
{
    return count / piece + (count % piece != 0);
}

/* Lays out the scratch block for as many sources as the bound, or adds up its size. */
static void cpu_expand_lay_out(tml_context *tml, const tml_expand_desc *desc, cpu_arena *arena,
                               expand_job *job)
{
    uint64_t bound = desc->length.count;
    job->first = cpu_arena_take(arena, pieces(bound, TILE) + 1, sizeof *job->first);
    /* For the largest number of workers, since the number of outputs is not yet known. */
    job->spaces = cpu_arena_take(arena, cpu_workers(tml, UINT64_MAX), sizeof *job->spaces);
    job->stored = NULL;
    if (desc->count_kernel)
        job->stored = cpu_arena_take(arena, bound, sizeof *job->stored);
}

static bool expand_supports(tml_context *tml, const void *desc)
{
    (void)tml;
    const tml_expand_desc *d = desc;
    return d->method == TML_METHOD_HISTOPYRAMID || d->method == TML_METHOD_REDUCE_THEN_SCAN;
}

static size_t expand_scratch_size(tml_context *tml, const void *desc)
{
    const tml_expand_desc *d = desc;
    if (d->method == TML_METHOD_HISTOPYRAMID)
        return cpu_locate_expand_scratch_size(tml, d);
    cpu_arena arena = {NULL, 0};
    expand_job job;
    cpu_expand_lay_out(tml, d, &arena, &job);
    return arena.size;
}

static tml_status expand_run(tml_context *tml, const void *desc, void *scratch, size_t scratch_size)
{
    (void)scratch_size;
    const tml_expand_desc *d = desc;
    if (d->method == TML_METHOD_HISTOPYRAMID)
        return cpu_locate_expand(tml, d, scratch);

    cpu_arena arena = {scratch, 0};
    expand_job job = {.tml = tml,
                      .source_count = cpu_length(tml, &d->length),
                      .source = cpu_memory(tml, d->source),
                      .rank = cpu_memory(tml, d->rank)};
    cpu_expand_lay_out(tml, d, &arena, &job);
    job.tile_count = pieces(job.source_count, TILE);
    cpu_counts_bind(tml, d, &job.counts);
    job.values = job.stored ? (const unsigned char *)job.stored : job.counts.memory;
    job.size = job.stored ? sizeof(uint32_t) : job.counts.size;
    job.sum = sum_fns[job.size / 2][tml_simd_level()];
    job.fill = fill_fns[job.size / 2][tml_simd_level()];

    cpu_run_tiles(tml, &job.tickets, pieces(job.tile_count, TILES_PER_TASK), sum_worker, &job);
    job.first[0] = 0;
    for (uint64_t tile = 0; tile < job.tile_count; tile++)
        job.first[tile + 1] += job.first[tile];
    uint64_t total = job.first[job.tile_count], out_first = cpu_first(tml, d->out_first);

    job.limit = cpu_expand_limit(tml, d, out_first, total);
    if (job.limit > 0) {
        if (job.source) {
            job.source_size = tml_slot_of(tml, d->source)->element_size;
            job.source += out_first * job.source_size;
        }
        if (job.rank)
            job.rank += out_first * sizeof(uint32_t);
        job.stream_source = cpu_worth_streaming(job.limit * job.source_size);
        job.stream_rank = cpu_worth_streaming(job.limit * sizeof(uint32_t));
        if (d->emit_kernel) {
            cpu_call_bind(tml, d->emit_kernel, &d->params, d->in, &job.emit);
            for (uint32_t k = 0; k < tml_kernel_outs(d->emit_kernel); k++) {
                job.out_sizes[k] = tml_type_size(tml_kernel_out_type(d->emit_kernel, k));
                job.outs[k] =
                    (unsigned char *)cpu_memory(tml, d->out[k]) + out_first * job.out_sizes[k];
            }
        }
        uint64_t steps = job.tile_count * TILE + job.limit;
        cpu_run_tiles(tml, &job.tickets, pieces(steps, CHUNK), walk_worker, &job);
    }
    tml_status status = cpu_finish(tml, "tml_expand");
    if (status == TML_OK)
        cpu_store_count(tml, d->total, out_first + total);
    return status;
}

const tml_engine_op cpu_op_expand = {expand_supports, expand_scratch_size, expand_run};
