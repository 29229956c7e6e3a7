/* The origin of positions, for coordinates where floats relative to 0 would lose too much. */
#include <math.h>
#include <trommel/surface.h>

/* A float that counts from 0 has a step of at most 2^-23 of its size. From this many grid steps on,
 * that is more than a 4000th of a grid step, and the clearance that keeps vertices apart
 * (SURFACE_CLEARANCE) is lost. */
static const double farthest_step = 0x1p12;

/* Returns whether the direction is diagonal, like the identity, or zeroed, which stands for it. */
static bool is_along_axes(const tml_grid *grid)
{
    for (int i = 0; i < 9; i++)
        if (i % 4 != 0 && grid->direction[i] != 0.0)
            return false;
    return true;
}

void tml_grid_position_origin(const tml_grid *grid, double out[3])
{
    double steps[3], least = INFINITY;
    if (!out)
        return;
    out[0] = out[1] = out[2] = 0.0;
    if (!grid)
        return;
    for (int axis = 0; axis < 3; axis++) {
        steps[axis] = grid->spacing[axis] > 0.0 ? grid->spacing[axis] : 1.0;
        least = fmin(least, steps[axis]);
    }
    bool is_straight = is_along_axes(grid), is_far = false;
    for (int axis = 0; axis < 3; axis++)
        is_far |= fabs(grid->origin[axis]) > farthest_step * (is_straight ? steps[axis] : least);
    for (int axis = 0; axis < 3 && is_far; axis++)
        out[axis] = grid->origin[axis];
}

/* If a coordinate is M times the points' extent, floats have log2(M) fewer bits for the shape.
 * While at most six bits are lost (18 remain: a 260,000th of the extent), keeping the given
 * coordinates is worth more than the precision. */
static const double origin_ratio = 64.0;

void tml_box_position_origin(const double lower[3], const double upper[3], double out[3])
{
    double extent = 0.0, largest = 0.0;
    if (!out)
        return;
    out[0] = out[1] = out[2] = 0.0;
    if (!lower || !upper)
        return;
    for (int axis = 0; axis < 3; axis++) {
        extent = fmax(extent, upper[axis] - lower[axis]);
        largest = fmax(largest, fmax(fabs(lower[axis]), fabs(upper[axis])));
    }
    bool is_far = largest > origin_ratio * extent;
    double exponent = extent > 0.0 ? floor(log10(extent)) : 0.0;
    double step = pow(10.0, fabs(exponent)); /* a whole number, as 1000 is exact and 0.001 is not */
    for (int axis = 0; axis < 3; axis++) {
        double centre = lower[axis] + 0.5 * (upper[axis] - lower[axis]);
        double rounded = exponent < 0.0 ? round(centre * step) / step : round(centre / step) * step;
        if (is_far && isfinite(rounded))
            out[axis] = rounded + 0.0; /* turns -0 into 0 */
    }
}
