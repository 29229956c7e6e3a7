/* Chooses the meshes of open cells, a byte each. A lane has a word of the list. */
#include "surface_rows.glsl"

ARGS_USE(surface_meshes_args)

#include "surface_scratch.glsl"
#include "surface_counted.glsl"
#include "surface_topology.glsl"

/* Of the open cells of a word: four bytes at a time. */
void choose_meshes(uint number, bool is_missing)
{
    uint y_and_z = number / words, w = number - y_and_z * words;
    row_place place = place_of_row(y_and_z, size.y);
    lane_rows rows = load_rows(args.bits, y_and_z, place, w, words, size);
    uint open = surface_open_cells(rows.c0, surface_step_x(rows.c0, rows.n0), rows.c1,
                                   surface_step_x(rows.c1, rows.n1), rows.c2, surface_step_x(rows.c2, rows.n2),
                                   rows.c3, surface_step_x(rows.c3, rows.n3));
    open &= cells_of(rows, x_mask_of(w, size.x));
    if (is_missing)
        open &= present_cells(args.cells, place.y, place.z, w, size);
    uvec2 meshes = address_of(part_of_scratch(args.meshes_at), number, 32u);
    uint bytes = 0u;
    while (open != 0u) {
        uint bit = uint(findLSB(open)), index = case_at(rows, bit);
        uint mesh = find_mesh(index, uvec3(32u * w + bit, place.y, place.z));
        bytes |= (mesh - (case_word(index) & 0x3ffu)) << (8u * (bit & 3u));
        open &= open - 1u;
        if (open == 0u || uint(findLSB(open)) / 4u != bit / 4u) {
            words_at(meshes).v[bit / 4u] = bytes;
            bytes = 0u;
        }
    }
}

void main()
{
    slab = args.slab;
    bool is_missing = find_missing();
    uint count = LOAD_U32(args.states, SURFACE_STATE_OPEN);
    for (uint i = group_index() * GROUP + gl_LocalInvocationID.x; i < count; i += args.groups * GROUP)
        choose_meshes(LOAD_U32(args.list, i), is_missing);
    if (is_undecided)
        atomicOr(words_at(args.states).v[SURFACE_STATE_UNDECIDED], 1u);
}
