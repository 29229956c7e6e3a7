/* The tables of open cells (surface_args.k.h). Include it after surface_scratch.glsl. */
uint case_word(uint index)
{
    return LOAD_U32(args.tables, SURFACE_OPEN_CASES + index);
}

open_mesh mesh_at(uint number)
{
    uint word = LOAD_U32(args.tables, SURFACE_OPEN_MESHES + number);
    open_mesh mesh;
    mesh.first = word & 0x3fffu;
    mesh.triangles = word >> 14 & 0x1fu;
    mesh.around = word >> 19 & 0xfffu;
    mesh.own = (word >> 31) != 0u ? 6u : min(mesh.around, 1u);
    return mesh;
}

/* Returns the corners of a face, in the order of topology_columns, three bits each. */
uint face_corners(uint face)
{
    return face < 2u   ? (face == 0u ? 0x8b0u : 0xaf9u)
           : face < 4u ? (face == 2u ? 0x328u : 0x7bau)
                       : (face == 4u ? 0x458u : 0xd7cu);
}

/* Returns a choice of a case. joined: a bit for each face whose inside corners are joined; only
 * ambiguous faces count. */
uint choice_of(uint index, uint joined)
{
    uint word = case_word(index), choice = word >> 10 & 0x3ffu, bit = 0u;
    [[unroll]] for (uint face = 0u; face < 6u; face++) {
        uint is_ambiguous = word >> (20u + face) & 1u;
        choice += (joined >> face & is_ambiguous) << bit;
        bit += is_ambiguous;
    }
    return LOAD_U32(args.tables, SURFACE_OPEN_CHOICES + choice);
}

/* The mesh that counting chose for an open cell, at a bit of word number. index: its case. */
open_mesh mesh_of(uint index, uint number, uint bit)
{
    uvec2 meshes = address_of(part_of_scratch(args.meshes_at), number, 32u);
    return mesh_at((case_word(index) & 0x3ffu) +
                   (words_at(meshes).v[bit / 4u] >> (8u * (bit & 3u)) & 0xffu));
}
