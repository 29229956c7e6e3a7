/* Generalised winding numbers: computes dipoles for the boxes of a tree, and chooses how closely to
 * look at them.
 *
 * After: Jacobson, Kavan, Sorkine-Hornung: Robust Inside-Outside Segmentation using Generalized
 * Winding Numbers. 2013; Barill, Dickson, Schmidt, Levin, Jacobson: Fast Winding Numbers for Soups
 * and Clouds. 2018; Van Oosterom, Strackee: The Solid Angle of a Plane Triangle. 1983. */
#include <math.h>
#include <string.h>

#include "core/call.h"
#include "tree/tree_points.h"

/* A triangle's normal, whose length is its area, and its centre. */
typedef struct facet {
    double normal[3], center[3], area, at[3][3];
} facet;

static facet facet_of(const tml_tree *tree, uint32_t slot)
{
    facet f;
    float floats[9];
    tree_triangle(tree, slot, floats);
    for (int k = 0; k < 9; k++)
        f.at[k / 3][k % 3] = (double)floats[k];
    for (int k = 0; k < 3; k++) {
        int y = (k + 1) % 3, z = (k + 2) % 3;
        f.normal[k] = 0.5 * ((f.at[1][y] - f.at[0][y]) * (f.at[2][z] - f.at[0][z]) -
                             (f.at[1][z] - f.at[0][z]) * (f.at[2][y] - f.at[0][y]));
        f.center[k] = (f.at[0][k] + f.at[1][k] + f.at[2][k]) / 3;
    }
    f.area =
        sqrt(f.normal[0] * f.normal[0] + f.normal[1] * f.normal[1] + f.normal[2] * f.normal[2]);
    return f;
}

/* Writes the dipole of slots [first, end) to one lane of rows. */
static void make_dipole(const tml_tree *tree, uint32_t first, uint32_t end, double *rows)
{
    double d[POINTS_DIPOLE] = {0}, *at = d + POINTS_DIPOLE_AT, *moment = d + POINTS_DIPOLE_MOMENT;
    double *normal = d + POINTS_DIPOLE_NORMAL, area = 0, radius = 0, squares = 0;
    for (uint32_t slot = first; slot < end; slot++) {
        facet f = facet_of(tree, slot);
        double weight = tree->ids[slot] == COLLIDE_NO_TRIANGLE ? 0 : f.area;
        area += weight;
        for (int k = 0; k < 3; k++)
            at[k] += weight * f.center[k];
    }
    for (int k = 0; k < 3; k++)
        at[k] = area > 0 ? at[k] / area : 0;
    for (uint32_t slot = first; slot < end && area > 0; slot++) {
        facet f = facet_of(tree, slot);
        if (tree->ids[slot] == COLLIDE_NO_TRIANGLE)
            continue;
        for (int k = 0; k < 3; k++) {
            int next = (k + 1) % 3;
            double way = f.center[k] - at[k], other = f.center[next] - at[next], square = 0;
            normal[k] += f.normal[k];
            moment[k] += f.normal[k] * way;
            moment[3 + k] += f.normal[k] * other + f.normal[next] * way;
            for (int j = 0; j < 3; j++)
                square += (f.at[k][j] - at[j]) * (f.at[k][j] - at[j]);
            radius = fmax(radius, square);
            squares += f.area / 12 * (square + 9 * way * way);
        }
    }
    d[POINTS_DIPOLE_RADIUS] = sqrt(radius) * (1 + 0x1p-40);
    d[POINTS_DIPOLE_AREA] = area;
    d[POINTS_DIPOLE_SQUARES] = squares * (1 + 0x1p-40);
    for (size_t row = 0; row < POINTS_DIPOLE; row++)
        rows[COLLIDE_WIDTH * row] = d[row];
}

typedef struct dipole_job {
    const tml_tree *tree;
    uint32_t level;
} dipole_job;

static void group_task(void *argument, uint32_t group)
{
    const dipole_job *job = argument;
    const tml_tree *tree = job->tree;
    double *rows = tree->dipoles +
                   (size_t)POINTS_DIPOLE * COLLIDE_WIDTH * (tree->level_group[job->level] + group);
    uint64_t width = (uint64_t)1 << (3 * job->level), slots = tree->level_count[0];
    for (uint64_t lane = 0; lane < COLLIDE_WIDTH; lane++) {
        uint64_t first = (COLLIDE_WIDTH * (uint64_t)group + lane) * width;
        make_dipole(tree, (uint32_t)TML_MIN_OF(first, slots),
                    (uint32_t)TML_MIN_OF(first + width, slots), rows + lane);
    }
}

tml_status points_make_dipoles(tml_context *tml, const char *call, tml_tree *tree)
{
    size_t size = points_dipoles_size(tree);
    if (tree->has_dipoles || tree->levels == 0)
        return TML_OK;
    if (!tree->dipoles)
        tree->dipoles = tml_alloc(tml, size);
    if (!tree->dipoles)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %zu bytes of dipoles",
                         call, size);
    dipole_job job = {.tree = tree};
    for (job.level = 1; job.level <= tree->levels; job.level++)
        tml_parallel_for(tml, TML_CEIL_DIV(tree->level_count[job.level], COLLIDE_WIDTH), group_task,
                         &job);
    tree->has_dipoles = true;
    return TML_OK;
}

bool points_covers_half(const points_loops *loops, const tml_tree *tree, const float *point,
                        double radius, bool *is_sure)
{
    static const double reaches[] = {3, 5, 9, 20, INFINITY};
    points_angle angle = {.tree = tree, .point = point, .radius = radius};
    *is_sure = false;
    for (size_t i = 0; i < TML_ARRAY_SIZE(reaches) && !*is_sure; i++) {
        angle.reach = reaches[i];
        loops->turn(&angle);
        *is_sure = fabs(fabs(angle.turns) - 0.5) > angle.error;
        if (radius > 0)
            break;
    }
    return fabs(angle.turns) >= 0.5;
}
