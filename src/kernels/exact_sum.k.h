/* Exact sums of products of three floats: integers in two's complement, the lowest word first,
 * whose lowest bit is 2^-448. Arguments are the bits of floats, subnormals included; products are
 * below 2^120. Loops are kept short, because llvmpipe, a software driver, ends a thread's loops
 * after 65535 iterations in total. After: Kulisch, Miranker: The Arithmetic of the Digital
 * Computer: A New Approach. 1986 (the long accumulator). */
#define EXACT_SUM_WORDS    19u
#define EXACT_SUM_NEGATIVE 0x80000000u
#define EXACT_SUM_ONE      0x3f800000u

STRUCT_BEGIN(exact_sum)
uint word[19];
STRUCT_END(exact_sum)

FUNCTION(exact_sum) exact_sum_of(uint word)
{
    exact_sum s;
    for (uint i = 0u; i < EXACT_SUM_WORDS; i++)
        s.word[i] = word;
    return s;
}

FUNCTION(uint) exact_sum_significand(uint bits)
{
    return (bits & 0x7fffffu) | min(bits >> 23u & 0xffu, 1u) << 23u;
}

/* x: the sum; y: what it carries. */
FUNCTION(uvec2) exact_sum_carry(uint a, uint b, uint carry)
{
    uint sum = a + b;
    uint total = sum + carry;
    return UVEC2(total, U(sum < b) | U(total < carry));
}

/* s + x y z; s - x y z if flip is NEGATIVE. */
FUNCTION(exact_sum) exact_sum_add(exact_sum s, uint x, uint y, uint z, uint flip)
{
    uint sign = (x ^ y ^ z ^ flip) >> 31u;
    uint a = exact_sum_significand(x);
    uint b = exact_sum_significand(y);
    uint c = exact_sum_significand(z);
    uint at = max(x >> 23u & 0xffu, 1u) + max(y >> 23u & 0xffu, 1u) + max(z >> 23u & 0xffu, 1u) -
              2u; /* bits: exponents of lowest bits are 150 less, thrice, and 448 more */
    uint low = a * b;
    uint high = tml_multiply_high(a, b);
    uint w0 = low * c;
    uint w1 = high * c + tml_multiply_high(low, c);
    uint w2 = tml_multiply_high(high, c) + U(w1 < high * c);
    uint up = at & 31u;
    uint down = 31u - up;
    uvec4 v =
        UVEC4(w0 << up, w1 << up | w0 >> 1u >> down, w2 << up | w1 >> 1u >> down, w2 >> 1u >> down);
    uint i = min(at >> 5u, EXACT_SUM_WORDS - 4u);
    uint flips = 0u - sign;
    uvec2 carry = UVEC2(0u, sign);
    carry = exact_sum_carry(s.word[i], v.x ^ flips, carry.y);
    s.word[i] = carry.x;
    carry = exact_sum_carry(s.word[i + 1u], v.y ^ flips, carry.y);
    s.word[i + 1u] = carry.x;
    carry = exact_sum_carry(s.word[i + 2u], v.z ^ flips, carry.y);
    s.word[i + 2u] = carry.x;
    carry = exact_sum_carry(s.word[i + 3u], v.w ^ flips, carry.y);
    s.word[i + 3u] = carry.x;
    /* Adding a word of all ones and a carry changes nothing. */
    for (i += 4u; i < EXACT_SUM_WORDS && carry.y != sign; i++) {
        carry = exact_sum_carry(s.word[i], flips, carry.y);
        s.word[i] = carry.x;
    }
    return s;
}

/* s plus or minus p . (a x b + b x c + c x a). The vector in parentheses is the triangle's normal,
 * as long as twice its area; for p - q, the product is the determinant of p - q, b - a and c - a.
 * All arguments are the bits of floats. */
FUNCTION(exact_sum) exact_sum_add_plane(exact_sum s, uvec3 p, uvec3 a, uvec3 b, uvec3 c, uint flip)
{
    for (uint edge = 0u; edge < 3u; edge++) {
        for (uint axis = 0u; axis < 3u; axis++) {
            s = exact_sum_add(s, p.x, a.y, b.z, flip);
            s = exact_sum_add(s, p.x, a.z, b.y, flip ^ EXACT_SUM_NEGATIVE);
            p = UVEC3(p.y, p.z, p.x);
            a = UVEC3(a.y, a.z, a.x);
            b = UVEC3(b.y, b.z, b.x);
        }
        uvec3 first = a;
        a = b;
        b = c;
        c = first;
    }
    return s;
}

/* 1 above 0, 2 below, 0. */
FUNCTION(uint) exact_sum_sign(exact_sum s)
{
    uint any = 0u;
    for (uint i = 0u; i < EXACT_SUM_WORDS; i++)
        any |= s.word[i];
    return (s.word[18] >> 31u) + min(any, 1u);
}

FUNCTION(exact_sum) exact_sum_magnitude(exact_sum s)
{
    uint sign = s.word[18] >> 31u;
    uvec2 carry = UVEC2(0u, sign);
    for (uint i = 0u; i < EXACT_SUM_WORDS && sign != 0u; i++) {
        carry = exact_sum_carry(~s.word[i], 0u, carry.y);
        s.word[i] = carry.x;
    }
    return s;
}

/* The index of the highest set bit of a number above 0. */
FUNCTION(uint) exact_sum_highest(exact_sum s)
{
    uint last = EXACT_SUM_WORDS - 1u;
    while (last > 0u && s.word[last] == 0u)
        last -= 1u;
    uint word = s.word[last];
    uint at = 32u * last;
    for (uint bit = 16u; bit > 0u; bit >>= 1u)
        if (word >> bit != 0u) {
            word >>= bit;
            at += bit;
        }
    return at;
}

/* s 2^count, within its words. */
FUNCTION(exact_sum) exact_sum_shift(exact_sum s, uint count)
{
    uint words = count >> 5u;
    uint up = count & 31u;
    exact_sum o = exact_sum_of(0u);
    uint below = 0u;
    for (uint i = words; i < EXACT_SUM_WORDS; i++) {
        uint word = s.word[i - words];
        o.word[i] = word << up | below >> 1u >> (31u - up);
        below = word;
    }
    return o;
}

/* Compares two numbers of at least 0. 1: s is above m; 2: s is below m; 0: equal. */
FUNCTION(uint) exact_sum_order(exact_sum s, exact_sum m)
{
    uint last = EXACT_SUM_WORDS - 1u;
    while (last > 0u && s.word[last] == m.word[last])
        last -= 1u;
    return U(s.word[last] > m.word[last]) + 2u * U(s.word[last] < m.word[last]);
}

/* The quotient n / m, m not 0. x: its bits as a float, rounded towards 0; y: 1 if that rounding was
 * inexact; z: its bits rounded to nearest, ties to even. A negative quotient has the sign bit set
 * in x. Quotients from 2^127 on are infinity. */
FUNCTION(uvec3) exact_sum_quotient(exact_sum n, exact_sum m)
{
    uint sign = (n.word[18] ^ m.word[18]) & EXACT_SUM_NEGATIVE;
    if (exact_sum_sign(n) == 0u)
        return UVEC3(0u, 0u, 0u);
    n = exact_sum_magnitude(n);
    m = exact_sum_magnitude(m);
    int exponent = I(exact_sum_highest(n)) - I(exact_sum_highest(m));
    n = exact_sum_shift(n, U(max(-exponent, 0)));
    m = exact_sum_shift(m, U(max(exponent, 0)));
    if (exact_sum_order(n, m) == 2u) {
        n = exact_sum_shift(n, 1u);
        exponent -= 1;
    }
    if (exponent > 126)
        return UVEC3(sign | 0x7f800000u, 1u, sign | 0x7f800000u);
    /* n / m is in [1, 2); bits: those of the float, fewer if it is subnormal */
    int bits = 24 + min(exponent + 126, 0);
    if (bits < 0)
        return UVEC3(sign, 1u, sign);
    uint quotient = 0u;
    uint first = 0u;
    while ((n.word[first] | m.word[first]) == 0u)
        first += 1u;
    uint end = min((exact_sum_highest(m) >> 5u) + 2u, EXACT_SUM_WORDS);
    for (int i = 0; i < bits; i++) {
        /* twice n; twice n - m if that is not below 0 */
        exact_sum rest = n;
        uvec2 carry = UVEC2(0u, 1u);
        for (uint k = first; k < end; k++) {
            carry = exact_sum_carry(n.word[k], ~m.word[k], carry.y);
            rest.word[k] = carry.x;
        }
        quotient = quotient << 1u | carry.y;
        uint below = 0u;
        for (uint k = first; k < end; k++) {
            uint word = carry.y != 0u ? rest.word[k] : n.word[k];
            n.word[k] = word << 1u | below >> 31u;
            below = word;
        }
    }
    quotient += U(max(exponent + 126, 0)) << 23u;
    uint half_order = exact_sum_order(n, m);
    uint is_up = half_order == 0u ? quotient & 1u : half_order & 1u;
    return UVEC3(sign | quotient, min(exact_sum_sign(n), 1u), sign | (quotient + is_up));
}

/* ---- lines and triangles, by their bits ------------------------------------------------------ */

/* Does the ray's line pass through the triangle? Decided as in tree_cast_hits.c. */
FUNCTION(uint) exact_line_passes(uvec3 a, uvec3 b, uvec3 c, uvec3 origin, uvec3 way)
{
    uint signs = 0u; /* bits of exact_sum_sign's */
    for (uint i = 0u; i < 3u; i++) {
        uint sign = exact_sum_sign(exact_sum_add_plane(exact_sum_of(0u), way, a, b, origin, 0u));
        /* The components of way x (b - a). */
        uvec3 p = way;
        uvec3 q = a;
        uvec3 r = b;
        for (uint axis = 0u; axis < 3u && sign == 0u; axis++) {
            exact_sum s = exact_sum_add(exact_sum_of(0u), p.y, r.z, EXACT_SUM_ONE, 0u);
            s = exact_sum_add(s, p.y, q.z, EXACT_SUM_ONE, EXACT_SUM_NEGATIVE);
            s = exact_sum_add(s, p.z, r.y, EXACT_SUM_ONE, EXACT_SUM_NEGATIVE);
            sign = exact_sum_sign(exact_sum_add(s, p.z, q.y, EXACT_SUM_ONE, 0u));
            p = UVEC3(p.y, p.z, p.x);
            q = UVEC3(q.y, q.z, q.x);
            r = UVEC3(r.y, r.z, r.x);
        }
        signs |= sign == 0u ? 4u : sign;
        uvec3 first = a;
        a = b;
        b = c;
        c = first;
    }
    return U(signs == 1u) | U(signs == 2u);
}

/* t at which the ray, which passes through the triangle, meets the triangle's plane, in the form of
 * exact_sum_quotient. */
FUNCTION(uvec3) exact_line_t(uvec3 a, uvec3 b, uvec3 c, uvec3 origin, uvec3 way)
{
    exact_sum n = exact_sum_add_plane(exact_sum_of(0u), a, a, b, c, 0u);
    n = exact_sum_add_plane(n, origin, a, b, c, EXACT_SUM_NEGATIVE);
    return exact_sum_quotient(n, exact_sum_add_plane(exact_sum_of(0u), way, a, b, c, 0u));
}
