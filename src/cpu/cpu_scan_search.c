/* SCAN_SEARCH: running counts by the scan of Hillis and Steele, then a binary search for each output.
 * After the pass of stride 2^p each element holds the sum of the last 2^(p + 1) elements that end with
 * it; log2(n) passes make that all of them. Twice the additions of a work-efficient scan for each
 * level, but each pass is a plain gather, which is all that a fragment shader has.
 *
 * After: Hillis, Steele: Data Parallel Algorithms. 1986; Horn: Stream Reduction Operations for GPGPU
 * Applications. GPU Gems 2, 2005. */
#include "cpu/cpu_internal.h"
#include "cpu/cpu_locate.h"

enum { TASK_ELEMENTS = 16384 };

typedef struct pass_job {
    const cpu_sum *in;
    cpu_sum *out;
    uint64_t count, stride;
    bool is_float;
} pass_job;

static void add_left(void *argument, uint32_t index)
{
    const pass_job *job = argument;
    uint64_t first = (uint64_t)index * TASK_ELEMENTS;
    uint64_t end = TML_MIN_OF(first + TASK_ELEMENTS, job->count);
    uint64_t i = first;
    for (; i < TML_MIN_OF(end, job->stride); i++)
        job->out[i] = job->in[i];
    if (job->is_float) {
        for (; i < end; i++)
            job->out[i].real = job->in[i - job->stride].real + job->in[i].real;
    } else {
        for (; i < end; i++)
            job->out[i].integer = job->in[i - job->stride].integer + job->in[i].integer;
    }
}

cpu_sum *cpu_hillis_steele(tml_context *tml, cpu_sum *a, cpu_sum *b, uint64_t count, bool is_float)
{
    pass_job job = {a, b, count, 1, is_float};
    uint32_t tasks = (uint32_t)((count + TASK_ELEMENTS - 1) / TASK_ELEMENTS);
    for (; job.stride < count; job.stride *= 2) {
        tml_parallel_for(tml, tasks, add_left, &job);
        cpu_sum *read = job.out;
        job.out = job.in == a ? a : b;
        job.in = read;
    }
    return job.in == a ? a : b;
}

/* ---- locating outputs ------------------------------------------------------------------------ */

typedef struct running_counts {
    const cpu_sum *sums; /* sums[s]: outputs of the sources 0 ... s */
    uint64_t source_count;
} running_counts;

static size_t scan_search_scratch_size(uint64_t source_count)
{
    return TML_ALIGNMENT + (size_t)source_count * sizeof(cpu_sum);
}

static uint64_t scan_search_build(tml_context *tml, uint64_t *counts, uint64_t source_count,
                                  void *scratch)
{
    cpu_sum *other = (cpu_sum *)((uint8_t *)scratch + TML_ALIGNMENT);
    running_counts *running = scratch;
    running->sums = cpu_hillis_steele(tml, (cpu_sum *)counts, other, source_count, false);
    running->source_count = source_count;
    return source_count ? running->sums[source_count - 1].integer : 0;
}

/* The first source whose running count is above the output. */
static void scan_search_locate(const void *scratch, uint64_t output, tml_index *source,
                               tml_rank *rank)
{
    const running_counts *running = scratch;
    uint64_t low = 0, high = running->source_count - 1;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (running->sums[middle].integer > output)
            high = middle;
        else
            low = middle + 1;
    }
    *source = low;
    *rank = (tml_rank)(output - (low ? running->sums[low - 1].integer : 0));
}

const cpu_locator cpu_scan_search = {true, scan_search_scratch_size, scan_search_build,
                                     scan_search_locate};
