/* The scan of Hillis and Steele, a sum a texel: the elements as sums (FROM_ELEMENTS), the steps, and the
 * sums as words (TO_WORDS), or the last of them (TO_TOTAL). */
#include "gl_common.glsl"

uniform highp usampler2D sums_before;
uniform uint reach;
uniform uint inclusive;

#if SUM_BITS == 64
#define SUM uvec2
#else
#define SUM uint
#endif

SUM load_sum(uint i)
{
#if SUM_BITS == 64
    return load_quad(sums_before, i).xy;
#else
    return tml_load_word(sums_before, i);
#endif
}

#if defined(TO_WORDS) || defined(TO_TOTAL)
layout(location = 0) out highp uint word;

/* The sum of all elements before one. */
SUM sum_before(uint i)
{
    SUM sum = load_sum(max(i, 1u) - 1u);
    return i > 0u ? sum : SUM(0u);
}

void main()
{
    uint w = tml_texel(), length = stream_length();
#if SUM_BITS == 64
    uint i = w >> 1;
#else
    uint i = w;
#endif
#ifdef TO_TOTAL
    SUM sum = sum_before(length);
#else
    if (i >= length)
        discard;
    SUM sum = sum_before(i + inclusive);
#endif
#if SUM_BITS == 64
    word = (w & 1u) == 0u ? sum.x : sum.y;
#else
    word = sum;
#endif
}
#else
#if SUM_BITS == 64
layout(location = 0) out highp uvec4 sum;
#else
layout(location = 0) out highp uint sum;
#endif

#ifdef FROM_ELEMENTS
SUM sum_at(uint i)
{
#if SIZE_LOG2 == 3 && SUM_BITS == 64
    return uvec2(tml_load_word(sums_before, 2u * i), tml_load_word(sums_before, 2u * i + 1u));
#elif SIZE_LOG2 == 3
    return tml_load_word(sums_before, 2u * i);
#else
#if SIZE_LOG2 == 2
    uint low = LOAD_U32(sums_before, i);
#elif SIZE_LOG2 == 1
    uint low = LOAD_U16(sums_before, i);
#else
    uint low = LOAD_U8(sums_before, i);
#endif
#if SUM_BITS == 64
    return uvec2(low, IS_SIGNED && (low & 0x80000000u) != 0u ? 0xffffffffu : 0u);
#else
    return low;
#endif
#endif
}
#else
SUM sum_at(uint i)
{
    SUM mine = load_sum(i), before = load_sum(i - min(i, reach));
#if defined(SUM_FLOAT)
    uint both = floatBitsToUint(uintBitsToFloat(before) + uintBitsToFloat(mine));
#elif SUM_BITS == 64
    uvec2 both = add64(before, mine);
#else
    uint both = before + mine;
#endif
    return i < reach ? mine : both;
}
#endif

void main()
{
#if SUM_BITS == 64
    sum = uvec4(sum_at(tml_texel()), 0u, 0u);
#else
    sum = sum_at(tml_texel());
#endif
}
#endif
