/* The place of a query in a sorted stream, in one word or, WIDE, two. AS_BINS: of tml_search_resolved. */
#include "gl_common.glsl"
#include "kernels/sort.k.h"

uniform highp usampler2D sorted, queries, sorted_length;
uniform uvec3 sorted_place; /* as gl_common.glsl's tml_length_place */
uniform uvec2 flip, real_flip, minus_zero;

layout(location = 0) out highp uint value;

/* The code of an element; all fit one word but those of 8 bytes. */
uvec2 code_at(highp usampler2D keys, uint i)
{
#if SIZE == 8
    uvec2 key = uvec2(tml_load_word(keys, 2u * i), tml_load_word(keys, 2u * i + 1u));
    key = SORT_KEY(key, minus_zero, uvec2(0u));
    uint sign = SORT_SIGN(key.y, 32u);
#else
#if SIZE == 4
    uvec2 key = uvec2(LOAD_U32(keys, i), 0u);
#elif SIZE == 2
    uvec2 key = uvec2(LOAD_U16(keys, i), 0u);
#else
    uvec2 key = uvec2(LOAD_U8(keys, i), 0u);
#endif
    key = SORT_KEY(key, minus_zero, uvec2(0u));
    uint sign = SORT_SIGN(key.x, 8u * uint(SIZE));
#endif
    return SORT_CODE(key, uvec2(sign), flip, real_flip);
}

bool is_less(uvec2 a, uvec2 b)
{
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}

void main()
{
    uint word = tml_texel(), query = word;
#ifdef WIDE
    query = word >> 1;
#endif
    if (query >= stream_length())
        discard;
    value = 0u;
#ifdef WIDE
    if ((word & 1u) == 1u)
        return;
#endif
    uvec2 code = code_at(queries, query);
    /* The place is one of the left + 1 from value on. */
    for (uint left = length_at(sorted_length, sorted_place); left > 0u; left >>= 1) {
        uint next = value + left - (left >> 1);
        uvec2 element = code_at(sorted, next - 1u);
#ifdef UPPER
        value = is_less(code, element) ? value : next;
#else
        value = is_less(element, code) ? next : value;
#endif
    }
#ifdef AS_BINS
    value = is_less(code_at(sorted, length_at(sorted_length, sorted_place)), code) ? 0xffffffffu
                                                                                   : value - 1u;
#endif
}
