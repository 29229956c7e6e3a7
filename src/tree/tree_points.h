/* Points against a tree: the inner loops, compiled for each instruction set. */
#ifndef TREE_POINTS_H
#define TREE_POINTS_H

#include "core/simd.h"
#include "tree/tree_internal.h"

/* A ray from a point along an axis, and what it has crossed. */
typedef struct points_ray {
    const tml_tree *tree;
    const float *point; /* finite */
    uint32_t axis;
    bool is_back; /* towards lower coordinates */
    bool is_on;   /* the point lies on a triangle, and the walk has ended */
    /* crossings of triangles whose normal points along +axis, less those of the others */
    int64_t turns;
    uint64_t count; /* crossings */
} points_ray;

/* Settles a slot's triangle exactly: adds its crossing to the ray, or sets is_on. */
void points_settle(points_ray *ray, uint32_t slot);

/* A triangle, and the square of its distance. */
typedef struct points_found {
    double squared;
    uint32_t slot, id;
} points_found;

/* The triangle nearest a point so far. Of several at the same distance, as it is computed, the one
 * of the least number. With k > 1: the k nearest so far in found, in order, and the last of them
 * here once there are k. */
typedef struct points_nearest {
    const tml_tree *tree;
    const float *point; /* finite */
    double squared;     /* its distance; infinity: none yet */
    uint32_t slot, id;  /* of the triangle */
    uint32_t k, count;
    points_found *found;
} points_nearest;

/* None yet; a limit's square bounds the search. */
static inline points_nearest points_none(const tml_tree *tree, const float *point, double squared)
{
    return (points_nearest){.tree = tree,
                            .point = point,
                            .squared = squared,
                            .slot = COLLIDE_NO_TRIANGLE,
                            .id = COLLIDE_NO_TRIANGLE};
}

/* Where a triangle is nearest a point. */
typedef struct points_place {
    double at[3], squared;
    uint32_t feature; /* a tml_tree_feature */
} points_place;

/* How much of all directions the mesh covers, as seen from a point: the generalised winding
 * number. */
typedef struct points_angle {
    const tml_tree *tree;
    const float *point; /* finite */
    double radius;      /* of a ball about the point; the error is that of every point in it */
    /* a dipole stands for triangles that are this many of their radii away from the ball, or
     * more */
    double reach;
    double turns; /* 1: all directions */
    double error; /* turns is off by this at most; infinity: a triangle is in the ball */
} points_angle;

/* A box's triangles as a dipole: rows of eight lanes for each group of boxes. The integral over a
 * surface of f(x) . n, f(x) = (x - q) / |x - q|^3, is 4 pi times the turns seen from q. With f
 * expanded about a point p, to first order, it is f(p) . normal + df(p) : moment, and off by at
 * most the integral of 3 |x - p|^2 / (|p - q| - radius)^4, since derivative number k of f is at
 * most (k + 1)! / distance^(k + 2) along any direction, as 1 / distance's are. */
enum {
    POINTS_DIPOLE_AT,         /* x y z: where the area's centre is */
    POINTS_DIPOLE_RADIUS = 3, /* of the ball about that with all corners in it */
    POINTS_DIPOLE_AREA,
    POINTS_DIPOLE_NORMAL, /* x y z: the sum of normals by area */
    POINTS_DIPOLE_MOMENT =
        8, /* xx yy zz, xy + yx, yz + zy, zx + xz: of normals by area and centres, seen from AT */
    POINTS_DIPOLE_SQUARES = 14, /* the integral of |x - AT|^2 */
    POINTS_DIPOLE = 15
};
static inline size_t points_dipoles_size(const tml_tree *tree)
{
    return (size_t)POINTS_DIPOLE * COLLIDE_WIDTH * sizeof(double) * tree->group_count;
}
/* Computes the tree's dipoles, unless it has them. */
tml_status points_make_dipoles(tml_context *tml, const char *call, tml_tree *tree);

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
    void (*turn)(points_angle *angle);
} points_loops;
extern const points_loops points_loops_plain, points_loops_avx2;

/* What tml_tree_nearest and tml_tree_distance_grid check: a tree whose mesh is closed as rule wants
 * it; and what a rule needs of the tree. call: of the message. */
tml_status points_check_tree(tml_context *tml, const char *call, const tml_tree *tree,
                             tml_tree_rule rule);
/* Sums up the tree's edges, unless that is done. */
void points_learn(tml_tree *tree);
tml_status points_prepare_rule(tml_context *tml, const char *call, tml_tree *tree,
                               tml_tree_rule rule);
static inline bool points_is_finite(const float *point)
{
    return isfinite(point[0]) && isfinite(point[1]) && isfinite(point[2]);
}

/* The side of one point. */
tml_tree_side points_side_of(const points_loops *loops, const tml_tree *tree, tml_tree_rule rule,
                             const float *point);

/* By the solid angle, of all points within radius of one: is it more than half? Else *is_sure is
 * false, with radius 0 never. */
bool points_covers_half(const points_loops *loops, const tml_tree *tree, const float *point,
                        double radius, bool *is_sure);

/* The distance of the nearest triangle that was found, or infinity, as it is told. */
points_place points_place_of(const points_loops *loops, const points_nearest *nearest);
float points_signed_distance(double squared, tml_tree_side side);
float points_distance(const points_loops *loops, const points_nearest *nearest, tml_tree_side side);

#endif
