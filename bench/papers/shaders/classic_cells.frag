/* Draws the base of a classic pyramid over the cells of a volume: the number of vertices of each
 * cell's triangles, and its marching cubes case. */
#include "gl_common.glsl"
#include "surface/gl/shaders/gl_cases.glsl"
#include "classic_volume.glsl"

layout(location = 0) out highp vec4 counts;
layout(location = 1) out highp uvec4 case_of;

void main()
{
    uvec3 cell = cell_at(ivec2(gl_FragCoord.xy));
    counts = vec4(0.0);
    case_of = uvec4(0u);
    if (cell.x + 1u >= dims.x || cell.y + 1u >= dims.y || cell.z + 1u >= dims.z)
        return;
    uint index = 0u;
    for (uint k = 0u; k < 8u; k++)
        if (sample_of(cell + uvec3(k & 1u, k >> 1 & 1u, k >> 2)) >= iso)
            index |= 1u << k;
    counts = vec4(3.0 * float(load_quad(cases, index).z));
    case_of = uvec4(index);
}
