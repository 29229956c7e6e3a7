/* Subdivide: triangle meshes to smooth surfaces, to a level or as far as needed. */
#include "reference.h"

#include <trommel/kernel_begin.h>
TML_KERNEL(float, height, (vec3 a, vec3 b, vec3 middle),
           { return max(abs(a.z - b.z), abs(middle.z)); })
#include <trommel/kernel_end.h>

/* A tetrahedron. */
static const tml_vec3 corners[] = {{1, 1, 1}, {-1, -1, 1}, {-1, 1, -1}, {1, -1, -1}};
static const uint32_t faces[] = {0, 1, 3, 0, 2, 1, 0, 3, 2, 1, 2, 3};

static tml_subdivider *prepared(tml_context *tml)
{
    tml_subdivider *subdivider;
    MUST(tml_subdivider_create(
        tml,
        &(tml_subdivider_desc){
            .mesh = {.positions = buffer_of(tml, TML_VEC(TML_F32, 3), 4, corners),
                     .indices = buffer_of(tml, TML_VEC(TML_U32, 3), 4, faces)}},
        &subdivider));
    return subdivider;
}

/* Every triangle becomes four, twice, and the vertices go to the limit surface. */
static void uniform(tml_context *tml)
{
    tml_subdivider *subdivider = prepared(tml);
    const tml_subdivide_uniform_desc desc = {.levels = 2, .limit = true, .normals = true};
    tml_subdivide_result mesh;
    tml_subdivider_info info;
    tml_subdivider_describe(subdivider, 0, &info);
    CHECK(info.triangle_count == 4 && info.edge_count == 6 && info.max_valence == 3);
    tml_subdivider_describe(subdivider, desc.levels, &info); /* by arithmetic alone */
    CHECK(desc.levels <= TML_SUBDIVIDE_MAX_LEVELS && info.triangle_count == 4 * 16);
    MUST(tml_subdivide_uniform_enqueue(subdivider, &desc, &mesh));
    CHECK(mesh.triangle_count == 64 && mesh.vertex_count == 34);
    tml_subdivide_free(tml, &mesh);
    tml_subdivider_destroy(tml, subdivider);
}

/* Only where an edge of the surface is longer than so much. */
static void adaptive(tml_context *tml)
{
    tml_subdivider *subdivider = prepared(tml);
    const tml_subdivide_adaptive_desc desc = {.criterion = TML_SPLIT_LENGTH, .threshold = 0.5f};
    tml_subdivide_result mesh;
    MUST(tml_subdivide_adaptive(subdivider, &desc, &mesh));
    CHECK(mesh.triangle_count > 4 && mesh.error <= 1 && mesh.is_within_depth);
    tml_subdivide_free(tml, &mesh);
    tml_subdivider_destroy(tml, subdivider);
}

/* By pixels on a camera's picture, with a budget of triangles. */
static void for_a_camera(tml_context *tml)
{
    tml_subdivider *subdivider = prepared(tml);
    const tml_subdivide_camera camera = {
        /* looks along -z from (0, 0, 5) */
        .matrix = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, -1, 5},
        .width = 640,
        .height = 640};
    tml_subdivide_result mesh;
    MUST(tml_subdivide_adaptive(
        subdivider,
        &(tml_subdivide_adaptive_desc){
            .criterion = TML_SPLIT_PIXELS, .threshold = 4, .camera = camera, .budget = 500},
        &mesh));
    CHECK(mesh.triangle_count <= 500 && !mesh.is_within_budget);
    tml_subdivide_free(tml, &mesh);
    tml_subdivider_destroy(tml, subdivider);
}

/* The same in a frame: the camera, the counts and the draw command stay on the device. */
static void in_a_frame(tml_context *tml)
{
    enum { ROOM = 4000 };
    tml_subdivider *subdivider = prepared(tml);
    /* looks along -z from (0, 0, 5): matrix, width, height, nearest, not outside */
    const float camera[TML_SUBDIVIDE_CAMERA_FLOATS] = {1, 0, 0, 0, 0,  1, 0,   0,   0, 0,
                                                       1, 0, 0, 0, -1, 5, 640, 640, 1, 0};
    const tml_subdivide_adaptive_desc desc = {
        .criterion = TML_SPLIT_PIXELS,
        .threshold = 20,
        .max_depth = 5,
        .buffers.mesh = {.positions = buffer_of(tml, TML_VEC(TML_F32, 3), ROOM, NULL),
                         .indices = buffer_of(tml, TML_VEC(TML_U32, 3), ROOM, NULL)},
        .camera_buffer = buffer_of(tml, TML_F32, TML_SUBDIVIDE_CAMERA_FLOATS, camera),
        .counts = buffer_of(tml, TML_U32, 3, NULL),
        .draw = buffer_of(tml, TML_U32, 5, NULL)};
    MUST(tml_reserve(
        tml, SCRATCH_OF(tml, tml_subdivide_adaptive_enqueue(subdivider, &desc)))); /* once */
    MUST(tml_subdivide_adaptive_enqueue(subdivider, &desc));                       /* each frame */
    uint32_t counts[3], draw[5];
    MUST(tml_buffer_read(tml, desc.counts, counts));
    MUST(tml_buffer_read(tml, desc.draw, draw));
    CHECK(counts[1] > 4 && draw[0] == 3 * counts[1]);
    const uint32_t is_short =
        TML_SUBDIVIDE_SHORT_VERTICES | TML_SUBDIVIDE_SHORT_TRIANGLES | TML_SUBDIVIDE_SHORT_LEVELS;
    CHECK((counts[2] & is_short) == 0);
    tml_subdivider_destroy(tml, subdivider);
}

/* By a kernel of yours, which sees both ends of an edge and the surface between them. */
static void by_a_kernel(tml_context *tml)
{
    tml_subdivider *subdivider = prepared(tml);
    tml_subdivide_result mesh;
    MUST(tml_subdivide_adaptive(subdivider,
                                &(tml_subdivide_adaptive_desc){.criterion = TML_SPLIT_KERNEL,
                                                               .kernel = TML_USE(height),
                                                               .threshold = 0.25f,
                                                               .max_depth = 4},
                                &mesh));
    CHECK(mesh.triangle_count > 4 && mesh.depth <= 4);
    tml_subdivide_free(tml, &mesh);
    tml_subdivider_destroy(tml, subdivider);
}

/* A sharp edge, a boundary that is kept, and other weights: of a single square. */
static void creases_and_boundary(tml_context *tml)
{
    const tml_vec3 points[] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 1}};
    const uint32_t triangles[] = {0, 1, 2, 0, 2, 3};
    const float infinite = TML_SHARPNESS_INFINITE;
    tml_subdivider *subdivider;
    tml_subdivider_info info;
    MUST(tml_subdivider_create(
        tml,
        &(tml_subdivider_desc){
            .mesh = {.positions = buffer_of(tml, TML_VEC(TML_F32, 3), 4, points),
                     .indices = buffer_of(tml, TML_VEC(TML_U32, 3), 2, triangles)},
            .crease_edges = buffer_of(tml, TML_VEC(TML_U32, 2), 1, triangles + 3),
            .crease_sharpness = buffer_of(tml, TML_F32, 1, &infinite),
            .boundary = TML_BOUNDARY_PINNED,
            .weights = TML_WEIGHTS_WARREN},
        &subdivider));
    tml_subdivider_describe(subdivider, 0, &info);
    CHECK(info.sharp_edge_count == 1 && info.boundary_edge_count == 4);
    tml_subdivider_destroy(tml, subdivider);
}

/* What each vertex carries, and texture coordinates of corners, go with the mesh. */
static void attributes_and_channels(tml_context *tml)
{
    const float heat[] = {0, 1, 2, 3}, uvs[] = {0, 0, 1, 0, 0, 1};
    const uint32_t uv_corners[] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2};
    const tml_subdivide_channel channel = {.values = buffer_of(tml, TML_VEC(TML_F32, 2), 3, uvs),
                                           .indices =
                                               buffer_of(tml, TML_VEC(TML_U32, 3), 4, uv_corners),
                                           .seams = TML_SEAMS_LINEAR};
    tml_subdivider *subdivider;
    tml_subdivide_result mesh;
    MUST(tml_subdivider_create(
        tml,
        &(tml_subdivider_desc){
            .mesh = {.positions = buffer_of(tml, TML_VEC(TML_F32, 3), 4, corners),
                     .indices = buffer_of(tml, TML_VEC(TML_U32, 3), 4, faces)},
            /* up to TML_SUBDIVIDE_MAX_ATTRIBUTES, TML_SUBDIVIDE_MAX_CHANNELS */
            .attributes = {buffer_of(tml, TML_F32, 4, heat)},
            .channels = {channel}},
        &subdivider));
    MUST(tml_subdivide_uniform_enqueue(subdivider, &(tml_subdivide_uniform_desc){.levels = 1},
                                       &mesh));
    const tml_subdivide_buffers *made = &mesh.buffers;
    CHECK(!tml_buffer_is_none(made->attributes[0]) && mesh.channel_counts[0] >= 6);
    tml_subdivide_free(tml, &mesh);
    tml_subdivider_destroy(tml, subdivider);
}

/* A mesh that moves keeps its topology: only vertices are made again. */
static void move(tml_context *tml)
{
    const tml_vec3 larger[] = {{2, 2, 2}, {-2, -2, 2}, {-2, 2, -2}, {2, -2, -2}};
    tml_subdivider *subdivider = prepared(tml);
    tml_subdivide_result mesh;
    tml_vec3 vertex;
    MUST(tml_subdivider_move_enqueue(subdivider, buffer_of(tml, TML_VEC(TML_F32, 3), 4, larger)));
    MUST(tml_subdivide_uniform_enqueue(subdivider, &(tml_subdivide_uniform_desc){.levels = 0},
                                       &mesh));
    MUST(tml_buffer_read_range(tml, mesh.buffers.mesh.positions, 0, 1, &vertex));
    CHECK(vertex.x == 2 && vertex.z == 2);
    tml_subdivide_free(tml, &mesh);
    tml_subdivider_destroy(tml, subdivider);
}

int main(void)
{
    return run_examples(&(tml_open_desc){.engine = TML_ENGINE_CPU},
                        (example *const[]){uniform, adaptive, for_a_camera, in_a_frame, by_a_kernel,
                                           creases_and_boundary, attributes_and_channels, move,
                                           NULL});
}
