/* Vectors of three doubles, and degrees. */
#ifndef CLI_VECTORS_H
#define CLI_VECTORS_H

#include <math.h>
#include <stdbool.h>

static const double degree = 0.017453292519943295; /* in radians */

static inline double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void cross(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* Returns false if v has no length. */
static inline bool normalize(double v[3])
{
    double length = sqrt(dot(v, v));
    for (int i = 0; i < 3; i++)
        v[i] /= length;
    return length > 0;
}

#endif
