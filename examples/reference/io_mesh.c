/* Files of meshes, whole and in pieces. */
#include "reference.h"
#include <trommel/extend.h>
#include <trommel/meshes.h>

/* A square of two triangles. */
static float positions[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
static uint32_t indices[] = {0, 1, 2, 0, 2, 3};
static const tml_mesh square = {
    .positions = positions, .indices = indices, .vertex_count = 4, .triangle_count = 2};

/* A mesh to a file, whose format is the name's ending, and back. */
static void save_and_load(tml_context *tml)
{
    const char *path = "reference_mesh.ply";
    tml_mesh_file file;
    MUST(tml_mesh_save(tml, path, &square));
    CHECK(!strcmp(tml_file_format(tml, path, TML_FILE_MESH, NULL), "PLY"));
    MUST(tml_mesh_load(tml, path, NULL, &file));
    CHECK(file.mesh.vertex_count == 4 && ((const uint32_t *)file.mesh.indices)[5] == 3);
    tml_mesh_file_free(tml, &file);
    remove(path);
}

/* STL has no shared vertices: equal ones are welded, or left as they are. */
static void weld(tml_context *tml)
{
    const char *path = "reference_mesh.stl";
    const tml_load_desc desc = {.weld = TML_WELD_NEVER};
    tml_mesh_file file;
    MUST(tml_mesh_save(tml, path, &square));
    MUST(tml_mesh_load(tml, path, &desc, &file));
    CHECK(file.mesh.vertex_count == 6 && file.welded_count == 0);
    tml_mesh_file_free(tml, &file);
    MUST(tml_mesh_load(tml, path, NULL, &file));
    CHECK(file.mesh.vertex_count == 4 && file.welded_count == 2);
    tml_mesh_file_free(tml, &file);
    remove(path);
}

/* Two meshes far from 0, whose places are compared: the second one's numbers in the first one's
 * frame. */
static void share_an_origin(tml_context *tml)
{
    const char *path = "reference_far.ply";
    float far[] = {4000000, 0, 0, 4000001, 0, 0, 4000001, 1, 0, 4000000, 1, 0};
    const tml_mesh mesh = {
        .positions = far, .indices = indices, .vertex_count = 4, .triangle_count = 2};
    tml_mesh_file first, second;
    MUST(tml_mesh_save(tml, path, &mesh));
    MUST(tml_mesh_load(tml, path, &(tml_load_desc){.recenter = true}, &first));
    MUST(tml_mesh_load(tml, path, &(tml_load_desc){.origin = first.mesh.origin}, &second));
    const float *a = first.mesh.positions, *b = second.mesh.positions;
    CHECK(second.mesh.origin[0] == first.mesh.origin[0] && b[3] == a[3]);
    CHECK((double)a[3] + first.mesh.origin[0] == 4000001); /* exact */
    tml_mesh_file_free(tml, &first);
    tml_mesh_file_free(tml, &second);
    remove(path);
}

/* Colours of vertices, and which way is up, for glTF. */
static void attributes(tml_context *tml)
{
    const char *path = "reference_mesh.glb";
    float rgb[] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
    tml_mesh_attribute color = {.name = "color", .components = 3, .data = rgb};
    tml_mesh mesh = square;
    mesh.up = TML_UP_Z;
    mesh.attributes = &color; /* up to TML_MESH_MAX_ATTRIBUTES */
    mesh.attribute_count = 1;
    MUST(tml_mesh_save(tml, path, &mesh));
    CHECK(!strcmp(tml_file_format(tml, path, TML_FILE_MESH, NULL), "glTF"));
    remove(path);
}

/* A mesh that is never whole in memory: pieces, whose indices may name vertices that come later. */
static void pieces(tml_context *tml)
{
    const char *path = "reference_pieces.ply";
    const tml_mesh lower = {
        .positions = positions, .indices = indices, .vertex_count = 2, .triangle_count = 1};
    const tml_mesh upper = {
        .positions = positions + 6, .indices = indices + 3, .vertex_count = 2, .triangle_count = 1};
    const tml_mesh_stream_desc desc = {.mesh = {.comment = "in two pieces"}};
    tml_mesh_stream *stream;
    tml_mesh_file file;
    MUST(tml_mesh_stream_open(tml, path, &desc, &stream));
    tml_status status = tml_mesh_stream_write(stream, 0, &lower);
    TML_THEN(status, tml_mesh_stream_write(stream, 0, &upper));
    MUST(tml_mesh_stream_finish(stream, status)); /* of a failure it leaves no file */
    MUST(tml_mesh_load(tml, path, NULL, &file));
    CHECK(file.mesh.vertex_count == 4 && file.mesh.triangle_count == 2);
    tml_mesh_file_free(tml, &file);
    remove(path);
}

/* Line segments, such as where two meshes meet, as an OBJ file. */
static void lines(tml_context *tml)
{
    const char *path = "reference_lines.obj";
    const float segment[] = {0, 0, 0, 1, 1, 1};
    tml_mesh_file file;
    MUST(tml_lines_save(tml, path, segment, 1, (double[3]){0, 0, 0}));
    MUST(tml_mesh_load(tml, path, NULL, &file));
    CHECK(file.skipped_count == 1); /* a line is no face */
    tml_mesh_file_free(tml, &file);
    remove(path);
}

/* A triangle without an area, as edge collapse leaves some: its longest edge is flipped, and
 * nothing moves. */
static void mend(tml_context *tml)
{
    static const float four[] = {0, 0, 0, 1, 0, 0, 2, 0, 0, 1, 1, 0};
    static const uint32_t two[] = {0, 1, 2, 0, 2, 3};
    float *places = tml_alloc(tml, sizeof four);
    uint32_t *corners = tml_alloc(tml, sizeof two);
    CHECK(places && corners);
    memcpy(places, four, sizeof four);
    memcpy(corners, two, sizeof two);
    tml_mesh mesh = {
        .positions = places, .indices = corners, .vertex_count = 4, .triangle_count = 2};
    MUST(tml_mesh_mend(tml, &mesh));
    CHECK(mesh.triangle_count == 2 && memcmp(mesh.indices, two, sizeof two) != 0);
    CHECK(memcmp(mesh.positions, four, sizeof four) == 0);
    tml_free(tml, mesh.positions, sizeof four);
    tml_free(tml, mesh.indices, sizeof two);
}

int main(void)
{
    return run_examples(&(tml_open_desc){.engine = TML_ENGINE_CPU},
                        (example *const[]){save_and_load, weld, share_an_origin, attributes, pieces,
                                           lines, mend, NULL});
}
