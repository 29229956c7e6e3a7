/* The polynomials in a cell's corners, less the isovalue, whose signs decide the topology of the
 * trilinear interpolant in the cell (surface/surface_topology.h). Numbers are exact_integer: that
 * of exact_integer.k.h, or a longer one on the host.
 *
 * As a plane sweeps along an axis, t from 0 to 1, the determinant of the four values in it is
 *   LOW (1 - t)^2 + MIXED (1 - t) t + HIGH t^2
 * and their alternating sum is
 *   LOW_SUM (1 - t) + HIGH_SUM t */
#define TOPOLOGY_LOW       0u
#define TOPOLOGY_HIGH      1u
#define TOPOLOGY_MIXED     2u
#define TOPOLOGY_LOW_SUM   3u
#define TOPOLOGY_HIGH_SUM  4u
#define TOPOLOGY_BOTH_SUMS 5u /* LOW_SUM + HIGH_SUM */
#define TOPOLOGY_DISCRIMINANT                                                                      \
    6u /* MIXED^2 - 4 LOW HIGH: Cayley's hyperdeterminant, the same along each axis */
/* LOW_SUM (2 HIGH - MIXED) + HIGH_SUM (2 LOW - MIXED). If LOW and HIGH have one sign and MIXED the
 * other, this is that of LOW times the sign of the alternating sum at the determinant's
 * extremum. */
#define TOPOLOGY_EXTREMUM 7u
/* At each root of the determinant two lines cross, at x0 < x1 or x0 > x1; each is a difference of
 * values divided by their alternating sum. TURN is the determinant of the numerator and the sum,
 * which are both linear in t. SIDES has LOW's sign times the sign of the product of the sums at the
 * two roots. */
#define TOPOLOGY_TURN  8u
#define TOPOLOGY_SIDES 9u

/* Words of products of two differences of samples, and of four. */
#define TOPOLOGY_WORDS      6u
#define TOPOLOGY_LONG_WORDS 12u

/* On the two faces across an axis: two across the diagonal, then the other two. */
STRUCT_BEGIN(topology_columns)
exact_integer low[4];
exact_integer high[4];
STRUCT_END(topology_columns)

FUNCTION(exact_integer)
topology_determinant(exact_integer a, exact_integer b, exact_integer c, exact_integer d)
{
    return exact_integer_subtract(exact_integer_multiply(a, b, TOPOLOGY_WORDS),
                                  exact_integer_multiply(c, d, TOPOLOGY_WORDS), TOPOLOGY_WORDS);
}

FUNCTION(exact_integer)
topology_sum(exact_integer a, exact_integer b, exact_integer c, exact_integer d)
{
    return exact_integer_subtract(exact_integer_add(a, b, TOPOLOGY_WORDS),
                                  exact_integer_add(c, d, TOPOLOGY_WORDS), TOPOLOGY_WORDS);
}

FUNCTION(exact_integer) topology_twice_less(exact_integer a, exact_integer b)
{
    return exact_integer_subtract(exact_integer_add(a, a, TOPOLOGY_WORDS), b, TOPOLOGY_WORDS);
}

FUNCTION(exact_integer) topology_product(exact_integer a, exact_integer b)
{
    return exact_integer_multiply(exact_integer_extended(a), exact_integer_extended(b),
                                  TOPOLOGY_LONG_WORDS);
}

FUNCTION(exact_integer)
topology_discriminant(exact_integer low, exact_integer mixed, exact_integer high)
{
    exact_integer four = topology_product(exact_integer_add(low, low, TOPOLOGY_WORDS),
                                          exact_integer_add(high, high, TOPOLOGY_WORDS));
    return exact_integer_subtract(topology_product(mixed, mixed), four, TOPOLOGY_LONG_WORDS);
}

FUNCTION(exact_integer) topology_low(topology_columns c)
{
    return topology_determinant(c.low[0], c.low[1], c.low[2], c.low[3]);
}

FUNCTION(exact_integer) topology_high(topology_columns c)
{
    return topology_determinant(c.high[0], c.high[1], c.high[2], c.high[3]);
}

FUNCTION(exact_integer) topology_mixed(topology_columns c)
{
    return exact_integer_add(topology_determinant(c.low[0], c.high[1], c.low[2], c.high[3]),
                             topology_determinant(c.high[0], c.low[1], c.high[2], c.low[3]),
                             TOPOLOGY_WORDS);
}

/* 1, 0 or -1. */
FUNCTION(int) topology_sign(topology_columns c, uint what)
{
    if (what == TOPOLOGY_LOW)
        return exact_integer_sign(topology_low(c), TOPOLOGY_WORDS);
    if (what == TOPOLOGY_HIGH)
        return exact_integer_sign(topology_high(c), TOPOLOGY_WORDS);
    exact_integer low_sum = topology_sum(c.low[0], c.low[1], c.low[2], c.low[3]);
    exact_integer high_sum = topology_sum(c.high[0], c.high[1], c.high[2], c.high[3]);
    if (what == TOPOLOGY_LOW_SUM)
        return exact_integer_sign(low_sum, TOPOLOGY_WORDS);
    if (what == TOPOLOGY_HIGH_SUM)
        return exact_integer_sign(high_sum, TOPOLOGY_WORDS);
    if (what == TOPOLOGY_BOTH_SUMS)
        return exact_integer_sign(exact_integer_add(low_sum, high_sum, TOPOLOGY_WORDS),
                                  TOPOLOGY_WORDS);
    if (what == TOPOLOGY_TURN)
        return exact_integer_sign(
            topology_determinant(
                exact_integer_subtract(c.high[0], c.high[3], TOPOLOGY_WORDS), low_sum,
                exact_integer_subtract(c.low[0], c.low[3], TOPOLOGY_WORDS), high_sum),
            TOPOLOGY_WORDS);
    exact_integer mixed = topology_mixed(c);
    if (what == TOPOLOGY_MIXED)
        return exact_integer_sign(mixed, TOPOLOGY_WORDS);
    exact_integer low = topology_low(c);
    exact_integer high = topology_high(c);
    /* Sums of two or three products, in a loop, so that shader compilers inline a single
     * product. */
    exact_integer total = low;
    for (uint i = 0u; i < 3u; i++) {
        exact_integer a = mixed;
        exact_integer b = mixed;
        bool is_less = false;
        if (what == TOPOLOGY_DISCRIMINANT) {
            if (i != 0u) {
                a = exact_integer_add(low, low, TOPOLOGY_WORDS);
                b = exact_integer_add(high, high, TOPOLOGY_WORDS);
                is_less = true;
            }
        } else if (what == TOPOLOGY_EXTREMUM) {
            a = i == 0u ? low_sum : high_sum;
            b = topology_twice_less(i == 0u ? high : low, mixed);
        } else {
            a = i == 0u ? low : i == 1u ? high : mixed;
            b = exact_integer_multiply(i == 1u ? low_sum : high_sum, i == 0u ? high_sum : low_sum,
                                       TOPOLOGY_WORDS);
            is_less = i == 2u;
        }
        if (i == 2u && what != TOPOLOGY_SIDES)
            return exact_integer_sign(total, TOPOLOGY_LONG_WORDS);
        a = topology_product(a, b);
        if (i == 0u)
            total = a;
        else if (is_less)
            total = exact_integer_subtract(total, a, TOPOLOGY_LONG_WORDS);
        else
            total = exact_integer_add(total, a, TOPOLOGY_LONG_WORDS);
    }
    return exact_integer_sign(total, TOPOLOGY_LONG_WORDS);
}

/* The mesh of a cell with a tunnel; 0 unless along each axis LOW and HIGH have one sign and MIXED
 * has the other. The signs along z choose it. inside, outside: the first of two meshes whose tunnel
 * is inside or outside, or 0. */
FUNCTION(uint)
topology_tunnel(uint inside, uint outside, int low, int discriminant, int extremum, int turn,
                int sides)
{
    bool is_inside = inside != 0u && (outside == 0u || extremum < 0);
    if (discriminant < 0 || (discriminant == 0 && !is_inside))
        return 0u;
    uint ascends = U(discriminant > 0 && low * turn * sides > 0); /* x1 > x0 */
    return (is_inside ? inside : outside) + ascends;
}
