/* Shared by surface_count.comp and surface_count_wide.comp. SURFACE_OPEN: with open cells. */
#include "surface_rows.glsl"

ARGS_USE(surface_count_args)

#include "surface_scratch.glsl"

#include "surface_counted.glsl"

#ifdef SURFACE_OPEN
#include "kernels/surface_open.k.h"
#include "surface_open.glsl"
const uint LISTED_BITS = SURFACE_OPEN_LISTED_BITS;
#else
const uint LISTED_BITS = SURFACE_LISTED_BITS;
#endif

struct counts {
    uint x, y, z, triangles, cells;
    uint own; /* vertices in open cells */
};

counts no_counts()
{
    return counts(0u, 0u, 0u, 0u, 0u, 0u);
}

#ifdef SURFACE_OPEN
/* Adds what the meshes of a word's open cells have more than separated cells. */
void count_open(lane_rows rows, row_place place, uint w, uint open, inout counts n)
{
    uint number = (place.y + size.y * place.z) * words + w;
    for (; open != 0u; open &= open - 1u) {
        uint bit = uint(findLSB(open)), index = case_at(rows, bit);
        open_mesh mesh = mesh_of(index, number, bit);
        n.triangles += mesh.triangles - (case_word(index) >> 26);
        n.own += mesh.own;
    }
}
#endif

counts count_word(lane_rows rows, row_place place, uint w, bool is_missing)
{
    counts n = no_counts();
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
#ifdef SURFACE_OPEN
    count_open(rows, place, w,
               lively & surface_open_cells(rows.c0, s0, rows.c1, s1, rows.c2, s2, rows.c3, s3), n);
#endif
    return n;
}

/* Writes the head: the slab, and the counts before this part or slab. */
void write_head()
{
    store_word(args.head, SURFACE_HEAD_SLAB, args.slab);
    for (uint i = 0u; i < 6u; i++)
        store_word(args.head, SURFACE_HEAD_BASE + i,
                   is_none(args.base) ? 0u : LOAD_U32(args.base, i));
}
