/* Descends a classic pyramid over cells once for each vertex of a soup. */
#include "gl_common.glsl"
#include "classic_descent.glsl"
#include "surface/gl/shaders/gl_cases.glsl"
#include "classic_volume.glsl"
#include "kernels/surface.k.h"

uniform highp usampler2D totals, cell_cases;
uniform uint first; /* vertex */
layout(location = 0) out highp uvec4 position;

void main()
{
    position = uvec4(0u);
    uint key = first + tml_texel();
    if (key >= load_quad(totals, 0u).x)
        return;
    classic_spot spot = classic_descend(key);
    uvec4 entry = load_quad(cases, texelFetch(cell_cases, spot.at, 0).x);
    cell_edge edge = edge_of(case_edge(entry, uint(spot.key)));
    uvec3 low = cell_at(spot.at) + edge.corner;
    uvec3 along = uvec3(edge.axis == 0u ? 1u : 0u, edge.axis == 1u ? 1u : 0u, edge.axis == 2u ? 1u : 0u);
    float t = surface_crossing(sample_of(low), sample_of(low + along), iso);
    position = floatBitsToUint(vec4(vec3(low) + t * vec3(along), 1.0));
}
