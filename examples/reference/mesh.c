/* Mesh: what is there to know of a triangle mesh, and what is done to one. */
#include "reference.h"

/* Is a mesh closed, and what does it enclose? */
static void examine(tml_context *tml)
{
    const tml_vec3 corners[] = {{0, 0, 0}, {3, 0, 0}, {0, 3, 0}, {0, 0, 3}};
    const uint32_t triangles[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    tml_mesh_stats stats;
    const tml_mesh_buffers mesh = {.positions = buffer_of(tml, TML_VEC(TML_F32, 3), 4, corners),
                                   .indices = buffer_of(tml, TML_VEC(TML_U32, 3), 4, triangles)};
    MUST(tml_mesh_examine(tml, &mesh, false, &stats));
    CHECK(stats.components == 1 && stats.boundary_edges == 0 && stats.euler == 2);
    CHECK(stats.volume == 4.5);
}

/* Keeps the largest component, in place. */
static void clean(tml_context *tml)
{
    float positions[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 9, 9, 9, 9, 8, 9, 8, 9, 9};
    uint32_t indices[] = {0, 1, 2, 1, 3, 2, 4, 5, 6};
    tml_mesh mesh = {
        .positions = positions, .indices = indices, .vertex_count = 7, .triangle_count = 3};
    uint64_t components; /* of the cleaned mesh; NULL: not counted */
    MUST(tml_mesh_clean(tml, &mesh, true, false, &components));
    CHECK(mesh.vertex_count == 4 && mesh.triangle_count == 2 && components == 1);
}

/* Two pyramids on a hexagon, one of whose sides is short: it goes, and the two triangles along
 * it. */
static void collapse(tml_context *tml)
{
    float positions[] = {0, 0, 1, 0,  0,    -1, 1,  0,     0, 1, 0.1f, 0,
                         0, 1, 0, -1, 0.5f, 0,  -1, -0.5f, 0, 0, -1,   0};
    uint32_t indices[12][3];
    for (uint32_t i = 0; i < 6; i++) {
        const uint32_t here = 2 + i, next = 2 + (i + 1) % 6;
        memcpy(indices[2 * i], (uint32_t[]){0, here, next}, sizeof indices[0]);
        memcpy(indices[2 * i + 1], (uint32_t[]){1, next, here}, sizeof indices[0]);
    }
    tml_mesh mesh = {
        .positions = positions, .indices = indices, .vertex_count = 8, .triangle_count = 12};
    MUST(tml_mesh_collapse(tml, &mesh, 0.2)); /* tml_surface does it by desc.collapse */
    CHECK(mesh.vertex_count == 7 && mesh.triangle_count == 10 && positions[7] == 0.05f);
}

/* A roof of four triangles, with its ridge pulled down by a third of the way to the eaves, and the
 * eaves kept. */
static void smooth(tml_context *tml)
{
    const tml_vec3 corners[] = {{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0}, {1, 1, 3}};
    const uint32_t triangles[] = {0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4};
    tml_vec3 out[5], up[5];
    const tml_mesh_smooth_desc desc = {
        .mesh = {.positions = buffer_of(tml, TML_VEC(TML_F32, 3), 5, corners),
                 .indices = buffer_of(tml, TML_VEC(TML_U32, 3), 4, triangles)},
        .iterations = 1,
        .method = TML_SMOOTH_LAPLACIAN,
        .lambda = 1.0 / 3,
        .out = buffer_of(tml, TML_VEC(TML_F32, 3), 5, NULL),
        .normals = buffer_of(tml, TML_VEC(TML_F32, 3), 5, NULL)};
    MUST(tml_mesh_smooth(tml, &desc));
    MUST(tml_buffer_read(tml, desc.out, out));
    MUST(tml_buffer_read(tml, desc.normals, up));
    CHECK(fabsf(out[4].z - 2) < 1e-6f && out[0].x == 0 && out[2].y == 2);
    CHECK(fabsf(up[4].z - 1) < 1e-6f);
}

int main(void)
{
    return run_examples(&(tml_open_desc){.engine = TML_ENGINE_CPU},
                        (example *const[]){examine, clean, collapse, smooth, NULL});
}
