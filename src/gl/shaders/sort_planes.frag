/* The four bits of a digit, one per target: bit i of texel t belongs to element 128 t + i. */
#include "gl_common.glsl"

uniform highp usampler2D codes; /* four per texel */
uniform uint texels;            /* codes past them are the largest */
uniform uint shift;             /* of the digit in a code */

layout(location = 0) out highp uvec4 planes0;
layout(location = 1) out highp uvec4 planes1;
layout(location = 2) out highp uvec4 planes2;
layout(location = 3) out highp uvec4 planes3;

/* The bits of 32 elements, one word per target. */
uvec4 words_at(uint texel)
{
    const uvec4 bit = uvec4(0u, 1u, 2u, 3u);
    uvec4 words = uvec4(0u);
    for (uint i = 0u; i < 8u; i++) {
        uvec4 code = uvec4(0xffffffffu);
        if (texel + i < texels)
            code = load_quad(codes, texel + i) >> shift;
        uvec4 four = (uvec4(code.x) >> bit & 1u) | (uvec4(code.y) >> bit & 1u) << 1u |
                     (uvec4(code.z) >> bit & 1u) << 2u | (uvec4(code.w) >> bit & 1u) << 3u;
        words |= four << 4u * i;
    }
    return words;
}

void main()
{
    uint texel = 32u * tml_texel();
    uvec4 x = words_at(texel), y = words_at(texel + 8u), z = words_at(texel + 16u),
          w = words_at(texel + 24u);
    planes0 = uvec4(x.x, y.x, z.x, w.x);
    planes1 = uvec4(x.y, y.y, z.y, w.y);
    planes2 = uvec4(x.z, y.z, z.z, w.z);
    planes3 = uvec4(x.w, y.w, z.w, w.w);
}
