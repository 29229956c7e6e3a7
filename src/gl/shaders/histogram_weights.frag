/* Weights of elements in sorted order, 64 bits each, in two texels. SIZE: bytes of a weight. REAL:
 * weights are floats; the result is in units (kernels/histogram.k.h). */
#include "gl_common.glsl"
#include "kernels/histogram.k.h"
#include "located.glsl"

uniform highp usampler2D weights, largest;
uniform uint length_log2;

layout(location = 0) out highp uint word;

void main()
{
    uint source = source_of(tml_texel() >> 1);
    uvec2 weight = uvec2(0u);
    if (source != NO_SOURCE) {
#if SIZE == 4
        weight.x = LOAD_U32(weights, source);
#elif SIZE == 2
        weight.x = LOAD_U16(weights, source);
#else
        weight.x = LOAD_U8(weights, source);
#endif
#ifdef REAL
        weight =
            histogram_fixed(weight.x, histogram_shift(tml_load_word(largest, 0u), length_log2));
#endif
    }
    word = (tml_texel() & 1u) == 0u ? weight.x : weight.y;
}
