/* Points against a tree: exact decisions where the loops are unsure.
 *
 * After: Edelsbrunner, Muecke: Simulation of Simplicity. 1990 (rays through edges and vertices). */
#include "exact/exact.h"
#include "tree/tree_points.h"

/* collide_ray_edge in exact arithmetic: whether the edge from corner i to the next one passes above
 * the point. is_down: whether its first end is above the point along y. */
static bool passes_above(exact_points *points, const points_ray *ray, int i, bool *is_down)
{
    int axis = (int)ray->axis, y = (axis + 1) % 3, next = (i + 1) % 3;
    *is_down = points->at[i][y] > points->at[3][y];
    if (*is_down == (points->at[next][y] > points->at[3][y]))
        return false;
    return exact_turn(points, axis, i, next, 3) == (*is_down ? 1 : -1);
}

void points_settle(points_ray *ray, uint32_t slot)
{
    float triangle[9], at[9];
    exact_points points;
    bool is_met = false, is_along = false;
    tree_triangle(ray->tree, slot, triangle);
    for (int k = 0; k < 9; k++)
        at[k] = ray->point[k % 3];
    ray->is_on = collide_exact(triangle, at, NULL) != TML_COLLIDE_CLASS_NONE;
    if (ray->is_on)
        return;
    exact_points_load(&points, triangle, at);
    for (int i = 0; i < 3; i++) {
        bool is_down;
        if (passes_above(&points, ray, i, &is_down)) {
            is_met = !is_met;
            is_along |= is_down;
        }
    }
    /* The determinant of the corners, relative to the point, has the opposite sign. */
    int side = -exact_side(&points, 0, 1, 2, 3);
    if (!is_met || ((side > 0) == is_along) == ray->is_back)
        return;
    ray->count++;
    ray->turns += is_along ? 1 : -1;
}
