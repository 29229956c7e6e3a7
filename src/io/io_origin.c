/* Chooses an origin for coordinates that are far from 0, so that floats relative to it keep the
 * shape. */
#include <math.h>

#include <trommel/meshes.h>

#include "io/io_internal.h"

/* If the largest coordinate is more than this times the extent, float coordinates get an origin,
 * too. Storing floats loses nothing, but values computed from them (edge midpoints, grid samples)
 * are rounded; at this ratio 13 bits of a float are left for them. */
static const double origin_ratio_of_floats = 1024.0;

void tml_io_choose_origin(const double lower[3], const double upper[3], bool is_inexact,
                          double origin[3])
{
    double extent = 0.0, largest = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        extent = fmax(extent, upper[axis] - lower[axis]);
        largest = fmax(largest, fmax(fabs(lower[axis]), fabs(upper[axis])));
    }
    tml_box_position_origin(lower, upper, origin);
    bool is_fine = !is_inexact && !(extent > 0.0 && largest > origin_ratio_of_floats * extent);
    for (int axis = 0; axis < 3 && is_fine; axis++)
        origin[axis] = 0.0;
}

/* Positions that are farther from 0 than this times their extent have lost so many bits that an
 * origin is worth it. */
static const double origin_ratio = 64.0;

bool tml_positions_recenter(float *positions, uint64_t count, double origin[3])
{
    double lower[3], upper[3], extent = 0;
    for (int axis = 0; axis < 3; axis++) {
        lower[axis] = INFINITY;
        upper[axis] = -INFINITY;
    }
    for (uint64_t i = 0; i < 3 * count; i++) {
        const double p = (double)positions[i];
        if (isfinite(p)) {
            lower[i % 3] = fmin(lower[i % 3], p);
            upper[i % 3] = fmax(upper[i % 3], p);
        }
    }
    for (int axis = 0; axis < 3; axis++)
        extent = fmax(extent, upper[axis] - lower[axis]);
    /* The centre is an integer that a float holds, about as far from 0 as the positions.
     * Subtracting it is exact: both numbers are multiples of the same power of 2, and the
     * difference is smaller than the position. */
    double centre[3];
    bool moves = false;
    for (int axis = 0; axis < 3; axis++) {
        const double middle = lower[axis] + 0.5 * (upper[axis] - lower[axis]);
        const bool is_far = isfinite(middle) && fabs(middle) > origin_ratio * fmax(extent, 0);
        centre[axis] = is_far ? (double)(float)round(middle) : 0;
        moves |= centre[axis] != 0;
        origin[axis] += centre[axis];
    }
    for (uint64_t i = 0; i < 3 * count && moves; i++)
        if (isfinite(positions[i]))
            positions[i] = (float)((double)positions[i] - centre[i % 3]);
    return moves;
}
