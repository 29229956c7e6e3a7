/* The surface on the CPU, aside: brick minima and maxima, and the bounding boxes of labels. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cpu/cpu_surface_internal.h"

/* ---- brick ranges ---------------------------------------------------------------------------- */

/* One layer of bricks. */
static void index_task(void *argument, uint32_t layer)
{
    surface_job *job = argument;
    const surface_plan *plan = job->plan;
    if (tml_is_cancelled(job->tml))
        return;
    const uint64_t *dims = plan->dims;
    uint64_t bricks_x = (dims[0] + SURFACE_BRICK_X - 1) / SURFACE_BRICK_X;
    uint64_t bricks_y = (dims[1] + SURFACE_BRICK_Y - 1) / SURFACE_BRICK_Y;
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
                    low = -INFINITY; /* NaN: every isovalue must look inside */
                    high = INFINITY;
                }
                range[0] = fminf(range[0], low);
                range[1] = fmaxf(range[1], high);
            }
        }
}

tml_status surface_index_run(surface_job *job)
{
    tml_status status = window_load(job, 0, job->plan->dims[2]);
    if (status != TML_OK)
        return status;
    uint64_t layers = (job->plan->dims[2] + SURFACE_BRICK_Z - 1) / SURFACE_BRICK_Z;
    tml_parallel_for(job->tml, (uint32_t)layers, index_task, job);
    return tml_is_cancelled(job->tml)
               ? tml_error(job->tml, TML_CANCELLED, "tml_surface_index: cancelled")
               : TML_OK;
}

/* ---- labels ---------------------------------------------------------------------------------- */

static uint64_t label_at(const unsigned char *row, uint64_t x, size_t size)
{
    uint64_t value = 0; /* little-endian or not, equal bytes give equal numbers after this */
    switch (size) {
    case 1:
        return row[x];
    case 2: {
        uint16_t v;
        memcpy(&v, row + 2 * x, 2);
        return v;
    }
    case 4: {
        uint32_t v;
        memcpy(&v, row + 4 * x, 4);
        return v;
    }
    default:
        memcpy(&value, row + 8 * x, 8);
        return value;
    }
}

/* First part whose label is not below the value. */
static uint32_t part_lower_bound(const surface_plan *plan, uint64_t label)
{
    uint32_t low = 0, high = plan->part_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (surface_label_less(plan->type, plan->parts[middle].label, label))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Grows a part's box, kept here as first and last sample, to hold a run along x. */
static void box_add(surface_box *box, uint64_t x, uint64_t x_last, uint64_t y, uint64_t z)
{
    const uint64_t low[3] = {x, y, z}, high[3] = {x_last, y, z};
    for (int a = 0; a < 3; a++) {
        box->first[a] = TML_MIN_OF(box->first[a], low[a]);
        box->count[a] = TML_MAX_OF(box->count[a], high[a] + 1); /* end, until all is seen */
    }
}

/* Runs of equal labels are long, so almost all the time goes into comparing neighbours. */
tml_status surface_labels_run(surface_job *job)
{
    surface_plan *plan = (surface_plan *)job->plan;
    const surface_box region = plan->parts[0].box;
    tml_status status = window_load(job, 0, plan->dims[2]);
    if (status != TML_OK)
        return status;
    if (plan->all_labels)
        plan->part_count = 0;
    for (uint32_t p = 0; p < plan->part_count; p++)
        plan->parts[p].box = (surface_box){{UINT64_MAX, UINT64_MAX, UINT64_MAX}, {0, 0, 0}};
    uint32_t last = 0; /* the part found last: runs in neighbouring rows repeat it */
    for (uint64_t z = region.first[2]; z < region.first[2] + region.count[2]; z++) {
        if (!tml_progress(job->tml, "labels",
                          plan->progress_first + (plan->progress_last - plan->progress_first) *
                                                     (double)(z - region.first[2]) /
                                                     (double)region.count[2]))
            return tml_error(job->tml, TML_CANCELLED, "tml_surface: cancelled");
        for (uint64_t y = region.first[1]; y < region.first[1] + region.count[1]; y++) {
            const unsigned char *row = sample_row(job, y, z);
            uint64_t end = region.first[0] + region.count[0];
            for (uint64_t x = region.first[0], next; x < end; x = next) {
                uint64_t bits = label_at(row, x, job->sample_size);
                for (next = x + 1; next < end && label_at(row, next, job->sample_size) == bits;)
                    next++;
                uint64_t label = surface_label(plan->type, bits);
                if (last >= plan->part_count || plan->parts[last].label != label)
                    last = part_lower_bound(plan, label);
                bool known = last < plan->part_count && plan->parts[last].label == label;
                if (!known && (!plan->all_labels || label == 0))
                    continue;
                if (!known) {
                    if (plan->part_count == plan->part_capacity)
                        return tml_error(job->tml, TML_UNSUPPORTED,
                                         "tml_surface: the volume has more than %" PRIu32
                                         " labels; name the ones wanted in desc.labels",
                                         plan->part_capacity);
                    memmove(&plan->parts[last + 1], &plan->parts[last],
                            (plan->part_count - last) * sizeof *plan->parts);
                    plan->part_count++;
                    plan->parts[last] = (surface_part){
                        .label = label, .box = {{UINT64_MAX, UINT64_MAX, UINT64_MAX}, {0, 0, 0}}};
                }
                box_add(&plan->parts[last].box, x, next - 1, y, z);
            }
        }
    }
    /* One sample more on every side, where there is one: that is where the surface closes. */
    for (uint32_t p = 0; p < plan->part_count; p++) {
        surface_box *box = &plan->parts[p].box;
        for (int a = 0; a < 3; a++) {
            uint64_t low = region.first[a], high = region.first[a] + region.count[a];
            if (box->count[a] == 0) { /* does not occur: any sample of the region will do */
                box->first[a] = low;
                box->count[a] = 1;
                continue;
            }
            uint64_t end = TML_MIN_OF(box->count[a] + 1, high);
            box->first[a] = box->first[a] > low ? box->first[a] - 1 : low;
            box->count[a] = end - box->first[a];
        }
    }
    return TML_OK;
}
