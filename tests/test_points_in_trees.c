/* Points against trees, against a loop over all triangles in exact arithmetic that shares nothing
 * with the library's: coordinates are small integers times a power of two, rays go to a random
 * integer point, and another one is taken where a ray meets an edge, a corner or a plane. */
#include <trommel/trommel.h>

#include "core/simd.h"
#include "test.h"
#include "tree/tree_points.h"

#include "integer_mesh.h"

/* ---- meshes: three corners a triangle, of integers ------------------------------------------- */

static void add_tetrahedron(mesh *m, const point p[4])
{
    add_triangle(m, p[0], p[1], p[2]);
    add_triangle(m, p[0], p[3], p[1]);
    add_triangle(m, p[1], p[3], p[2]);
    add_triangle(m, p[2], p[3], p[0]);
}

static void add_quad(mesh *m, point a, point b, point c, point d)
{
    add_triangle(m, a, b, c);
    add_triangle(m, a, c, d);
}

/* From low to high on each axis, divided into n cells: faces outward, or inward if low is above
 * high. */
static void add_box(mesh *m, int64_t low, int64_t high, int64_t n)
{
    for (int axis = 0; axis < 3; axis++)
        for (int64_t u = 0; u < n; u++)
            for (int64_t v = 0; v < n; v++)
                for (int end = 0; end < 2; end++) {
                    point p[4];
                    for (int i = 0; i < 4; i++) {
                        int64_t s = u + (i == 1 || i == 2), t = v + (i >= 2);
                        p[i].at[axis] = end ? high : low;
                        p[i].at[(axis + 1) % 3] = low + (high - low) / n * s;
                        p[i].at[(axis + 2) % 3] = low + (high - low) / n * t;
                    }
                    if (end)
                        add_quad(m, p[0], p[1], p[2], p[3]);
                    else
                        add_quad(m, p[0], p[3], p[2], p[1]);
                }
}

/* A torus about z, rounded to integers, so that some triangles have no area. */
static void add_torus(mesh *m, int64_t size, uint32_t u, uint32_t v)
{
    for (uint32_t i = 0; i < u; i++)
        for (uint32_t j = 0; j < v; j++) {
            point p[4];
            for (uint32_t k = 0; k < 4; k++) {
                double a = 6.283185307179586 * ((i + (k == 1 || k == 2)) % u) / u;
                double b = 6.283185307179586 * ((j + (k >= 2)) % v) / v;
                double r = (double)size * (2 + cos(b)) / 3;
                p[k] = (point){
                    {llround(r * cos(a)), llround(r * sin(a)), llround((double)size * sin(b) / 3)}};
            }
            add_quad(m, p[0], p[1], p[2], p[3]);
        }
}

static void add_random(mesh *m, uint32_t count, int64_t range)
{
    for (uint32_t i = 0; i < count; i++) {
        point p[4];
        for (int k = 0; k < 12; k++)
            p[k / 3].at[k % 3] = 2 * random_below(range);
        add_tetrahedron(m, p);
    }
}

/* ---- the reference --------------------------------------------------------------------------- */

static int orientation(const point *a, const point *b, const point *c, const point *d)
{
    wide e[3][3];
    for (int k = 0; k < 3; k++) {
        e[0][k] = b->at[k] - a->at[k];
        e[1][k] = c->at[k] - a->at[k];
        e[2][k] = d->at[k] - a->at[k];
    }
    wide det = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
               e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
               e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
    return (det > 0) - (det < 0);
}

/* Twice a projected triangle's area along an axis. */
static wide area(const point *a, const point *b, const point *c, int axis)
{
    int x = (axis + 1) % 3, y = (axis + 2) % 3;
    return (wide)(b->at[x] - a->at[x]) * (c->at[y] - a->at[y]) -
           (wide)(b->at[y] - a->at[y]) * (c->at[x] - a->at[x]);
}

static bool is_between(const point *a, const point *b, const point *p)
{
    for (int k = 0; k < 3; k++)
        if (area(a, b, p, k) != 0 || (a->at[k] < p->at[k] && b->at[k] < p->at[k]) ||
            (a->at[k] > p->at[k] && b->at[k] > p->at[k]))
            return false;
    return true;
}

static bool is_on(const point t[3], const point *p)
{
    for (int i = 0; i < 3; i++)
        if (is_between(&t[i], &t[(i + 1) % 3], p))
            return true;
    if (orientation(&t[0], &t[1], &t[2], p) != 0)
        return false;
    for (int axis = 0; axis < 3; axis++) {
        wide whole = area(&t[0], &t[1], &t[2], axis);
        bool is_within = whole != 0;
        for (int i = 0; i < 3 && is_within; i++)
            is_within = (whole > 0) == (area(&t[i], &t[(i + 1) % 3], p, axis) > 0) &&
                        area(&t[i], &t[(i + 1) % 3], p, axis) != 0;
        if (whole != 0)
            return is_within;
    }
    return false;
}

/* False: the ray meets something that it must not, or does not leave. */
static bool cast(const mesh *m, const point *p, const point *to, uint32_t *count, int *turns)
{
    *count = 0;
    *turns = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        const point *t = m->corners + 3 * i;
        int from = orientation(&t[0], &t[1], &t[2], p), end = orientation(&t[0], &t[1], &t[2], to);
        int side[3];
        bool is_flat = area(&t[0], &t[1], &t[2], 0) == 0 && area(&t[0], &t[1], &t[2], 1) == 0 &&
                       area(&t[0], &t[1], &t[2], 2) == 0;
        if (is_flat)
            continue;
        if (end == 0)
            return false;
        if (from == 0 || from == end)
            continue; /* in the plane, but not on the triangle: the ray leaves the plane */
        for (int k = 0; k < 3; k++)
            side[k] = orientation(p, to, &t[k], &t[(k + 1) % 3]);
        if ((side[0] >= 0 && side[1] >= 0 && side[2] >= 0) ||
            (side[0] <= 0 && side[1] <= 0 && side[2] <= 0)) {
            if (side[0] == 0 || side[1] == 0 || side[2] == 0)
                return false;
            ++*count;
            *turns += end;
        }
    }
    return true;
}

static tml_tree_side reference(const mesh *m, const point *p, tml_tree_rule rule)
{
    uint32_t count;
    int turns;
    point to;
    for (uint32_t i = 0; i < m->count; i++)
        if (is_on(m->corners + 3 * i, p))
            return TML_TREE_ON;
    do {
        for (int k = 0; k < 3; k++)
            to.at[k] = (random_below(2) ? 1 : -1) * (((int64_t)1 << 22) + random_below(1 << 22));
    } while (!cast(m, p, &to, &count, &turns));
    bool is_inside = rule != TML_TREE_RULE_EVEN_ODD ? turns != 0 : count % 2 == 1;
    return is_inside ? TML_TREE_INSIDE : TML_TREE_OUTSIDE;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static void check_sides(tml_context *tml, const mesh *m, const point *points, uint32_t count,
                        tml_tree_rule rule, int exponent, const uint8_t *expected)
{
    float *at = floats_of(points, count, exponent);
    uint8_t *sides = malloc((size_t)count + 1);
    tml_tree *tree = tree_of(tml, m, exponent);
    tml_buffer in = buffer(tml, vec3_type, count, at), out = buffer(tml, TML_U8, count, NULL);
    uint32_t wrong = 0;
    CHECK_OK(tml,
             tml_tree_nearest(tml, &(tml_tree_nearest_desc){
                                       .tree = tree, .points = in, .rule = rule, .sides = out}));
    CHECK_OK(tml, tml_buffer_read(tml, out, sides));
    for (uint32_t i = 0; i < count; i++)
        if (sides[i] != expected[i] && wrong++ == 0)
            printf("    point (%lld, %lld, %lld), exponent %d: side %u, expected %u\n",
                   (long long)points[i].at[0], (long long)points[i].at[1],
                   (long long)points[i].at[2], exponent, sides[i], expected[i]);
    CHECK_EQ_U64(wrong, 0);
    tml_buffer_destroy(tml, in);
    tml_buffer_destroy(tml, out);
    tml_tree_destroy(tml, tree);
    free(sides);
    free(at);
}

static tml_context *open_cpu(uint32_t threads)
{
    tml_context *tml = NULL;
    CHECK(tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = threads}, &tml) == TML_OK);
    return tml;
}

/* A device, opened once; NULL: there is none here. */
static tml_context *device(tml_engine_kind engine)
{
    static tml_context *opened[2];
    static bool is_tried[2];
    int which = engine == TML_ENGINE_GL;
    if (!is_tried[which] && tml_open(&(tml_open_desc){.engine = engine}, &opened[which]) != TML_OK)
        opened[which] = NULL;
    is_tried[which] = true;
    return opened[which];
}

/* Where sides are told by kernels, and where coordinates are so large or small that the host tells
 * them. */
static void check_on_devices(const mesh *m, const point *points, uint32_t count, tml_tree_rule rule,
                             const uint8_t *expected)
{
    static const int exponents[] = {0, 70, -95, -149};
    for (int i = 0; i < 8; i++) {
        tml_context *tml = device(i % 2 ? TML_ENGINE_GL : TML_ENGINE_VULKAN);
        if (tml)
            check_sides(tml, m, points, count, rule, exponents[i / 2], expected);
    }
}

/* On one thread and three, with each level of SIMD, and as large and as small as floats go. */
static void check_points(const mesh *m, const point *points, uint32_t count, tml_tree_rule rule)
{
    static const int exponents[] = {-3, 0, 70, -60, -149, 40};
    uint8_t *expected = malloc((size_t)count + 1);
    uint32_t on = 0, inside = 0;
    for (uint32_t i = 0; i < count; i++) {
        expected[i] = (uint8_t)reference(m, &points[i], rule);
        on += expected[i] == TML_TREE_ON;
        inside += expected[i] == TML_TREE_INSIDE;
    }
    CHECK(inside > 0 && inside + on < count);
    for (int i = 0; i < 6; i++) {
        if (!test_takes((uint64_t)i, 3))
            continue;
        tml_context *tml = open_cpu(i % 2 ? 3 : 1);
        tml_simd_force(i < 3 ? TML_SIMD_LEVELS : TML_SIMD_BASE);
        check_sides(tml, m, points, count, rule, exponents[i], expected);
        tml_simd_force(TML_SIMD_LEVELS);
        tml_close(tml);
    }
    check_on_devices(m, points, count, rule, expected);
    free(expected);
}

/* Every point of a grid about the mesh. */
static void check_grid(const mesh *m, int64_t low, int64_t high, tml_tree_rule rule)
{
    uint32_t n = (uint32_t)(high - low + 1), count = n * n * n;
    point *points = malloc(count * sizeof *points);
    for (uint32_t i = 0; i < count; i++)
        points[i] = (point){{low + i % n, low + i / n % n, low + i / n / n}};
    check_points(m, points, count, rule);
    free(points);
}

static void check_random(const mesh *m, uint32_t count, int64_t low, int64_t high,
                         tml_tree_rule rule)
{
    point *points = malloc(count * sizeof *points);
    for (uint32_t i = 0; i < 3 * count; i++)
        points[i / 3].at[i % 3] = low + random_below(high - low + 1);
    check_points(m, points, count, rule);
    free(points);
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* Most rays along axes go through edges and corners here. */
TEST(grid_points_about_a_box)
{
    mesh m = {0};
    add_box(&m, -8, 8, 4);
    check_grid(&m, -10, 10, TML_TREE_RULE_EVEN_ODD);
    check_grid(&m, -10, 10, TML_TREE_RULE_WINDING);
    free(m.corners);
}

TEST(grid_points_about_boxes_in_boxes)
{
    mesh m = {0};
    add_box(&m, -8, 8, 2);
    add_box(&m, -4, 4, 1);
    add_box(&m, 2, 10, 4);
    check_grid(&m, -10, 11, TML_TREE_RULE_EVEN_ODD);
    check_grid(&m, -10, 11, TML_TREE_RULE_WINDING);
    add_box(&m, 6, -6, 3); /* inward */
    check_grid(&m, -9, 11, TML_TREE_RULE_WINDING);
    free(m.corners);
}

TEST(grid_points_about_random_tetrahedra)
{
    for (int round = 0; round < 4; round++) {
        mesh m = {0};
        add_random(&m, 3u << (2 * round), 8);
        check_grid(&m, -1, 15, round % 2 ? TML_TREE_RULE_WINDING : TML_TREE_RULE_EVEN_ODD);
        free(m.corners);
    }
}

TEST(points_about_a_torus)
{
    const uint32_t count = TEST_IS_SLOW ? 1000 : 12000;
    mesh m = {0};
    add_torus(&m, 40, 60, 40);
    check_random(&m, count, -44, 44, TML_TREE_RULE_EVEN_ODD);
    free(m.corners);
    m = (mesh){0};
    add_torus(&m, 1 << 20, 40, 20);
    check_random(&m, count, -(1 << 20), 1 << 20, TML_TREE_RULE_WINDING);
    free(m.corners);
}

/* Points on the mesh's corners and on the middles of edges and of faces. */
TEST(points_on_the_mesh)
{
    mesh m = {0};
    add_torus(&m, 1 << 16, 24, 12);
    for (uint32_t i = 0; i < 9 * m.count; i++)
        m.corners[i / 3].at[i % 3] *= 4;
    point *points = malloc((size_t)10 * m.count * sizeof *points);
    uint32_t count = 0;
    for (uint32_t i = 0; i < m.count; i++) {
        const point *t = m.corners + 3 * i;
        for (int k = 0; k < 3; k++) {
            point middle, inner;
            for (int c = 0; c < 3; c++) {
                int64_t next = t[(k + 1) % 3].at[c], last = t[(k + 2) % 3].at[c];
                middle.at[c] = (t[k].at[c] + next) / 2;
                inner.at[c] = (2 * t[k].at[c] + next + last) / 4;
            }
            points[count++] = t[k];
            points[count++] = middle;
            points[count++] = inner;
        }
        points[count++] = (point){{t[0].at[0] / 2, t[0].at[1] / 2, random_below(3) - 1}};
    }
    points[0] = (point){{0, 0, 0}};
    points[1] = (point){{8 << 16 >> 2, 0, 1}};
    for (uint32_t i = 2; i < 40; i++)
        points[i] = (point){{(4 << 16) * 2 / 3, (int64_t)i * 3, (int64_t)i}};
    check_points(&m, points, count, TML_TREE_RULE_EVEN_ODD);
    free(points);
    free(m.corners);
}

/* Counts at the seams of tasks, a length on the device, and what lies after it. */
TEST(lengths)
{
    tml_context *tml = open_cpu(2);
    mesh m = {0};
    add_box(&m, -2, 2, 1);
    tml_tree *tree = tree_of(tml, &m, 0);
    static float at[3 * 2050];
    static uint8_t sides[2050];
    for (uint32_t i = 0; i < 2050; i++)
        at[3 * i] = i % 3 ? 9 : 1;
    tml_buffer points = buffer(tml, vec3_type, 2050, at);
    static const uint64_t lengths[] = {0, 1, 1023, 1024, 1025, 2048, 2049, 2050, 9999};
    for (int i = 0; i < 9; i++) {
        memset(sides, 7, sizeof sides);
        tml_buffer out = buffer(tml, TML_U8, 2050, sides);
        uint32_t narrow = (uint32_t)lengths[i];
        tml_buffer length =
            i % 2 ? buffer(tml, TML_U32, 1, &narrow) : buffer(tml, TML_U64, 1, &lengths[i]);
        CHECK_OK(tml, tml_tree_nearest(tml, &(tml_tree_nearest_desc){.tree = tree,
                                                                     .points = points,
                                                                     .length.device = length,
                                                                     .sides = out}));
        CHECK_OK(tml, tml_buffer_read(tml, out, sides));
        uint64_t wrong = 0, end = lengths[i] < 2050 ? lengths[i] : 2050;
        for (uint64_t k = 0; k < 2050; k++)
            wrong += sides[k] != (k >= end ? 7 : k % 3 ? TML_TREE_OUTSIDE : TML_TREE_INSIDE);
        CHECK_EQ_U64(wrong, 0);
        tml_buffer_destroy(tml, length);
        tml_buffer_destroy(tml, out);
    }
    tml_tree_destroy(tml, tree);
    tml_close(tml);
    free(m.corners);
}

/* Points that are not finite, or as large as floats get; a tree of one triangle, and of none. */
TEST(points_that_are_not_finite_and_small_trees)
{
    static const float at[] = {NAN,     0,        0, 0, NAN,       0,     0,        0,
                               NAN,     INFINITY, 0, 0, -INFINITY, 0,     INFINITY, 3.4e38f,
                               3.4e38f, 3.4e38f,  0, 0, -3.4e38f,  0.25f, 0.25f,    0};
    enum { COUNT = 8 };
    tml_context *tml = open_cpu(1);
    tml_buffer points = buffer(tml, vec3_type, COUNT, at), out = buffer(tml, TML_U8, COUNT, NULL);
    uint8_t sides[COUNT];
    for (int kind = 0; kind < 3; kind++) {
        mesh m = {0};
        point p[] = {{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}};
        if (kind == 1) { /* one triangle that is a point, which is closed */
            add_triangle(&m, p[0], p[0], p[0]);
        } else if (kind == 2) { /* a sheet of two, which is closed, too */
            add_triangle(&m, p[0], p[1], p[2]);
            add_triangle(&m, p[0], p[2], p[1]);
        }
        tml_tree *tree = tree_of(tml, &m, 0);
        CHECK_OK(tml, tml_tree_nearest(tml, &(tml_tree_nearest_desc){
                                                .tree = tree, .points = points, .sides = out}));
        CHECK_OK(tml, tml_buffer_read(tml, out, sides));
        for (int i = 0; i < COUNT; i++)
            CHECK_EQ_U64(sides[i], kind == 2 && i == COUNT - 1 ? TML_TREE_ON : TML_TREE_OUTSIDE);
        tml_tree_destroy(tml, tree);
        free(m.corners);
    }
    tml_close(tml);
}

/* A mesh with a hole, and one whose triangles are turned differently. */
TEST(open_meshes_are_refused)
{
    tml_context *tml = open_cpu(1);
    mesh m = {0};
    add_box(&m, -8, 8, 4);
    float *whole = floats_of(m.corners, 3 * m.count, 0);
    tml_buffer vertices = buffer(tml, vec3_type, (uint64_t)3 * m.count, whole);
    point turned = m.corners[3 * 17];
    m.corners[3 * 17] = m.corners[3 * 17 + 1];
    m.corners[3 * 17 + 1] = turned;
    float at[3] = {1, 1, 1};
    tml_buffer points = buffer(tml, vec3_type, 1, at), out = buffer(tml, TML_U8, 1, NULL);
    tml_tree *tree = tree_of(tml, &m, 0);
    tml_tree_nearest_desc desc = {.tree = tree, .points = points, .sides = out};
    CHECK_OK(tml, tml_tree_nearest(tml, &desc));
    desc.rule = TML_TREE_RULE_WINDING;
    CHECK_STATUS(tml_tree_nearest(tml, &desc), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "EVEN_ODD") != NULL);
    CHECK_OK(tml, tml_tree_update(tml, tree, vertices, TML_TREE_REFIT));
    CHECK_OK(tml, tml_tree_nearest(tml, &desc));
    tml_tree_destroy(tml, tree);
    m.count--;
    tree = desc.tree = tree_of(tml, &m, 0);
    for (int rule = 0; rule < 2; rule++) {
        desc.rule = (tml_tree_rule)rule;
        CHECK_STATUS(tml_tree_nearest(tml, &desc), TML_ERROR_INVALID_ARGUMENT);
        CHECK(strstr(tml_last_error(tml), "has an edge, from (") != NULL);
    }
    desc.rule = TML_TREE_RULE_SOLID_ANGLE;
    CHECK_OK(tml, tml_tree_nearest(tml, &desc));
    desc.rule = (tml_tree_rule)3;
    CHECK_STATUS(tml_tree_nearest(tml, &desc), TML_ERROR_INVALID_ARGUMENT);
    desc = (tml_tree_nearest_desc){.tree = tree, .points = points};
    CHECK_STATUS(tml_tree_nearest(tml, &desc), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "no output") != NULL);
    desc.distances = buffer(tml, TML_F32, 1, NULL); /* without a sign any mesh has distances */
    CHECK_OK(tml, tml_tree_nearest(tml, &desc));
    desc.is_signed = true;
    CHECK_STATUS(tml_tree_nearest(tml, &desc), TML_ERROR_INVALID_ARGUMENT);
    desc = (tml_tree_nearest_desc){.points = points, .sides = out};
    CHECK_STATUS(tml_tree_nearest(tml, &desc), TML_ERROR_INVALID_ARGUMENT);
    tml_tree_destroy(tml, tree);
    tml_close(tml);
    free(whole);
    free(m.corners);
}

/* ---- the nearest ----------------------------------------------------------------------------- */

static long double along(const point *a, const point *b, const point *c, const point *d)
{
    long double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += (long double)(b->at[k] - a->at[k]) * (long double)(d->at[k] - c->at[k]);
    return sum;
}

static long double line_apart(const point *p, const point *a, const point *b)
{
    long double length = along(a, b, a, b), t = length > 0 ? along(a, p, a, b) / length : 0;
    long double sum = 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    for (int k = 0; k < 3; k++) {
        long double gap =
            (long double)(a->at[k] - p->at[k]) + t * (long double)(b->at[k] - a->at[k]);
        sum += gap * gap;
    }
    return sum;
}

/* Square of the distance, by the face's coordinates of the nearest point. */
static long double triangle_apart(const point *p, const point t[3])
{
    long double least = fminl(fminl(line_apart(p, &t[0], &t[1]), line_apart(p, &t[1], &t[2])),
                              line_apart(p, &t[2], &t[0]));
    long double dd = along(&t[0], &t[1], &t[0], &t[1]), ee = along(&t[0], &t[2], &t[0], &t[2]);
    long double de = along(&t[0], &t[1], &t[0], &t[2]), dr = along(&t[0], &t[1], &t[0], p);
    long double er = along(&t[0], &t[2], &t[0], p), by = dd * ee - de * de, sum = 0;
    long double u = ee * dr - de * er, v = dd * er - de * dr;
    if (!(by > 0 && u >= 0 && v >= 0 && u + v <= by))
        return least;
    for (int k = 0; k < 3; k++) {
        long double gap = (long double)(t[0].at[k] - p->at[k]) +
                          u / by * (long double)(t[1].at[k] - t[0].at[k]) +
                          v / by * (long double)(t[2].at[k] - t[0].at[k]);
        sum += gap * gap;
    }
    return fminl(least, sum);
}

typedef struct answers {
    float *distances, *positions;
    uint32_t *triangles;
    uint8_t *features, *sides;
} answers;

static answers ask(tml_context *tml, tml_tree *tree, const float *at, uint32_t count,
                   bool is_signed)
{
    tml_buffer points = buffer(tml, vec3_type, count, at);
    tml_tree_nearest_desc desc = {.tree = tree,
                                  .points = points,
                                  .is_signed = is_signed,
                                  .distances = buffer(tml, TML_F32, count, NULL),
                                  .positions = buffer(tml, vec3_type, count, NULL),
                                  .triangles = buffer(tml, TML_U32, count, NULL),
                                  .features = buffer(tml, TML_U8, count, NULL)};
    if (is_signed)
        desc.sides = buffer(tml, TML_U8, count, NULL);
    answers a = {malloc(count * 4), malloc(count * 12), malloc(count * 4), malloc(count),
                 calloc(count, 1)};
    CHECK_OK(tml, tml_tree_nearest(tml, &desc));
    CHECK_OK(tml, tml_buffer_read(tml, desc.distances, a.distances));
    CHECK_OK(tml, tml_buffer_read(tml, desc.positions, a.positions));
    CHECK_OK(tml, tml_buffer_read(tml, desc.triangles, a.triangles));
    CHECK_OK(tml, tml_buffer_read(tml, desc.features, a.features));
    if (is_signed)
        CHECK_OK(tml, tml_buffer_read(tml, desc.sides, a.sides));
    tml_buffer_destroy(tml, points);
    tml_buffer_destroy(tml, desc.distances);
    tml_buffer_destroy(tml, desc.positions);
    tml_buffer_destroy(tml, desc.triangles);
    tml_buffer_destroy(tml, desc.features);
    tml_buffer_destroy(tml, desc.sides);
    return a;
}

static void answers_free(answers *a)
{
    free(a->distances);
    free(a->positions);
    free(a->triangles);
    free(a->features);
    free(a->sides);
}

static bool same_answers(const answers *a, const answers *b, uint32_t count)
{
    return memcmp(a->distances, b->distances, count * 4) == 0 &&
           memcmp(a->positions, b->positions, count * 12) == 0 &&
           memcmp(a->triangles, b->triangles, count * 4) == 0 &&
           memcmp(a->features, b->features, count) == 0 && memcmp(a->sides, b->sides, count) == 0;
}

/* Does the feature have the nearest point? */
static bool is_on_feature(const point *p, const point t[3], uint32_t feature, long double squared,
                          long double error)
{
    const point *a = &t[(feature + 2) % 3], *b = a;
    if (feature == TML_TREE_FACE)
        return triangle_apart(p, t) <= squared + error;
    if (feature < TML_TREE_CORNER_0)
        b = &t[feature % 3];
    return line_apart(p, a, b) <= squared + error;
}

static void check_answers(const mesh *m, const point *points, uint32_t count, bool is_signed,
                          const answers *a)
{
    uint32_t wrong[5] = {0};
    for (uint32_t i = 0; i < count; i++) {
        const point *p = &points[i];
        long double least = INFINITY, size = 0, gap = 0;
        for (uint32_t t = 0; t < m->count; t++)
            least = fminl(least, triangle_apart(p, m->corners + 3 * t));
        const point *t = m->corners + 3 * a->triangles[i];
        for (int k = 0; k < 9; k++)
            size = fmaxl(size, fabsl((long double)(t[k / 3].at[k % 3] - p->at[k % 3])));
        long double distance = sqrtl(least), error = 0x1p-24L * distance + 0x1p-40L * size;
        long double squares = (2 * distance + error) * error;
        wrong[0] += fabsl(fabsl((long double)a->distances[i]) - distance) > error;
        wrong[1] += triangle_apart(p, t) > least + squares;
        wrong[2] += !is_on_feature(p, t, a->features[i], least, squares + 0x1p-38L * size * size);
        for (int k = 0; k < 3; k++) {
            long double d = (long double)a->positions[3 * i + (uint32_t)k] - (long double)p->at[k];
            gap += d * d;
        }
        wrong[3] += fabsl(sqrtl(gap) - distance) > 0x1p-21L * 0x1p20L;
        if (is_signed) {
            tml_tree_side side = reference(m, p, TML_TREE_RULE_EVEN_ODD);
            wrong[4] += side != a->sides[i] || (side == TML_TREE_ON) != (a->distances[i] == 0) ||
                        (side == TML_TREE_INSIDE) != (a->distances[i] < 0);
        }
    }
    for (int i = 0; i < 5; i++)
        CHECK_EQ_U64(wrong[i], 0);
}

/* The same bits on one thread and three, with each level of SIMD, and on devices. */
static void check_nearest(const mesh *m, const point *points, uint32_t count, bool is_signed)
{
    float *at = floats_of(points, count, 0);
    answers first;
    for (int i = 0; i < 3; i++) {
        tml_context *tml = open_cpu(i == 1 ? 3 : 1);
        tml_simd_force(i == 2 ? TML_SIMD_BASE : TML_SIMD_LEVELS);
        tml_tree *tree = tree_of(tml, m, 0);
        answers a = ask(tml, tree, at, count, is_signed);
        tml_simd_force(TML_SIMD_LEVELS);
        if (i > 0)
            CHECK(same_answers(&a, &first, count));
        else
            first = a;
        if (i > 0)
            answers_free(&a);
        tml_tree_destroy(tml, tree);
        tml_close(tml);
    }
    for (int i = 0; i < 2; i++) {
        tml_context *tml = device(i ? TML_ENGINE_GL : TML_ENGINE_VULKAN);
        if (!tml)
            continue;
        tml_tree *tree = tree_of(tml, m, 0);
        answers a = ask(tml, tree, at, count, is_signed);
        CHECK(same_answers(&a, &first, count));
        answers_free(&a);
        tml_tree_destroy(tml, tree);
    }
    check_answers(m, points, count, is_signed, &first);
    answers_free(&first);
    free(at);
}

static void check_nearest_random(const mesh *m, uint32_t count, int64_t range, bool is_signed)
{
    count /= TEST_IS_SLOW ? 5 : 1; /* long doubles of 128 bits are all software */
    point *points = malloc(count * sizeof *points);
    for (uint32_t i = 0; i < 3 * count; i++)
        points[i / 3].at[i % 3] = random_below(2 * range + 1) - range;
    for (uint32_t i = 0; i < count / 4; i++) /* close to corners */
        for (int k = 0; k < 3; k++)
            points[i].at[k] =
                m->corners[(uint64_t)i * 7 % (3 * m->count)].at[k] + random_below(5) - 2;
    check_nearest(m, points, count, is_signed);
    free(points);
}

TEST(nearest_of_random_tetrahedra)
{
    static const uint32_t counts[] = {1, 2, 3, 60};
    for (int i = 0; i < 4; i++) {
        mesh m = {0};
        add_random(&m, counts[i], i % 2 ? 8 : 1 << 16);
        check_nearest_random(&m, 1500, i % 2 ? 24 : 1 << 18, true);
        free(m.corners);
    }
}

TEST(nearest_of_a_torus)
{
    mesh m = {0};
    add_torus(&m, 1 << 18, 40, 20);
    check_nearest_random(&m, 2500, 1 << 18, true);
    check_nearest_random(&m, 500, 1 << 20, false);
    m.count -= 100; /* open */
    check_nearest_random(&m, 500, 1 << 18, false);
    free(m.corners);
}

/* ---- k nearest ------------------------------------------------------------------------------- */

static int compare_squares(const void *a, const void *b)
{
    long double x = *(const long double *)a, y = *(const long double *)b;
    return (x > y) - (x < y);
}

/* Distances and triangles of k nearest, beside the sorted distances of all triangles; none
 * twice. */
static void check_several(const mesh *m, const point *points, uint32_t count, uint32_t k,
                          const float *distances, const uint32_t *triangles)
{
    long double *squares = malloc((m->count + 1) * sizeof *squares);
    bool *is_told = malloc(m->count + 1);
    uint32_t wrong[4] = {0};
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t t = 0; t < m->count; t++)
            squares[t] = triangle_apart(&points[i], m->corners + 3 * t);
        qsort(squares, m->count, sizeof *squares, compare_squares);
        memset(is_told, 0, m->count + 1);
        for (uint32_t j = 0; j < k; j++) {
            uint32_t triangle = triangles[i * k + j];
            float told = distances[i * k + j];
            if (j >= m->count || triangle >= m->count) {
                wrong[0] += j < m->count || triangle != UINT32_MAX || told != INFINITY;
                continue;
            }
            long double distance = sqrtl(squares[j]), error = 0x1p-23L * distance + 0x1p-16L;
            long double own = sqrtl(triangle_apart(&points[i], m->corners + 3 * triangle));
            wrong[1] += fabsl((long double)told - distance) > error;
            wrong[2] += fabsl((long double)told - own) > error;
            wrong[3] += is_told[triangle] || (j > 0 && told < distances[i * k + j - 1]);
            is_told[triangle] = true;
        }
    }
    for (int i = 0; i < 4; i++)
        CHECK_EQ_U64(wrong[i], 0);
    free(is_told);
    free(squares);
}

static void ask_several(tml_context *tml, tml_tree *tree, const float *at, uint32_t count,
                        uint32_t k, float *distances, uint32_t *triangles)
{
    tml_tree_nearest_desc desc = {.tree = tree,
                                  .points = buffer(tml, vec3_type, count, at),
                                  .k = k,
                                  .distances = buffer(tml, TML_F32, (uint64_t)k * count, NULL),
                                  .triangles = buffer(tml, TML_U32, (uint64_t)k * count, NULL)};
    CHECK_OK(tml, tml_tree_nearest(tml, &desc));
    CHECK_OK(tml, tml_buffer_read(tml, desc.distances, distances));
    CHECK_OK(tml, tml_buffer_read(tml, desc.triangles, triangles));
    tml_buffer_destroy(tml, desc.points);
    tml_buffer_destroy(tml, desc.distances);
    tml_buffer_destroy(tml, desc.triangles);
}

/* By the loop; the first of them is that of k = 1; the same bits by one thread and three, and for
 * each level of SIMD. */
static void check_k_nearest(const mesh *m, uint32_t count, int64_t range, uint32_t k)
{
    point *points = malloc(count * sizeof *points);
    float *distances[2], nearest;
    uint32_t *triangles[2], wrong = 0;
    for (uint32_t i = 0; i < 3 * count; i++)
        points[i / 3].at[i % 3] = random_below(2 * range + 1) - range;
    float *at = floats_of(points, count, 0);
    for (int i = 0; i < 2; i++) {
        tml_context *tml = open_cpu(i ? 3 : 1);
        tml_tree *tree = tree_of(tml, m, 0);
        distances[i] = malloc((size_t)4 * k * count);
        triangles[i] = malloc((size_t)4 * k * count);
        tml_simd_force(i ? TML_SIMD_BASE : TML_SIMD_LEVELS);
        ask_several(tml, tree, at, count, k, distances[i], triangles[i]);
        tml_simd_force(TML_SIMD_LEVELS);
        answers one = ask(tml, tree, at, count, false);
        for (uint32_t n = 0; n < count; n++) {
            nearest = distances[i][n * k];
            wrong += nearest != one.distances[n] || triangles[i][n * k] != one.triangles[n];
        }
        answers_free(&one);
        tml_tree_destroy(tml, tree);
        tml_close(tml);
    }
    CHECK_EQ_U64(wrong, 0);
    CHECK(memcmp(distances[0], distances[1], (size_t)4 * k * count) == 0);
    CHECK(memcmp(triangles[0], triangles[1], (size_t)4 * k * count) == 0);
    check_several(m, points, count, k, distances[0], triangles[0]);
    for (int i = 0; i < 2; i++) {
        free(distances[i]);
        free(triangles[i]);
    }
    free(points);
    free(at);
}

TEST(k_nearest)
{
    static const uint32_t ks[] = {2, 3, 7, 8, 9, 64, TML_TREE_NEAREST_MAX};
    for (int i = 0; i < 7; i++) {
        mesh m = {0};
        add_random(&m, i % 2 ? 60 : 3, i % 3 ? 8 : 1 << 16); /* fewer triangles than k among them */
        check_k_nearest(&m, 300, i % 3 ? 24 : 1 << 18, ks[i]);
        free(m.corners);
    }
    mesh m = {0};
    add_torus(&m, 1 << 12, 40, 20);
    check_k_nearest(&m, TEST_IS_SLOW ? 300 : 1500, 1 << 12, 5);
    free(m.corners);
    m = (mesh){0};
    add_box(&m, -4, 4, 2); /* many at one distance; so many points that they are sorted */
    check_k_nearest(&m, 5000, 7, 6);
    free(m.corners);
}

TEST(k_nearest_of_odd_points)
{
    static const float at[] = {NAN, 0, 0, 0, 0, 0, 0, INFINITY, 0, 3e38f, -3e38f, 3e38f};
    tml_context *tml = open_cpu(1);
    mesh m = {0};
    float distances[12];
    uint32_t triangles[12];
    add_triangle(&m, (point){{2, 0, 0}}, (point){{2, 0, 0}}, (point){{2, 0, 0}});
    add_triangle(&m, (point){{0, 3, 0}}, (point){{1, 3, 0}}, (point){{0, 3, 1}});
    tml_tree *tree = tree_of(tml, &m, 0);
    ask_several(tml, tree, at, 4, 3, distances, triangles);
    CHECK(triangles[0] == UINT32_MAX && isinf(distances[0]));
    CHECK(triangles[3] == 0 && triangles[4] == 1 && triangles[5] == UINT32_MAX);
    CHECK(distances[3] == 2 && distances[4] == 3 && isinf(distances[5]));
    CHECK(triangles[6] == UINT32_MAX && triangles[9] < 2 && triangles[10] < 2);
    tml_tree_nearest_desc desc = {.tree = tree,
                                  .points = buffer(tml, vec3_type, 4, at),
                                  .k = TML_TREE_NEAREST_MAX + 1,
                                  .distances = buffer(tml, TML_F32, 8, NULL)};
    CHECK_STATUS(tml_tree_nearest(tml, &desc), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "desc.k") != NULL);
    desc.k = 3;
    CHECK_STATUS(tml_tree_nearest(tml, &desc), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "desc.distances") != NULL);
    tml_tree_destroy(tml, tree);
    tml_close(tml);
    free(m.corners);
}

/* Points that devices have no answers for, or that the host answers for all then, and zeros with a
 * sign on a face. */
TEST(nearest_of_odd_points)
{
    enum { COUNT = 1500 };
    static const float odd[][3] = {{NAN, 1, 2}, {1, INFINITY, 0}, {3e13f, 0, 1}, {1e-35f, 1, 0}};
    float at[3 * COUNT];
    mesh m = {0};
    add_box(&m, -8, 8, 4);
    add_quad(&m, (point){{-9, -9, 0}}, (point){{9, -9, 0}}, (point){{9, 9, 0}},
             (point){{-9, 9, 0}});
    for (uint32_t kind = 0; kind < 5; kind++) {
        for (uint32_t i = 0; i < 3 * COUNT; i++)
            at[i] = (float)random_below(37) / 2 - 9;
        for (uint32_t i = 0; i < 600; i++) /* in the plane of the quad */
            at[3 * i + 2] = i % 2 ? -0.0f : 0.0f;
        for (uint32_t i = 0; i < kind; i++)
            memcpy(at + 3 * (100 + 300 * (size_t)i), odd[i], sizeof odd[i]);
        tml_context *cpu = open_cpu(1);
        tml_tree *tree = tree_of(cpu, &m, 0);
        answers expected = ask(cpu, tree, at, COUNT, false);
        tml_tree_destroy(cpu, tree);
        for (int i = 0; i < 2; i++) {
            tml_context *tml = device(i ? TML_ENGINE_GL : TML_ENGINE_VULKAN);
            if (!tml)
                continue;
            tree = tree_of(tml, &m, 0);
            answers a = ask(tml, tree, at, COUNT, false);
            CHECK(same_answers(&a, &expected, COUNT));
            answers_free(&a);
            tml_tree_destroy(tml, tree);
        }
        answers_free(&expected);
        tml_close(cpu);
    }
    free(m.corners);
}

/* A triangle, an edge and a point: the features by their numbers. */
TEST(features_of_a_triangle)
{
    static const float at[] = {1, 1, 3, 1, -2, 1, 3, 3, 0, -1, 1, 0, -1, -1, 0, 5, -1, 0, 0, 9, 1};
    static const uint8_t expected[] = {TML_TREE_FACE,    TML_TREE_EDGE_0,   TML_TREE_EDGE_1,
                                       TML_TREE_EDGE_2,  TML_TREE_CORNER_0, TML_TREE_CORNER_1,
                                       TML_TREE_CORNER_2};
    tml_context *tml = open_cpu(1);
    mesh m = {0};
    add_triangle(&m, (point){{0, 0, 0}}, (point){{4, 0, 0}}, (point){{0, 4, 0}});
    tml_tree *tree = tree_of(tml, &m, 0);
    answers a = ask(tml, tree, at, 7, false);
    CHECK(memcmp(a.features, expected, sizeof expected) == 0);
    CHECK(a.distances[0] == 3 && a.positions[3] == 1 && a.positions[4] == 0 && a.triangles[6] == 0);
    answers_free(&a);
    tml_tree_destroy(tml, tree);
    free(m.corners);
    m = (mesh){0};
    static const float odd[] = {NAN, 0, 0, 0, INFINITY, 0, 0, 0, 0, 3e38f, -3e38f, 3e38f};
    for (int kind = 0; kind < 2; kind++) {
        if (kind)
            add_triangle(&m, (point){{2, 0, 0}}, (point){{2, 0, 0}}, (point){{2, 0, 0}});
        tree = tree_of(tml, &m, 0);
        a = ask(tml, tree, odd, 4, true);
        for (int i = 0; i < 4; i++) {
            bool is_any = kind == 1 && i >= 2;
            CHECK(is_any ? a.triangles[i] == 0 && a.positions[3 * i] == 2
                         : a.triangles[i] == UINT32_MAX && isnan(a.positions[3 * i]));
            CHECK(is_any && i == 2 ? a.distances[i] == 2 : isinf(a.distances[i]));
        }
        answers_free(&a);
        tml_tree_destroy(tml, tree);
    }
    tml_close(tml);
    free(m.corners);
}

/* More points than a round, and than need no order. */
TEST(many_points)
{
    enum { COUNT = (1 << 20) + 4099 };
    mesh m = {0};
    add_box(&m, -2, 2, 1);
    tml_context *tml = open_cpu(2);
    tml_tree *tree = tree_of(tml, &m, 0);
    float *at = malloc((size_t)COUNT * 12);
    for (uint32_t i = 0; i < 3 * COUNT; i++)
        at[i] = (float)(random_below(97) - 48) / 16;
    answers a = ask(tml, tree, at, COUNT, true);
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        const float *p = at + 3 * i;
        double most = fmax(fmax(fabs((double)p[0]), fabs((double)p[1])), fabs((double)p[2]));
        double beyond = 0;
        for (int k = 0; k < 3; k++)
            beyond += pow(fmax(fabs((double)p[k]) - 2, 0), 2);
        double expected = most < 2 ? most - 2 : sqrt(beyond);
        wrong += a.sides[i] != (most < 2   ? TML_TREE_INSIDE
                                : most > 2 ? TML_TREE_OUTSIDE
                                           : TML_TREE_ON);
        wrong += fabs((double)a.distances[i] - expected) > 1e-6;
    }
    CHECK_EQ_U64(wrong, 0);
    answers_free(&a);
    free(at);
    tml_tree_destroy(tml, tree);
    tml_close(tml);
    free(m.corners);
}

/* ---- volumes --------------------------------------------------------------------------------- */

typedef struct samples {
    uint64_t dims[3];
    point *points; /* the first one's is the lowest */
    uint8_t *sides;
    uint32_t count;
} samples;

static samples samples_about(const mesh *m, const point *low, const uint64_t dims[3],
                             tml_tree_rule rule)
{
    samples s = {.dims = {dims[0], dims[1], dims[2]},
                 .count = (uint32_t)(dims[0] * dims[1] * dims[2])};
    s.points = malloc(s.count * sizeof *s.points);
    s.sides = malloc(s.count);
    for (uint32_t i = 0; i < s.count; i++) {
        for (int k = 0; k < 3; k++) {
            uint64_t below = k == 0 ? 1 : k == 1 ? dims[0] : dims[0] * dims[1];
            s.points[i].at[k] = low->at[k] + (int64_t)(i / below % dims[k]);
        }
        s.sides[i] = (uint8_t)reference(m, &s.points[i], rule);
    }
    return s;
}

static void samples_free(samples *s)
{
    free(s->points);
    free(s->sides);
}

/* The samples' sides beside the loop over all triangles, and their distances beside those of
 * points, bit for bit. */
static void check_volume_on(tml_context *tml, const mesh *m, const samples *s, tml_tree_rule rule,
                            int exponent, float band)
{
    const point *points = s->points;
    const uint64_t *dims = s->dims;
    uint32_t count = s->count, wrong[3] = {0};
    float *at = floats_of(points, count, exponent), *out = malloc(count * sizeof *out);
    double step = ldexp(1, exponent);
    tml_tree *tree = tree_of(tml, m, exponent);
    answers a = ask(tml, tree, at, count, rule == TML_TREE_RULE_EVEN_ODD);
    tml_tree_distance_grid_desc desc = {.tree = tree,
                                        .rule = rule,
                                        .is_signed = true,
                                        .band = band,
                                        .out = buffer(tml, TML_F32, count, NULL)};
    for (int k = 0; k < 3; k++) {
        desc.grid.dims[k] = dims[k];
        desc.grid.spacing[k] = step;
        desc.grid.origin[k] = (double)points[0].at[k] * step;
    }
    CHECK_OK(tml, tml_tree_distance_grid(tml, &desc));
    CHECK_OK(tml, tml_buffer_read(tml, desc.out, out));
    for (uint32_t i = 0; i < count; i++) {
        tml_tree_side side = (tml_tree_side)s->sides[i];
        float distance = fabsf(a.distances[i]);
        wrong[0] += (side == TML_TREE_INSIDE) != (out[i] < 0);
        wrong[1] += (side == TML_TREE_ON) != (out[i] == 0);
        if (band > 0 && distance > band)
            distance = band;
        wrong[2] += side != TML_TREE_ON && fabsf(out[i]) != distance;
    }
    for (int i = 0; i < 3; i++)
        CHECK_EQ_U64(wrong[i], 0);
    tml_buffer_destroy(tml, desc.out);
    tml_tree_destroy(tml, tree);
    answers_free(&a);
    free(at);
    free(out);
}

static void check_volume(const mesh *m, const point *low, const uint64_t dims[3],
                         tml_tree_rule rule)
{
    static const int exponents[] = {0, 60, -100};
    samples s = samples_about(m, low, dims, rule);
    for (int i = 0; i < 6; i++) {
        if (!test_takes((uint64_t)i, 3))
            continue;
        int exponent = exponents[i % 3];
        tml_context *tml = open_cpu(i % 2 ? 3 : 1);
        tml_simd_force(i < 3 ? TML_SIMD_LEVELS : TML_SIMD_BASE);
        check_volume_on(tml, m, &s, rule, exponent, i < 3 ? 0 : ldexpf(2, exponent));
        tml_simd_force(TML_SIMD_LEVELS);
        tml_close(tml);
    }
    for (int i = 0; i < 4; i++) {
        tml_context *tml = device(i % 2 ? TML_ENGINE_GL : TML_ENGINE_VULKAN);
        if (tml)
            check_volume_on(tml, m, &s, rule, 0, i < 2 ? 0 : 2);
    }
    samples_free(&s);
}

/* Lines through edges, corners and along faces; sides of a block and one more or less. */
TEST(volumes_of_boxes)
{
    static const uint64_t dims[][3] = {{21, 17, 16}, {1, 1, 1}, {7, 8, 9}, {24, 1, 15}};
    static const point lows[] = {{{-10, -9, -8}}, {{0, 0, 0}}, {{-9, -4, 4}}, {{-10, 8, -8}}};
    mesh m = {0};
    add_box(&m, -8, 8, 4);
    for (int i = 0; i < 4; i++)
        for (int rule = 0; rule < 2; rule++)
            check_volume(&m, &lows[i], dims[i], (tml_tree_rule)rule);
    add_box(&m, -4, 4, 1);
    add_box(&m, 2, 10, 4);
    add_box(&m, 6, -6, 3);
    check_volume(&m, &lows[0], dims[0], TML_TREE_RULE_WINDING);
    free(m.corners);
}

TEST(volumes_of_random_tetrahedra)
{
    for (int round = 0; round < 4; round++) {
        mesh m = {0};
        add_random(&m, 3u << (2 * round), 8);
        check_volume(&m, &(point){{-1, -2, -1}}, (const uint64_t[3]){18, 17, 16},
                     round % 2 ? TML_TREE_RULE_WINDING : TML_TREE_RULE_EVEN_ODD);
        free(m.corners);
    }
}

TEST(volumes_of_tori)
{
    mesh m = {0};
    add_torus(&m, 20, 30, 20); /* triangles smaller than cells, some without area */
    check_volume(&m, &(point){{-22, -21, -8}}, (const uint64_t[3]){44, 20, 16},
                 TML_TREE_RULE_EVEN_ODD);
    free(m.corners);
    m = (mesh){0};
    add_torus(&m, 1 << 20, 40, 20); /* larger than the grid */
    check_volume(&m, &(point){{(1 << 20) - 9, -8, -7}}, (const uint64_t[3]){17, 15, 16},
                 TML_TREE_RULE_WINDING);
    free(m.corners);
}

/* Samples of a grid of any spacing. */
static float *volume_of(tml_context *tml, const mesh *m, tml_tree_distance_grid_desc desc,
                        uint64_t count)
{
    float *out = malloc(count * sizeof *out);
    tml_tree *tree = desc.tree = tree_of(tml, m, 0);
    desc.out = buffer(tml, TML_F32, count, NULL);
    CHECK_OK(tml, tml_tree_distance_grid(tml, &desc));
    CHECK_OK(tml, tml_buffer_read(tml, desc.out, out));
    tml_buffer_destroy(tml, desc.out);
    tml_tree_destroy(tml, tree);
    return out;
}

static void check_device_volumes(const mesh *m, tml_tree_distance_grid_desc desc)
{
    static const float bands[] = {0, 3.5f, 0.25f, 1000};
    uint64_t count = desc.grid.dims[0] * desc.grid.dims[1] * desc.grid.dims[2];
    for (int i = 0; i < 12; i++) {
        if (!test_takes((uint64_t)i, 4))
            continue;
        tml_context *tml = open_cpu(1);
        desc.band = bands[i % 4];
        desc.is_signed = i < 8;
        desc.rule = i < 4 ? TML_TREE_RULE_EVEN_ODD : TML_TREE_RULE_WINDING;
        float *expected = volume_of(tml, m, desc, count);
        tml_close(tml);
        for (int k = 0; k < 2; k++) {
            tml = device(k ? TML_ENGINE_GL : TML_ENGINE_VULKAN);
            float *out = tml ? volume_of(tml, m, desc, count) : NULL;
            CHECK(!out || memcmp(out, expected, count * sizeof *out) == 0);
            free(out);
        }
        free(expected);
    }
}

/* The bits that the host's have: of blocks that are cut off, on lines of which a few go through
 * corners. */
TEST(volumes_on_devices)
{
    tml_tree_distance_grid_desc desc = {
        .grid = {.dims = {41, 23, 17}, .spacing = {1.125, 1.7, 1.3}, .origin = {-22.75, -20, -10}}};
    mesh m = {0};
    add_torus(&m, 20, 30, 20);
    check_device_volumes(&m, desc);
    add_box(&m, -13, 12, 5);
    desc.grid.origin[1] = -19.4;
    check_device_volumes(&m, desc);
    free(m.corners);
    m = (mesh){0};
    add_torus(&m, 2000, 60, 40); /* larger than the grid */
    desc.grid.origin[0] = 1979.1;
    check_device_volumes(&m, desc);
    free(m.corners);
}

TEST(volumes_that_are_refused)
{
    tml_context *tml = open_cpu(1);
    mesh m = {0};
    add_box(&m, -8, 8, 1);
    tml_tree *tree = tree_of(tml, &m, 0);
    m.count--;
    tml_tree *open = tree_of(tml, &m, 0);
    float out[8];
    const tml_tree_distance_grid_desc good = {.tree = tree,
                                              .grid = {.dims = {2, 2, 2}},
                                              .is_signed = true,
                                              .out = buffer(tml, TML_F32, 8, NULL)};
    tml_tree_distance_grid_desc bad[10];
    static const char *const names[10] = {"tree",      "rule", "band",   "dims", "spacing",
                                          "direction", "out",  "closed", "dims", "ends"};
    for (int i = 0; i < 10; i++)
        bad[i] = good;
    bad[0].tree = NULL;
    bad[1].rule = (tml_tree_rule)3;
    bad[2].band = NAN;
    bad[3].grid.dims[1] = 0;
    bad[4].grid.spacing[2] = -1;
    bad[5].grid.direction[1] = 1;
    bad[6].grid.dims[2] = 3;
    bad[7].tree = open;
    bad[8].grid.dims[0] = bad[8].grid.dims[1] = (uint64_t)1 << 29;
    bad[9].grid.origin[0] = 1e300;
    for (int i = 0; i < 10; i++) {
        CHECK_STATUS(tml_tree_distance_grid(tml, &bad[i]), TML_ERROR_INVALID_ARGUMENT);
        CHECK(strstr(tml_last_error(tml), names[i]) != NULL);
    }
    bad[7].is_signed = false;
    CHECK_OK(tml, tml_tree_distance_grid(tml, &bad[7]));
    CHECK_OK(tml, tml_tree_distance_grid(tml, &good));
    CHECK_OK(tml, tml_buffer_read(tml, good.out, out));
    CHECK(out[0] == -8 && out[7] == -7);
    tml_tree_destroy(tml, open);
    free(m.corners);
    m = (mesh){0};
    bad[7].tree = open = tree_of(tml, &m, 0); /* nothing */
    CHECK_OK(tml, tml_tree_distance_grid(tml, &bad[7]));
    CHECK_OK(tml, tml_buffer_read(tml, good.out, out));
    CHECK(isinf(out[0]));
    bad[7].band = 5;
    bad[7].is_signed = true;
    CHECK_OK(tml, tml_tree_distance_grid(tml, &bad[7]));
    CHECK_OK(tml, tml_buffer_read(tml, good.out, out));
    CHECK(out[7] == 5);
    tml_tree_destroy(tml, open);
    tml_tree_destroy(tml, tree);
    tml_close(tml);
}

/* ---- solid angles ---------------------------------------------------------------------------- */

static long double angle_between(const long double a[3], const long double b[3])
{
    long double cross = 0, dot = 0;
    for (int k = 0; k < 3; k++) {
        int y = (k + 1) % 3, z = (k + 2) % 3;
        cross += (a[y] * b[z] - a[z] * b[y]) * (a[y] * b[z] - a[z] * b[y]);
        dot += a[k] * b[k];
    }
    return atan2l(sqrtl(cross), dot);
}

/* The generalised winding number, by the excess of each triangle's angles on the sphere
 * (L'Huilier). */
static long double turns_of(const mesh *m, const point *p)
{
    long double turns = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        const point *t = m->corners + 3 * i;
        long double way[3][3], side[3], half = 0, product = 1;
        for (int k = 0; k < 9; k++)
            way[k / 3][k % 3] = (long double)(t[k / 3].at[k % 3] - p->at[k % 3]);
        for (int k = 0; k < 3; k++)
            half += side[k] = angle_between(way[k], way[(k + 1) % 3]);
        half /= 2;
        product = tanl(half / 2);
        for (int k = 0; k < 3; k++)
            product *= tanl((half - side[k]) / 2);
        long double excess = 4 * atanl(sqrtl(fmaxl(product, 0)));
        turns -= (long double)orientation(&t[0], &t[1], &t[2], p) * excess / 12.566370614359172954L;
    }
    return turns;
}

/* Points whose number is 1/2 to within the loop's own rounding are moved away. */
static uint8_t side_by_turns(const mesh *m, point *p)
{
    for (;; p->at[0]++) {
        for (uint32_t i = 0; i < m->count; i++)
            if (is_on(m->corners + 3 * i, p))
                return TML_TREE_ON;
        long double beyond = fabsl(turns_of(m, p)) - 0.5L;
        if (fabsl(beyond) > 1e-7L)
            return beyond > 0 ? TML_TREE_INSIDE : TML_TREE_OUTSIDE;
    }
}

static void check_by_turns(const mesh *m, uint32_t count, int64_t range)
{
    static const int exponents[] = {0, 40, -149};
    point *points = malloc(count * sizeof *points);
    uint8_t *expected = malloc(count);
    uint32_t inside = 0;
    for (uint32_t i = 0; i < 3 * count; i++)
        points[i / 3].at[i % 3] = random_below(2 * range + 1) - range;
    for (uint32_t i = 0; i < count; i++)
        inside += (expected[i] = side_by_turns(m, &points[i])) == TML_TREE_INSIDE;
    CHECK(inside > 0 && inside < count);
    for (int i = 0; i < 3; i++) {
        tml_context *tml = open_cpu(i == 1 ? 3 : 1);
        tml_simd_force(i == 1 ? TML_SIMD_BASE : TML_SIMD_LEVELS);
        check_sides(tml, m, points, count, TML_TREE_RULE_SOLID_ANGLE, exponents[i], expected);
        tml_simd_force(TML_SIMD_LEVELS);
        tml_close(tml);
    }
    free(points);
    free(expected);
}

/* What is closed has the sides of WINDING, and volumes of them. */
TEST(solid_angles_of_closed_meshes)
{
    mesh m = {0};
    add_box(&m, -8, 8, 2);
    add_box(&m, -4, 4, 1);
    add_box(&m, 2, 10, 4);
    check_grid(&m, -10, 11, TML_TREE_RULE_SOLID_ANGLE);
    check_volume(&m, &(point){{-10, -9, -8}}, (const uint64_t[3]){21, 17, 16},
                 TML_TREE_RULE_SOLID_ANGLE);
    free(m.corners);
    m = (mesh){0};
    add_random(&m, 40, 8);
    check_grid(&m, -1, 15, TML_TREE_RULE_SOLID_ANGLE);
    free(m.corners);
    m = (mesh){0};
    add_torus(&m, 1 << 16, 40, 20);
    check_random(&m, 2000, -(1 << 16), 1 << 16, TML_TREE_RULE_SOLID_ANGLE);
    check_volume(&m, &(point){{(1 << 16) - 9, -8, -7}}, (const uint64_t[3]){17, 15, 16},
                 TML_TREE_RULE_SOLID_ANGLE);
    free(m.corners);
}

/* By a loop over all triangles: surfaces with holes, a half and a triangle, and triangles of no
 * order at all. */
TEST(solid_angles_of_open_meshes)
{
    const uint32_t count = TEST_IS_SLOW ? 100 : 700;
    mesh m = {0};
    add_torus(&m, 1 << 14, 40, 20);
    m.count -= 100;
    check_by_turns(&m, count, 1 << 14);
    m.count /= 2;
    check_by_turns(&m, count, 1 << 14);
    free(m.corners);
    m = (mesh){0};
    add_box(&m, -64, 64, 4);
    m.count -= 40;
    check_by_turns(&m, count, 80);
    free(m.corners);
    m = (mesh){0};
    for (int i = 0; i < 500; i++) {
        point p[3];
        for (int k = 0; k < 9; k++)
            p[k / 3].at[k % 3] = random_below(64);
        add_triangle(&m, p[0], p[1], p[2]);
    }
    check_by_turns(&m, count, 40);
    free(m.corners);
    m = (mesh){0};
    add_triangle(&m, (point){{-50, -50, 0}}, (point){{50, -50, 0}}, (point){{0, 50, 0}});
    add_triangle(&m, (point){{-50, -50, 2}}, (point){{50, -50, 2}}, (point){{0, 50, 2}});
    check_by_turns(&m, count, 40);
    free(m.corners);
}

/* A volume of an open mesh: blocks told at once have the sides of their samples. */
TEST(solid_angles_of_volumes)
{
    mesh m = {0};
    add_torus(&m, 20, 30, 20);
    m.count -= 150;
    samples s = {.dims = {22, 20, 10}, .count = 22 * 20 * 10};
    s.points = malloc(s.count * sizeof *s.points);
    s.sides = malloc(s.count);
    for (uint32_t i = 0; i < s.count; i++) {
        int64_t x = i % 22, y = i / 22 % 20, z = i / 440;
        s.points[i] = (point){{x - 22, y - 21, z - 8}};
        point moved = s.points[i];
        s.sides[i] = side_by_turns(&m, &moved);
        CHECK(moved.at[0] == s.points[i].at[0]);
    }
    for (int i = 0; i < 4; i++) {
        if (!test_takes((uint64_t)i, 4))
            continue;
        tml_context *tml = open_cpu(i % 2 ? 3 : 1);
        tml_simd_force(i < 2 ? TML_SIMD_LEVELS : TML_SIMD_BASE);
        check_volume_on(tml, &m, &s, TML_TREE_RULE_SOLID_ANGLE, 0, i < 2 ? 0 : 2);
        tml_simd_force(TML_SIMD_LEVELS);
        tml_close(tml);
    }
    samples_free(&s);
    free(m.corners);
}

/* What dipoles tell is within the error that they tell, of every point in the ball. */
TEST(errors_of_dipoles)
{
    mesh m = {0};
    add_torus(&m, 1 << 14, 40, 20);
    m.count -= 100;
    tml_context *tml = open_cpu(1);
    tml_tree *tree = tree_of(tml, &m, 0);
    CHECK_OK(tml, points_make_dipoles(tml, "test", tree));
    uint32_t wrong = 0, told = 0;
    double largest = 0;
    for (int i = 0; i < 1000; i++) {
        static const double reaches[] = {1.5, 3, 10};
        point center, p;
        int64_t radius = i % 3 ? random_below(1 << 9) : 0;
        float at[3];
        for (int k = 0; k < 3; k++) {
            center.at[k] = random_below(1 << 16) - (1 << 15);
            p.at[k] = center.at[k] + (random_below(2 * radius + 1) - radius) / 2;
            at[k] = (float)center.at[k];
        }
        points_angle angle = {
            .tree = tree, .point = at, .radius = (double)radius, .reach = reaches[i % 7 % 3]};
        SIMD_CHOOSE(points_loops)->turn(&angle);
        double off = fabs(angle.turns - (double)turns_of(&m, &p));
        wrong += off > angle.error + 1e-9; /* of the loop */
        told += angle.error < 0.5;
        if (isfinite(angle.error))
            largest = fmax(largest, off / (angle.error + 1e-9));
    }
    CHECK_EQ_U64(wrong, 0);
    CHECK(told > 150 && largest > 0.05);
    tml_tree_destroy(tml, tree);
    tml_close(tml);
    free(m.corners);
}

/* Nothing, points that are not finite, and a tree that is refitted. */
TEST(solid_angles_of_odd_points)
{
    static const float at[] = {NAN, 0, 0, 0, INFINITY, 0, 3e38f, -3e38f, 3e38f, 0, 0, 0};
    tml_context *tml = open_cpu(1);
    mesh m = {0};
    tml_buffer points = buffer(tml, vec3_type, 4, at), out = buffer(tml, TML_U8, 4, NULL);
    uint8_t sides[4];
    for (int kind = 0; kind < 3; kind++) {
        if (kind == 1)
            add_box(&m, -2, 2, 1);
        tml_tree *tree = tree_of(tml, &m, 0);
        const tml_tree_nearest_desc desc = {
            .tree = tree, .points = points, .rule = TML_TREE_RULE_SOLID_ANGLE, .sides = out};
        CHECK_OK(tml, tml_tree_nearest(tml, &desc));
        if (kind == 2) { /* away from the points */
            float *moved = floats_of(m.corners, 3 * m.count, 0);
            for (uint32_t i = 0; i < 9 * m.count; i++)
                moved[i] += 5;
            tml_buffer corners = buffer(tml, vec3_type, 3 * m.count, moved);
            CHECK_OK(tml, tml_tree_update(tml, tree, corners, TML_TREE_REFIT));
            CHECK_OK(tml, tml_tree_nearest(tml, &desc));
            tml_buffer_destroy(tml, corners);
            free(moved);
        }
        CHECK_OK(tml, tml_buffer_read(tml, out, sides));
        for (int i = 0; i < 4; i++)
            CHECK_EQ_U64(sides[i], kind == 1 && i == 3 ? TML_TREE_INSIDE : TML_TREE_OUTSIDE);
        tml_tree_destroy(tml, tree);
    }
    tml_buffer_destroy(tml, points);
    tml_buffer_destroy(tml, out);
    tml_close(tml);
    free(m.corners);
}

static void check_engine(tml_engine_kind engine)
{
    tml_context *tml = device(engine);
    if (!tml)
        SKIP("no such device here");
    mesh m = {0};
    add_random(&m, 20, 8);
    enum { COUNT = 2000 };
    point points[COUNT];
    uint8_t expected[COUNT];
    for (uint32_t i = 0; i < 3 * COUNT; i++)
        points[i / 3].at[i % 3] = random_below(17) - 1;
    for (uint32_t i = 0; i < COUNT; i++)
        expected[i] = (uint8_t)reference(&m, &points[i], TML_TREE_RULE_EVEN_ODD);
    check_sides(tml, &m, points, COUNT, TML_TREE_RULE_EVEN_ODD, -4, expected);
    float *at = floats_of(points, COUNT, 0);
    tml_tree *tree = tree_of(tml, &m, 0);
    answers a = ask(tml, tree, at, COUNT, true);
    check_answers(&m, points, COUNT, true, &a);
    answers_free(&a);
    /* The device builds the tree anew, in another order. */
    float *corners = floats_of(m.corners, 3 * m.count, 0);
    for (uint32_t i = 0; i < 3 * m.count; i++) {
        float x = corners[3 * i];
        corners[3 * i] = corners[3 * i + 2];
        corners[3 * i + 2] = -x;
    }
    tml_buffer moved = buffer(tml, vec3_type, 3 * m.count, corners);
    tml_tree *fresh = NULL;
    CHECK_OK(tml, tml_tree_update_enqueue(tml, tree, moved, TML_TREE_REBUILD));
    CHECK_OK(tml, tml_tree_create(tml, &(tml_tree_desc){.vertices = moved}, &fresh));
    for (int turn = 0; turn < 2; turn++) {
        answers b = ask(tml, fresh, at, COUNT, true);
        a = ask(tml, tree, at, COUNT, true);
        CHECK(same_answers(&a, &b, COUNT));
        answers_free(&a);
        answers_free(&b);
    }
    tml_buffer_destroy(tml, moved);
    tml_tree_destroy(tml, fresh);
    free(corners);
    tml_tree_destroy(tml, tree);
    samples s = samples_about(&m, &(point){{-1, -1, -1}}, (const uint64_t[3]){17, 9, 16},
                              TML_TREE_RULE_EVEN_ODD);
    check_volume_on(tml, &m, &s, TML_TREE_RULE_EVEN_ODD, -4, 0);
    samples_free(&s);
    free(at);
    free(m.corners);
}

TEST(vulkan)
{
    check_engine(TML_ENGINE_VULKAN);
}

TEST(opengl)
{
    check_engine(TML_ENGINE_GL);
}

int main(int argc, char **argv)
{
    int failed = test_main(argc, argv);
    tml_close(device(TML_ENGINE_VULKAN));
    tml_close(device(TML_ENGINE_GL));
    return failed;
}
