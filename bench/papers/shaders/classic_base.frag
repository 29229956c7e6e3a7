/* Draws the base of a classic pyramid: 1 for each element of the square that is kept, 0 for others.
 * With PARTIAL_SUMS, four elements per texel. */
#include "gl_common.glsl"
#include "gl_kernel.glsl"
#include "kernel_glue.glsl"

uniform uint side; /* of the square of elements */

layout(location = 0) out highp vec4 counts;

float count_at(uint x, uint y)
{
    uint i = y * side + x;
    return i < stream_length() && kernel_at(i, i, 0u) ? 1.0 : 0.0;
}

void main()
{
    uint x = uint(gl_FragCoord.x), y = uint(gl_FragCoord.y);
#ifdef PARTIAL_SUMS
    x *= 2u;
    y *= 2u;
    counts =
        vec4(count_at(x, y), count_at(x + 1u, y), count_at(x, y + 1u), count_at(x + 1u, y + 1u));
#else
    counts = vec4(count_at(x, y));
#endif
}
