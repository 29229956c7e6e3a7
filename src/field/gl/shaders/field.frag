/* A fragment gathers points from the bins that its samples' support touches: bins in ascending
 * order, and points of a bin in source order, as on the CPU. (The CPU reads more bins, whose points
 * add exactly 0.) A fragment has four samples in each of four rows, which share the fetches of
 * points.
 * FORMULA    FIELD_... of kernels/field.k.h
 * SHEARED, SHAPES, DENSITIES
 * LATER      an earlier draw added points to the same samples */
#include "gl_field.glsl"

uniform highp usampler2D points; /* quads: field_point */
uniform highp usampler2D near_bricks;
#ifdef SHAPES
uniform highp usampler2D shapes; /* words: FIELD_SHAPE_WORDS each: xx xy xz yy yz zz, share */
#elif defined DENSITIES
uniform highp usampler2D densities;
#endif
uniform uvec2 quads_x, groups_y; /* divisors: quads per row, groups of four rows per layer */
uniform uint bricks_x, bricks_y;
uniform uint z_first;
uniform uvec2 window; /* points [first, end) of each fragment's sequence are added */
#ifdef SHAPES
#define SHEARED
vec3 straight, shear; /* the point's own, in units of its reach */
#else
uniform vec3 straight; /* xx yy zz of field_plan.frame */
uniform vec3 shear;    /* xy xz yz */
#endif
uniform vec3 extent;
uniform float background, margin;
#ifdef LATER
uniform highp usampler2D before0, before1, before2, before3;
#endif

layout(location = 0) out highp uvec4 row0;
layout(location = 1) out highp uvec4 row1;
layout(location = 2) out highp uvec4 row2;
layout(location = 3) out highp uvec4 row3;

vec4 value0, value1, value2, value3;

/* first: the fragment's first sample, relative to the brick's. */
bool is_near(vec4 point, vec3 first)
{
    vec3 support = vec3(field_support(point.w, extent.x), field_support(point.w, extent.y),
                        field_support(point.w, extent.z));
    return field_is_near(point.xyz, support, first, first + vec3(3.0, 3.0, 0.0));
}

float share = 1.0;

float join_term(float value, float q2, float reach)
{
    return field_join(FORMULA, value, share * field_term(FORMULA, q2, reach, margin));
}

/* d: from the point to the row's first sample; unit: 1 / reach. */
vec4 add_to_row(vec4 values, vec3 d, float unit, float reach)
{
    vec4 x = straight.x * (vec4(d.x) + vec4(0.0, 1.0, 2.0, 3.0));
    vec2 yz = straight.yz * d.yz;
#ifdef SHEARED
    x += shear.x * d.y + shear.y * d.z;
    yz.x += shear.z * d.z;
#endif
    x *= unit;
    yz *= unit;
    vec4 q2 = x * x + dot(yz, yz);
    return vec4(join_term(values.x, q2.x, reach), join_term(values.y, q2.y, reach),
                join_term(values.z, q2.z, reach), join_term(values.w, q2.w, reach));
}

void add_point(vec4 point, vec3 first)
{
    if (!is_near(point, first))
        return;
#ifdef SHAPES
    float unit = 1.0;
#else
    float unit = 1.0 / point.w;
#endif
    vec3 d = first - point.xyz;
    value0 = add_to_row(value0, d, unit, point.w);
    value1 = add_to_row(value1, d + vec3(0.0, 1.0, 0.0), unit, point.w);
    value2 = add_to_row(value2, d + vec3(0.0, 2.0, 0.0), unit, point.w);
    value3 = add_to_row(value3, d + vec3(0.0, 3.0, 0.0), unit, point.w);
}

#ifdef SHAPES
float shape_at(uint number, uint word)
{
    return uintBitsToFloat(LOAD_U32(shapes, 10u * number + word));
}
#endif

/* Adds a row of bins. seen: the number of points in the fragment's sequence before this row.
 * Returns their number before the next row. */
uint add_bins(bin_box box, uint by, uint bz, uvec3 base, vec3 first, uint seen)
{
    uint bin = first_of_row(box, by, bz), at = LOAD_U32(starts, bin);
    uint row_end = LOAD_U32(starts, bin + box.count.x);
    uint next_seen = seen + row_end - at;
    if (at == row_end || next_seen <= window.x || seen >= window.y)
        return next_seen;
    uint from = at + (max(window.x, seen) - seen), to = at + (min(window.y, next_seen) - seen);
    for (uint bx = 0u; bx < box.count.x; bx++) {
        uint end = LOAD_U32(starts, bin + bx + 1u);
        uvec3 corner = (box.first + uvec3(bx, by, bz)) << box.edge_log2;
        vec3 shift = vec3(ivec3(corner) - ivec3(base));
        for (uint i = max(at, from); i < min(end, to); i++) {
            vec4 point = uintBitsToFloat(load_quad(points, i));
            point.xyz += shift;
#ifdef SHAPES
            straight = vec3(shape_at(i, 0u), shape_at(i, 3u), shape_at(i, 5u));
            shear = vec3(shape_at(i, 1u), shape_at(i, 2u), shape_at(i, 4u));
            share = shape_at(i, 6u);
#elif defined DENSITIES
            share = field_share(uintBitsToFloat(LOAD_U32(densities, i)));
#endif
            add_point(point, first);
        }
        at = end;
    }
    return next_seen;
}

void main()
{
    uint row = divide(tml_texel(), quads_x);
    uint z = divide(row, groups_y);
    uvec3 at =
        uvec3(4u * (tml_texel() - row * quads_x.x), 4u * (row - z * groups_y.x), z_first + z);
    uvec3 brick = at / BRICK, base = brick * BRICK;
    value0 = value1 = value2 = value3 = vec4(background);
#ifdef LATER
    value0 = uintBitsToFloat(load_quad(before0, tml_texel()));
    value1 = uintBitsToFloat(load_quad(before1, tml_texel()));
    value2 = uintBitsToFloat(load_quad(before2, tml_texel()));
    value3 = uintBitsToFloat(load_quad(before3, tml_texel()));
#endif
    if (LOAD_U32(near_bricks, brick.x + bricks_x * (brick.y + bricks_y * brick.z)) != 0u) {
        vec3 first = vec3(at - base);
        uint seen = 0u;
        for (uint level = 0u; level < level_count; level++) {
            bin_box box = bins_near(level, at, at + uvec3(3u, 3u, 0u));
            for (uint bz = 0u; bz < box.count.z; bz++)
                for (uint by = 0u; by < box.count.y; by++)
                    seen = add_bins(box, by, bz, base, first, seen);
        }
    }
    row0 = floatBitsToUint(value0);
    row1 = floatBitsToUint(value1);
    row2 = floatBitsToUint(value2);
    row3 = floatBitsToUint(value3);
}
