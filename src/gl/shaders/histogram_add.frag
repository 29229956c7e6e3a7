/* Adds up to 64 histograms of histogram_count.frag. The first is at the fragment's own texel; the
 * distance from each to the next is the number of the target's histograms. */
#include "gl_common.glsl"
#include "gl_divide.glsl"

uniform highp usampler2D addends0, addends1, addends2, addends3;
uniform uvec2 groups; /* for divide() */
uniform uint first_sum; /* texel of the targets */
uniform uint count, apart;

layout(location = 0) out highp uvec4 counts0;
layout(location = 1) out highp uvec4 counts1;
layout(location = 2) out highp uvec4 counts2;
layout(location = 3) out highp uvec4 counts3;

void main()
{
    uint texel = tml_texel() - first_sum;
    uint histogram = divide(texel, groups), group = texel - histogram * groups.x;
    counts0 = counts1 = counts2 = counts3 = uvec4(0u);
    for (uint i = 0u; i < 64u && histogram < count; i++) {
        uint at = histogram * groups.x + group;
        counts0 += load_quad(addends0, at);
        counts1 += load_quad(addends1, at);
        counts2 += load_quad(addends2, at);
        counts3 += load_quad(addends3, at);
        histogram += apart;
    }
}
