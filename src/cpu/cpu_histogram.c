/* Histogram on the CPU: each worker counts its tiles in private bins, which are then added up. Integer sums
 * do not depend on which worker took which tile. */
#include "cpu/cpu_internal.h"

#include <string.h>

enum {
    TILE_ITEMS = 64 * CPU_BLOCK,
    /* Consecutive elements are often equal, and an increment of a bin waits for the previous one.
     * Elements alternate between LANES copies of the bins, if these fit the first-level cache. */
    LANES = 4,
    BINS_IN_LANES = 1024,
};

typedef struct histogram_job {
    tml_context *tml;
    cpu_tickets tickets;
    cpu_call call; /* call.kernel NULL: in holds bins */
    const unsigned char *in;
    size_t in_size;
    uint64_t length;
    uint32_t bins, lanes;
    size_t stride;          /* counters in a lane: the bins, then one for all other values */
    uint32_t *counts;       /* workers x lanes x stride */
    cpu_call_space *spaces; /* one a worker, for the kernel */
} histogram_job;

static uint64_t tiles_of(uint64_t count)
{
    return TML_CEIL_DIV(count, TILE_ITEMS);
}

#define COUNT(T)                                                                                   \
    do {                                                                                           \
        const T *x = in;                                                                           \
        size_t i = 0;                                                                              \
        for (; i + LANES <= count; i += LANES)                                                     \
            for (size_t l = 0; l < LANES; l++)                                                     \
                lane[l][TML_MIN_OF((uint32_t)x[i + l], bins)]++;                                   \
        for (; i < count; i++)                                                                     \
            lane[0][TML_MIN_OF((uint32_t)x[i], bins)]++;                                           \
    } while (0)

static void count_bins(const histogram_job *job, uint32_t *counts, size_t size, const void *in,
                       size_t count)
{
    uint32_t bins = job->bins, *lane[LANES];
    for (size_t l = 0; l < LANES; l++)
        lane[l] = counts + l % job->lanes * job->stride;
    if (size == 1)
        COUNT(uint8_t);
    else if (size == 2)
        COUNT(uint16_t);
    else
        COUNT(uint32_t);
}

static void histogram_worker(void *argument, uint32_t worker)
{
    histogram_job *job = argument;
    size_t own = job->lanes * job->stride;
    uint32_t *counts = job->counts + worker * own, made[CPU_BLOCK];
    memset(counts, 0, own * sizeof *counts);
    uint64_t tile;
    while (cpu_take_tile(&job->tickets, &tile) && !tml_is_cancelled(job->tml)) {
        uint64_t first = tile * TILE_ITEMS, end = TML_MIN_OF(first + TILE_ITEMS, job->length);
        if (!job->call.kernel) {
            count_bins(job, counts, job->in_size, job->in + first * job->in_size,
                       (size_t)(end - first));
            continue;
        }
        for (; first < end; first += CPU_BLOCK) {
            size_t count = (size_t)TML_MIN_OF(end - first, (uint64_t)CPU_BLOCK);
            cpu_call_run(&job->call, &job->spaces[worker], first, count, made);
            count_bins(job, counts, sizeof *made, made, count);
        }
    }
}

static void lay_out(const tml_context *tml, const tml_histogram_desc *desc, cpu_arena *arena,
                    histogram_job *job)
{
    uint32_t workers = cpu_workers(tml, tiles_of(desc->length.count));
    job->bins = desc->bins;
    job->lanes = desc->bins <= BINS_IN_LANES ? LANES : 1;
    job->stride = TML_ALIGN_UP((size_t)desc->bins + 1, (size_t)16); /* whole cache lines */
    job->counts =
        cpu_arena_take(arena, (uint64_t)workers * job->lanes * job->stride, sizeof *job->counts);
    if (desc->kernel)
        job->spaces = cpu_arena_take(arena, workers, sizeof *job->spaces);
}

static size_t histogram_scratch_size(tml_context *tml, const void *desc)
{
    cpu_arena arena = {0};
    histogram_job job;
    lay_out(tml, desc, &arena, &job);
    return arena.size;
}

static tml_status histogram_run(tml_context *tml, const void *argument, void *scratch, size_t size)
{
    const tml_histogram_desc *desc = argument;
    cpu_arena arena = {scratch, 0};
    const tml_slot *in = tml_slot_of(tml, desc->in[0]);
    histogram_job job = {.tml = tml, .length = cpu_length(tml, &desc->length)};
    (void)size;
    lay_out(tml, desc, &arena, &job);
    if (desc->kernel) {
        cpu_call_bind(tml, desc->kernel, &desc->params, desc->in, &job.call);
    } else {
        job.in = in->memory;
        job.in_size = in->element_size;
    }
    cpu_run_tiles(tml, &job.tickets, tiles_of(job.length), histogram_worker, &job);
    tml_status status = cpu_finish(tml, "tml_histogram");
    if (status)
        return status;
    uint32_t *out = cpu_memory(tml, desc->out);
    memset(out, 0, job.bins * sizeof *out);
    size_t copies = (size_t)cpu_workers(tml, tiles_of(job.length)) * job.lanes;
    for (size_t c = 0; c < copies; c++)
        for (size_t b = 0; b < job.bins; b++)
            out[b] += job.counts[c * job.stride + b];
    return TML_OK;
}

const tml_engine_op cpu_op_histogram = {.scratch_size = histogram_scratch_size,
                                        .run = histogram_run};
