/* What each item counts, an item a texel, from a pyramid's base: FROM_BITS or of numbers. */
#include "gl_common.glsl"

uniform highp usampler2D items;

layout(location = 0) out highp uint count;

void main()
{
    uint i = tml_texel();
#ifdef FROM_BITS
    uvec4 quad = load_quad(items, i >> 7);
    uint part = i >> 5 & 3u;
#else
    uvec4 quad = load_quad(items, i >> 2);
    uint part = i & 3u;
#endif
    count = part < 2u ? (part == 0u ? quad.x : quad.y) : (part == 2u ? quad.z : quad.w);
#ifdef FROM_BITS
    count = count >> (i & 31u) & 1u;
#endif
}
