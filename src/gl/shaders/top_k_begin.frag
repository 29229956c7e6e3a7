/* The initial state, and the number of results as a u64. */
#include "gl_common.glsl"

uniform highp usampler2D k;
uniform uvec3 k_place; /* as gl_common.glsl's tml_length_place */

layout(location = 0) out highp uvec4 state;
layout(location = 1) out highp uvec4 results;

void main()
{
    uint count = min(length_at(k, k_place), stream_length());
    state = uvec4(0u, 0u, count, count);
    results = uvec4(count, 0u, 0u, 0u);
}
