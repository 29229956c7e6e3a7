/* Descends a classic pyramid over cells once for each vertex of a soup. SCATTERED: fifteen vertices
 * per cell instead, most of which stay empty. NORMALS: a papers_normals other than none. */
#include "gl_common.glsl"
#include "classic_descent.glsl"
#include "surface/gl/shaders/gl_cases.glsl"
#include "classic_volume.glsl"
#include "kernels/surface.k.h"

uniform highp usampler2D totals, cell_cases;
uniform uint first; /* vertex */
layout(location = 0) out highp uvec4 position;

uint case_at(ivec2 texel)
{
#ifdef PARTIAL_SUMS
    uvec4 four = texelFetch(cell_cases, texel >> 1, 0);
    uvec2 two = (texel.y & 1) == 0 ? four.xy : four.zw;
    return (texel.x & 1) == 0 ? two.x : two.y;
#else
    return texelFetch(cell_cases, texel, 0).x;
#endif
}

#ifdef NORMALS
layout(location = 1) out highp uvec4 normal;

float clamped_sample(ivec3 at)
{
    return sample_of(uvec3(clamp(at, ivec3(0), ivec3(dims) - 1)));
}
#if NORMALS == 1 /* forward */
vec3 gradient_at(ivec3 at)
{
    at = min(at, ivec3(dims) - 2);
    float here = sample_of(uvec3(at));
    return vec3(sample_of(uvec3(at + ivec3(1, 0, 0))), sample_of(uvec3(at + ivec3(0, 1, 0))),
                sample_of(uvec3(at + ivec3(0, 0, 1)))) - here;
}
#else /* Prewitt */
vec3 gradient_at(ivec3 at)
{
    vec3 sum = vec3(0.0);
    for (int k = 0; k < 27; k++) {
        ivec3 d = ivec3(k % 3, k / 3 % 3, k / 9) - 1;
        sum += clamped_sample(at + d) * vec3(d);
    }
    return sum;
}
#endif
#endif

void main()
{
    position = uvec4(0u);
#ifdef NORMALS
    normal = uvec4(0u);
#endif
    uint key = first + tml_texel();
#ifdef SCATTERED
    uint cell = key / 15u, row = cell / dims.x;
    classic_spot spot;
    spot.at = texel_of(uvec3(cell - row * dims.x, row % dims.y, row / dims.y));
    spot.key = float(key - 15u * cell);
#else
    if (key >= load_quad(totals, 0u).x)
        return;
    classic_spot spot = classic_descend(key);
#endif
    uvec4 entry = load_quad(cases, case_at(spot.at));
#ifdef SCATTERED
    if (spot.key >= 3.0 * float(entry.z))
        return;
#endif
    cell_edge edge = edge_of(case_edge(entry, uint(spot.key)));
    uvec3 low = cell_at(spot.at) + edge.corner;
    uvec3 along = uvec3(edge.axis == 0u ? 1u : 0u, edge.axis == 1u ? 1u : 0u, edge.axis == 2u ? 1u : 0u);
    float t = surface_crossing(sample_of(low), sample_of(low + along), iso);
    position = floatBitsToUint(vec4(vec3(low) + t * vec3(along), 1.0));
#ifdef NORMALS
    vec3 gradient = surface_mix3(gradient_at(ivec3(low)), gradient_at(ivec3(low + along)), t);
    vec3 n = surface_normal(gradient, vec3(-1.0, 0.0, 0.0), vec3(0.0, -1.0, 0.0), vec3(0.0, 0.0, -1.0));
    normal = floatBitsToUint(vec4(n, 0.0));
#endif
}
