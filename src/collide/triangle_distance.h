/* The distance of two triangles, and their nearest points. */
#ifndef COLLIDE_TRIANGLE_DISTANCE_H
#define COLLIDE_TRIANGLE_DISTANCE_H

#include <stdbool.h>

typedef struct collide_nearest {
    double distance;
    float a[3], b[3]; /* a point of each triangle, at that distance */
} collide_nearest;

/* Computes the distance of two triangles, exactly 0 if and only if they meet (exact/exact.h).
 * a, b: three vertices of x, y, z each, finite; the area may be 0.
 * limit: may be INFINITY.
 * Returns: false if they are farther apart than limit; *out is then unchanged.
 *
 * Otherwise the distance's error is less than 2^-46 times the largest difference of coordinates
 * among the six vertices. Before they are rounded to float, the points are that near to the
 * triangles; at distance 0 they are one point. Reentrant; allocates nothing. */
bool collide_triangle_distance(const float a[9], const float b[9], double limit,
                               collide_nearest *out);

#endif
