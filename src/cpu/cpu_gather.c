/* tml_gather and tml_scatter on the CPU: tiles in parallel, a block of indices at a time for all
 * payloads. */
#include "cpu/cpu_internal.h"

#include <string.h>

enum { TILE_ITEMS = 16 * CPU_BLOCK };

typedef struct gather_array {
    const unsigned char *in;
    unsigned char *out;
    size_t size;
    uint64_t range; /* elements that indices may name */
} gather_array;

typedef struct gather_job {
    tml_context *tml;
    cpu_tickets tickets;
    bool scatters;
    const tml_slot *indices;
    uint64_t length;
    gather_array arrays[TML_MAX_PAYLOADS];
    uint32_t array_count;
} gather_job;

#define SCATTER(size)                                                                              \
    for (size_t i = 0; i < count; i++)                                                             \
    memcpy(out + index[i] * (size), in + i * (size), size)

static void scatter(const unsigned char *in, size_t size, const tml_index *index, size_t count,
                    unsigned char *out)
{
    switch (size) { /* a copy of constant size is one or two moves */
    case 1:
        SCATTER(1);
        break;
    case 2:
        SCATTER(2);
        break;
    case 4:
        SCATTER(4);
        break;
    case 8:
        SCATTER(8);
        break;
    case 12:
        SCATTER(12);
        break;
    case 16:
        SCATTER(16);
        break;
    default:
        SCATTER(size);
    }
}

/* Moves the elements of a block from in or to out. The other array's pointer is that of the
 * block. */
static void move(const gather_job *job, const gather_array *a, uint64_t first,
                 const tml_index *index, size_t count)
{
    const unsigned char *in = a->in + (job->scatters ? first * a->size : 0);
    unsigned char *out = a->out + (job->scatters ? 0 : first * a->size);
    if (job->scatters)
        scatter(in, a->size, index, count, out);
    else
        cpu_gather(in, a->size, index, count, out);
}

static void move_block(const gather_job *job, uint64_t first, size_t count)
{
    tml_index index[CPU_BLOCK], largest = 0;
    cpu_load_indices(job->indices, first, count, index);
    for (size_t i = 0; i < count; i++)
        largest = TML_MAX_OF(largest, index[i]);
    for (const gather_array *a = job->arrays; a < job->arrays + job->array_count; a++) {
        if (largest < a->range) {
            move(job, a, first, index, count);
            continue;
        }
        for (size_t i = 0; i < count; i++)
            if (index[i] < a->range)
                move(job, a, first + i, index + i, 1);
    }
}

static void gather_worker(void *argument, uint32_t worker)
{
    gather_job *job = argument;
    uint64_t tile;
    (void)worker;
    while (cpu_take_tile(&job->tickets, &tile) && !tml_is_cancelled(job->tml)) {
        uint64_t end = TML_MIN_OF((tile + 1) * TILE_ITEMS, job->length);
        for (uint64_t first = tile * TILE_ITEMS; first < end; first += CPU_BLOCK)
            move_block(job, first, (size_t)TML_MIN_OF(end - first, (uint64_t)CPU_BLOCK));
    }
}

static tml_status cpu_gather_run(tml_context *tml, const char *call, bool scatters,
                                 const tml_gather_desc *desc)
{
    gather_job job = {.tml = tml,
                      .scatters = scatters,
                      .indices = tml_slot_of(tml, desc->indices),
                      .length = cpu_length(tml, &desc->length)};
    for (uint32_t p = 0; p < TML_MAX_PAYLOADS; p++) {
        const tml_slot *in = tml_slot_of(tml, desc->payloads[p].in);
        const tml_slot *out = tml_slot_of(tml, desc->payloads[p].out);
        if (in)
            job.arrays[job.array_count++] = (gather_array){
                in->memory, out->memory, in->element_size, scatters ? out->count : in->count};
    }
    cpu_run_tiles(tml, &job.tickets, TML_CEIL_DIV(job.length, TILE_ITEMS), gather_worker, &job);
    return cpu_finish(tml, call);
}

static tml_status gather_run(tml_context *tml, const void *desc, void *scratch, size_t size)
{
    (void)scratch;
    (void)size;
    return cpu_gather_run(tml, "tml_gather", false, desc);
}

static tml_status scatter_run(tml_context *tml, const void *desc, void *scratch, size_t size)
{
    (void)scratch;
    (void)size;
    return cpu_gather_run(tml, "tml_scatter", true, desc);
}

const tml_engine_op cpu_op_gather = {.run = gather_run};
const tml_engine_op cpu_op_scatter = {.run = scatter_run};
