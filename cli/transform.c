/* Scales, rotates and translates meshes and points. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "transform.h"
#include "vectors.h"

static void factors_of(const transform_options *o, double out[3])
{
    for (uint32_t i = 0; i < 3; i++)
        out[i] = o->scale.values[o->scale.count == 3 ? i : 0];
}

bool transform_is_asked(const transform_options *o)
{
    double factors[3];
    bool is = false;
    factors_of(o, factors);
    for (int i = 0; i < 3; i++)
        is |= factors[i] != 1 || o->rotate.values[i] != 0 || o->translate.values[i] != 0;
    return is;
}

void transform_matrix(const double scale[3], const double rotate[3], const double translate[3],
                      double m[12])
{
    double s[3], c[3];
    for (int i = 0; i < 3; i++) {
        bool is_quarter = fmod(rotate[i], 90) == 0; /* exact for multiples of 90 degrees */
        long quarters = is_quarter ? ((long)fmod(rotate[i] / 90, 4) + 4) % 4 : 0;
        s[i] = is_quarter ? (quarters == 1) - (quarters == 3) : sin(degree * rotate[i]);
        c[i] = is_quarter ? (quarters == 0) - (quarters == 2) : cos(degree * rotate[i]);
    }
    const double rotation[9] = {c[2] * c[1],
                                c[2] * s[1] * s[0] - s[2] * c[0],
                                c[2] * s[1] * c[0] + s[2] * s[0],
                                s[2] * c[1],
                                s[2] * s[1] * s[0] + c[2] * c[0],
                                s[2] * s[1] * c[0] - c[2] * s[0],
                                -s[1],
                                c[1] * s[0],
                                c[1] * c[0]};
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 3; column++)
            m[4 * row + column] = scale[column] * rotation[3 * row + column];
        m[4 * row + 3] = translate[row];
    }
}

const char *transform_refuse(const transform_options *o)
{
    if (o->scale.count == 2)
        return "--scale: give one factor, or three for x, y and z, such as 25.4";
    for (uint32_t i = 0; i < o->scale.count; i++)
        if (o->scale.values[i] == 0)
            return "--scale: a factor of 0 leaves nothing; give others, such as 25.4";
    return NULL;
}

static void find_matrix(const transform_options *o, double m[12])
{
    double factors[3];
    factors_of(o, factors);
    transform_matrix(factors, o->rotate.values, o->translate.values, m);
}

/* Moves the origin in double precision and the positions about it in float. If floats can hold the
 * whole coordinates as well, the origin becomes 0. */
static void move_positions(const double m[12], float *positions, uint64_t count, double origin[3])
{
    const double from[3] = {origin[0], origin[1], origin[2]};
    double place[3], most = 0, farthest = 0;
    for (int row = 0; row < 3; row++) {
        place[row] = m[4 * row + 3];
        for (int column = 0; column < 3; column++)
            place[row] += m[4 * row + column] * from[column];
        farthest = fmax(farthest, fabs(place[row]));
    }
    for (uint64_t i = 0; i < count; i++)
        for (int row = 0; row < 3; row++) {
            double at = 0;
            for (int column = 0; column < 3; column++)
                at += m[4 * row + column] * (double)positions[3 * i + (uint64_t)column];
            most = isfinite(at) ? fmax(most, fabs(at)) : most;
        }
    const bool is_near = farthest <= 64 * most;
    for (uint64_t i = 0; i < count; i++) {
        double at[3];
        for (int row = 0; row < 3; row++) {
            at[row] = is_near ? place[row] : 0;
            for (int column = 0; column < 3; column++)
                at[row] += m[4 * row + column] * (double)positions[3 * i + (uint64_t)column];
        }
        for (uint64_t axis = 0; axis < 3; axis++)
            positions[3 * i + axis] = (float)at[axis];
    }
    for (int row = 0; row < 3; row++)
        origin[row] = is_near ? 0 : place[row];
}

/* The matrix of cofactors, times the sign of the determinant: it maps normals to directions of
 * normals. Returns the determinant. */
static double find_cofactors(const double m[12], double out[9])
{
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++) {
            const int r = (row + 1) % 3, s = (row + 2) % 3;
            const int c = (column + 1) % 3, d = (column + 2) % 3;
            out[3 * row + column] = m[4 * r + c] * m[4 * s + d] - m[4 * r + d] * m[4 * s + c];
        }
    const double determinant = m[0] * out[0] + m[1] * out[1] + m[2] * out[2];
    for (int i = 0; i < 9 && determinant < 0; i++)
        out[i] = -out[i];
    return determinant;
}

static void reverse_corners(void *indices, bool is_wide, uint64_t count)
{
    uint32_t *narrow = indices;
    uint64_t *wide = indices;
    for (uint64_t t = 0; t < count && indices; t++) {
        if (is_wide) {
            const uint64_t corner = wide[3 * t + 1];
            wide[3 * t + 1] = wide[3 * t + 2];
            wide[3 * t + 2] = corner;
        } else {
            const uint32_t corner = narrow[3 * t + 1];
            narrow[3 * t + 1] = narrow[3 * t + 2];
            narrow[3 * t + 2] = corner;
        }
    }
}

void transform_mesh(const transform_options *o, tml_mesh *mesh)
{
    double m[12], cofactors[9];
    find_matrix(o, m);
    const double determinant = find_cofactors(m, cofactors);
    move_positions(m, mesh->positions, mesh->vertex_count, mesh->origin);
    float *normals = mesh->normals;
    for (uint64_t i = 0; i < mesh->vertex_count && normals; i++) {
        double n[3];
        for (int row = 0; row < 3; row++)
            n[row] = cofactors[3 * row] * (double)normals[3 * i] +
                     cofactors[3 * row + 1] * (double)normals[3 * i + 1] +
                     cofactors[3 * row + 2] * (double)normals[3 * i + 2];
        if (normalize(n))
            for (uint64_t axis = 0; axis < 3; axis++)
                normals[3 * i + axis] = (float)n[axis];
    }
    if (determinant < 0) {
        reverse_corners(mesh->indices, mesh->indices64, mesh->triangle_count);
        reverse_corners(mesh->uv_indices, false, mesh->triangle_count);
    }
}

void transform_points(const transform_options *o, tml_points *points)
{
    double m[12], cofactors[9];
    find_matrix(o, m);
    const double length =
        cbrt(fabs(find_cofactors(m, cofactors))); /* their mean if factors are unequal */
    move_positions(m, points->positions, points->count, points->origin);
    for (uint64_t i = 0; i < points->count && points->radii; i++)
        points->radii[i] = (float)(length * (double)points->radii[i]);
}
