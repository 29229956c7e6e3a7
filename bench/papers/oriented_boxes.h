/* Oriented boxes around the nodes of a tree, and a descent that tests them. */
#ifndef ORIENTED_BOXES_H
#define ORIENTED_BOXES_H

#include "papers.h"

#include "collide/collide_pairs_depth.h"

/* The points center + sum of t[k] axes[k] with |t[k]| <= half[k]; axes are orthonormal. */
typedef struct oriented_box {
    float center[3], axes[3][3], half[3];
} oriented_box;

struct papers_oriented {
    uint32_t first[COLLIDE_LEVELS_MAX + 1]; /* of a level's boxes */
    uint32_t count;
    oriented_box *boxes;
};

/* A descent of collide_pairs_depth_loops.h and what its pairs must pass. */
typedef struct oriented_run {
    depth_run run; /* first: the loops know only it */
    papers_volume volume;
    const papers_oriented *a, *b;
} oriented_run;

/* May the oriented boxes of the pair's nodes meet? run's pose, a rotation and a translation, moves
 * b's box. */
bool oriented_meet(const oriented_run *run, const depth_pair *pair, uint32_t step);

extern const depth_loops oriented_loops_plain, oriented_loops_avx2;

#endif
