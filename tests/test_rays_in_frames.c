/* Rays in a frame: enqueued, they find what the waiting call does, with their number on the device,
 * without an allocation, and in command buffers of the caller's. test_rays_in_trees.c compares both
 * with a loop over all triangles. */
#include <math.h>
#include <string.h>
#include <trommel/trommel.h>

#include "test.h"

#include "contexts.h"
#ifdef TML_VULKAN
#    include "vulkan_host.h"
#endif

enum { RAYS = 3000, ROOM = 5000, CELLS = 24, CORNERS = 6 * CELLS * CELLS };
static const tml_type vec2_type = TML_VEC(TML_F32, 2), vec3_type = TML_VEC(TML_F32, 3);

/* A sheet of waves, which most rays meet a few times. */
static void wave(float *at, float phase)
{
    static const int square[6][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 1}, {0, 1}};
    for (int i = 0; i < CORNERS; i++) {
        float x = (float)(i / 6 % CELLS + square[i % 6][0]);
        float y = (float)(i / 6 / CELLS + square[i % 6][1]);
        at[3 * i] = x;
        at[3 * i + 1] = y;
        at[3 * i + 2] = 3.0f * sinf(x + phase) + 2.0f * cosf(0.7f * y - phase);
    }
}

typedef struct frame {
    tml_tree_cast_desc cast;
    tml_buffer vertices;
} frame;

static float corners[3 * CORNERS];

static void frame_open(tml_context *tml, tml_tree_cast_want want, frame *f)
{
    static float from[3 * RAYS], way[3 * RAYS];
    uint32_t state = 9, count = RAYS - 7;
    wave(corners, 0);
    for (int i = 0; i < 3 * RAYS; i++) {
        state = state * 1664525u + 1013904223u;
        float part = (float)(state >> 8) * 0x1p-24f;
        from[i] = i % 3 == 2 ? 8 * part - 4 : CELLS * part;
        state = state * 1664525u + 1013904223u;
        way[i] = (float)(state >> 8) * 0x1p-24f - 0.5f;
        if (i % 3 == 2 && i % 5) /* through the sheet, along it */
            way[i] /= 16;
    }
    *f = (frame){.vertices = buffer_of(tml, vec3_type, CORNERS, corners)};
    tml_tree_cast_desc *d = &f->cast;
    CHECK_OK(tml, tml_tree_create(tml, &(tml_tree_desc){.vertices = f->vertices}, &d->tree));
    d->origins = buffer_of(tml, vec3_type, RAYS, from);
    d->directions = buffer_of(tml, vec3_type, RAYS, way);
    d->length.device = buffer_of(tml, TML_U32, 1, &count);
    d->want = want;
    d->hits = buffer_of(tml, TML_U8, RAYS, NULL);
    d->total = buffer_of(tml, TML_U32, 1, NULL);
    if (want == TML_TREE_CAST_COUNT || want == TML_TREE_CAST_ALL)
        d->counts = buffer_of(tml, TML_U32, RAYS, NULL);
    if (want == TML_TREE_CAST_NEAREST)
        d->barycentrics = buffer_of(tml, vec2_type, RAYS, NULL);
    if (want == TML_TREE_CAST_ALL)
        d->rays = buffer_of(tml, TML_U32, ROOM, NULL);
    if (want == TML_TREE_CAST_NEAREST || want == TML_TREE_CAST_ALL) {
        d->triangles = buffer_of(tml, TML_U32, want == TML_TREE_CAST_ALL ? ROOM : RAYS, NULL);
        d->t = buffer_of(tml, TML_F32, want == TML_TREE_CAST_ALL ? ROOM : RAYS, NULL);
    }
    d->unsure = buffer_of(tml, TML_U32, 4, NULL);
    d->unsure_count = buffer_of(tml, TML_U32, 1, NULL);
}

enum { OUTPUTS = 7 };
static void list(const frame *f, tml_buffer out[OUTPUTS])
{
    const tml_tree_cast_desc *d = &f->cast;
    const tml_buffer all[OUTPUTS] = {d->hits, d->total,     d->counts, d->barycentrics,
                                     d->rays, d->triangles, d->t};
    memcpy(out, all, sizeof all);
}

static void frame_close(tml_context *tml, frame *f)
{
    tml_buffer out[OUTPUTS];
    list(f, out);
    for (int i = 0; i < OUTPUTS; i++)
        tml_buffer_destroy(tml, out[i]);
    tml_buffer_destroy(tml, f->cast.origins);
    tml_buffer_destroy(tml, f->cast.directions);
    tml_buffer_destroy(tml, f->cast.length.device);
    tml_buffer_destroy(tml, f->cast.unsure);
    tml_buffer_destroy(tml, f->cast.unsure_count);
    tml_buffer_destroy(tml, f->vertices);
    tml_tree_destroy(tml, f->cast.tree);
}

/* All that the outputs hold, one after the other; the caller frees it. soils: they are overwritten
 * in place of that. */
static uint8_t *bytes_of(tml_context *tml, const frame *f, bool soils, size_t *size)
{
    tml_buffer out[OUTPUTS];
    uint8_t *bytes = malloc(32 * (size_t)ROOM);
    list(f, out);
    *size = 0;
    for (int i = 0; i < OUTPUTS; i++) {
        tml_type type;
        uint64_t count;
        if (!tml_buffer_describe(tml, out[i], &type, &count))
            continue;
        size_t here = (size_t)count * tml_type_size(type);
        if (soils) {
            memset(bytes + *size, 0x5a, here);
            CHECK_OK(tml, tml_buffer_write(tml, out[i], 0, count, bytes + *size));
        } else {
            CHECK_OK(tml, tml_buffer_read(tml, out[i], bytes + *size));
        }
        *size += here;
    }
    return bytes;
}

static void soil(tml_context *tml, const frame *f)
{
    size_t size;
    free(bytes_of(tml, f, true, &size));
    CHECK_OK(tml, tml_sync(tml));
}

/* What was enqueued against a call of the CPU's that waits, with a tree of these corners. */
static void check_against(tml_context *tml, const frame *f)
{
    size_t size, expected_size;
    uint32_t unsure = 1, hits = 0, expected_hits = 0;
    uint8_t *got = bytes_of(tml, f, false, &size);
    tml_context *other = open_cpu(2);
    frame on_host;
    frame_open(other, f->cast.want, &on_host);
    float *moved = fetch(tml, f->vertices, CORNERS);
    CHECK_OK(other, tml_buffer_write(other, on_host.vertices, 0, CORNERS, moved));
    CHECK_OK(other, tml_tree_update(other, on_host.cast.tree, on_host.vertices, TML_TREE_REFIT));
    soil(other, &on_host);
    CHECK_OK(other, tml_tree_cast(other, &on_host.cast));
    uint8_t *expected = bytes_of(other, &on_host, false, &expected_size);
    CHECK_EQ_U64(size, expected_size);
    CHECK(memcmp(got, expected, size) == 0);
    CHECK_OK(tml, tml_buffer_read(tml, f->cast.total, &hits));
    CHECK_OK(other, tml_buffer_read(other, on_host.cast.total, &expected_hits));
    CHECK_EQ_U64(hits, expected_hits);
    CHECK(hits > RAYS / 4);
    CHECK_OK(tml, tml_buffer_read(tml, f->cast.unsure_count, &unsure));
    CHECK_EQ_U64(unsure, 0);
    frame_close(other, &on_host);
    tml_close(other);
    free(moved);
    free(got);
    free(expected);
}

/* ---- every engine ---------------------------------------------------------------------------- */

static uint64_t allocations;

static tml_context *open_counted(tml_engine_kind engine)
{
    tml_context *tml = NULL;
    const tml_open_desc desc = {
        .engine = engine, .threads = 2, .allocator = {counted_alloc, counted_free, &allocations}};
    return tml_open(&desc, &tml) == TML_OK ? tml : NULL;
}

/* Frames whose mesh moves, too: from the second one on nothing is allocated. */
static void check_steady(tml_engine_kind engine)
{
    tml_context *tml = open_counted(engine);
    if (!tml)
        SKIP("no such device here");
    for (int want = TML_TREE_CAST_NEAREST; want <= TML_TREE_CAST_ALL; want++) {
        frame f;
        frame_open(tml, (tml_tree_cast_want)want, &f);
        CHECK_OK(tml, tml_tree_update_enqueue(tml, f.cast.tree, f.vertices, TML_TREE_REFIT));
        size_t size = SCRATCH_OF(tml, tml_tree_cast_enqueue(tml, &f.cast));
        CHECK(size > 0 || engine == TML_ENGINE_CPU);
        CHECK_OK(tml, tml_reserve(tml, size > test_reserved(tml) ? size : test_reserved(tml)));
        size = test_reserved(tml);
        for (int turn = 0; turn < 3; turn++) {
            wave(corners, 0.3f * (float)turn);
            CHECK_OK(tml, tml_buffer_write(tml, f.vertices, 0, CORNERS, corners));
            soil(tml, &f);
            uint64_t before = allocations;
            CHECK_OK(tml, tml_tree_update_enqueue(tml, f.cast.tree, f.vertices, TML_TREE_REFIT));
            CHECK_OK(tml, tml_tree_cast_enqueue(tml, &f.cast));
            CHECK_OK(tml, tml_tree_cast_enqueue(tml, &f.cast));
            if (turn > 0) /* the first one makes pipelines */
                CHECK_EQ_U64(allocations, before);
            CHECK_EQ_U64(test_reserved(tml), size);
            check_against(tml, &f);
        }
        frame_close(tml, &f);
    }
    tml_close(tml);
}

TEST(a_steady_frame_allocates_nothing)
{
    check_steady(TML_ENGINE_CPU);
}

TEST(a_steady_frame_allocates_nothing_on_vulkan)
{
    check_steady(TML_ENGINE_VULKAN);
}

/* A tree of no triangles, no rays, and rays that the device cannot follow, of which the list has
 * room for the first. */
static void check_edges(tml_engine_kind engine)
{
    tml_context *tml = open_counted(engine);
    if (!tml)
        SKIP("no such device here");
    for (int want = TML_TREE_CAST_NEAREST; want <= TML_TREE_CAST_ALL; want++) {
        frame f;
        uint32_t total = 7, unsure = 7, listed[4] = {9, 9, 9, 9};
        uint8_t hits[RAYS];
        frame_open(tml, (tml_tree_cast_want)want, &f);
        const float far[3] = {0x1p60f, 1, 1};
        for (uint32_t i = 0; i < 5; i++)
            CHECK_OK(tml, tml_buffer_write(tml, f.cast.origins, 10 + 3 * i, 1, far));
        CHECK_OK(tml, tml_tree_cast_enqueue(tml, &f.cast));
        CHECK_OK(tml, tml_buffer_read(tml, f.cast.unsure_count, &unsure));
        CHECK_OK(tml, tml_buffer_read(tml, f.cast.unsure, listed));
        CHECK_EQ_U64(unsure, engine == TML_ENGINE_CPU ? 0 : 5);
        for (uint32_t i = 0; i < 4 && unsure; i++)
            CHECK_EQ_U64(listed[i], 10 + 3 * i);

        f.cast.length.device = (tml_buffer){0, 0};
        f.cast.length = tml_length_of(0);
        CHECK_OK(tml, tml_tree_cast_enqueue(tml, &f.cast));
        CHECK_OK(tml, tml_buffer_read(tml, f.cast.total, &total));
        CHECK_OK(tml, tml_buffer_read(tml, f.cast.unsure_count, &unsure));
        CHECK(total == 0 && unsure == 0);

        tml_tree *tree = f.cast.tree, *empty = NULL;
        tml_buffer none = buffer_of(tml, vec3_type, 0, NULL);
        CHECK_OK(tml, tml_tree_create(tml, &(tml_tree_desc){.vertices = none}, &empty));
        f.cast.tree = empty;
        f.cast.length = tml_length_of(5);
        CHECK_OK(tml, tml_tree_cast_enqueue(tml, &f.cast));
        CHECK_OK(tml, tml_buffer_read(tml, f.cast.total, &total));
        CHECK_OK(tml, tml_buffer_read(tml, f.cast.hits, hits));
        CHECK(total == 0 && hits[0] == 0 && hits[4] == 0);
        f.cast.tree = tree;
        tml_tree_destroy(tml, empty);
        tml_buffer_destroy(tml, none);
        frame_close(tml, &f);
    }
    tml_close(tml);
}

TEST(edges)
{
    check_edges(TML_ENGINE_CPU);
}

TEST(edges_on_vulkan)
{
    check_edges(TML_ENGINE_VULKAN);
}

TEST(what_is_refused)
{
    tml_context *tml = open_cpu(1);
    frame f;
    frame_open(tml, TML_TREE_CAST_NEAREST, &f);
    const frame good = f;
#define REFUSE(change, word)                                                                       \
    do {                                                                                           \
        f = good;                                                                                  \
        change;                                                                                    \
        CHECK_STATUS(tml_tree_cast_enqueue(tml, &f.cast), TML_ERROR_INVALID_ARGUMENT);             \
        CHECK(strstr(tml_last_error(tml), word) != NULL);                                          \
        CHECK(strstr(tml_last_error(tml), "tml_tree_cast_enqueue") != NULL);                       \
        CHECK_EQ_U64(SCRATCH_OF(tml, tml_tree_cast_enqueue(tml, &f.cast)), 0);                     \
    } while (0)
    REFUSE(f.cast.tree = NULL, "desc.tree");
    REFUSE(f.cast.unsure = f.cast.t, "desc.unsure");
    REFUSE(f.cast.unsure = f.cast.triangles, "overlap");
    REFUSE(f.cast.unsure_count = f.cast.unsure, "overlap");
    REFUSE(f.cast.counts = f.cast.triangles, "desc.counts");
    f = good;
    frame_close(tml, &f);
    tml_close(tml);
}

#ifdef TML_VULKAN
/* Recorded once, with a refit before, and submitted with other vertices and another number of
 * rays. */
TEST(recorded)
{
    tml_context *tml = host_lend((tml_allocator){counted_alloc, counted_free, &allocations});
    if (!tml)
        SKIP("no Vulkan device");
    for (int want = TML_TREE_CAST_NEAREST; want <= TML_TREE_CAST_ALL; want += 3) {
        frame f;
        frame_open(tml, (tml_tree_cast_want)want, &f);
        VkCommandBuffer commands = host_commands();
        host_begin(commands);
        CHECK_OK(tml, tml_vulkan_record(tml, commands, NULL, NULL));
        CHECK_STATUS(tml_tree_cast_enqueue(tml, &f.cast), TML_ERROR_INVALID_ARGUMENT);
        CHECK(strstr(tml_last_error(tml), "tml_prepare_begin") != NULL);
        CHECK_OK(tml, tml_vulkan_record_end(tml));
        CHECK(VK(EndCommandBuffer)(commands) == VK_SUCCESS);
        tml_prepared prepared;
        CHECK_OK(tml, tml_prepare_begin(tml));
        CHECK_OK(tml, tml_tree_update_enqueue(tml, f.cast.tree, f.vertices, TML_TREE_REFIT));
        CHECK_OK(tml, tml_tree_cast_enqueue(tml, &f.cast));
        CHECK_OK(tml, tml_prepare_end(tml, &prepared));
        CHECK_OK(tml, tml_reserve(tml, prepared.scratch_size));
        uint64_t before = allocations;
        host_begin(commands);
        CHECK_OK(tml, tml_vulkan_record(tml, commands, NULL, NULL));
        CHECK_STATUS(tml_tree_cast(tml, &f.cast), TML_ERROR_INVALID_ARGUMENT);
        CHECK_OK(tml, tml_tree_update_enqueue(tml, f.cast.tree, f.vertices, TML_TREE_REFIT));
        CHECK_OK(tml, tml_tree_cast_enqueue(tml, &f.cast));
        CHECK_OK(tml, tml_vulkan_record_end(tml));
        CHECK(VK(EndCommandBuffer)(commands) == VK_SUCCESS);
        CHECK_EQ_U64(allocations, before);
        for (int turn = 0; turn < 3; turn++) {
            wave(corners, (float)turn);
            CHECK_OK(tml, tml_buffer_write(tml, f.vertices, 0, CORNERS, corners));
            soil(tml, &f);
            host_submit(commands);
            check_against(tml, &f);
        }
        VK(FreeCommandBuffers)(host.device, host.pool, 1, &commands);
        CHECK_OK(tml, tml_vulkan_forget_recordings(tml));
        frame_close(tml, &f);
    }
    host_take_back(tml);
}
#endif

/* OpenGL has no rays in a frame, and says so. */
TEST(opengl)
{
    tml_context *tml = open_counted(TML_ENGINE_GL);
    if (!tml)
        SKIP("no such device here");
    frame f;
    frame_open(tml, TML_TREE_CAST_ANY, &f);
    CHECK_STATUS(tml_tree_cast_enqueue(tml, &f.cast), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), "tml_tree_cast") != NULL);
    CHECK_EQ_U64(SCRATCH_OF(tml, tml_tree_cast_enqueue(tml, &f.cast)), 0);
    frame_close(tml, &f);
    tml_close(tml);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
