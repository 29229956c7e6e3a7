/* Sort on the CPU, by digits of the keys' bits, stably. A range of records that is larger than a cache is
 * split by its highest digit: all workers split the stream and what is still large after that; then each
 * takes ranges by ticket. A range that fits a cache is sorted there from the lowest digit to the highest, and
 * its outputs are written at once. Bits that no two keys differ in are left out from the start.
 *
 * After: McIlroy, Bostic, McIlroy: Engineering Radix Sort. 1993; Wassenberg, Sanders: Engineering a
 * Multi-core Radix Sort. 2011 (write combining). */
#include "cpu/cpu_sort.h"

#include <string.h>

#include "kernels/kernel.h"
#include "kernels/kernel_end.h"
#include "kernels/sort.k.h"

enum {
    BLOCK = 1024, /* records loaded or stored at a time: they stay in the first-level cache */
    CHUNK_LEAST = 64 * 1024,  /* elements that are worth a worker */
    LOCAL_BYTES = 256 * 1024, /* records that stay in the second-level cache, twice */
};

/* One worker's memory. */
typedef struct sort_space {
    sort_heads heads;
    _Alignas(SORT_LINE) sort_pair block[BLOCK];
} sort_space;

/* A payload that is gathered by index. */
typedef struct sort_gather {
    const unsigned char *in;
    unsigned char *out; /* of a payload in place: room of its own, copied to place at the end */
    unsigned char *place;
    size_t size;
} sort_gather;

typedef struct sort_job {
    tml_context *tml;
    cpu_tickets tickets;
    const sort_loops *loops;
    uint64_t length;
    size_t record_size;
    unsigned code_shift; /* of a code in its record's sort bits */
    /* keys */
    const unsigned char *keys;
    size_t key_size;
    uint64_t flip, real_flip;
    unsigned char *sorted;
    /* tags: values of value_size bytes, or indices (value_size 0) */
    bool has_tag;
    const unsigned char *values;
    unsigned char *values_out;
    size_t value_size;
    tml_buffer indices;
    sort_gather gathers[TML_MAX_PAYLOADS];
    uint32_t gather_count;
    /* scratch */
    unsigned char *records[2];
    sort_space *spaces;
    uint64_t *counts; /* chunks x SORT_BINS */
    uint64_t *differ; /* a chunk: the bits in which its codes differ from the first code */
    /* the step at work: splits or stores records [first, first + count) */
    uint64_t chunks, first, count;
    const unsigned char *from; /* the range's records; NULL: the source */
    unsigned char *to;
    sort_digit digit;
    const uint64_t *bounds; /* of ranges by bin */
    unsigned low;
    uint64_t wide; /* larger ranges are split by all workers */
    _Atomic bool is_stopped;
} sort_job;

static bool is_stopped(sort_job *job)
{
    if (tml_is_cancelled(job->tml))
        atomic_store_explicit(&job->is_stopped, true, memory_order_relaxed);
    return atomic_load_explicit(&job->is_stopped, memory_order_relaxed);
}

/* ---- records from the source and to the outputs ---------------------------------------------- */

/* Loads count codes as RECORDs, shifted up by shift. UINT has the key's size. */
#define LOAD_CODE(UINT, code)                                                                      \
    UINT code;                                                                                     \
    memcpy(&code, job->keys + (first + i) * sizeof code, sizeof code);                             \
    code = (UINT)SORT_CODE(code, (UINT)SORT_SIGN(code, 8 * sizeof code), (UINT)job->flip,          \
                           (UINT)job->real_flip);
#define LOAD_CODES(UINT, RECORD, shift)                                                            \
    for (size_t i = 0; i < count; i++) {                                                           \
        LOAD_CODE(UINT, code)                                                                      \
        ((RECORD *)out)[i] = (RECORD)code << (shift);                                              \
    }
#define LOAD_PAIRS(UINT)                                                                           \
    for (size_t i = 0; i < count; i++) {                                                           \
        LOAD_CODE(UINT, code)                                                                      \
        ((sort_pair *)out)[i].code = code;                                                         \
    }

static void load_codes(const sort_job *job, uint64_t first, size_t count, void *out)
{
    switch (job->key_size * 32 + job->record_size) {
    case 1 * 32 + 4:
        LOAD_CODES(uint8_t, uint32_t, 0) break;
    case 2 * 32 + 4:
        LOAD_CODES(uint16_t, uint32_t, 0) break;
    case 4 * 32 + 4:
        LOAD_CODES(uint32_t, uint32_t, 0) break;
    case 1 * 32 + 8:
        LOAD_CODES(uint8_t, uint64_t, 32) break;
    case 2 * 32 + 8:
        LOAD_CODES(uint16_t, uint64_t, 32) break;
    case 4 * 32 + 8:
        LOAD_CODES(uint32_t, uint64_t, 32) break;
    case 8 * 32 + 8:
        LOAD_CODES(uint64_t, uint64_t, 0) break;
    case 1 * 32 + 16:
        LOAD_PAIRS(uint8_t) break;
    case 2 * 32 + 16:
        LOAD_PAIRS(uint16_t) break;
    case 4 * 32 + 16:
        LOAD_PAIRS(uint32_t) break;
    default:
        LOAD_PAIRS(uint64_t) break;
    }
}

/* An unsigned integer of 1, 2, 4 or 8 bytes anywhere in memory. */
static uint64_t get(const unsigned char *from, size_t size)
{
    uint64_t u64;
    uint32_t u32;
    uint16_t u16;
    switch (size) {
    case 1:
        return *from;
    case 2:
        memcpy(&u16, from, sizeof u16);
        return u16;
    case 4:
        memcpy(&u32, from, sizeof u32);
        return u32;
    default:
        memcpy(&u64, from, sizeof u64);
        return u64;
    }
}

static void put(unsigned char *to, uint64_t value, size_t size)
{
    uint32_t u32 = (uint32_t)value;
    uint16_t u16 = (uint16_t)value;
    switch (size) {
    case 1:
        *to = (unsigned char)value;
        break;
    case 2:
        memcpy(to, &u16, sizeof u16);
        break;
    case 4:
        memcpy(to, &u32, sizeof u32);
        break;
    default:
        memcpy(to, &value, sizeof value);
        break;
    }
}

static uint64_t tag_at(const sort_job *job, uint64_t i)
{
    return job->value_size ? get(job->values + i * job->value_size, job->value_size) : i;
}

static void load(const sort_job *job, uint64_t first, size_t count, void *out)
{
    load_codes(job, first, count, out);
    if (!job->has_tag)
        return;
    for (size_t i = 0; i < count; i++)
        if (job->record_size == 8)
            ((uint64_t *)out)[i] |= tag_at(job, first + i);
        else
            ((sort_pair *)out)[i].tag = tag_at(job, first + i);
}

/* Keys of the records that are stored at first. */
static void store_keys(const sort_job *job, uint64_t first, size_t count, const void *records)
{
    uint64_t keys[BLOCK];
    unsigned char *key = (unsigned char *)keys;
    size_t size = job->key_size;
    for (size_t i = 0; i < count; i++, key += size) {
        uint64_t code = job->record_size == 4   ? ((const uint32_t *)records)[i]
                        : job->record_size == 8 ? ((const uint64_t *)records)[i] >> job->code_shift
                                                : ((const sort_pair *)records)[i].code;
        uint64_t sign = SORT_SIGN(code ^ job->flip, 8 * size);
        put(key, SORT_CODE(code, sign, job->flip, job->real_flip), size);
    }
    cpu_copy_out(job->sorted + first * size, keys, count * size,
                 cpu_worth_streaming(job->length * size));
}

static void store_tags(const sort_job *job, uint64_t first, size_t count, const void *records)
{
    tml_index tags[BLOCK];
    for (size_t i = 0; i < count; i++)
        tags[i] = job->record_size == 8 ? (uint32_t)((const uint64_t *)records)[i]
                                        : ((const sort_pair *)records)[i].tag;
    size_t size = job->value_size;
    for (size_t i = 0; i < count && size; i++)
        put(job->values_out + (first + i) * size, tags[i], size);
    if (!tml_buffer_is_none(job->indices))
        for (size_t i = 0; i < count; i++)
            cpu_store_u64(job->tml, job->indices, first + i, tags[i]);
    for (uint32_t g = 0; g < job->gather_count; g++) {
        const sort_gather *gather = &job->gathers[g];
        cpu_gather(gather->in, gather->size, tags, count, gather->out + first * gather->size);
    }
}

/* Writes sorted records to the outputs, from element first on. */
static void store(const sort_job *job, uint64_t first, uint64_t count, const unsigned char *records)
{
    for (uint64_t end = first + count; first < end; first += BLOCK) {
        size_t here = (size_t)TML_MIN_OF(end - first, (uint64_t)BLOCK);
        if (job->sorted)
            store_keys(job, first, here, records);
        if (job->has_tag)
            store_tags(job, first, here, records);
        records += here * job->record_size;
    }
    cpu_stream_fence();
}

/* ---- splitting by a digit -------------------------------------------------------------------- */

/* Records [first, first + count) of the step's range: in memory, or loaded into block. */
static const void *records_at(const sort_job *job, sort_space *space, uint64_t first, size_t count)
{
    if (job->from)
        return job->from + (first - job->first) * job->record_size;
    load(job, first, count, space->block);
    return space->block;
}

/* The part of the range that is chunk's. */
static void chunk_of(const sort_job *job, uint64_t chunk, uint64_t *first, uint64_t *end)
{
    uint64_t size = TML_ALIGN_UP(TML_CEIL_DIV(job->count, job->chunks), (uint64_t)BLOCK);
    uint64_t last = job->first + job->count;
    *first = TML_MIN_OF(job->first + chunk * size, last);
    *end = TML_MIN_OF(*first + size, last);
}

static uint64_t bits_of(const sort_job *job, const void *records, size_t i)
{
    return job->record_size == 4   ? ((const uint32_t *)records)[i]
           : job->record_size == 8 ? ((const uint64_t *)records)[i]
                                   : ((const sort_pair *)records)[i].code;
}

static void count_worker(void *argument, uint32_t worker)
{
    sort_job *job = argument;
    sort_space *space = &job->spaces[worker];
    uint64_t chunk, first, end;
    while (cpu_take_tile(&job->tickets, &chunk) && !is_stopped(job)) {
        uint64_t *counts = job->counts + chunk * SORT_BINS;
        memset(counts, 0, SORT_BINS * sizeof *counts);
        chunk_of(job, chunk, &first, &end);
        for (; first < end; first += BLOCK) {
            size_t count = (size_t)TML_MIN_OF(end - first, (uint64_t)BLOCK);
            job->loops->count(records_at(job, space, first, count), count, job->digit, counts);
        }
    }
}

/* The first look at the source: the bits in which codes differ, and the counts of the highest digit, which
 * serve if that digit's highest bit is among them. */
static void differ_worker(void *argument, uint32_t worker)
{
    sort_job *job = argument;
    sort_space *space = &job->spaces[worker];
    uint64_t chunk, first, end;
    sort_pair start;
    load(job, 0, 1, &start);
    uint64_t base = bits_of(job, &start, 0);
    while (cpu_take_tile(&job->tickets, &chunk) && !is_stopped(job)) {
        uint64_t *counts = job->counts + chunk * SORT_BINS, differ = 0;
        memset(counts, 0, SORT_BINS * sizeof *counts);
        chunk_of(job, chunk, &first, &end);
        for (; first < end; first += BLOCK) {
            size_t count = (size_t)TML_MIN_OF(end - first, (uint64_t)BLOCK);
            const void *records = records_at(job, space, first, count);
            for (size_t i = 0; i < count; i++)
                differ |= bits_of(job, records, i) ^ base;
            job->loops->count(records, count, job->digit, counts);
        }
        job->differ[chunk] = differ;
    }
}

static void scatter_worker(void *argument, uint32_t worker)
{
    sort_job *job = argument;
    sort_space *space = &job->spaces[worker];
    bool stream = cpu_worth_streaming(job->count * job->record_size);
    uint64_t chunk, first, end;
    while (cpu_take_tile(&job->tickets, &chunk) && !is_stopped(job)) {
        memcpy(space->heads.next, job->counts + chunk * SORT_BINS, sizeof space->heads.next);
        memcpy(space->heads.first, space->heads.next, sizeof space->heads.first);
        chunk_of(job, chunk, &first, &end);
        for (; first < end; first += BLOCK) {
            size_t count = (size_t)TML_MIN_OF(end - first, (uint64_t)BLOCK);
            job->loops->scatter(records_at(job, space, first, count), count, job->digit,
                                &space->heads, job->to, stream);
        }
        if (stream)
            job->loops->flush(&space->heads, job->to);
    }
}

/* Counts of each chunk become the places of its bins, from first on. bounds: SORT_BINS + 1 of the bins. */
static void place_bins(uint64_t *counts, uint64_t chunks, uint64_t first, uint64_t *bounds)
{
    for (size_t bin = 0; bin < SORT_BINS; bin++) {
        bounds[bin] = first;
        for (uint64_t chunk = 0; chunk < chunks; chunk++) {
            uint64_t here = counts[chunk * SORT_BINS + bin];
            counts[chunk * SORT_BINS + bin] = first;
            first += here;
        }
    }
    bounds[SORT_BINS] = first;
}

static sort_digit highest_digit(unsigned low, unsigned high)
{
    unsigned width = TML_MIN_OF(high - low, (unsigned)SORT_DIGIT);
    return (sort_digit){high - width, ((uint64_t)1 << width) - 1};
}

/* ---- ranges ----------------------------------------------------------------------------------- */

/* Sorts a range by bits [low, high) in this thread, and writes its outputs. side: which of the two arrays
 * holds its records. */
static void sort_range(sort_job *job, sort_space *space, int side, uint64_t first, uint64_t count,
                       unsigned low, unsigned high)
{
    size_t size = job->record_size;
    unsigned char *x = job->records[side] + first * size, *y = job->records[!side] + first * size;
    if (count == 0 || is_stopped(job))
        return;
    if (low == high || count * size <= LOCAL_BYTES) {
        store(job, first, count,
              low == high ? x : job->loops->sort(x, y, (size_t)count, low, high));
        return;
    }
    sort_digit digit = highest_digit(low, high);
    bool stream = cpu_worth_streaming(count * size);
    uint64_t bounds[SORT_BINS + 1];
    memset(space->heads.next, 0, sizeof space->heads.next);
    job->loops->count(x, (size_t)count, digit, space->heads.next);
    place_bins(space->heads.next, 1, first, bounds);
    memcpy(space->heads.first, space->heads.next, sizeof space->heads.first);
    job->loops->scatter(x, (size_t)count, digit, &space->heads, job->records[!side], stream);
    if (stream)
        job->loops->flush(&space->heads, job->records[!side]);
    for (size_t bin = 0; bin < SORT_BINS; bin++)
        sort_range(job, space, !side, bounds[bin], bounds[bin + 1] - bounds[bin], low, digit.shift);
}

/* Ranges of a split, but for wide ones. */
static void ranges_worker(void *argument, uint32_t worker)
{
    sort_job *job = argument;
    uint64_t bin;
    int side = job->to == job->records[1];
    while (cpu_take_tile(&job->tickets, &bin)) {
        uint64_t first = job->bounds[bin], count = job->bounds[bin + 1] - first;
        if (count <= job->wide)
            sort_range(job, &job->spaces[worker], side, first, count, job->low, job->digit.shift);
    }
}

static void store_worker(void *argument, uint32_t worker)
{
    sort_job *job = argument;
    uint64_t chunk, first, end;
    (void)worker;
    while (cpu_take_tile(&job->tickets, &chunk) && !is_stopped(job)) {
        chunk_of(job, chunk, &first, &end);
        store(job, first, end - first, job->from + (first - job->first) * job->record_size);
    }
}

/* Sorts a range by all workers. side: as in sort_range; -1: the source, of which find_bits counted
 * job->digit. */
static void sort_wide(sort_job *job, int side, uint64_t first, uint64_t count, unsigned low,
                      unsigned high)
{
    uint64_t bounds[SORT_BINS + 1];
    int to = side == 0;
    job->from = side < 0 ? NULL : job->records[side] + first * job->record_size;
    job->to = job->records[to];
    job->first = first;
    job->count = count;
    if (side >= 0 && low == high) {
        cpu_run_tiles(job->tml, &job->tickets, job->chunks, store_worker, job);
        return;
    }
    sort_digit digit = highest_digit(low, high);
    bool is_counted = side < 0 && digit.shift == job->digit.shift && digit.mask == job->digit.mask;
    job->digit = digit;
    if (!is_counted)
        cpu_run_tiles(job->tml, &job->tickets, job->chunks, count_worker, job);
    if (is_stopped(job))
        return;
    place_bins(job->counts, job->chunks, first, bounds);
    cpu_run_tiles(job->tml, &job->tickets, job->chunks, scatter_worker, job);
    if (is_stopped(job))
        return;
    job->bounds = bounds;
    job->low = low;
    unsigned shift = job->digit.shift;
    cpu_run_tiles(job->tml, &job->tickets, SORT_BINS, ranges_worker, job);
    for (size_t bin = 0; bin < SORT_BINS && !is_stopped(job); bin++)
        if (bounds[bin + 1] - bounds[bin] > job->wide)
            sort_wide(job, to, bounds[bin], bounds[bin + 1] - bounds[bin], low, shift);
}

static void copy_worker(void *argument, uint32_t worker)
{
    sort_job *job = argument;
    uint64_t chunk, first, end;
    (void)worker;
    while (cpu_take_tile(&job->tickets, &chunk)) {
        chunk_of(job, chunk, &first, &end);
        for (uint32_t g = 0; g < job->gather_count; g++) {
            const sort_gather *gather = &job->gathers[g];
            if (gather->place)
                memcpy(gather->place + first * gather->size, gather->out + first * gather->size,
                       (size_t)(end - first) * gather->size);
        }
    }
}

/* ---- the operation ---------------------------------------------------------------------------- */

static void bind_keys(sort_job *job, const tml_sort_resolved *resolved)
{
    const tml_slot *keys = tml_slot_of(job->tml, resolved->desc.keys);
    job->keys = keys->memory;
    job->key_size = keys->element_size;
    job->flip = resolved->flip;
    job->real_flip = resolved->real_flip;
    job->sorted = cpu_memory(job->tml, resolved->desc.sorted);
}

/* Chooses the record, and binds what moves. */
static void bind_tags(sort_job *job, const tml_sort_desc *desc, cpu_arena *arena)
{
    const tml_payload *payloads = desc->payloads;
    bool has_indices = !tml_buffer_is_none(desc->indices);
    bool has_payload = !tml_buffer_is_none(payloads[0].in);
    const tml_slot *only = tml_slot_of(job->tml, payloads[0].in);
    uint64_t bound = desc->length.count;
    job->has_tag = has_indices || has_payload;
    job->indices = desc->indices;
    size_t tag_size = bound > UINT32_MAX ? 8 : 4;
    if (has_payload && !has_indices && tml_buffer_is_none(payloads[1].in) &&
        (only->element_size <= 2 || only->element_size == 4 || only->element_size == 8)) {
        tag_size = job->value_size = only->element_size;
        job->values = only->memory;
        job->values_out = cpu_memory(job->tml, payloads[0].out);
    }
    job->record_size = !job->has_tag                       ? TML_MAX_OF(job->key_size, (size_t)4)
                       : tag_size > 4 || job->key_size > 4 ? 16
                                                           : 8;
    job->code_shift = job->has_tag && job->record_size == 8 ? 32 : 0;
    job->loops = cpu_sort_loops(job->record_size);
    for (uint32_t p = 0; p < TML_MAX_PAYLOADS && !job->value_size; p++) {
        const tml_slot *in = tml_slot_of(job->tml, payloads[p].in);
        if (!in)
            break;
        sort_gather *gather = &job->gathers[job->gather_count++];
        *gather = (sort_gather){in->memory, cpu_memory(job->tml, payloads[p].out), NULL,
                                in->element_size};
        if (gather->out == gather->in) {
            gather->place = gather->out;
            gather->out = cpu_arena_take(arena, bound, gather->size);
        }
    }
}

static void lay_out(tml_context *tml, const tml_sort_resolved *resolved, cpu_arena *arena,
                    sort_job *job)
{
    const tml_sort_desc *desc = &resolved->desc;
    uint64_t bound = desc->length.count;
    *job = (sort_job){.tml = tml};
    bind_keys(job, resolved);
    bind_tags(job, desc, arena);
    job->chunks = cpu_workers(tml, TML_CEIL_DIV(bound, CHUNK_LEAST));
    for (int side = 0; side < 2; side++)
        job->records[side] = cpu_arena_take(arena, bound, job->record_size);
    job->spaces = cpu_arena_take(arena, cpu_workers(tml, SORT_BINS), sizeof *job->spaces);
    job->counts = cpu_arena_take(arena, job->chunks * SORT_BINS, sizeof *job->counts);
    job->differ = cpu_arena_take(arena, job->chunks, sizeof *job->differ);
}

static size_t sort_scratch_size(tml_context *tml, const void *desc)
{
    cpu_arena arena = {0};
    sort_job job;
    lay_out(tml, desc, &arena, &job);
    return arena.size;
}

/* The range of sort bits in which codes differ, within [low, high). Leaves the counts of the digit below
 * high. */
static void find_bits(sort_job *job, unsigned *low, unsigned *high)
{
    uint64_t differ = 0;
    job->count = job->length;
    job->digit = highest_digit(*low, *high);
    cpu_run_tiles(job->tml, &job->tickets, job->chunks, differ_worker, job);
    for (uint64_t chunk = 0; chunk < job->chunks && !is_stopped(job); chunk++)
        differ |= job->differ[chunk];
    differ = differ >> *low << *low;
    if (*high < 64)
        differ &= ((uint64_t)1 << *high) - 1;
    *low = differ ? (unsigned)__builtin_ctzll(differ) : 0;
    *high = differ ? 64 - (unsigned)__builtin_clzll(differ) : 0;
}

static tml_status sort_run(tml_context *tml, const void *argument, void *scratch, size_t size)
{
    const tml_sort_resolved *resolved = argument;
    const tml_sort_desc *desc = &resolved->desc;
    cpu_arena arena = {scratch, 0};
    sort_job job;
    (void)size;
    lay_out(tml, resolved, &arena, &job);
    job.length = cpu_length(tml, &desc->length);
    if (job.length == 0)
        return TML_OK;
    job.chunks = TML_MIN_OF(job.chunks, TML_CEIL_DIV(job.length, CHUNK_LEAST));
    job.wide = job.chunks > 1 ? TML_MAX_OF(job.length / (2 * job.chunks), (uint64_t)CHUNK_LEAST)
                              : job.length;
    unsigned low = desc->first_bit + job.code_shift, high = low + desc->bit_count;
    if (job.length * job.record_size <= LOCAL_BYTES) {
        load(&job, 0, (size_t)job.length, job.records[0]);
        sort_range(&job, &job.spaces[0], 0, 0, job.length, low, high);
    } else {
        find_bits(&job, &low, &high);
        if (!is_stopped(&job))
            sort_wide(&job, -1, 0, job.length, low, high);
    }
    if (!is_stopped(&job)) {
        job.first = 0;
        job.count = job.length;
        cpu_run_tiles(tml, &job.tickets, job.chunks, copy_worker, &job);
        return TML_OK;
    }
    return tml_error(tml, TML_ERROR_CANCELLED, "tml_sort: cancelled; its outputs are undefined");
}

/* Counts, their sums, moves. */
static bool sort_supports(tml_context *tml, const void *resolved)
{
    (void)tml;
    return ((const tml_sort_resolved *)resolved)->desc.method == TML_METHOD_REDUCE_THEN_SCAN;
}

const tml_engine_op cpu_op_sort = {sort_supports, sort_scratch_size, sort_run};
