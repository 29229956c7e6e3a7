/* Writes the own vertices of open cells, each at its number: the middle of a fan, or the ring of a
 * tunnel. A lane has a word of the list of words with open cells. */
#define SURFACE_OPEN
#define SURFACE_FULL
#include "surface_rows.glsl"

ARGS_USE(surface_own_args)

#include "surface_scratch.glsl"
#include "surface_topology.glsl"
#include "surface/gpu/surface_samples.glsl"
#include "kernels/real64.k.h"

layout(constant_id = 4) const uint ATTRIBUTE = 10u;                /* tml_type of the attribute */
layout(constant_id = 5) const uint NORMALS = SURFACE_NORMALS_NONE; /* tml_normals */
#include "surface_store.glsl"

/* Returns a * 2^-bits, which is less than 2^8; 0 if that is tiny. */
float float_of(exact_integer a, uint words, uint bits)
{
    bool is_negative = exact_integer_sign(a, words) < 0;
    if (is_negative)
        a = exact_integer_subtract(exact_integer_of(uvec3(0u)), a, words);
    uint last = words - 1u;
    while (last > 1u && a.word[last] == 0u)
        last--;
    float top = float(a.word[last]) * 4294967296.0 + float(a.word[last - 1u]);
    int power = int(32u * last) - 32 - int(bits);
    float magnitude = power < -120 ? 0.0 : ldexp(top, power);
    return is_negative ? -magnitude : magnitude;
}

/* in_cell and keep_apart: see surface_topology.c. */
float in_cell(float t)
{
    const float least = SURFACE_CLEARANCE;
    /* NaN: no digit survived rounding */
    return t >= least ? min(t, 1.0 - least) : t < least ? least : 0.5;
}

void keep_apart(inout float first, inout float second, float towards)
{
    const float least = SURFACE_CLEARANCE;
    float gap = second - first;
    if (abs(gap) >= least)
        return;
    towards = abs(gap) > 1.0 / 65536.0 ? sign(gap) : towards;
    float middle = clamp(0.5 * (first + second), 1.5 * least, 1.0 - 1.5 * least);
    first = middle - 0.5 * towards * least;
    second = middle + 0.5 * towards * least;
}

/* Returns the number of bits of the largest corner. */
uint corner_bits()
{
    uint any[3] = uint[3](0u, 0u, 0u);
    for (uint c = 0u; c < 8u; c++) {
        uint flip = 0u - (corners[c].z >> 31u);
        for (uint i = 0u; i < 3u; i++)
            any[i] |= corners[c][i] ^ flip;
    }
    uint last = any[2] != 0u ? 2u : any[1] != 0u ? 1u : 0u;
    return 32u * last + real64_highest_bit(max(any[last], 1u)) + 1u;
}

/* The hexagon on the surface. At each root z of the determinant, in a sweep along z, the
 * interpolant is 0 on two lines, which cross at x, y: differences of columns divided by their
 * alternating sum. The lower root is first. */
struct ring {
    vec3 first, second;
};

vec3 crossing_at(float z, vec2 along_x, vec2 along_y, vec2 sums)
{
    float all = mix(sums.x, sums.y, z);
    return vec3(in_cell(mix(along_x.x, along_x.y, z) / all),
                in_cell(mix(along_y.x, along_y.y, z) / all), z);
}

/* Returns a - b of columns, at their low ends and at their high ends. */
vec2 differences(topology_columns c, uint a, uint b, uint bits)
{
    return vec2(
        float_of(exact_integer_subtract(c.low[a], c.low[b], TOPOLOGY_WORDS), TOPOLOGY_WORDS, bits),
        float_of(exact_integer_subtract(c.high[a], c.high[b], TOPOLOGY_WORDS), TOPOLOGY_WORDS,
                 bits));
}

ring place_ring(uint bits)
{
    topology_columns c = columns_along(2u);
    exact_integer low = topology_determinant(c.low[0], c.low[1], c.low[2], c.low[3]);
    exact_integer high = topology_determinant(c.high[0], c.high[1], c.high[2], c.high[3]);
    exact_integer mixed = topology_mixed(c);
    float root = float_of(topology_discriminant(low, mixed, high), TOPOLOGY_LONG_WORDS, 4u * bits);
    float middle = float_of(mixed, TOPOLOGY_WORDS, 2u * bits);
    root = sqrt(max(root, 0.0));
    float sum = -middle + (middle < 0.0 ? root : -root);
    float twice_low = 2.0 * float_of(low, TOPOLOGY_WORDS, 2u * bits);
    float twice_high = 2.0 * float_of(high, TOPOLOGY_WORDS, 2u * bits);
    vec2 sums = vec2(
        float_of(topology_sum(c.low[0], c.low[1], c.low[2], c.low[3]), TOPOLOGY_WORDS, bits),
        float_of(topology_sum(c.high[0], c.high[1], c.high[2], c.high[3]), TOPOLOGY_WORDS, bits));
    vec2 along_x = differences(c, 0u, 3u, bits), along_y = differences(c, 0u, 2u, bits);
    ring r;
    r.first = crossing_at(in_cell(twice_low / (twice_low + sum)), along_x, along_y, sums);
    r.second = crossing_at(in_cell(sum / (sum + twice_high)), along_x, along_y, sums);
    keep_apart(r.first.x, r.second.x, -1.0);
    keep_apart(r.first.y, r.second.y, 1.0);
    keep_apart(r.first.z, r.second.z, 1.0);
    return r;
}

float corner_of(uint c, uint bits)
{
    return float_of(exact_integer_of(corners[c]), TOPOLOGY_WORDS, bits);
}

/* Returns the mean of the vertices on these edges. */
vec3 place_middle(uint edges, uint bits)
{
    vec3 sum = vec3(0.0);
    float count = float(popcount32(edges));
    for (; edges != 0u; edges &= edges - 1u) {
        uint edge = uint(findLSB(edges)), axis = edge / 4u;
        uint low = axis == 0u   ? edge << 1 & 6u
                   : axis == 1u ? (edge & 1u) | (edge << 1 & 4u)
                                : edge & 3u;
        float a = corner_of(low, bits), b = corner_of(low | 1u << axis, bits);
        for (uint k = 0u; k < 3u; k++)
            sum[k] += k == axis ? in_cell(a / (a - b)) : float(low >> k & 1u);
    }
    return sum / count;
}

/* Returns the trilinear interpolant of eight numbers. */
float mix_corners(float values[8], vec3 at)
{
    for (uint k = 4u; k > 0u; k >>= 1)
        for (uint i = 0u; i < k; i++)
            values[i] = surface_mix(values[2u * i], values[2u * i + 1u],
                                    k == 4u   ? at.x
                                    : k == 2u ? at.y
                                              : at.z);
    return values[0];
}

vec3 normal_at(vec3 at, uint bits)
{
    float values[8];
    vec3 gradient;
    [[dont_unroll]] for (uint axis = 0u; axis < 3u; axis++) {
        [[dont_unroll]] for (uint c = 0u; c < 8u; c++) {
            uint low = c & ~(1u << axis), high = c | 1u << axis;
            values[c] =
                float_of(exact_integer_subtract(exact_integer_of(corners[high]),
                                                exact_integer_of(corners[low]), TOPOLOGY_WORDS),
                         TOPOLOGY_WORDS, bits);
        }
        gradient[axis] = mix_corners(values, at);
    }
    return surface_normal(gradient, normal_row(0u), normal_row(1u), normal_row(2u));
}

float attribute_at(uvec3 at)
{
    uvec2 value_at = element_at(args.attributes, number_at(at), type_size_log2(ATTRIBUTE));
    uvec2 raw = raw_at(ATTRIBUTE, value_at, 0u);
    return ATTRIBUTE == TYPE_F64 ? uintBitsToFloat(real64_to_float(raw))
                                 : number_of(ATTRIBUTE, raw);
}

vertex make_vertex(uvec3 cell, vec3 at, uint bits)
{
    vertex v;
    /* With caps, a cell may begin in a pad, where it has no extent. */
    uvec3 first = uvec3(args.first_x, args.first_y, args.first_z);
    vec3 index = vec3(ivec3(first + cell) - ivec3(pad_low())) + at;
    v.position =
        position_at(clamp(index, vec3(first), vec3(first + size - pad_low() - pad_high() - 1u)));
    v.normal = vec3(0.0);
    v.value = 0.0;
    if (NORMALS != SURFACE_NORMALS_NONE)
        v.normal = normal_at(at, bits);
    if (has(SURFACE_ATTRIBUTE)) {
        float values[8];
        [[dont_unroll]] for (uint c = 0u; c < 8u; c++)
            values[c] = attribute_at(volume_place(cell + uvec3(c & 1u, c >> 1 & 1u, c >> 2)));
        v.value = mix_corners(values, at);
    }
    return v;
}

void emit_vertices(uint number, bool is_missing)
{
    uint row = number / words, w = number - row * words;
    row_place place = place_of_row(row, size.y);
    lane_rows rows = load_rows(part_of_scratch(args.bits_at), row, place, w, words, size);
    uint s0 = surface_step_x(rows.c0, rows.n0), s1 = surface_step_x(rows.c1, rows.n1);
    uint s2 = surface_step_x(rows.c2, rows.n2), s3 = surface_step_x(rows.c3, rows.n3);
    uint open = cells_of(rows, x_mask_of(w, size.x)) &
                surface_open_cells(rows.c0, s0, rows.c1, s1, rows.c2, s2, rows.c3, s3);
    if (is_missing)
        open &= present_cells(part_of_scratch(args.cells_at), place.y, place.z, w, size);
    uvec2 chunk_first = load64(address_of(part_of_scratch(args.chunks_at), row >> CHUNK_LOG2, 16u));
    uvec2 room = load64(address_of_word(args.head, SURFACE_HEAD_ROOM));
    uint to = LOAD_U32(part_of_scratch(args.own_rows_at), row) +
              LOAD_U32(part_of_scratch(args.own_at), number);
    for (; open != 0u; open &= open - 1u) {
        uint bit = uint(findLSB(open));
        uvec3 cell = uvec3(32u * w + bit, place.y, place.z);
        open_mesh mesh = mesh_of(case_at(rows, bit), number, bit);
        if (mesh.own == 0u)
            continue;
        load_corners(cell);
        uint bits = corner_bits();
        ring r;
        if (mesh.around != 0u)
            r.first = r.second = place_middle(mesh.around, bits);
        else
            r = place_ring(bits);
        /* Around the ring, x, z and y change in turn, then back in turn. */
        for (uint i = 0u; i < mesh.own; i++, to++) {
            bvec3 is_second = bvec3(i - 1u < 3u, i - 3u < 3u, i - 2u < 3u);
            uvec2 at = add64(chunk_first, uvec2(to, 0u));
            if (less64(at, room))
                store_vertex(at, make_vertex(cell, mix(r.first, r.second, is_second), bits));
        }
    }
}

void main()
{
    slab = args.slab;
    uint own_end = size.y * (size.z - SURFACE_SLAB_AFTER(slab));
    bool is_missing =
        has(SURFACE_NAN | SURFACE_MASK) && LOAD_U32(args.head, SURFACE_HEAD_MISSING) != 0u;
    uint count = LOAD_U32(args.head, SURFACE_HEAD_OPEN);
    for (uint i = group_index() * GROUP + gl_LocalInvocationID.x; i < count;
         i += args.groups * GROUP) {
        uint number = LOAD_U32(args.list, i);
        if (number / words < own_end)
            emit_vertices(number, is_missing);
    }
}
