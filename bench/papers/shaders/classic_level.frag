/* Draws a level of a classic pyramid from the level below: the sum of four texels; with
 * PARTIAL_SUMS, the sum of each texel's components. */
#include "gl_common.glsl"

uniform highp sampler2D below;
uniform int left; /* first column of this level */
uniform int left_below;

layout(location = 0) out highp vec4 counts;

vec4 texel_at(ivec2 at)
{
    return texelFetch(below, at, 0);
}

void main()
{
    ivec2 at = 2 * (ivec2(gl_FragCoord.xy) - ivec2(left, 0)) + ivec2(left_below, 0);
    vec4 a = texel_at(at), b = texel_at(at + ivec2(1, 0));
    vec4 c = texel_at(at + ivec2(0, 1)), d = texel_at(at + ivec2(1, 1));
#ifdef PARTIAL_SUMS
    vec4 one = vec4(1.0);
    counts = vec4(dot(a, one), dot(b, one), dot(c, one), dot(d, one));
#else
    counts = vec4(a.x + b.x + c.x + d.x);
#endif
}
