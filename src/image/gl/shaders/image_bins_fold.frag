/* Adds up to 64 histograms, with a stride of apart histograms. A fragment has four bins.
 * FROM_CHUNKS: histograms are in the format of image_bins.frag (MASKED: its variant). Otherwise
 * they are low and high words. */
#include "gl_common.glsl"

uniform highp usampler2D lows, highs;
uniform uint histogram_count, apart;

layout(location = 0) out highp uvec4 low;
layout(location = 1) out highp uvec4 high;

uint word_of(uvec4 quad, uint i)
{
    return i < 2u ? (i == 0u ? quad.x : quad.y) : (i == 2u ? quad.z : quad.w);
}

uvec4 counters_of(uint histogram, uint part)
{
#ifndef FROM_CHUNKS
    return load_quad(lows, (histogram << 6) + part);
#elif defined(MASKED)
    uvec4 quad = load_quad(lows, (histogram << 5) + (part >> 1));
    uvec2 words = (part & 1u) == 0u ? quad.xy : quad.zw;
    return uvec4(words.x & 0xffffu, words.x >> 16, words.y & 0xffffu, words.y >> 16);
#else
    uint word = word_of(load_quad(lows, (histogram << 4) + (part >> 2)), part & 3u);
    return (uvec4(word) >> uvec4(0u, 8u, 16u, 24u)) & 0xffu;
#endif
}

void main()
{
    uint part = tml_texel() & 63u, histogram = tml_texel() >> 6;
    low = uvec4(0u);
    high = uvec4(0u);
    for (uint i = 0u; i < 64u && histogram < histogram_count; i++) {
        uvec4 sum = low + counters_of(histogram, part);
#ifndef FROM_CHUNKS
        high += load_quad(highs, (histogram << 6) + part);
#endif
        high += uvec4(lessThan(sum, low));
        low = sum;
        histogram += apart;
    }
}
