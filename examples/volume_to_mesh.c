/* A surface from a volume, written as a mesh file: a sphere sampled on a grid of 2 mm steps.
 * Shows: tml_surface with spacing, origin and normals; tml_mesh_examine; tml_buffer_map;
 * tml_mesh_save. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <trommel/meshes.h>
#include <trommel/trommel.h>

enum { SIZE = 64 };

static float samples[SIZE * SIZE * SIZE];

/* Maps the result's buffers and writes them; on the CPU nothing is copied. */
static tml_status save(tml_context *tml, const tml_surface_result *surface, const char *path)
{
    void *positions, *normals, *indices;
    tml_status status;
    if ((status = tml_buffer_map(tml, surface->mesh.positions, &positions)) ||
        (status = tml_buffer_map(tml, surface->mesh.normals, &normals)) ||
        (status = tml_buffer_map(tml, surface->mesh.indices, &indices)))
        return status;
    status = tml_mesh_save(tml, path,
                           &(tml_mesh){.positions = positions,
                                       .normals = normals,
                                       .indices = indices,
                                       .vertex_count = surface->vertex_count,
                                       .triangle_count = surface->triangle_count});
    tml_buffer_unmap(tml, surface->mesh.indices);
    tml_buffer_unmap(tml, surface->mesh.normals);
    tml_buffer_unmap(tml, surface->mesh.positions);
    return status;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "sphere.ply";
    const tml_grid grid = {
        .dims = {SIZE, SIZE, SIZE}, .spacing = {2, 2, 2}, .origin = {-63, -63, -63}};
    tml_context *tml;
    tml_buffer volume;
    tml_surface_result surface;
    tml_mesh_stats stats;

    for (int z = 0, i = 0; z < SIZE; z++)
        for (int y = 0; y < SIZE; y++)
            for (int x = 0; x < SIZE; x++, i++)
                samples[i] = 50 - hypotf(hypotf(2.0f * (float)x - 63, 2.0f * (float)y - 63),
                                         2.0f * (float)z - 63);

    if (tml_open(NULL, &tml))
        return 1;
    if (tml_buffer_create(
            tml, &(tml_buffer_desc){.type = TML_F32, .count = SIZE * SIZE * SIZE, .host = samples},
            &volume) ||
        tml_surface(tml,
                    &(tml_surface_desc){
                        .volume = volume, .grid = grid, .iso = 0, .normals = TML_NORMALS_CENTRAL},
                    &surface) ||
        tml_mesh_examine(tml, &surface.mesh, false, &stats) || save(tml, &surface, path)) {
        fprintf(stderr, "%s\n", tml_last_error(tml));
        return 1;
    }
    printf("%s: %llu vertices, %llu triangles, volume %.0f mm3 (a sphere of 50 mm: 523599)\n", path,
           (unsigned long long)surface.vertex_count, (unsigned long long)surface.triangle_count,
           stats.volume);
    tml_surface_free(tml, &surface);
    tml_close(tml);
    /* One closed surface without holes or handles, its volume within half a percent. */
    return stats.components == 1 && stats.boundary_edges == 0 && stats.euler == 2 &&
                   fabs(stats.volume / 523599 - 1) < 0.005
               ? 0
               : 1;
}
