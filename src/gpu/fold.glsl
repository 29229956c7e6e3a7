/* The rules of folds, in the common subset of Vulkan GLSL and GLSL ES 3.00: how elements of each
 * scalar type become states that can be joined, and how a state becomes the result. Included after
 * prelude_common.glsl and gpu/fold_layout.k.h, which lists the folds. Requires these names, as
 * constants of the shader or macros:
 *   uint FOLD_KIND, FOLD_TO
 *   uint SIZE_LOG2              log2 of an element's bytes: 0 ... 3
 *   bool IS_SIGNED              of integers
 *   bool IS_FLOAT, LARGEST, IS_MEAN
 *   uvec2 add64(uvec2, uvec2)
 * With WITH_DOUBLE, the shader may compute in double precision. */
const uint SIGN_BIT = SIZE_LOG2 == 0u ? 0x80u : SIZE_LOG2 == 1u ? 0x8000u : 0x80000000u;

/* A 64-bit number and, for WHERE, a position. A float is in the low word; a double in both
 * words. */
struct fold_state {
    uvec2 number;
    uint at;
};

/* The sign bits of the elements in an even or odd word. */
uint sign_bits(uint parity)
{
    if (SIZE_LOG2 == 0u)
        return 0x80808080u;
    if (SIZE_LOG2 == 1u)
        return 0x80008000u;
    return SIZE_LOG2 == 2u || parity == 1u ? 0x80000000u : 0u;
}

/* A word of neutral elements, which replaces words past the stream's end. */
uint neutral_word(uint parity)
{
    if (FOLD_KIND == FOLD_SUM)
        return IS_SIGNED ? sign_bits(parity) : 0u;
    if (FOLD_KIND < FOLD_BEST)
        return 0u;
    if (IS_FLOAT)
        return ~sign_bits(parity); /* a NaN */
    uint smallest = IS_SIGNED ? sign_bits(parity) : 0u;
    return LARGEST ? smallest : ~smallest;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* The key of the element in the low bits. The fold selects the smallest key. A NaN has the largest
 * key; for WHERE, -0 and 0 have the same key. */
uint key_of(uint element)
{
    uint key = element;
    if (IS_FLOAT) {
        uint sign = SIGN_BIT, infinity = SIZE_LOG2 == 1u ? 0x7c00u : 0x7f800000u;
        uint magnitude = element & (sign - 1u);
        if (FOLD_KIND == FOLD_WHERE)
            key = magnitude == 0u ? 0u : key;
        key = (key & sign) != 0u ? (sign - 1u) - magnitude : key | sign;
        key = LARGEST ? ~key : key;
        return magnitude > infinity ? 0xffffffffu : key;
    } else if (IS_SIGNED) {
        key ^= SIGN_BIT;
    }
    return LARGEST ? ~key : key;
}
uint element_of(uint key)
{
    if (LARGEST)
        key = ~key;
    if (IS_FLOAT)
        return (key & SIGN_BIT) != 0u ? key ^ SIGN_BIT : (~key & (SIGN_BIT - 1u)) | SIGN_BIT;
    return IS_SIGNED ? key ^ SIGN_BIT : key;
}

uvec2 key64_of(uvec2 element)
{
    uvec2 key = element;
    if (IS_FLOAT) {
        /* The low word of a NaN's fraction may hold its only set bits; these count as 1 in the high
         * word. */
        uint magnitude = (element.y & 0x7fffffffu) + (element.x != 0u ? 1u : 0u);
        if (FOLD_KIND == FOLD_WHERE)
            key.y = magnitude == 0u ? 0u : key.y;
        key = (key.y & 0x80000000u) != 0u ? ~key : uvec2(key.x, key.y | 0x80000000u);
        key = LARGEST ? ~key : key;
        return magnitude > 0x7ff00000u ? uvec2(0xffffffffu) : key;
    } else if (IS_SIGNED) {
        key.y ^= 0x80000000u;
    }
    return LARGEST ? ~key : key;
}
uvec2 element64_of(uvec2 key)
{
    if (LARGEST)
        key = ~key;
    if (IS_FLOAT)
        return (key.y & 0x80000000u) != 0u ? uvec2(key.x, key.y ^ 0x80000000u) : ~key;
    return IS_SIGNED ? uvec2(key.x, key.y ^ 0x80000000u) : key;
}

bool is_nowhere(fold_state f)
{
    return IS_FLOAT && f.number.x == 0xffffffffu && (SIZE_LOG2 < 3u || f.number.y == 0xffffffffu);
}

/* ---- joining --------------------------------------------------------------------------------- */

fold_state fold_nothing()
{
    bool is_best = FOLD_KIND >= FOLD_BEST;
    return fold_state(is_best ? uvec2(0xffffffffu) : uvec2(0u), 0xffffffffu);
}

fold_state fold_choose(bool first, fold_state a, fold_state b)
{
    return fold_state(uvec2(first ? a.number.x : b.number.x, first ? a.number.y : b.number.y),
                      first ? a.at : b.at);
}

bool key_less(fold_state a, fold_state b)
{
    bool low = a.number.x < b.number.x;
    if (SIZE_LOG2 < 3u)
        return low;
    bool high = a.number.y < b.number.y;
    return a.number.y == b.number.y ? low : high;
}

/* Joins the states of two ranges, a's before b's. If keys are equal, a's state is selected. For
 * WHERE, b replaces an empty a (at is 0xffffffff) even if b has the largest key. */
fold_state fold_join(fold_state a, fold_state b)
{
    if (FOLD_KIND == FOLD_REAL) {
        PRECISE float sum = uintBitsToFloat(a.number.x) + uintBitsToFloat(b.number.x);
        a.number.x = floatBitsToUint(sum);
        return a;
    }
#ifdef WITH_DOUBLE
    if (FOLD_KIND == FOLD_DOUBLE) {
        precise double sum = packDouble2x32(a.number) + packDouble2x32(b.number);
        a.number = unpackDouble2x32(sum);
        return a;
    }
#endif
    if (FOLD_KIND < FOLD_BEST) {
        a.number = add64(a.number, b.number);
        return a;
    }
    bool was_nothing = FOLD_KIND == FOLD_WHERE && a.at == 0xffffffffu;
    bool is_better = key_less(b, a);
    return fold_choose(is_better || was_nothing, b, a);
}

/* BEST and WHERE: joins the elements of up to 32 bits in a word, in the order of their positions.
 * at: the position of the first. */
fold_state fold_word(fold_state f, uint word, uint at)
{
    uint mask = SIZE_LOG2 == 0u ? 0xffu : SIZE_LOG2 == 1u ? 0xffffu : 0xffffffffu;
    for (uint e = 0u; e < 4u >> SIZE_LOG2; e++)
        f = fold_join(
            f, fold_state(uvec2(key_of(word >> (e << (3u + SIZE_LOG2)) & mask), 0u), at + e));
    return f;
}

/* ---- results --------------------------------------------------------------------------------- */

float wide_to_float(uvec2 n)
{
    bool minus = IS_SIGNED && (n.y & 0x80000000u) != 0u;
    if (minus)
        n = add64(~n, uvec2(1u, 0u));
    float x = F(n.y) * 4294967296.0f + F(n.x);
    return minus ? -x : x;
}

/* The bits of the double with a float's value, from the float's bits. */
uvec2 float_to_double(uint bits)
{
    uint sign = bits & 0x80000000u, magnitude = bits & 0x7fffffffu;
    if (magnitude >= 0x7f800000u)
        return uvec2(magnitude << 29, sign | 0x7ff00000u | (magnitude & 0x7fffffu) >> 3);
    if (magnitude < 0x00800000u) {
        if (magnitude == 0u)
            return uvec2(0u, sign);
        /* The value is magnitude * 2^-149, and magnitude converts to float without rounding. */
        int top = int(floatBitsToUint(F(magnitude)) >> 23) - 127;
        uint fraction = (magnitude << (23 - top)) & 0x7fffffu;
        return uvec2(fraction << 29, sign | uint(top + 874) << 20 | fraction >> 3);
    }
    return uvec2(magnitude << 29, sign | ((magnitude >> 3) + 0x38000000u));
}

float count_to_float(uvec2 n)
{
    return F(n.y) * 4294967296.0f + F(n.x);
}

const uint NAN_BITS = 0x7fc00000u;

uvec2 real_result(uint bits)
{
    return FOLD_TO == FOLD_TO_F64 ? float_to_double(bits) : uvec2(bits, 0u);
}

/* A sum, or the mean of count elements. */
uvec2 sum_result(uvec2 number, uvec2 count)
{
#ifdef WITH_DOUBLE
    if (FOLD_KIND == FOLD_DOUBLE || (IS_MEAN && FOLD_KIND == FOLD_SUM)) {
        double x;
        if (FOLD_KIND == FOLD_DOUBLE) {
            x = packDouble2x32(number);
        } else {
            bool minus = IS_SIGNED && (number.y & 0x80000000u) != 0u;
            if (minus)
                number = add64(~number, uvec2(1u, 0u));
            x = double(number.y) * 4294967296.0lf + double(number.x);
            if (minus)
                x = -x;
        }
        if (IS_MEAN)
            x /= double(count.y) * 4294967296.0lf + double(count.x);
        if (FOLD_TO == FOLD_TO_F64)
            return unpackDouble2x32(x);
        return uvec2(floatBitsToUint(float(x)), 0u);
    }
#endif
    if (FOLD_KIND == FOLD_REAL || IS_MEAN) {
        float x = FOLD_KIND == FOLD_REAL ? uintBitsToFloat(number.x) : wide_to_float(number);
        return real_result(floatBitsToUint(IS_MEAN ? x / count_to_float(count) : x));
    }
    return number;
}

uvec2 best_result(fold_state f, bool is_empty)
{
    if (SIZE_LOG2 == 3u) {
        uvec2 special = uvec2(0u, is_empty ? (LARGEST ? 0xfff00000u : 0x7ff00000u) : 0x7ff80000u);
        return is_nowhere(f) ? special : element64_of(f.number);
    }
    uint special = is_empty ? (LARGEST ? 0xff800000u : 0x7f800000u) : NAN_BITS;
    /* a half has sign, exponent and first fraction bits in the same places as a float */
    if (SIZE_LOG2 == 1u)
        special = (special >> 16 & 0x8000u) | (is_empty ? 0x7c00u : 0x7e00u);
    return uvec2(is_nowhere(f) ? special : element_of(f.number.x), 0u);
}

/* The bits of the result of count elements; only x if the result has at most 32 bits. Positions
 * count from first. */
uvec2 fold_result(fold_state f, uvec2 first, uvec2 count)
{
    bool is_empty = (count.x | count.y) == 0u;
    if (FOLD_KIND == FOLD_WHERE)
        return is_empty || is_nowhere(f) ? uvec2(0xffffffffu) : add64(first, uvec2(f.at, 0u));
    if (FOLD_KIND == FOLD_BEST)
        return best_result(f, is_empty);
    if (IS_MEAN && is_empty)
        return real_result(NAN_BITS);
    uvec2 sum = f.number;
    if (FOLD_KIND == FOLD_SUM && IS_SIGNED) { /* count * 2^(bits - 1) */
        uint shift = (8u << SIZE_LOG2) - 1u;
        uvec2 extra = uvec2(count.x << shift, count.y << shift | count.x >> (32u - shift));
        sum = add64(sum, add64(~extra, uvec2(1u, 0u)));
    }
    return sum_result(sum, count);
}
