/* Chooses the meshes of open cells, a byte each, if floats decide the signs. Marks the other cells,
 * and lists their words, which are few, for surface_meshes_exact.comp. A lane has a word of the
 * list of words with open cells. */
#include "surface_rows.glsl"

ARGS_USE(surface_meshes_args)

#include "surface_scratch.glsl"
#include "surface_counted.glsl"
#include "kernels/surface_open.k.h"
#include "surface_open.glsl"
#include "surface_place.glsl"
#include "surface/gpu/surface_samples.glsl"
#include "kernels/real64.k.h"

const uint UNDECIDED = 0xffffffffu;

/* A cell's corners minus the isovalue, and their largest error in units of 2^-24. Devices may round
 * towards 0. */
float corners[8];
float error;

float number_at_place(uvec3 at)
{
    uvec2 raw = raw_at(TYPE, element_at(args.volume, number_at(at), type_size_log2(TYPE)), 0u);
    return TYPE == TYPE_F64 ? uintBitsToFloat(real64_to_float(raw)) : number_of(TYPE, raw);
}

/* Loads the cell's corners. Returns those in a pad, as bits. */
uint load_corners(uvec3 at, out float largest)
{
    float largest_sample = 0.0;
    uint pads = 0u;
    largest = 0.0;
    [[unroll]] for (uint c = 0u; c < 8u; c++) {
        uvec3 place = at + uvec3(c & 1u, c >> 1u & 1u, c >> 2u);
        bool is_pad =
            any(lessThan(place, pad_low())) || any(greaterThanEqual(place, size - pad_high()));
        pads |= is_pad ? 1u << c : 0u;
        float number = number_at_place(volume_place(place));
        largest_sample = max(largest_sample, abs(number));
        corners[c] = is_pad ? 0.0 : number - args.iso - args.iso_rest;
        largest = max(largest, abs(corners[c]));
    }
    bool is_rounded = TYPE == TYPE_F64 || !TYPE_IS_FLOAT(TYPE) && type_size_log2(TYPE) >= 2u;
    error = 4.0 * largest + abs(args.iso) / 1048576.0 + (is_rounded ? 4.0 * largest_sample : 0.0);
    return pads;
}

/* Examines a sum of two or four products; topology_look_at in surface_topology.h has the bounds. */
void look_at(uint a, uint b, float bound, uint bit, inout uint positive, inout uint unsure)
{
    float value =
        corners[a & 7u] * corners[b >> 3u & 7u] - corners[a >> 6u & 7u] * corners[b >> 9u];
    if (a != b)
        value += corners[b & 7u] * corners[a >> 3u & 7u] - corners[b >> 6u & 7u] * corners[a >> 9u];
    positive |= value > 0.0 ? 1u << bit : 0u;
    unsure |= abs(value) > (a == b ? bound : 4.0 * bound) ? 0u : 1u << bit;
}

uint find_mesh(uint index, uvec3 at)
{
    float largest;
    uint pads = load_corners(at, largest), positive = 0u, unsure = 0u, diagonals = 0u;
    /* 2^-40, 2^60: neither underflow nor overflow */
    if (!(largest > 9.094947e-13 && error < 1.1529215e18))
        return UNDECIDED;
    float bound = error * largest / 1048576.0;
    [[unroll]] for (uint axis = 0u; axis < 3u; axis++) {
        uint low = face_corners(2u * axis), high = face_corners(2u * axis + 1u);
        look_at(low, low, bound, 2u * axis, positive, unsure);
        look_at(high, high, bound, 2u * axis + 1u, positive, unsure);
        look_at(low, high, bound, 2u * axis + 6u, positive, unsure);
        diagonals |= (index >> (low & 7u) & 1u) << (2u * axis) | (index >> (high & 7u) & 1u)
                                                                     << (2u * axis + 1u);
    }
    if ((unsure & case_word(index) >> 20 & 0x3fu) != 0u)
        return UNDECIDED;
    uint meshes = choice_of(index, positive ^ ~diagonals);
    bool may_tunnel =
        (meshes >> 10) != 0u && pads == 0u && (unsure != 0u || topology_may_tunnel(positive));
    return may_tunnel ? UNDECIDED : meshes & 0x3ffu;
}

/* Chooses the meshes of a word's open cells. Writes four bytes at a time. */
void choose_meshes(uint number, bool is_missing)
{
    uint y_and_z = number / words, w = number - y_and_z * words;
    row_place place = place_of_row(y_and_z, size.y);
    lane_rows rows = load_rows(args.bits, y_and_z, place, w, words, size);
    uint open = surface_open_cells(
        rows.c0, surface_step_x(rows.c0, rows.n0), rows.c1, surface_step_x(rows.c1, rows.n1),
        rows.c2, surface_step_x(rows.c2, rows.n2), rows.c3, surface_step_x(rows.c3, rows.n3));
    open &= cells_of(rows, x_mask_of(w, size.x));
    if (is_missing)
        open &= present_cells(args.cells, place.y, place.z, w, size);
    uvec2 meshes = address_of(part_of_scratch(args.meshes_at), number, 32u);
    uint bytes = 0u, undecided = 0u;
    while (open != 0u) {
        uint bit = uint(findLSB(open)), index = case_at(rows, bit);
        uint mesh = find_mesh(index, uvec3(32u * w + bit, place.y, place.z));
        if (mesh == UNDECIDED)
            undecided |= 1u << bit;
        else
            bytes |= (mesh - (case_word(index) & 0x3ffu)) << (8u * (bit & 3u));
        open &= open - 1u;
        if (open == 0u || uint(findLSB(open)) / 4u != bit / 4u) {
            words_at(meshes).v[bit / 4u] = bytes;
            bytes = 0u;
        }
    }
    if (undecided == 0u)
        return;
    store_word(part_of_scratch(args.undecided_at), number, undecided);
    words_at(args.exact_list).v[atomicAdd(words_at(args.states).v[SURFACE_STATE_EXACT], 1u)] =
        number;
}

void main()
{
    slab = args.slab;
    bool is_missing = find_missing();
    uint count = LOAD_U32(args.states, SURFACE_STATE_OPEN);
    for (uint i = group_index() * GROUP + gl_LocalInvocationID.x; i < count;
         i += args.groups * GROUP)
        choose_meshes(LOAD_U32(args.list, i), is_missing);
}
