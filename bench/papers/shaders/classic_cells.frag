/* Draws the base of a classic pyramid over the cells of a volume: the number of vertices of each
 * cell's triangles, and its marching cubes case. With PARTIAL_SUMS, four cells per texel. */
#include "gl_common.glsl"
#include "surface/gl/shaders/gl_cases.glsl"
#include "classic_volume.glsl"

layout(location = 0) out highp vec4 counts;
layout(location = 1) out highp uvec4 case_of;

uint case_at(ivec2 texel)
{
    uvec3 cell = cell_at(texel);
    uint index = 0u;
    if (cell.x + 1u >= dims.x || cell.y + 1u >= dims.y || cell.z + 1u >= dims.z)
        return index;
    for (uint k = 0u; k < 8u; k++)
        if (sample_of(cell + uvec3(k & 1u, k >> 1 & 1u, k >> 2)) >= iso)
            index |= 1u << k;
    return index;
}
float vertices_of(uint index)
{
    return 3.0 * float(load_quad(cases, index).z);
}

void main()
{
    ivec2 at = ivec2(gl_FragCoord.xy);
#ifdef PARTIAL_SUMS
    case_of = uvec4(case_at(2 * at), case_at(2 * at + ivec2(1, 0)), case_at(2 * at + ivec2(0, 1)),
                    case_at(2 * at + 1));
    counts = vec4(vertices_of(case_of.x), vertices_of(case_of.y), vertices_of(case_of.z),
                  vertices_of(case_of.w));
#else
    case_of = uvec4(case_at(at));
    counts = vec4(vertices_of(case_of.x));
#endif
}
