/* tml_map on the CPU: tiles in parallel, in which the kernel runs on blocks that stay in the
 * first-level cache. A map may work in place, because a kernel reads item i before it writes item
 * i. */
#include "cpu/cpu_internal.h"

enum { TILE_ITEMS = 16 * CPU_BLOCK };

typedef struct map_job {
    tml_context *tml;
    cpu_tickets tickets;
    cpu_call call;
    cpu_call_space *spaces; /* one a worker */
    unsigned char *outs[TML_MAX_OUTS];
    size_t out_sizes[TML_MAX_OUTS];
    uint64_t count;
} map_job;

static void map_block(const map_job *job, cpu_call_space *space, uint64_t first, uint64_t end)
{
    void *outs[TML_MAX_OUTS];
    for (uint32_t k = 0; k < TML_MAX_OUTS; k++)
        outs[k] = job->outs[k] ? job->outs[k] + first * job->out_sizes[k] : NULL;
    cpu_call_run_outs(&job->call, space, first,
                      (size_t)TML_MIN_OF(end - first, (uint64_t)CPU_BLOCK), outs);
}

static void map_worker(void *argument, uint32_t worker)
{
    map_job *job = argument;
    uint64_t tile;
    while (cpu_take_tile(&job->tickets, &tile)) {
        if (tml_is_cancelled(job->tml))
            continue;
        uint64_t end = TML_MIN_OF((tile + 1) * TILE_ITEMS, job->count);
        for (uint64_t first = tile * TILE_ITEMS; first < end; first += CPU_BLOCK)
            map_block(job, &job->spaces[worker], first, end);
    }
}

static size_t map_scratch_size(tml_context *tml, const void *desc)
{
    const tml_map_desc *d = desc;
    return cpu_workers(tml, TML_CEIL_DIV(d->length.count, TILE_ITEMS)) * sizeof(cpu_call_space);
}

static tml_status map_run(tml_context *tml, const void *desc, void *scratch, size_t scratch_size)
{
    (void)scratch_size;
    const tml_map_desc *d = desc;
    map_job job = {.tml = tml, .spaces = scratch, .count = cpu_length(tml, &d->length)};
    for (uint32_t k = 0; k < tml_kernel_outs(d->kernel); k++) {
        job.outs[k] = cpu_memory(tml, d->out[k]);
        job.out_sizes[k] = tml_type_size(tml_kernel_out_type(d->kernel, k));
    }
    cpu_call_bind(tml, d->kernel, &d->params, d->in, &job.call);
    cpu_run_tiles(tml, &job.tickets, TML_CEIL_DIV(job.count, TILE_ITEMS), map_worker, &job);
    return cpu_finish(tml, "tml_map");
}

const tml_engine_op cpu_op_map = {NULL, map_scratch_size, map_run};
