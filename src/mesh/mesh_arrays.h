/* What is done to a mesh in host memory, and disjoint sets of its vertices: the header that the
 * room publishes. */
#ifndef TML_MESH_ARRAYS_H
#define TML_MESH_ARRAYS_H

#include <trommel/mesh.h>

/* One more array of the mesh, a row a triangle. */
typedef struct mesh_rows {
    void *rows; /* NULL: none */
    size_t size;
} mesh_rows;

/* Cleans a mesh in place. Vertices and triangles keep their order; counts and parts are updated.
 *
 * drop_degenerate removes triangles with two corners of equal position, and merges the two
 * vertices into the first. The neighbours across the removed edge then share that vertex, so a
 * closed mesh stays closed.
 *
 * largest_component then keeps, of each part, the component with the most triangles; of components
 * of equal size, the first. Triangles are connected if they share a vertex.
 *
 * The mesh has parts. triangles: NULL, or the rows of triangles that go, go too. Vertices that no
 * triangle uses any more are removed. A mesh without such triangles is not written. components:
 * NULL, or where to count those of the filtered mesh. Memory: see tml_mesh_clean. On failure the
 * mesh is undefined. Errors: OUT_OF_MEMORY, CANCELLED. */
TML_MUST_CHECK tml_status mesh_filter(tml_context *tml, tml_mesh *mesh, const mesh_rows *triangles,
                                      bool largest_component, bool drop_degenerate,
                                      uint64_t *components);
/* The same by stretches of so many triangles, a multiple of 64. */
TML_MUST_CHECK tml_status mesh_filter_by(tml_context *tml, tml_mesh *mesh,
                                         const mesh_rows *triangles, bool largest_component,
                                         bool drop_degenerate, uint64_t stretch,
                                         uint64_t *components);

/* tml_mesh_collapse, of a mesh that is one; triangles: as above. */
TML_MUST_CHECK tml_status mesh_collapse(tml_context *tml, tml_mesh *mesh,
                                        const mesh_rows *triangles, double length);

/* Vertex of corner i of the mesh, which is in triangle i / 3. */
static inline uint64_t mesh_index(const void *indices, bool indices64, uint64_t i)
{
    return indices64 ? ((const uint64_t *)indices)[i] : ((const uint32_t *)indices)[i];
}

/* ---- disjoint sets of vertices ---------------------------------------------------------------
 * Union-find that any number of threads may call at once. The root of a set is its smallest member,
 * so the result does not depend on the order of the unions. A vertex is unused, and its own root,
 * until a union names it. Finds halve the paths that they walk. After: Tarjan, van Leeuwen:
 * Worst-case Analysis of Set Union Algorithms. 1984; Anderson, Woll: Wait-free Parallel Algorithms
 * for the Union-Find Problem. 1991. */

typedef struct mesh_forest {
    uint64_t count; /* vertices */
    bool is_wide;   /* parents are u64, else u32 */
    void *parents;
    size_t size; /* bytes of parents */
} mesh_forest;

/* Triangles whose corners are vertices of a forest. */
typedef struct mesh_triangles {
    const void *indices;
    bool indices64;
    uint64_t base;       /* index of the forest's first vertex; all are modulo 2^64 */
    const uint8_t *kept; /* 0: the triangle is left out; NULL: none is */
} mesh_triangles;

#define FOREST_UNUSED UINT64_MAX

/* Every vertex is unused. False: no memory for forest_size bytes. */
bool forest_create(tml_context *tml, uint64_t count, mesh_forest *out);
/* The same of a forest that exists, whose memory is used again where it suffices. */
bool forest_reset(tml_context *tml, mesh_forest *forest, uint64_t count);
void forest_destroy(tml_context *tml, mesh_forest *forest);
uint64_t forest_size(uint64_t count);

/* The smallest vertex of v's set. */
uint64_t forest_root(const mesh_forest *forest, uint64_t v);
/* The first vertex from v on that is the smallest one of a set, and in use; count: there is
 * none. */
uint64_t forest_next_root(const mesh_forest *forest, uint64_t v);
/* Unites the sets of a triangle's corners, which may be the same vertex. */
void forest_unite(const mesh_forest *forest, const uint64_t corners[3]);
/* Does that for triangles [first, end). Returns UINT64_MAX or, where it stopped, the first corner
 * that is no vertex of the forest. */
uint64_t forest_unite_triangles(const mesh_forest *forest, const mesh_triangles *triangles,
                                uint64_t first, uint64_t end);
bool forest_uses(const mesh_forest *forest, uint64_t v);
/* Puts v, which is a root or unused, under root. Not beside other calls. */
void forest_set_root(const mesh_forest *forest, uint64_t v, uint64_t root);
/* Counts the vertices in use and their sets. */
void forest_count(tml_context *tml, const mesh_forest *forest, uint64_t *used, uint64_t *sets);

#endif
