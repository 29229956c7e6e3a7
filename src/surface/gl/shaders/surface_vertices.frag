/* A fragment makes a vertex: position and attribute value in one quad, the normal in another. */
#include "gl_surface.glsl"
#include "gl_surface_volume.glsl"
#include "gl_pyramid.glsl"
#include "gl_surface_place.glsl"

uniform highp usampler2D volume, attributes, head;
uniform uint first; /* number of the first vertex in the part */
uniform uvec3 iso; /* surface_limits.iso_words */
uniform vec3 origin, step_x, step_y, step_z;
uniform vec3 normal_row0, normal_row1, normal_row2;

layout(location = 0) out highp uvec4 place_and_value;
#ifdef NORMALS
layout(location = 1) out highp uvec4 normal;
#endif

uvec2 sample_at(uvec3 at)
{
    return raw_at(TYPE, volume, number_at(at));
}

#include "surface/gpu/surface_samples.glsl"
#ifdef NORMALS
uvec3 volume_dims()
{
    return dims;
}
vec3 normal_row(uint i)
{
    return i == 0u ? normal_row0 : i == 1u ? normal_row1 : normal_row2;
}
#include "surface/gpu/surface_normals.glsl"
#include "kernels/surface_octahedral.k.h"
#endif

float attribute_at(uvec3 at)
{
    return number_of(ATTRIBUTE, raw_at(ATTRIBUTE, attributes, number_at(at)));
}

void main()
{
    place_and_value = uvec4(0u);
#ifdef NORMALS
    normal = uvec4(0u);
#endif
    uint key = first + tml_texel();
    if (key >= pyramid_total())
        return;
    uint item = pyramid_locate(key).item;
    uint part = divide(item >> 7, quads), row = part / 3u, axis = part - 3u * row;
    uint z = divide(row, size_y);
    uvec3 at = uvec3(((item >> 7) - part * quads.x) * 128u + (item & 127u), row - z * size_y.x, z);
    uvec3 along = uvec3(axis == 0u ? 1u : 0u, axis == 1u ? 1u : 0u, axis == 2u ? 1u : 0u);
    uvec3 low = volume_place(at), high = volume_place(at + along);
    uvec3 iso_now = has(SURFACE_HELD_LIMITS) ? load_quad(head, 2u).xyz : iso;
    float t = crossing_of(sample_at(low), sample_at(high), iso_now);
    bool is_cap = has(SURFACE_PAD) && low == high;
    vec3 index = vec3(low);
    if (!is_cap)
        index += t * vec3(along);
    else /* an edge into the pad has its vertex on the border sample */
        index += vec3(axis == 0u ? 0.0 : surface_cap_shift(at.x == 1u, at.x + 2u == size.x),
                      axis == 1u ? 0.0 : surface_cap_shift(at.y == 1u, at.y + 2u == size.y),
                      axis == 2u ? 0.0 : surface_cap_shift(at.z == 1u, at.z + 2u == size.z));
    vec3 position = origin;
    position += index.z * step_z;
    position += index.y * step_y;
    position += index.x * step_x;
    float value = 0.0;
    if (has(SURFACE_ATTRIBUTE))
        value = surface_mix(attribute_at(low), attribute_at(high), t);
    place_and_value = floatBitsToUint(vec4(position, value));
#ifdef NORMALS
    vec3 n;
    if (is_cap)
        n = cap_normal(int(axis), dot(vec3(at), vec3(along)) == 0.0 ? -1.0 : 1.0);
    else
        n = vertex_normal(low, high, t, iso_now);
    normal = floatBitsToUint(vec4(n, 0.0));
    if (has(SURFACE_OCTAHEDRAL))
        normal.x = surface_octahedral(n);
#endif
}
