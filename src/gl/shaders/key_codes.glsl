/* Codes of keys of SIZE bytes (kernels/sort.k.h), as uvec2 (low, high). Included after
 * gl_common.glsl. */
#include "kernels/sort.k.h"

uniform uvec2 flip, real_flip, minus_zero; /* minus_zero: 0, or of keys that count as +0 */

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
