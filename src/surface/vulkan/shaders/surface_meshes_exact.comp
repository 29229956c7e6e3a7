/* Chooses the meshes of the open cells that floats could not decide. A lane has a word of the list
 * of words with such cells. */
#include "surface_rows.glsl"

ARGS_USE(surface_meshes_args)

#include "surface_scratch.glsl"
#include "surface_topology.glsl"

void choose_meshes(uint number)
{
    uint y_and_z = number / words, w = number - y_and_z * words;
    row_place place = place_of_row(y_and_z, size.y);
    lane_rows rows = load_rows(args.bits, y_and_z, place, w, words, size);
    uvec2 meshes = address_of(part_of_scratch(args.meshes_at), number, 32u);
    uint undecided = LOAD_U32(part_of_scratch(args.undecided_at), number);
    for (; undecided != 0u; undecided &= undecided - 1u) {
        uint bit = uint(findLSB(undecided)), index = case_at(rows, bit);
        uint mesh = find_mesh(index, uvec3(32u * w + bit, place.y, place.z));
        /* The cell's byte is 0 before. */
        words_at(meshes).v[bit / 4u] |= (mesh - (case_word(index) & 0x3ffu)) << (8u * (bit & 3u));
    }
}

void main()
{
    slab = args.slab;
    uint count = LOAD_U32(args.states, SURFACE_STATE_EXACT);
    for (uint i = group_index() * GROUP + gl_LocalInvocationID.x; i < count;
         i += args.groups * GROUP)
        choose_meshes(LOAD_U32(args.exact_list, i));
    if (is_undecided)
        atomicOr(words_at(args.states).v[SURFACE_STATE_UNDECIDED], 1u);
}
