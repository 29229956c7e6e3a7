/* Stores results, each from the first words of a texel, as elements of 1 << SIZE_OUT bytes. The end
 * is count, or (COUNTED) a length below count. Elements past the end in the same word keep their
 * values, which are read from old. */
#include "gl_common.glsl"

uniform highp usampler2D results;
uniform uint count;
#if SIZE_OUT < 2
uniform highp usampler2D old;
#endif

layout(location = 0) out highp uint word;

void main()
{
    uint w = tml_texel(), end = count;
#ifdef COUNTED
    end = min(end, stream_length());
    if (w << 2u >> uint(SIZE_OUT) >= end)
        discard;
#endif
#if SIZE_OUT == 3
    uvec4 x = load_quad(results, w >> 1);
    word = (w & 1u) == 0u ? x.x : x.y;
#elif SIZE_OUT == 2
    word = load_quad(results, w).x;
#else
    const uint each = 4u >> SIZE_OUT, bits = 8u << SIZE_OUT;
    const uint mask = (1u << bits) - 1u;
    word = tml_load_word(old, w);
    for (uint e = 0u; e < each; e++) {
        uint i = w * each + e;
        uint value = load_quad(results, min(i, end - 1u)).x & mask;
        if (i < end)
            word = (word & ~(mask << (e * bits))) | value << (e * bits);
    }
#endif
}
