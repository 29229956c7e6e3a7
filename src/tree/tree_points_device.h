/* Points against a tree on the device. */
#ifndef TREE_POINTS_DEVICE_H
#define TREE_POINTS_DEVICE_H

#include "stream/program.h"
#include "tree/tree_points.h"

/* Fewer points the host answers faster than a device; more do not fit its indices and lists. */
enum { POINTS_LEAST = 1024, POINTS_MOST = 1 << 27 };
/* May the device walk the tree? */
bool points_run_on_device(const tml_context *tml, tml_tree *tree);
/* Fills desc.sides there; what the device is unsure of is settled here. */
tml_status points_sides_on_device(tml_context *tml, const tml_tree_nearest_desc *desc,
                                  uint64_t count);
/* Fills the other outputs there. *is_told: false where the device has no doubles, or a point is out
 * of their range; then outputs are undefined. */
tml_status points_nearest_on_device(tml_context *tml, const tml_tree_nearest_desc *desc,
                                    uint64_t count, bool *is_told);

/* Fills desc.out there, of a checked desc. at: coordinates of the samples along each axis.
 * *is_told: false where the device cannot, or the host would have to tell too many lines' sides;
 * out is then undefined. */
tml_status grid_on_device(tml_context *tml, const tml_tree_distance_grid_desc *desc,
                          const float *const *at, bool *is_told);

/* ---- what they share ------------------------------------------------------------------------- */

/* What a walk has to know of the tree: COLLIDE_PLAN_WORDS. */
void points_plan(const tml_tree *tree, uint32_t *plan);
/* The same in a buffer, then the triangles of slots, then more_count words. */
tml_status points_plan_make(tml_context *tml, const char *call, const tml_tree *tree,
                            const uint32_t *more, uint64_t more_count, tml_buffer *out);

/* Points along a curve through the tree's box, and where they stand in their stream: arrays of a
 * program. */
typedef struct points_order {
    tml_buffer indices, points;
} points_order;
points_order points_add_order(program *p, tml_buffer points, uint64_t count, tml_buffer plan);

/* Finds the sides of points. points_sides_end frees what it takes, when the program has ended. */
typedef struct points_sides {
    const tml_tree_nearest_desc *desc;
    uint64_t count;
    tml_buffer out; /* u8: the sides */
    /* Arrays: which points are to be settled, where they are, how many; and their sides. */
    tml_buffer unsure, at, total, settled;
    /* The same on the host. */
    uint32_t unsure_count;
    uint32_t *numbers, *sides;
    float *points;
    size_t size; /* bytes from numbers on */
} points_sides;
void points_add_sides(program *p, points_sides *s, tml_buffer plan, points_order order);
void points_sides_end(tml_context *tml, points_sides *s);

#endif
