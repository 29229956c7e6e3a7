/* A radix sort of points into bins on the sample grid, in two stable steps, which keep source order
 * for any number of tasks.
 *
 * First chunks of points are scattered to buckets, ranges of bins: each chunk counts its points by
 * bucket, and an exclusive scan over buckets and chunks gives it a place in each bucket. Then each
 * bucket is sorted by bin on its own; its counts and points fit a core's cache. */
#include <math.h>
#include <string.h>

#include "field/field_internal.h"
#include "kernels/real64_host.h"

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/field.k.h"
#include "kernels/real64_bins.k.h"

#include "kernels/kernel_end.h"

_Static_assert(FIELD_BINS_LEVELS + FIELD_BINS_LEVEL * FIELD_MAX_LEVELS == FIELD_PLAN_WORDS &&
                   FIELD_BINS_LEVELS == FIELD_PLAN_LEVELS,
               "the plan's words are numbered otherwise");

/* A level has at most BINS_A_POINT bins a point, of many points half as many, or MIN_BINS. Bins stay brick-sized where
 * points are dense or many, and a few points in a huge grid cost kilobytes. */
enum { BINS_A_POINT = 8, MIN_BINS = 4096, MANY_BINS = 1 << 22 };

/* Chunks have at least CHUNK_POINTS, and buckets at least BUCKET_POINTS on average. */
enum { CHUNK_POINTS = 1 << 14, MAX_CHUNKS = 256, BUCKET_POINTS = 256, MAX_BUCKETS = 1024 };

/* A sorted entry is a point's number and, from this bit on, its bin's in the bucket. Points are
 * prefetched that many entries ahead. */
enum { ENTRY_BIN_SHIFT = 44, ENTRIES_AHEAD = 16 };

/* A reach below this many samples meets a sample only by rounding. */
static const double smallest_reach = 0x1p-20;

/* Added to a level's support, relative and in samples. So rounding to float never hides a point's
 * bin from one brick that another brick finds. */
static const double support_slack = 0x1p-9;

typedef struct plan_job {
    field_plan *plan;
    const float *points;
    const float *radii;     /* NULL: the desc's radius for all */
    const float *densities; /* NULL: none */
    const float *shapes[2]; /* likewise */
    double steps[3][3];     /* along the grid's axes */
    bool is_ordered;
    uint64_t count;
    uint64_t chunk_count;
    double reaches[MAX_CHUNKS][2]; /* smallest and largest of each chunk's that are not 0 */
    uint32_t *keys;                /* bin of each point */
    uint32_t bucket_log2;          /* bins of a bucket */
    uint64_t bucket_count;
    uint64_t *places;  /* [chunk][bucket]: its points, then where the next of them goes */
    uint64_t *buckets; /* bucket_count + 1: points before each */
    uint64_t *entries; /* by bucket */
} plan_job;

static tml_words words_of(const float *floats)
{
    return (tml_words)(const void *)floats;
}

static double reach_of(const plan_job *job, uint64_t i)
{
    return field_reach(job->plan->words, words_of(job->radii), i);
}

/* Of a point that is not ignored. */
static field_binned binned(const plan_job *job, uint64_t i, double reach)
{
    return field_bin_of(job->plan->words, words_of(job->points), i, reach);
}

static uint32_t key_of(const plan_job *job, uint64_t i)
{
    double reach = reach_of(job, i);
    return reach > 0.0 ? binned(job, i, reach).bin : job->plan->words[FIELD_BINS_NONE];
}

/* The first point of a chunk, or the end of the one before it. */
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

/* The point of an entry, placed in its bin. */
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

/* Sorts a bucket. starts[b] is the number of bin b's points, then where its next point goes, at last
 * its first point. */
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
    memmove(starts + 1, starts, (bins - 1) * sizeof *starts); /* each is the next one's first */
    starts[0] = first;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void put_doubles(field_plan *plan, uint32_t at, const double *values, size_t count)
{
    memcpy(plan->words + at, values, count * sizeof *values);
}

static void grid_steps(const tml_grid *grid, double steps[3][3])
{
    for (int a = 0; a < 3; a++)
        for (int row = 0; row < 3; row++)
            steps[a][row] = grid->direction[3 * row + a] * grid->spacing[a];
}

void field_frame_of(double step[3][3], field_frame *out)
{
    out->xx = sqrt(dot(step[0], step[0]));
    out->xy = dot(step[0], step[1]) / out->xx;
    out->xz = dot(step[0], step[2]) / out->xx;
    for (int a = 0; a < 3; a++) {
        step[1][a] -= out->xy * step[0][a] / out->xx;
        step[2][a] -= out->xz * step[0][a] / out->xx;
    }
    out->yy = sqrt(dot(step[1], step[1]));
    out->yz = dot(step[1], step[2]) / out->yy;
    for (int a = 0; a < 3; a++)
        step[2][a] -= out->yz * step[1][a] / out->yy;
    out->zz = sqrt(dot(step[2], step[2]));
}

/* Sets the matrix from world to samples, the extents, and the frame. */
static void plan_frame(field_plan *plan, const tml_grid *grid)
{
    double matrix[9], inverse[9], step[3][3];
    grid_steps(grid, step);
    for (int i = 0; i < 9; i++)
        matrix[i] = step[i % 3][i / 3];
    field_invert(matrix, inverse);
    double widest = 0.0, last[3];
    for (int a = 0; a < 3; a++) {
        const double *row = inverse + 3 * a;
        plan->extent[a] = sqrt(dot(row, row));
        widest = fmax(widest, plan->extent[a]);
        last[a] = (double)(int64_t)(plan->dims[a] - 1);
    }
    put_doubles(plan, FIELD_BINS_INVERSE, inverse, 9);
    put_doubles(plan, FIELD_BINS_ORIGIN, grid->origin, 3);
    put_doubles(plan, FIELD_BINS_EXTENT, plan->extent, 3);
    put_doubles(plan, FIELD_BINS_LAST, last, 3);
    put_doubles(plan, FIELD_BINS_WIDEST, &widest, 1);

    field_frame_of(step, &plan->frame);
    /* Rounding of a pure rotation becomes exactly 0: engines have a faster path without shear. */
    double *sheared[] = {&plan->frame.xy, &plan->frame.xz, &plan->frame.yz};
    for (size_t i = 0; i < TML_ARRAY_SIZE(sheared); i++)
        if (fabs(*sheared[i]) < 1e-12 * plan->frame.xx)
            *sheared[i] = 0.0;
}

/* Bins of a level of points up to reach: the smallest cubes of at least a brick, wider than a
 * quarter of the support, and at most max_bins. A brick reads at most 10 bins along an axis. */
static void plan_level(field_plan *plan, field_level *level, double reach, uint64_t max_bins)
{
    double narrowest = INFINITY;
    level->reach = reach;
    for (int a = 0; a < 3; a++) {
        level->support[a] = reach * plan->extent[a] * (1.0 + support_slack) + support_slack;
        narrowest = fmin(narrowest, level->support[a]);
    }
    level->first_bin = plan->bin_count;
    level->edge_log2 = FIELD_BRICK_LOG2;
    for (uint64_t bins;; level->edge_log2++) {
        uint64_t edge = (uint64_t)1 << level->edge_log2;
        bins = 1;
        for (int a = 0; a < 3; a++) {
            level->bins[a] = (plan->dims[a] - 1) / edge + 1;
            bins *= level->bins[a];
        }
        if (bins == 1 || (bins <= max_bins && 4.0 * (double)edge > narrowest)) {
            plan->bin_count += bins;
            return;
        }
    }
}

static void put_level(field_plan *plan, uint32_t l)
{
    const field_level *level = &plan->levels[l];
    uint32_t *to = plan->words + FIELD_BINS_LEVELS + FIELD_BINS_LEVEL * l;
    to[0] = (uint32_t)level->first_bin;
    to[1] = level->edge_log2;
    for (int a = 0; a < 3; a++) {
        to[2 + a] = (uint32_t)level->bins[a];
        to[5 + a] = (uint32_t)fmin(ceil(level->support[a]), (double)plan->dims[a]);
    }
}

/* Makes the levels that reaches from smallest to largest need, for that many points at most. None if none is near. The
 * last one is where reaches are at most a brick, whose bins are as small as bins are. */
static void plan_levels(field_plan *plan, double smallest, double largest, uint64_t bound)
{
    bound = TML_MIN_OF(bound, (uint64_t)FIELD_MAX_BINS);
    uint64_t max_bins =
        TML_MIN_OF(BINS_A_POINT * bound, TML_MAX_OF((uint64_t)MANY_BINS, BINS_A_POINT / 2 * bound));
    max_bins = TML_MIN_OF(max_bins, (uint64_t)FIELD_MAX_BINS);
    max_bins = TML_MAX_OF(max_bins, (uint64_t)MIN_BINS);
    put_doubles(plan, FIELD_BINS_LARGEST, &largest, 1);
    double widest, reach = largest;
    memcpy(&widest, plan->words + FIELD_BINS_WIDEST, sizeof widest);
    uint32_t most = 1;
    for (; most < FIELD_MAX_LEVELS && reach * widest > FIELD_BRICK; reach /= 4.0)
        most++;
    plan->words[FIELD_BINS_COUNT] = most;
    plan->level_count =
        smallest <= largest ? field_level_of(plan->words, real64_to_float(smallest)) + 1 : 0;
    plan->words[FIELD_BINS_COUNT] = plan->level_count;
    for (uint32_t l = 0; l < plan->level_count; l++, largest /= 4.0) {
        plan_level(plan, &plan->levels[l], largest, max_bins);
        put_level(plan, l);
    }
    plan->words[FIELD_BINS_NONE] = (uint32_t)plan->bin_count;
}

/* The smallest and the largest reach of points that have radii. */
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

/* Divides the bins into buckets. A bucket's bins are told apart by 20 bits: there are at most
 * FIELD_MAX_LEVELS * FIELD_MAX_BINS bins for as many points that MAX_BUCKETS are made, and at most
 * FIELD_MAX_LEVELS * BINS_A_POINT a point for fewer. */
static void plan_buckets(plan_job *job)
{
    uint64_t most = TML_MIN_OF(job->count / BUCKET_POINTS + 1, (uint64_t)MAX_BUCKETS);
    uint64_t bins = job->plan->bin_count;
    while (TML_CEIL_DIV(bins, (uint64_t)1 << job->bucket_log2) > most)
        job->bucket_log2++;
    job->bucket_count = TML_CEIL_DIV(bins, (uint64_t)1 << job->bucket_log2);
    assert(job->bucket_log2 <= 64 - ENTRY_BIN_SHIFT && job->count >> ENTRY_BIN_SHIFT == 0);
}

/* Sorts the points of job into bins. Needs the frame and the levels. */
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

/* Copies the plan to the device. Device engines refuse more points than u32 counts. */
static tml_status copy_to_device(tml_context *tml, field_plan *plan)
{
    tml_status status = tml_buffer_create(
        tml,
        &(tml_buffer_desc){
            .type = TML_U32, .count = FIELD_PLAN_WORDS, .data = plan->words, .label = "field plan"},
        &plan->device.words);
    if (status == TML_OK)
        status = copy_starts(tml, plan);
    if (status == TML_OK)
        status = tml_buffer_create(tml,
                                   &(tml_buffer_desc){.type = TML_RECORD(sizeof *plan->points),
                                                      .count = plan->point_count,
                                                      .data = plan->points,
                                                      .label = "field points"},
                                   &plan->device.points);
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
    if (status == TML_OK)
        status = tml_buffer_create(tml,
                                   &(tml_buffer_desc){.type = TML_U32,
                                                      .count = 1 + plan->device.brick_room,
                                                      .label = "field bricks"},
                                   &plan->device.bricks);
    return status;
}

/* ---- the plan -------------------------------------------------------------------------------- */

void field_plan_begin(const tml_field_desc *resolved, field_plan *plan)
{
    *plan = (field_plan){.background = 0.0f};
    memcpy(plan->dims, resolved->grid.dims, sizeof plan->dims);
    bool distance = resolved->kind == TML_FIELD_DISTANCE;
    _Static_assert((int)TML_FIELD_WENDLAND_C2 == FIELD_WENDLAND_C2 &&
                       (int)TML_FIELD_POLY6 == FIELD_POLY6 &&
                       (int)TML_FIELD_METABALL == FIELD_METABALL &&
                       (int)TML_FIELD_CUBIC_SPLINE == FIELD_SPLINE,
                   "the kernels are numbered otherwise");
    plan->formula = distance ? FIELD_DISTANCE : (int)resolved->kernel;
    plan->margin = distance ? (float)resolved->margin : 0.0f;
    plan->background = -plan->margin + 0.0f; /* 0, not -0 */
    uint64_t layer = field_bricks_along(plan->dims[0]) * field_bricks_along(plan->dims[1]);
    uint64_t bricks = layer * field_bricks_along(plan->dims[2]);
    plan->device.brick_room = TML_MAX_OF(layer, TML_MIN_OF(bricks, (uint64_t)FIELD_LIST_BRICKS));

    const double radius = tml_buffer_is_none(resolved->radii) ? resolved->radius : 0.0;
    const double margin = (double)plan->margin;
    const double lengths[2] = {FIELD_MIN_LENGTH, FIELD_MAX_LENGTH}, no_limit = INFINITY;
    put_doubles(plan, FIELD_BINS_RADIUS, &radius, 1);
    put_doubles(plan, FIELD_BINS_MARGIN, &margin, 1);
    put_doubles(plan, FIELD_BINS_LEAST, lengths, 2);
    put_doubles(plan, FIELD_BINS_NEAR, &smallest_reach, 1);
    put_doubles(plan, FIELD_BINS_LARGEST, &no_limit, 1);
    plan_frame(plan, &resolved->grid);
}

void field_plan_known(const tml_field_desc *resolved, field_plan *plan)
{
    const double reach = field_reach_of(plan->words, resolved->radius);
    const double least = tml_buffer_is_none(resolved->radii) ? reach : (double)plan->margin;
    plan_levels(plan, reach > 0.0 ? least : INFINITY, reach, resolved->length.count);
}

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
    grid_steps(&resolved->grid, job.steps);
    job.count = input.count;
    job.chunk_count = TML_MIN_OF(TML_CEIL_DIV(job.count, CHUNK_POINTS), (uint64_t)MAX_CHUNKS);
    if (resolved->radius > 0.0) {
        field_plan_known(resolved, plan);
    } else {
        double smallest = INFINITY, largest = 0.0;
        find_reaches(tml, &job, &smallest, &largest);
        plan_levels(plan, smallest, largest, resolved->length.count);
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
    if (status == TML_ERROR_OUT_OF_DEVICE_MEMORY) { /* of which the host's way takes less */
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

void field_level_reach(const field_level *level, int axis, uint64_t first, uint64_t last,
                       uint64_t *bin_first, uint64_t *bin_last)
{
    uint32_t bins = (uint32_t)level->bins[axis];
    *bin_first = field_bin_along((double)first - level->support[axis], level->edge_log2, bins);
    *bin_last = field_bin_along((double)last + level->support[axis], level->edge_log2, bins);
}

float field_background(const field_plan *plan)
{
    return plan->background;
}

bool field_slab_is_empty(const field_plan *plan, uint64_t z_first, uint64_t z_count)
{
    if (!plan->starts && plan->level_count > 0)
        return false;
    for (uint32_t l = 0; l < plan->level_count && z_count > 0; l++) {
        const field_level *level = &plan->levels[l];
        uint64_t first, last, layer = level->bins[0] * level->bins[1];
        field_level_reach(level, 2, z_first, z_first + z_count - 1, &first, &last);
        if (plan->starts[level->first_bin + first * layer] !=
            plan->starts[level->first_bin + (last + 1) * layer])
            return false;
    }
    return true;
}
