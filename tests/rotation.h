/* Rotations for tests of poses. */
#ifndef ROTATION_H
#define ROTATION_H

#include <math.h>

/* Converts a quaternion, of any length but 0, to the rows of a pose without translation. */
void rotation_of(const double q[4], double m[12]);

#endif
