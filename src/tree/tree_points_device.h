/* Points against a tree, on the device. */
#ifndef TREE_POINTS_DEVICE_H
#define TREE_POINTS_DEVICE_H

#include "stream/program.h"
#include "tree/tree_points.h"

/* The host is faster for fewer points; more points do not fit indices and lists. */
enum { POINTS_LEAST = 1024, POINTS_MOST = 1 << 27 };
/* Whether the device may walk the tree. */
bool points_run_on_device(const tml_context *tml, tml_tree *tree);
/* Fills desc.sides on the device. The host decides points of which the device is unsure. */
tml_status points_sides_on_device(tml_context *tml, const tml_tree_nearest_desc *desc,
                                  uint64_t count);
/* Fills all outputs on the device.
 * is_told: false without doubles, or if a point is out of range; outputs are then undefined. */
tml_status points_nearest_on_device(tml_context *tml, const tml_tree_nearest_desc *desc,
                                    uint64_t count, bool *is_told);

/* Fills desc.out on the device.
 * desc: checked. at: coordinates of the samples per axis.
 * is_told: false if the device cannot, or too many lines are left to the host; out is undefined. */
tml_status grid_on_device(tml_context *tml, const tml_tree_distance_grid_desc *desc,
                          const float *const *at, bool *is_told);

/* ---- what they share ------------------------------------------------------------------------- */

/* Writes what a walk needs to know of the tree: COLLIDE_PLAN_WORDS words. */
void points_plan(const tml_tree *tree, uint32_t *plan);
/* Makes a buffer of the same words, then the triangle of each slot, then the words of `more`. */
tml_status points_plan_make(tml_context *tml, const char *call, const tml_tree *tree,
                            const uint32_t *more, uint64_t more_count, tml_buffer *out);

/* Points sorted along a curve through the tree's box, and their indices: arrays of a program. */
typedef struct points_order {
    tml_buffer indices, points;
} points_order;
points_order points_add_order(program *p, tml_buffer points, uint64_t count, tml_buffer plan);

/* Finds the sides of points. points_add_sides adds it to a program. After the program has ended,
 * points_sides_end frees the memory. */
typedef struct points_sides {
    const tml_tree_nearest_desc *desc;
    uint64_t count;
    tml_buffer out; /* u8: the sides */
    /* Arrays of the unsure points: their indices, coordinates, number and sides. */
    tml_buffer unsure, at, total, settled;
    /* Copies of these on the host. */
    uint32_t unsure_count;
    uint32_t *numbers, *sides;
    float *points;
    size_t size; /* bytes of numbers, sides and points together */
} points_sides;
void points_add_sides(program *p, points_sides *s, tml_buffer plan, points_order order);
void points_sides_end(tml_context *tml, points_sides *s);

#endif
