/* Points against a tree: the inner loops, compiled for each instruction set. */
#ifndef COLLIDE_POINTS_H
#define COLLIDE_POINTS_H

#include "collide/collide_internal.h"

/* A ray from a point along an axis, and what it has crossed. */
typedef struct points_ray {
    const tml_tree *tree;
    const float *point; /* finite */
    uint32_t axis;
    bool is_back; /* towards lower coordinates */
    bool is_on;   /* the point lies on a triangle, and the walk has ended */
    int64_t
        turns; /* crossings of triangles whose normal points along +axis, less those of the others */
    uint64_t count; /* crossings */
} points_ray;

/* Settles a slot's triangle exactly: adds its crossing to the ray, or sets is_on. */
void points_settle(points_ray *ray, uint32_t slot);

/* The triangle nearest a point so far. Of several at the same distance, as it is computed, the one of the least number. */
typedef struct points_nearest {
    const tml_tree *tree;
    const float *point; /* finite */
    double squared;     /* its distance; infinity: none yet */
    uint32_t slot, id;  /* of the triangle */
} points_nearest;

/* Where a triangle is nearest a point. */
typedef struct points_place {
    double at[3], squared;
    uint32_t feature; /* a tml_tree_feature */
} points_place;

/* Samples on a line along x: the sides of all of them. */
typedef struct points_line {
    const tml_tree *tree;
    const float *x; /* ascending */
    uint32_t count;
    float y, z;
    bool is_winding;
    uint32_t *sides; /* a tml_tree_side each */
} points_line;

typedef struct points_loops {
    /* Follows the ray through the whole tree. */
    void (*cross)(points_ray *ray);
    void (*cross_line)(points_line *line);
    /* Takes a slot's triangle if it is nearer. */
    void (*offer)(points_nearest *nearest, uint32_t slot);
    /* Finds the nearest of the tree, or of what is nearest already. */
    void (*find)(points_nearest *nearest);
    points_place (*place)(const points_nearest *nearest);
} points_loops;
extern const points_loops points_loops_plain, points_loops_avx2;
const points_loops *points_loops_for_processor(void);

/* What tml_tree_nearest and tml_tree_distance_grid check: a tree whose mesh is closed as rule wants it. call: of the
 * message. */
tml_status points_check_tree(tml_context *tml, const char *call, const tml_tree *tree,
                             tml_tree_rule rule);
tml_status points_check_closed(tml_context *tml, const char *call, tml_tree *tree,
                               tml_tree_rule rule);
/* The side of one point. */
tml_tree_side points_side_of(const points_loops *loops, const tml_tree *tree, tml_tree_rule rule,
                             const float *point);

/* May the device tell sides of so many points? */
bool points_run_on_device(const tml_context *tml, const tml_tree_nearest_desc *desc,
                          uint64_t count);
/* Fills desc.sides there; what the device is unsure of is settled here. */
tml_status points_sides_on_device(tml_context *tml, const tml_tree_nearest_desc *desc,
                                  uint64_t count);
/* The distance of the nearest triangle that was found, or infinity, as it is told. */
float points_distance(const points_loops *loops, const points_nearest *nearest, tml_tree_side side);

#endif
