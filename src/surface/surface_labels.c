/* Where labels lie: the bounding box of each, or which there are. One thread of the host's reads the
 * volume; runs of equal labels are long, so that is little work for each sample. */
#include <inttypes.h>
#include <string.h>

#include "surface/surface_internal.h"

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
tml_status surface_labels(tml_context *tml, surface_plan *plan, const void *samples)
{
    const surface_box region = plan->parts[0].box;
    const size_t size = tml_type_size(plan->type);
    if (plan->all_labels)
        plan->part_count = 0;
    for (uint32_t p = 0; p < plan->part_count; p++)
        plan->parts[p].box = (surface_box){{UINT64_MAX, UINT64_MAX, UINT64_MAX}, {0, 0, 0}};
    uint32_t last = 0; /* the part found last: runs in neighbouring rows repeat it */
    for (uint64_t z = region.first[2]; z < region.first[2] + region.count[2]; z++) {
        if (!tml_progress(tml, "labels",
                          plan->progress_first + (plan->progress_last - plan->progress_first) *
                                                     (double)(z - region.first[2]) /
                                                     (double)region.count[2]))
            return tml_error(tml, TML_CANCELLED, "tml_surface: cancelled");
        for (uint64_t y = region.first[1]; y < region.first[1] + region.count[1]; y++) {
            const unsigned char *row =
                (const unsigned char *)samples + (z * plan->dims[1] + y) * plan->dims[0] * size;
            uint64_t end = region.first[0] + region.count[0];
            for (uint64_t x = region.first[0], next; x < end; x = next) {
                uint64_t bits = label_at(row, x, size);
                for (next = x + 1; next < end && label_at(row, next, size) == bits;)
                    next++;
                uint64_t label = surface_label(plan->type, bits);
                if (last >= plan->part_count || plan->parts[last].label != label)
                    last = part_lower_bound(plan, label);
                bool known = last < plan->part_count && plan->parts[last].label == label;
                if (!known && (!plan->all_labels || label == 0))
                    continue;
                if (!known) {
                    if (plan->part_count == plan->part_capacity)
                        return tml_error(tml, TML_UNSUPPORTED,
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
