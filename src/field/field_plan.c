/* Sorts points into bins on the host: a radix sort in two stable steps, so that the points of a bin
 * stay in source order for any number of tasks.
 *
 * 1. Chunks of points are scattered to buckets, which are ranges of bins. Each chunk counts its
 *    points per bucket. An exclusive scan over buckets and chunks gives each chunk a place in each
 *    bucket.
 * 2. Each bucket is sorted by bin. Its counts and points fit a core's cache. */
#include <math.h>
#include <string.h>

#include "field/field_internal.h"
#include "kernels/real64_host.h"

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/field.k.h"
#include "kernels/real64_bins.k.h"

#include "kernels/kernel_end.h"

/* Chunks have at least CHUNK_POINTS, and buckets at least BUCKET_POINTS on average. */
enum { CHUNK_POINTS = 1 << 14, MAX_CHUNKS = 256, BUCKET_POINTS = 256, MAX_BUCKETS = 1024 };

/* The low bits of a sorted entry are a point's number. From bit ENTRY_BIN_SHIFT on it has the bin's
 * number in the bucket. Points are prefetched ENTRIES_AHEAD entries ahead. */
enum { ENTRY_BIN_SHIFT = 44, ENTRIES_AHEAD = 16 };

typedef struct plan_job {
    field_plan *plan;
    const float *points;
    const float *radii;     /* NULL: all points have the desc's radius */
    const float *densities; /* NULL: none */
    const float *shapes[2]; /* NULL: none */
    double steps[3][3];     /* the grid's, field_grid_steps */
    bool is_ordered;
    uint64_t count;
    uint64_t chunk_count;
    double reaches[MAX_CHUNKS][2]; /* smallest and largest reach per chunk, without zeros */
    uint32_t *keys;                /* the bin of each point */
    uint32_t bucket_log2;          /* log2 of the bins per bucket */
    uint64_t bucket_count;
    uint64_t *places;  /* [chunk][bucket]: a count of points, then the index of the next one */
    uint64_t *buckets; /* bucket_count + 1: the number of points before each bucket */
    uint64_t *entries; /* bucket by bucket */
} plan_job;

static tml_words words_of(const float *floats)
{
    return (tml_words)(const void *)floats;
}

static double reach_of(const plan_job *job, uint64_t i)
{
    return field_reach(job->plan->words, words_of(job->radii), i);
}

/* Places a point that is not ignored. */
static field_binned binned(const plan_job *job, uint64_t i, double reach)
{
    return field_bin_of(job->plan->words, words_of(job->points), i, reach);
}

static uint32_t key_of(const plan_job *job, uint64_t i)
{
    double reach = reach_of(job, i);
    return reach > 0.0 ? binned(job, i, reach).bin : job->plan->words[FIELD_BINS_NONE];
}

/* The first point of a chunk. It is also the end of the chunk before. */
static uint64_t chunk_first(const plan_job *job, uint64_t chunk)
{
    uint64_t each = TML_CEIL_DIV(job->count, TML_MAX_OF(job->chunk_count, (uint64_t)1));
    return TML_MIN_OF(chunk * each, job->count);
}

static void reach_task(void *argument, uint32_t chunk)
{
    plan_job *job = argument;
    double smallest = INFINITY, largest = 0.0;
    for (uint64_t i = chunk_first(job, chunk); i < chunk_first(job, chunk + 1); i++) {
        double reach = reach_of(job, i);
        smallest = reach > 0.0 ? fmin(smallest, reach) : smallest;
        largest = fmax(largest, reach);
    }
    job->reaches[chunk][0] = smallest;
    job->reaches[chunk][1] = largest;
}

static void key_task(void *argument, uint32_t chunk)
{
    plan_job *job = argument;
    uint64_t *counts = job->places + chunk * job->bucket_count;
    uint32_t none = job->plan->words[FIELD_BINS_NONE];
    memset(counts, 0, job->bucket_count * sizeof *counts);
    for (uint64_t i = chunk_first(job, chunk); i < chunk_first(job, chunk + 1); i++) {
        uint32_t key = key_of(job, i);
        job->keys[i] = key;
        if (key != none)
            counts[key >> job->bucket_log2]++;
    }
}

static void scan_places(plan_job *job)
{
    uint64_t sum = 0;
    for (uint64_t b = 0; b < job->bucket_count; b++) {
        job->buckets[b] = sum;
        for (uint64_t chunk = 0; chunk < job->chunk_count; chunk++) {
            uint64_t *place = &job->places[chunk * job->bucket_count + b], count = *place;
            *place = sum;
            sum += count;
        }
    }
    job->buckets[job->bucket_count] = job->plan->point_count = sum;
}

static void scatter_task(void *argument, uint32_t chunk)
{
    plan_job *job = argument;
    uint64_t *places = job->places + chunk * job->bucket_count;
    uint32_t mask = ((uint32_t)1 << job->bucket_log2) - 1;
    for (uint64_t i = chunk_first(job, chunk); i < chunk_first(job, chunk + 1); i++) {
        uint32_t key = job->keys[i];
        if (key != job->plan->words[FIELD_BINS_NONE])
            job->entries[places[key >> job->bucket_log2]++] =
                (uint64_t)(key & mask) << ENTRY_BIN_SHIFT | i;
    }
}

/* The record of point i, relative to its bin. */
static field_point point_of(const plan_job *job, uint64_t i)
{
    tml_uvec4 record = binned(job, i, reach_of(job, i)).record;
    field_point point;
    _Static_assert(sizeof point == sizeof record, "its bits");
    memcpy(&point, &record, sizeof point);
    return point;
}

static field_shape_record shape_of(const plan_job *job, uint64_t i, double reach)
{
    return field_shape_record_of(job->steps, job->shapes[0] + 3 * i, job->shapes[1] + 3 * i, reach,
                                 job->densities ? field_share(job->densities[i]) : 1.0f);
}

static uint64_t number_of(uint64_t entry)
{
    return entry & (((uint64_t)1 << ENTRY_BIN_SHIFT) - 1);
}

/* Sorts a bucket. starts[b] is first the number of points in bin b, then the place of its next
 * point, and finally the place of its first point. */
static void bucket_task(void *argument, uint32_t bucket)
{
    plan_job *job = argument;
    field_plan *plan = job->plan;
    uint64_t first_bin = (uint64_t)bucket << job->bucket_log2;
    uint64_t bins = TML_MIN_OF((uint64_t)1 << job->bucket_log2, plan->bin_count - first_bin);
    uint64_t first = job->buckets[bucket], end = job->buckets[bucket + 1], sum = first;
    uint64_t *starts = plan->starts + first_bin;
    memset(starts, 0, bins * sizeof *starts);
    for (uint64_t k = first; k < end; k++)
        starts[job->entries[k] >> ENTRY_BIN_SHIFT]++;
    for (uint64_t b = 0; b < bins; b++) {
        uint64_t count = starts[b];
        starts[b] = sum;
        sum += count;
    }
    for (uint64_t k = first; k < end; k++) {
        uint64_t ahead = number_of(job->entries[TML_MIN_OF(k + ENTRIES_AHEAD, end - 1)]);
        __builtin_prefetch(job->points + 3 * ahead);
        if (job->radii)
            __builtin_prefetch(job->radii + ahead);
        if (job->densities)
            __builtin_prefetch(job->densities + ahead);
        for (int i = 0; i < 2 && job->shapes[i]; i++)
            __builtin_prefetch(job->shapes[i] + 3 * ahead);
        uint64_t place = starts[job->entries[k] >> ENTRY_BIN_SHIFT]++;
        plan->points[place] = point_of(job, number_of(job->entries[k]));
        if (plan->densities)
            plan->densities[place] = job->densities[number_of(job->entries[k])];
        if (FIELD_HAS_WEIGHTS && plan->shapes)
            plan->shapes[place] =
                shape_of(job, number_of(job->entries[k]), (double)plan->points[place].reach);
        if (job->is_ordered)
            plan->order[place] = (uint32_t)number_of(job->entries[k]);
    }
    memmove(starts + 1, starts, (bins - 1) * sizeof *starts); /* a bin's end: the next's start */
    starts[0] = first;
}

/* Finds the smallest and the largest reach of points with radii. */
static void find_reaches(tml_context *tml, plan_job *job, double *smallest, double *largest)
{
    tml_parallel_for(tml, (uint32_t)job->chunk_count, reach_task, job);
    for (uint64_t c = 0; c < job->chunk_count; c++) {
        *smallest = fmin(*smallest, job->reaches[c][0]);
        *largest = fmax(*largest, job->reaches[c][1]);
    }
}

static tml_status no_memory(tml_context *tml, uint64_t size, const char *what)
{
    return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "tml_field: no memory for %llu bytes of %s",
                     (unsigned long long)size, what);
}

/* Divides the bins into buckets. A bin's number in its bucket fits 20 bits: with enough points for
 * MAX_BUCKETS there are at most FIELD_MAX_LEVELS * FIELD_MAX_BINS bins, and with fewer points at
 * most FIELD_MAX_LEVELS * BINS_A_POINT per point. */
static void plan_buckets(plan_job *job)
{
    uint64_t most = TML_MIN_OF(job->count / BUCKET_POINTS + 1, (uint64_t)MAX_BUCKETS);
    uint64_t bins = job->plan->bin_count;
    while (TML_CEIL_DIV(bins, (uint64_t)1 << job->bucket_log2) > most)
        job->bucket_log2++;
    job->bucket_count = TML_CEIL_DIV(bins, (uint64_t)1 << job->bucket_log2);
    assert(job->bucket_log2 <= 64 - ENTRY_BIN_SHIFT && job->count >> ENTRY_BIN_SHIFT == 0);
}

/* Sorts the job's points into bins. The plan has its frame and levels. */
static tml_status plan_sort(tml_context *tml, plan_job *job)
{
    field_plan *plan = job->plan;
    plan_buckets(job);
    uint64_t places = job->chunk_count * job->bucket_count;
    size_t starts_size = (plan->bin_count + 1) * sizeof *plan->starts;
    size_t keys_size = job->count * sizeof *job->keys;
    size_t tables_size = (places + job->bucket_count + 1) * sizeof *job->places;
    plan->starts = tml_alloc_array(tml, plan->bin_count + 1, sizeof *plan->starts);
    if (!plan->starts)
        return no_memory(tml, starts_size, "bins");
    job->keys = tml_alloc_array(tml, job->count, sizeof *job->keys);
    job->places = tml_alloc_array(tml, places + job->bucket_count + 1, sizeof *job->places);
    size_t entries_size = 0;
    tml_status status = TML_OK;
    if ((!job->keys && job->count) || !job->places)
        status = no_memory(tml, keys_size + tables_size, "bin numbers");
    if (status == TML_OK) {
        job->buckets = job->places + places;
        tml_parallel_for(tml, (uint32_t)job->chunk_count, key_task, job);
        scan_places(job);
        entries_size = plan->point_count * sizeof *job->entries;
        job->entries = tml_alloc_array(tml, plan->point_count, sizeof *job->entries);
        if (!job->entries && entries_size)
            status = no_memory(tml, entries_size, "sorted points' numbers");
    }
    if (status == TML_OK)
        tml_parallel_for(tml, (uint32_t)job->chunk_count, scatter_task, job);
    tml_free(tml, job->keys, keys_size);
    if (status == TML_OK) {
        plan->points = tml_alloc_array(tml, plan->point_count, sizeof *plan->points);
        bool has_shapes = FIELD_HAS_WEIGHTS && job->shapes[0];
        bool has_densities = FIELD_HAS_WEIGHTS && job->densities && !has_shapes;
        if (has_densities)
            plan->densities = tml_alloc_array(tml, plan->point_count, sizeof *plan->densities);
        if (has_shapes)
            plan->shapes = tml_alloc_array(tml, plan->point_count, sizeof *plan->shapes);
        if (job->is_ordered)
            plan->order = tml_alloc_array(tml, plan->point_count, sizeof *plan->order);
        if (plan->point_count &&
            (!plan->points || (has_densities && !plan->densities) ||
             (has_shapes && !plan->shapes) || (job->is_ordered && !plan->order)))
            status = no_memory(tml, plan->point_count * sizeof *plan->points, "binned points");
    }
    if (status == TML_OK)
        tml_parallel_for(tml, (uint32_t)job->bucket_count, bucket_task, job);
    plan->starts[plan->bin_count] = plan->point_count;
    tml_free(tml, job->entries, entries_size);
    tml_free(tml, job->places, tables_size);
    return status;
}

/* ---- copies on the device -------------------------------------------------------------------- */

static tml_status copy_starts(tml_context *tml, field_plan *plan)
{
    uint64_t count = plan->bin_count + 1;
    uint32_t *narrow = tml_alloc_array(tml, count, sizeof *narrow);
    if (!narrow)
        return no_memory(tml, count * sizeof *narrow, "bins");
    for (uint64_t b = 0; b < count; b++)
        narrow[b] = (uint32_t)plan->starts[b];
    tml_status status = tml_buffer_create(
        tml,
        &(tml_buffer_desc){.type = TML_U32, .count = count, .data = narrow, .label = "field bins"},
        &plan->device.starts);
    tml_free(tml, narrow, count * sizeof *narrow);
    return status;
}

/* Copies the plan to the device. Engines of devices refuse plans with more points than u32
 * counts. */
static tml_status copy_to_device(tml_context *tml, field_plan *plan)
{
    tml_status status = tml_buffer_create(
        tml,
        &(tml_buffer_desc){
            .type = TML_U32, .count = FIELD_PLAN_WORDS, .data = plan->words, .label = "field plan"},
        &plan->device.words);
    TML_THEN(status, copy_starts(tml, plan));
    TML_THEN(status, tml_buffer_create(tml,
                                       &(tml_buffer_desc){.type = TML_RECORD(sizeof *plan->points),
                                                          .count = plan->point_count,
                                                          .data = plan->points,
                                                          .label = "field points"},
                                       &plan->device.points));
    if (status == TML_OK && plan->densities)
        status = tml_buffer_create(tml,
                                   &(tml_buffer_desc){.type = TML_F32,
                                                      .count = plan->point_count,
                                                      .data = plan->densities,
                                                      .label = "field densities"},
                                   &plan->device.densities);
    _Static_assert(sizeof *plan->shapes == FIELD_SHAPE_WORDS * sizeof(float), "floats alone");
    if (status == TML_OK && plan->shapes)
        status =
            tml_buffer_create(tml,
                              &(tml_buffer_desc){.type = TML_F32,
                                                 .count = FIELD_SHAPE_WORDS * plan->point_count,
                                                 .data = plan->shapes,
                                                 .label = "field shapes"},
                              &plan->device.shapes);
    TML_THEN(status, tml_buffer_create(tml,
                                       &(tml_buffer_desc){.type = TML_U32,
                                                          .count = 1 + plan->device.brick_room,
                                                          .label = "field bricks"},
                                       &plan->device.bricks));
    return status;
}

/* ---- the plan -------------------------------------------------------------------------------- */

static tml_status plan_points(tml_context *tml, const tml_field_desc *resolved, bool is_ordered,
                              field_plan *plan)
{
    plan_job job = {.plan = plan, .is_ordered = is_ordered};
    field_input input;
    tml_status status = field_map(tml, resolved, &input);
    if (status != TML_OK)
        return status;
    job.points = input.points;
    job.radii = input.radii;
    job.densities = input.densities;
    memcpy(job.shapes, input.shapes, sizeof job.shapes);
    field_grid_steps(&resolved->grid, job.steps);
    job.count = input.count;
    job.chunk_count = TML_MIN_OF(TML_CEIL_DIV(job.count, CHUNK_POINTS), (uint64_t)MAX_CHUNKS);
    if (resolved->radius > 0.0) {
        field_plan_known(resolved, plan);
    } else {
        double smallest = INFINITY, largest = 0.0;
        find_reaches(tml, &job, &smallest, &largest);
        field_plan_levels(plan, smallest, largest, resolved->length.count);
    }
    status = plan_sort(tml, &job);
    field_unmap(tml, resolved);
    return status;
}

static void destroy_buffers(tml_context *tml, field_plan *plan)
{
    tml_buffer_destroy(tml, plan->device.points);
    tml_buffer_destroy(tml, plan->device.densities);
    tml_buffer_destroy(tml, plan->device.shapes);
    tml_buffer_destroy(tml, plan->device.starts);
    tml_buffer_destroy(tml, plan->device.words);
    tml_buffer_destroy(tml, plan->device.bricks);
}

static tml_status create_plan(tml_context *tml, const tml_field_desc *resolved, bool is_ordered,
                              field_plan **out)
{
    *out = NULL;
    field_plan *plan = tml_alloc(tml, sizeof *plan);
    if (!plan)
        return no_memory(tml, sizeof *plan, "plan");
    field_plan_begin(resolved, plan);
    tml_status status = TML_ERROR_OUT_OF_DEVICE_MEMORY;
    if (field_bins_on_device(tml, resolved))
        status = field_plan_bin(tml, resolved, plan);
    if (status == TML_ERROR_OUT_OF_DEVICE_MEMORY) { /* the host's way needs less */
        destroy_buffers(tml, plan);
        field_plan_begin(resolved, plan);
        status = plan_points(tml, resolved, is_ordered, plan);
        if (status == TML_OK && !tml->engine->is_host)
            status = copy_to_device(tml, plan);
    }
    if (status != TML_OK) {
        field_plan_destroy(tml, plan);
        return status;
    }
    *out = plan;
    return TML_OK;
}

tml_status field_plan_create(tml_context *tml, const tml_field_desc *resolved, field_plan **out)
{
    return create_plan(tml, resolved, false, out);
}

tml_status field_plan_create_ordered(tml_context *tml, const tml_field_desc *resolved,
                                     field_plan **out)
{
    return create_plan(tml, resolved, true, out);
}

void field_plan_destroy(tml_context *tml, field_plan *plan)
{
    if (!plan)
        return;
    destroy_buffers(tml, plan);
    tml_free(tml, plan->points, plan->point_count * sizeof *plan->points);
    tml_free(tml, plan->densities, plan->point_count * sizeof *plan->densities);
    tml_free(tml, plan->shapes, plan->point_count * sizeof *plan->shapes);
    tml_free(tml, plan->order, plan->point_count * sizeof *plan->order);
    tml_free(tml, plan->starts, (plan->bin_count + 1) * sizeof *plan->starts);
    tml_free(tml, plan, sizeof *plan);
}
