/* Points against a tree: sides and nearest triangles; loops compiled per instruction set. */
#ifndef TREE_POINTS_H
#define TREE_POINTS_H

#include "core/simd.h"
#include "tree/tree_internal.h"

/* An axis-parallel ray from a point, and its crossings. */
typedef struct points_ray {
    const tml_tree *tree;
    const float *point; /* finite */
    uint32_t axis;
    bool is_back; /* towards -axis */
    bool is_on;   /* the point lies on a triangle; the walk then stops */
    /* crossings of triangles whose normal points along +axis, minus the other crossings */
    int64_t turns;
    uint64_t count; /* crossings */
} points_ray;

/* Decides a slot's triangle exactly: adds its crossing to the ray, or sets is_on. */
void points_settle(points_ray *ray, uint32_t slot);

/* A triangle, and its squared distance from the point. */
typedef struct points_found {
    double squared;
    uint32_t slot, id;
} points_found;

/* The triangle nearest to a point, so far. Among triangles at the same computed distance, the one
 * with the smallest number. With k > 1, found has the k nearest so far, in order; once there are k,
 * squared and id are those of the last one. */
typedef struct points_nearest {
    const tml_tree *tree;
    const float *point; /* finite */
    double squared;     /* squared distance; infinity: none yet */
    uint32_t slot, id;  /* that triangle's */
    uint32_t k, count;
    points_found *found;
} points_nearest;

/* A search that has found nothing yet. squared: bounds the search. */
static inline points_nearest points_none(const tml_tree *tree, const float *point, double squared)
{
    return (points_nearest){.tree = tree,
                            .point = point,
                            .squared = squared,
                            .slot = COLLIDE_NO_TRIANGLE,
                            .id = COLLIDE_NO_TRIANGLE};
}

/* A triangle's nearest place to the point. */
typedef struct points_place {
    double at[3], squared;
    uint32_t feature; /* a tml_tree_feature */
} points_place;

/* The generalised winding number: how often the mesh covers all directions from a point. */
typedef struct points_angle {
    const tml_tree *tree;
    const float *point; /* finite */
    double radius;      /* ball about the point; error covers all of its points */
    /* a dipole replaces triangles if its distance from the ball exceeds reach times its radius */
    double reach;
    double turns; /* 1: all directions, once */
    double error; /* bound of the error of turns; infinity: a triangle is in the ball */
} points_angle;

/* The triangles of a box as a dipole. Each group of boxes has these rows of eight lanes.
 * The integral over a surface of f(x) . n, with f(x) = (x - q) / |x - q|^3, is 4 pi times the turns
 * seen from q. Expanded to first order about a point p, f gives f(p) . normal + df(p) : moment. The
 * error is at most the integral of 3 |x - p|^2 / (|p - q| - radius)^4, since the k-th derivative of
 * f is at most (k + 1)! / distance^(k + 2) along any direction, like that of 1 / distance. */
enum {
    POINTS_DIPOLE_AT,         /* x y z: centre of the area */
    POINTS_DIPOLE_RADIUS = 3, /* radius of a ball about AT that contains all corners */
    POINTS_DIPOLE_AREA,
    POINTS_DIPOLE_NORMAL, /* x y z: sum of the normals, weighted by area */
    POINTS_DIPOLE_MOMENT =
        8, /* xx yy zz, xy + yx, yz + zy, zx + xz: of weighted normals and centres about AT */
    POINTS_DIPOLE_SQUARES = 14, /* integral of |x - AT|^2 */
    POINTS_DIPOLE = 15
};
static inline size_t points_dipoles_size(const tml_tree *tree)
{
    return (size_t)POINTS_DIPOLE * COLLIDE_WIDTH * sizeof(double) * tree->group_count;
}
/* Computes the tree's dipoles, unless they are current. */
tml_status points_make_dipoles(tml_context *tml, const char *call, tml_tree *tree);

/* A line of samples along x, and the sides of all samples. */
typedef struct points_line {
    const tml_tree *tree;
    const float *x; /* ascending */
    uint32_t count;
    float y, z;
    bool is_winding;
    uint32_t *sides; /* a tml_tree_side per sample */
} points_line;

typedef struct points_loops {
    /* Traces the ray through the whole tree. */
    void (*cross)(points_ray *ray);
    void (*cross_line)(points_line *line);
    /* Replaces nearest by a slot's triangle if that is nearer. */
    void (*offer)(points_nearest *nearest, uint32_t slot);
    /* Searches the tree for a triangle nearer than what nearest already has. */
    void (*find)(points_nearest *nearest);
    points_place (*place)(const points_nearest *nearest);
    void (*turn)(points_angle *angle);
} points_loops;
extern const points_loops points_loops_plain, points_loops_avx2;

/* Sums up the tree's edges and sets is_moderate, unless both are current. */
void points_learn(tml_tree *tree);
/* Computes what the rule needs, and checks that the mesh is closed if the rule requires it. */
tml_status points_prepare_rule(tml_context *tml, const char *call, tml_tree *tree,
                               tml_tree_rule rule);
static inline bool points_is_finite(const float *point)
{
    return isfinite(point[0]) && isfinite(point[1]) && isfinite(point[2]);
}

/* Returns the side of one point. */
tml_tree_side points_side_of(const points_loops *loops, const tml_tree *tree, tml_tree_rule rule,
                             const float *point);

/* Whether the solid angle is more than half, for all points within radius of `point`.
 * is_sure: false if that is not so for all alike. Always true if radius is 0. */
bool points_covers_half(const points_loops *loops, const tml_tree *tree, const float *point,
                        double radius, bool *is_sure);

/* Results of a search: nearest place, signed distance; infinity if nothing was found. */
points_place points_place_of(const points_loops *loops, const points_nearest *nearest);
float points_signed_distance(double squared, tml_tree_side side);
float points_distance(const points_loops *loops, const points_nearest *nearest, tml_tree_side side);

#endif
