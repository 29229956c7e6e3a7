/* How far two triangles are apart (collide/triangle_distance.h), against other formulas in numbers
 * of twice the width. */
#include "test.h"

#include "collide/triangle_distance.h"
#include "exact/exact.h"
#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/collide.k.h"
#include "kernels/collide_triangles.k.h"
/* Uses the formulas above. */
#include "kernels/collide_triangle_distance.k.h"

static vec2 bounds_of(const float a[9], const float b[9])
{
    return triangle_bounds(VEC3(a[0], a[1], a[2]), VEC3(a[3], a[4], a[5]), VEC3(a[6], a[7], a[8]),
                           VEC3(b[0], b[1], b[2]), VEC3(b[3], b[4], b[5]), VEC3(b[6], b[7], b[8]));
}
static vec2 point_bounds_of(const float p[3], const float b[9])
{
    return triangle_point_bounds(VEC3(p[0], p[1], p[2]), VEC3(b[0], b[1], b[2]),
                                 VEC3(b[3], b[4], b[5]), VEC3(b[6], b[7], b[8]));
}
#include "kernels/kernel_end.h"

/* 113 bits where there are any; a long double otherwise, on machines where it has as many. */
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 quad;
#else
typedef long double quad;
#endif

static uint64_t random_state;
static uint64_t random_bits(void)
{
    return test_random(&random_state);
}
static double random_unit(void)
{
    return (double)(random_bits() >> 11) * 0x1p-53;
}

/* ---- the reference --------------------------------------------------------------------------- */

typedef struct quad3 {
    quad x[3];
} quad3;

static quad3 load(const float *x)
{
    return (quad3){{(quad)x[0], (quad)x[1], (quad)x[2]}};
}
static quad3 minus(quad3 a, quad3 b)
{
    return (quad3){{a.x[0] - b.x[0], a.x[1] - b.x[1], a.x[2] - b.x[2]}};
}
static quad3 plus(quad3 a, quad s, quad3 b)
{
    return (quad3){{a.x[0] + s * b.x[0], a.x[1] + s * b.x[1], a.x[2] + s * b.x[2]}};
}
static quad dot(quad3 a, quad3 b)
{
    return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2];
}
static quad clamp(quad x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

/* Square of the distance of p + s d and q + t e, 0 <= s, t <= 1: s for the lines, then t for that
 * s, then s for that t. */
static quad edges_apart(quad3 p, quad3 d, quad3 q, quad3 e)
{
    quad3 r = minus(p, q);
    quad dd = dot(d, d), ee = dot(e, e), de = dot(d, e), dr = dot(d, r), er = dot(e, r);
    quad by = dd * ee - de * de;
    quad s = by > 0 ? clamp((de * er - dr * ee) / by) : 0;
    quad t = ee > 0 ? clamp((de * s + er) / ee) : 0;
    s = dd > 0 ? clamp((de * t - dr) / dd) : 0;
    quad3 gap = minus(plus(p, s, d), plus(q, t, e));
    return dot(gap, gap);
}

/* Square of the distance of p and the plane of a face over which it lies, else negative: by the
 * face's coordinates of the nearest point. */
static quad face_apart(quad3 p, const quad3 face[3])
{
    quad3 d = minus(face[1], face[0]), e = minus(face[2], face[0]), r = minus(p, face[0]);
    quad dd = dot(d, d), ee = dot(e, e), de = dot(d, e), dr = dot(d, r), er = dot(e, r);
    quad by = dd * ee - de * de;
    if (!(by > 0))
        return -1;
    quad s = (ee * dr - de * er) / by, t = (dd * er - de * dr) / by;
    quad3 gap = plus(plus(r, -s, d), -t, e);
    return s >= 0 && t >= 0 && s + t <= 1 ? dot(gap, gap) : -1;
}

/* Of triangles that do not meet. */
static quad triangles_apart(const float a[9], const float b[9])
{
    quad3 v[2][3];
    for (int i = 0; i < 3; i++)
        v[0][i] = load(a + 3 * i), v[1][i] = load(b + 3 * i);
    quad least = -1;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            quad apart = edges_apart(v[0][i], minus(v[0][(i + 1) % 3], v[0][i]), v[1][k],
                                     minus(v[1][(k + 1) % 3], v[1][k]));
            least = least < 0 || apart < least ? apart : least;
        }
        for (int side = 0; side < 2; side++) {
            quad apart = face_apart(v[side][i], v[1 - side]);
            least = apart >= 0 && apart < least ? apart : least;
        }
    }
    return least;
}

static quad root(quad x)
{
    if (!(x > 0))
        return 0;
    quad r = (quad)sqrt((double)x);
    for (int i = 0; i < 3 && r > 0; i++)
        r = (r + x / r) / 2;
    return r;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static double extent_of(const float a[9], const float b[9])
{
    double extent = 0;
    for (int c = 0; c < 3; c++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < 18; i++)
            if (i % 3 == c) {
                double x = i < 9 ? (double)a[i] : (double)b[i - 9];
                low = fmin(low, x), high = fmax(high, x);
            }
        extent = fmax(extent, high - low);
    }
    return extent;
}

static void print_pair(const float a[9], const float b[9])
{
    for (int i = 0; i < 18; i++)
        printf("%s%a", i == 9 ? " | " : " ", (double)(i < 9 ? a[i] : b[i - 9]));
    printf("\n");
}

/* Bounds in floats (kernels/collide_triangle_distance.k.h) of triangles and of a point, a's first
 * vertex. loose: how much of the extent lies between the bounds at most. */
static void check_bounds(const float a[9], const float b[9], double distance, double *loose)
{
    double extent = extent_of(a, b), error = 0x1p-46 * extent;
    float point[9];
    for (int i = 0; i < 9; i++)
        point[i] = a[i % 3];
    collide_nearest nearest;
    CHECK(collide_triangle_distance(point, b, INFINITY, &nearest));
    tml_vec2 pair = bounds_of(a, b), turned = bounds_of(b, a), alone = point_bounds_of(point, b);
    const double told[3] = {distance, distance, nearest.distance};
    const tml_vec2 bounds[3] = {pair, turned, alone};
    for (int i = 0; i < 3; i++) {
        double low = (double)bounds[i].x, high = (double)bounds[i].y;
        if (!(low >= 0 && low <= told[i] + error && high >= told[i] - error)) {
            print_pair(a, b);
            test_fail(__FILE__, __LINE__, "bounds %d: %a to %a are not about %a", i, low, high,
                      told[i]);
        }
        if (isfinite(high))
            *loose = fmax(*loose, (high - low) / extent);
    }
}

/* Counts what met. */
static void check_pair(const float a[9], const float b[9], uint64_t *met, double *worst,
                       double *loose)
{
    collide_nearest found = {-1, {0}, {0}}, swapped, unfound = {-1, {0}, {0}};
    double extent = extent_of(a, b), bound = 0x1p-46 * extent;
    bool is_right = collide_triangle_distance(a, b, INFINITY, &found) &&
                    collide_triangle_distance(b, a, INFINITY, &swapped);
    bool is_met = collide_exact(a, b, NULL) != TML_COLLIDE_CLASS_NONE;
    *met += is_met;
    check_bounds(a, b, found.distance, loose);
    is_right &= is_met == (found.distance == 0) && is_met == (swapped.distance == 0);
    if (is_met) {
        is_right &= memcmp(found.a, found.b, sizeof found.a) == 0;
    } else {
        quad error = (quad)found.distance - root(triangles_apart(a, b));
        *worst = fmax(*worst, fabs((double)error) / extent);
        is_right &=
            fabs((double)error) < bound && fabs(swapped.distance - found.distance) < 2 * bound;
        /* Farther than a limit: no answer. */
        is_right &= !collide_triangle_distance(a, b, 0.999 * found.distance, &unfound) &&
                    unfound.distance == -1 &&
                    collide_triangle_distance(a, b, found.distance, &unfound);
    }
    /* The points: on the triangles, and that far apart, but for their rounding. */
    double rounding = 0x1p-149;
    for (int i = 0; i < 9; i++)
        rounding = fmax(rounding, 0x1p-23 * (double)fmaxf(fabsf(a[i]), fabsf(b[i])));
    float p[9], q[9];
    double gap = 0;
    for (int i = 0; i < 9; i++)
        p[i] = found.a[i % 3], q[i] = found.b[i % 3];
    for (int c = 0; c < 3; c++)
        gap += ((double)p[c] - (double)q[c]) * ((double)p[c] - (double)q[c]);
    quad from_a = collide_exact(a, p, NULL) ? 0 : root(triangles_apart(a, p));
    quad from_b = collide_exact(b, q, NULL) ? 0 : root(triangles_apart(b, q));
    is_right &= (double)from_a <= rounding + bound && (double)from_b <= rounding + bound;
    is_right &= fabs(sqrt(gap) - found.distance) <= 2 * rounding + bound + 0x1p-21 * found.distance;
    if (is_right)
        return;
    if (test_failures < TEST_PRINTED_FAILURES)
        print_pair(a, b);
    test_fail(__FILE__, __LINE__, "distance %a, points off by %g and %g, expected %a",
              found.distance, (double)from_a, (double)from_b,
              is_met ? 0 : (double)root(triangles_apart(a, b)));
}

TEST(random_pairs)
{
    random_state = 1;
    uint64_t met = 0, tight = 0, apart = 0;
    double worst = 0;
    for (int n = 0; n < 4000; n++) {
        float a[9], b[9];
        double step = n % 4 == 3 ? 0 : 2 * random_unit();
        float scale = ldexpf(1, n % 5 == 0 ? (int)(random_bits() % 260) - 140 : 0);
        for (int i = 0; i < 9; i++) {
            a[i] = (float)random_unit() * scale;
            b[i] = (float)(random_unit() + step) * scale;
        }
        double loose = 0;
        check_pair(a, b, &met, &worst, &loose);
        tight += loose < 0x1p-13;
        apart += step > 1;
    }
    CHECK(met > 100 && met < 2000);
    CHECK(tight > apart);
}

/* Where formulas lose their digits: edges nearly parallel, slivers, needles, planes nearly the
 * same, gaps that are tiny beside the triangles, coordinates of all sizes. */
TEST(pairs_hard_for_floats)
{
    random_state = 2;
    uint64_t met = 0;
    double worst = 0, loose = 0;
    for (int n = 0; n < 8000; n++) {
        float a[9], b[9];
        double tiny = ldexp(1, -(int)(random_bits() % 40));
        for (int i = 0; i < 9; i++) {
            a[i] = (float)random_unit();
            b[i] = (float)random_unit();
        }
        int kind = n % 6;
        for (int i = 0; i < 9; i++) {
            if (kind == 0) /* the same triangle, moved a little */
                b[i] = (float)(a[i] + tiny * random_unit());
            if (kind == 1 && i >= 6) /* slivers */
                a[i] = (float)(a[i - 3] + tiny * random_unit()), b[i] = b[i - 3];
            if (kind == 2 && i < 6) /* an edge along another */
                b[i] = (float)(a[i] + tiny * (i % 3 == 2));
            if (kind == 3) /* coordinates of all sizes */
                a[i] = ldexpf(a[i], -(int)(random_bits() % 60)), b[i] *= (float)tiny;
            if (kind == 4 && i % 3 == 2) /* planes nearly the same */
                a[i] = (float)(tiny * random_unit()), b[i] = (float)(-tiny * random_unit());
            if (kind == 5 && i >= 3) /* points and needles */
                a[i] = (float)(a[i - 3] + (n % 4 < 2 ? 0 : tiny)), b[i] = i < 6 ? b[i] : b[i - 6];
        }
        check_pair(a, b, &met, &worst, &loose);
    }
    CHECK(met > 100 && met < 7000);
    CHECK(worst > 0);
    if (getenv("TML_VERBOSE"))
        printf("worst error: 2^%.1f of the extent; %" PRIu64 " met\n", log2(worst), met);
}

typedef struct known_distance {
    float a[9], b[9];
    double distance;
} known_distance;

TEST(known_distances)
{
    /* clang-format off */
    static const known_distance known[] = {
        {{0,0,0, 4,0,0, 0,4,0}, {0,0,3, 4,0,3, 0,4,3}, 3},     /* parallel */
        {{0,0,0, 9,0,0, 0,9,0}, {2,2,5, 3,3,9, 3,2,9}, 5},     /* a vertex over a face */
        {{0,0,0, 4,0,0, 0,-4,0}, {2,1,-1, 2,1,1, 2,5,0}, 1},   /* an edge across an edge */
        {{0,0,0, 4,0,0, 0,4,0}, {7,-4,0, 9,-4,0, 7,-9,0}, 5},  /* corner to corner */
        {{0,0,0, 4,0,0, 0,4,0}, {-3,1,0, -3,2,0, -9,1,0}, 3},  /* in a plane */
        {{0,0,0, 9,0,0, 0,9,0}, {1,1,0, 2,1,0, 1,2,0}, 0},     /* one inside the other */
        {{0,0,0, 9,0,0, 0,9,0}, {1,1,-1, 1,1,1, 9,9,9}, 0},    /* through it */
        {{0,0,0, 9,0,0, 0,9,0}, {1,1,2, 1,1,2, 1,1,2}, 2},     /* a point */
        {{0,0,0, 2,0,0, 9,0,0}, {5,1,-1, 5,1,0, 5,1,7}, 1},    /* needles */
        {{1,1,1, 1,1,1, 1,1,1}, {1,1,1.5f, 1,1,1.5f, 1,1,1.5f}, 0.5},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        collide_nearest found;
        CHECK(collide_triangle_distance(known[i].a, known[i].b, INFINITY, &found));
        if (fabs(found.distance - known[i].distance) > 0x1p-50 * known[i].distance)
            test_fail(__FILE__, __LINE__, "case %zu: %g, not %g", i, found.distance,
                      known[i].distance);
    }
}

/* Two points a subnormal apart do not meet, so the distance is not 0. */
TEST(apart_is_never_0)
{
    float a[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, b[9] = {0, 0, 0x1p-149f, 1, 0, 1, 0, 1, 1};
    collide_nearest found;
    CHECK(collide_triangle_distance(a, b, INFINITY, &found));
    CHECK(found.distance > 0 && found.distance < 0x1p-48);
    /* What is as good as exact where nothing is rounded. */
    a[3] = a[7] = b[3] = b[7] = b[5] = b[8] = 0x1p-149f;
    CHECK(collide_triangle_distance(a, b, INFINITY, &found));
    CHECK(found.distance == 0x1p-149);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
