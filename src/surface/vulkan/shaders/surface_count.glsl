/* What surface_count.comp and surface_count_wide.comp share. */
#include "surface_rows.glsl"

ARGS_USE(surface_count_args)

#include "surface_scratch.glsl"

uint row_count = args.size_y * args.size_z;
/* Own rows of the slab, and the end of the counted ones: those and the layer above. */
uint own_first = args.size_y * SURFACE_SLAB_BEFORE(args.slab);
uint own_end = row_count - args.size_y * SURFACE_SLAB_AFTER(args.slab);
uint counted_end = min(own_end + args.size_y, row_count);

struct counts {
    uint x, y, z, triangles, cells;
};

counts count_word(lane_rows rows, row_place place, uint w, bool is_missing)
{
    counts n;
    uint x_mask = x_mask_of(w, size.x), mask = cells_of(rows, x_mask);
    uint s0 = surface_step_x(rows.c0, rows.n0), s1 = surface_step_x(rows.c1, rows.n1);
    uint s2 = surface_step_x(rows.c2, rows.n2), s3 = surface_step_x(rows.c3, rows.n3);
    uint x = (rows.c0 ^ s0) & x_mask, y = rows.c0 ^ rows.c1, z = rows.c0 ^ rows.c2;
    if (is_missing) {
        mask &= present_cells(args.cells, place.y, place.z, w, size);
        x &= allowed_edges(args.cells, 0u, place.y, place.z, w, size);
        y &= allowed_edges(args.cells, 1u, place.y, place.z, w, size);
        z &= allowed_edges(args.cells, 2u, place.y, place.z, w, size);
    }
    n.x = popcount32(x);
    n.y = popcount32(y);
    n.z = popcount32(z);
    uint lively = surface_active(rows.c0, s0, rows.c1, s1, rows.c2, s2, rows.c3, s3) & mask;
    n.cells = popcount32(lively);
    n.triangles = surface_triangles(rows.c0, s0, rows.c1, s1, rows.c2, s2, rows.c3, s3, lively);
    return n;
}

/* Do cells have missing corners? Then surface_cells marked them. */
bool find_missing()
{
    if (has(SURFACE_NAN) && !has(SURFACE_MASK))
        return LOAD_U32(args.states, SURFACE_STATE_NAN) != 0u;
    return has(SURFACE_MASK);
}

/* Writes the head: origin and steps, the slab, and the counts before this part or slab. */
void write_head()
{
    float place[12] = float[12](args.place0, args.place1, args.place2, args.place3, args.place4,
                                args.place5, args.place6, args.place7, args.place8, args.place9,
                                args.place10, args.place11);
    for (uint i = 0u; i < 12u; i++)
        store_word(args.head, SURFACE_HEAD_PLACE + i, floatBitsToUint(place[i]));
    store_word(args.head, SURFACE_HEAD_SLAB, args.slab);
    for (uint i = 0u; i < 6u; i++)
        store_word(args.head, SURFACE_HEAD_BASE + i, is_none(args.base) ? 0u : LOAD_U32(args.base, i));
}
