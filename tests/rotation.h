/* Rotations for tests of poses. */
#ifndef ROTATION_H
#define ROTATION_H

#include <math.h>

/* The rotation of a quaternion of any length but 0, as the rows of a pose without a shift. */
void rotation_of(const double q[4], double m[12]);

#endif
