/* A pass of Hillis and Steele's scan: each running count adds the one stride items before it. */
#include "gl_common.glsl"
#include "gl_sums.glsl"

uniform highp usampler2D running;
uniform uint stride;

layout(location = 0) out highp uint sum;

void main()
{
    uint i = tml_texel();
    sum = tml_load_word(running, i);
    if (i >= stride)
        sum = add_clamped(sum, tml_load_word(running, i - stride));
}
