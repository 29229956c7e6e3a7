/* Stores sums, four per texel, as words. */
#include "gl_common.glsl"

uniform highp usampler2D scanned;
uniform highp usampler2D scanned_high;

layout(location = 0) out highp uint word;

void main()
{
    uint w = tml_texel();
#if SUM_BITS == 64
    uint i = w >> 1;
    uvec4 low = load_quad(scanned, i >> 2), high = load_quad(scanned_high, i >> 2);
    uvec4 quad = (w & 1u) == 0u ? low : high;
#else
    uint i = w;
    uvec4 quad = load_quad(scanned, i >> 2);
#endif
    if (i >= stream_length())
        discard;
    uint c = i & 3u;
    word = c < 2u ? (c == 0u ? quad.x : quad.y) : (c == 2u ? quad.z : quad.w);
}
