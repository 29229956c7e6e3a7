/* Writes the vertices of active words, each at its number.
 *
 * The subgroup sorts its crossed edges by vertex number: by row, axis, x. Then each lane makes one
 * vertex at a time, so that the stores of adjacent lanes coalesce. */
#include "surface_rows.glsl"

ARGS_USE(surface_vertices_args)

#include "surface_words.glsl"
#include "surface_firsts.glsl"
#include "surface_place.glsl"

layout(constant_id = 4) const uint ATTRIBUTE = 10u; /* tml_type of the attribute */

/* Vertices per lane in a round. A slot: the word's lane, from bit 8 on the column's bit, from bit
 * 16 on the axis. */
#define LANE_SLOTS 8u
shared uint slots[256u * LANE_SLOTS];

uvec3 iso_words = uvec3(args.iso0, args.iso1, args.iso2);
uint slots_first = subgroup_index() * (SUBGROUP * LANE_SLOTS);

uvec2 sample_at(uvec3 at)
{
    return raw_at(TYPE, element_at(args.volume, number_at(at), type_size_log2(TYPE)), 0u);
}

#include "surface/gpu/surface_samples.glsl"
/* SURFACE_FULL: with normals and attributes, which use many more registers and compile longer. */
#ifdef SURFACE_FULL
layout(constant_id = 5) const uint NORMALS = SURFACE_NORMALS_NONE; /* tml_normals */
uvec3 volume_dims()
{
    return uvec3(args.dim_x, args.dim_y, args.dim_z);
}
#include "surface/gpu/surface_normals.glsl"

float attribute_at(uvec3 at)
{
    uvec2 value_at = element_at(args.attributes, number_at(at), type_size_log2(ATTRIBUTE));
    return number_of(ATTRIBUTE, raw_at(ATTRIBUTE, value_at, 0u));
}

#else
const uint NORMALS = SURFACE_NORMALS_NONE;
#endif

#include "surface_store.glsl"

/* Returns surface_cap_shift of the inside sample, on each axis except the edge's. */
vec3 cap_shift(uvec3 at, uint axis)
{
    vec3 shift = vec3(0.0);
    for (uint a = 0u; a < 3u; a++)
        if (a != axis)
            shift[a] = surface_cap_shift(pad_low()[a] == 1u && at[a] == 1u,
                                         pad_high()[a] == 1u && at[a] + 2u == size[a]);
    return shift;
}

vertex make_vertex(uvec3 at, uint axis)
{
    vertex v;
    uvec3 step = uvec3(axis == 0u ? 1u : 0u, axis == 1u ? 1u : 0u, axis == 2u ? 1u : 0u);
    uvec3 low = volume_place(at), high = volume_place(at + step);
    float t = crossing_of(sample_at(low), sample_at(high), iso_words);
    bool is_cap = has(SURFACE_PAD) && low == high;
    vec3 index = vec3(low);
    if (is_cap) /* an edge into the pad has its vertex on the border sample */
        index += cap_shift(at, axis);
    else
        index += vec3(step) * t;
    v.position = position_at(index);
    v.normal = vec3(0.0);
    v.value = 0.0;
#ifdef SURFACE_FULL
    if (NORMALS != SURFACE_NORMALS_NONE) {
        if (is_cap)
            v.normal =
                cap_normal(int(axis), any(lessThan(at * step, pad_low() * step)) ? -1.0 : 1.0);
        else
            v.normal = vertex_normal(low, high, t, iso_words);
    }
    if (has(SURFACE_ATTRIBUTE))
        v.value = surface_mix(attribute_at(low), attribute_at(high), t);
#endif
    return v;
}


/* Returns the first and last lane of the subgroup with words of the same row. */
uvec2 lanes_of_row(uint row)
{
    uint before = subgroupShuffle(row, lane == 0u ? 0u : lane - 1u);
    uvec4 firsts = subgroupBallot(lane == 0u || row != before);
    uvec4 later = firsts & gl_SubgroupGtMask;
    return uvec2(subgroupBallotFindMSB(firsts & gl_SubgroupLeMask),
                 later == uvec4(0u) ? SUBGROUP - 1u : subgroupBallotFindLSB(later) - 1u);
}

/* Puts the lane's edges into their slots, as far as these are before end. at: the next slot. */
void fill_slots(inout uint edges, inout uint at, uint begin, uint end, uint axis)
{
    while (edges != 0u && at < end) {
        slots[slots_first + at - begin] = lane | uint(findLSB(edges)) << 8 | axis << 16;
        edges &= edges - 1u;
        at++;
    }
}

void emit_vertices(listed_word word, bool is_missing)
{
    lane_rows rows =
        load_rows(part_of_scratch(args.bits_at), word.row, word.place, word.w, words, size);
    uvec3 first = first_of(word.row, word.w).xyz;
    uvec2 chunk_first =
        load64(address_of(part_of_scratch(args.chunks_at), word.row >> CHUNK_LOG2, 16u));
    uint room = room_of(SURFACE_HEAD_ROOM, chunk_first);
    uint x = (rows.c0 ^ surface_step_x(rows.c0, rows.n0)) & x_mask_of(word.w, size.x);
    uint y = rows.c0 ^ rows.c1, z = rows.c0 ^ rows.c2;
    if (is_missing) {
        uvec2 cells = part_of_scratch(args.cells_at);
        x &= allowed_edges(cells, 0u, word.place.y, word.place.z, word.w, size);
        y &= allowed_edges(cells, 1u, word.place.y, word.place.z, word.w, size);
        z &= allowed_edges(cells, 2u, word.place.y, word.place.z, word.w, size);
    }
    x = word.exists ? x : 0u;
    y = word.exists ? y : 0u;
    z = word.exists ? z : 0u;
    reconverge();

    /* The slots of the word's first vertex along each axis. */
    uint xy = popcount32(x) | popcount32(y) << 16, z_count = popcount32(z);
    uint xy_before = subgroupExclusiveAdd(xy), z_before = subgroupExclusiveAdd(z_count);
    uvec2 ends = lanes_of_row(word.exists ? word.row : 0xffffffffu);
    uint xy_first = subgroupShuffle(xy_before, ends.x), z_first = subgroupShuffle(z_before, ends.x);
    uint xy_end = subgroupShuffle(xy_before + xy, ends.y);
    uint z_end = subgroupShuffle(z_before + z_count, ends.y);
    uint at_x = (xy_before & 0xffffu) + (xy_first >> 16) + z_first;
    uint at_y = (xy_end & 0xffffu) + (xy_before >> 16) + z_first;
    uint at_z = (xy_end & 0xffffu) + (xy_end >> 16) + z_before;
    uint total = subgroupShuffle(at_z + z_count, SUBGROUP - 1u);
    /* Now first plus a slot is a number within the chunk. */
    first -= uvec3(at_x, at_y, at_z);

    bool is_one = SEGMENTED == 0u || all_lanes(chunk_first == shuffle64(chunk_first, 0u));
    bool fits = all_lanes(room == 0xffffffffu);
    uvec2 from = shuffle64(chunk_first, 0u);
    for (uint begin = 0u; begin < total; begin += SUBGROUP * LANE_SLOTS) {
        uint end = begin + SUBGROUP * LANE_SLOTS;
        fill_slots(x, at_x, begin, end, 0u);
        fill_slots(y, at_y, begin, end, 1u);
        fill_slots(z, at_z, begin, end, 2u);
        stage_barrier();
        end = min(end, total);
        for (uint k0 = begin; k0 < end; k0 += SUBGROUP) {
            uint k = min(k0 + lane, end - 1u), slot = slots[slots_first + k - begin];
            uint owner = slot & 0xffu, bit = slot >> 8 & 0xffu, axis = slot >> 16;
            uint to_x = subgroupShuffle(first.x, owner), to_y = subgroupShuffle(first.y, owner);
            uint to_z = subgroupShuffle(first.z, owner);
            uint to = k + (axis == 0u ? to_x : axis == 1u ? to_y : to_z);
            uvec3 at = uvec3(32u * subgroupShuffle(word.w, owner) + bit,
                             subgroupShuffle(word.place.y, owner),
                             subgroupShuffle(word.place.z, owner));
            uint owner_room = room;
            if (!is_one)
                from = shuffle64(chunk_first, owner);
            if (!fits)
                owner_room = subgroupShuffle(room, owner);
            vertex v = make_vertex(at, axis);
            if (k0 + lane < end && to < owner_room) {
                store_vertex(add64(from, uvec2(to, 0u)), v);
            }
            reconverge();
        }
        stage_barrier();
    }
}

void main()
{
    listed_word word;
    if (!has_words(word))
        return;
    if (has(SURFACE_HELD_LIMITS))
        iso_words = uvec3(LOAD_U32(args.head, SURFACE_HEAD_LIMITS + 5u),
                          LOAD_U32(args.head, SURFACE_HEAD_LIMITS + 6u),
                          LOAD_U32(args.head, SURFACE_HEAD_LIMITS + 7u));
    slab = LOAD_U32(args.head, SURFACE_HEAD_SLAB);
    emit_vertices(word, has(SURFACE_NAN | SURFACE_MASK) &&
                            LOAD_U32(args.head, SURFACE_HEAD_MISSING) != 0u);
}
