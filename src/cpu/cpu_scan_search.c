/* SCAN_SEARCH: running counts by the scan of Hillis and Steele, then a binary search for each
 * output. After the pass of stride 2^p each element holds the sum of the last 2^(p + 1) elements
 * that end with it; log2(n) passes make that all of them. Twice the additions of a work-efficient
 * scan for each level, but each pass is a plain gather, which is all that a fragment shader has.
 *
 * After: Hillis, Steele: Data Parallel Algorithms. 1986; Horn: Stream Reduction Operations for
 * GPGPU Applications. GPU Gems 2, 2005. */
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
    uint32_t tasks = (uint32_t)TML_CEIL_DIV(count, TASK_ELEMENTS);
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

/* ---- tml_scan -------------------------------------------------------------------------------- */

typedef struct scan_job {
    const tml_slot *in, *out;
    uint64_t count;
    cpu_sum *elements;   /* in, widened */
    const cpu_sum *sums; /* inclusive */
    bool inclusive;
} scan_job;

static void widen_elements(void *argument, uint32_t index)
{
    const scan_job *job = argument;
    uint64_t first = (uint64_t)index * TASK_ELEMENTS;
    uint64_t end = TML_MIN_OF(first + TASK_ELEMENTS, job->count);
#define WIDEN(name, T, member, Wide)                                                               \
    case TML_##name:                                                                               \
        for (uint64_t i = first; i < end; i++)                                                     \
            job->elements[i].member = (Wide)((const T *)job->in->memory)[i];                       \
        break
    switch (job->in->type) {
        WIDEN(U8, uint8_t, integer, uint64_t);
        WIDEN(U16, uint16_t, integer, uint64_t);
        WIDEN(U32, uint32_t, integer, uint64_t);
        WIDEN(I32, int32_t, integer, uint64_t); /* sign-extends */
        WIDEN(U64, uint64_t, integer, uint64_t);
        WIDEN(I64, int64_t, integer, uint64_t);
        WIDEN(F32, float, real, double);
        WIDEN(F64, double, real, double);
    default:
        assert(!"widen_elements: no such scan");
    }
#undef WIDEN
}

/* sums, or zero before the first of an exclusive scan, as element i of a buffer. */
static void store_sum(const tml_slot *out, uint64_t i, cpu_sum sum)
{
    switch (out->type) {
    case TML_F32:
        ((float *)out->memory)[i] = (float)sum.real;
        break;
    case TML_F64:
        ((double *)out->memory)[i] = sum.real;
        break;
    case TML_U32:
    case TML_I32:
        ((uint32_t *)out->memory)[i] = (uint32_t)sum.integer;
        break;
    default:
        ((uint64_t *)out->memory)[i] = sum.integer;
    }
}

static void store_sums(void *argument, uint32_t index)
{
    const scan_job *job = argument;
    uint64_t first = (uint64_t)index * TASK_ELEMENTS;
    uint64_t end = TML_MIN_OF(first + TASK_ELEMENTS, job->count);
    for (uint64_t i = first; i < end; i++) {
        cpu_sum zero = {0}; /* of either type */
        store_sum(job->out, i, job->inclusive ? job->sums[i] : i ? job->sums[i - 1] : zero);
    }
}

static void lay_out(const tml_scan_desc *desc, cpu_arena *arena, cpu_sum **a, cpu_sum **b)
{
    *a = cpu_arena_take(arena, desc->length.count, sizeof **a);
    *b = cpu_arena_take(arena, desc->length.count, sizeof **b);
}

size_t cpu_hillis_steele_scan_scratch_size(tml_context *tml, const tml_scan_desc *desc)
{
    (void)tml;
    cpu_arena arena = {NULL, 0};
    cpu_sum *a, *b;
    lay_out(desc, &arena, &a, &b);
    return arena.size;
}

tml_status cpu_hillis_steele_scan(tml_context *tml, const tml_scan_desc *desc, void *scratch)
{
    scan_job job = {.in = tml_slot_of(tml, desc->in),
                    .out = tml_slot_of(tml, desc->out),
                    .count = cpu_length(tml, &desc->length),
                    .inclusive = desc->inclusive};
    cpu_arena arena = {scratch, 0};
    cpu_sum *other;
    lay_out(desc, &arena, &job.elements, &other);
    uint32_t tasks = (uint32_t)TML_CEIL_DIV(job.count, TASK_ELEMENTS);
    tml_parallel_for(tml, tasks, widen_elements, &job);
    job.sums =
        cpu_hillis_steele(tml, job.elements, other, job.count, tml_type_is_float(job.in->type));
    tml_parallel_for(tml, tasks, store_sums, &job);
    tml_status status = cpu_finish(tml, "tml_scan");
    const tml_slot *total = tml_slot_of(tml, desc->total);
    if (status == TML_OK && total)
        store_sum(total, 0, job.count ? job.sums[job.count - 1] : (cpu_sum){0});
    return status;
}
