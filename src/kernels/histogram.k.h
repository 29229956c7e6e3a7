/* Float weights of a histogram as 64-bit integers, so that their sums do not depend on the order.
 * Each weight is rounded to a multiple of a unit. The unit is chosen so that the largest stream of
 * the largest weights does not overflow.
 *
 * Let the largest weight be below 2^(E - 126), where E is its exponent field, and let there be at
 * most 2^L elements. Then the unit is 2^(E - 126 + L - 62). A weight with a 24-bit mantissa and
 * exponent field e is mantissa * 2^(e - 150), which is mantissa * 2^(e + shift) units with shift =
 * 38 - L - E. The largest weight is shifted by 38 - L. */

/* Orders weights by size. 0 for those that count as 0: NaN, infinite, or subnormal. */
FUNCTION(uint) histogram_weight_size(uint bits)
{
    uint size = bits & 0x7fffffffu;
    return size < 0x00800000u || size >= 0x7f800000u ? 0u : size;
}

/* largest: the largest of histogram_weight_size; length_log2: L, at most 32. */
FUNCTION(int) histogram_shift(uint largest, uint length_log2)
{
    return 38 - I(length_log2) - I(largest >> 23);
}

/* A sum with the opposite sign, low and high word. */
FUNCTION(uvec2) histogram_negative(uvec2 sum)
{
    uint low = 0u - sum.x;
    return UVEC2(low, ~sum.y + (low == 0u ? 1u : 0u));
}

/* A weight in units, rounded to the nearest, ties away from 0. */
FUNCTION(uvec2) histogram_fixed(uint bits, int shift)
{
    uint size = histogram_weight_size(bits), mantissa = (size & 0x007fffffu) | 0x00800000u;
    int by = I(size >> 23) + shift;
    uint left = U(clamp(by, 0, 38)), right = U(clamp(0 - by, 0, 25));
    mantissa = right == 0u ? mantissa : (mantissa + (1u << (right - 1u))) >> right;
    mantissa = size == 0u ? 0u : mantissa;
    uint low = left < 32u ? mantissa << left : 0u;
    uint high = left == 0u ? 0u : left < 32u ? mantissa >> (32u - left) : mantissa << (left - 32u);
    uvec2 sum = UVEC2(low, high);
    return (bits >> 31) != 0u ? histogram_negative(sum) : sum;
}

/* The float nearest to a sum of units, ties to even: its bits. Subnormal results are 0. */
FUNCTION(uint) histogram_float(uvec2 sum, int shift)
{
    uint sign = sum.y & 0x80000000u;
    uvec2 rest = sign != 0u ? histogram_negative(sum) : sum;
    if ((rest.x | rest.y) == 0u)
        return 0u;
    int exponent = 63 + 127 - 150 - shift; /* its bits, for a number whose highest bit is bit 63 */
    for (uint step = 32u; step > 0u; step = step >> 1) {
        bool is_small = step == 32u ? rest.y == 0u : (rest.y >> (32u - step)) == 0u;
        if (is_small) {
            rest = step == 32u ? UVEC2(0u, rest.x)
                               : UVEC2(rest.x << step, (rest.y << step) | (rest.x >> (32u - step)));
            exponent = exponent - I(step);
        }
    }
    uint mantissa = rest.y >> 8, below = rest.y & 0xffu;
    bool is_more = below > 0x80u || (below == 0x80u && (rest.x != 0u || (mantissa & 1u) != 0u));
    mantissa = mantissa + (is_more ? 1u : 0u);
    if (mantissa == 0x01000000u) {
        mantissa = 0x00800000u;
        exponent = exponent + 1;
    }
    if (exponent <= 0)
        return 0u;
    return sign | (exponent >= 255 ? 0x7f800000u : (U(exponent) << 23) | (mantissa & 0x007fffffu));
}
