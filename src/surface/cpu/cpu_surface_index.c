/* The brick index on the CPU: the smallest and largest sample of each brick. */
#include <math.h>

#include "surface/cpu/cpu_surface_internal.h"

/* ---- brick ranges ---------------------------------------------------------------------------- */

/* Computes one layer of bricks. */
static void index_task(void *argument, uint32_t layer)
{
    surface_job *job = argument;
    const surface_plan *plan = job->plan;
    if (tml_is_cancelled(job->tml))
        return;
    const uint64_t *dims = plan->dims;
    uint64_t bricks_x = TML_CEIL_DIV(dims[0], SURFACE_BRICK_X);
    uint64_t bricks_y = TML_CEIL_DIV(dims[1], SURFACE_BRICK_Y);
    float *ranges = (float *)plan->bricks->memory + 2 * bricks_x * bricks_y * layer;
    uint64_t z_first = (uint64_t)layer * SURFACE_BRICK_Z;
    uint64_t z_end = TML_MIN_OF(z_first + SURFACE_BRICK_Z, dims[2]);
    for (uint64_t b = 0; b < bricks_x * bricks_y; b++) {
        ranges[2 * b] = INFINITY;
        ranges[2 * b + 1] = -INFINITY;
    }
    for (uint64_t z = z_first; z < z_end; z++)
        for (uint64_t y = 0; y < dims[1]; y++) {
            const unsigned char *row = sample_row(job, y, z);
            float *range = ranges + 2 * bricks_x * (y / SURFACE_BRICK_Y);
            for (uint64_t x = 0; x < dims[0]; x += SURFACE_BRICK_X, range += 2) {
                float low, high;
                uint64_t n = TML_MIN_OF(dims[0] - x, (uint64_t)SURFACE_BRICK_X);
                if (!job->simd->range[plan->type](row + x * job->sample_size, n, &low, &high)) {
                    low = -INFINITY; /* NaN: every isovalue reads the brick */
                    high = INFINITY;
                }
                range[0] = fminf(range[0], low);
                range[1] = fmaxf(range[1], high);
            }
        }
}

tml_status surface_index_run(surface_job *job)
{
    tml_status status = window_load(job, 0, job->plan->dims[2], false);
    if (status != TML_OK)
        return status;
    uint64_t layers = TML_CEIL_DIV(job->plan->dims[2], SURFACE_BRICK_Z);
    tml_parallel_for(job->tml, (uint32_t)layers, index_task, job);
    return tml_is_cancelled(job->tml)
               ? tml_error(job->tml, TML_ERROR_CANCELLED, "tml_surface_index: cancelled")
               : TML_OK;
}
