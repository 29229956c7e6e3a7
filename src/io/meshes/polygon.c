/* Triangulates polygons by cutting off ears (Gary Meisters: Polygons Have Ears. 1975). The polygon
 * is projected along the longest component of its normal (Newell's normal, as in Ivan Sutherland et
 * al.: A Characterization of Ten Hidden-Surface Algorithms. 1974). */
#include <math.h>

#include "io/meshes/mesh_sink.h"

/* Projects the polygon along the largest component of its normal, and mirrors if the orientation
 * would change. Returns false if the projection has no area. */
static bool flatten(const double *positions, const uint32_t *corners, uint32_t count, double *flat)
{
    const double *origin = positions + 3 * (size_t)corners[0];
    double normal[3] = {0, 0, 0};
    for (uint32_t i = 0; i < count; i++) {
        const double *p = positions + 3 * (size_t)corners[i];
        const double *q = positions + 3 * (size_t)corners[(i + 1) % count];
        for (int axis = 0; axis < 3; axis++) {
            int u = (axis + 1) % 3, v = (axis + 2) % 3;
            normal[axis] +=
                (p[u] - origin[u]) * (q[v] - origin[v]) - (p[v] - origin[v]) * (q[u] - origin[u]);
        }
    }
    int longest = 0;
    for (int axis = 1; axis < 3; axis++)
        longest = fabs(normal[axis]) > fabs(normal[longest]) ? axis : longest;
    int u = (longest + 1) % 3, v = (longest + 2) % 3;
    double sign = normal[longest] < 0 ? -1 : 1;
    for (uint32_t i = 0; i < count; i++) {
        const double *p = positions + 3 * (size_t)corners[i];
        flat[2 * i] = p[u] - origin[u];
        flat[2 * i + 1] = sign * (p[v] - origin[v]);
    }
    return normal[longest] != 0;
}

/* Returns twice the signed area of a triangle: positive if it turns left. */
static double turn(const double *flat, uint32_t a, uint32_t b, uint32_t c)
{
    return (flat[2 * b] - flat[2 * a]) * (flat[2 * c + 1] - flat[2 * a + 1]) -
           (flat[2 * b + 1] - flat[2 * a + 1]) * (flat[2 * c] - flat[2 * a]);
}

static bool is_same(const double *flat, uint32_t a, uint32_t b)
{
    return flat[2 * a] == flat[2 * b] && flat[2 * a + 1] == flat[2 * b + 1];
}

/* Does every corner turn left, and does the outline go round once? It does if x rises and falls
 * just once. */
static bool is_strictly_convex(const double *flat, uint32_t count)
{
    uint32_t changes = 0;
    double before = 0;
    for (uint32_t i = 0; i < 2 * count; i++) { /* round 1 finds the step before corner 0 */
        uint32_t a = i % count, b = (i + 1) % count, c = (i + 2) % count;
        if (!(turn(flat, a, b, c) > 0))
            return false;
        double step = flat[2 * b] - flat[2 * a];
        changes += i >= count && step != 0 && (step > 0) != (before > 0);
        before = step != 0 ? step : before;
    }
    return changes <= 2;
}

/* Is corner b an ear: does its triangle contain no other corner? Corners that turn left need no
 * test. A corner at the position of one of the triangle's is the other side of a bridge to a
 * hole. */
static bool is_ear(const double *flat, const uint32_t *next, const uint32_t *previous, uint32_t b,
                   uint64_t *tests)
{
    uint32_t a = previous[b], c = next[b];
    if (!(turn(flat, a, b, c) > 0))
        return false;
    for (uint32_t p = next[c]; p != a; p = next[p]) {
        ++*tests;
        if (turn(flat, previous[p], p, next[p]) > 0 || is_same(flat, p, a) || is_same(flat, p, b) ||
            is_same(flat, p, c))
            continue;
        if (turn(flat, a, b, p) >= 0 && turn(flat, b, c, p) >= 0 && turn(flat, c, a, p) >= 0)
            return false;
    }
    return true;
}

/* Returns the first ear from corner start on, or MESH_NONE if none is left or the tests are used
 * up. */
static uint32_t find_ear(const double *flat, const uint32_t *next, const uint32_t *previous,
                         uint32_t start, uint32_t left, uint64_t *tests)
{
    uint32_t b = start;
    for (uint32_t i = 0; i < left && *tests < POLYGON_TESTS_MAX; i++, b = next[b])
        if (is_ear(flat, next, previous, b, tests))
            return b;
    return MESH_NONE;
}

bool tml_polygon_cut(const double *positions, const uint32_t *corners, uint32_t count,
                     uint32_t apex, uint32_t *next, uint32_t *previous, double *flat,
                     uint64_t *tests, uint32_t *triangles, polygon_kind *kind)
{
    bool has_area = flatten(positions, corners, count, flat);
    *tests += count;
    if (!has_area || is_strictly_convex(flat, count)) {
        *kind = has_area ? POLYGON_CONVEX : POLYGON_CROSSED;
        for (uint32_t i = 0; i + 2 < count; i++) {
            triangles[3 * i] = apex;
            triangles[3 * i + 1] = (apex + i + 1) % count;
            triangles[3 * i + 2] = (apex + i + 2) % count;
        }
        return *tests < POLYGON_TESTS_MAX;
    }
    *kind = POLYGON_CONCAVE;
    for (uint32_t i = 0; i < count; i++) {
        next[i] = (i + 1) % count;
        previous[i] = (i + count - 1) % count;
    }
    uint32_t at = 1;
    for (uint32_t left = count, i = 0; left >= 3; left--, i++) {
        uint32_t ear = left > 3 ? find_ear(flat, next, previous, at, left, tests) : at;
        if (*tests >= POLYGON_TESTS_MAX)
            return false;
        if (ear == MESH_NONE) { /* an outline that does not cross itself has two ears */
            *kind = POLYGON_CROSSED;
            ear = at;
        }
        triangles[3 * i] = previous[ear];
        triangles[3 * i + 1] = ear;
        triangles[3 * i + 2] = next[ear];
        next[previous[ear]] = next[ear];
        previous[next[ear]] = previous[ear];
        at = next[next[ear]]; /* skips the neighbour: else fans of slivers result */
    }
    return true;
}
