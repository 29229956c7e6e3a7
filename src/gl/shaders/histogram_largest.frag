/* The largest of 64 float weights, as histogram_weight_size, or of 64 such sizes. Elements past the
 * length do not count. */
#include "gl_common.glsl"
#include "kernels/histogram.k.h"

uniform highp usampler2D words;

layout(location = 0) out highp uint largest;

void main()
{
    uint first = tml_texel() << 6, end = min(first + 64u, stream_length());
    largest = 0u;
    for (uint i = first; i < end; i++)
        largest = max(largest, histogram_weight_size(tml_load_word(words, i)));
}
