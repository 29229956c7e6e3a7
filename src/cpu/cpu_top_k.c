/* The k elements with the smallest codes (kernels/sort.k.h), on the CPU:
 *
 *   select   finds the k-th code digit by digit, from the highest; each digit reads the stream once
 *   place    moves the elements below a code, in source order, as compaction by look-back does, and
 *            counts the elements that equal the code
 *   equals   moves the first of the elements that equal the code
 *
 * If k is small compared with the stream, select runs on a sample first. It gives a code with about
 * k elements below it, and one place step moves these elements, the candidates; only that step
 * reads the whole stream. If that code is the k-th, as happens when many elements are equal, only
 * equals is left to do. Otherwise the candidates take the place of the stream.
 *
 * After: Floyd, Rivest: Expected Time Bounds for Selection. 1975; Alabi, Blanchard, Gordon,
 * Steinbach: Fast k-Selection Algorithms for Graphics Processing Units. 2012 (digits); Merrill,
 * Garland: Single-pass Parallel Prefix Scan with Decoupled Look-back. 2016. */
#include "cpu/cpu_internal.h"

#include <string.h>

#include "kernels/kernel.h"

#include "kernels/sort.k.h"
#include "kernels/top_k.k.h"

#include "kernels/kernel_end.h"

enum {
    TILE_ITEMS = 16 * CPU_BLOCK,
    DIGIT = 8, /* bits */
    BINS = 1 << DIGIT,
    TABLES = 4, /* of counts, so that equal neighbours do not wait for one another */
};

/* Elements to select from. */
typedef struct top_k_stream {
    const unsigned char *keys;
    const tml_index *indices; /* NULL: positions */
    uint64_t count;
} top_k_stream;

typedef struct top_k_outputs {
    unsigned char *keys;    /* optional */
    unsigned char *indices; /* optional */
    size_t index_size;
    uint64_t capacity;
} top_k_outputs;

/* One worker's memory. */
typedef struct top_k_space {
    uint64_t tables[TABLES][BINS];
    uint8_t below[CPU_BLOCK], equal[CPU_BLOCK];
    unsigned char keys[TILE_ITEMS * sizeof(uint64_t) + CPU_SLACK]; /* of a tile */
    tml_index indices[TILE_ITEMS];
} top_k_space;

typedef struct top_k_job top_k_job;
typedef struct top_k_loops {
    /* Sets bytes to 1 where a code is below the limit, and where it equals the limit. */
    void (*compare)(const top_k_job *job, const void *keys, size_t count, uint8_t *below,
                    uint8_t *equal);
    /* Counts the digits of the codes whose higher bits are the prefix. */
    void (*count)(const top_k_job *job, const void *keys, size_t count, uint64_t (*tables)[BINS]);
} top_k_loops;

struct top_k_job {
    tml_context *tml;
    cpu_tickets tickets;
    const top_k_loops *loops;
    size_t size; /* of a key */
    uint64_t flip, real_flip;
    cpu_compress_fn compress;
    /* scratch */
    top_k_space *spaces;
    cpu_link *links;
    /* per tile: the number of elements that equal the limit; later, that of preceding tiles */
    uint64_t *equals;
    unsigned char *samples;
    top_k_outputs candidates;
    /* the step at work */
    top_k_stream from;
    top_k_outputs to;
    uint64_t limit;          /* a code */
    uint64_t prefix, higher; /* mask: codes are counted if their higher bits are the prefix's */
    unsigned shift;          /* of the digit */
    uint64_t below, equal, wanted; /* counts; wanted: how many that equal the limit */
};

/* ---- loops ----------------------------------------------------------------------------------- */

#define LOOPS(UINT)                                                                                \
    ALWAYS_INLINE void compare_##UINT(const top_k_job *job, const void *keys, size_t count,        \
                                      uint8_t *restrict below, uint8_t *restrict equal)            \
    {                                                                                              \
        const UINT *x = keys, flip = (UINT)job->flip, real_flip = (UINT)job->real_flip;            \
        const UINT limit = (UINT)job->limit;                                                       \
        for (size_t i = 0; i < count; i++) {                                                       \
            UINT sign = (UINT)SORT_SIGN(x[i], 8 * sizeof(UINT));                                   \
            UINT code = (UINT)SORT_CODE(x[i], sign, flip, real_flip);                              \
            below[i] = code < limit;                                                               \
            equal[i] = code == limit;                                                              \
        }                                                                                          \
    }                                                                                              \
    ALWAYS_INLINE void count_##UINT(const top_k_job *job, const void *keys, size_t count,          \
                                    uint64_t(*tables)[BINS])                                       \
    {                                                                                              \
        const UINT *x = keys, flip = (UINT)job->flip, real_flip = (UINT)job->real_flip;            \
        const UINT prefix = (UINT)job->prefix, higher = (UINT)job->higher;                         \
        const unsigned shift = job->shift;                                                         \
        for (size_t i = 0; i < count; i++) {                                                       \
            UINT sign = (UINT)SORT_SIGN(x[i], 8 * sizeof(UINT));                                   \
            UINT code = (UINT)SORT_CODE(x[i], sign, flip, real_flip);                              \
            tables[i % TABLES][code >> shift & (BINS - 1)] += ((code ^ prefix) & higher) == 0;     \
        }                                                                                          \
    }                                                                                              \
    SIMD_INSTANTIATE(                                                                              \
        void, compare_##UINT,                                                                      \
        (const top_k_job *job, const void *keys, size_t count, uint8_t *below, uint8_t *equal),    \
        compare_##UINT(job, keys, count, below, equal))                                            \
    SIMD_INSTANTIATE(                                                                              \
        void, count_##UINT,                                                                        \
        (const top_k_job *job, const void *keys, size_t count, uint64_t(*tables)[BINS]),           \
        count_##UINT(job, keys, count, tables))

LOOPS(uint8_t)
LOOPS(uint16_t)
LOOPS(uint32_t)
LOOPS(uint64_t)

static const top_k_loops *loops_of(size_t size)
{
#define LEVEL(UINT, level)                                                                         \
    {                                                                                              \
        compare_##UINT##level, count_##UINT##level                                                 \
    }
#if SIMD_X86
#    define LEVELS(UINT)                                                                           \
        {                                                                                          \
            LEVEL(UINT, _base), LEVEL(UINT, _avx2), LEVEL(UINT, _avx512)                           \
        }
#else
#    define LEVELS(UINT)                                                                           \
        {                                                                                          \
            LEVEL(UINT, _base), LEVEL(UINT, _base), LEVEL(UINT, _base)                             \
        }
#endif
    static const top_k_loops loops[][TML_SIMD_LEVELS] = {LEVELS(uint8_t), LEVELS(uint16_t),
                                                         LEVELS(uint32_t), LEVELS(uint64_t)};
    return &loops[__builtin_ctzll(size)][tml_simd_level()];
}

/* ---- place and equals ------------------------------------------------------------------------ */

/* The tile's elements. */
static size_t tile_at(const top_k_job *job, uint64_t tile, uint64_t *first)
{
    *first = tile * TILE_ITEMS;
    return (size_t)TML_MIN_OF(job->from.count - *first, (uint64_t)TILE_ITEMS);
}

/* Packs a block's elements whose bits are set, behind the staged elements. Most words are 0 if k is
 * small. */
static size_t stage(const top_k_job *job, top_k_space *space, uint64_t first, size_t count,
                    const uint64_t *words, size_t staged)
{
    for (size_t w = 0; 64 * w < count; w++) {
        uint64_t at = first + 64 * w, word = words[w];
        if (word && job->to.keys)
            job->compress(job->from.keys + at * job->size, &word,
                          TML_MIN_OF(count - 64 * w, (size_t)64), job->size,
                          space->keys + staged * job->size);
        for (; word; word &= word - 1) {
            uint64_t i = at + (uint64_t)__builtin_ctzll(word);
            space->indices[staged++] = job->from.indices ? job->from.indices[i] : i;
        }
    }
    return staged;
}

/* Copies the staged elements to the outputs, from place on, as far as there is room. */
static void cpu_top_k_put(const top_k_job *job, const top_k_space *space, uint64_t place,
                          size_t staged)
{
    const top_k_outputs *to = &job->to;
    if (place >= to->capacity)
        return;
    size_t count = (size_t)TML_MIN_OF(to->capacity - place, (uint64_t)staged);
    if (to->keys)
        memcpy(to->keys + place * job->size, space->keys, count * job->size);
    if (to->indices && to->index_size == sizeof(tml_index))
        memcpy(to->indices + place * sizeof(tml_index), space->indices, count * sizeof(tml_index));
    else if (to->indices)
        for (size_t i = 0; i < count; i++)
            ((uint32_t *)(void *)to->indices)[place + i] = (uint32_t)space->indices[i];
}

static void place_worker(void *argument, uint32_t worker)
{
    top_k_job *job = argument;
    top_k_space *space = &job->spaces[worker];
    uint64_t tile, first, words[CPU_BLOCK / 64];
    while (cpu_take_tile(&job->tickets, &tile)) {
        size_t count = tile_at(job, tile, &first), staged = 0, equal = 0;
        bool skip = tml_is_cancelled(job->tml); /* but publish, since successors wait for it */
        for (size_t done = 0; done < count && !skip; done += CPU_BLOCK) {
            size_t here = TML_MIN_OF(count - done, (size_t)CPU_BLOCK);
            job->loops->compare(job, job->from.keys + (first + done) * job->size, here,
                                space->below, space->equal);
            cpu_bits_of_bytes(space->equal, here, words);
            equal += cpu_count_bits(words, (here + 63) / 64);
            cpu_bits_of_bytes(space->below, here, words);
            staged = stage(job, space, first + done, here, words, staged);
        }
        job->equals[tile] = equal;
        cpu_top_k_put(job, space,
                      cpu_look_back(job->links, tile, (cpu_number){.u = staged}, false).u, staged);
    }
}

/* Moves the elements of `from` that are below the limit to `to`. Counts them, and the elements that
 * equal the limit. */
static void place(top_k_job *job, top_k_stream from, uint64_t limit, top_k_outputs to)
{
    uint64_t tiles = TML_CEIL_DIV(from.count, TILE_ITEMS);
    job->from = from;
    job->to = to;
    job->limit = limit;
    job->below = job->equal = 0;
    if (tiles == 0)
        return;
    memset(job->links, 0, tiles * sizeof *job->links);
    cpu_run_tiles(job->tml, &job->tickets, tiles, place_worker, job);
    job->below = job->links[tiles - 1].prefix.u;
    for (uint64_t tile = 0; tile < tiles; tile++) {
        uint64_t equal = job->equals[tile];
        job->equals[tile] = job->equal;
        job->equal += equal;
    }
}

static void equals_worker(void *argument, uint32_t worker)
{
    top_k_job *job = argument;
    top_k_space *space = &job->spaces[worker];
    uint64_t tile, first, words[CPU_BLOCK / 64];
    while (cpu_take_tile(&job->tickets, &tile) && job->equals[tile] < job->wanted &&
           !tml_is_cancelled(job->tml)) {
        size_t count = tile_at(job, tile, &first), staged = 0;
        for (size_t done = 0; done < count; done += CPU_BLOCK) {
            size_t here = TML_MIN_OF(count - done, (size_t)CPU_BLOCK);
            job->loops->compare(job, job->from.keys + (first + done) * job->size, here,
                                space->below, space->equal);
            cpu_bits_of_bytes(space->equal, here, words);
            staged = stage(job, space, first + done, here, words, staged);
        }
        cpu_top_k_put(job, space, job->below + job->equals[tile], staged);
    }
}

/* Call after place(): moves `wanted` elements that equal the limit to `to`, behind those below
 * it. */
static void equals(top_k_job *job, uint64_t wanted, top_k_outputs to)
{
    job->wanted = wanted;
    job->to = to;
    job->to.capacity = job->below + wanted;
    cpu_run_tiles(job->tml, &job->tickets, TML_CEIL_DIV(job->from.count, TILE_ITEMS), equals_worker,
                  job);
}

/* ---- select ---------------------------------------------------------------------------------- */

static void count_worker(void *argument, uint32_t worker)
{
    top_k_job *job = argument;
    uint64_t tile, first;
    while (cpu_take_tile(&job->tickets, &tile) && !tml_is_cancelled(job->tml)) {
        size_t count = tile_at(job, tile, &first);
        job->loops->count(job, job->from.keys + first * job->size, count,
                          job->spaces[worker].tables);
    }
}

/* The rank-th smallest code of from: fewer than rank codes are below it, and at least rank codes
 * are not above it. */
static uint64_t find_code(top_k_job *job, top_k_stream from, uint64_t rank)
{
    uint32_t workers = cpu_workers(job->tml, TML_CEIL_DIV(from.count, TILE_ITEMS));
    job->from = from;
    job->prefix = job->higher = 0;
    for (job->shift = 8 * (unsigned)job->size; job->shift > 0;) {
        job->shift -= DIGIT;
        for (uint32_t w = 0; w < workers; w++)
            memset(job->spaces[w].tables, 0, sizeof job->spaces[w].tables);
        cpu_run_tiles(job->tml, &job->tickets, TML_CEIL_DIV(from.count, TILE_ITEMS), count_worker,
                      job);
        uint64_t bin = 0;
        for (uint64_t here; bin < BINS - 1; bin++) {
            here = 0;
            for (uint32_t t = 0; t < workers * TABLES; t++)
                here += job->spaces[t / TABLES].tables[t % TABLES][bin];
            if (rank <= here)
                break;
            rank -= here;
        }
        job->prefix |= bin << job->shift;
        job->higher |= (uint64_t)(BINS - 1) << job->shift;
    }
    return job->prefix;
}

/* ---- the sample ------------------------------------------------------------------------------ */

/* A code such that k elements, or somewhat more, are not above it. */
static uint64_t bounding_code(top_k_job *job, const unsigned char *keys, uint64_t k,
                              uint64_t length)
{
    uint64_t samples = TOP_K_SAMPLED(length), stretch = length / samples;
    uint32_t range = (uint32_t)TML_MIN_OF(stretch, (uint64_t)UINT32_MAX);
    for (uint64_t s = 0; s < samples; s++)
        memcpy(job->samples + s * job->size,
               keys + (s * stretch + top_k_jitter((uint32_t)s, range)) * job->size, job->size);
    uint64_t rank = (uint64_t)top_k_rank((float)k, (float)length, (float)samples);
    top_k_stream sampled = {job->samples, NULL, samples};
    return find_code(job, sampled, TML_MIN_OF(rank + 1, samples));
}

/* ---- the operation --------------------------------------------------------------------------- */

static void cpu_top_k_lay_out(tml_context *tml, const tml_top_k_resolved *resolved,
                              cpu_arena *arena, top_k_job *job)
{
    const tml_top_k_desc *desc = &resolved->desc;
    uint64_t bound = desc->length.count, most = desc->k.count, room = 0, samples = 0;
    size_t size = tml_slot_of(tml, desc->keys)->element_size;
    *job = (top_k_job){.tml = tml,
                       .loops = loops_of(size),
                       .size = size,
                       .flip = resolved->flip,
                       .real_flip = resolved->real_flip,
                       .compress = cpu_compress_for(size)};
    job->spaces = cpu_arena_take(arena, cpu_workers(tml, TML_CEIL_DIV(bound, TILE_ITEMS)),
                                 sizeof *job->spaces);
    job->links = cpu_arena_take(arena, TML_CEIL_DIV(bound, TILE_ITEMS), sizeof *job->links);
    job->equals = cpu_arena_take(arena, TML_CEIL_DIV(bound, TILE_ITEMS), sizeof *job->equals);
    if (bound >= TOP_K_SAMPLED_LEAST) { /* shorter streams have no more candidates */
        samples = TOP_K_SAMPLED(bound);
        room = (uint64_t)top_k_candidates((float)TML_MIN_OF(most, bound / 8), (float)bound,
                                          (float)samples);
        room = TML_MIN_OF(room, bound);
    }
    job->samples = cpu_arena_take(arena, samples, size);
    job->candidates = (top_k_outputs){.keys = cpu_arena_take(arena, room, size),
                                      .indices = cpu_arena_take(arena, room, sizeof(tml_index)),
                                      .index_size = sizeof(tml_index),
                                      .capacity = room};
}

static size_t top_k_scratch_size(tml_context *tml, const void *resolved)
{
    cpu_arena arena = {0};
    top_k_job job;
    cpu_top_k_lay_out(tml, resolved, &arena, &job);
    return arena.size;
}

static void run_job(top_k_job *job, top_k_stream whole, uint64_t k, top_k_outputs out)
{
    top_k_stream from = whole;
    if (TOP_K_IS_SAMPLED(k, whole.count)) {
        uint64_t limit = bounding_code(job, whole.keys, k, whole.count);
        place(job, whole, limit, job->candidates);
        uint64_t count = job->below;
        const top_k_stream candidates = {
            job->candidates.keys, (const tml_index *)(const void *)job->candidates.indices, count};
        if (count <= k && k - count <= job->equal) {
            equals(job, k - count, out);
            place(job, candidates, limit, out);
            return;
        }
        if (count > k && count <= job->candidates.capacity)
            from = candidates;
    }
    place(job, from, find_code(job, from, k), out);
    equals(job, k - job->below, out);
}

static tml_status top_k_run(tml_context *tml, const void *argument, void *scratch, size_t size)
{
    const tml_top_k_resolved *resolved = argument;
    const tml_top_k_desc *desc = &resolved->desc;
    const tml_slot *indices = tml_slot_of(tml, desc->indices);
    cpu_arena arena = {scratch, 0};
    top_k_job job;
    (void)size;
    cpu_top_k_lay_out(tml, resolved, &arena, &job);
    const top_k_stream whole = {cpu_memory(tml, desc->keys), NULL, cpu_length(tml, &desc->length)};
    uint64_t k = TML_MIN_OF(cpu_length(tml, &desc->k), whole.count);
    const top_k_outputs out = {.keys = cpu_memory(tml, desc->values),
                               .indices = indices ? indices->memory : NULL,
                               .index_size = indices ? indices->element_size : 0,
                               .capacity = k};
    if (k > 0)
        run_job(&job, whole, k, out);
    tml_status status = cpu_finish(tml, "tml_top_k");
    if (!status)
        cpu_store_count(tml, desc->count, k);
    return status;
}

const tml_engine_op cpu_op_top_k = {.scratch_size = top_k_scratch_size, .run = top_k_run};
