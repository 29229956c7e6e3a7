/* Any bytes, loaded as a tree: no crash, no hang, no memory beyond what the bytes hold; what loads
 * is saved as the same bytes, and collides with itself and another mesh by both methods alike. */
#include <stdlib.h>
#include <string.h>

#include <trommel/collide.h>

#include "fuzz/demand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADER = 48, RECORD = 52, OPTIONS = 49 };

static tml_context *tml;

/* Of three triangles that cross near the origin. */
static tml_tree *make_other(void)
{
    static const float at[] = {0, 0, 0, 1, 0,  0,  0,    1, 0,  0,    0, 1, 1,   0,
                               0, 0, 1, 0, -1, -1, 0.3f, 1, -1, 0.3f, 0, 2, 0.3f};
    tml_buffer vertices;
    tml_tree *tree;
    tml_buffer_desc desc = {.type = TML_VEC(TML_F32, 3), .count = 9, .data = at};
    DEMAND(tml_buffer_create(tml, &desc, &vertices) == TML_OK);
    DEMAND(tml_tree_create(tml, &(tml_tree_desc){.vertices = vertices}, &tree) == TML_OK);
    tml_buffer_destroy(tml, vertices);
    return tree;
}

static void store(uint8_t *bytes, uint64_t number)
{
    memcpy(bytes, &number, sizeof number);
}

/* Counts that fit the size, and the checksum of what is there, so that what lies behind them is
 * reached. */
static void mend(uint8_t *bytes, size_t size, bool with_counts)
{
    if (size < HEADER)
        return;
    memcpy(bytes, "TMLTREE1", 8);
    if (with_counts) {
        uint64_t count = (size - HEADER) / RECORD, broken = bytes[32] % 4;
        store(bytes + 16, 1 + bytes[16]);
        store(bytes + 24, count + broken);
        store(bytes + 32, broken);
        store(bytes + 40, count);
    }
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 16; i + 4 <= size; i += 4) {
        uint32_t word;
        memcpy(&word, bytes + i, sizeof word);
        sum = (sum ^ word) * 1099511628211u;
    }
    store(bytes + 8, sum);
}

static void check_same(const tml_tree *tree)
{
    size_t size = 0;
    DEMAND(tml_tree_save(tml, tree, NULL, &size) == TML_OK);
    uint8_t *bytes = malloc(2 * size);
    tml_tree *again;
    DEMAND(tml_tree_save(tml, tree, bytes, &size) == TML_OK);
    DEMAND(tml_tree_load(tml, bytes, size, &again) == TML_OK);
    DEMAND(tml_tree_save(tml, again, bytes + size, &size) == TML_OK);
    DEMAND(memcmp(bytes, bytes + size, size) == 0);
    tml_tree_destroy(tml, again);
    free(bytes);
}

static void check_collide(tml_collide_desc desc)
{
    tml_collide_result deep, broad;
    desc.method = TML_COLLIDE_METHOD_DEPTH_FIRST;
    tml_status status = tml_collide(tml, &desc, &deep);
    desc.method = TML_COLLIDE_METHOD_BREADTH_FIRST;
    DEMAND(tml_collide(tml, &desc, &broad) == status && deep.count == broad.count);
    DEMAND(status == TML_OK || tml_last_error(tml)[0]);
    if (status == TML_OK && desc.want == TML_COLLIDE_WANT_ALL && deep.count)
        DEMAND(memcmp(deep.pairs, broad.pairs, deep.count * sizeof *deep.pairs) == 0);
    tml_collide_distance_desc asked = {
        .a = desc.a, .b = desc.b, .poses = desc.poses, .pose_count = desc.pose_count};
    for (int method = 0; desc.b && method <= TML_COLLIDE_METHOD_BREADTH_FIRST; method++) {
        tml_collide_distance_result distance;
        asked.method = (tml_collide_method)method;
        tml_status measured = tml_collide_distance(tml, &asked, &distance);
        DEMAND(measured == status && (status || (distance.distance == 0) == (deep.count > 0)));
    }
    tml_collide_free(tml, &deep);
    tml_collide_free(tml, &broad);
}

/* Vertices that lie elsewhere: the same triangles. */
static void refit(tml_tree *tree, uint64_t count)
{
    if (count > 1024)
        return;
    float *at = malloc(12 * count + 1);
    for (uint64_t i = 0; i < 3 * count; i++)
        at[i] = (float)(i * 37 % 11);
    tml_buffer vertices;
    tml_buffer_desc desc = {.type = TML_VEC(TML_F32, 3), .count = count, .data = at};
    DEMAND(tml_buffer_create(tml, &desc, &vertices) == TML_OK);
    DEMAND(tml_tree_update(tml, tree, vertices, TML_TREE_REFIT) == TML_OK);
    check_collide((tml_collide_desc){.a = tree});
    tml_buffer_destroy(tml, vertices);
    free(at);
}

/* What to do with it, and a pose, come first. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static tml_tree *other;
    if (!tml) {
        DEMAND(tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = 1}, &tml) == TML_OK);
        other = make_other();
    }
    if (size < OPTIONS)
        return 0;
    uint8_t how = data[0];
    float pose[12];
    memcpy(pose, data + 1, sizeof pose);
    size -= OPTIONS;
    uint8_t *bytes = malloc(size + (size == 0));
    memcpy(bytes, data + OPTIONS, size);
    if (how & 1)
        mend(bytes, size, how & 2);
    tml_tree *tree;
    tml_status status = tml_tree_load(tml, bytes, size, &tree);
    free(bytes);
    if (status != TML_OK) {
        DEMAND(status == TML_ERROR_FILE_FORMAT && !tree && tml_last_error(tml)[0]);
        return 0;
    }
    tml_tree_info info;
    tml_tree_describe(tree, &info);
    DEMAND(info.triangle_count - info.broken_count <= size / RECORD &&
           info.memory < 64 * size + 4096);
    check_same(tree);
    tml_collide_desc desc = {.a = tree,
                             .want = (tml_collide_want)(how >> 2 & 3) % 3,
                             .memory_limit = how & 32 ? 4096 : 0};
    desc.segments = how & 16 && desc.want != TML_COLLIDE_WANT_COUNT;
    check_collide(desc);
    desc.b = other;
    check_collide(desc);
    desc.poses = pose;
    desc.pose_count = 1;
    check_collide(desc);
    desc.a = other;
    desc.b = tree;
    check_collide(desc);
    if (how & 64)
        refit(tree, info.vertex_count);
    tml_tree_destroy(tml, tree);
    return 0;
}
