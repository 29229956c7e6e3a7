/* The apex's sum as a number of 64 bits. */
#include "gl_common.glsl"

uniform highp sampler2D apex;
uniform int left;

layout(location = 0) out highp uvec4 total;

void main()
{
    vec4 sums = texelFetch(apex, ivec2(left, 0), 0);
#ifdef PARTIAL_SUMS
    total = uvec4(uint(dot(sums, vec4(1.0))), 0u, 0u, 0u);
#else
    total = uvec4(uint(sums.x), 0u, 0u, 0u);
#endif
}
