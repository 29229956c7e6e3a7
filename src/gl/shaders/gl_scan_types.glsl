/* Shared by the shaders of scans: sums of elements, four at a time. Included after gl_common.glsl.
 *   SUM_BITS              32 or 64, for integers; for f32, SUM_FLOAT instead
 *   SIZE_LOG2, IS_SIGNED  of an element
 *   SUM_MOST              instead of sums: the largest code (EXTREME_IS_NAN) of elements of
 *                         SUM_BITS bits, by FLIP, REAL_FLIP and LEAST
 * Four consecutive sums are a texel; the high words of 64-bit sums are in a second texture.
 *
 * The tree is counted from the first element of the stream or segment: four elements are a block,
 * sixteen blocks are a block of the next level, and so on. Only whole blocks are added. A block's
 * carry is the inclusive prefix at its end. */
#include "kernels/sort.k.h"
#ifdef SUM_FLOAT
#define SUM float
#elif SUM_BITS == 64
#define SUM uvec2
#else
#define SUM uint
#endif

SUM sum_zero()
{
    return SUM(0);
}
SUM sum_add(SUM a, SUM b)
{
#if defined(SUM_MOST) && SUM_BITS == 32
    return max(a, b);
#elif defined(SUM_MOST)
    return a.y > b.y || (a.y == b.y && a.x > b.x) ? a : b;
#elif defined(SUM_FLOAT) || SUM_BITS == 32
    return a + b;
#else
    return add64(a, b);
#endif
}
SUM sum_of_bits(uint low, uint high)
{
#ifdef SUM_FLOAT
    return uintBitsToFloat(low);
#elif SUM_BITS == 64
    return uvec2(low, high);
#else
    return low;
#endif
}
uvec2 bits_of_sum(SUM sum)
{
#ifdef SUM_FLOAT
    return uvec2(floatBitsToUint(sum), 0u);
#elif SUM_BITS == 64
    return sum;
#else
    return uvec2(sum, 0u);
#endif
}

/* The summand of a number: the number itself, or its code. And the number of a sum. */
#if defined(SUM_MOST) && SUM_BITS == 32
SUM sum_of_number(uint key, uint high)
{
    uint code = SORT_CODE(key, SORT_SIGN(key, 32u), FLIP.x, REAL_FLIP.x);
    return EXTREME_IS_NAN(key, REAL_FLIP.x, LEAST.x) ? LEAST.x : code;
}
SUM number_of_sum(SUM code)
{
    return SORT_CODE(code, SORT_SIGN(code ^ FLIP.x, 32u), FLIP.x, REAL_FLIP.x);
}
#elif defined(SUM_MOST)
SUM sum_of_number(uint low, uint high)
{
    uvec2 key = uvec2(low, high), magnitude = key & REAL_FLIP, most = REAL_FLIP ^ LEAST;
    bool is_nan = magnitude.y > most.y || (magnitude.y == most.y && magnitude.x > most.x);
    uvec2 code = SORT_CODE(key, uvec2(SORT_SIGN(high, 32u)), FLIP, REAL_FLIP);
    return is_nan ? LEAST : code;
}
SUM number_of_sum(SUM code)
{
    return SORT_CODE(code, uvec2(SORT_SIGN((code ^ FLIP).y, 32u)), FLIP, REAL_FLIP);
}
#else
SUM sum_of_number(uint low, uint high)
{
    return sum_of_bits(low, high);
}
SUM number_of_sum(SUM sum)
{
    return sum;
}
#endif

struct sums {
    SUM x, y, z, w;
};

uvec4 low_words(sums s)
{
    return uvec4(bits_of_sum(s.x).x, bits_of_sum(s.y).x, bits_of_sum(s.z).x, bits_of_sum(s.w).x);
}
uvec4 high_words(sums s)
{
    return uvec4(bits_of_sum(s.x).y, bits_of_sum(s.y).y, bits_of_sum(s.z).y, bits_of_sum(s.w).y);
}
sums sums_of_words(uvec4 low, uvec4 high)
{
    return sums(sum_of_bits(low.x, high.x), sum_of_bits(low.y, high.y), sum_of_bits(low.z, high.z),
                sum_of_bits(low.w, high.w));
}
SUM sums_pick(sums s, uint i)
{
    return i < 2u ? (i == 0u ? s.x : s.y) : (i == 2u ? s.z : s.w);
}

SUM sums_total(sums s)
{
    return sum_add(sum_add(s.x, s.y), sum_add(s.z, s.w));
}
/* x, x + y, x + y + z and the sum of all, each after the same prefix. */
sums sums_running(SUM before, sums s)
{
    SUM two = sum_add(s.x, s.y);
    return sums(sum_add(before, s.x), sum_add(before, two), sum_add(before, sum_add(two, s.z)),
                sum_add(before, sums_total(s)));
}

/* ---- from textures --------------------------------------------------------------------------- */

/* Sums 4 * i ... 4 * i + 3. */
sums load_sums(highp usampler2D low, highp usampler2D high, uint i)
{
#if defined(SUM_FLOAT) || SUM_BITS == 32
    return sums_of_words(load_quad(low, i), uvec4(0u));
#else
    return sums_of_words(load_quad(low, i), load_quad(high, i));
#endif
}
SUM load_sum(highp usampler2D low, highp usampler2D high, uint i)
{
    return sums_pick(load_sums(low, high, i >> 2), i & 3u);
}
/* Four sums from any index on. */
sums load_sums_from(highp usampler2D low, highp usampler2D high, uint i)
{
#ifdef SEGMENTED
    sums a = load_sums(low, high, i >> 2), b = load_sums(low, high, (i >> 2) + 1u);
    uint c = i & 3u;
    if (c == 0u) /* no ?: for structures: WebGL refuses it */
        return a;
    if (c == 1u)
        return sums(a.y, a.z, a.w, b.x);
    if (c == 2u)
        return sums(a.z, a.w, b.x, b.y);
    return sums(a.w, b.x, b.y, b.z);
#else
    return load_sums(low, high, i >> 2);
#endif
}

/* The sum of one element. low: its word, or a smaller element in the low bits. */
SUM sum_of_element(uint bits)
{
    uint high = IS_SIGNED && (bits & 0x80000000u) != 0u ? 0xffffffffu : 0u;
    return sum_of_number(bits, high);
}

/* Four elements from i on; i is a multiple of four if elements are smaller than a word. */
sums load_elements(highp usampler2D words, uint i)
{
#if SIZE_LOG2 == 0
    uint w = tml_load_word(words, i >> 2);
    return sums(sum_of_element(w & 0xffu), sum_of_element(w >> 8 & 0xffu),
                sum_of_element(w >> 16 & 0xffu), sum_of_element(w >> 24));
#elif SIZE_LOG2 == 1
    uint v = tml_load_word(words, i >> 1), w = tml_load_word(words, (i >> 1) + 1u);
    return sums(sum_of_element(v & 0xffffu), sum_of_element(v >> 16), sum_of_element(w & 0xffffu),
                sum_of_element(w >> 16));
#elif SIZE_LOG2 == 2
    return sums(
        sum_of_element(tml_load_word(words, i)), sum_of_element(tml_load_word(words, i + 1u)),
        sum_of_element(tml_load_word(words, i + 2u)), sum_of_element(tml_load_word(words, i + 3u)));
#else
    uint w = 2u * i;
    return sums(sum_of_number(tml_load_word(words, w), tml_load_word(words, w + 1u)),
                sum_of_number(tml_load_word(words, w + 2u), tml_load_word(words, w + 3u)),
                sum_of_number(tml_load_word(words, w + 4u), tml_load_word(words, w + 5u)),
                sum_of_number(tml_load_word(words, w + 6u), tml_load_word(words, w + 7u)));
#endif
}
