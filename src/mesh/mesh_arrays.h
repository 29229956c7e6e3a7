/* Filters for meshes in host memory, and disjoint sets of vertices. The header that the room
 * publishes. */
#ifndef TML_MESH_ARRAYS_H
#define TML_MESH_ARRAYS_H

#include <trommel/mesh.h>

/* Another array of the mesh, with a row per triangle. */
typedef struct mesh_rows {
    void *rows; /* NULL: none */
    size_t size;
} mesh_rows;

/* Cleans a mesh with parts, in place. Vertices and triangles keep their order; counts and parts are
 * updated. Vertices that no triangle uses any more are removed. Without anything to remove, the
 * mesh is not written.
 *
 * drop_degenerate removes triangles with two corners of equal position, and merges these two
 * vertices into the first. The triangles across the removed edge then share that vertex, so a
 * closed mesh stays closed.
 *
 * largest_component then keeps, in each part, the component with the most triangles; of several
 * such components, the first. Triangles are connected if they share a vertex.
 *
 * triangles   NULL, or rows from which those of removed triangles are removed too
 * components  NULL, or receives the number of components of the filtered mesh
 * Memory: see tml_mesh_clean. Errors: OUT_OF_MEMORY, CANCELLED; the mesh is undefined then. */
TML_MUST_CHECK tml_status mesh_filter(tml_context *tml, tml_mesh *mesh, const mesh_rows *triangles,
                                      bool largest_component, bool drop_degenerate,
                                      uint64_t *components);
/* Does the same in stretches of this many triangles, which is a multiple of 64. */
TML_MUST_CHECK tml_status mesh_filter_by(tml_context *tml, tml_mesh *mesh,
                                         const mesh_rows *triangles, bool largest_component,
                                         bool drop_degenerate, uint64_t stretch,
                                         uint64_t *components);

/* tml_mesh_collapse of a mesh that is valid. triangles: as above. */
TML_MUST_CHECK tml_status mesh_collapse(tml_context *tml, tml_mesh *mesh,
                                        const mesh_rows *triangles, double length);

/* Returns the vertex at corner i of the mesh; the corner is in triangle i / 3. */
static inline uint64_t mesh_index(const void *indices, bool indices64, uint64_t i)
{
    return indices64 ? ((const uint64_t *)indices)[i] : ((const uint32_t *)indices)[i];
}

/* ---- disjoint sets of vertices ---------------------------------------------------------------
 * Union-find that any number of threads may call at once. The root of a set is its smallest member,
 * so the result does not depend on the order of the unions. A vertex is unused, and its own root,
 * until a union names it. Finding a root halves the path to it.
 *
 * After: Tarjan, van Leeuwen: Worst-case Analysis of Set Union Algorithms. 1984; Anderson, Woll:
 * Wait-free Parallel Algorithms for the Union-Find Problem. 1991. */

typedef struct mesh_forest {
    uint64_t count; /* vertices */
    bool is_wide;   /* parents are u64; otherwise u32 */
    void *parents;
    size_t size; /* bytes of parents */
} mesh_forest;

/* Triangles whose corners are vertices of a forest. */
typedef struct mesh_triangles {
    const void *indices;
    bool indices64;
    uint64_t base;       /* index of the forest's first vertex; differences are modulo 2^64 */
    const uint8_t *kept; /* 0: the triangle is left out; NULL: all are kept */
} mesh_triangles;

#define FOREST_UNUSED UINT64_MAX

/* Makes a forest of unused vertices. Returns false if there is no memory for forest_size bytes. */
bool forest_create(tml_context *tml, uint64_t count, mesh_forest *out);
/* Does the same with an existing forest, and reuses its memory if it is large enough. */
bool forest_reset(tml_context *tml, mesh_forest *forest, uint64_t count);
void forest_destroy(tml_context *tml, mesh_forest *forest);
uint64_t forest_size(uint64_t count);

/* Returns the smallest vertex of v's set. */
uint64_t forest_root(const mesh_forest *forest, uint64_t v);
/* Returns the first vertex >= v that is in use and is the smallest of its set. Returns count if
 * there is none. */
uint64_t forest_next_root(const mesh_forest *forest, uint64_t v);
/* Unites the sets of a triangle's corners, of which some may be equal. */
void forest_unite(const mesh_forest *forest, const uint64_t corners[3]);
/* Unites the corners of triangles [first, end). Returns UINT64_MAX; or, at a corner that is not a
 * vertex of the forest, stops and returns this corner. */
uint64_t forest_unite_triangles(const mesh_forest *forest, const mesh_triangles *triangles,
                                uint64_t first, uint64_t end);
bool forest_uses(const mesh_forest *forest, uint64_t v);
/* Makes root the parent of v, which is a root or unused. Not thread-safe. */
void forest_set_root(const mesh_forest *forest, uint64_t v, uint64_t root);
/* Counts the vertices in use and their sets. */
void forest_count(tml_context *tml, const mesh_forest *forest, uint64_t *used, uint64_t *sets);

#endif
