/* Frames: of a grid; and of a shape, in which its ellipsoid is a ball. */
#include <math.h>

#include "core/matrix.h"
#include "field/field_internal.h"

bool field_invert(const double m[9], double out[9])
{
    double determinant = tml_invert3(m, out);
    bool regular = isfinite(determinant) && determinant != 0.0;
    for (int i = 0; i < 9; i++)
        regular = regular && isfinite(out[i]);
    return regular;
}

void field_grid_steps(const tml_grid *grid, double steps[3][3])
{
    for (int a = 0; a < 3; a++)
        for (int row = 0; row < 3; row++)
            steps[a][row] = grid->direction[3 * row + a] * grid->spacing[a];
}

void field_frame_of(double step[3][3], field_frame *out)
{
    out->xx = sqrt(field_dot(step[0], step[0]));
    out->xy = field_dot(step[0], step[1]) / out->xx;
    out->xz = field_dot(step[0], step[2]) / out->xx;
    for (int a = 0; a < 3; a++) {
        step[1][a] -= out->xy * step[0][a] / out->xx;
        step[2][a] -= out->xz * step[0][a] / out->xx;
    }
    out->yy = sqrt(field_dot(step[1], step[1]));
    out->yz = field_dot(step[1], step[2]) / out->yy;
    for (int a = 0; a < 3; a++)
        step[2][a] -= out->yz * step[1][a] / out->yy;
    out->zz = sqrt(field_dot(step[2], step[2]));
}

/* Returns whether all eigenvalues are at least 1, up to rounding. Tests the leading principal
 * minors. */
static bool is_at_least_one(const double g[3][3])
{
    double least = 1.0 - 0x1p-10, a = g[0][0] - least, b = g[1][1] - least, c = g[2][2] - least;
    double ab = a * b - g[0][1] * g[0][1];
    double abc =
        c * ab - a * g[1][2] * g[1][2] - b * g[0][2] * g[0][2] + 2.0 * g[0][1] * g[0][2] * g[1][2];
    return a > 0.0 && ab > 0.0 && abc > 0.0;
}

field_shape_record field_shape_record_of(const double steps[3][3], const float diagonal[3],
                                         const float others[3], double reach, float share)
{
    static const double largest = 1000.0;
    const double g[3][3] = {{(double)diagonal[0], (double)others[2], (double)others[1]},
                            {(double)others[2], (double)diagonal[1], (double)others[0]},
                            {(double)others[1], (double)others[0], (double)diagonal[2]}};
    bool is_usable = is_at_least_one(g);
    for (int i = 0; i < 3; i++)
        is_usable = is_usable && (double)diagonal[i] <= largest;
    if (!is_usable)
        return (field_shape_record){.support = {-1e30f, -1e30f, -1e30f}};
    double shaped[3][3];
    for (int a = 0; a < 3; a++)
        for (int row = 0; row < 3; row++)
            shaped[a][row] =
                (g[row][0] * steps[a][0] + g[row][1] * steps[a][1] + g[row][2] * steps[a][2]) /
                reach;
    field_frame f;
    field_frame_of(shaped, &f);
    const double y = f.yz / f.zz, xy = f.xy / f.yy, xz = (xy * f.yz - f.xz) / f.zz;
    const double half[3] = {sqrt(1.0 + xy * xy + xz * xz) / f.xx, sqrt(1.0 + y * y) / f.yy,
                            1.0 / f.zz};
    field_shape_record record = {.share = share};
    const double frame[6] = {f.xx, f.xy, f.xz, f.yy, f.yz, f.zz};
    for (int i = 0; i < 6; i++)
        record.frame[i] = (float)frame[i];
    for (int a = 0; a < 3; a++) /* wider, so that rounding hides no sample from a slab */
        record.support[a] = (float)(half[a] * (1.0 + 0x1p-10) + 0x1p-10);
    return record;
}
