/* What the surface program and its mesh tools share: a mesh in host arrays, and the components of
 * its triangles. */
#ifndef MESH_INTERNAL_H
#define MESH_INTERNAL_H

#include <trommel/surface.h>

typedef tml_mesh_arrays mesh_arrays;

/* Cleans a mesh in place; order stays, counts and parts are brought up to date.
 *
 * drop_degenerate removes triangles with two corners of equal position. The two vertices become
 * one, the first: the triangles across the vanished edge then share it, and a closed mesh stays
 * closed.
 *
 * largest_component then keeps, of each part, the component with the most triangles, of equals the
 * first in order. Triangles are connected when they share a vertex.
 *
 * Vertices that no triangle uses any more are removed. When nothing is to be done, nothing is
 * written. Takes, from the allocator, at most 16 bytes a vertex and 1 a triangle. On failure the mesh
 * is undefined. Errors: OUT_OF_MEMORY, CANCELLED. */
TML_MUST_CHECK tml_status mesh_filter(tml_context *tml, mesh_arrays *mesh, bool largest_component,
                                      bool drop_degenerate);

/* Corner number i of the mesh: triangle i / 3. */
static inline uint64_t mesh_index(const void *indices, bool indices64, uint64_t i)
{
    return indices64 ? ((const uint64_t *)indices)[i] : ((const uint32_t *)indices)[i];
}

/* ---- disjoint sets --------------------------------------------------------------------------
 * A forest of parents; a root is its own parent and the smallest member of its set, so the result
 * does not depend on the order of the unions. Paths are halved as they are walked. After: Tarjan,
 * van Leeuwen: Worst-case Analysis of Set Union Algorithms. 1984. */

static inline void forest_init(uint64_t *parent, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        parent[i] = i;
}

static inline uint64_t forest_root(uint64_t *parent, uint64_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static inline void forest_unite(uint64_t *parent, uint64_t a, uint64_t b)
{
    a = forest_root(parent, a);
    b = forest_root(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

#endif
