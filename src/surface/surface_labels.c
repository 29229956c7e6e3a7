/* Finds the bounding box of each label, or the labels that occur. One host thread reads the volume
 * in runs of equal labels. Runs are long, so the work is about one comparison per sample. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "surface/surface_internal.h"

/* ---- the part of a label --------------------------------------------------------------------- */

/* Named labels: the parts are in ascending order, and found by binary search. Found labels: parts
 * are appended as their labels first occur, found by a hash table, and sorted at the end. */
typedef struct label_parts {
    tml_context *tml;
    surface_plan *plan;
    uint32_t *table; /* TABLE_SIZE slots: a part's number plus 1; 0: free; NULL: labels are named */
    uint32_t last;   /* the last part found: neighbouring runs often repeat it */
} label_parts;

enum { TABLE_LOG2 = 17, TABLE_SIZE = 1 << TABLE_LOG2 }; /* load factor at most 1/2 */

static const surface_box no_samples = {{UINT64_MAX, UINT64_MAX, UINT64_MAX}, {0, 0, 0}};

/* Returns the first part whose label is not less than this label. */
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

/* Returns the label's slot in the table, or the free slot where it belongs. Linear probing. */
static uint32_t *table_place(const label_parts *all, uint64_t label)
{
    uint32_t at = (uint32_t)(label * 0x9e3779b97f4a7c15u >> (64 - TABLE_LOG2));
    while (all->table[at] && all->plan->parts[all->table[at] - 1].label != label)
        at = (at + 1) % TABLE_SIZE;
    return &all->table[at];
}

/* Sets out to the part of a label, or to NULL. With all_labels, a label without a part gets one. */
static tml_status part_of(label_parts *all, uint64_t label, surface_part **out)
{
    surface_plan *plan = all->plan;
    *out = NULL;
    if (all->last < plan->part_count && plan->parts[all->last].label == label) {
        *out = &plan->parts[all->last];
        return TML_OK;
    }
    if (!all->table) {
        uint32_t place = part_lower_bound(plan, label);
        if (place == plan->part_count || plan->parts[place].label != label)
            return TML_OK;
        all->last = place;
        *out = &plan->parts[place];
        return TML_OK;
    }
    if (label == 0)
        return TML_OK;
    uint32_t *place = table_place(all, label);
    if (!*place) {
        if (plan->part_count == plan->part_capacity)
            return tml_error(all->tml, TML_ERROR_UNSUPPORTED,
                             "tml_surface: the volume has more than %" PRIu32
                             " labels; name the ones wanted in desc.labels",
                             plan->part_capacity);
        plan->parts[plan->part_count++] = (surface_part){.label = label, .box = no_samples};
        *place = plan->part_count;
    }
    all->last = *place - 1;
    *out = &plan->parts[all->last];
    return TML_OK;
}

static int compare_signed(const void *a, const void *b)
{
    int64_t x = (int64_t)((const surface_part *)a)->label;
    int64_t y = (int64_t)((const surface_part *)b)->label;
    return (x > y) - (x < y);
}

static int compare_unsigned(const void *a, const void *b)
{
    uint64_t x = ((const surface_part *)a)->label, y = ((const surface_part *)b)->label;
    return (x > y) - (x < y);
}

/* ---- boxes ----------------------------------------------------------------------------------- */

/* Grows a part's box to contain samples [x, x_last] of a row. Until box_finish, box.count holds the
 * end of the box, not its size. */
static void box_add(surface_box *box, uint64_t x, uint64_t x_last, uint64_t y, uint64_t z)
{
    const uint64_t low[3] = {x, y, z}, high[3] = {x_last, y, z};
    for (int a = 0; a < 3; a++) {
        box->first[a] = TML_MIN_OF(box->first[a], low[a]);
        box->count[a] = TML_MAX_OF(box->count[a], high[a] + 1);
    }
}

/* Turns box.count from an end into a size. Widens the box by a sample on every side, as far as the
 * region allows, because the surface runs between a label's samples and the samples around them. */
static void box_finish(const surface_box *region, surface_box *box)
{
    for (int a = 0; a < 3; a++) {
        uint64_t low = region->first[a], high = region->first[a] + region->count[a];
        if (box->count[a] == 0) { /* the label does not occur: no box has a surface */
            box->first[a] = low;
            box->count[a] = 1;
            continue;
        }
        uint64_t end = TML_MIN_OF(box->count[a] + 1, high);
        box->first[a] = box->first[a] > low ? box->first[a] - 1 : low;
        box->count[a] = end - box->first[a];
    }
}

static tml_status take_row(label_parts *all, const surface_box *region, const void *samples,
                           uint64_t y, uint64_t z)
{
    const surface_plan *plan = all->plan;
    const size_t size = tml_type_size(plan->type);
    const unsigned char *row =
        (const unsigned char *)samples + (z * plan->dims[1] + y) * plan->dims[0] * size;
    uint64_t end = region->first[0] + region->count[0];
    for (uint64_t x = region->first[0], next; x < end; x = next) {
        uint64_t bits = surface_bits_at(row, x, size);
        for (next = x + 1; next < end && surface_bits_at(row, next, size) == bits;)
            next++;
        surface_part *part;
        tml_status status = part_of(all, surface_label(plan->type, bits), &part);
        if (status != TML_OK)
            return status;
        if (part)
            box_add(&part->box, x, next - 1, y, z);
    }
    return TML_OK;
}

tml_status surface_labels(tml_context *tml, surface_plan *plan, const void *samples)
{
    const surface_box region = plan->parts[0].box;
    label_parts all = {.tml = tml, .plan = plan};
    tml_status status = TML_OK;
    if (plan->all_labels) {
        plan->part_count = 0;
        all.table = tml_alloc_array(tml, TABLE_SIZE, sizeof *all.table);
        if (!all.table)
            return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                             "tml_surface: no memory to find labels in");
        memset(all.table, 0, TABLE_SIZE * sizeof *all.table);
    }
    for (uint32_t p = 0; p < plan->part_count; p++)
        plan->parts[p].box = no_samples;
    for (uint64_t z = 0; z < region.count[2] && status == TML_OK; z++) {
        double done = (double)z / (double)region.count[2];
        status = surface_step_done(tml, plan, "labels", done);
        for (uint64_t y = 0; y < region.count[1] && status == TML_OK; y++)
            status = take_row(&all, &region, samples, region.first[1] + y, region.first[2] + z);
    }
    for (uint32_t p = 0; p < plan->part_count; p++)
        box_finish(&region, &plan->parts[p].box);
    if (all.table)
        qsort(plan->parts, plan->part_count, sizeof *plan->parts,
              tml_type_is_signed(plan->type) ? compare_signed : compare_unsigned);
    tml_free(tml, all.table, TABLE_SIZE * sizeof *all.table);
    return status;
}
