/* Exact signs of determinants of float points, and correctly rounded points of intersection, which
 * are quotients of such determinants. */
#ifndef COLLIDE_EXACT_SIGNS_H
#define COLLIDE_EXACT_SIGNS_H

#include <stdbool.h>
#include <stdint.h>

/* The six vertices of two triangles: points 0 to 2 are a's, points 3 to 5 are b's. */
enum { EXACT_POINTS = 6 };

typedef enum exact_grid { EXACT_GRID_UNKNOWN, EXACT_GRID_NONE, EXACT_GRID_FOUND } exact_grid;

typedef struct exact_points {
    float floats[EXACT_POINTS][3];
    double at[EXACT_POINTS][3]; /* the same as doubles */
    /* The same as integers below 2^40, in multiples of one power of two, if that is possible.
     * Computed at first use. */
    exact_grid grid;
    int64_t on_grid[EXACT_POINTS][3];
} exact_points;

/* Loads floats by their bits, so that subnormals survive even if the caller flushes them. */
void exact_points_load(exact_points *points, const float a[9], const float b[9]);

/* A difference of two of the points, to - from. */
typedef struct exact_vector {
    int from, to;
} exact_vector;

/* Sign of det[u, v, w]. */
int exact_volume(exact_points *points, const exact_vector v[3]);
/* Sign of a component of u x v. */
int exact_cross(exact_points *points, int axis, exact_vector u, exact_vector v);
/* exact_quotient_order: sign of det[n] / det[m] - x. exact_quotient_round: det[n] / det[m], rounded
 * to the nearest float, ties to even, zero as +0; it must be within the range of float. det[m] is
 * not 0. */
int exact_quotient_order(const exact_points *points, const exact_vector n[3],
                         const exact_vector m[3], float x);
float exact_quotient_round(const exact_points *points, const exact_vector n[3],
                           const exact_vector m[3]);

/* Sign of det[j - i, k - i, l - i]: the side of the plane through i, j, k on which point l lies; 1
 * in the direction of (j - i) x (k - i). Also the side on which the line i j passes the line k
 * l. */
int exact_side(exact_points *points, int i, int j, int k, int l);
/* Sign of det[j - i, k - i] of the points projected along an axis (0: y and z; 1: z and x; 2: x and
 * y), which is the sign of that component of (j - i) x (k - i). */
int exact_turn(exact_points *points, int axis, int i, int j, int k);
/* An axis along which i, j, k are not projected to one line; -1 if they lie on a line in space. */
int exact_axis(exact_points *points, int i, int j, int k);
/* Lexicographic order of two points: -1, 0, 1. For points on a line, it is their order along the
 * line. */
int exact_order(const exact_points *points, int i, int j);

/* A point on the line through two of the points: a vertex (from = to); or the intersection of the
 * line with the plane of three points; or with the line of two points in the same plane, both
 * projected along axis. */
typedef struct exact_cut {
    int from, to;
    int axis; /* -1: by the plane u, v, w; otherwise by the line u, v */
    int u, v, w;
} exact_cut;

/* The coordinates of a cut, each rounded to the nearest float, ties to even, zero as +0. */
void exact_cut_round(exact_points *points, const exact_cut *cut, float out[3]);

#endif
