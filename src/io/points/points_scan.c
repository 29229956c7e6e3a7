/* Distinguishes a scan from particles (tml_points_look_scanned). A point's nearest neighbours are a
 * flat patch on a surface, and a ball if points fill space. The eigenvalues of their covariance,
 * over a sample, decide. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <trommel/points.h>

enum {
    POINTS_LEAST = 200,
    SAMPLES = 63,    /* odd, for the median */
    NEIGHBOURS = 20, /* enough: random points in a volume do not look flat */
};

/* Finds the points nearest to one of them. */
static void find_neighbours(const tml_points *points, uint64_t of, uint64_t *out)
{
    const float *centre = points->positions + 3 * of;
    float squares[NEIGHBOURS];
    uint32_t count = 0;
    for (uint64_t i = 0; i < points->count; i++) {
        const float *p = points->positions + 3 * i;
        const float x = p[0] - centre[0], y = p[1] - centre[1], z = p[2] - centre[2];
        const float square = x * x + y * y + z * z;
        if (count == NEIGHBOURS && !(square < squares[NEIGHBOURS - 1]))
            continue;
        uint32_t at = count < NEIGHBOURS ? count++ : NEIGHBOURS - 1;
        for (; at > 0 && squares[at - 1] > square; at--) {
            squares[at] = squares[at - 1];
            out[at] = out[at - 1];
        }
        squares[at] = square;
        out[at] = i;
    }
}

/* Returns the least eigenvalue of their covariance divided by the largest: 0 on a plane. After:
 * Smith. Eigenvalues of a symmetric 3 x 3 matrix. 1961. */
static double find_thickness(const tml_points *points, const uint64_t *of)
{
    double mean[3] = {0, 0, 0}, c[6] = {0, 0, 0, 0, 0, 0}; /* xx yy zz xy xz yz */
    for (int i = 0; i < NEIGHBOURS; i++)
        for (uint64_t axis = 0; axis < 3; axis++)
            mean[axis] += (double)points->positions[3 * of[i] + axis] / NEIGHBOURS;
    for (int i = 0; i < NEIGHBOURS; i++) {
        const float *p = points->positions + 3 * of[i];
        const double x = (double)p[0] - mean[0], y = (double)p[1] - mean[1],
                     z = (double)p[2] - mean[2];
        const double products[6] = {x * x, y * y, z * z, x * y, x * z, y * z};
        for (int k = 0; k < 6; k++)
            c[k] += products[k];
    }
    const double middle = (c[0] + c[1] + c[2]) / 3;
    const double a = c[0] - middle, b = c[1] - middle, d = c[2] - middle;
    const double apart = a * a + b * b + d * d + 2 * (c[3] * c[3] + c[4] * c[4] + c[5] * c[5]);
    const double size = sqrt(apart / 6);
    if (!(middle > 0))
        return 0; /* all points coincide */
    if (!(size > 0))
        return 1;
    const double determinant = a * (b * d - c[5] * c[5]) - c[3] * (c[3] * d - c[5] * c[4]) +
                               c[4] * (c[3] * c[5] - b * c[4]);
    const double angle = acos(fmax(-1, fmin(1, determinant / (2 * size * size * size)))) / 3;
    const double third = 2.0943951023931953; /* a third of a turn */
    return fmax(middle + 2 * size * cos(angle + third), 0) / (middle + 2 * size * cos(angle));
}

static double median_thickness(const tml_points *points)
{
    double found[SAMPLES];
    for (uint32_t i = 0; i < SAMPLES; i++) {
        uint64_t neighbours[NEIGHBOURS];
        find_neighbours(points, points->count / SAMPLES * i + points->count % SAMPLES / 2,
                        neighbours);
        const double thickness = find_thickness(points, neighbours);
        uint32_t at = i;
        for (; at > 0 && found[at - 1] > thickness; at--)
            found[at] = found[at - 1];
        found[at] = thickness;
    }
    return found[SAMPLES / 2];
}

static bool has_normals(const tml_points *points)
{
    for (uint32_t i = 0; i < points->attribute_count; i++)
        if (strcmp(points->attributes[i].name, "normal") == 0 &&
            points->attributes[i].components == 3)
            return true;
    return false;
}

/* Do the points move, or have sizes? Then they are particles, however they lie. */
static bool has_motion(const tml_points *points)
{
    static const char *const names[] = {"velocity", "v", "vel", "pressure", "density", "mass"};
    for (uint32_t i = 0; i < points->attribute_count; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (strcmp(points->attributes[i].name, names[k]) == 0)
                return true;
    return points->radii != NULL;
}

tml_points_look tml_points_look_scanned(const tml_points *points)
{
    /* Thickness of a plane with noise of half the spacing. Particles in a volume have 0.3 and more,
     * also at its boundary. */
    const double flat = 0.12;
    if (has_motion(points) || points->count < POINTS_LEAST)
        return TML_POINTS_LOOK_PARTICLES;
    if (has_normals(points))
        return TML_POINTS_LOOK_ORIENTED;
    return median_thickness(points) < flat ? TML_POINTS_LOOK_FLAT : TML_POINTS_LOOK_PARTICLES;
}
