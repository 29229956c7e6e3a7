/* tml_unique on the CPU. A head flag, one bit per element, marks the start of a run: the element
 * differs from its predecessor. Compaction by head flags gives the runs (of elements for values, of
 * indices for starts); a run's length is the distance from its head flag to the next one.
 *
 * All head flags are computed before any element is written, so values may be in: no element is
 * compared with an overwritten one. */
#include <string.h>

#include "cpu/cpu_internal.h"

enum { TILE = 16 * CPU_BLOCK, TILE_WORDS = TILE / 64 };

typedef struct unique_job {
    tml_context *tml;
    cpu_tickets tickets;
    const unsigned char *in;
    size_t size;
    uint64_t count;
    uint32_t *mask;       /* head flags as a bit mask, TILE / 32 words per tile */
    uint64_t *runs;       /* of each tile, then their exclusive prefix */
    uint64_t *last_start; /* in each tile, then before it; undefined if there is none */
    uint64_t run_count;
    void *lengths;
    bool lengths_narrow; /* u32 */
    uint64_t lengths_room;
} unique_job;

/* ---- head flags ------------------------------------------------------------------------------ */

#define DIFFER(Word, words)                                                                        \
    for (size_t i = 0; i < count; i++, element += size) {                                          \
        bool differs = false;                                                                      \
        for (size_t w = 0; w < (words); w++) {                                                     \
            Word here, before;                                                                     \
            memcpy(&here, element + w * sizeof(Word), sizeof(Word));                               \
            memcpy(&before, element - size + w * sizeof(Word), sizeof(Word));                      \
            differs |= here != before;                                                             \
        }                                                                                          \
        out[i] = differs;                                                                          \
    }

/* out[i]: does element i differ from its predecessor in any byte? Loops with constant sizes
 * vectorise. */
ALWAYS_INLINE void differ(const unsigned char *element, size_t size, size_t count, uint8_t *out)
{
    if (size == 1)
        DIFFER(uint8_t, 1)
    else if (size == 2)
        DIFFER(uint16_t, 1)
    else if (size == 4)
        DIFFER(uint32_t, 1)
    else if (size == 8)
        DIFFER(uint64_t, 1)
    else if (size % 8 == 0)
        DIFFER(uint64_t, size / 8)
    else if (size % 4 == 0)
        DIFFER(uint32_t, size / 4)
    else
        DIFFER(uint8_t, size)
}
SIMD_INSTANTIATE(void, differ,
                 (const unsigned char *element, size_t size, size_t count, uint8_t *out),
                 differ(element, size, count, out))

typedef void (*differ_fn)(const unsigned char *element, size_t size, size_t count, uint8_t *out);

/* Head flags of the block at first, as mask words. */
static void mark_starts(const unique_job *job, uint64_t first, size_t count, uint64_t *words)
{
    static const differ_fn table[TML_SIMD_LEVELS] = SIMD_EACH_LEVEL(differ);
    uint8_t starts[CPU_BLOCK];
    size_t done = first == 0; /* element 0 has no predecessor */
    starts[0] = 1;
    table[tml_simd_level()](job->in + (first + done) * job->size, job->size, count - done,
                            starts + done);
    cpu_bits_of_bytes(starts, count, words);
}

static size_t tile_length(const unique_job *job, uint64_t tile)
{
    return (size_t)TML_MIN_OF(job->count - tile * TILE, (uint64_t)TILE);
}

static void mark_worker(void *argument, uint32_t worker)
{
    (void)worker;
    unique_job *job = argument;
    uint64_t tile;
    while (cpu_take_tile(&job->tickets, &tile) && !tml_is_cancelled(job->tml)) {
        size_t n = tile_length(job, tile), word_count = (n + 63) / 64;
        uint64_t words[TILE_WORDS];
        for (size_t done = 0; done < n; done += CPU_BLOCK)
            mark_starts(job, tile * TILE + done, TML_MIN_OF(n - done, (size_t)CPU_BLOCK),
                        words + done / 64);
        job->runs[tile] = cpu_count_bits(words, word_count);
        job->last_start[tile] = 0;
        uint32_t *mask = job->mask + tile * TILE_WORDS * 2;
        for (size_t w = 0; w < word_count; w++) {
            mask[2 * w] = (uint32_t)words[w];
            mask[2 * w + 1] = (uint32_t)(words[w] >> 32);
            if (words[w])
                job->last_start[tile] =
                    tile * TILE + w * 64 + 63 - (uint64_t)__builtin_clzll(words[w]);
        }
    }
}

/* Exclusive scan over tiles: of the number of runs (sum), and of the last run's start so far
 * (last_start). */
static void scan_tiles(unique_job *job, uint64_t tile_count)
{
    uint64_t runs = 0, start = 0;
    for (uint64_t tile = 0; tile < tile_count; tile++) {
        uint64_t runs_here = job->runs[tile], start_here = job->last_start[tile];
        job->runs[tile] = runs;
        job->last_start[tile] = start;
        runs += runs_here;
        start = runs_here ? start_here : start;
    }
    job->run_count = runs;
    job->runs[tile_count] = runs;
    job->last_start[tile_count] = start;
}

/* ---- lengths --------------------------------------------------------------------------------- */

static void store_length(const unique_job *job, uint64_t run, uint64_t length)
{
    if (run >= job->lengths_room)
        return;
    if (job->lengths_narrow)
        ((uint32_t *)job->lengths)[run] = (uint32_t)length;
    else
        ((uint64_t *)job->lengths)[run] = length;
}

/* Each head flag ends the previous run. */
static void lengths_worker(void *argument, uint32_t worker)
{
    (void)worker;
    unique_job *job = argument;
    uint64_t tile;
    while (cpu_take_tile(&job->tickets, &tile) && !tml_is_cancelled(job->tml)) {
        uint64_t run = job->runs[tile], start = job->last_start[tile];
        const uint32_t *mask = job->mask + tile * TILE_WORDS * 2;
        for (size_t w = 0; w < (tile_length(job, tile) + 31) / 32; w++)
            for (uint32_t bits = mask[w]; bits; bits &= bits - 1) {
                uint64_t next = tile * TILE + w * 32 + (uint64_t)__builtin_ctz(bits);
                if (run > 0)
                    store_length(job, run - 1, next - start);
                start = next;
                run++;
            }
    }
}

/* ---- the operation --------------------------------------------------------------------------- */

/* The compaction of elements and indices by head flags. */
static tml_compact_desc as_compaction(const tml_unique_desc *desc)
{
    tml_compact_desc compact = {
        .length = desc->length, .method = TML_METHOD_LOOK_BACK, .indices = desc->starts};
    if (!tml_buffer_is_none(desc->values))
        compact.payloads[0] = (tml_payload){desc->in, desc->values};
    return compact;
}

/* Takes the job's arrays from the arena; returns the compaction's scratch. */
static void *cpu_unique_lay_out(tml_context *tml, const tml_unique_desc *desc, cpu_arena *arena,
                                unique_job *job)
{
    uint64_t tile_count = TML_CEIL_DIV(desc->length.count, TILE);
    job->mask = cpu_arena_take(arena, tile_count, TILE / 8);
    job->runs = cpu_arena_take(arena, tile_count + 1, sizeof *job->runs);
    job->last_start = cpu_arena_take(arena, tile_count + 1, sizeof *job->last_start);
    tml_compact_desc compact = as_compaction(desc);
    return cpu_arena_take(arena, cpu_compact_by_scratch_size(tml, &compact), 1);
}

static size_t unique_scratch_size(tml_context *tml, const void *desc)
{
    cpu_arena arena = {NULL, 0};
    unique_job job;
    cpu_unique_lay_out(tml, desc, &arena, &job);
    return arena.size;
}

static tml_status unique_run(tml_context *tml, const void *desc, void *scratch, size_t scratch_size)
{
    (void)scratch_size;
    const tml_unique_desc *d = desc;
    const tml_slot *lengths = tml_slot_of(tml, d->lengths);
    cpu_arena arena = {scratch, 0};
    unique_job job = {.tml = tml,
                      .in = cpu_memory(tml, d->in),
                      .size = tml_slot_of(tml, d->in)->element_size,
                      .count = cpu_length(tml, &d->length)};
    if (lengths) {
        job.lengths = lengths->memory;
        job.lengths_narrow = lengths->type == TML_U32;
        job.lengths_room = lengths->count;
    }
    void *compact_scratch = cpu_unique_lay_out(tml, d, &arena, &job);
    uint64_t tile_count = TML_CEIL_DIV(job.count, TILE);
    cpu_run_tiles(tml, &job.tickets, tile_count, mark_worker, &job);
    if (tml_is_cancelled(tml)) /* some tiles have no counts */
        return cpu_finish(tml, "tml_unique");
    scan_tiles(&job, tile_count);

    if (lengths) {
        cpu_run_tiles(tml, &job.tickets, tile_count, lengths_worker, &job);
        if (job.run_count > 0)
            store_length(&job, job.run_count - 1, job.count - job.last_start[tile_count]);
    }
    if (!tml_buffer_is_none(d->values) || !tml_buffer_is_none(d->starts)) {
        tml_compact_desc compact = as_compaction(d);
        cpu_keep keep = {.mask = (const unsigned char *)job.mask};
        cpu_compact_by(tml, &compact, &keep, compact_scratch);
    }
    tml_status status = cpu_finish(tml, "tml_unique");
    if (status == TML_OK)
        cpu_store_count(tml, d->count, job.run_count);
    return status;
}

const tml_engine_op cpu_op_unique = {NULL, unique_scratch_size, unique_run};
