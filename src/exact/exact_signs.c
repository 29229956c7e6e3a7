/* Exact signs in three stages; each stage handles the cases that the previous one cannot decide.
 * Doubles with an error bound; 128-bit integers, if all coordinates lie on one grid; integers of
 * any width.
 *
 * Doubles neither overflow nor underflow here: products of three differences of floats are at most
 * 2^387 and are multiples of 2^-447. So the bounds below are purely relative. */
#include "exact/exact_signs.h"

#include <assert.h>

#include "exact/exact_wide.h"

/* A term of a determinant is a product of up to 3 differences. It is rounded by each difference, by
 * 2 products and by up to 3 sums: 8 times, each by a relative 2^-53 (2^-52 if rounding is not to
 * nearest). So the determinant's error is below 2^-49 of the sum of the terms' magnitudes. The
 * factor of 2 covers the rounding of that sum. */
static const double ERROR_OF_TERMS = 0x1p-48;

/* Coordinates on the grid are below this, so that determinants of degree 3 are below 6 * 2^123. */
static const int GRID_BITS = 40;

#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 int128;
#    define HAS_INT128 true
#else
typedef int64_t int128; /* never computed with */
#    define HAS_INT128 false
#endif

static double double_of(float x)
{
    wide_float parts = wide_split(x);
    double subnormal = (double)parts.mantissa * 0x1p-149;
    return parts.mantissa >> 23 ? (double)x : parts.is_negative ? -subnormal : subnormal;
}

void exact_points_load(exact_points *points, const float a[9], const float b[9])
{
    memcpy(points->floats[0], a, 9 * sizeof(float));
    memcpy(points->floats[3], b, 9 * sizeof(float));
    for (int i = 0; i < EXACT_POINTS; i++)
        for (int c = 0; c < 3; c++)
            points->at[i][c] = double_of(points->floats[i][c]);
    points->grid = EXACT_GRID_UNKNOWN;
}

/* ---- the grid -------------------------------------------------------------------------------- */

static exact_grid find_grid(exact_points *points)
{
    double largest = 0x1p-149;
    int exponent;
    for (int i = 0; i < EXACT_POINTS; i++)
        for (int k = 0; k < 3; k++)
            largest = fmax(largest, fabs(points->at[i][k]));
    frexp(largest, &exponent);
    double scale = ldexp(1.0, GRID_BITS - exponent);
    for (int i = 0; i < EXACT_POINTS; i++)
        for (int k = 0; k < 3; k++) {
            double scaled = points->at[i][k] * scale;
            points->on_grid[i][k] = (int64_t)scaled;
            if ((double)points->on_grid[i][k] != scaled)
                return EXACT_GRID_NONE;
        }
    return EXACT_GRID_FOUND;
}

static bool is_on_grid(exact_points *points)
{
    if (points->grid == EXACT_GRID_UNKNOWN)
        points->grid = HAS_INT128 ? find_grid(points) : EXACT_GRID_NONE;
    return points->grid == EXACT_GRID_FOUND;
}

static int sign_of_int128(int128 x)
{
    return (x > 0) - (x < 0);
}

static void differences_on_grid(const exact_points *points, exact_vector v, int64_t out[3])
{
    for (int c = 0; c < 3; c++)
        out[c] = points->on_grid[v.to][c] - points->on_grid[v.from][c];
}

static int volume_on_grid(const exact_points *points, const exact_vector v[3])
{
    int64_t e[3], f[3], g[3];
    differences_on_grid(points, v[0], e);
    differences_on_grid(points, v[1], f);
    differences_on_grid(points, v[2], g);
    return sign_of_int128(((int128)e[1] * f[2] - (int128)e[2] * f[1]) * g[0] +
                          ((int128)e[2] * f[0] - (int128)e[0] * f[2]) * g[1] +
                          ((int128)e[0] * f[1] - (int128)e[1] * f[0]) * g[2]);
}

static int cross_on_grid(const exact_points *points, int axis, exact_vector u, exact_vector v)
{
    int x = (axis + 1) % 3, y = (axis + 2) % 3;
    int64_t e[3], f[3];
    differences_on_grid(points, u, e);
    differences_on_grid(points, v, f);
    return sign_of_int128((int128)e[x] * f[y] - (int128)e[y] * f[x]);
}

/* ---- wide integers --------------------------------------------------------------------------- */

static wide_float wide_coordinate(const exact_points *points, int i, int axis)
{
    return wide_split(points->floats[i][axis]);
}

/* sum += or -= det[i, j] of the points seen along an axis. */
static void add_det2(wide *sum, bool is_negative, const exact_points *points, int axis, int i,
                     int j)
{
    int x = (axis + 1) % 3, y = (axis + 2) % 3;
    wide_add_product2(sum, is_negative, wide_coordinate(points, i, x),
                      wide_coordinate(points, j, y));
    wide_add_product2(sum, !is_negative, wide_coordinate(points, i, y),
                      wide_coordinate(points, j, x));
}

static void add_det3(wide *sum, bool is_negative, const exact_points *points, int i, int j, int k)
{
    for (int x = 0; x < 3; x++) {
        int y = (x + 1) % 3, z = (x + 2) % 3;
        wide_float ix = wide_coordinate(points, i, x);
        wide_add_product3(sum, is_negative, ix, wide_coordinate(points, j, y),
                          wide_coordinate(points, k, z));
        wide_add_product3(sum, !is_negative, ix, wide_coordinate(points, j, z),
                          wide_coordinate(points, k, y));
    }
}

/* The determinants of differences, expanded, so that they contain only coordinates. */
static wide wide_cross(const exact_points *points, int axis, exact_vector u, exact_vector v)
{
    wide det = {{0}};
    add_det2(&det, false, points, axis, u.to, v.to);
    add_det2(&det, true, points, axis, u.from, v.to);
    add_det2(&det, true, points, axis, u.to, v.from);
    add_det2(&det, false, points, axis, u.from, v.from);
    return det;
}

static wide wide_volume(const exact_points *points, const exact_vector v[3])
{
    wide det = {{0}};
    for (int ends = 0; ends < 8; ends++) {
        int i = ends & 1 ? v[0].from : v[0].to, j = ends & 2 ? v[1].from : v[1].to;
        int k = ends & 4 ? v[2].from : v[2].to;
        if (i != j && j != k && k != i) /* else 0 */
            add_det3(&det, ((ends ^ ends >> 1 ^ ends >> 2) & 1) != 0, points, i, j, k);
    }
    return det;
}

/* ---- doubles, and the stages ----------------------------------------------------------------- */

/* A determinant, and the bound of its error. */
typedef struct estimate {
    double value, error;
} estimate;

static void differences(const exact_points *points, exact_vector v, double out[3])
{
    for (int c = 0; c < 3; c++)
        out[c] = points->at[v.to][c] - points->at[v.from][c];
}

static estimate estimate_volume(const exact_points *points, const exact_vector v[3])
{
    double e[3], f[3], g[3], value = 0, magnitude = 0;
    differences(points, v[0], e);
    differences(points, v[1], f);
    differences(points, v[2], g);
    for (int x = 0; x < 3; x++) {
        int y = (x + 1) % 3, z = (x + 2) % 3;
        double yz = e[y] * f[z], zy = e[z] * f[y];
        value += (yz - zy) * g[x];
        magnitude += (fabs(yz) + fabs(zy)) * fabs(g[x]);
    }
    return (estimate){value, ERROR_OF_TERMS * magnitude};
}

static estimate estimate_cross(const exact_points *points, int axis, exact_vector u, exact_vector v)
{
    int x = (axis + 1) % 3, y = (axis + 2) % 3;
    double e[3], f[3];
    differences(points, u, e);
    differences(points, v, f);
    double xy = e[x] * f[y], yx = e[y] * f[x];
    return (estimate){xy - yx, ERROR_OF_TERMS * (fabs(xy) + fabs(yx))};
}

/* If the error bound is 0, all terms are 0, and so is the determinant. */
static bool is_certain(estimate x)
{
    return fabs(x.value) > x.error || x.error == 0;
}

static int sign_of(double x)
{
    return (x > 0) - (x < 0);
}

int exact_volume(exact_points *points, const exact_vector v[3])
{
    estimate det = estimate_volume(points, v);
    if (is_certain(det))
        return sign_of(det.value);
    if (is_on_grid(points))
        return volume_on_grid(points, v);
    wide exact = wide_volume(points, v);
    return wide_sign(&exact);
}

int exact_cross(exact_points *points, int axis, exact_vector u, exact_vector v)
{
    estimate det = estimate_cross(points, axis, u, v);
    if (is_certain(det))
        return sign_of(det.value);
    if (is_on_grid(points))
        return cross_on_grid(points, axis, u, v);
    wide exact = wide_cross(points, axis, u, v);
    return wide_sign(&exact);
}

int exact_side(exact_points *points, int i, int j, int k, int l)
{
    return exact_volume(points, (exact_vector[]){{i, j}, {i, k}, {i, l}});
}

int exact_turn(exact_points *points, int axis, int i, int j, int k)
{
    return exact_cross(points, axis, (exact_vector){i, j}, (exact_vector){i, k});
}

int exact_axis(exact_points *points, int i, int j, int k)
{
    for (int axis = 0; axis < 3; axis++)
        if (exact_turn(points, axis, i, j, k) != 0)
            return axis;
    return -1;
}

int exact_order(const exact_points *points, int i, int j)
{
    for (int c = 0; c < 3; c++)
        if (points->at[i][c] != points->at[j][c])
            return points->at[i][c] < points->at[j][c] ? -1 : 1;
    return 0;
}

/* ---- cuts ------------------------------------------------------------------------------------ */

/* A cut lies at from + (to - from) d / (d - e), where d and e are the determinants of from and to
 * with respect to the cutting plane or line. d and e have opposite signs, or one of them is 0. */
static estimate estimate_weight(const exact_points *points, const exact_cut *cut, int i)
{
    const exact_vector v[] = {{cut->u, cut->v}, {cut->u, cut->axis < 0 ? cut->w : i}, {cut->u, i}};
    return cut->axis < 0 ? estimate_volume(points, v)
                         : estimate_cross(points, cut->axis, v[0], v[1]);
}

static wide wide_weight(const exact_points *points, const exact_cut *cut, int i)
{
    const exact_vector v[] = {{cut->u, cut->v}, {cut->u, cut->axis < 0 ? cut->w : i}, {cut->u, i}};
    return cut->axis < 0 ? wide_volume(points, v) : wide_cross(points, cut->axis, v[0], v[1]);
}

/* Sign of numerator / denominator - middle. middle lies halfway between neighbouring floats, so it
 * has 25 bits and is a multiple of 2^-150. */
static int compare_quotient(const wide *numerator, const wide *denominator, double middle)
{
    int exponent;
    double mantissa = frexp(2 * fabs(middle), &exponent) * 0x1p25;
    int shift = exponent - 25 - WIDE_UNIT;
    wide difference = {{0}};
    wide_add_scaled(&difference, false, numerator, 2, 0);
    wide_add_scaled(&difference, middle > 0, denominator,
                    (uint32_t)ldexp(mantissa, shift < 0 ? shift : 0),
                    (uint32_t)(shift < 0 ? 0 : shift));
    return wide_sign(&difference) * wide_sign(denominator);
}

static float round_quotient(const wide *numerator, const wide *denominator)
{
    int above, below;
    double dividend = wide_approximate(numerator, &above);
    double divisor = wide_approximate(denominator, &below);
    double quotient = ldexp(dividend / divisor, above - below + WIDE_UNIT);
    /* quotient has a relative error of a few 2^-52. The correctly rounded float is nearest or, if
     * quotient is close to the midpoint, its neighbour on that side. The side of the midpoint on
     * which the exact value lies decides. */
    float nearest = (float)quotient;
    float other = nextafterf(nearest, quotient > (double)nearest ? INFINITY : -INFINITY);
    if (isinf(other))
        return nearest; /* a cut lies between two vertices */
    double middle = (double_of(nearest) + double_of(other)) / 2;
    int place = compare_quotient(numerator, denominator, middle);
    float low = fminf(nearest, other), high = fmaxf(nearest, other);
    if (place == 0)
        return tml_float_bits(low) & 1 ? high : low;
    return place < 0 ? low : high;
}

/* x as a numerator, whose degree is one more than the denominator's. */
static wide wide_times_one(const wide *x)
{
    wide numerator = {{0}};
    wide_add_scaled(&numerator, false, x, 1, -WIDE_UNIT);
    return numerator;
}

int exact_quotient_order(const exact_points *points, const exact_vector n[3],
                         const exact_vector m[3], float x)
{
    wide dividend = wide_volume(points, n), divisor = wide_volume(points, m);
    wide numerator = wide_times_one(&dividend);
    return compare_quotient(&numerator, &divisor, double_of(x));
}

float exact_quotient_round(const exact_points *points, const exact_vector n[3],
                           const exact_vector m[3])
{
    wide dividend = wide_volume(points, n), divisor = wide_volume(points, m);
    if (wide_sign(&dividend) == 0)
        return 0.0f;
    wide numerator = wide_times_one(&dividend);
    return round_quotient(&numerator, &divisor);
}

static float cut_coordinate(exact_points *points, const exact_cut *cut, int axis, estimate d,
                            estimate e)
{
    double from = points->at[cut->from][axis], to = points->at[cut->to][axis];
    if (from == to)
        return points->floats[cut->from][axis];
    double total = fabs(d.value) + fabs(e.value), lost = d.error + e.error;
    if (lost < total * 0x1p-10) {
        double t = fabs(d.value) / total, length = to - from, value = from + t * length;
        /* t's error is twice the weights' error, relative to their sum, plus its own roundings;
         * each sum's error is half a unit in its last place. */
        double error =
            (2.5 * lost / total + 0x1p-50) * fabs(length) + 0x1p-51 * (fabs(from) + fabs(to));
        float low = (float)(value - error), high = (float)(value + error);
        if (low == high && fabsf(low) > 0x1p-120f)
            return low;
    }
    wide weight = wide_weight(points, cut, cut->from), other = wide_weight(points, cut, cut->to);
    wide_float first = wide_coordinate(points, cut->from, axis);
    wide_float second = wide_coordinate(points, cut->to, axis);
    wide numerator = {{0}}, denominator = weight;
    wide_add_scaled(&numerator, second.is_negative, &weight, second.mantissa, second.shift);
    wide_add_scaled(&numerator, !first.is_negative, &other, first.mantissa, first.shift);
    wide_add_scaled(&denominator, true, &other, 1, 0);
    if (wide_sign(&numerator) == 0)
        return 0.0f;
    return round_quotient(&numerator, &denominator);
}

void exact_cut_round(exact_points *points, const exact_cut *cut, float out[3])
{
    estimate d = {0, 0}, e = {0, 0};
    if (cut->from != cut->to) {
        d = estimate_weight(points, cut, cut->from);
        e = estimate_weight(points, cut, cut->to);
    }
    for (int c = 0; c < 3; c++)
        out[c] = (cut->from == cut->to ? points->floats[cut->from][c]
                                       : cut_coordinate(points, cut, c, d, e)) +
                 0.0f;
}
