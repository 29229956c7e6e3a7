/* Ray casting on the host: the hits of a ray, and exact decisions where the loops are unsure.
 *
 * A ray hits a triangle if its line, moved by (e, e^2, e^3) with e infinitesimal, passes through
 * the triangle's interior: if three determinants have the same sign, for each edge that of the
 * direction and the edge's ends, relative to the origin. If a determinant is 0, its sign under the
 * move is the sign of the first nonzero component of direction x edge. After: Edelsbrunner, Muecke:
 * Simulation of Simplicity. 1990. */
#include <math.h>
#include <string.h>
#include <trommel/kernel_math.h>

#include "exact/exact.h"
#include "tree/tree_cast.h"

/* Points of an exact_points: 0 to 2 are the triangle's corners, then these follow. */
enum { ORIGIN = 3, DIRECTION, ZERO };

static void load_exactly(exact_points *points, const cast_ray *ray, const float triangle[9])
{
    float others[9] = {0};
    memcpy(others, ray->origin, sizeof ray->origin);
    memcpy(others + 3, ray->direction, sizeof ray->direction);
    exact_points_load(points, triangle, others);
}

/* The sign of the determinant of the edge from corner i on. 0: the edge is parallel to the ray. */
static int edge_sign(exact_points *points, int i)
{
    const exact_vector way = {ZERO, DIRECTION};
    int next = (i + 1) % 3;
    int sign = exact_volume(points, (exact_vector[]){way, {ORIGIN, i}, {ORIGIN, next}});
    for (int axis = 0; axis < 3 && sign == 0; axis++)
        sign = exact_cross(points, axis, way, (exact_vector){i, next});
    return sign;
}

static bool passes_through(exact_points *points)
{
    int sign = edge_sign(points, 0);
    return sign != 0 && edge_sign(points, 1) == sign && edge_sign(points, 2) == sign;
}

/* Puts `moving` into a max-heap of count hits, at place `at` or below: larger children move up. */
static void sift(uint64_t *hits, uint64_t count, uint64_t at, uint64_t moving)
{
    for (uint64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        child += child + 1 < count && hits[child + 1] > hits[child];
        if (hits[child] <= moving)
            break;
        hits[at] = hits[child];
        at = child;
    }
    hits[at] = moving;
}

static void make_heap(uint64_t *hits, uint64_t count)
{
    for (uint64_t start = count / 2; start-- > 0;)
        sift(hits, count, start, hits[start]);
}

/* Heapsort needs no memory, and no order of the hits makes it slow. After: Williams: Algorithm 232,
 * Heapsort. 1964. */
void cast_sort_hits(uint64_t *hits, uint64_t count)
{
    make_heap(hits, count);
    for (uint64_t sorted = count; sorted > 1; sorted--) {
        uint64_t moving = hits[sorted - 1];
        hits[sorted - 1] = hits[0];
        sift(hits, sorted - 1, 0, moving);
    }
}

/* Keeps a hit if it is among the ray->room smallest so far. */
static void keep_hit(cast_ray *ray, uint64_t hit)
{
    if (ray->count < ray->room) {
        ray->hits[ray->count] = hit;
        return;
    }
    if (ray->count == ray->room)
        make_heap(ray->hits, ray->room);
    if (hit < ray->hits[0])
        sift(ray->hits, ray->room, 0, hit);
}

static void cast_add(cast_ray *ray, uint32_t slot, float t)
{
    uint32_t id = ray->tree->ids[slot];
    uint64_t hit = (uint64_t)tml_float_bits(t) << 32 | id;
    if (ray->want != TML_TREE_CAST_NEAREST) {
        if (ray->hits)
            keep_hit(ray, hit);
        ray->count++;
        ray->is_over = ray->want == TML_TREE_CAST_ANY;
    } else if (hit < ray->best) {
        ray->best = hit;
        ray->slot = slot;
        ray->t_far = t;
    }
}

typedef struct triangle_t {
    double t, error;
} triangle_t;

/* 2^-76 is added, so that 2^-49 of it covers coordinates below 2^-126 that were taken for 0. */
static double farthest(const double v[3])
{
    return fmax(fmax(fabs(v[0]), fabs(v[1])), fabs(v[2])) + 0x1p-76;
}

/* Estimates the t at which the ray meets the triangle's plane. The error is infinite or NaN if t is
 * unknown. Each determinant is a sum of six products, each off by less than 2^-49 of the product of
 * its factors' largest coordinates: 3 differences, 2 products and 3 sums are rounded, by 2^-53
 * each. */
static triangle_t estimate_t(const cast_ray *ray, const float at[9])
{
    double u[3], v[3], from[3], way[3];
    for (int k = 0; k < 3; k++) {
        u[k] = (double)at[3 + k] - (double)at[k];
        v[k] = (double)at[6 + k] - (double)at[k];
        from[k] = (double)at[k] - (double)ray->origin[k];
        way[k] = (double)ray->direction[k];
    }
    double normal[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                        u[0] * v[1] - u[1] * v[0]};
    double size = farthest(u) * farthest(v) * 6 * 0x1p-49, n = cast_dot(normal, from);
    double m = cast_dot(normal, way), n_error = size * farthest(from),
           m_error = size * farthest(way);
    double t = n / m, certain = fabs(m) - m_error;
    double error = (n_error + fabs(t) * m_error) / certain + fabs(t) * 0x1p-51;
    return (triangle_t){t, certain > 0 ? error : (double)INFINITY};
}

static void take_exactly(cast_ray *ray, uint32_t slot, exact_points *points)
{
    static const exact_vector n[3] = {{0, 1}, {0, 2}, {ORIGIN, 0}};
    static const exact_vector m[3] = {{0, 1}, {0, 2}, {ZERO, DIRECTION}};
    if (exact_quotient_order(points, n, m, ray->t_min) >= 0 &&
        exact_quotient_order(points, n, m, ray->t_max) <= 0)
        cast_add(ray, slot, exact_quotient_round(points, n, m));
}

void cast_take(cast_ray *ray, uint32_t slot, bool is_sure)
{
    float triangle[9];
    exact_points points;
    bool is_loaded = false;
    tree_triangle(ray->tree, slot, triangle);
    if (!is_sure) {
        load_exactly(&points, ray, triangle);
        is_loaded = true;
        if (!passes_through(&points))
            return;
    }
    triangle_t t = estimate_t(ray, triangle);
    double low = t.t - t.error, high = t.t + t.error;
    if (high < (double)ray->t_min || low > (double)ray->t_max || (float)low > ray->t_far)
        return;
    if (low > (double)ray->t_min && high < (double)ray->t_max && (float)low == (float)high) {
        cast_add(ray, slot, (float)low);
        return;
    }
    if (!is_loaded)
        load_exactly(&points, ray, triangle);
    take_exactly(ray, slot, &points);
}
