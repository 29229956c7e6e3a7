/* Shared by the surface's shaders: samples of every type, words of bits, and missing samples. */
#include "kernel.glsl"
#include "kernels/surface.k.h"
#include "surface/gpu/surface_args.k.h"
#include "surface/gpu/surface_options.k.h"
#include "common.glsl"
#include "surface/gpu/surface_keys.glsl"
#extension GL_EXT_control_flow_attributes : require

layout(constant_id = 0) const uint TYPE = 10u; /* tml_type of a sample */
layout(constant_id = 1) const uint OPTIONS = 0u;

bool has(uint option)
{
    return (OPTIONS & option) != 0u;
}

/* Votes, by ballots. */
bool any_lane(bool value)
{
    return subgroupBallot(value) != uvec4(0u);
}
bool all_lanes(bool value)
{
    return !any_lane(!value);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Returns the bits of element i of an array. */
uvec2 raw_at(uint type, uvec2 array, uint i)
{
    uint size = type_size_log2(type);
    if (size == 0u)
        return uvec2(tml_load_byte(array, i) & 0xffu, 0u);
    if (size == 1u)
        return uvec2(tml_load_half(array, i) & 0xffffu, 0u);
    if (size == 2u)
        return uvec2(tml_load_word(array, i), 0u);
    return load64(address_add(array, i << 3, i >> 29));
}

/* Returns a * b + c. */
uvec2 mul_add64(uint a, uint b, uint c)
{
    uint high, low;
    umulExtended(a, b, high, low);
    return add64(uvec2(low, high), uvec2(c, 0u));
}
/* Returns the address of element i (64 bits) of an array with 1 << size_log2 bytes per element. */
uvec2 element_at(uvec2 array, uvec2 i, uint size_log2)
{
    uvec2 bytes = size_log2 == 0u
                      ? i
                      : uvec2(i.x << size_log2, i.y << size_log2 | i.x >> (32u - size_log2));
    return add64(array, bytes);
}

/* ---- words of bits --------------------------------------------------------------------------- */

/* Returns the low n bits set; all bits from n = 32 on. */
uint low_bits(uint n)
{
    return n >= 32u ? 0xffffffffu : (1u << n) - 1u;
}

/* Returns the position of the set bit of rank n. */
uint select_bit(uint word, uint n)
{
    uint at = 0u;
    [[unroll]] for (uint half_width = 16u; half_width > 0u; half_width >>= 1) {
        uint below = popcount32(word & low_bits(half_width));
        if (n >= below) {
            n -= below;
            at += half_width;
            word >>= half_width;
        }
    }
    return at;
}

/* ---- missing samples ------------------------------------------------------------------------- */

struct row_place {
    uint y, z;
};
row_place place_of_row(uint row, uint size_y)
{
    row_place place;
    place.z = row / size_y;
    place.y = row - place.z * size_y;
    return place;
}

/* Returns word w of the marks of cells at (y, z) with all corners present; 0 past the border. If y
 * or z is -1, it wraps to past the border. */
uint present_cells(uvec2 cells, uint y, uint z, uint w, uvec3 size)
{
    uint words = (size.x + 31u) / 32u;
    return y < size.y && z < size.z ? words_at(cells).v[(y + size.y * z) * words + w] : 0u;
}

/* Returns word w of the edges along an axis at (y, z) that touch a cell of present corners. */
uint allowed_edges(uvec2 cells, uint axis, uint y, uint z, uint w, uvec3 size)
{
    uint here = 0u, before = 0u; /* words w and w - 1 of the cells around the edges */
    for (uint i = 0u; i < 4u; i++) {
        uint dy = i & 1u, dz = i >> 1;
        if ((axis == 1u && dy != 0u) || (axis == 2u && dz != 0u))
            continue; /* cells at x and x - 1 count instead */
        here |= present_cells(cells, y - dy, z - dz, w, size);
        if (axis != 0u && w != 0u)
            before |= present_cells(cells, y - dy, z - dz, w - 1u, size);
    }
    return axis != 0u ? here | here << 1 | before >> 31 : here;
}
