/* Files of points. */
#include "reference.h"
#include <trommel/points.h>

/* Points to a file and back. With an origin, coordinates of seven digits keep their millimetres. */
static void save_and_load(tml_context *tml)
{
    const char *path = "reference_points.ply";
    float positions[] = {0, 0, 0, 1, 2, 3};
    const tml_points points = {.positions = positions, .count = 2, .origin = {5000000, 0, 0}};
    tml_points loaded;
    MUST(tml_points_save(tml, path, &points));
    CHECK(!strcmp(tml_file_format(tml, path, TML_FILE_POINTS, NULL), "PLY"));
    MUST(tml_points_load(tml, path, NULL, &loaded));
    CHECK(loaded.count == 2 && loaded.origin[0] + loaded.positions[3] == 5000001);
    tml_points_free(tml, &loaded);
    remove(path);
}

/* What points carry, by its name: three columns vx vy vz are "velocity". */
static void attributes(tml_context *tml)
{
    const char *path = "reference_points.csv", *const names[] = {"velocity"};
    tml_points points;
    FILE *file = fopen(path, "w");
    CHECK(file && fputs("x,y,z,vx,vy,vz\n0,0,0,1,2,3\n1,0,0,4,5,6\n", file) >= 0 && !fclose(file));
    MUST(tml_points_load(tml, path, &(tml_load_desc){.names = names, .name_count = 1}, &points));
    const tml_mesh_attribute *velocity = &points.attributes[0];
    CHECK(!strcmp(velocity->name, "velocity") && velocity->components == 3);
    CHECK(velocity->data[3] == 4);
    tml_points_free(tml, &points);
    remove(path);
}

/* Samples of a surface, of which a field of blobs is no reconstruction. */
static void scan(tml_context *tml)
{
    enum { SIDE = 20, COUNT = SIDE * SIDE };
    static float positions[3 * COUNT];
    for (uint64_t i = 0; i < COUNT; i++) {
        positions[3 * i] = (float)(i % SIDE);
        positions[3 * i + 1] = (float)(i / SIDE);
    }
    const tml_points points = {.positions = positions, .count = COUNT};
    (void)tml;
    CHECK(tml_points_look_scanned(&points) == TML_POINTS_LOOK_FLAT);
}

/* ---- to a mesh ------------------------------------------------------------------------------- */

/* Sees the mesh before it is written, and could replace its arrays. */
static tml_status count_vertices(void *user, tml_mesh *mesh)
{
    *(uint64_t *)user = mesh->vertex_count;
    return TML_OK;
}

/* Sees points and grid before the surface is made, and could choose slabs, or refuse. */
static tml_status look_first(void *user, const tml_points *points, const tml_field_desc *field,
                             const tml_surface_saved *known, tml_surface_save_desc *save)
{
    (void)user;
    CHECK(points->count == 2 && field->grid.dims[0] > 0 && known->isovalue == 0.6 && !save->smooth);
    return TML_OK;
}

/* A mesh file of a points file, in one call: two drops as smoothed particle hydrodynamics has
 * them. */
static void points_to_mesh(tml_context *tml)
{
    const char *path = "reference_to_mesh.ply", *mesh = "reference_of_points.ply";
    float positions[] = {0, 0, 0, 5, 0, 0};
    const tml_points points = {.positions = positions, .count = 2};
    uint64_t vertices = 0;
    const tml_surface_desc surface = {.normals = TML_NORMALS_CENTRAL};
    const tml_points_mesh_desc desc = {
        .kind = TML_POINTS_DENSITY, /* or TML_POINTS_ANISOTROPIC */
        .field = {.radius = 1, .resolution = TML_POINTS_RESOLUTION / 2},
        .save = {.slabs = {.surface = &surface, .components = true},
                 .file = {.edit = count_vertices, .user = &vertices}},
        .decide = look_first};
    tml_points read;
    tml_field_desc field;
    tml_surface_saved saved;
    MUST(tml_points_save(tml, path, &points));
    if (tml_points_to_mesh(tml, path, mesh, &desc, &read, &field, &saved))
        fprintf(stderr, "%d: %s\n", (int)saved.failed, tml_last_error(tml));
    CHECK(saved.surface.components == 2 && saved.isovalue == 0.6);
    CHECK(saved.surface.vertex_count == vertices && read.count == 2 && field.radius == 1);
    tml_surface_saved_free(tml, &saved);
    remove(mesh);
    remove(path);
}

int main(void)
{
    return run_examples(&(tml_open_desc){.engine = TML_ENGINE_CPU},
                        (example *const[]){save_and_load, attributes, scan, points_to_mesh, NULL});
}
