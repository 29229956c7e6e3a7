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

/* Follows the ray through the whole tree. */
typedef void (*points_cross_fn)(points_ray *ray);
typedef struct points_loops {
    points_cross_fn cross;
} points_loops;
extern const points_loops points_loops_plain, points_loops_avx2;

#endif
