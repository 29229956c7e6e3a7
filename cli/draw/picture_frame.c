/* The box that contains most of a mesh's area. Along each axis, its ends are quantiles of where
 * triangles begin and of where they end, weighted by area. The quantiles come from histograms,
 * which are computed again over a smaller range if all values fall into a few bins. */
#include <math.h>
#include <string.h>

#include <trommel/kernel_math.h>

#include "draw/picture_frame.h"
#include "draw/raster.h"
#include "shares.h"

enum { BINS = 512, TASKS = 32, ROUNDS = 4, FEW_BINS = BINS / 16 };
static const double crop_tail = 0.025; /* of the area, at each end of each axis */
static const double crop_room = 0.15;  /* of the box, added on each side */
static const double crop_most = 1.5;   /* times its size: the whole mesh is framed */

typedef struct area_job {
    const tml_mesh *mesh;
    double lower[3], upper[3];
    double (*bins)[3][2][BINS]; /* of each task: where triangles begin, and end */
} area_job;

/* Values outside the range are counted in the first or last bin. */
static int bin_of(const area_job *job, int axis, float x)
{
    double range = job->upper[axis] - job->lower[axis];
    double at = range > 0 ? ((double)x - job->lower[axis]) / range * BINS : 0;
    return (int)(at > 0 ? at < BINS - 1 ? at : BINS - 1 : 0);
}

/* Adds the areas of a task's triangles to bins. */
static void add_areas(void *argument, uint32_t task)
{
    const area_job *job = argument;
    uint64_t first = share_begin(job->mesh->triangle_count, task, TASKS);
    uint64_t last = share_begin(job->mesh->triangle_count, task + 1, TASKS);
    double(*bins)[2][BINS] = job->bins[task];
    memset(bins, 0, sizeof job->bins[task]);
    for (uint64_t t = first; t < last; t++) {
        uint64_t v[3];
        if (!raster_corners(job->mesh, t, v))
            continue;
        const float *at[3];
        tml_vec3 p[3];
        for (int c = 0; c < 3; c++) {
            at[c] = job->mesh->positions + 3 * v[c];
            p[c] = (tml_vec3){at[c][0], at[c][1], at[c][2]};
        }
        double area = (double)tml_length3(tml_cross3(tml_sub3(p[1], p[0]), tml_sub3(p[2], p[0])));
        if (!isfinite(area))
            continue;
        for (int axis = 0; axis < 3; axis++) {
            const float x[3] = {at[0][axis], at[1][axis], at[2][axis]};
            bins[axis][0][bin_of(job, axis, fminf(x[0], fminf(x[1], x[2])))] += area;
            bins[axis][1][bin_of(job, axis, fmaxf(x[0], fmaxf(x[1], x[2])))] += area;
        }
    }
}

/* Narrows lower and upper along an axis to the bins that contain the quantiles. Returns false if
 * there is no area. */
static bool narrow(area_job *job, int axis)
{
    double sums[2][BINS], total = 0;
    for (int bin = 0; bin < BINS; bin++)
        for (int end = 0; end < 2; end++) {
            sums[end][bin] = 0;
            for (int task = 0; task < TASKS; task++)
                sums[end][bin] += job->bins[task][axis][end][bin];
            total += sums[end][bin] / 2;
        }
    int first = 0, last = BINS - 1;
    double below = sums[0][first], above = sums[1][last];
    while (first < BINS - 1 && below <= crop_tail * total)
        below += sums[0][++first];
    while (last > first && above <= crop_tail * total)
        above += sums[1][--last];
    double range = job->upper[axis] - job->lower[axis], start = job->lower[axis];
    job->lower[axis] = start + range * first / BINS;
    job->upper[axis] = start + range * (last + 1) / BINS;
    return total > 0;
}

static bool find_box(const tml_mesh *mesh, double lower[3], double upper[3])
{
    for (int axis = 0; axis < 3; axis++) {
        lower[axis] = INFINITY;
        upper[axis] = -INFINITY;
    }
    for (uint64_t i = 0; i < 3 * mesh->vertex_count; i++) {
        double x = (double)mesh->positions[i];
        if (!isfinite(x))
            continue;
        lower[i % 3] = x < lower[i % 3] ? x : lower[i % 3];
        upper[i % 3] = x > upper[i % 3] ? x : upper[i % 3];
    }
    return lower[0] <= upper[0] && lower[1] <= upper[1] && lower[2] <= upper[2];
}

void picture_frame_crop(tml_context *tml, const tml_mesh *mesh, render_desc *desc)
{
    double lower[3], upper[3];
    area_job job = {.mesh = mesh};
    const size_t size = TASKS * sizeof *job.bins;
    if (!find_box(mesh, lower, upper) || !(job.bins = tml_alloc(tml, size)))
        return;
    memcpy(job.lower, lower, sizeof lower);
    memcpy(job.upper, upper, sizeof upper);
    bool is_known = true, is_coarse = true;
    for (int round = 0; round < ROUNDS && is_known && is_coarse; round++) {
        is_coarse = false;
        tml_parallel_for(tml, TASKS, add_areas, &job);
        for (int axis = 0; axis < 3; axis++) {
            double before = job.upper[axis] - job.lower[axis];
            is_known = narrow(&job, axis) && is_known;
            is_coarse |= job.upper[axis] - job.lower[axis] < before * FEW_BINS / BINS;
        }
    }
    tml_free(tml, job.bins, size);
    double whole = 0, part = 0;
    for (int axis = 0; axis < 3; axis++) {
        whole = hypot(whole, upper[axis] - lower[axis]);
        part = hypot(part, job.upper[axis] - job.lower[axis]);
    }
    if (!is_known || !(whole > crop_most * part))
        return;
    for (int axis = 0; axis < 3; axis++) {
        double more = crop_room * (job.upper[axis] - job.lower[axis]);
        desc->frame_lower[axis] = fmax(job.lower[axis] - more, lower[axis]);
        desc->frame_upper[axis] = fmin(job.upper[axis] + more, upper[axis]);
    }
    desc->crops = true;
}
