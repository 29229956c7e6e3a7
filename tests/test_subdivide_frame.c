/* Adaptive subdivision in a frame: what is enqueued is what the waiting call makes, to the bit, on
 * every device, and inside a command buffer of the caller's. */
#include "support_subdivide.h"
#include "test.h"

#include "contexts.h"
#ifdef TML_VULKAN
#    include "vulkan_host.h"
#endif

enum { MAX_DEVICES = 8, ROOM = 6000, VALUES_ROOM = 9000, GUARD = 16 };

static test_mesh mesh;

/* A mesh with an attribute and a channel that has a seam. */
static tml_subdivider *prepare(tml_context *tml, enum test_mesh_kind kind)
{
    test_mesh_make(kind, &mesh);
    static uint32_t corners[3 * TEST_MESH_TRIANGLES];
    for (uint32_t t = 0; t < mesh.triangle_count; t++)
        for (uint32_t k = 0; k < 3; k++)
            corners[3 * t + k] =
                mesh.triangles[3 * t + k] + (2 * t < mesh.triangle_count ? 0 : mesh.vertex_count);
    tml_subdivider_desc base = {.channels[0].seams = TML_SEAMS_SMOOTH};
    base.attributes[0] = buffer_of(tml, TML_F32, mesh.vertex_count, mesh.positions);
    base.channels[0].values =
        buffer_of(tml, TML_F32, 2 * (uint64_t)mesh.vertex_count, mesh.positions);
    base.channels[0].indices = buffer_of(tml, TML_VEC(TML_U32, 3), mesh.triangle_count, corners);
    tml_subdivider *subdivider = NULL;
    CHECK_OK(tml, test_mesh_subdivider(tml, &mesh, &base, &subdivider));
    tml_buffer_destroy(tml, base.attributes[0]);
    tml_buffer_destroy(tml, base.channels[0].values);
    tml_buffer_destroy(tml, base.channels[0].indices);
    return subdivider;
}

/* ---- a frame's buffers ----------------------------------------------------------------------- */

enum { ARRAYS = 7 };

typedef struct frame {
    tml_subdivide_adaptive_desc adaptive;
} frame;

/* The outputs in one order; which: 0 as many as vertices, 1 as triangles, 2 as channel values. */
static const struct {
    int which;
    uint32_t words;
} arrays[ARRAYS] = {{0, 3}, {0, 3}, {0, 1}, {1, 3}, {1, 2}, {1, 3}, {2, 1}};

static void list(const tml_subdivide_buffers *buffers, tml_buffer out[ARRAYS])
{
    out[0] = buffers->mesh.positions, out[1] = buffers->mesh.normals,
    out[2] = buffers->attributes[0];
    out[3] = buffers->mesh.indices, out[4] = buffers->origins, out[5] = buffers->channel_indices[0];
    out[6] = buffers->channel_values[0];
}

static void frame_open(tml_context *tml, uint64_t vertices, uint64_t triangles, uint64_t values,
                       frame *f)
{
    const tml_type vec3_type = TML_VEC(TML_F32, 3), triple_type = TML_VEC(TML_U32, 3);
    *f = (frame){
        .adaptive = {.normals = true,
                     .origins = true,
                     .max_depth = 4,
                     .buffers = {.mesh = {.positions = buffer_of(tml, vec3_type, vertices, NULL),
                                          .normals = buffer_of(tml, vec3_type, vertices, NULL),
                                          .indices = buffer_of(tml, triple_type, triangles, NULL)},
                                 .origins = buffer_of(tml, TML_VEC(TML_U32, 2), triangles, NULL)},
                     .level_triangles = ROOM,
                     .camera_buffer = buffer_of(tml, TML_F32, TML_SUBDIVIDE_CAMERA_FLOATS, NULL),
                     .counts = buffer_of(tml, TML_U32, 3, NULL),
                     .draw = buffer_of(tml, TML_U32, 5, NULL)}};
    f->adaptive.buffers.attributes[0] = buffer_of(tml, TML_F32, vertices, NULL);
    f->adaptive.buffers.channel_indices[0] = buffer_of(tml, triple_type, triangles, NULL);
    f->adaptive.buffers.channel_values[0] = buffer_of(tml, TML_F32, values, NULL);
}

static void frame_close(tml_context *tml, frame *f)
{
    tml_buffer all[ARRAYS];
    list(&f->adaptive.buffers, all);
    for (int a = 0; a < ARRAYS; a++)
        tml_buffer_destroy(tml, all[a]);
    tml_buffer_destroy(tml, f->adaptive.camera_buffer);
    tml_buffer_destroy(tml, f->adaptive.counts);
    tml_buffer_destroy(tml, f->adaptive.draw);
}

/* Looks at the mesh from the side, nearer with each turn; on the host and on the device. */
static void frame_look(tml_context *tml, frame *f, uint32_t turn)
{
    f->adaptive.camera = (tml_subdivide_camera){
        .matrix = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0.3f, 0, 0, 4 - 0.4f * (float)turn},
        .width = 64,
        .height = 48,
        .nearest = 0.1f,
        .measure_outside = turn % 2 == 1};
    float words[TML_SUBDIVIDE_CAMERA_FLOATS];
    memcpy(words, f->adaptive.camera.matrix, sizeof f->adaptive.camera.matrix);
    words[16] = 64, words[17] = 48, words[18] = 0.1f, words[19] = turn % 2 == 1;
    CHECK_OK(tml, tml_buffer_write(tml, f->adaptive.camera_buffer, 0, TML_SUBDIVIDE_CAMERA_FLOATS,
                                   words));
}

/* Fills the outputs with a pattern that nothing makes. */
static void frame_soil(tml_context *tml, const frame *f)
{
    static uint32_t pattern[4 * VALUES_ROOM];
    memset(pattern, 0x5a, sizeof pattern);
    tml_buffer all[ARRAYS];
    list(&f->adaptive.buffers, all);
    for (int a = 0; a < ARRAYS; a++) {
        uint64_t count = 0;
        tml_buffer_describe(tml, all[a], NULL, &count);
        CHECK_OK(tml, tml_buffer_write(tml, all[a], 0, count, pattern));
    }
}

/* ---- comparisons ----------------------------------------------------------------------------- */

static bool is_soiled(const uint32_t *words, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++)
        if (words[i] != 0x5a5a5a5au)
            return false;
    return true;
}

/* The frame's outputs against a mesh of the waiting call: equal where both reach, and untouched
 * past the mesh. */
static void check_frame(tml_context *tml, const frame *f, const tml_subdivide_result *mesh_made,
                        uint32_t is_short)
{
    uint32_t counts[3], draw[5];
    CHECK_OK(tml, tml_buffer_read(tml, f->adaptive.counts, counts));
    CHECK_OK(tml, tml_buffer_read(tml, f->adaptive.draw, draw));
    CHECK_EQ_U64(counts[0], mesh_made->vertex_count);
    CHECK_EQ_U64(counts[1], mesh_made->triangle_count);
    CHECK_EQ_U64(counts[2], is_short);
    const uint64_t needs[3] = {mesh_made->vertex_count, mesh_made->triangle_count,
                               mesh_made->channel_counts[0]};
    tml_buffer mine[ARRAYS], theirs[ARRAYS];
    list(&f->adaptive.buffers, mine);
    list(&mesh_made->buffers, theirs);
    for (int a = 0; a < ARRAYS; a++) {
        uint64_t room = 0, need = needs[arrays[a].which];
        tml_buffer_describe(tml, mine[a], NULL, &room);
        uint64_t both = room < need ? room : need;
        if (a == 3)
            CHECK(draw[0] == 3 * both && draw[1] == 1 && !draw[2] && !draw[3] && !draw[4]);
        uint32_t *here = fetch(tml, mine[a], room), *there = fetch(tml, theirs[a], need);
        if (memcmp(here, there, both * arrays[a].words * sizeof(uint32_t)) != 0 ||
            !is_soiled(here, both * arrays[a].words, room * arrays[a].words))
            test_fail(__FILE__, __LINE__, "array %d of %llu", a, (unsigned long long)need);
        free(here);
        free(there);
    }
}

/* The waiting call's mesh with this depth; 0: the frame's. */
static void check_against(tml_context *tml, tml_subdivider *subdivider, const frame *f,
                          uint32_t max_depth, uint32_t is_short)
{
    tml_subdivide_adaptive_desc waiting = f->adaptive;
    waiting.buffers = (tml_subdivide_buffers){.origins = {0, 0}};
    waiting.max_depth = max_depth ? max_depth : f->adaptive.max_depth;
    tml_subdivide_result made;
    CHECK_STATUS(tml_subdivide_adaptive(subdivider, &waiting, &made), TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "desc.camera_buffer") != NULL);
    waiting.camera_buffer = waiting.counts = waiting.draw = (tml_buffer){0, 0};
    waiting.level_triangles = 0;
    if (!CHECK_OK(tml, tml_subdivide_adaptive(subdivider, &waiting, &made)))
        return;
    CHECK(made.triangle_count > mesh.triangle_count);
    check_frame(tml, f, &made, is_short);
    tml_subdivide_free(tml, &made);
}

/* One criterion after another, and with slivers. */
static void check_criteria(tml_context *tml)
{
    tml_subdivider *subdivider = prepare(tml, MESH_OPEN_CREASED);
    frame f;
    frame_open(tml, ROOM, ROOM, VALUES_ROOM, &f);
    static const struct {
        tml_subdivide_criterion criterion;
        float threshold;
    } criteria[] = {{TML_SPLIT_LENGTH, 0.53f},
                    {TML_SPLIT_PIXELS, 4.0f},
                    {TML_SPLIT_ANGLE, 0.9f},
                    {TML_SPLIT_LENGTH, 0.7f}};
    for (uint32_t i = 0; subdivider && i < sizeof criteria / sizeof *criteria; i++) {
        f.adaptive.criterion = criteria[i].criterion;
        f.adaptive.threshold = criteria[i].threshold;
        f.adaptive.slivers = i % 2;
        /* Of angles children may exceed what their parents met, which the waiting call then tries
         * to mend. */
        f.adaptive.max_depth = criteria[i].criterion == TML_SPLIT_ANGLE ? 1 : 4;
        frame_look(tml, &f, i);
        frame_soil(tml, &f);
        CHECK_OK(tml, tml_subdivide_adaptive_enqueue(subdivider, &f.adaptive));
        check_against(tml, subdivider, &f, 0, 0);
    }
    frame_close(tml, &f);
    tml_subdivider_destroy(tml, subdivider);
}

/* Outputs that are too small, and levels that have no room. */
static void check_shortness(tml_context *tml)
{
    tml_subdivider *subdivider = prepare(tml, MESH_CREASED);
    frame f;
    frame_open(tml, 300, 700, 250, &f);
    f.adaptive.level_triangles = 4 * ROOM;
    f.adaptive.threshold = 0.4f;
    frame_soil(tml, &f);
    CHECK_OK(tml, tml_subdivide_adaptive_enqueue(subdivider, &f.adaptive));
    check_against(tml, subdivider, &f, 0,
                  TML_SUBDIVIDE_SHORT_VERTICES | TML_SUBDIVIDE_SHORT_TRIANGLES);
    frame_close(tml, &f);
    /* Level 1 fits in any case, and then only it. */
    frame_open(tml, ROOM, ROOM, VALUES_ROOM, &f);
    f.adaptive.threshold = 0.4f;
    f.adaptive.level_triangles = 4 * (uint64_t)mesh.triangle_count;
    frame_soil(tml, &f);
    CHECK_OK(tml, tml_subdivide_adaptive_enqueue(subdivider, &f.adaptive));
    check_against(tml, subdivider, &f, 1, TML_SUBDIVIDE_SHORT_LEVELS);
    frame_close(tml, &f);
    tml_subdivider_destroy(tml, subdivider);
}

/* ---- every device ---------------------------------------------------------------------------- */

static uint64_t allocations;

static void for_devices(void (*job)(tml_context *tml))
{
    tml_device_info infos[MAX_DEVICES];
    uint32_t devices = tml_devices(infos, MAX_DEVICES);
    for (uint32_t d = 0; d < devices && d < MAX_DEVICES; d++) {
        char name[8];
        snprintf(name, sizeof name, "%u", d);
        tml_context *tml = NULL;
        const tml_open_desc desc = {.device = name,
                                    .allocator = {counted_alloc, counted_free, &allocations}};
        if (!CHECK_OK(NULL, tml_open(&desc, &tml)))
            continue;
        printf("  %s\n", infos[d].name);
        job(tml);
        tml_close(tml);
    }
}

static void check_device(tml_context *tml)
{
    check_criteria(tml);
    check_shortness(tml);
}

TEST(a_frame_is_the_waiting_call_on_every_device)
{
    for_devices(check_device);
}

static void check_steady(tml_context *tml)
{
    tml_subdivider *subdivider = prepare(tml, MESH_TORUS);
    frame f;
    frame_open(tml, ROOM, ROOM, VALUES_ROOM, &f);
    f.adaptive.criterion = TML_SPLIT_PIXELS;
    f.adaptive.threshold = 6.0f;
    size_t size = SCRATCH_OF(tml, tml_subdivide_adaptive_enqueue(subdivider, &f.adaptive));
    CHECK_OK(tml, tml_reserve(tml, size));
    for (uint32_t turn = 0; turn < 5; turn++) {
        frame_look(tml, &f, turn);
        frame_soil(tml, &f);
        CHECK_OK(tml, tml_sync(tml));
        uint64_t before = allocations;
        CHECK_OK(tml, tml_subdivide_adaptive_enqueue(subdivider, &f.adaptive));
        if (turn > 0) /* the first one makes pipelines */
            CHECK_EQ_U64(allocations, before);
        CHECK_EQ_U64(test_reserved(tml), size);
    }
    check_against(tml, subdivider, &f, 0, 0);
    frame_close(tml, &f);
    tml_subdivider_destroy(tml, subdivider);
}

TEST(a_steady_frame_allocates_nothing)
{
    for_devices(check_steady);
}

TEST(bad_frames_are_refused)
{
    tml_context *tml = open_cpu(1);
    tml_subdivider *subdivider = prepare(tml, MESH_TORUS);
    frame f;
    frame_open(tml, ROOM, ROOM, VALUES_ROOM, &f);
    f.adaptive.threshold = 0.5f;
    const frame good = f;
#define REFUSE(change, status, word)                                                               \
    do {                                                                                           \
        f = good;                                                                                  \
        change;                                                                                    \
        CHECK_STATUS(tml_subdivide_adaptive_enqueue(subdivider, &f.adaptive), status);             \
        CHECK(strstr(tml_last_error(tml), word) != NULL);                                          \
        CHECK_EQ_U64(SCRATCH_OF(tml, tml_subdivide_adaptive_enqueue(subdivider, &f.adaptive)), 0);     \
    } while (0)
    const tml_buffer none = {0, 0};
    REFUSE(f.adaptive.budget = 9000, TML_ERROR_UNSUPPORTED, "budget");
    REFUSE(f.adaptive.threshold = 0, TML_ERROR_INVALID_ARGUMENT, "threshold");
    REFUSE(f.adaptive.buffers.mesh.normals = none, TML_ERROR_INVALID_ARGUMENT,
           "desc.buffers.mesh.normals is not given");
    REFUSE((f.adaptive.criterion = TML_SPLIT_PIXELS, f.adaptive.camera_buffer = none),
           TML_ERROR_INVALID_HANDLE, "desc.camera_buffer");
    REFUSE((f.adaptive.criterion = TML_SPLIT_PIXELS,
            f.adaptive.camera_buffer = f.adaptive.buffers.mesh.indices),
           TML_ERROR_INVALID_ARGUMENT, "desc.camera_buffer");
    REFUSE(f.adaptive.counts = f.adaptive.camera_buffer, TML_ERROR_INVALID_ARGUMENT, "desc.counts");
    REFUSE(f.adaptive.draw = f.adaptive.counts, TML_ERROR_INVALID_ARGUMENT, "desc.draw");
    REFUSE(f.adaptive.buffers.mesh.normals = f.adaptive.buffers.mesh.positions,
           TML_ERROR_INVALID_ARGUMENT, "overlap");
    REFUSE(f.adaptive.level_triangles = 3, TML_ERROR_INVALID_ARGUMENT, "level_triangles");
    f = good;
    frame_close(tml, &f);
    tml_subdivider_destroy(tml, subdivider);
    tml_close(tml);
}

/* ---- recorded -------------------------------------------------------------------------------- */

#ifdef TML_VULKAN
/* Uniform subdivision is recorded once its levels and all its buffers are there. */
TEST(a_recorded_uniform_mesh_follows_its_vertices)
{
    tml_context *tml = host_lend((tml_allocator){counted_alloc, counted_free, &allocations});
    if (!tml)
        SKIP("no Vulkan device");
    tml_subdivider *subdivider = prepare(tml, MESH_OPEN_CREASED);
    tml_subdivide_uniform_desc desc = {.levels = 2, .limit = true, .normals = true};
    tml_subdivide_result made, again;
    CHECK_OK(tml, tml_subdivide_uniform_enqueue(subdivider, &desc, &made));
    VkCommandBuffer commands = host_commands();
    host_begin(commands);
    CHECK_OK(tml, tml_vulkan_record(tml, commands, NULL, NULL));
    CHECK_STATUS(tml_subdivide_uniform_enqueue(subdivider, &desc, &again),
                 TML_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(tml_last_error(tml), "give every buffer of the mesh") != NULL);
    CHECK_OK(tml, tml_vulkan_record_end(tml));
    CHECK(VK(EndCommandBuffer)(commands) == VK_SUCCESS);
    desc.buffers = made.buffers;
    CHECK_OK(tml, tml_subdivide_uniform_enqueue(subdivider, &desc, &again)); /* pipelines */
    CHECK_OK(tml, tml_sync(tml));
    uint64_t before = allocations;
    host_begin(commands);
    CHECK_OK(tml, tml_vulkan_record(tml, commands, NULL, NULL));
    CHECK_OK(tml, tml_subdivide_uniform_enqueue(subdivider, &desc, &again));
    desc.levels = 1; /* in the same buffers, and its levels are there */
    CHECK_OK(tml, tml_subdivide_uniform_enqueue(subdivider, &desc, &again));
    desc.levels = 2;
    CHECK_OK(tml, tml_subdivide_uniform_enqueue(subdivider, &desc, &again));
    CHECK_OK(tml, tml_vulkan_record_end(tml));
    CHECK(VK(EndCommandBuffer)(commands) == VK_SUCCESS);
    CHECK_EQ_U64(allocations, before);
    for (uint32_t turn = 0; turn < 2; turn++) {
        for (uint32_t i = 0; i < 3 * mesh.vertex_count; i++)
            mesh.positions[i] *= 1.25f;
        tml_buffer moved = buffer_of(tml, TML_VEC(TML_F32, 3), mesh.vertex_count, mesh.positions);
        CHECK_OK(tml, tml_subdivider_move_enqueue(subdivider, moved));
        CHECK_OK(tml, tml_sync(tml));
        host_submit(commands);
        float *here = fetch(tml, made.buffers.mesh.positions, made.vertex_count);
        tml_subdivide_result expected;
        const tml_subdivide_uniform_desc anew = {.levels = 2, .limit = true};
        CHECK_OK(tml, tml_subdivide_uniform_enqueue(subdivider, &anew, &expected));
        float *there = fetch(tml, expected.buffers.mesh.positions, expected.vertex_count);
        CHECK(memcmp(here, there, (size_t)12 * made.vertex_count) == 0);
        free(here);
        free(there);
        tml_subdivide_free(tml, &expected);
        tml_buffer_destroy(tml, moved);
    }
    host_begin(commands);
    CHECK_OK(tml, tml_vulkan_record(tml, commands, NULL, NULL));
    desc.levels = 4;
    CHECK(tml_subdivide_uniform_enqueue(subdivider, &desc, &again) != TML_OK);
    CHECK_OK(tml, tml_vulkan_record_end(tml));
    CHECK(VK(EndCommandBuffer)(commands) == VK_SUCCESS);
    VK(FreeCommandBuffers)(host.device, host.pool, 1, &commands);
    CHECK_OK(tml, tml_vulkan_forget_recordings(tml));
    tml_subdivide_free(tml, &made);
    tml_subdivider_destroy(tml, subdivider);
    host_take_back(tml);
}

/* Recorded once and submitted again and again with other cameras in between, it makes what calls
 * make. */
TEST(a_recorded_frame_follows_its_camera)
{
    tml_context *tml = host_lend((tml_allocator){counted_alloc, counted_free, &allocations});
    if (!tml)
        SKIP("no Vulkan device");
    tml_subdivider *subdivider = prepare(tml, MESH_OPEN_CREASED);
    frame f;
    frame_open(tml, ROOM, ROOM, VALUES_ROOM, &f);
    f.adaptive.criterion = TML_SPLIT_PIXELS;
    f.adaptive.threshold = 4.0f;
    VkCommandBuffer commands = host_commands();
    host_begin(commands);
    CHECK_OK(tml, tml_vulkan_record(tml, commands, NULL, NULL));
    CHECK_STATUS(tml_subdivide_adaptive_enqueue(subdivider, &f.adaptive),
                 TML_ERROR_SCRATCH_TOO_SMALL);
    CHECK_OK(tml, tml_vulkan_record_end(tml));
    CHECK(VK(EndCommandBuffer)(commands) == VK_SUCCESS);
    CHECK_OK(tml, tml_reserve(
                      tml, SCRATCH_OF(tml, tml_subdivide_adaptive_enqueue(subdivider, &f.adaptive))));
    frame_look(tml, &f, 0);
    CHECK_OK(tml, tml_subdivide_adaptive_enqueue(subdivider, &f.adaptive)); /* pipelines */
    CHECK_OK(tml, tml_sync(tml));

    uint64_t before = allocations;
    host_begin(commands);
    CHECK_OK(tml, tml_vulkan_record(tml, commands, NULL, NULL));
    CHECK_OK(tml, tml_subdivide_adaptive_enqueue(subdivider, &f.adaptive));
    CHECK_OK(tml, tml_vulkan_record_end(tml));
    CHECK(VK(EndCommandBuffer)(commands) == VK_SUCCESS);
    CHECK_EQ_U64(allocations, before);
    for (uint32_t turn = 0; turn < 4; turn++) {
        frame_look(tml, &f, turn);
        frame_soil(tml, &f);
        CHECK_OK(tml, tml_sync(tml));
        host_submit(commands);
        check_against(tml, subdivider, &f, 0, 0);
        /* A larger one, whose arrays are others. */
        f.adaptive.level_triangles += 100;
        CHECK_OK(tml, tml_subdivide_adaptive_enqueue(subdivider, &f.adaptive));
        f.adaptive.level_triangles = ROOM;
    }
    VK(FreeCommandBuffers)(host.device, host.pool, 1, &commands);
    CHECK_OK(tml, tml_vulkan_forget_recordings(tml));
    frame_close(tml, &f);
    tml_subdivider_destroy(tml, subdivider);
    host_take_back(tml);
}
#endif

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
