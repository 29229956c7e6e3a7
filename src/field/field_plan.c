/* Counting sort of points into bins on the sample grid: count, exclusive scan, stable scatter.
 *
 * Each task owns a range of bins and reads the keys of all points. So the scatter needs no atomics
 * and keeps source order for any number of tasks. Reading 4-byte keys several times is cheap beside
 * evaluating the points. */
#include <math.h>
#include <string.h>

#include "field/field_internal.h"

#include "kernels/kernel.h"

#include "kernels/field.k.h"

#include "kernels/kernel_end.h"

/* A point with this key reaches no sample. */
#define NO_BIN UINT32_MAX

/* A level has at most BINS_A_POINT bins a point, or MIN_BINS. Bins stay brick-sized where points
 * are dense, and a few points in a huge grid cost kilobytes. */
enum { BINS_A_POINT = 8, MIN_BINS = 4096 };

/* Points of a task of key_block; most tasks that own bins. */
enum { KEY_BLOCK = 1 << 14, MAX_OWNERS = 16 };

/* A reach below this many samples meets a sample only by rounding. */
static const double smallest_reach = 0x1p-20;

/* Added to a level's support, relative and in samples. So rounding to float never hides a point's
 * bin from one brick that another brick finds. */
static const double support_slack = 0x1p-9;

typedef struct plan_job {
    field_plan *plan;
    const float *points;
    const float *radii; /* NULL: radius for all */
    double radius;
    uint64_t count;
    double origin[3];
    double inverse[9];    /* from world to samples, row-major */
    double widest_extent; /* largest of plan->extent */
    double largest_reach;
    uint32_t *keys;
    uint32_t owners;
} plan_job;

/* Reach of point i, or 0 for a point that is ignored. */
static double reach_of(const plan_job *job, uint64_t i)
{
    double radius = job->radii ? (double)job->radii[i] : job->radius;
    double reach = radius + (double)job->plan->margin;
    bool usable = radius >= FIELD_MIN_LENGTH && radius <= FIELD_MAX_LENGTH &&
                  reach * job->widest_extent >= smallest_reach;
    return usable ? reach : 0.0;
}

/* Level l has reaches in (largest / 4^(l + 1), largest / 4^l]; the last one has all smaller too. */
static uint32_t level_of(double largest, double reach)
{
    uint32_t level = 0;
    while (level + 1 < FIELD_MAX_LEVELS && reach <= largest / 4.0)
        largest /= 4.0, level++;
    return level;
}

/* Position in samples from sample (0, 0, 0), in double: far more exact than float. */
static void to_samples(const plan_job *job, const float *point, double out[3])
{
    double d[3];
    for (int a = 0; a < 3; a++)
        d[a] = (double)point[a] - job->origin[a];
    for (int a = 0; a < 3; a++)
        out[a] = job->inverse[3 * a] * d[0] + job->inverse[3 * a + 1] * d[1] +
                 job->inverse[3 * a + 2] * d[2];
}

/* The bin along one axis. Points outside the grid go to the border bins, which are nearer to every
 * brick, so a brick still finds them within the support. */
static uint64_t bin_along(const field_level *level, int axis, double position)
{
    if (!(position > 0.0))
        return 0;
    double bin = position / (double)((uint64_t)1 << level->edge_log2);
    return bin < (double)level->bins[axis] ? (uint64_t)bin : level->bins[axis] - 1;
}

static uint32_t key_of(const plan_job *job, uint64_t i)
{
    const field_plan *plan = job->plan;
    double reach = reach_of(job, i), position[3];
    if (reach == 0.0)
        return NO_BIN;
    to_samples(job, job->points + 3 * i, position);
    for (int a = 0; a < 3; a++) {
        double support = reach * plan->extent[a];
        if (!(position[a] > -support && position[a] < (double)(plan->dims[a] - 1) + support))
            return NO_BIN; /* NaN too */
    }
    const field_level *level = &plan->levels[level_of(job->largest_reach, reach)];
    uint64_t bin[3];
    for (int a = 0; a < 3; a++)
        bin[a] = bin_along(level, a, position[a]);
    return (uint32_t)(level->first_bin + bin[0] +
                      level->bins[0] * (bin[1] + level->bins[1] * bin[2]));
}

static void key_block(void *argument, uint32_t block)
{
    plan_job *job = argument;
    uint64_t first = (uint64_t)block * KEY_BLOCK;
    uint64_t last = TML_MIN_OF(first + KEY_BLOCK, job->count);
    for (uint64_t i = first; i < last; i++)
        job->keys[i] = key_of(job, i);
}

/* Bins [first, last) that a task owns. */
static void owned(const plan_job *job, uint32_t owner, uint32_t *first, uint32_t *last)
{
    *first = (uint32_t)(job->plan->bin_count * owner / job->owners);
    *last = (uint32_t)(job->plan->bin_count * (owner + 1) / job->owners);
}

/* starts[b + 2] counts the points of bin b. After the scan starts[b + 1] is bin b's first point.
 * The scatter advances it to bin b's end, its final value. */
static void count_owned(void *argument, uint32_t owner)
{
    plan_job *job = argument;
    uint32_t first, last;
    owned(job, owner, &first, &last);
    uint64_t *counts = job->plan->starts + 2;
    for (uint64_t i = 0; i < job->count; i++)
        if (job->keys[i] >= first && job->keys[i] < last)
            counts[job->keys[i]]++;
}

static void place_owned(void *argument, uint32_t owner)
{
    plan_job *job = argument;
    field_plan *plan = job->plan;
    uint32_t first, last;
    owned(job, owner, &first, &last);
    for (uint64_t i = 0; i < job->count; i++) {
        if (job->keys[i] < first || job->keys[i] >= last)
            continue;
        double reach = reach_of(job, i), position[3];
        const field_level *level = &plan->levels[level_of(job->largest_reach, reach)];
        to_samples(job, job->points + 3 * i, position);
        field_point *point = &plan->points[plan->starts[job->keys[i] + 1]++];
        for (int a = 0; a < 3; a++) {
            uint64_t corner = bin_along(level, a, position[a]) << level->edge_log2;
            point->position[a] = (float)(position[a] - (double)corner);
        }
        point->reach = (float)reach;
    }
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Sets the matrix from world to samples, the extents, and the upper triangular frame of the grid's
 * steps (by Gram-Schmidt). */
static void plan_frame(plan_job *job, const tml_grid *grid)
{
    field_plan *plan = job->plan;
    double matrix[9], step[3][3]; /* step[a]: column a */
    for (int a = 0; a < 3; a++)
        for (int row = 0; row < 3; row++) {
            matrix[3 * row + a] = grid->direction[3 * row + a] * grid->spacing[a];
            step[a][row] = matrix[3 * row + a];
        }
    field_invert(matrix, job->inverse);
    memcpy(job->origin, grid->origin, sizeof job->origin);
    for (int a = 0; a < 3; a++) {
        const double *row = job->inverse + 3 * a;
        plan->extent[a] = sqrt(dot(row, row));
        job->widest_extent = fmax(job->widest_extent, plan->extent[a]);
    }

    plan->frame.xx = sqrt(dot(step[0], step[0]));
    plan->frame.xy = dot(step[0], step[1]) / plan->frame.xx;
    plan->frame.xz = dot(step[0], step[2]) / plan->frame.xx;
    for (int a = 0; a < 3; a++) {
        step[1][a] -= plan->frame.xy * step[0][a] / plan->frame.xx;
        step[2][a] -= plan->frame.xz * step[0][a] / plan->frame.xx;
    }
    plan->frame.yy = sqrt(dot(step[1], step[1]));
    plan->frame.yz = dot(step[1], step[2]) / plan->frame.yy;
    for (int a = 0; a < 3; a++)
        step[2][a] -= plan->frame.yz * step[1][a] / plan->frame.yy;
    plan->frame.zz = sqrt(dot(step[2], step[2]));

    /* Rounding of a pure rotation becomes exactly 0: engines have a faster path without shear. */
    double *sheared[] = {&plan->frame.xy, &plan->frame.xz, &plan->frame.yz};
    for (size_t i = 0; i < TML_ARRAY_SIZE(sheared); i++)
        if (fabs(*sheared[i]) < 1e-12 * plan->frame.xx)
            *sheared[i] = 0.0;
}

/* Bins of a level of points up to reach: the smallest cubes of at least a brick, wider than a
 * quarter of the support, and at most max_bins. A brick reads at most 10 bins along an axis. */
static void plan_level(plan_job *job, field_level *level, double reach, uint64_t max_bins)
{
    field_plan *plan = job->plan;
    double narrowest = INFINITY;
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

/* Makes the levels that the radii need. */
static void plan_levels(plan_job *job)
{
    field_plan *plan = job->plan;
    double smallest = INFINITY;
    for (uint64_t i = 0; i < (job->radii ? job->count : 1); i++) {
        double reach = reach_of(job, i);
        if (reach > 0.0) {
            smallest = fmin(smallest, reach);
            job->largest_reach = fmax(job->largest_reach, reach);
        }
    }
    uint64_t max_bins = job->count < FIELD_MAX_BINS / BINS_A_POINT ? job->count * BINS_A_POINT
                                                                   : (uint64_t)FIELD_MAX_BINS;
    max_bins = TML_MAX_OF(max_bins, (uint64_t)MIN_BINS);
    plan->level_count =
        smallest <= job->largest_reach ? level_of(job->largest_reach, smallest) + 1 : 0;
    double reach = job->largest_reach;
    for (uint32_t l = 0; l < plan->level_count; l++, reach /= 4.0)
        plan_level(job, &plan->levels[l], reach, max_bins);
}

static tml_status no_memory(tml_context *tml, uint64_t size, const char *what)
{
    return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "tml_field: no memory for %llu bytes of %s",
                     (unsigned long long)size, what);
}

/* Sorts the points of job into bins. Needs the frame and the levels. */
static tml_status plan_sort(tml_context *tml, plan_job *job)
{
    field_plan *plan = job->plan;
    size_t starts_size = (plan->bin_count + 2) * sizeof *plan->starts;
    size_t keys_size = job->count * sizeof *job->keys;
    plan->starts = tml_alloc_array(tml, plan->bin_count + 2, sizeof *plan->starts);
    if (!plan->starts)
        return no_memory(tml, starts_size, "bins");
    memset(plan->starts, 0, starts_size);
    job->keys = tml_alloc_array(tml, job->count, sizeof *job->keys);
    if (!job->keys && job->count)
        return no_memory(tml, keys_size, "bin numbers");

    tml_status status = TML_OK;
    job->owners = TML_MIN_OF(tml_concurrency(tml), (uint32_t)MAX_OWNERS);
    tml_parallel_for(tml, (uint32_t)TML_CEIL_DIV(job->count, KEY_BLOCK), key_block, job);
    tml_parallel_for(tml, job->owners, count_owned, job);
    for (uint64_t b = 0; b < plan->bin_count; b++)
        plan->starts[b + 2] += plan->starts[b + 1];
    plan->point_count = plan->starts[plan->bin_count + 1];
    plan->points = tml_alloc_array(tml, plan->point_count, sizeof *plan->points);
    if (plan->points || plan->point_count == 0)
        tml_parallel_for(tml, job->owners, place_owned, job);
    else
        status = no_memory(tml, plan->point_count * sizeof *plan->points, "binned points");
    tml_free(tml, job->keys, keys_size);
    return status;
}

/* ---- copies on the device -------------------------------------------------------------------- */

static tml_status copy_levels(tml_context *tml, field_plan *plan)
{
    uint32_t words[FIELD_MAX_LEVELS * FIELD_LEVEL_WORDS] = {0};
    for (uint32_t l = 0; l < plan->level_count; l++) {
        const field_level *level = &plan->levels[l];
        uint32_t *to = words + l * FIELD_LEVEL_WORDS;
        to[0] = (uint32_t)level->first_bin;
        to[1] = level->edge_log2;
        for (int a = 0; a < 3; a++) {
            to[2 + a] = (uint32_t)level->bins[a];
            to[5 + a] = (uint32_t)fmin(ceil(level->support[a]), (double)plan->dims[a]);
        }
    }
    return tml_buffer_create(tml,
                             &(tml_buffer_desc){.type = TML_U32,
                                                .count = TML_ARRAY_SIZE(words),
                                                .data = words,
                                                .label = "field levels"},
                             &plan->device.levels);
}

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
    uint64_t layer = field_bricks_along(plan->dims[0]) * field_bricks_along(plan->dims[1]);
    uint64_t bricks = layer * field_bricks_along(plan->dims[2]);
    plan->device.brick_room = TML_MAX_OF(layer, TML_MIN_OF(bricks, (uint64_t)FIELD_LIST_BRICKS));
    tml_status status = copy_levels(tml, plan);
    if (status == TML_OK)
        status = copy_starts(tml, plan);
    if (status == TML_OK)
        status = tml_buffer_create(tml,
                                   &(tml_buffer_desc){.type = TML_RECORD(sizeof *plan->points),
                                                      .count = plan->point_count,
                                                      .data = plan->points,
                                                      .label = "field points"},
                                   &plan->device.points);
    if (status == TML_OK)
        status = tml_buffer_create(tml,
                                   &(tml_buffer_desc){.type = TML_U32,
                                                      .count = 1 + plan->device.brick_room,
                                                      .label = "field bricks"},
                                   &plan->device.bricks);
    return status;
}

/* ---- the plan -------------------------------------------------------------------------------- */

tml_status field_plan_create(tml_context *tml, const tml_field_desc *resolved, field_plan **out)
{
    *out = NULL;
    field_plan *plan = tml_alloc(tml, sizeof *plan);
    if (!plan)
        return no_memory(tml, sizeof *plan, "plan");
    memset(plan, 0, sizeof *plan);
    memcpy(plan->dims, resolved->grid.dims, sizeof plan->dims);
    bool distance = resolved->kind == TML_FIELD_DISTANCE;
    plan->formula = distance                                 ? FIELD_DISTANCE
                    : resolved->kernel == TML_FIELD_POLY6    ? FIELD_POLY6
                    : resolved->kernel == TML_FIELD_METABALL ? FIELD_METABALL
                                                             : FIELD_WENDLAND_C2;
    plan->margin = distance ? (float)resolved->margin : 0.0f;
    plan->background = -plan->margin + 0.0f; /* 0, not -0 */

    plan_job job = {.plan = plan, .radius = resolved->radius};
    plan_frame(&job, &resolved->grid);
    field_input input;
    tml_status status = field_map(tml, resolved, &input);
    if (status == TML_OK) {
        job.points = input.points;
        job.radii = input.radii;
        job.count = input.count;
        plan_levels(&job);
        status = plan_sort(tml, &job);
        field_unmap(tml, resolved);
    }
    if (status == TML_OK && !tml->engine->is_host)
        status = copy_to_device(tml, plan);
    if (status != TML_OK) {
        field_plan_destroy(tml, plan);
        return status;
    }
    *out = plan;
    return TML_OK;
}

void field_plan_destroy(tml_context *tml, field_plan *plan)
{
    if (!plan)
        return;
    tml_buffer_destroy(tml, plan->device.points);
    tml_buffer_destroy(tml, plan->device.starts);
    tml_buffer_destroy(tml, plan->device.levels);
    tml_buffer_destroy(tml, plan->device.bricks);
    tml_free(tml, plan->points, plan->point_count * sizeof *plan->points);
    tml_free(tml, plan->starts, (plan->bin_count + 2) * sizeof *plan->starts);
    tml_free(tml, plan, sizeof *plan);
}

void field_level_reach(const field_level *level, int axis, uint64_t first, uint64_t last,
                       uint64_t *bin_first, uint64_t *bin_last)
{
    *bin_first = bin_along(level, axis, (double)first - level->support[axis]);
    *bin_last = bin_along(level, axis, (double)last + level->support[axis]);
}

bool field_slab_is_empty(const field_plan *plan, uint64_t z_first, uint64_t z_count)
{
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
