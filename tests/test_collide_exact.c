/* How two triangles meet (exact/exact.h), and what floats tell of it
 * (kernels/collide_triangles.k.h).
 *
 * The reference is another method with other formulas, in integers: convex sets are apart if and
 * only if their projections on one of finitely many axes are, so vertices on a small grid are
 * projected on all of them. Grids so small that most pairs touch, lie in one plane or have no
 * area. */
#include <fenv.h>
#if defined __SSE__
#    include <xmmintrin.h>
#endif

#include "test.h"

#include "exact/exact.h"
#include "exact/exact_signs.h"

#include "kernels/kernel.h"

#include "kernels/collide.k.h"
#include "kernels/collide_triangles.k.h"
#include "kernels/kernel_end.h"

static bool is_whole; /* --all: a hundred times the pairs */

static uint64_t times(uint64_t count)
{
    return is_whole ? 100 * count : count;
}

/* splitmix64 */
static uint64_t random_state;
static uint64_t random_bits(void)
{
    return test_random(&random_state);
}
static int random_below(int count)
{
    return (int)((random_bits() >> 32) * (uint64_t)count >> 32);
}
static double random_unit(void)
{
    return (double)(random_bits() >> 11) * 0x1p-53;
}

/* ---- the reference --------------------------------------------------------------------------- */

typedef struct point {
    int64_t x[3];
} point;

typedef struct grid_pair {
    point a[3], b[3];
} grid_pair;

static point minus(point a, point b)
{
    return (point){{a.x[0] - b.x[0], a.x[1] - b.x[1], a.x[2] - b.x[2]}};
}
static point cross(point a, point b)
{
    return (point){{a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2],
                    a.x[0] * b.x[1] - a.x[1] * b.x[0]}};
}
static int64_t dot(point a, point b)
{
    return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2];
}
static bool is_null(point a)
{
    return !a.x[0] && !a.x[1] && !a.x[2];
}
static bool is_equal(point a, point b)
{
    return is_null(minus(a, b));
}

/* What projections on an axis tell. */
typedef struct parting {
    bool is_apart; /* the closed triangles are */
    /* their interiors are: a plane has them on its two sides, and not both in it */
    bool is_interiors_apart;
} parting;

static void project(const grid_pair *pair, point axis, parting *found)
{
    int64_t a_low = INT64_MAX, a_high = INT64_MIN, b_low = INT64_MAX, b_high = INT64_MIN;
    for (int i = 0; i < 3; i++) {
        int64_t a = dot(axis, pair->a[i]), b = dot(axis, pair->b[i]);
        a_low = a < a_low ? a : a_low;
        a_high = a > a_high ? a : a_high;
        b_low = b < b_low ? b : b_low;
        b_high = b > b_high ? b : b_high;
    }
    found->is_apart |= a_high < b_low || b_high < a_low;
    found->is_interiors_apart |=
        (a_high <= b_low || b_high <= a_low) && !(a_low == b_high && a_high == b_low);
}

/* The faces of the difference of the two sets are spanned by edges of theirs. Where it is flat or
 * less, its plane, line or point parts as well: by what is across it (e x d for a step d between
 * the sets), and within it. */
static parting part(const grid_pair *pair, bool has_area)
{
    parting found = {false, false};
    point edges[6];
    for (int i = 0; i < 3; i++) {
        edges[i] = minus(pair->a[(i + 1) % 3], pair->a[i]);
        edges[3 + i] = minus(pair->b[(i + 1) % 3], pair->b[i]);
    }
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < i; k++) {
            point normal = cross(edges[i], edges[k]);
            project(pair, normal, &found);
            if (has_area ? i / 3 == k / 3 : true)
                for (int l = 0; l < 6; l++)
                    project(pair, cross(normal, edges[l]), &found);
        }
    if (has_area)
        return found;
    for (int i = 0; i < 6; i++)
        project(pair, edges[i], &found);
    for (int i = 0; i < 9; i++) {
        point step = minus(pair->a[i / 3], pair->b[i % 3]);
        project(pair, step, &found);
        for (int k = 0; k < 6; k++) {
            project(pair, cross(edges[k], step), &found);
            project(pair, cross(edges[k], cross(edges[k], step)), &found);
        }
    }
    return found;
}

static tml_collide_class reference_class(const grid_pair *pair)
{
    point n = cross(minus(pair->a[1], pair->a[0]), minus(pair->a[2], pair->a[0]));
    point m = cross(minus(pair->b[1], pair->b[0]), minus(pair->b[2], pair->b[0]));
    bool has_area = !is_null(n) && !is_null(m);
    parting found = part(pair, has_area);
    if (found.is_apart)
        return TML_COLLIDE_CLASS_NONE;
    if (!has_area)
        return TML_COLLIDE_CLASS_DEGENERATE;
    if (found.is_interiors_apart)
        return TML_COLLIDE_CLASS_TOUCHING;
    return is_null(cross(n, m)) ? TML_COLLIDE_CLASS_COPLANAR : TML_COLLIDE_CLASS_CROSSING;
}

static bool is_in_triangle(point p, const point triangle[3])
{
    grid_pair pair = {{p, p, p}, {triangle[0], triangle[1], triangle[2]}};
    return reference_class(&pair) != TML_COLLIDE_CLASS_NONE;
}

/* A point with a common denominator, positive. */
typedef struct ratio {
    int64_t x[3], by;
} ratio;

/* p / q against r / s, q and s positive, by their continued fractions: products may need 128
 * bits. */
static int compare_fractions(int64_t p, int64_t q, int64_t r, int64_t s)
{
    for (;;) {
        int64_t left = p / q - (p % q < 0), right = r / s - (r % s < 0);
        if (left != right)
            return left < right ? -1 : 1;
        int64_t x = p - left * q, y = r - right * s;
        if (x == 0 || y == 0)
            return (x > 0) - (y > 0);
        p = s; /* x / q < y / s where s / y < q / x */
        r = q;
        q = y;
        s = x;
    }
}

static int compare_ratios(ratio a, ratio b)
{
    int sign = 0;
    for (int c = 0; c < 3 && sign == 0; c++)
        sign = compare_fractions(a.x[c], a.by, b.x[c], b.by);
    return sign;
}

typedef struct hull {
    int count;
    ratio least, greatest;
} hull;

static void add_ratio(hull *ends, ratio p)
{
    if (p.by < 0)
        p = (ratio){{-p.x[0], -p.x[1], -p.x[2]}, -p.by};
    if (!ends->count || compare_ratios(p, ends->least) < 0)
        ends->least = p;
    if (!ends->count || compare_ratios(p, ends->greatest) > 0)
        ends->greatest = p;
    ends->count++;
}

/* p + (q - p) t / by */
static ratio along(point p, point q, int64_t t, int64_t by)
{
    ratio r = {{0}, by};
    for (int c = 0; c < 3; c++)
        r.x[c] = p.x[c] * by + (q.x[c] - p.x[c]) * t;
    return r;
}

/* The edge p q with the face of a triangle, where it is not along it. */
static void add_edge_and_face(hull *ends, point p, point q, const point triangle[3])
{
    point n = cross(minus(triangle[1], triangle[0]), minus(triangle[2], triangle[0]));
    int64_t by = dot(n, minus(q, p)), t = dot(n, minus(triangle[0], p));
    if (by == 0 || (by > 0 ? t < 0 || t > by : t > 0 || t < by))
        return;
    ratio x = along(p, q, t, by);
    for (int i = 0; i < 3; i++) {
        point from = triangle[i], step;
        for (int c = 0; c < 3; c++)
            step.x[c] = x.x[c] - from.x[c] * by;
        int64_t side = dot(cross(minus(triangle[(i + 1) % 3], from), step), n);
        if (by > 0 ? side < 0 : side > 0)
            return;
    }
    add_ratio(ends, x);
}

/* Two edges in one plane and not parallel. */
static void add_edge_and_edge(hull *ends, point p, point q, point r, point s)
{
    point n = cross(minus(q, p), minus(s, r));
    int64_t by = dot(n, n);
    if (by == 0 || dot(n, minus(r, p)) != 0)
        return;
    int64_t t = dot(cross(minus(r, p), minus(s, r)), n),
            u = dot(cross(minus(r, p), minus(q, p)), n);
    if (t >= 0 && t <= by && u >= 0 && u <= by)
        add_ratio(ends, along(p, q, t, by));
}

/* Every extreme point of what two triangles share is a vertex of one, or on an edge of one and a
 * face or edge of the other. */
static hull reference_ends(const grid_pair *pair)
{
    hull ends = {0};
    for (int i = 0; i < 3; i++) {
        if (is_in_triangle(pair->a[i], pair->b))
            add_ratio(&ends, along(pair->a[i], pair->a[i], 0, 1));
        if (is_in_triangle(pair->b[i], pair->a))
            add_ratio(&ends, along(pair->b[i], pair->b[i], 0, 1));
        add_edge_and_face(&ends, pair->a[i], pair->a[(i + 1) % 3], pair->b);
        add_edge_and_face(&ends, pair->b[i], pair->b[(i + 1) % 3], pair->a);
        for (int k = 0; k < 3; k++)
            add_edge_and_edge(&ends, pair->a[i], pair->a[(i + 1) % 3], pair->b[k],
                              pair->b[(k + 1) % 3]);
    }
    return ends;
}

/* Ties of floats are exact in a long double of 64 bits, and on small grids nothing comes nearer to
 * one than it can tell. */
static float round_ratio(ratio p, int c)
{
    return (float)((long double)p.x[c] / (long double)p.by);
}

/* ---- pairs on grids -------------------------------------------------------------------------- */

/* Vertices on size^3 places; often flat, often with corners in common. */
static grid_pair random_grid_pair(int size)
{
    grid_pair pair;
    int kind = random_below(8);
    for (int c = 0; c < 3; c++) {
        bool is_flat = kind == 0 && c == 2, is_line = kind == 1 && c > 0;
        for (int i = 0; i < 3; i++) {
            pair.a[i].x[c] = is_flat || is_line ? 0 : random_below(size);
            pair.b[i].x[c] = is_flat ? 0 : random_below(size);
        }
    }
    if (kind == 2 || kind == 3)
        pair.b[random_below(3)] = pair.a[random_below(3)];
    if (kind == 3)
        pair.b[random_below(3)] = pair.a[random_below(3)];
    if (kind == 4) { /* on the line of an edge, or beyond a vertex */
        int t = random_below(5) - 2, i = random_below(3);
        point p = pair.a[i], step = minus(pair.a[(i + 1) % 3], p);
        for (int c = 0; c < 3; c++)
            pair.b[0].x[c] = p.x[c] + t * step.x[c];
    }
    return pair;
}

static void to_floats(const point from[3], const float scale[3], float out[9])
{
    for (int i = 0; i < 9; i++)
        out[i] = (float)from[i / 3].x[i % 3] * scale[i % 3];
}

static const float ONE[3] = {1, 1, 1};

static void print_pair(const float a[9], const float b[9])
{
    for (int i = 0; i < 18; i++)
        printf("%s%a", i == 9 ? " | " : " ", i < 9 ? a[i] : b[i - 9]);
    printf("\n");
}

static bool check_class(tml_collide_class is, tml_collide_class expected, const float a[9],
                        const float b[9], const char *what)
{
    if (is == expected)
        return true;
    if (test_failures < TEST_PRINTED_FAILURES)
        print_pair(a, b);
    return test_fail(__FILE__, __LINE__, "%s: class %d, not %d", what, is, expected);
}

TEST(classes_on_grids)
{
    random_state = 1;
    uint64_t counts[TML_COLLIDE_CLASS_COUNT] = {0};
    for (uint64_t n = 0; n < times(200000); n++) {
        static const int sizes[] = {2, 3, 3, 4, 6, 12, 100};
        grid_pair pair = random_grid_pair(sizes[n % 7]);
        float a[9], b[9];
        to_floats(pair.a, ONE, a);
        to_floats(pair.b, ONE, b);
        tml_collide_class expected = reference_class(&pair);
        counts[expected]++;
        check_class(collide_exact(a, b, NULL), expected, a, b, "on a grid");
    }
    /* Each class has had its share. */
    for (int i = 0; i < TML_COLLIDE_CLASS_COUNT; i++)
        if (counts[i] < times(3000))
            test_fail(__FILE__, __LINE__, "class %d only %" PRIu64 " times", i, counts[i]);
}

TEST(segments_on_grids)
{
    random_state = 2;
    for (uint64_t n = 0; n < times(25000); n++) {
        grid_pair pair = random_grid_pair(n % 3 == 0 ? 3 : n % 3 == 1 ? 7 : 60);
        float a[9], b[9], segment[6];
        to_floats(pair.a, ONE, a);
        to_floats(pair.b, ONE, b);
        tml_collide_class kind = collide_exact(a, b, segment);
        hull ends = reference_ends(&pair);
        if (kind == TML_COLLIDE_CLASS_NONE || kind == TML_COLLIDE_CLASS_COPLANAR) {
            for (int i = 0; i < 6; i++)
                CHECK(isnan(segment[i]));
            CHECK(kind == TML_COLLIDE_CLASS_COPLANAR || ends.count == 0);
            continue;
        }
        bool is_right = ends.count > 0;
        for (int c = 0; c < 3 && is_right; c++)
            is_right = segment[c] == round_ratio(ends.least, c) &&
                       segment[3 + c] == round_ratio(ends.greatest, c);
        if (!is_right) {
            if (test_failures < TEST_PRINTED_FAILURES)
                print_pair(a, b);
            test_fail(__FILE__, __LINE__,
                      "class %d: %a %a %a to %a %a %a, expected %a %a %a to %a %a %a", kind,
                      segment[0], segment[1], segment[2], segment[3], segment[4], segment[5],
                      round_ratio(ends.least, 0), round_ratio(ends.least, 1),
                      round_ratio(ends.least, 2), round_ratio(ends.greatest, 0),
                      round_ratio(ends.greatest, 1), round_ratio(ends.greatest, 2));
        }
    }
}

/* What two triangles with common corners share besides them: by the reference's ends. */
TEST(neighbours_on_grids)
{
    random_state = 3;
    uint64_t counts[2][4] = {{0}};
    for (uint64_t n = 0; n < times(25000); n++) {
        grid_pair pair = random_grid_pair(n % 2 ? 3 : 5);
        for (int i = 0; i < (int)(n % 4); i++)
            pair.b[(i + n / 4) % 3] = pair.a[i];
        float a[9], b[9];
        to_floats(pair.a, ONE, a);
        to_floats(pair.b, ONE, b);
        tml_collide_class kind = reference_class(&pair);
        hull ends = reference_ends(&pair);
        ratio shared[3];
        int shared_count = 0;
        for (int i = 0; i < 3; i++) {
            bool is_shared = false;
            for (int k = 0; k < 3; k++)
                is_shared |= is_equal(pair.a[i], pair.b[k]);
            for (int k = 0; k < i; k++)
                is_shared &= !is_equal(pair.a[i], pair.a[k]);
            if (is_shared)
                shared[shared_count++] = along(pair.a[i], pair.a[i], 0, 1);
        }
        /* Of COPLANAR pairs the ends are not all. */
        bool is_first = false, is_last = false;
        for (int i = 0; i < shared_count && ends.count; i++) {
            is_first |= compare_ratios(ends.least, shared[i]) == 0;
            is_last |= compare_ratios(ends.greatest, shared[i]) == 0;
        }
        bool is_only = shared_count > 0 && shared_count < 3 && kind != TML_COLLIDE_CLASS_COPLANAR &&
                       is_first && is_last;
        counts[is_only][shared_count]++;
        check_class(collide_exact_neighbours(a, b, NULL), is_only ? TML_COLLIDE_CLASS_NONE : kind,
                    a, b, "neighbours");
    }
    for (int i = 0; i < 4; i++) {
        CHECK(counts[0][i] > 200);
        CHECK((counts[1][i] > 200) == (i == 1 || i == 2));
    }
}

/* ---- what must not change the answer --------------------------------------------------------- */

static void permute(const float from[9], int turn, bool is_mirrored, float to[9])
{
    for (int i = 0; i < 3; i++)
        memcpy(to + 3 * i, from + 3 * (((is_mirrored ? 3 - i : i) + turn) % 3), 3 * sizeof(float));
}

static void check_symmetries(const float a[9], const float b[9], tml_collide_class expected)
{
    float segment[6], other[6], p[9], q[9];
    check_class(collide_exact(a, b, segment), expected, a, b, "as given");
    for (int i = 0; i < 6; i++) {
        permute(a, i, i & 1, p);
        permute(b, i / 2, i / 3, q);
        bool is_swapped = i == 1 || i == 4;
        check_class(collide_exact(is_swapped ? q : p, is_swapped ? p : q, other), expected, a, b,
                    "swapped or permuted");
        if (memcmp(segment, other, sizeof other) != 0 && !isnan(segment[0]) &&
            !test_fail(__FILE__, __LINE__, "the segment depends on the order: %a and %a",
                       segment[0], other[0]) &&
            test_failures <= TEST_PRINTED_FAILURES)
            print_pair(a, b);
    }
}

TEST(order_and_scale_do_not_matter)
{
    random_state = 4;
    for (uint64_t n = 0; n < times(60000); n++) {
        grid_pair pair = random_grid_pair(n & 1 ? 3 : 9);
        /* A scale for each axis changes no class, however different they are. */
        float scale[3], a[9], b[9];
        for (int c = 0; c < 3; c++)
            scale[c] = ldexpf(1, n % 3 == 0 ? 0 : n % 3 == 1 ? -149 : random_below(267) - 149);
        to_floats(pair.a, scale, a);
        to_floats(pair.b, scale, b);
        check_symmetries(a, b, reference_class(&pair));
    }
}

static float random_float_of(int kind)
{
    if (kind == 0)
        return (float)(2 * random_unit() - 1);
    for (;;) {
        uint32_t bits = (uint32_t)random_bits();
        bits &= kind == 1 ? ~0u : kind == 2 ? 0x807fffffu : 0xff800000u;
        if ((bits & 0x7f800000u) != 0x7f800000u)
            return tml_bits_float(bits);
    }
}

/* Any bits at all: only symmetry can be asked for, and that segments lie in both boxes. */
TEST(any_floats)
{
    random_state = 5;
    for (uint64_t n = 0; n < times(20000); n++) {
        float x[18];
        for (int i = 0; i < 18; i++)
            x[i] =
                i > 2 && random_below(3) == 0 ? x[random_below(i)] : random_float_of((int)(n % 4));
        float segment[6];
        tml_collide_class kind = collide_exact(x, x + 9, segment);
        check_symmetries(x, x + 9, kind);
        for (int i = 0; i < 6 && !isnan(segment[0]); i++) {
            int c = i % 3;
            for (int base = 0; base < 18; base += 9) {
                float low = fminf(x[base + c], fminf(x[base + 3 + c], x[base + 6 + c]));
                float high = fmaxf(x[base + c], fmaxf(x[base + 3 + c], x[base + 6 + c]));
                CHECK(segment[i] >= low && segment[i] <= high);
            }
        }
    }
}

/* A plane through 0 and two points of any exponents: multiples of the one lie on it, and one step
 * of the smallest float beside it. */
TEST(sides_of_any_exponents)
{
    random_state = 6;
    for (uint64_t n = 0; n < times(20000); n++) {
        float a[9] = {0}, b[9] = {0};
        for (int i = 3; i < 9; i++) { /* no multiple is so small that it is rounded */
            float unit = (float)(2 * random_unit() - 1);
            a[i] = ldexpf(unit, random_below(180) - 80);
        }
        int axis = random_below(3);
        int power = random_below(40) - 20;
        for (int c = 0; c < 3; c++)
            b[c] = b[3 + c] = ldexpf(a[3 + c], power);
        b[3 + axis] = nextafterf(b[3 + axis], INFINITY);
        exact_points points;
        exact_points_load(&points, a, b);
        CHECK_EQ_I64(exact_side(&points, 0, 1, 2, 3), 0);
        CHECK_EQ_I64(exact_side(&points, 3, 2, 0, 1), 0);
        int normal = exact_turn(&points, axis, 0, 1, 2);
        CHECK_EQ_I64(exact_side(&points, 0, 1, 2, 4), normal);
        CHECK_EQ_I64(exact_side(&points, 4, 1, 2, 0), -normal);
        CHECK_EQ_I64(exact_side(&points, 1, 4, 2, 0), normal);
        CHECK_EQ_I64(exact_turn(&points, axis, 0, 1, 3), 0);
    }
}

/* ---- cases by hand --------------------------------------------------------------------------- */

typedef struct known_case {
    const char *name;
    float a[9], b[9];
    tml_collide_class kind, neighbours;
} known_case;

#define NONE       TML_COLLIDE_CLASS_NONE
#define CROSSING   TML_COLLIDE_CLASS_CROSSING
#define TOUCHING   TML_COLLIDE_CLASS_TOUCHING
#define COPLANAR   TML_COLLIDE_CLASS_COPLANAR
#define DEGENERATE TML_COLLIDE_CLASS_DEGENERATE

/* clang-format off */
static const known_case known_cases[] = {
    {"through the middle",     {0,0,0, 4,0,0, 0,4,0}, {1,1,-1, 1,1,1, 5,5,0},    CROSSING, CROSSING},
    {"past the edge",          {0,0,0, 4,0,0, 0,4,0}, {3,3,-1, 3,3,1, 5,5,0},    NONE, NONE},
    {"vertex on the face",     {0,0,0, 4,0,0, 0,4,0}, {1,1,0, 1,1,1, 2,1,1},     TOUCHING, TOUCHING},
    {"vertex on an edge",      {0,0,0, 4,0,0, 0,4,0}, {2,2,0, 2,2,1, 3,3,1},     TOUCHING, TOUCHING},
    {"vertex through, at an edge", {0,0,0, 4,0,0, 0,4,0}, {2,0,-1, 2,0,1, 2,-3,0}, TOUCHING, TOUCHING},
    {"edge on the face",       {0,0,0, 4,0,0, 0,4,0}, {1,1,0, 2,1,0, 1,1,3},     TOUCHING, TOUCHING},
    {"edge through an edge",   {0,0,0, 4,0,0, 0,4,0}, {2,0,-1, 2,0,1, 2,1,0},    CROSSING, CROSSING},
    {"corner, apart",          {0,0,0, 4,0,0, 0,4,0}, {0,0,0, -1,0,1, -1,1,1},   TOUCHING, NONE},
    {"corner, through",        {0,0,0, 4,0,0, 0,4,0}, {0,0,0, 1,1,1, 1,1,-1},    CROSSING, CROSSING},
    {"corner, edge on face",   {0,0,0, 4,0,0, 0,4,0}, {0,0,0, 1,1,0, 1,1,1},     TOUCHING, TOUCHING},
    {"corner, flat, apart",    {0,0,0, 4,0,0, 0,4,0}, {0,0,0, -1,0,0, 0,-1,0},   TOUCHING, NONE},
    {"corner, flat, over",     {0,0,0, 4,0,0, 0,4,0}, {0,0,0, 1,2,0, 2,1,0},     COPLANAR, COPLANAR},
    {"edge shared, folded",    {0,0,0, 4,0,0, 0,4,0}, {4,0,0, 0,0,0, 0,1,3},     TOUCHING, NONE},
    {"edge shared, flat",      {0,0,0, 4,0,0, 0,4,0}, {4,0,0, 0,0,0, 0,-4,0},    TOUCHING, NONE},
    {"edge shared, shut",      {0,0,0, 4,0,0, 0,4,0}, {4,0,0, 0,0,0, 4,4,0},     COPLANAR, COPLANAR},
    {"the same triangle",      {0,0,0, 4,0,0, 0,4,0}, {4,0,0, 0,0,0, 0,4,0},     COPLANAR, COPLANAR},
    {"half an edge",           {0,0,0, 4,0,0, 0,4,0}, {2,0,0, 6,0,0, 6,-4,0},    TOUCHING, TOUCHING},
    {"parallel planes",        {0,0,0, 4,0,0, 0,4,0}, {0,0,1e-30f, 4,0,1e-30f, 0,4,1e-30f}, NONE, NONE},
    {"flat and inside",        {0,0,0, 9,0,0, 0,9,0}, {1,1,0, 2,1,0, 1,2,0},     COPLANAR, COPLANAR},
    {"a point on a face",      {0,0,0, 4,0,0, 0,4,0}, {1,1,0, 1,1,0, 1,1,0},     DEGENERATE, DEGENERATE},
    {"a point off it",         {0,0,0, 4,0,0, 0,4,0}, {1,1,1e-40f, 1,1,1e-40f, 1,1,1e-40f}, NONE, NONE},
    {"a point at a corner",    {0,0,0, 4,0,0, 0,4,0}, {0,0,0, 0,0,0, -0.f,0,0},  DEGENERATE, NONE},
    {"a needle through",       {0,0,0, 4,0,0, 0,4,0}, {1,1,-1, 1,1,1, 1,1,2},    DEGENERATE, DEGENERATE},
    {"a needle in the plane",  {0,0,0, 4,0,0, 0,4,0}, {-1,1,0, 1,1,0, 9,1,0},    DEGENERATE, DEGENERATE},
    {"a needle along the edge",{0,0,0, 4,0,0, 0,4,0}, {0,0,0, 4,0,0, 2,0,0},     DEGENERATE, NONE},
    {"needles crossing",       {0,0,0, 2,2,0, 4,4,0}, {4,0,0, 0,4,0, 1,3,0},     DEGENERATE, DEGENERATE},
    {"needles in a row",       {0,0,0, 1,0,0, 2,0,0}, {2,0,0, 3,0,0, 9,0,0},     DEGENERATE, NONE},
    {"needles one in another", {0,0,0, 1,0,0, 2,0,0}, {0,0,0, 3,0,0, 1,0,0},     DEGENERATE, DEGENERATE},
    {"points in one place",    {7,7,7, 7,7,7, 7,7,7}, {7,7,7, 7,7,7, 7,7,7},     DEGENERATE, NONE},
};
/* clang-format on */

TEST(known_cases_by_hand)
{
    for (size_t i = 0; i < sizeof known_cases / sizeof known_cases[0]; i++) {
        const known_case *known = &known_cases[i];
        check_symmetries(known->a, known->b, known->kind);
        check_class(collide_exact_neighbours(known->a, known->b, NULL), known->neighbours, known->a,
                    known->b, known->name);
        check_class(collide_exact_neighbours(known->b, known->a, NULL), known->neighbours, known->b,
                    known->a, known->name);
    }
}

/* Ends halfway between floats go to the even one; a hair beside the middle, to the nearer one. */
TEST(ends_are_rounded_to_nearest)
{
    static const float plane[9] = {-9, -9, 0, 9, -9, 0, 0, 9, 0};
    for (int i = 0; i < 64; i++) {
        /* From x = 1 + n u to the next float, from z = -1 to z = 1 or nearly. */
        float x = 1 + (float)(i / 4) * 0x1p-23f, next = nextafterf(x, 2), segment[6];
        bool is_even = !(tml_float_bits(x) & 1);
        int shift =
            i % 4 - 1; /* of the upper end: -1, 0, 1 units in the last place; 2: of the sign */
        float up = shift < 0 ? 0x1.fffffep-1f : shift == 1 ? 0x1.000002p+0f : 1;
        float sign = shift == 2 ? -1 : 1;
        float needle[9] = {sign * x, 0, -1, sign * next, 0, up, sign * next, 0, up};
        bool is_next = shift == -1 || (shift != 1 && !is_even);
        CHECK(collide_exact(plane, needle, segment) == DEGENERATE);
        CHECK(segment[0] == sign * (is_next ? next : x) && segment[1] == 0 && segment[2] == 0);
        CHECK(memcmp(segment, segment + 3, sizeof segment / 2) == 0);
    }
}

/* Two tetrahedra: how many of their 16 pairs of faces are of each class. The second one is the
 * first, mirrored, then moved. */
typedef struct solid_case {
    const char *name;
    float mirror[3], move[3];
    int touching, coplanar, crossing;
} solid_case;

TEST(two_tetrahedra)
{
    static const float corners[4][3] = {{0, 0, 0}, {6, 0, 0}, {0, 6, 0}, {0, 0, 6}};
    static const int faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
    /* An edge in common: each face has one of its ends; those that have different ones do not meet
     * (twice). A corner in common: three faces of each have it. */
    static const solid_case cases[] = {
        {"in one place", {1, 1, 1}, {0, 0, 0}, 12, 4, 0},
        {"face to face", {1, 1, -1}, {0, 0, 0}, 15, 1, 0},
        {"edge to edge", {1, -1, -1}, {0, 0, 0}, 14, 0, 0},
        {"corner to corner", {1, 1, 1}, {6, 0, 0}, 9, 0, 0},
        {"corner in a face", {1, 1, 1}, {2, 2, 2}, 3, 0, 0},
        {"corner before a face", {1, 1, 1}, {2, 2, 2.0000002f}, 0, 0, 0},
        {"corner through a face", {1, 1, 1}, {2, 2, 1.9999999f}, 0, 0, 3},
        {"apart", {1, 1, 1}, {6.0000005f, 0, 0}, 0, 0, 0},
    };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        int counts[TML_COLLIDE_CLASS_COUNT] = {0};
        for (int i = 0; i < 16; i++) {
            float a[9], b[9];
            for (int v = 0; v < 9; v++) {
                int c = v % 3;
                a[v] = corners[faces[i / 4][v / 3]][c];
                b[v] = corners[faces[i % 4][v / 3]][c] * cases[n].mirror[c] + cases[n].move[c];
            }
            counts[collide_exact(a, b, NULL)]++;
        }
        if (counts[TOUCHING] != cases[n].touching || counts[COPLANAR] != cases[n].coplanar ||
            counts[CROSSING] != cases[n].crossing || counts[DEGENERATE])
            test_fail(__FILE__, __LINE__,
                      "%s: %d touching, %d coplanar, %d crossing, %d degenerate", cases[n].name,
                      counts[TOUCHING], counts[COPLANAR], counts[CROSSING], counts[DEGENERATE]);
    }
}

/* ---- the float test -------------------------------------------------------------------------- */

static tml_vec3 vertex_of(const float x[9], int i)
{
    return tml_make3(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
}

static uint32_t run_filter(const float a[9], const float b[9], bool is_one_mesh)
{
    tml_vec3 v[6];
    for (int i = 0; i < 3; i++) {
        v[i] = vertex_of(a, i);
        v[3 + i] = vertex_of(b, i);
    }
    return is_one_mesh ? collide_neighbours(v[0], v[1], v[2], v[3], v[4], v[5])
                       : collide_triangles(v[0], v[1], v[2], v[3], v[4], v[5]);
}
/* Behind a pointer, so that nothing moves across a change of rounding. */
static uint32_t (*volatile filter)(const float a[9], const float b[9], bool) = run_filter;

/* Ways that devices compute floats: rounding anyhow, and taking subnormals for 0. */
enum { FLOAT_MODES = 5 };

static bool begin_float_mode(int mode)
{
    static const int rounding[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    if (mode < 4)
        return fesetround(rounding[mode]) == 0;
#ifdef __SSE__
    _mm_setcsr(_mm_getcsr() | 0x8040); /* flush to zero, denormals are zeros */
    return true;
#else
    return false;
#endif
}
static void end_float_mode(void)
{
#ifdef __SSE__
    _mm_setcsr(_mm_getcsr() & ~0x8040u);
#endif
    fesetround(FE_TONEAREST);
}

/* counts: how often in the first mode, by answer. */
static void check_filter(const float a[9], const float b[9], uint64_t counts[3])
{
    tml_collide_class kind[2] = {collide_exact(a, b, NULL), collide_exact_neighbours(a, b, NULL)};
    for (int mode = 0; mode < FLOAT_MODES; mode++)
        for (int is_one_mesh = 0; is_one_mesh < 2; is_one_mesh++) {
            if (!begin_float_mode(mode))
                continue;
            uint32_t answer = filter(a, b, is_one_mesh);
            end_float_mode();
            if (!mode && !is_one_mesh)
                counts[answer]++;
            if (answer == COLLIDE_UNSURE ||
                kind[is_one_mesh] == (answer == COLLIDE_NO ? NONE : CROSSING))
                continue;
            if (test_failures < TEST_PRINTED_FAILURES)
                print_pair(a, b);
            test_fail(__FILE__, __LINE__, "float mode %d, one mesh %d: floats say %u, class %d",
                      mode, is_one_mesh, answer, kind[is_one_mesh]);
        }
}

static void scale_pair(float a[9], float b[9], float scale)
{
    for (int i = 0; i < 9; i++)
        a[i] *= scale, b[i] *= scale;
}

/* Two triangles of about one size side by side, with boxes that overlap mostly. */
static void random_triangles(float a[9], float b[9])
{
    float middle[3];
    for (int i = 0; i < 3; i++)
        middle[i] = (float)(4 * random_unit());
    for (int i = 0; i < 9; i++) {
        a[i] = middle[i % 3] + (float)(random_unit() - 0.5);
        b[i] = middle[i % 3] + (float)(random_unit() - 0.5);
    }
}

/* Moves vertices of b to where signs are hardest: on a's plane, on its edges, on lines from edge to
 * edge; rounded, so that they are off by a little. */
static void bring_near(const float a[9], float b[9])
{
    int kind = random_below(4);
    for (int i = 0; i < (kind == 3 ? 3 : 1 + random_below(2)); i++) {
        double s = random_unit(), t = kind & 1 ? random_unit() : 0;
        if (random_below(4) == 0)
            s = random_below(3);
        for (int c = 0; c < 3; c++) {
            float is =
                (float)(a[c] + s * ((double)a[3 + c] - a[c]) + t * ((double)a[6 + c] - a[c]));
            if (kind == 2 && i == 1) /* beyond an edge, so that edges meet */
                is = 2 * b[c] - b[6 + c];
            b[3 * i + c] = random_below(3) ? is : nextafterf(is, random_below(2) ? 9.0f : -9.0f);
        }
    }
}

TEST(floats_never_contradict)
{
    random_state = 7;
    uint64_t counts[3] = {0};
    for (uint64_t n = 0; n < times(60000); n++) {
        float a[9], b[9];
        random_triangles(a, b);
        bring_near(a, b);
        if (n % 4 == 1)
            memcpy(b + 3, a + 3 * (n % 3), 3 * sizeof(float));
        if (n % 8 == 1)
            memcpy(b + 6, a + 3 * ((n + 1) % 3), 3 * sizeof(float));
        scale_pair(a, b, n % 2 ? 1.0f : ldexpf(1, random_below(270) - 144));
        check_filter(a, b, counts);
    }
    for (uint64_t n = 0; n < times(20000); n++) {
        grid_pair pair = random_grid_pair(n & 1 ? 3 : 6);
        float a[9], b[9], scale[3];
        for (int c = 0; c < 3; c++)
            scale[c] = n & 2 ? 1 : ldexpf(1, random_below(267) - 149);
        to_floats(pair.a, scale, a);
        to_floats(pair.b, scale, b);
        check_filter(a, b, counts);
    }
    for (uint64_t n = 0; n < times(20000); n++) {
        float x[18];
        for (int i = 0; i < 18; i++)
            x[i] = random_float_of((int)(n % 4));
        check_filter(x, x + 9, counts);
    }
}

/* What it is for: nearly all pairs that do not touch are decided. */
TEST(floats_decide_most)
{
    random_state = 8;
    uint64_t counts[3] = {0}, near_counts[3] = {0}, flat_counts[3] = {0};
    for (uint64_t n = 0; n < 20000; n++) {
        float a[9], b[9];
        random_triangles(a, b);
        counts[filter(a, b, false)]++;
        /* A vertex of b within 1/1000 of a's plane. */
        for (int c = 0; c < 3; c++)
            b[c] = (a[c] + a[3 + c] + a[6 + c]) / 3 + (float)(random_unit() - 0.5) * 2e-3f;
        near_counts[filter(a, b, false)]++;
        /* In one plane, hence never crossing. */
        random_triangles(a, b);
        for (int i = 0; i < 3; i++)
            a[3 * i] = b[3 * i] = 1;
        if (collide_exact(a, b, NULL) == NONE)
            flat_counts[filter(a, b, false)]++;
    }
    CHECK(counts[COLLIDE_NO] > 5000 && counts[COLLIDE_CROSSING] > 2000);
    CHECK(counts[COLLIDE_UNSURE] < 10);
    CHECK(near_counts[COLLIDE_UNSURE] < 100);
    CHECK(flat_counts[COLLIDE_NO] > 1000 + 100 * flat_counts[COLLIDE_UNSURE]);
    if (is_whole)
        printf("no, crossing, unsure: %" PRIu64 " %" PRIu64 " %" PRIu64 "; near %" PRIu64
               " %" PRIu64 " %" PRIu64 "; flat %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
               counts[0], counts[1], counts[2], near_counts[0], near_counts[1], near_counts[2],
               flat_counts[0], flat_counts[1], flat_counts[2]);
}

/* NaN, infinities and differences that overflow leave a pair to others. */
TEST(broken_floats_are_unsure)
{
    static const float broken[] = {NAN, INFINITY, -INFINITY, 3e38f};
    for (int i = 0; i < 4 * 18; i++) {
        float x[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 7, 7, 7, 8, 7, 7, 7, 8, 7};
        CHECK_EQ_U64(filter(x, x + 9, false), COLLIDE_NO);
        x[i / 4] = broken[i % 4];
        if (i % 4 == 3)
            x[(i / 4 + 9) % 18] = -3e38f;
        CHECK_EQ_U64(filter(x, x + 9, false), COLLIDE_UNSURE);
        CHECK_EQ_U64(filter(x, x + 9, true), COLLIDE_UNSURE);
    }
}

int main(int argc, char **argv)
{
    is_whole = argc > 1 && strcmp(argv[1], "--all") == 0;
    return test_main(argc - is_whole, argv + is_whole);
}
