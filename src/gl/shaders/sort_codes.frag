/* Bits of the codes of keys of SIZE bytes (kernels/sort.k.h), four per texel. FIRST: elements are
 * in the order of the source, and also get their indices; otherwise they are in the order of
 * indices. Elements past the length get the largest code, so that they stay behind all others.
 * MOST: replaces larger codes. */
#include "gl_common.glsl"
#include "kernels/sort.k.h"

uniform highp usampler2D keys;
uniform uint word; /* of a key of 8 bytes */
uniform uint flip, real_flip;
uniform uint shift, mask;

layout(location = 0) out highp uvec4 codes;
#ifdef FIRST
layout(location = 1) out highp uvec4 indices;
#else
uniform highp usampler2D indices;
#endif

const uint PAST = 0xffffffffu;

uint code_at(uint i)
{
    if (i == PAST)
        return PAST;
#if SIZE == 8
    uint key = tml_load_word(keys, 2u * i + word);
    uint sign = SORT_SIGN(tml_load_word(keys, 2u * i + 1u), 32u);
#elif SIZE == 4
    uint key = tml_load_word(keys, i), sign = SORT_SIGN(key, 32u);
#elif SIZE == 2
    uint key = tml_load_half(keys, i), sign = SORT_SIGN(key, 16u);
#else
    uint key = tml_load_byte(keys, i), sign = SORT_SIGN(key, 8u);
#endif
    return min(SORT_CODE(key, sign, flip, real_flip) >> shift & mask, MOST);
}

void main()
{
#ifdef FIRST
    uint i = 4u * tml_texel(), length = stream_length();
    uvec4 at = uvec4(i < length ? i : PAST, i + 1u < length ? i + 1u : PAST,
                     i + 2u < length ? i + 2u : PAST, i + 3u < length ? i + 3u : PAST);
    indices = at;
#else
    uvec4 at = load_quad(indices, tml_texel());
#endif
    codes = uvec4(code_at(at.x), code_at(at.y), code_at(at.z), code_at(at.w));
}
