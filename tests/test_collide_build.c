/* Trees that the device builds and refits: what they answer, against every pair tried and trees of
 * the host. */
#include <trommel/trommel.h>

#include "collide/collide_internal.h"
#include "exact/exact.h"
#include "test.h"

#include "contexts.h"
#ifdef TML_VULKAN
#    include "vulkan_host.h"
#endif

static uint32_t random_state = 1;
static double random_unit(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (double)(random_state >> 8) * 0x1p-24;
}

/* Triangles without shared vertices, three corners each. */
typedef struct soup {
    float *at; /* count x 9 */
    uint32_t count;
} soup;

/* Scattered ones of that size; all in one place where spread is 0; without area where is_flat. */
static soup soup_make(uint32_t count, float size, float spread, bool is_flat)
{
    soup s = {malloc(((size_t)9 * count + 1) * sizeof(float)), count};
    for (uint32_t t = 0; t < count; t++) {
        float middle[3];
        for (int k = 0; k < 3; k++)
            middle[k] = spread * (float)random_unit();
        for (int i = 0; i < 9; i++)
            s.at[9 * (size_t)t + i] = middle[i % 3] + size * (float)random_unit();
        if (is_flat && t % 3 == 0)
            memcpy(s.at + 9 * (size_t)t + 6, s.at + 9 * (size_t)t, 3 * sizeof(float));
        if (spread == 0 && t > 0)
            memcpy(s.at + 9 * (size_t)t, s.at, 9 * sizeof(float));
    }
    return s;
}

static void soup_move(soup *s, float by)
{
    for (size_t i = 0; i < (size_t)9 * s->count; i++)
        s->at[i] += by * sinf((float)(i / 9) + (float)(i % 3));
}

/* A tube about an axis, waved. */
static soup tube_make(uint32_t around, uint32_t along)
{
    soup s = {malloc((size_t)18 * around * along * sizeof(float)), 2 * around * along};
    float *out = s.at;
    for (uint32_t i = 0; i < along; i++)
        for (uint32_t j = 0; j < around; j++)
            for (uint32_t corner = 0; corner < 6; corner++) {
                static const uint32_t steps[6][2] = {{0, 0}, {1, 0}, {1, 1},
                                                     {0, 0}, {1, 1}, {0, 1}};
                double x = (double)(i + steps[corner][0]) / along;
                double angle =
                    6.283185307179586 * (double)((j + steps[corner][1]) % around) / around;
                double radius = 0.3 + 0.05 * sin(20 * x) * cos(3 * angle);
                *out++ = (float)(3 * x);
                *out++ = (float)(radius * cos(angle));
                *out++ = (float)(radius * sin(angle));
            }
    return s;
}

static tml_buffer buffer_with(tml_context *tml, tml_type type, uint64_t count, const void *data)
{
    tml_buffer buffer = {0, 0};
    CHECK_OK(tml,
             tml_buffer_create(tml, &(tml_buffer_desc){.type = type, .count = count, .data = data},
                               &buffer));
    return buffer;
}

static tml_buffer vertices_of(tml_context *tml, const soup *s)
{
    return buffer_with(tml, TML_VEC(TML_F32, 3), 3 * (uint64_t)s->count, s->at);
}

static tml_tree *tree_of(tml_context *tml, const soup *s, bool on_device)
{
    tml_tree *tree = NULL;
    tml_buffer vertices = vertices_of(tml, s);
    CHECK_OK(tml, tml_tree_create(
                      tml, &(tml_tree_desc){.vertices = vertices, .on_device = on_device}, &tree));
    tml_buffer_destroy(tml, vertices);
    return tree;
}

/* ---- comparisons ----------------------------------------------------------------------------- */

static const float turned[12] = {0.8f, -0.6f, 0, 0.05f, 0.6f, 0.8f, 0, -0.02f, 0, 0, 1, 0.03f};

static void posed(const float *own, float out[9])
{
    for (int i = 0; i < 9; i++) {
        const float *m = turned + 4 * (i % 3), *p = own + i - i % 3;
        out[i] = ((m[0] * p[0] + m[1] * p[1]) + m[2] * p[2]) + m[3];
    }
}

/* Are the results all pairs of a and turned b, each tried? */
static void check_every_pair(const soup *a, const soup *b, const tml_collide_result *found)
{
    uint64_t next = 0;
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < b->count; k++) {
            float at[9];
            posed(b->at + 9 * (size_t)k, at);
            tml_collide_class kind = collide_exact(a->at + 9 * (size_t)i, at, NULL);
            if (kind == TML_COLLIDE_CLASS_NONE)
                continue;
            const tml_collide_pair *pair = next < found->count ? &found->pairs[next] : NULL;
            CHECK(pair && pair->a == i && pair->b == k && pair->kind == kind);
            next++;
        }
    CHECK_EQ_U64(found->count, next);
}

static void check_same(const tml_collide_result *x, const tml_collide_result *y)
{
    CHECK_EQ_U64(x->count, y->count);
    if (x->count == y->count && x->count > 0)
        CHECK(memcmp(x->pairs, y->pairs, (size_t)x->count * sizeof *x->pairs) == 0);
}

static tml_collide_result pairs_of(tml_context *tml, tml_tree *a, tml_tree *b,
                                   tml_collide_method method)
{
    tml_collide_result result = {.count = 0};
    CHECK_OK(tml, tml_collide(tml,
                              &(tml_collide_desc){.a = a,
                                                  .b = b,
                                                  .poses = b ? turned : NULL,
                                                  .pose_count = b ? 1 : 0,
                                                  .method = method},
                              &result));
    return result;
}

/* Every slot's triangle once, its corners at its place, boxes about them, and bounds as told before
 * they were made. */
static void check_tree(tml_context *tml, tml_tree *tree, const soup *s)
{
    uint8_t *seen = calloc(s->count + 1, 1);
    CHECK_OK(tml, tree_fetch(tml, "test", tree, COLLIDE_STALE_SIZES));
    float bounds[2][3];
    double sizes[COLLIDE_LEVELS_MAX + 1];
    memcpy(bounds[0], tree->lower, sizeof bounds[0]);
    memcpy(bounds[1], tree->upper, sizeof bounds[1]);
    memcpy(sizes, tree->level_size, sizeof sizes);
    CHECK_OK(tml, tree_fetch(tml, "test", tree, COLLIDE_STALE_ALL));
    for (uint32_t slot = 0; tree->levels && slot < tree->level_count[0]; slot++) {
        uint32_t id = tree->ids[slot];
        float at[9];
        if (id == COLLIDE_NO_TRIANGLE)
            continue;
        CHECK(id < s->count && !seen[id]);
        seen[id < s->count ? id : 0] = 1;
        tree_triangle(tree, slot, at);
        CHECK(memcmp(at, s->at + 9 * (size_t)id, sizeof at) == 0);
    }
    for (uint32_t t = 0; t < s->count; t++)
        CHECK(seen[t]);
    CHECK(memcmp(bounds[0], tree->lower, sizeof bounds[0]) == 0);
    CHECK(memcmp(bounds[1], tree->upper, sizeof bounds[1]) == 0);
    CHECK(memcmp(sizes, tree->level_size, sizeof sizes) == 0);
    free(seen);
}

/* A tree of the device against the host's of the same triangles: what it holds, the pairs with b
 * and with itself, and the work for them. Fetched before or after the stream has gone over it. */
static void check_answers(tml_context *tml, tml_tree *tree, const soup *s, bool is_fetched)
{
    tml_tree *mine = tree_of(tml, s, false), *b = tree_of(tml, s, false);
    if (is_fetched)
        check_tree(tml, tree, s);
    tml_collide_result expected = pairs_of(tml, mine, b, TML_COLLIDE_METHOD_DEPTH_FIRST);
    tml_collide_result broad = pairs_of(tml, tree, b, TML_COLLIDE_METHOD_BREADTH_FIRST);
    tml_collide_result turned_round = pairs_of(tml, b, tree, TML_COLLIDE_METHOD_BREADTH_FIRST);
    tml_collide_result self = pairs_of(tml, tree, NULL, TML_COLLIDE_METHOD_BREADTH_FIRST);
    tml_collide_result host_self = pairs_of(tml, mine, NULL, TML_COLLIDE_METHOD_DEPTH_FIRST);
    tml_collide_result deep = pairs_of(tml, tree, b, TML_COLLIDE_METHOD_DEPTH_FIRST);
    if (s->count <= 150)
        check_every_pair(s, s, &expected);
    check_same(&broad, &expected);
    check_same(&deep, &expected);
    check_same(&self, &host_self);
    CHECK_EQ_U64(turned_round.count, expected.count);
    CHECK_EQ_U64(deep.node_pairs, broad.node_pairs);
    check_tree(tml, tree, s);
    tml_collide_result *all[] = {&expected, &broad, &turned_round, &self, &host_self, &deep};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tml_collide_free(tml, all[i]);
    tml_tree_destroy(tml, mine);
    tml_tree_destroy(tml, b);
}

static tml_context *open_engine(tml_engine_kind engine)
{
    tml_context *tml = NULL;
    return tml_open(&(tml_open_desc){.engine = engine}, &tml) == TML_OK ? tml : NULL;
}

static void check_same_bytes(tml_context *tml, const tml_tree *a, const tml_tree *b)
{
    const tml_tree *const trees[2] = {a, b};
    void *bytes[2];
    size_t sizes[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        CHECK_OK(tml, tml_tree_save(tml, trees[i], NULL, &sizes[i]));
        bytes[i] = malloc(sizes[i]);
        CHECK_OK(tml, tml_tree_save(tml, trees[i], bytes[i], &sizes[i]));
    }
    CHECK(sizes[0] == sizes[1] && memcmp(bytes[0], bytes[1], sizes[0]) == 0);
    free(bytes[0]);
    free(bytes[1]);
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* Built, refitted where it moved, built again where it moved further. */
static void check_life(tml_context *tml, soup s)
{
    tml_tree *tree = tree_of(tml, &s, true);
    if (!tree)
        return;
    check_answers(tml, tree, &s, false);
    for (int i = 0; i < 4; i++) {
        soup_move(&s, 0.1f);
        tml_buffer vertices = vertices_of(tml, &s);
        CHECK_OK(tml, tml_tree_update_enqueue(tml, tree, vertices,
                                              i % 2 ? TML_TREE_REBUILD : TML_TREE_REFIT));
        check_answers(tml, tree, &s, i >= 2);
        tml_buffer_destroy(tml, vertices);
    }
    tml_buffer vertices = vertices_of(tml, &s); /* back on the host, and on the device again */
    CHECK_OK(tml, tml_tree_update_enqueue(tml, tree, vertices, TML_TREE_REBUILD));
    CHECK_OK(tml, tml_tree_update(tml, tree, vertices, TML_TREE_REFIT));
    check_answers(tml, tree, &s, false);
    CHECK_OK(tml, tml_tree_update_enqueue(tml, tree, vertices, TML_TREE_REFIT));
    check_answers(tml, tree, &s, false);
    tml_tree *anew = tree_of(tml, &s, false); /* what a waiting rebuild makes, too */
    CHECK_OK(tml, tml_tree_update(tml, tree, vertices, TML_TREE_REBUILD));
    check_same_bytes(tml, tree, anew);
    check_answers(tml, tree, &s, false);
    CHECK_STATUS(tml_tree_update(tml, tree, vertices, (tml_tree_method)2),
                 TML_ERROR_INVALID_ARGUMENT);
    tml_buffer_destroy(tml, vertices);
    tml_tree_destroy(tml, anew);
    tml_tree_destroy(tml, tree);
    free(s.at);
}

static void check_sizes(tml_engine_kind engine)
{
    static const uint32_t counts[] = {0, 1, 2, 7, 8, 9, 16, 17, 63, 64, 65, 127, 513, 1031};
    tml_context *tml = open_engine(engine);
    if (!tml)
        SKIP("no such device here");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        check_life(tml, soup_make(counts[i], 0.2f, 1, true));
    check_life(tml, soup_make(100, 0.2f, 0, false));
    tml_close(tml);
}

/* Trees of the host that the device takes over. */
static void check_taken_over(tml_engine_kind engine)
{
    tml_context *tml = open_engine(engine);
    if (!tml)
        SKIP("no such device here");
    for (int i = 0; i < 2; i++) {
        soup s = soup_make(700, 0.1f, 1, false);
        tml_tree *tree = tree_of(tml, &s, false);
        soup_move(&s, 0.2f);
        tml_buffer vertices = vertices_of(tml, &s);
        CHECK_OK(tml, tml_tree_update_enqueue(tml, tree, vertices,
                                              i ? TML_TREE_REBUILD : TML_TREE_REFIT));
        check_answers(tml, tree, &s, false);
        CHECK_OK(tml, tml_tree_update_enqueue(tml, tree, vertices, TML_TREE_REBUILD));
        size_t size = 0;
        CHECK_OK(tml, tml_tree_save(tml, tree, NULL, &size));
        void *bytes = malloc(size);
        tml_tree *loaded = NULL;
        CHECK_OK(tml, tml_tree_save(tml, tree, bytes, &size));
        if (CHECK_OK(tml, tml_tree_load(tml, bytes, size, &loaded)))
            check_answers(tml, loaded, &s, false);
        tml_collide_distance_result distance = {.distance = -1};
        CHECK_OK(tml, tml_tree_update_enqueue(tml, tree, vertices, TML_TREE_REBUILD));
        CHECK_OK(tml, tml_collide_distance(
                          tml, &(tml_collide_distance_desc){.a = tree, .b = loaded}, &distance));
        CHECK(distance.distance == 0);
        free(bytes);
        tml_tree_destroy(tml, loaded);
        tml_tree_destroy(tml, tree);
        tml_buffer_destroy(tml, vertices);
        free(s.at);
    }
    tml_close(tml);
}

/* Indices of 32 and 64 bits, of which some are broken, as vertices are. */
static void check_broken(tml_engine_kind engine)
{
    enum { TRIANGLES = 300 };
    tml_context *tml = open_engine(engine);
    if (!tml)
        SKIP("no such device here");
    soup s = soup_make(TRIANGLES, 0.2f, 1, false);
    uint64_t wide[3 * TRIANGLES];
    uint32_t narrow[3 * TRIANGLES];
    for (uint32_t i = 0; i < 3 * TRIANGLES; i++)
        wide[i] = narrow[i] = 3 * TRIANGLES - 1 - i;
    narrow[7] = 3 * TRIANGLES, narrow[30] = UINT32_MAX;
    wide[7] = 3 * TRIANGLES, wide[30] = (uint64_t)1 << 32;
    s.at[100] = NAN, s.at[200] = -INFINITY, s.at[300] = 0x1.01p100f;
    tml_buffer vertices = vertices_of(tml, &s);
    for (int is_wide = 0; is_wide < 2; is_wide++) {
        tml_tree_desc desc = {.vertices = vertices, .on_device = true};
        desc.indices = is_wide ? buffer_with(tml, TML_VEC(TML_U64, 3), TRIANGLES, wide)
                               : buffer_with(tml, TML_VEC(TML_U32, 3), TRIANGLES, narrow);
        tml_tree *device = NULL, *mine = NULL;
        char message[512];
        CHECK_STATUS(tml_tree_create(tml, &desc, &device), TML_ERROR_INVALID_ARGUMENT);
        snprintf(message, sizeof message, "%s", tml_last_error(tml));
        desc.on_device = false;
        CHECK_STATUS(tml_tree_create(tml, &desc, &mine), TML_ERROR_INVALID_ARGUMENT);
        CHECK_STR(message, tml_last_error(tml));
        desc.skip_broken = true;
        CHECK_OK(tml, tml_tree_create(tml, &desc, &mine));
        desc.on_device = true;
        CHECK_OK(tml, tml_tree_create(tml, &desc, &device));
        tml_tree_info infos[2];
        tml_tree_describe(mine, &infos[0]);
        tml_tree_describe(device, &infos[1]);
        CHECK(infos[0].broken_count == 5 && infos[1].broken_count == 5);
        CHECK_EQ_U64(infos[1].vertex_count, infos[0].vertex_count);
        CHECK_EQ_U64(infos[1].triangle_count, infos[0].triangle_count);
        CHECK_EQ_U64(infos[1].depth, infos[0].depth);
        CHECK_EQ_U64(infos[1].memory, infos[0].memory);
        CHECK(memcmp(infos[0].lower, infos[1].lower, sizeof infos[0].lower) == 0 &&
              memcmp(infos[0].upper, infos[1].upper, sizeof infos[0].upper) == 0);
        tml_collide_result results[2] = {
            pairs_of(tml, mine, mine, TML_COLLIDE_METHOD_DEPTH_FIRST),
            pairs_of(tml, device, device, TML_COLLIDE_METHOD_BREADTH_FIRST)};
        CHECK(results[0].count > 10);
        check_same(&results[0], &results[1]);
        tml_collide_free(tml, &results[0]);
        tml_collide_free(tml, &results[1]);
        tml_tree_destroy(tml, mine);
        tml_tree_destroy(tml, device);
        tml_buffer_destroy(tml, desc.indices);
    }
    tml_buffer_destroy(tml, vertices);
    free(s.at);
    tml_close(tml);
}

/* Vertices that go bad under a tree, and mend. */
static void check_gone_bad(tml_engine_kind engine)
{
    static const float bad[] = {NAN, INFINITY, -0x1.01p100f};
    tml_context *tml = open_engine(engine);
    if (!tml)
        SKIP("no such device here");
    soup s = soup_make(200, 0.2f, 1, false);
    tml_tree *tree = tree_of(tml, &s, true);
    for (int i = 0; i < 6; i++) {
        float was = s.at[9 * 77 + 4];
        s.at[9 * 77 + 4] = bad[i / 2];
        tml_buffer vertices = vertices_of(tml, &s);
        CHECK_OK(tml, tml_tree_update_enqueue(tml, tree, vertices,
                                              i % 2 ? TML_TREE_REBUILD : TML_TREE_REFIT));
        tml_buffer_destroy(tml, vertices);
        tml_collide_result result;
        for (int method = 0; method <= TML_COLLIDE_METHOD_BREADTH_FIRST; method++) {
            CHECK_STATUS(
                tml_collide(tml,
                            &(tml_collide_desc){.a = tree, .method = (tml_collide_method)method},
                            &result),
                TML_ERROR_INVALID_ARGUMENT);
            CHECK(strstr(tml_last_error(tml), "vertex 232, corner 1 of triangle 77") != NULL);
        }
        s.at[9 * 77 + 4] = was;
        vertices = vertices_of(tml, &s);
        CHECK_OK(tml, tml_tree_update_enqueue(tml, tree, vertices,
                                              i % 2 ? TML_TREE_REFIT : TML_TREE_REBUILD));
        check_answers(tml, tree, &s, false);
        tml_buffer_destroy(tml, vertices);
    }
    tml_tree_destroy(tml, tree);
    free(s.at);
    tml_close(tml);
}

/* As good as the host's, by the pairs of boxes that meet. */
static void check_quality(tml_engine_kind engine)
{
    tml_context *tml = open_engine(engine);
    if (!tml)
        SKIP("no such device here");
    soup soups[] = {tube_make(64, 96), soup_make(5000, 0.03f, 1, false)};
    for (int i = 0; i < 2; i++) {
        tml_tree *mine = tree_of(tml, &soups[i], false), *device = tree_of(tml, &soups[i], true);
        tml_collide_result x = pairs_of(tml, mine, mine, TML_COLLIDE_METHOD_DEPTH_FIRST);
        tml_collide_result y = pairs_of(tml, device, device, TML_COLLIDE_METHOD_BREADTH_FIRST);
        check_same(&x, &y);
        CHECK(x.count > 10 && 100 * y.node_pairs <= 115 * x.node_pairs);
        if (getenv("TML_VERBOSE"))
            printf("node pairs: %" PRIu64 " host, %" PRIu64 " device\n", x.node_pairs,
                   y.node_pairs);
        tml_collide_free(tml, &x);
        tml_collide_free(tml, &y);
        tml_tree_destroy(tml, mine);
        tml_tree_destroy(tml, device);
        free(soups[i].at);
    }
    tml_close(tml);
}

/* One outlier, far away: as sharp an order as without it. */
static void check_far(tml_engine_kind engine)
{
    tml_context *tml = open_engine(engine);
    if (!tml)
        SKIP("no such device here");
    soup s = soup_make(2000, 0.05f, 1, false);
    for (int i = 0; i < 9; i++)
        s.at[i] = s.at[i] * 0x1p90f;
    tml_tree *mine = tree_of(tml, &s, false), *device = tree_of(tml, &s, true);
    tml_collide_result x = pairs_of(tml, mine, NULL, TML_COLLIDE_METHOD_DEPTH_FIRST);
    tml_collide_result y = pairs_of(tml, device, NULL, TML_COLLIDE_METHOD_BREADTH_FIRST);
    check_same(&x, &y);
    CHECK(100 * y.node_pairs <= 115 * x.node_pairs);
    tml_collide_free(tml, &x);
    tml_collide_free(tml, &y);
    tml_tree_destroy(tml, mine);
    tml_tree_destroy(tml, device);
    free(s.at);
    tml_close(tml);
}

#ifdef TML_VULKAN
static uint64_t allocations;

/* Recorded once and submitted with other vertices: each call sees what the last submission
 * built. */
TEST(recorded)
{
    tml_context *tml = host_lend((tml_allocator){counted_alloc, counted_free, &allocations});
    if (!tml)
        SKIP("no Vulkan device");
    soup s = soup_make(600, 0.1f, 1, false);
    tml_tree *tree = tree_of(tml, &s, false);
    tml_buffer vertices = vertices_of(tml, &s);
    VkCommandBuffer commands = host_commands();
    for (int is_build = 0; is_build < 2; is_build++) {
        host_begin(commands);
        CHECK_OK(tml, tml_vulkan_record(tml, commands, NULL, NULL));
        CHECK_STATUS(tml_tree_update_enqueue(tml, tree, vertices,
                                             is_build ? TML_TREE_REBUILD : TML_TREE_REFIT),
                     TML_ERROR_INVALID_ARGUMENT);
        CHECK(strstr(tml_last_error(tml), "before tml_vulkan_record") != NULL);
        CHECK_OK(tml, tml_vulkan_record_end(tml));
        CHECK(VK(EndCommandBuffer)(commands) == VK_SUCCESS);
        CHECK_OK(tml, tml_tree_update_enqueue(tml, tree, vertices,
                                              is_build ? TML_TREE_REBUILD : TML_TREE_REFIT));
        CHECK_OK(tml, tml_sync(tml));
        uint64_t before = allocations;
        host_begin(commands);
        CHECK_OK(tml, tml_vulkan_record(tml, commands, NULL, NULL));
        CHECK_OK(tml, tml_tree_update_enqueue(tml, tree, vertices,
                                              is_build ? TML_TREE_REBUILD : TML_TREE_REFIT));
        CHECK_OK(tml, tml_vulkan_record_end(tml));
        CHECK(VK(EndCommandBuffer)(commands) == VK_SUCCESS);
        CHECK_EQ_U64(allocations, before);
        for (int turn = 0; turn < 3; turn++) {
            soup_move(&s, 0.3f);
            CHECK_OK(tml, tml_buffer_write(tml, vertices, 0, 3 * (uint64_t)s.count, s.at));
            CHECK_OK(tml, tml_sync(tml));
            host_submit(commands);
            check_answers(tml, tree, &s, false);
        }
    }
    VK(FreeCommandBuffers)(host.device, host.pool, 1, &commands);
    CHECK_OK(tml, tml_vulkan_forget_recordings(tml));
    tml_buffer_destroy(tml, vertices);
    tml_tree_destroy(tml, tree);
    free(s.at);
    host_take_back(tml);
}
#endif

#define ON_EACH_ENGINE(check)                                                                      \
    TEST(check##_on_the_cpu)                                                                       \
    {                                                                                              \
        check_##check(TML_ENGINE_CPU);                                                             \
    }                                                                                              \
    TEST(check##_on_vulkan)                                                                        \
    {                                                                                              \
        check_##check(TML_ENGINE_VULKAN);                                                          \
    }                                                                                              \
    TEST(check##_on_opengl)                                                                        \
    {                                                                                              \
        check_##check(TML_ENGINE_GL);                                                              \
    }
ON_EACH_ENGINE(sizes)
ON_EACH_ENGINE(taken_over)
ON_EACH_ENGINE(broken)
ON_EACH_ENGINE(gone_bad)
ON_EACH_ENGINE(quality)
ON_EACH_ENGINE(far)

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
