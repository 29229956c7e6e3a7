/* Field on the CPU: the sum of all points' kernels at each point, for tml_field_mean.
 *
 * A bin is several kernels wide, and its points share most of their neighbours. The points near a
 * bin are gathered once and sorted into cells as wide as the reach. Each coordinate has its own
 * array, for loops over many points at a time. */
#include <math.h>
#include <string.h>

#include "cpu/cpu_parts.h"
#include "field/field_internal.h"

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/field.k.h"

#include "kernels/kernel_end.h"

enum {
    /* Partial sums per point, to which neighbours are added in turn. The number is fixed, so every
     * machine computes the same bits. */
    WEIGHT_LANES = 16,
    WEIGHT_POINTS = 2048, /* gathered at a time; in a fluid, some 1700 are near a bin */
    WEIGHT_CELLS = 8,     /* along a bin, at most */
    WEIGHT_RUNS = 9,
};

/* The points near a bin. Positions are relative to the bin's corner, in units of the largest
 * reach. */
typedef struct weight_points {
    float x[WEIGHT_POINTS + WEIGHT_LANES], y[WEIGHT_POINTS + WEIGHT_LANES],
        z[WEIGHT_POINTS + WEIGHT_LANES];
    float unit[WEIGHT_POINTS + WEIGHT_LANES]; /* largest reach / own reach */
} weight_points;

/* The points of up to three consecutive cells. */
typedef struct weight_run {
    uint32_t first, end;
} weight_run;

ALWAYS_INLINE float sum_near(int formula, const weight_points *near, const weight_run *runs,
                             const float at[3])
{
    float lanes[WEIGHT_LANES] = {0}, sum = 0.0f;
    for (size_t r = 0; r < WEIGHT_RUNS; r++)
        for (size_t m = runs[r].first; m < runs[r].end; m += WEIGHT_LANES) {
            const float *px = near->x + m, *py = near->y + m, *pz = near->z + m,
                        *unit = near->unit + m;
            const int32_t left = (int32_t)(runs[r].end - m);
            for (int32_t l = 0; l < WEIGHT_LANES; l++) {
                float x = (px[l] - at[0]) * unit[l];
                float y = (py[l] - at[1]) * unit[l];
                float z = (pz[l] - at[2]) * unit[l];
                float term = field_term(formula, x * x + y * y + z * z, 1.0f, 0.0f);
                lanes[l] += l < left ? term : 0.0f;
            }
        }
    for (int l = 0; l < WEIGHT_LANES; l++)
        sum += lanes[l];
    return sum;
}

/* The formula is a constant in each call, so that loops do not branch on it. */
ALWAYS_INLINE float sum_weights(int formula, const weight_points *near, const weight_run *runs,
                                const float at[3])
{
    if (formula == FIELD_SPLINE)
        return sum_near(FIELD_SPLINE, near, runs, at);
    if (formula == FIELD_POLY6)
        return sum_near(FIELD_POLY6, near, runs, at);
    if (formula == FIELD_METABALL)
        return sum_near(FIELD_METABALL, near, runs, at);
    return sum_near(FIELD_WENDLAND_C2, near, runs, at);
}

SIMD_INSTANTIATE(float, sum_weights,
                 (int formula, const weight_points *near, const weight_run *runs,
                  const float at[3]),
                 return sum_weights(formula, near, runs, at))

typedef float (*sum_weights_fn)(int formula, const weight_points *near, const weight_run *runs,
                                const float at[3]);
static const sum_weights_fn sum_weights_for[TML_SIMD_LEVELS] = SIMD_EACH_LEVEL(sum_weights);

typedef struct weights_job {
    tml_context *tml;
    const field_plan *plan;
    const field_level *level;
    int formula;
    float frame[6]; /* field_plan.frame, in units of the largest reach */
    float reach;    /* the largest reach */
    sum_weights_fn sum;
    float low[3],
        high[3];  /* how far points near the current bin lie below and above it, in samples */
    int cells[3]; /* cells along a bin, each wider than the largest reach, and one on either side */
    float cells_along[3]; /* cells per sample */
    float *out;
} weights_job;

/* A point's position relative to the corner of the current bin. offset: from there to the corner of
 * the point's bin, in samples. */
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

/* The points near a bin: as gathered, and ordered by cells. */
typedef struct weight_batch {
    weight_points gathered, by_cell;
    uint16_t cell_of[WEIGHT_POINTS];
    uint32_t starts[(WEIGHT_CELLS + 2) * (WEIGHT_CELLS + 2) * (WEIGHT_CELLS + 2) + 1];
    uint32_t count;
} weight_batch;

/* The cell of a position along an axis. At the grid's border, points may lie beyond the cells
 * around the bin. They get the outermost cell, which is next to all points of the bin that they are
 * near. */
static int cell_along(const weights_job *job, int axis, float position)
{
    const float cell = position * job->cells_along[axis] + 1.0f;
    const int last = job->cells[axis] - 1;
    return cell > 0.0f ? cell < (float)last ? (int)cell : last : 0;
}

static void sort_into_cells(const weights_job *job, weight_batch *batch)
{
    const weight_points *from = &batch->gathered;
    weight_points *to = &batch->by_cell;
    const size_t cells = (size_t)(job->cells[0] * job->cells[1] * job->cells[2]);
    uint32_t *starts = batch->starts, sum = 0;
    memset(starts, 0, (cells + 1) * sizeof *starts);
    for (uint32_t k = 0; k < batch->count; k++)
        starts[batch->cell_of[k]]++;
    for (size_t c = 0; c <= cells; c++) {
        const uint32_t count = starts[c];
        starts[c] = sum;
        sum += count;
    }
    for (uint32_t k = 0; k < batch->count; k++) {
        const uint32_t place = starts[batch->cell_of[k]]++;
        to->x[place] = from->x[k];
        to->y[place] = from->y[k];
        to->z[place] = from->z[k];
        to->unit[place] = from->unit[k];
    }
    memmove(starts + 1, starts, cells * sizeof *starts); /* a cell's end: the next one's start */
    starts[0] = 0;
}

/* Finds the points in the cells around a point of the bin, as runs. */
static void find_runs(const weights_job *job, const weight_batch *batch, const float position[3],
                      weight_run runs[WEIGHT_RUNS])
{
    int first[3], last[3], count = 0;
    for (int a = 0; a < 3; a++) {
        const int cell = cell_along(job, a, position[a]);
        first[a] = cell > 0 ? cell - 1 : 0;
        last[a] = cell + 1 < job->cells[a] ? cell + 1 : cell;
    }
    memset(runs, 0, WEIGHT_RUNS * sizeof *runs);
    for (int z = first[2]; z <= last[2]; z++)
        for (int y = first[1]; y <= last[1]; y++) {
            const uint32_t *row = batch->starts + (z * job->cells[1] + y) * job->cells[0];
            runs[count++] = (weight_run){row[first[0]], row[last[0] + 1]};
        }
}

/* Adds the gathered points' kernels to the sums of points [first, end), and empties the batch. */
static void flush_weights(const weights_job *job, uint64_t first, uint64_t end, weight_batch *batch)
{
    static const float none[3] = {0, 0, 0};
    sort_into_cells(job, batch);
    for (uint64_t k = first; k < end; k++) {
        const field_point *point = &job->plan->points[k];
        weight_run runs[WEIGHT_RUNS];
        float at[3];
        find_runs(job, batch, point->position, runs);
        weight_place_of(job, point, none, at);
        job->out[job->plan->order[k]] += job->sum(job->formula, &batch->by_cell, runs, at);
    }
    batch->count = 0;
}

/* Returns whether a point is near some point of the current bin. The bins at the grid's border also
 * hold points beyond the grid, by up to their support. */
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
    weight_batch batch;
    uint64_t low[3], high[3];
    for (int a = 0; a < 3; a++) {
        const uint64_t corner = bin[a] << level->edge_log2;
        field_level_reach(level, a, corner, corner + ((uint64_t)1 << level->edge_log2), &low[a],
                          &high[a]);
        const float support = (float)level->support[a];
        own.low[a] = bin[a] == 0 ? -2 * support : -support;
        own.high[a] = bin[a] + 1 == level->bins[a] ? INFINITY : support;
    }
    batch.count = 0;
    /* Points beyond the grid lie in the bins at its border, and so may their neighbours. */
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
                    const field_point *point = &plan->points[k];
                    weight_points *near = &batch.gathered;
                    float at[3];
                    int cell[3];
                    if (!is_near_bin(job, point, offset))
                        continue;
                    if (batch.count == WEIGHT_POINTS)
                        flush_weights(job, first, end, &batch);
                    weight_place_of(job, point, offset, at);
                    for (int a = 0; a < 3; a++)
                        cell[a] = cell_along(job, a, point->position[a] + offset[a]);
                    batch.cell_of[batch.count] =
                        (uint16_t)((cell[2] * job->cells[1] + cell[1]) * job->cells[0] + cell[0]);
                    near->x[batch.count] = at[0];
                    near->y[batch.count] = at[1];
                    near->z[batch.count] = at[2];
                    near->unit[batch.count++] = job->reach / point->reach;
                }
            }
    flush_weights(job, first, end, &batch);
}

/* Finds the sums in a row of bins along x. */
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
    for (int a = 0; a < 3; a++) {
        const double edge = (double)((uint64_t)1 << level->edge_log2);
        const double cells = fmin(fmax(floor(edge / level->support[a]), 1.0), (double)WEIGHT_CELLS);
        job.cells[a] = (int)cells + 2;
        job.cells_along[a] = (float)(cells / edge);
    }
    for (int i = 0; i < 6; i++)
        job.frame[i] = (float)(frame[i] / reach);
    memset(job.out, 0, plan->point_count * sizeof *job.out);
    tml_parallel_for(tml, (uint32_t)(level->bins[1] * level->bins[2]), weights_task, &job);
    return tml_is_cancelled(tml) ? tml_error(tml, TML_ERROR_CANCELLED, "tml_field_mean: cancelled")
                                 : TML_OK;
}
