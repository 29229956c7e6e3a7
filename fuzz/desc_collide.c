/* Descs of trees and collisions. */
#include "fuzz/desc.h"

#include <math.h>
#include <string.h>

enum { POSES = 8, ROOM = 64 };

static tml_tree *take_tree(uint64_t *vertices)
{
    uint64_t triangles = below(40);
    contents contents = take() < 208 ? CONTENTS_FINITE : CONTENTS_ANY;
    *vertices = 3 + below(30);
    tml_tree_desc desc = {.vertices = make(TML_VEC(TML_F32, 3), *vertices, contents, 0)};
    if (take() < 208)
        desc.indices =
            make(TML_VEC(take_bool() ? TML_U64 : TML_U32, 3), triangles, CONTENTS_BELOW, *vertices);
    desc.skip_broken = !take_bool();
    desc.on_device = take() >= 192;
    tml_tree *tree;
    bool is_made = CALL(tml_tree_create, tml, &desc, &tree);
    DEMAND(is_made == (tree != NULL));
    return tree;
}

static void check_pairs(const tml_collide_desc *desc, const tml_collide_result *result)
{
    tml_tree_info a, b;
    tml_tree_describe(desc->a, &a);
    tml_tree_describe(desc->b ? desc->b : desc->a, &b);
    const tml_collide_pair *pairs = result->pairs;
    uint64_t sum = 0;
    for (int i = 0; i < TML_COLLIDE_CLASS_COUNT; i++)
        sum += result->class_counts[i];
    DEMAND(sum == result->count && result->first[0] == 0);
    DEMAND(result->first[result->pose_count] == result->count);
    for (uint64_t i = 0; pairs && i < result->count; i++) {
        DEMAND(pairs[i].a < a.triangle_count && pairs[i].b < b.triangle_count);
        DEMAND(pairs[i].kind > TML_COLLIDE_CLASS_NONE && pairs[i].kind < TML_COLLIDE_CLASS_COUNT);
        DEMAND(!desc->classes || desc->classes >> pairs[i].kind & 1);
        DEMAND(desc->b || pairs[i].a < pairs[i].b);
        DEMAND(result->first[pairs[i].pose] <= i && i < result->first[pairs[i].pose + 1]);
        if (i > 0 && pairs[i].pose == pairs[i - 1].pose)
            DEMAND(pairs[i - 1].a < pairs[i].a ||
                   (pairs[i - 1].a == pairs[i].a && pairs[i - 1].b < pairs[i].b));
    }
    note_number(result->count);
    if (desc->want != TML_COLLIDE_WANT_FIRST && pairs)
        note(pairs, result->count * sizeof *pairs);
}

/* The other method finds the same. */
static void check_other_method(tml_collide_desc desc, const tml_collide_result *result)
{
    tml_collide_result again;
    desc.method = desc.method == TML_COLLIDE_METHOD_BREADTH_FIRST
                      ? TML_COLLIDE_METHOD_DEPTH_FIRST
                      : TML_COLLIDE_METHOD_BREADTH_FIRST;
    desc.pairs = NULL;
    desc.segments_out = NULL;
    if (CALL(tml_collide, tml, &desc, &again)) {
        DEMAND(again.count == result->count);
        if (desc.want == TML_COLLIDE_WANT_ALL && again.count)
            DEMAND(memcmp(again.pairs, result->pairs, again.count * sizeof *again.pairs) == 0);
    }
    tml_collide_free(tml, &again);
}

/* 0 exactly where there is a pair. */
static void check_distance(const tml_collide_desc *desc, const tml_collide_result *result)
{
    tml_collide_distance_result distances[POSES];
    const tml_collide_distance_desc asked = {.a = desc->a,
                                             .b = desc->b,
                                             .poses = desc->poses,
                                             .pose_count = desc->pose_count,
                                             .method = desc->method,
                                             .memory_limit = desc->memory_limit};
    if (!CALL(tml_collide_distance, tml, &asked, distances))
        return;
    for (uint32_t p = 0; p < result->pose_count; p++) {
        note(&distances[p].distance, sizeof distances[p].distance);
        if (!desc->classes)
            DEMAND((distances[p].distance == 0) == (result->first[p] < result->first[p + 1]));
    }
}

/* The same in a frame, where floats tell it. */
static void check_distance_enqueue(const tml_collide_desc *desc)
{
    tml_collide_distance_result distances[POSES];
    double found[POSES];
    const uint32_t count = desc->poses ? desc->pose_count : 1;
    const tml_collide_distance_desc asked = {
        .a = desc->a, .b = desc->b, .poses = desc->poses, .pose_count = desc->pose_count};
    tml_collide_distance_desc frame = {.a = desc->a, .b = desc->b};
    frame.capacity = take();
    if (!CALL(tml_collide_distance, tml, &asked, distances))
        return;
    if (CALL(tml_buffer_create, tml, &(tml_buffer_desc){.type = TML_F64, .count = count},
             &frame.distances) &&
        (!desc->poses ||
         CALL(tml_buffer_create, tml,
              &(tml_buffer_desc){
                  .type = TML_F32, .count = (uint64_t)12 * count, .data = desc->poses},
              &frame.pose_buffer)) &&
        CALL(tml_collide_distance_enqueue, tml, &frame) &&
        CALL(tml_buffer_read, tml, frame.distances, found))
        for (uint32_t p = 0; p < count; p++)
            DEMAND(isnan(found[p]) || found[p] == distances[p].distance);
    tml_buffer_destroy(tml, frame.distances);
    tml_buffer_destroy(tml, frame.pose_buffer);
}

static void collide_once(tml_tree *a, tml_tree *b)
{
    static tml_collide_pair pairs[ROOM];
    static float segments[6 * ROOM];
    float poses[12 * POSES];
    uint8_t how = take(), room = take();
    tml_collide_desc desc = {.a = a, .b = b, .method = (tml_collide_method)mostly(below(3))};
    if (b) {
        desc.pose_count = (uint32_t)below(POSES + 1);
        for (uint32_t i = 0; i < 12 * desc.pose_count; i++)
            poses[i] = (float)mostly_float(i % 12 % 5 == 0 && i % 12 < 11);
        desc.poses = desc.pose_count ? poses : NULL;
    }
    desc.want = (tml_collide_want)mostly(below(3));
    desc.classes = how & 1 ? (uint32_t)mostly(below(32)) : 0;
    desc.segments = how & 2;
    desc.memory_limit = how & 4 ? mostly((uint64_t)take() << 6) : 0;
    if (room >= 192) {
        desc.pairs = pairs;
        desc.segments_out = desc.segments && room < 248 ? segments : NULL;
        desc.capacity = below(ROOM + 1);
    }
    if (seldom())
        desc.pose_count = desc.poses ? desc.pose_count : (uint32_t)wild();
    tml_collide_result result;
    if (CALL(tml_collide, tml, &desc, &result)) {
        check_pairs(&desc, &result);
        check_other_method(desc, &result);
        if (b)
            check_distance(&desc, &result), check_distance_enqueue(&desc);
    } else {
        DEMAND(!result.pairs && !result.segments && !result.first);
    }
    tml_collide_free(tml, &result);
}

/* Points about a tree, which is mostly open. */
static void nearest_once(tml_tree *tree)
{
    uint64_t count = below(20);
    uint8_t sides[32];
    uint32_t triangles[3 * 32];
    tml_tree_info info;
    tml_tree_describe(tree, &info);
    tml_tree_nearest_desc desc = {
        .tree = tree,
        .points = make(TML_VEC(TML_F32, 3), count, take_bool() ? CONTENTS_FINITE : CONTENTS_ANY, 0),
        .rule = (tml_tree_rule)mostly(below(3)),
        .k = (uint32_t)mostly(below(4)),
        .is_signed = take_bool(),
        .sides = as_out(make(TML_U8, mostly(count), CONTENTS_ANY, 0))};
    uint64_t each = desc.k && desc.k < 4 ? desc.k : 1;
    if (take_bool())
        desc.triangles = as_out(make(TML_U32, mostly(each * count), CONTENTS_ANY, 0));
    if (take_bool())
        desc.distances = as_out(make(TML_F32, mostly(each * count), CONTENTS_ANY, 0));
    if (take_bool())
        desc.sides = (tml_buffer){0, 0};
    desc.length.count = seldom() ? wild() : 0;
    if (!CALL(tml_tree_nearest, tml, &desc) || count == 0)
        return;
    uint64_t length = desc.length.count ? desc.length.count : count_of(desc.points);
    length = length < count ? length : count;
    if (!tml_buffer_is_none(desc.sides) &&
        CALL(tml_buffer_read_range, tml, desc.sides, 0, count, sides))
        for (uint64_t i = 0; i < length; i++)
            DEMAND(sides[i] <= TML_TREE_ON);
    if (!tml_buffer_is_none(desc.triangles) &&
        CALL(tml_buffer_read_range, tml, desc.triangles, 0, each * count, triangles))
        for (uint64_t i = 0; i < each * length; i++)
            DEMAND(triangles[i] < info.triangle_count || triangles[i] == UINT32_MAX);
}

/* Rays in no order: hits are those that counts tell of. */
static void cast_once(tml_tree *tree)
{
    uint64_t count = below(20), total = 0;
    uint32_t counts[32], triangles[32];
    tml_tree_info info;
    tml_tree_describe(tree, &info);
    tml_tree_cast_desc desc = {
        .tree = tree,
        .origins =
            make(TML_VEC(TML_F32, 3), count, take_bool() ? CONTENTS_FINITE : CONTENTS_ANY, 0),
        .directions = make(TML_VEC(TML_F32, 3), mostly(count), CONTENTS_ANY, 0),
        .t_max = take_bool() ? 1 : 0,
        .want = (tml_tree_cast_want)mostly(below(4))};
    if (take_bool())
        desc.limits = make(TML_VEC(TML_F32, 2), mostly(count), CONTENTS_ANY, 0);
    if (take_bool())
        desc.poses = make(TML_VEC(TML_F32, 4), mostly(3), CONTENTS_ANY, 0);
    if (take_bool() && (!tml_buffer_is_none(desc.poses) || seldom()))
        desc.pose_of = make(TML_U32, mostly(count), CONTENTS_ANY, 0);
    bool is_all = desc.want == TML_TREE_CAST_ALL, is_nearest = desc.want == TML_TREE_CAST_NEAREST;
    if (is_all || desc.want == TML_TREE_CAST_COUNT || seldom())
        desc.counts = as_out(make(TML_U32, mostly(count), CONTENTS_ANY, 0));
    if (is_all || is_nearest || seldom())
        desc.triangles = as_out(make(TML_U32, is_all ? below(32) : mostly(count), CONTENTS_ANY, 0));
    if (is_nearest && take_bool())
        desc.barycentrics = as_out(make(TML_VEC(TML_F32, 2), mostly(count), CONTENTS_ANY, 0));
    if (take_bool())
        desc.total = as_out(make(TML_U64, 1, CONTENTS_ANY, 0));
    if (desc.want == TML_TREE_CAST_ANY || seldom())
        desc.hits = as_out(make(TML_U8, mostly(count), CONTENTS_ANY, 0));
    desc.length.count = seldom() ? wild() : 0;
    if (take_bool()) {
        if (take_bool())
            desc.unsure = as_out(make(TML_U32, below(32), CONTENTS_ANY, 0));
        if (take_bool())
            desc.unsure_count = as_out(make(TML_U64, 1, CONTENTS_ANY, 0));
        if (!CALL(tml_tree_cast_enqueue, tml, &desc) || count == 0)
            return;
    } else if (!CALL(tml_tree_cast, tml, &desc) || count == 0) {
        return;
    }
    uint64_t length = desc.length.count ? desc.length.count : count_of(desc.origins);
    if (!tml_buffer_is_none(desc.counts) &&
        CALL(tml_buffer_read_range, tml, desc.counts, 0, length, counts))
        for (uint64_t i = 0; i < length; i++)
            total += counts[i];
    uint64_t room = tml_buffer_is_none(desc.triangles) ? 0 : count_of(desc.triangles);
    uint64_t hits = is_all ? (total < room ? total : room) : is_nearest ? length : 0;
    if (hits > 0 && CALL(tml_buffer_read_range, tml, desc.triangles, 0, hits, triangles))
        for (uint64_t i = 0; i < hits; i++)
            DEMAND(triangles[i] < info.triangle_count ||
                   (is_nearest && triangles[i] == UINT32_MAX));
}

/* Distances on a small grid: never beyond the band, and never negative without signs. */
static void volume_once(tml_tree *tree)
{
    float samples[64];
    tml_tree_distance_grid_desc desc = {.tree = tree,
                                        .rule = (tml_tree_rule)mostly(below(3)),
                                        .is_signed = take_bool(),
                                        .band = take_bool() ? 0 : (float)mostly_float(1)};
    uint64_t count = 1;
    for (int k = 0; k < 3; k++) {
        desc.grid.dims[k] = 1 + below(4);
        desc.grid.spacing[k] = mostly_float(1);
        desc.grid.origin[k] = mostly_float(0);
        count *= desc.grid.dims[k];
    }
    desc.out = as_out(make(TML_F32, mostly(count), CONTENTS_ANY, 0));
    if (seldom())
        desc.grid.dims[below(3)] = wild();
    if (!CALL(tml_tree_distance_grid, tml, &desc) ||
        !CALL(tml_buffer_read_range, tml, desc.out, 0, count, samples))
        return;
    for (uint64_t i = 0; i < count; i++) {
        DEMAND(desc.is_signed || samples[i] >= 0);
        DEMAND(!(desc.band > 0) || fabsf(samples[i]) <= desc.band);
    }
}

/* A tree that was saved and loaded is the same tree. */
static void save_and_load(const tml_tree *tree)
{
    uint8_t bytes[64 * 64], again[sizeof bytes];
    size_t size = 0;
    if (!CALL(tml_tree_save, tml, tree, NULL, &size))
        return;
    const size_t capacity = mostly(size);
    if (size > sizeof bytes || capacity > sizeof bytes)
        return;
    size_t written = capacity;
    if (!CALL(tml_tree_save, tml, tree, bytes, &written))
        return;
    tml_tree *loaded;
    DEMAND(capacity >= size && written == size);
    if (CALL(tml_tree_load, tml, bytes, size, &loaded)) {
        if (CALL(tml_tree_save, tml, loaded, again, &written))
            DEMAND(memcmp(bytes, again, size) == 0);
        tml_tree_destroy(tml, loaded);
    }
}

void desc_collide(void)
{
    uint64_t vertices, others;
    tml_tree *a = take_tree(&vertices), *b = a && take_bool() ? take_tree(&others) : NULL;
    for (int calls = 0; a && calls < 2; calls++) {
        collide_once(a, b);
        nearest_once(a);
        cast_once(a);
        volume_once(a);
        if (take() >= 192) {
            tml_buffer moved = make(TML_VEC(TML_F32, 3), vertices,
                                    take() < 208 ? CONTENTS_FINITE : CONTENTS_ANY, 0);
            uint64_t how = below(3);
            if (how == 0)
                (void)CALL(tml_tree_update, tml, a, moved, TML_TREE_REFIT);
            else if (how == 1)
                (void)CALL(tml_tree_update_enqueue, tml, a, moved, TML_TREE_REFIT);
            else
                (void)CALL(tml_tree_update_enqueue, tml, a, moved, TML_TREE_REBUILD);
        }
        if (seldom())
            save_and_load(a);
    }
    tml_tree_destroy(tml, b);
    tml_tree_destroy(tml, a);
}
