/* Compact, partition and expand by HISTOPYRAMID (cpu_locate.h): count each source's outputs, build
 * the pyramid, then gather output by output. Deliberately simple. */
#include <string.h>

#include "cpu/cpu_locate.h"

enum { TILE = 16 * CPU_BLOCK };

/* An output array with room for count elements. */
typedef struct column {
    const unsigned char *in; /* NULL: the output is an index or rank, not a copy */
    unsigned char *out;
    size_t size;
    uint64_t count;
} column;

static column column_of(const tml_context *tml, tml_buffer in, tml_buffer out)
{
    const tml_slot *slot = tml_slot_of(tml, out);
    column c = {.in = cpu_memory(tml, in)};
    if (slot) {
        c.out = slot->memory;
        c.size = slot->element_size;
        c.count = slot->count;
    }
    return c;
}

static void store_number(const column *c, uint64_t output, uint64_t value)
{
    if (output >= c->count)
        return;
    if (c->size == sizeof(uint32_t))
        ((uint32_t *)(void *)c->out)[output] = (uint32_t)value;
    else
        ((uint64_t *)(void *)c->out)[output] = value;
}

typedef struct locate_space {
    cpu_keep_space keep;
    cpu_gather_space gather;
    uint64_t index[CPU_BLOCK];
    uint32_t rank[CPU_BLOCK];
    uint32_t counts[CPU_BLOCK];
} locate_space;

typedef struct locate_job {
    tml_context *tml;
    cpu_tickets tickets;
    void *pyramid; /* its scratch */
    locate_space *spaces;
    uint64_t *counts; /* of each source */
    uint64_t source_count;
    atomic_bool is_stopped; /* some sources are not counted */
    /* Compact and partition: the sources with one output. */
    cpu_keep keep;
    bool invert;
    /* Expand: the number of outputs of each source. */
    cpu_counts expand;
    bool is_expand;
    /* Writes the pyramid's outputs [0, output_count), from element first_output of the outputs
     * on. */
    uint64_t first_output, output_count;
    column numbers, ranks, payloads[TML_MAX_PAYLOADS];
    cpu_call emit;
    column emitted[TML_MAX_OUTS];
} locate_job;

/* ---- counts ---------------------------------------------------------------------------------- */

static void count_block(const locate_job *job, locate_space *space, uint64_t first, size_t n)
{
    uint64_t *counts = job->counts + first;
    if (job->is_expand) {
        cpu_counts_read(&job->expand, &space->gather.call, first, n, space->counts);
        for (size_t i = 0; i < n; i++)
            counts[i] = space->counts[i];
        return;
    }
    uint64_t words[CPU_BLOCK / 64];
    cpu_keep_words(&job->keep, &space->keep, first, n, words);
    for (size_t i = 0; i < n; i++)
        counts[i] = (words[i / 64] >> i % 64 & 1) ^ job->invert;
}

static void count_worker(void *argument, uint32_t worker)
{
    locate_job *job = argument;
    uint64_t tile;
    while (cpu_take_tile(&job->tickets, &tile)) {
        if (tml_is_cancelled(job->tml)) {
            atomic_store_explicit(&job->is_stopped, true, memory_order_relaxed);
            return;
        }
        uint64_t end = TML_MIN_OF((tile + 1) * TILE, job->source_count);
        for (uint64_t first = tile * TILE; first < end; first += CPU_BLOCK)
            count_block(job, &job->spaces[worker], first,
                        (size_t)TML_MIN_OF(end - first, (uint64_t)CPU_BLOCK));
    }
}

/* Counts each source's outputs and builds the pyramid. Returns the number of outputs, 0 if
 * cancelled. */
static uint64_t build(locate_job *job)
{
    uint64_t tiles = TML_CEIL_DIV(job->source_count, TILE);
    cpu_run_tiles(job->tml, &job->tickets, tiles, count_worker, job);
    for (uint64_t i = job->source_count; i % 4 != 0; i++)
        job->counts[i] = 0;
    if (atomic_load_explicit(&job->is_stopped, memory_order_relaxed))
        return 0;
    return cpu_pyramid_build(job->tml, job->counts, job->source_count, job->pyramid);
}

/* ---- outputs --------------------------------------------------------------------------------- */

static void write_block(const locate_job *job, locate_space *space, uint64_t first, size_t n)
{
    uint64_t output = job->first_output + first;
    for (size_t i = 0; i < n; i++)
        cpu_pyramid_locate(job->pyramid, first + i, &space->index[i], &space->rank[i]);
    for (size_t i = 0; i < n; i++) {
        store_number(&job->numbers, output + i, space->index[i]);
        store_number(&job->ranks, output + i, space->rank[i]);
    }
    for (size_t p = 0; p < TML_MAX_PAYLOADS; p++) {
        const column *c = &job->payloads[p];
        for (size_t i = 0; i < n && output + i < c->count; i++)
            memcpy(c->out + (output + i) * c->size, c->in + space->index[i] * c->size, c->size);
    }
    if (job->emit.kernel) {
        void *outs[TML_MAX_OUTS];
        for (uint32_t k = 0; k < TML_MAX_OUTS; k++) {
            const column *c = &job->emitted[k];
            outs[k] = c->out ? c->out + output * c->size : NULL;
        }
        cpu_call_run_at(&job->emit, &space->gather, space->index, space->rank, n, outs);
    }
}

static void write_worker(void *argument, uint32_t worker)
{
    locate_job *job = argument;
    uint64_t tile;
    while (cpu_take_tile(&job->tickets, &tile)) {
        if (tml_is_cancelled(job->tml))
            continue;
        uint64_t end = TML_MIN_OF((tile + 1) * TILE, job->output_count);
        for (uint64_t first = tile * TILE; first < end; first += CPU_BLOCK)
            write_block(job, &job->spaces[worker], first,
                        (size_t)TML_MIN_OF(end - first, (uint64_t)CPU_BLOCK));
    }
}

static void write_outputs(locate_job *job, uint64_t first_output, uint64_t output_count)
{
    job->first_output = first_output;
    job->output_count = output_count;
    uint64_t tiles = TML_CEIL_DIV(output_count, TILE);
    cpu_run_tiles(job->tml, &job->tickets, tiles, write_worker, job);
}

/* ---- the operations -------------------------------------------------------------------------- */

static void cpu_locate_lay_out(tml_context *tml, uint64_t bound, cpu_arena *arena, locate_job *job)
{
    job->counts = cpu_arena_take(arena, TML_ALIGN_UP(bound, (uint64_t)4), sizeof *job->counts);
    job->pyramid = cpu_arena_take(arena, cpu_pyramid_scratch_size(bound), 1);
    job->spaces = cpu_arena_take(arena, cpu_workers(tml, UINT64_MAX), sizeof *job->spaces);
}

size_t cpu_locate_compact_scratch_size(tml_context *tml, const tml_compact_desc *desc)
{
    cpu_arena arena = {NULL, 0};
    locate_job job;
    cpu_locate_lay_out(tml, desc->length.count, &arena, &job);
    return arena.size;
}

static void bind_compact(tml_context *tml, const tml_compact_desc *desc, void *scratch,
                         locate_job *job)
{
    *job = (locate_job){.tml = tml, .source_count = cpu_length(tml, &desc->length)};
    cpu_arena arena = {scratch, 0};
    cpu_locate_lay_out(tml, desc->length.count, &arena, job);
    cpu_keep_bind(tml, &desc->keep, &job->keep);
    job->numbers = column_of(tml, (tml_buffer){0, 0}, desc->indices);
    for (size_t p = 0; p < TML_MAX_PAYLOADS; p++)
        job->payloads[p] = column_of(tml, desc->payloads[p].in, desc->payloads[p].out);
}

tml_status cpu_locate_compact(tml_context *tml, const tml_compact_desc *desc, void *scratch)
{
    locate_job job;
    bind_compact(tml, desc, scratch, &job);
    uint64_t kept = build(&job), out_first = cpu_first(tml, desc->out_first);
    write_outputs(&job, out_first, kept);
    if (desc->partition) {
        job.invert = true;
        uint64_t rejected = build(&job);
        write_outputs(&job, kept, rejected);
    }
    tml_status status = cpu_finish(tml, "tml_compact");
    if (status == TML_OK)
        cpu_store_count(tml, desc->count, out_first + kept);
    return status;
}

size_t cpu_locate_expand_scratch_size(tml_context *tml, const tml_expand_desc *desc)
{
    cpu_arena arena = {NULL, 0};
    locate_job job;
    cpu_locate_lay_out(tml, desc->length.count, &arena, &job);
    return arena.size;
}

tml_status cpu_locate_expand(tml_context *tml, const tml_expand_desc *desc, void *scratch)
{
    const tml_buffer none = {0, 0};
    locate_job job = {
        .tml = tml, .is_expand = true, .source_count = cpu_length(tml, &desc->length)};
    cpu_arena arena = {scratch, 0};
    cpu_locate_lay_out(tml, desc->length.count, &arena, &job);
    cpu_counts_bind(tml, desc, &job.expand);
    job.numbers = column_of(tml, none, desc->source);
    job.ranks = column_of(tml, none, desc->rank);
    for (uint32_t k = 0; k < TML_MAX_OUTS; k++)
        job.emitted[k] = column_of(tml, none, desc->out[k]);
    if (desc->emit_kernel)
        cpu_call_bind(tml, desc->emit_kernel, &desc->params, desc->in, &job.emit);

    uint64_t total = build(&job), out_first = cpu_first(tml, desc->out_first);
    write_outputs(&job, out_first, cpu_expand_limit(tml, desc, out_first, total));
    tml_status status = cpu_finish(tml, "tml_expand");
    if (status == TML_OK)
        cpu_store_count(tml, desc->total, out_first + total);
    return status;
}
