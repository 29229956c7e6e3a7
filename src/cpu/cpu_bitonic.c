/* BITONIC: sorts the rejected to the end. Each source becomes a key, its index when it is kept and
 * a null above every index when it is not; a bitonic sorting network over the keys then leaves the
 * kept sources in order at the front. About n log2(n)^2 / 4 comparisons where the others need n or
 * n log n: here for comparison only, as the method that the first GPU compactions used.
 *
 * After: Batcher: Sorting networks and their applications. 1968. */
#include "cpu/cpu_locate.h"

enum { TASK_PAIRS = 16384 };

static const uint64_t null_key = UINT64_MAX;

/* A network has a power of two of wires. */
static uint64_t wires_for(uint64_t source_count)
{
    uint64_t wires = 1;
    while (wires < source_count)
        wires *= 2;
    return wires;
}

static size_t bitonic_scratch_size(uint64_t source_count)
{
    return (size_t)wires_for(source_count) * sizeof(uint64_t);
}

typedef struct step_job {
    uint64_t *keys;
    uint64_t pairs;
    uint64_t run;    /* length of the sequences that this stage makes monotonic */
    uint64_t stride; /* distance of the wires compared in this step */
} step_job;

static void compare_exchange(void *argument, uint32_t index)
{
    const step_job *job = argument;
    uint64_t first = (uint64_t)index * TASK_PAIRS;
    uint64_t end = TML_MIN_OF(first + TASK_PAIRS, job->pairs);
    for (uint64_t pair = first; pair < end; pair++) {
        uint64_t low_bits = pair & (job->stride - 1);
        uint64_t a = 2 * (pair - low_bits) + low_bits, b = a + job->stride;
        bool ascending = (a & job->run) == 0;
        uint64_t x = job->keys[a], y = job->keys[b];
        bool swap = (x > y) == ascending;
        job->keys[a] = swap ? y : x;
        job->keys[b] = swap ? x : y;
    }
}

static uint64_t bitonic_build(tml_context *tml, uint64_t *counts, uint64_t source_count,
                              void *scratch)
{
    uint64_t *keys = scratch, wires = wires_for(source_count), kept = 0;
    for (uint64_t i = 0; i < wires; i++) {
        bool keep = i < source_count && counts[i] != 0;
        keys[i] = keep ? i : null_key;
        kept += keep;
    }
    step_job job = {.keys = keys, .pairs = wires / 2};
    uint32_t tasks = (uint32_t)TML_CEIL_DIV(job.pairs, TASK_PAIRS);
    for (job.run = 2; job.run <= wires; job.run *= 2)
        for (job.stride = job.run / 2; job.stride > 0; job.stride /= 2)
            tml_parallel_for(tml, tasks, compare_exchange, &job);
    return kept;
}

static void bitonic_locate(const void *scratch, uint64_t output, tml_index *source, tml_rank *rank)
{
    const uint64_t *keys = scratch;
    *source = keys[output];
    *rank = 0;
}

const cpu_locator cpu_bitonic = {false, bitonic_scratch_size, bitonic_build, bitonic_locate};
