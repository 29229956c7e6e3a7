/* Stores sums, four per texel, as the words of their numbers. */
#include "gl_common.glsl"
#include "gl_scan_types.glsl"

uniform highp usampler2D scanned;
uniform highp usampler2D scanned_high;

layout(location = 0) out highp uint word;

void main()
{
    uint w = tml_texel();
#if SUM_BITS == 64
    uint i = w >> 1;
#else
    uint i = w;
#endif
    if (i >= stream_length())
        discard;
    uvec2 bits = bits_of_sum(number_of_sum(load_sum(scanned, scanned_high, i)));
    word = SUM_BITS == 64 && (w & 1u) != 0u ? bits.y : bits.x;
}
