/* Doubles (IEEE 754 binary64) in 32-bit integers, for GPUs without doubles: a real64 is a uvec2, x
 * the low word. Sums, products and conversions round to nearest, ties to even, and so have the same
 * bits as on the CPU, with two exceptions: a subnormal result is 0, and a result outside the range,
 * or with an operand outside the range, is REAL64_BEYOND.
 *
 * Arithmetic selects between cases, and all operands take the same path: the compilers of software
 * drivers take minutes for branches. */
#define real64        uvec2
#define REAL64_BEYOND 0x7ff00000u /* the high word; the low word is arbitrary */

FUNCTION(uint) real64_exponent(uvec2 a)
{
    return a.y >> 20u & 0x7ffu;
}

/* Returns 1 or 0, as everything named is_ below. */
FUNCTION(uint) real64_is_other_than_zero(uvec2 a)
{
    return min(real64_exponent(a), 1u);
}

/* The significand with its leading one, bit 52; 0 for zero. */
FUNCTION(uvec2) real64_significand(uvec2 a)
{
    uint is_other = real64_is_other_than_zero(a);
    return UVEC2(a.x * is_other, ((a.y & 0xfffffu) | 0x100000u) * is_other);
}

/* For x other than 0. The float of x has the same highest bit as x: clearing the second bit keeps
 * the conversion from rounding up to the next power of two. */
FUNCTION(uint) real64_highest_bit(uint x)
{
    return (floatBitsToUint(F(x & ~(x >> 1u))) >> 23u) - 127u;
}

/* m >> count; the lowest bit is also 1 if a bit was lost. */
FUNCTION(uvec2) real64_shift_right(uvec2 m, uint count)
{
    uint most = min(count, 63u);
    uint k = most & 31u, is_wide = most >> 5u;
    uint is_narrow = 1u - is_wide;
    uint low = m.y * is_wide + m.x * is_narrow;
    uint high = m.y * is_narrow;
    uint lost = (m.x * is_wide) | ((low << 1u) << (31u - k));
    return UVEC2((low >> k) | ((high << 1u) << (31u - k)) | min(lost, 1u), high >> k);
}

FUNCTION(uvec2) real64_shift_left(uvec2 m, uint count)
{
    uint k = count & 31u, is_wide = count >> 5u;
    uint is_narrow = 1u - is_wide;
    uint low = m.x * is_narrow;
    uint high = m.x * is_wide + m.y * is_narrow;
    return UVEC2(low << k, (high << k) | ((low >> 1u) >> (31u - k)));
}

/* Rounds a significand of 53 bits and four more, the lowest of which is set if any lower bit was
 * lost. A carry out of the significand raises the exponent. */
FUNCTION(uvec2) real64_round(uint sign_bit, int exponent, uvec2 m)
{
    uint rest = m.x & 15u, kept = (m.x >> 4u) | (m.y << 28u);
    uint up = (rest + (kept & 1u) + 7u) >> 4u;
    uint low = kept + up;
    uint high = (m.y >> 4u) + (U(max(exponent, 1) - 1) << 20u) + U(low < up);
    uint keeps = 0u - U(exponent > 0);
    return UVEC2(low & keeps, sign_bit | (min(high, REAL64_BEYOND) & keeps));
}

FUNCTION(uvec2) real64_negative(uvec2 a)
{
    return UVEC2(a.x, a.y ^ 0x80000000u);
}

/* Is a's magnitude less than b's? */
FUNCTION(uint) real64_is_nearer(uvec2 a, uvec2 b)
{
    uint a_high = a.y & 0x7fffffffu, b_high = b.y & 0x7fffffffu;
    return U(a_high < b_high) | (U(a_high == b_high) & U(a.x < b.x));
}

FUNCTION(uvec2) real64_add(uvec2 a, uvec2 b)
{
    uint swaps = 0u - real64_is_nearer(a, b);
    uvec2 change = UVEC2((a.x ^ b.x) & swaps, (a.y ^ b.y) & swaps);
    uvec2 large = UVEC2(a.x ^ change.x, a.y ^ change.y);
    uvec2 small = UVEC2(b.x ^ change.x, b.y ^ change.y);
    uint exponent = real64_exponent(large), is_difference = (a.y ^ b.y) >> 31u;
    uvec2 m = real64_shift_left(real64_significand(large), 3u);
    uvec2 n = real64_shift_right(real64_shift_left(real64_significand(small), 3u),
                                 exponent - real64_exponent(small));
    n = UVEC2(n.x ^ (0u - is_difference), n.y ^ (0u - is_difference)); /* and 1: negated */
    uint low = m.x + n.x;
    uint sum = low + is_difference;
    m = UVEC2(sum, m.y + n.y + U(low < n.x) + U(sum < is_difference));
    uint is_long = min(m.y, 1u), is_zero = U((m.x | m.y) == 0u);
    uint highest = 32u * is_long + real64_highest_bit(max(m.y + m.x * (1u - is_long), 1u));
    uint signs = (a.y & b.y & (0u - is_zero)) | (large.y & (is_zero - 1u));
    uvec2 result =
        real64_round(signs & 0x80000000u, (I(exponent) + I(highest) - 55) * I(1u - is_zero),
                     real64_shift_left(m, 56u - highest));
    return UVEC2(result.x, result.y | (REAL64_BEYOND * U(exponent == 0x7ffu)));
}

FUNCTION(uvec2) real64_subtract(uvec2 a, uvec2 b)
{
    return real64_add(a, real64_negative(b));
}

FUNCTION(uvec2) real64_multiply(uvec2 a, uvec2 b)
{
    uvec2 m = real64_significand(a);
    uvec2 n = real64_significand(b);
    uint lh = m.x * n.y, hl = m.y * n.x, hh = m.y * n.y;
    uint w1 = tml_multiply_high(m.x, n.x) + lh;
    uint carry = U(w1 < lh);
    w1 += hl;
    carry += U(w1 < hl);
    uint w2 = tml_multiply_high(m.x, n.y) + tml_multiply_high(m.y, n.x) + carry; /* below 2^23 */
    w2 += hh;
    uint w3 = tml_multiply_high(m.y, n.y) + U(w2 < hh);
    /* the upper 56 or 57 of 105 or 106 bits, as 57 bits */
    uint lost = min((m.x * n.x) | (w1 << 15u), 1u);
    uvec2 top = UVEC2((w1 >> 17u) | (w2 << 15u) | lost, (w2 >> 17u) | (w3 << 15u));
    uint is_short = 1u - (top.y >> 24u);
    top = UVEC2(top.x << is_short, (top.y << is_short) | ((top.x >> 31u) * is_short));
    int exponent = I(real64_exponent(a)) + I(real64_exponent(b)) - 1022 - I(is_short);
    uint is_other = real64_is_other_than_zero(a) & real64_is_other_than_zero(b);
    uint is_beyond = U(max(real64_exponent(a), real64_exponent(b)) == 0x7ffu);
    uvec2 result = real64_round((a.y ^ b.y) & 0x80000000u, exponent * I(is_other), top);
    return UVEC2(result.x, result.y | (REAL64_BEYOND * is_beyond));
}

/* sum + a * b, each rounded. sum must not be -0. A factor b of 0 costs nothing. */
FUNCTION(uvec2) real64_add_product(uvec2 sum, uvec2 a, uvec2 b)
{
    if (real64_is_other_than_zero(b) == 0u)
        return sum;
    return real64_add(sum, real64_multiply(a, b));
}

/* a * 2^power, within the range. */
FUNCTION(uvec2) real64_scale(uvec2 a, int power)
{
    return UVEC2(a.x, a.y + (U(power) << 20u) * real64_is_other_than_zero(a));
}

/* 1 if a < b, else 0; the other comparisons likewise. */
FUNCTION(uint) real64_less(uvec2 a, uvec2 b)
{
    uint a_below = a.y >> 31u, b_below = b.y >> 31u;
    uint among_above = real64_is_nearer(a, b) & (1u - b_below);
    uint among_below = a_below & ((1u - b_below) | real64_is_nearer(b, a));
    uint is_other = real64_is_other_than_zero(a) | real64_is_other_than_zero(b);
    return (among_below | (among_above & (1u - a_below))) & is_other;
}

/* NaN, which is outside the range, is not at most any number. */
FUNCTION(uint) real64_at_most(uvec2 a, uvec2 b)
{
    return (1u - real64_less(b, a)) & U(real64_exponent(a) < 0x7ffu);
}

/* x * 2^power. */
FUNCTION(uvec2) real64_of_bits(uint sign_bit, uint x, int power)
{
    uint highest = real64_highest_bit(max(x, 1u)), is_other = min(x, 1u);
    uvec2 m = real64_shift_left(UVEC2(x, 0u), 52u - highest);
    uint high = (m.y & 0xfffffu) | (U(1023 + power + I(highest)) << 20u);
    return UVEC2(m.x, sign_bit | (high * is_other));
}

FUNCTION(uvec2) real64_of_uint(uint x)
{
    return real64_of_bits(0u, x, 0);
}

/* whole + part / 2^bits, which is below 1. */
FUNCTION(uvec2) real64_of_fixed(uint whole, uint part, uint bits)
{
    if (whole >> (32u - bits) == 0u)
        return real64_of_bits(0u, whole << bits | part, -I(bits));
    return real64_add(real64_of_uint(whole), real64_of_bits(0u, part, -I(bits)));
}

/* From a float's bits. */
FUNCTION(uvec2) real64_of_float(uint bits)
{
    uint exponent = bits >> 23u & 0xffu;
    uvec2 result =
        real64_of_bits(bits & 0x80000000u, (bits & 0x7fffffu) | (min(exponent, 1u) << 23u),
                       I(max(exponent, 1u)) - 150);
    return UVEC2(result.x, result.y | (REAL64_BEYOND * U(exponent == 0xffu)));
}

/* A float's bits. */
FUNCTION(uint) real64_to_float(uvec2 a)
{
    int exponent = I(real64_exponent(a)) - 896;
    /* 24 bits, three more, and a bit for all that are lost */
    uvec2 m = real64_shift_right(real64_significand(a), U(26 + max(1 - exponent, 0)));
    uint kept = m.x >> 3u;
    kept += ((m.x & 7u) + (kept & 1u) + 3u) >> 3u;
    kept += U(clamp(exponent, 1, 255) - 1) << 23u;
    return (a.y & 0x80000000u) | min(kept, 0x7f800000u);
}

/* The whole part, from 0 to most, which is below 2^31. */
FUNCTION(uint) real64_whole(uvec2 a, uint most)
{
    uint exponent = real64_exponent(a);
    uvec2 m = real64_significand(a);
    uint after = 1075u - clamp(exponent, 1023u, 1054u); /* bits after the point: 21 to 52 */
    uint k = after & 31u, is_wide = after >> 5u;
    uint whole = is_wide * (m.y >> k) + (1u - is_wide) * (((m.y << 1u) << (31u - k)) | (m.x >> k));
    return min(whole, most) * U(exponent >= 1023u) * (1u - (a.y >> 31u));
}

/* The double in words i and i + 1. */
FUNCTION(uvec2) real64_at(tml_words words, uint i)
{
    return UVEC2(tml_word(words, i), tml_word(words, i + 1u));
}
