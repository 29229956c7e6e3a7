/* Field on the CPU: the sum of the kernels of all points at each of them, for tml_field_mean. The points of a bin share
 * those near, which are gathered once, coordinate by coordinate, for loops over many at a time. */
#include <math.h>
#include <string.h>

#include "cpu/cpu_parts.h"
#include "field/field_internal.h"

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/field.k.h"

#include "kernels/kernel_end.h"

enum {
    WEIGHT_LANES =
        16, /* sums that a point's neighbours are added to in turn: on every machine the same bits */
    WEIGHT_POINTS = 1024,
};

/* Points near a bin: places from its corner and reaches, in units of the largest reach. */
typedef struct weight_points {
    float x[WEIGHT_POINTS], y[WEIGHT_POINTS], z[WEIGHT_POINTS];
    float unit[WEIGHT_POINTS]; /* 1 / reach */
    size_t count;
} weight_points;

CPU_INLINE float sum_near(int formula, const weight_points *near, const float at[3])
{
    float lanes[WEIGHT_LANES] = {0}, sum = 0.0f;
    for (size_t m = 0; m < near->count; m += WEIGHT_LANES)
        for (size_t l = 0; l < WEIGHT_LANES; l++) {
            float x = (near->x[m + l] - at[0]) * near->unit[m + l];
            float y = (near->y[m + l] - at[1]) * near->unit[m + l];
            float z = (near->z[m + l] - at[2]) * near->unit[m + l];
            lanes[l] += field_term(formula, x * x + y * y + z * z, 1.0f, 0.0f);
        }
    for (int l = 0; l < WEIGHT_LANES; l++)
        sum += lanes[l];
    return sum;
}

/* The formula is a constant in each call. */
CPU_INLINE float sum_weights(int formula, const weight_points *near, const float at[3])
{
    if (formula == FIELD_SPLINE)
        return sum_near(FIELD_SPLINE, near, at);
    if (formula == FIELD_POLY6)
        return sum_near(FIELD_POLY6, near, at);
    if (formula == FIELD_METABALL)
        return sum_near(FIELD_METABALL, near, at);
    return sum_near(FIELD_WENDLAND_C2, near, at);
}

CPU_INSTANTIATE(float, sum_weights, (int formula, const weight_points *near, const float at[3]),
                return sum_weights(formula, near, at))

typedef float (*sum_weights_fn)(int formula, const weight_points *near, const float at[3]);
static const sum_weights_fn sum_weights_for[TML_SIMD_LEVELS] = CPU_EACH_LEVEL(sum_weights);

typedef struct weights_job {
    tml_context *tml;
    const field_plan *plan;
    const field_level *level;
    int formula;
    float frame[6]; /* field_plan.frame in units of the largest reach */
    float reach;    /* the largest */
    sum_weights_fn sum;
    float low[3],
        high[3]; /* of the bin at work: how far what is near it lies below and above, in samples */
    float *out;
} weights_job;

/* A point's place from the corner of a bin that is offset samples away. */
static void weight_place_of(const weights_job *job, const field_point *point, const float offset[3],
                            float out[3])
{
    const float *f = job->frame;
    float d[3];
    for (int a = 0; a < 3; a++)
        d[a] = point->position[a] + offset[a];
    out[0] = f[0] * d[0] + f[1] * d[1] + f[2] * d[2];
    out[1] = f[3] * d[1] + f[4] * d[2];
    out[2] = f[5] * d[2];
}

/* Adds what is near to the sums of points [first, end), and begins anew. */
static void flush_weights(const weights_job *job, uint64_t first, uint64_t end, weight_points *near)
{
    static const float none[3] = {0, 0, 0};
    while (near->count % WEIGHT_LANES) { /* so far that its kernel is 0 */
        near->x[near->count] = near->y[near->count] = near->z[near->count] = 1e10f;
        near->unit[near->count++] = 1.0f;
    }
    for (uint64_t k = first; k < end; k++) {
        float at[3];
        weight_place_of(job, &job->plan->points[k], none, at);
        job->out[job->plan->order[k]] += job->sum(job->formula, near, at);
    }
    near->count = 0;
}

/* Is a point near some point of this bin? At the grid's border these may lie beyond it, by their support. */
static bool is_near_bin(const weights_job *job, const field_point *point, const float offset[3])
{
    const float edge = (float)((uint64_t)1 << job->level->edge_log2);
    for (int a = 0; a < 3; a++) {
        const float at = point->position[a] + offset[a];
        if (at < job->low[a] || at > edge + job->high[a])
            return false;
    }
    return true;
}

static void sum_weights_of_bin(const weights_job *shared, const uint64_t bin[3], uint64_t first,
                               uint64_t end)
{
    weights_job own = *shared;
    const weights_job *job = &own;
    const field_plan *plan = job->plan;
    const field_level *level = job->level;
    weight_points near = {.count = 0};
    uint64_t low[3], high[3];
    for (int a = 0; a < 3; a++) {
        const uint64_t corner = bin[a] << level->edge_log2;
        field_level_reach(level, a, corner, corner + ((uint64_t)1 << level->edge_log2), &low[a],
                          &high[a]);
        const float support = (float)level->support[a];
        own.low[a] = bin[a] == 0 ? -2 * support : -support;
        own.high[a] = bin[a] + 1 == level->bins[a] ? INFINITY : support;
    }
    /* Points beyond the grid lie in the bins at its border, and so may what is near them. */
    for (uint64_t z = low[2]; z <= high[2]; z++)
        for (uint64_t y = low[1]; y <= high[1]; y++)
            for (uint64_t x = low[0]; x <= high[0]; x++) {
                const uint64_t there[3] = {x, y, z};
                const uint64_t *starts =
                    plan->starts + level->first_bin + x + level->bins[0] * (y + level->bins[1] * z);
                float offset[3];
                for (int a = 0; a < 3; a++)
                    offset[a] = (float)(((double)there[a] - (double)bin[a]) *
                                        (double)((uint64_t)1 << level->edge_log2));
                for (uint64_t k = starts[0]; k < starts[1]; k++) {
                    float at[3];
                    if (!is_near_bin(job, &plan->points[k], offset))
                        continue;
                    if (near.count == WEIGHT_POINTS)
                        flush_weights(job, first, end, &near);
                    weight_place_of(job, &plan->points[k], offset, at);
                    near.x[near.count] = at[0];
                    near.y[near.count] = at[1];
                    near.z[near.count] = at[2];
                    near.unit[near.count++] = job->reach / plan->points[k].reach;
                }
            }
    flush_weights(job, first, end, &near);
}

/* A row of bins along x. */
static void weights_task(void *argument, uint32_t index)
{
    const weights_job *job = argument;
    const field_level *level = job->level;
    const uint64_t *starts = job->plan->starts + level->first_bin + level->bins[0] * index;
    if (tml_is_cancelled(job->tml))
        return;
    for (uint64_t x = 0; x < level->bins[0]; x++) {
        const uint64_t bin[3] = {x, index % level->bins[1], index / level->bins[1]};
        if (starts[x] < starts[x + 1])
            sum_weights_of_bin(job, bin, starts[x], starts[x + 1]);
    }
}

tml_status cpu_field_weights(tml_context *tml, const field_plan *plan, tml_buffer out)
{
    const field_level *level = &plan->levels[0];
    double reach = plan->level_count == 1 ? level->reach : 0.0;
    const double frame[6] = {plan->frame.xx, plan->frame.xy, plan->frame.xz,
                             plan->frame.yy, plan->frame.yz, plan->frame.zz};
    weights_job job = {.tml = tml,
                       .plan = plan,
                       .level = level,
                       .formula = plan->formula,
                       .reach = (float)reach,
                       .sum = sum_weights_for[tml_simd_level()],
                       .out = cpu_memory(tml, out)};
    for (int i = 0; i < 6; i++)
        job.frame[i] = (float)(frame[i] / reach);
    memset(job.out, 0, plan->point_count * sizeof *job.out);
    tml_parallel_for(tml, (uint32_t)(level->bins[1] * level->bins[2]), weights_task, &job);
    return tml_is_cancelled(tml) ? tml_error(tml, TML_ERROR_CANCELLED, "tml_field_mean: cancelled")
                                 : TML_OK;
}
