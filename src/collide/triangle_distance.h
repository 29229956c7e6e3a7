/* How far two triangles are apart, and where. */
#ifndef COLLIDE_TRIANGLE_DISTANCE_H
#define COLLIDE_TRIANGLE_DISTANCE_H

#include <stdbool.h>

typedef struct collide_nearest {
    double distance;
    float a[3], b[3]; /* a point of each triangle, that far apart */
} collide_nearest;

/* a and b: three vertices of x, y, z each, finite; with or without area. False, and *out untouched,
 * when they are farther apart than limit (which may be INFINITY).
 *
 * distance is 0 if and only if the triangles meet (exact/exact.h). Otherwise it is off by less
 * than 2^-46 times the largest difference of coordinates among the six vertices. The points lie as
 * near to the triangles as that, before they are rounded to float; at distance 0 they are one
 * point. Reentrant; allocates nothing. */
bool collide_triangle_distance(const float a[9], const float b[9], double limit,
                               collide_nearest *out);

#endif
