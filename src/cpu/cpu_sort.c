/* Stable sort on the CPU.
 *
 * A stream that is larger than a cache is split by its keys' highest digit. All workers together
 * split it, and then the ranges that are still large; after that, each worker takes ranges by
 * ticket. A range that fits a cache is halved by its highest bit until it is a leaf of a few
 * thousand records. A leaf is split by one more digit into rows of few records; a sorting network
 * sorts many rows at a time, and the results are written at once. If a processor has no vectors for
 * the network, or if many keys share a digit, a leaf is sorted from the lowest digit to the highest
 * instead. Bits that are the same in all keys are skipped.
 *
 * Measured, and slower: halving from the start (each bit is a pass over memory); a split by 11 bits
 * or more (the lines buffered for the bins do not fit the first-level cache); larger leaves (their
 * rows do not).
 *
 * After: McIlroy, Bostic, McIlroy: Engineering Radix Sort. 1993; Wassenberg, Sanders: Engineering a
 * Multi-core Radix Sort. 2011 (write combining); Bramas: A Novel Hybrid Quicksort Algorithm
 * Vectorized using AVX-512 on Intel Skylake. 2017 (halving by compress). */
#include "cpu/cpu_sort_job.h"

#include <string.h>

enum {
    RANGES = 8,      /* of a split, for one ticket */
    SPLIT_LEAST = 8, /* bits of a split: bins for all workers */
    SPAN = 1 << 26,  /* records counted at a time: less than a table's counts hold */
};

bool cpu_sort_is_stopped(sort_job *job)
{
    if (tml_is_cancelled(job->tml))
        atomic_store_explicit(&job->is_stopped, true, memory_order_relaxed);
    return atomic_load_explicit(&job->is_stopped, memory_order_relaxed);
}

/* ---- to the outputs -------------------------------------------------------------------------- */

/* Writes what room holds to elements [first, first + count) of out. */
static void write_out(const sort_job *job, unsigned char *out, size_t size, uint64_t first,
                      const void *room, size_t count)
{
    cpu_copy_out(out + first * size, room, count * size, cpu_worth_streaming(job->length * size));
}

static void store_tags(const sort_job *job, uint64_t first, size_t count, const void *records)
{
    uint64_t room[SORT_BLOCK];
    size_t value_size = job->form.value_size;
    if (value_size) {
        cpu_sort_tags(&job->form, records, count, value_size, room);
        write_out(job, job->values, value_size, first, room, count);
    }
    if (job->indices) {
        cpu_sort_tags(&job->form, records, count, job->index_size, room);
        write_out(job, job->indices, job->index_size, first, room, count);
    }
    if (job->gather_count)
        cpu_sort_tags(&job->form, records, count, sizeof(tml_index), room);
    for (uint32_t g = 0; g < job->gather_count; g++) {
        const sort_gather *gather = &job->gathers[g];
        cpu_gather(gather->in, gather->size, room, count, gather->out + first * gather->size);
    }
}

void cpu_sort_store(const sort_job *job, uint64_t first, uint64_t count,
                    const unsigned char *records)
{
    size_t key_size = job->form.key_size, size = job->form.record_size;
    for (uint64_t end = first + count; first < end; first += SORT_BLOCK) {
        uint64_t keys[SORT_BLOCK];
        size_t here = (size_t)TML_MIN_OF(end - first, (uint64_t)SORT_BLOCK);
        if (job->sorted && !job->is_plain)
            cpu_sort_keys(&job->form, records, here, keys);
        if (job->sorted)
            write_out(job, job->sorted, key_size, first,
                      job->is_plain ? (const void *)records : keys, here);
        if (job->form.has_tag)
            store_tags(job, first, here, records);
        records += here * size;
    }
}

/* ---- splitting by a digit -------------------------------------------------------------------- */

/* Records [first, first + count) of the step's range: a pointer to memory, or to block, into which
 * they are loaded. */
static const void *records_at(const sort_job *job, sort_space *space, uint64_t first, size_t count)
{
    if (job->from)
        return job->from + (first - job->first) * job->form.record_size;
    if (job->is_plain)
        return job->form.keys + first * job->form.key_size;
    cpu_sort_load(&job->form, first, count, space->block);
    return space->block;
}

/* The chunk's part of the range. */
static void chunk_of(const sort_job *job, uint64_t chunk, uint64_t *first, uint64_t *end)
{
    uint64_t size = TML_ALIGN_UP(TML_CEIL_DIV(job->count, job->chunks), (uint64_t)SORT_BLOCK);
    uint64_t last = job->first + job->count;
    *first = TML_MIN_OF(job->first + chunk * size, last);
    *end = TML_MIN_OF(*first + size, last);
}

/* Moves the tables' counts to counts. */
static void add_tables(sort_space *space, uint64_t *counts)
{
    for (size_t t = 0; t < SORT_TABLES; t++)
        for (size_t bin = 0; bin < SORT_BINS; bin++)
            counts[bin] += space->tables[t][bin];
    memset(space->tables, 0, SORT_TABLES * sizeof *space->tables);
}

/* Counts the digit in each chunk. finds_bits: also finds the bits in which the chunk's codes differ
 * from the first code. */
static void count_chunks(sort_job *job, sort_space *space, bool finds_bits)
{
    uint64_t chunk, first, end, base[2];
    cpu_sort_load(&job->form, job->first, 1, base);
    memset(space->tables, 0, SORT_TABLES * sizeof *space->tables);
    while (cpu_take_tile(&job->tickets, &chunk) && !cpu_sort_is_stopped(job)) {
        uint64_t *counts = job->counts + chunk * SORT_BINS, differ = 0;
        memset(counts, 0, SORT_BINS * sizeof *counts);
        chunk_of(job, chunk, &first, &end);
        for (uint64_t done = first; first < end; first += SORT_BLOCK) {
            size_t count = (size_t)TML_MIN_OF(end - first, (uint64_t)SORT_BLOCK);
            const void *records = records_at(job, space, first, count);
            job->loops->count(records, count, job->digit, space->tables);
            if (finds_bits)
                differ |= job->loops->differ(records, count, base);
            if ((first - done) % SPAN == SPAN - SORT_BLOCK)
                add_tables(space, counts);
        }
        add_tables(space, counts);
        job->differ[chunk] = differ;
    }
}

static void count_worker(void *argument, uint32_t worker)
{
    sort_job *job = argument;
    count_chunks(job, &job->spaces[worker], false);
}

/* The first read of the source. Finds the bits in which codes differ, and counts the highest digit;
 * the counts can be used if the digit's highest bit is among those bits. */
static void differ_worker(void *argument, uint32_t worker)
{
    sort_job *job = argument;
    count_chunks(job, &job->spaces[worker], true);
}

static void scatter_worker(void *argument, uint32_t worker)
{
    sort_job *job = argument;
    sort_space *space = &job->spaces[worker];
    uint64_t chunk, first, end;
    while (cpu_take_tile(&job->tickets, &chunk) && !cpu_sort_is_stopped(job)) {
        memcpy(space->heads->next, job->counts + chunk * SORT_BINS, sizeof space->heads->next);
        memcpy(space->heads->first, space->heads->next, sizeof space->heads->first);
        for (chunk_of(job, chunk, &first, &end); first < end; first += SORT_BLOCK) {
            size_t count = (size_t)TML_MIN_OF(end - first, (uint64_t)SORT_BLOCK);
            job->loops->scatter(records_at(job, space, first, count), count, job->digit,
                                space->heads, job->to);
        }
        job->loops->flush(space->heads, job->to);
    }
}

/* Turns the counts of each chunk into the positions of its bins, from first on. bounds: SORT_BINS +
 * 1 bounds of the bins. Works chunk by chunk, because the counts of one bin lie a power of two
 * apart, and so compete for one set of the first-level cache. */
static void place_bins(uint64_t *counts, uint64_t chunks, uint64_t first, uint64_t *bounds)
{
    uint64_t next[SORT_BINS] = {0};
    for (uint64_t i = 0; i < chunks * SORT_BINS; i++)
        next[i % SORT_BINS] += counts[i];
    for (size_t bin = 0; bin < SORT_BINS; bin++) {
        bounds[bin] = first;
        first += next[bin];
        next[bin] = bounds[bin];
    }
    bounds[SORT_BINS] = first;
    for (uint64_t i = 0; i < chunks * SORT_BINS; i++) {
        uint64_t here = counts[i];
        counts[i] = next[i % SORT_BINS];
        next[i % SORT_BINS] += here;
    }
}

/* The digit below bit high by which count records are split into ranges that are leaves or
 * local. */
static sort_digit highest_digit(uint64_t count, unsigned low, unsigned high)
{
    unsigned width = SPLIT_LEAST;
    while (width < SORT_DIGIT && count >> width > SORT_LEAF_MEAN)
        width++;
    width = TML_MIN_OF(high - low, width);
    return (sort_digit){high - width, ((uint64_t)1 << width) - 1};
}

/* ---- ranges ---------------------------------------------------------------------------------- */

/* Sorts local records at x by bits [low, high). room, and the memory behind x, each have space for
 * the records and CPU_SLACK bytes. first: the position of the first record. above: the number of
 * records before the last halving. */
static void sort_halves(sort_job *job, sort_space *space, unsigned char *x, unsigned char *room,
                        uint64_t first, size_t count, size_t above, unsigned low, unsigned high)
{
    size_t size = job->form.record_size;
    if (count > job->leaf && count > above / 16 * 15)
        sort_narrow(job->loops->differ(x, count, x), &low, &high);
    if (count == 0 || low == high) {
        cpu_sort_store(job, first, count, x);
    } else if (count <= job->leaf) {
        unsigned char *out = job->is_plain ? job->sorted + first * size : space->leaf;
        job->loops->leaf(x, out, count, low, high, job->is_whole, &space->rows);
        if (!job->is_plain)
            cpu_sort_store(job, first, count, out);
    } else {
        size_t zeros = job->loops->halve(x, count, --high, room, x), ones = count - zeros;
        sort_halves(job, space, room, x + ones * size, first, zeros, count, low, high);
        sort_halves(job, space, x, room, first + zeros, ones, count, low, high);
    }
}

/* The same for records with other records behind them, in room that the worker owns. */
static void sort_local(sort_job *job, sort_space *space, unsigned char *x, uint64_t first,
                       size_t count, unsigned low, unsigned high)
{
    size_t size = job->form.record_size;
    if (count <= job->leaf || low == high) {
        sort_halves(job, space, x, NULL, first, count, count, low, high);
        return;
    }
    unsigned char *zero = space->halves[0], *one = space->halves[1];
    size_t zeros = job->loops->halve(x, count, --high, zero, one), ones = count - zeros;
    sort_halves(job, space, zero, one + ones * size, first, zeros, count, low, high);
    sort_halves(job, space, one, zero, first + zeros, ones, count, low, high);
}

/* Sorts a range by bits [low, high) in this thread, and writes its outputs. side: which of the two
 * arrays holds the range's records. */
static void sort_range(sort_job *job, sort_space *space, int side, uint64_t first, uint64_t count,
                       unsigned low, unsigned high)
{
    size_t size = job->form.record_size;
    unsigned char *x = job->records[side] + first * size;
    if (count == 0 || cpu_sort_is_stopped(job))
        return;
    if (count <= SORT_LOCAL) {
        sort_local(job, space, x, first, (size_t)count, low, high);
        return;
    }
    sort_narrow(job->loops->differ(x, (size_t)count, x), &low, &high);
    if (low == high) {
        cpu_sort_store(job, first, count, x);
        return;
    }
    sort_digit digit = highest_digit(count, low, high);
    uint64_t bounds[SORT_BINS + 1];
    memset(space->tables, 0, SORT_TABLES * sizeof *space->tables);
    memset(space->heads->next, 0, sizeof space->heads->next);
    for (uint64_t done = 0; done < count; done += SPAN) {
        job->loops->count(x + done * size, (size_t)TML_MIN_OF(count - done, (uint64_t)SPAN), digit,
                          space->tables);
        add_tables(space, space->heads->next);
    }
    place_bins(space->heads->next, 1, first, bounds);
    memcpy(space->heads->first, space->heads->next, sizeof space->heads->first);
    job->loops->scatter(x, (size_t)count, digit, space->heads, job->records[!side]);
    job->loops->flush(space->heads, job->records[!side]);
    for (size_t bin = 0; bin < SORT_BINS; bin++)
        sort_range(job, space, !side, bounds[bin], bounds[bin + 1] - bounds[bin], low, digit.shift);
}

/* Sorts the ranges of a split, except wide ones. A ticket is for several ranges, since taking a
 * ticket waits for all stores. */
static void ranges_worker(void *argument, uint32_t worker)
{
    sort_job *job = argument;
    uint64_t ticket;
    int side = job->to == job->records[1];
    while (cpu_take_tile(&job->ranges, &ticket))
        for (size_t i = 0; i < RANGES; i++) {
            const uint64_t *bounds = job->bounds + ticket * RANGES + i;
            if (bounds[1] - bounds[0] <= job->wide)
                sort_range(job, &job->spaces[worker], side, bounds[0], bounds[1] - bounds[0],
                           job->low, job->digit.shift);
        }
    cpu_stream_fence();
}

static void store_worker(void *argument, uint32_t worker)
{
    sort_job *job = argument;
    uint64_t chunk, first, end;
    (void)worker;
    while (cpu_take_tile(&job->tickets, &chunk) && !cpu_sort_is_stopped(job)) {
        chunk_of(job, chunk, &first, &end);
        cpu_sort_store(job, first, end - first,
                       job->from + (first - job->first) * job->form.record_size);
    }
    cpu_stream_fence();
}

/* Sorts a range by all workers together. side: as in sort_range; -1: the source, whose digit
 * job->digit find_bits has counted. */
static void sort_wide(sort_job *job, int side, uint64_t first, uint64_t count, unsigned low,
                      unsigned high)
{
    uint64_t bounds[SORT_BINS + 1];
    int to = side == 0;
    job->from = side < 0 ? NULL : job->records[side] + first * job->form.record_size;
    job->to = job->records[to];
    job->first = first;
    job->count = count;
    if (side >= 0 && low == high) {
        cpu_run_tiles(job->tml, &job->tickets, job->chunks, store_worker, job);
        return;
    }
    sort_digit digit = highest_digit(count, low, high);
    bool is_counted = side < 0 && digit.shift == job->digit.shift && digit.mask == job->digit.mask;
    job->digit = digit;
    if (!is_counted)
        cpu_run_tiles(job->tml, &job->tickets, job->chunks, count_worker, job);
    if (cpu_sort_is_stopped(job))
        return;
    place_bins(job->counts, job->chunks, first, bounds);
    cpu_run_tiles(job->tml, &job->tickets, job->chunks, scatter_worker, job);
    if (cpu_sort_is_stopped(job))
        return;
    job->bounds = bounds;
    job->low = low;
    unsigned shift = job->digit.shift;
    atomic_store_explicit(&job->ranges.next, 0, memory_order_relaxed);
    job->ranges.count = SORT_BINS / RANGES;
    cpu_run_tiles(job->tml, &job->tickets, job->chunks, ranges_worker, job);
    for (size_t bin = 0; bin < SORT_BINS && !cpu_sort_is_stopped(job); bin++)
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

/* ---- the operation --------------------------------------------------------------------------- */

static void bind_keys(sort_job *job, const tml_sort_resolved *resolved)
{
    const tml_slot *keys = tml_slot_of(job->tml, resolved->desc.keys);
    job->form.keys = keys->memory;
    job->form.key_size = keys->element_size;
    job->form.flip = resolved->flip;
    job->form.real_flip = resolved->real_flip;
    job->sorted = cpu_memory(job->tml, resolved->desc.sorted);
}

/* Chooses the kind of record, and binds the arrays that move. */
static void bind_tags(sort_job *job, const tml_sort_desc *desc, cpu_arena *arena)
{
    const tml_payload *payloads = desc->payloads;
    sort_form *form = &job->form;
    bool has_indices = !tml_buffer_is_none(desc->indices);
    bool has_payload = !tml_buffer_is_none(payloads[0].in);
    const tml_slot *only = tml_slot_of(job->tml, payloads[0].in);
    uint64_t bound = desc->length.count;
    form->has_tag = has_indices || has_payload;
    job->indices = cpu_memory(job->tml, desc->indices);
    job->index_size = has_indices ? tml_slot_of(job->tml, desc->indices)->element_size : 0;
    size_t tag_size = bound > UINT32_MAX ? 8 : 4;
    if (has_payload && !has_indices && tml_buffer_is_none(payloads[1].in) &&
        (only->element_size <= 2 || only->element_size == 4 || only->element_size == 8)) {
        tag_size = form->value_size = only->element_size;
        form->values = only->memory;
        job->values = cpu_memory(job->tml, payloads[0].out);
    }
    form->record_size = !form->has_tag                       ? TML_MAX_OF(form->key_size, (size_t)4)
                        : tag_size > 4 || form->key_size > 4 ? 16
                                                             : 8;
    form->code_shift = form->has_tag && form->record_size == 8 ? 32 : 0;
    for (uint32_t p = 0; p < TML_MAX_PAYLOADS && !form->value_size; p++) {
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

/* One worker's memory, for a stream of at most bound elements. */
static void lay_out_space(const sort_job *job, uint64_t bound, cpu_arena *arena, sort_space *space)
{
    size_t size = job->form.record_size;
    uint64_t local = TML_MIN_OF(bound, (uint64_t)SORT_LOCAL), rows = SORT_GROUP;
    uint64_t leaf = TML_MIN_OF(local, (uint64_t)job->leaf);
    for (; job->loops->has_rows && rows * SORT_ROW_MEAN < leaf; rows *= 2)
        ;
    *space = (sort_space){
        .rows = {.fills = cpu_arena_take(arena, rows, sizeof(uint32_t)),
                 .codes = cpu_arena_take(arena, rows, SORT_ROW * sizeof(uint32_t)),
                 .records = cpu_arena_take(arena, size > 4 ? rows : 0, SORT_ROW * size),
                 .surplus = cpu_arena_take(arena, 2 * (leaf / SORT_ROW), size)},
        .halves = {cpu_arena_take(arena, local * size + CPU_SLACK, 1),
                   cpu_arena_take(arena, local * size + CPU_SLACK, 1)},
        .leaf = cpu_arena_take(arena, leaf, size)};
    if (bound == local)
        return;
    space->heads = cpu_arena_take(arena, 1, sizeof *space->heads);
    space->tables = cpu_arena_take(arena, SORT_TABLES, sizeof *space->tables);
    space->block = cpu_arena_take(arena, SORT_BLOCK, sizeof *space->block);
}

void cpu_sort_lay_out(tml_context *tml, const tml_sort_resolved *resolved, cpu_arena *arena,
                      sort_job *job)
{
    const tml_sort_desc *desc = &resolved->desc;
    uint64_t bound = desc->length.count;
    *job = (sort_job){.tml = tml};
    bind_keys(job, resolved);
    bind_tags(job, desc, arena);
    sort_form *form = &job->form;
    job->loops = cpu_sort_loops(form->record_size);
    job->leaf = job->loops->has_rows ? (size_t)SORT_LEAF : (size_t)SORT_LOCAL;
    job->is_whole = !form->has_tag && desc->bit_count == 8 * form->key_size;
    job->is_plain = form->record_size == form->key_size && !form->flip && !form->real_flip &&
                    job->sorted && !form->has_tag;
    job->chunks = cpu_workers(tml, TML_CEIL_DIV(bound, SORT_CHUNK));
    for (int side = 0; side < 2; side++)
        job->records[side] = cpu_arena_take(arena, bound, form->record_size);
    job->counts = cpu_arena_take(arena, job->chunks * SORT_BINS, sizeof *job->counts);
    job->differ = cpu_arena_take(arena, job->chunks, sizeof *job->differ);
    job->spaces = cpu_arena_take(arena, job->chunks, sizeof *job->spaces);
    for (uint64_t w = 0; w < job->chunks; w++) {
        sort_space space;
        lay_out_space(job, bound, arena, &space);
        if (arena->memory)
            job->spaces[w] = space;
    }
}

static size_t sort_scratch_size(tml_context *tml, const void *resolved)
{
    cpu_arena arena = {0};
    sort_job job;
    cpu_sort_lay_out(tml, resolved, &arena, &job);
    return arena.size;
}

/* The range of the bits within [low, high) in which the step's codes differ. Leaves the counts of
 * the digit below high. */
static void find_bits(sort_job *job, unsigned *low, unsigned *high)
{
    uint64_t differ = 0;
    job->from = NULL;
    job->digit = highest_digit(job->count, *low, *high);
    cpu_run_tiles(job->tml, &job->tickets, job->chunks, differ_worker, job);
    for (uint64_t chunk = 0; chunk < job->chunks && !cpu_sort_is_stopped(job); chunk++)
        differ |= job->differ[chunk];
    sort_narrow(differ, low, high);
}

void cpu_sort_alone(sort_job *job, sort_space *space, uint64_t first, uint64_t count, unsigned low,
                    unsigned high)
{
    cpu_sort_load(&job->form, first, (size_t)count,
                  job->records[0] + first * job->form.record_size);
    sort_range(job, space, 0, first, count, low, high);
}

void cpu_sort_together(sort_job *job, uint64_t first, uint64_t count, unsigned low, unsigned high)
{
    uint64_t chunks = job->chunks;
    job->chunks = TML_MIN_OF(chunks, TML_CEIL_DIV(count, SORT_CHUNK));
    job->wide =
        job->chunks > 1 ? TML_MAX_OF(count / (2 * job->chunks), (uint64_t)SORT_CHUNK) : count;
    job->first = first;
    job->count = count;
    find_bits(job, &low, &high);
    if (!cpu_sort_is_stopped(job))
        sort_wide(job, -1, first, count, low, high);
    job->chunks = chunks;
}

tml_status cpu_sort_end(sort_job *job)
{
    if (cpu_sort_is_stopped(job))
        return tml_error(job->tml, TML_ERROR_CANCELLED,
                         "tml_sort: cancelled; its outputs are undefined");
    job->first = 0;
    job->count = job->length;
    cpu_run_tiles(job->tml, &job->tickets, job->chunks, copy_worker, job);
    return TML_OK;
}

static tml_status sort_run(tml_context *tml, const void *argument, void *scratch, size_t size)
{
    const tml_sort_resolved *resolved = argument;
    cpu_arena arena = {scratch, 0};
    sort_job job;
    unsigned low, high;
    (void)size;
    cpu_sort_lay_out(tml, resolved, &arena, &job);
    job.length = cpu_length(tml, &resolved->desc.length);
    if (job.length == 0)
        return TML_OK;
    cpu_sort_bits(&job, &resolved->desc, &low, &high);
    if (job.length <= SORT_LOCAL)
        cpu_sort_alone(&job, &job.spaces[0], 0, job.length, low, high);
    else
        cpu_sort_together(&job, 0, job.length, low, high);
    return cpu_sort_end(&job);
}

/* Counts, their sums, moves. */
bool cpu_sort_supports(tml_context *tml, const void *resolved)
{
    (void)tml;
    return ((const tml_sort_resolved *)resolved)->desc.method == TML_METHOD_REDUCE_THEN_SCAN;
}

const tml_engine_op cpu_op_sort = {cpu_sort_supports, sort_scratch_size, sort_run};
