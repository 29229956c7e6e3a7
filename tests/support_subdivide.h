/* Shared by the tests of subdivision: meshes made by formulas, and subdividers of them. */
#ifndef SUPPORT_SUBDIVIDE_H
#define SUPPORT_SUBDIVIDE_H

#include <trommel/trommel.h>

enum { TEST_MESH_VERTICES = 1024, TEST_MESH_TRIANGLES = 2048, TEST_MESH_CREASES = 256 };

typedef struct test_mesh {
    const char *name;
    uint32_t vertex_count, triangle_count, crease_count, corner_count;
    float positions[3 * TEST_MESH_VERTICES];
    uint32_t triangles[3 * TEST_MESH_TRIANGLES];
    uint32_t creases[2 * TEST_MESH_CREASES];
    float crease_sharpness[TEST_MESH_CREASES];
    uint32_t corners[TEST_MESH_CREASES];
    float corner_sharpness[TEST_MESH_CREASES];
} test_mesh;

enum test_mesh_kind {
    MESH_TETRAHEDRON,
    MESH_OCTAHEDRON,
    MESH_TORUS,   /* valence 6 throughout, points moved at random */
    MESH_STAR,    /* two apexes of valence 100 */
    MESH_SHEET,   /* open, with valences 2 to 8 at random */
    MESH_CREASED, /* the torus with infinite, semi-sharp and crossing creases, darts and corners */
    MESH_OPEN_CREASED, /* a sheet with creases that end inside and on the boundary */
    MESH_TRIANGLE,     /* a single one */
    MESH_KINDS
};

/* Makes a mesh, the same on every machine. */
void test_mesh_make(enum test_mesh_kind kind, test_mesh *out);

/* Creates a subdivider from a mesh; base has all other fields. */
tml_status test_mesh_subdivider(tml_context *tml, const test_mesh *mesh,
                                const tml_subdivider_desc *base, tml_subdivider **out);

#endif
