/* Pairs of triangles that may be nearest, on the device: a stream of pairs of nodes, level by level, without those that are
 * certainly farther apart than two triangles already seen.
 *
 * What has been seen comes from greedy descents, a thread each: first from all pairs of nodes some levels below the roots,
 * then from each pair that is left after the first step, and of many poses after each. The stream begins some levels
 * further down, with all pairs of nodes there. A step tests each pair's children, a thread each, and keeps their numbers
 * (one dispatch), from which the pairs are made (another one); it splits both sides at once where their levels take turns.
 * All is enqueued at once: a step's length is 8 or 64 times what the last one kept, and stays on the device.
 *
 * After: Larsen, Gottschalk, Lin, Manocha: Fast Proximity Queries with Swept Sphere Volumes. 1999; Lauterbach, Mo,
 * Manocha: gProximity. 2010 (a front of pairs on the device). */
#include "collide/collide_distance_stream.h"

#include <math.h>
#include <string.h>

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/collide.k.h"
#include "kernels/collide_triangles.k.h"
/* Uses the formulas above. */
#include "kernels/collide_stream.k.h"
#include "kernels/collide_triangle_distance.k.h"
/* Uses both. */
#include "kernels/collide_distance.k.h"

#include "collide_distance_library.h"

/* The view's words up to its poses. u[0]: how many of these there are at most; u[1]: words of the number, or 0; u[2]: its
 * first word. */
TML_KERNEL_WITH(collide_distance, uint, collide_near_shapes,
                (tml_words a, tml_words b, tml_words count, tml_index i, tml_params p), {
                    if (U(i) < COLLIDE_VIEW_WORDS)
                        return tml_word(a, U(i));
                    if (U(i) < COLLIDE_VIEW_COUNT)
                        return tml_word(b, U(i) - COLLIDE_VIEW_WORDS);
                    if (p.u[1] == 0u)
                        return p.u[0];
                    if (p.u[1] == 2u && tml_word(count, p.u[2] + 1u) != 0u)
                        return p.u[0];
                    return min(tml_word(count, p.u[2]), p.u[0]);
                })

/* A word of the view. f[0]: the limit. */
TML_KERNEL_WITH(collide_distance, uint, collide_near_view,
                (tml_words shapes, tml_words poses, tml_words a_boxes, tml_words b_boxes,
                 tml_index i, tml_params p),
                {
                    if (U(i) < COLLIDE_VIEW_POSES)
                        return tml_word(shapes, U(i));
                    uint pose = (U(i) - COLLIDE_VIEW_POSES) / COLLIDE_VIEW_POSE;
                    uint word = (U(i) - COLLIDE_VIEW_POSES) % COLLIDE_VIEW_POSE;
                    if (pose >= tml_word(shapes, COLLIDE_VIEW_COUNT))
                        return 0u; /* COLLIDE_POSE_ABSENT, too */
                    if (word < COLLIDE_VIEW_ERROR)
                        return tml_word(poses, COLLIDE_VIEW_ERROR * pose + word);
                    return collide_near_pose_word(
                        collide_rows_at(poses, COLLIDE_VIEW_ERROR * pose),
                        collide_near_box(a_boxes, shapes, 0u, tml_word(shapes, COLLIDE_VIEW_LEVELS),
                                         0u),
                        collide_near_box(b_boxes, shapes, COLLIDE_VIEW_WORDS,
                                         tml_word(shapes, COLLIDE_VIEW_WORDS + COLLIDE_VIEW_LEVELS),
                                         0u),
                        p.f[0], word);
                })

/* Descends from all pairs of u[0] nodes of a and u[1] of b. u[2]: levels, in these three. */
TML_KERNEL_WITH(collide_distance, uvec4, collide_near_first_descent,
                (tml_words a_boxes, tml_words b_boxes, tml_words view, tml_index i, tml_params p), {
                    uint pair = U(i) % (p.u[0] * p.u[1]);
                    return collide_near_leaves(
                        UVEC4(pair % p.u[0], pair / p.u[0], U(i) / (p.u[0] * p.u[1]), 0u), a_boxes,
                        b_boxes, view, p.u[2]);
                })
TML_KERNEL_WITH(collide_distance, uvec4, collide_near_descent,
                (uvec4 pair, tml_words a_boxes, tml_words b_boxes, tml_words view, tml_params p),
                { return collide_near_leaves(pair, a_boxes, b_boxes, view, p.u[0]); })

/* What two leaves are certainly not farther apart than, and their pose. */
TML_KERNEL_OUTS_WITH(collide_distance, (float above, uint pose), collide_near_seen,
                     (uvec4 pair, tml_words a_triangles, tml_words b_triangles, tml_words view), {
                         collide_near_seen_out o;
                         o.above = collide_near_above(pair, a_triangles, b_triangles, view);
                         o.pose = pair.z;
                         return o;
                     })

/* Of all pairs of u[0] nodes of a and u[1] of b, which are near enough? u[2]: levels. best: what each pose has seen. */
TML_KERNEL_WITH(collide_distance, bool, collide_near_keep_first,
                (tml_words best, tml_words a_boxes, tml_words b_boxes, tml_words view, tml_index i,
                 tml_params p),
                {
                    uint pair = U(i) % (p.u[0] * p.u[1]);
                    uint pose = U(i) / (p.u[0] * p.u[1]);
                    return collide_near_is_in(UVEC4(pair % p.u[0], pair / p.u[0], pose,
                                                    collide_near_first_bound(best, view, pose)),
                                              pair == 0u, a_boxes, b_boxes, view, p.u[2]);
                })

/* Pairs of what was kept, of which there is room for u[2]; and each of them as well how many children these have, of which
 * u[3] is the logarithm for one, and how many pairs the fullest step made. */
TML_KERNEL_OUTS_WITH(
    collide_distance, (uvec4 pair, uint pose, uint children, uint largest), collide_near_take_first,
    (tml_words kept, tml_words count, tml_words best, tml_words view, tml_index i, tml_params p), {
        collide_near_take_first_out o;
        uint made = tml_word(count, 0u);
        o.pair = UVEC4(0u, 0u, 0u, COLLIDE_NEAR_DROPPED);
        if (U(i) < made) {
            uint at = tml_word(kept, U(i));
            o.pair = UVEC4(at % (p.u[0] * p.u[1]) % p.u[0], at % (p.u[0] * p.u[1]) / p.u[0],
                           at / (p.u[0] * p.u[1]), 0u);
            o.pair.w = collide_near_first_bound(best, view, o.pair.z);
        }
        o.pose = o.pair.z;
        o.children = min(made, p.u[2]) << p.u[3];
        o.largest = made;
        return o;
    })

/* u[0]: the children's levels and which sides are split; u[1]: the logarithm of how many there are. */
TML_KERNEL_WITH(collide_distance, bool, collide_near_keep,
                (tml_words pairs, tml_words a_boxes, tml_words b_boxes, tml_words view, tml_index i,
                 tml_params p),
                {
                    uint child = U(i) & ((1u << p.u[1]) - 1u);
                    uvec4 pair = collide_near_child_of(collide_near_pair_at(pairs, U(i) >> p.u[1]),
                                                       child, p.u[0]);
                    return collide_near_is_in(pair, child == 0u, a_boxes, b_boxes, view, p.u[0]);
                })
TML_KERNEL_WITH(collide_distance, bool, collide_near_keep_leaves,
                (tml_words pairs, tml_words a_boxes, tml_words b_triangles, tml_words view,
                 tml_index i, tml_params p),
                {
                    uint child = U(i) & ((1u << p.u[1]) - 1u);
                    uvec4 pair = collide_near_child_of(collide_near_pair_at(pairs, U(i) >> p.u[1]),
                                                       child, p.u[0]);
                    return collide_near_is_leaf(pair, child == 0u, a_boxes, b_triangles, view);
                })
TML_KERNEL_WITH(collide_distance, bool, collide_near_keep_triangles,
                (tml_words pairs, tml_words a_triangles, tml_words b_triangles, tml_words view,
                 tml_index i, tml_params p),
                {
                    uint child = U(i) & ((1u << p.u[1]) - 1u);
                    uvec4 pair = collide_near_child_of(collide_near_pair_at(pairs, U(i) >> p.u[1]),
                                                       child, p.u[0]);
                    return collide_near_is_triangle(pair, child == 0u, a_triangles, b_triangles,
                                                    view);
                })

/* As collide_near_take_first, but for u[0], u[1]: as collide_near_keep. before: the fullest step so far. */
TML_KERNEL_OUTS_WITH(collide_distance, (uvec4 pair, uint pose, uint children, uint largest),
                     collide_near_take,
                     (tml_words kept, tml_words count, tml_words pairs, tml_words before,
                      tml_index i, tml_params p),
                     {
                         collide_near_take_out o;
                         uint made = tml_word(count, 0u);
                         o.pair = UVEC4(0u, 0u, 0u, COLLIDE_NEAR_DROPPED);
                         if (U(i) < made) {
                             uint at = tml_word(kept, U(i));
                             o.pair =
                                 collide_near_child_of(collide_near_pair_at(pairs, at >> p.u[1]),
                                                       at & ((1u << p.u[1]) - 1u), p.u[0]);
                         }
                         o.pose = o.pair.z;
                         o.children = min(made, p.u[2]) << p.u[3];
                         o.largest = max(made, tml_word(before, 0u));
                         return o;
                     })

/* A pair with what its pose has seen since. */
TML_KERNEL_WITH(collide_distance, uvec4, collide_near_lower,
                (uvec4 pair, tml_words best, tml_words pairs, tml_words view, tml_index i), {
                    bool is_first = U(i) == 0u;
                    if (!is_first)
                        is_first = tml_word(pairs, 4u * U(i) - 2u) != pair.z;
                    pair.w = collide_near_bound(
                        tml_word_float(best, pair.z),
                        collide_near_of_pose(view, pair.z, COLLIDE_VIEW_ERROR), pair.w, is_first);
                    return pair;
                })

/* ---- buffers --------------------------------------------------------------------------------- */

enum {
    FIRST_PAIRS = 1 << 20,    /* all nodes of one level by all of another, for all poses */
    FIRST_DESCENTS = 1 << 10, /* likewise */
};

uint64_t near_usual_room(const tml_context *tml, uint32_t poses)
{
    /* OpenGL draws as much as there is room for. */
    const uint64_t room =
        tml->device.engine == TML_ENGINE_VULKAN ? (uint64_t)1 << 16 : (uint64_t)1 << 12;
    return TML_MIN_OF(TML_MAX_OF(room, (uint64_t)1024 * poses), (uint64_t)NEAR_ROOM_MOST);
}

void near_make(near_stream *run, tml_type type, uint64_t count, const void *data, const char *label,
               tml_buffer *out)
{
    if (run->status != TML_OK || !tml_buffer_is_none(*out))
        return;
    run->status = tml_refuse_recording(
        run->tml, run->call, "call it once before tml_vulkan_record, to make its buffers");
    if (run->status == TML_OK)
        run->status = tml_buffer_create(
            run->tml,
            &(tml_buffer_desc){.type = type, .count = count, .data = data, .label = label}, out);
}

static void drop(tml_context *tml, tml_buffer *buffer)
{
    tml_buffer_destroy(tml, *buffer);
    *buffer = (tml_buffer){0, 0};
}

static void room_drop(tml_context *tml, struct collide_near *kept)
{
    tml_buffer *const all[] = {&kept->pairs[0], &kept->pairs[1],   &kept->kept,
                               &kept->pose,     &kept->lengths,    &kept->largest[0],
                               &kept->below,    &kept->largest[1], &kept->above,
                               &kept->keys,     &kept->distances};
    for (size_t i = 0; i < TML_ARRAY_SIZE(all); i++)
        drop(tml, all[i]);
    kept->room = 0;
}

static void poses_drop(tml_context *tml, struct collide_near *kept)
{
    tml_buffer *const all[] = {&kept->shapes,    &kept->view,      &kept->best,
                               &kept->queries,   &kept->places,    &kept->poses,
                               &kept->which,     &kept->won,       &kept->nearest,
                               &kept->points[0], &kept->points[1], &kept->triangles};
    for (size_t i = 0; i < TML_ARRAY_SIZE(all); i++)
        drop(tml, all[i]);
    kept->pose_room = 0;
}

void near_drop(tml_context *tml, struct collide_near **kept)
{
    if (!*kept)
        return;
    room_drop(tml, *kept);
    poses_drop(tml, *kept);
    drop(tml, &(*kept)->count);
    drop(tml, &(*kept)->told);
    tml_free(tml, *kept, sizeof **kept);
    *kept = NULL;
}

void collide_near_destroy(tml_context *tml, tml_tree *tree)
{
    near_drop(tml, &tree->near);
    near_drop(tml, &tree->near_enqueued);
    drop(tml, &tree->device_shape);
}

void near_room_make(near_stream *run, uint64_t room)
{
    struct collide_near *kept = run->kept;
    const tml_type pair = TML_VEC(TML_U32, 4);
    run->status = run->status ? run->status
                              : tml_refuse_recording(run->tml, run->call,
                                                     "call it once before tml_vulkan_record, with "
                                                     "the same capacity and number of poses");
    if (run->status != TML_OK)
        return;
    room_drop(run->tml, kept);
    near_make(run, pair, room, NULL, "pairs", &kept->pairs[0]);
    near_make(run, pair, room, NULL, "pairs", &kept->pairs[1]);
    near_make(run, TML_U32, room, NULL, "children that are near", &kept->kept);
    near_make(run, TML_U32, room, NULL, "poses of pairs", &kept->pose);
    near_make(run, TML_U32, room, NULL, "numbers of children", &kept->lengths);
    near_make(run, TML_U32, room, NULL, "numbers of pairs", &kept->largest[0]);
    near_make(run, TML_U32, room, NULL, "numbers of pairs", &kept->largest[1]);
    near_make(run, TML_F32, room, NULL, "upper bounds", &kept->above);
    if (run->status == TML_OK)
        kept->room = room;
    else
        room_drop(run->tml, kept);
}

void near_poses_make(near_stream *run, uint32_t room)
{
    struct collide_near *kept = run->kept;
    uint64_t words = COLLIDE_VIEW_POSES + (uint64_t)COLLIDE_VIEW_POSE * room;
    run->status = run->status ? run->status
                              : tml_refuse_recording(run->tml, run->call,
                                                     "call it once before tml_vulkan_record, with "
                                                     "the same capacity and number of poses");
    if (run->status != TML_OK)
        return;
    uint32_t *numbers = tml_alloc_array(run->tml, (uint64_t)room + 1, sizeof *numbers);
    if (!numbers) {
        run->status = tml_error(run->tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %u poses",
                                run->call, room);
        return;
    }
    for (uint32_t i = 0; i <= room; i++)
        numbers[i] = i;
    poses_drop(run->tml, kept);
    near_make(run, TML_U32, COLLIDE_VIEW_POSES, NULL, "trees", &kept->shapes);
    near_make(run, TML_U32, words, NULL, "trees and poses", &kept->view);
    near_make(run, TML_F32, room, NULL, "bounds of poses", &kept->best);
    near_make(run, TML_U32, (uint64_t)room + 1, numbers, "poses", &kept->queries);
    near_make(run, TML_U32, (uint64_t)room + 1, NULL, "first pairs of poses", &kept->places);
    tml_free(run->tml, numbers, ((size_t)room + 1) * sizeof *numbers);
    if (run->status == TML_OK)
        kept->pose_room = room;
    else
        poses_drop(run->tml, kept);
}

static void shape_make(near_stream *run, tml_tree *tree)
{
    uint32_t words[COLLIDE_VIEW_WORDS] = {[COLLIDE_VIEW_LEVELS] = tree->levels};
    words[COLLIDE_VIEW_LEAST] = collide_leaf_words(tree, &words[COLLIDE_VIEW_MORE]);
    for (uint32_t level = 1; level <= tree->levels; level++) {
        words[COLLIDE_VIEW_GROUPS + 2 * level] = tree->level_group[level];
        words[COLLIDE_VIEW_GROUPS + 2 * level + 1] =
            TML_MIN_OF(tree->level_count[level], COLLIDE_WIDTH);
    }
    _Static_assert(COLLIDE_VIEW_GROUPS + 2 * COLLIDE_LEVELS_MAX + 2 <= COLLIDE_VIEW_WORDS,
                   "room for all levels");
    near_make(run, TML_U32, COLLIDE_VIEW_WORDS, words, "tree shape", &tree->device_shape);
}

void near_trees_make(near_stream *run, struct collide_near **kept)
{
    tml_tree *const trees[2] = {run->a, run->b};
    collide_learn(run->tml);
    for (int i = 0; i < 2 && run->status == TML_OK; i++) {
        if (tml_buffer_is_none(trees[i]->device_boxes) ||
            tml_buffer_is_none(trees[i]->device_triangles))
            run->status = tml_refuse_recording(
                run->tml, run->call, "call it once before tml_vulkan_record, to make its buffers");
        if (run->status == TML_OK)
            run->status =
                collide_device_tree(run->tml, trees[i], &run->boxes[i], &run->triangles[i]);
        trees[i]->forget = collide_forget;
        shape_make(run, trees[i]);
        run->shapes[i] = trees[i]->device_shape;
    }
    if (run->status == TML_OK && !*kept) {
        *kept = tml_alloc(run->tml, sizeof **kept);
        if (*kept)
            memset(*kept, 0, sizeof **kept);
        else
            run->status = tml_error(run->tml, TML_ERROR_OUT_OF_MEMORY,
                                    "%s: no memory for a tree's handles", run->call);
    }
    run->kept = *kept;
    if (run->status == TML_OK)
        near_make(run, TML_U32, 1, NULL, "pair count", &run->kept->count);
}

/* ---- what is enqueued ------------------------------------------------------------------------ */

void near_map(near_stream *run, const tml_map_desc *desc)
{
    if (run->status == TML_OK)
        run->status = tml_map(run->tml, desc);
}

void near_best_enqueue(near_stream *run, tml_fold fold, tml_buffer values, tml_buffer out)
{
    struct collide_near *kept = run->kept;
    if (run->status != TML_OK)
        return;
    if (kept->pose_room == 1) {
        run->status = tml_reduce(
            run->tml,
            &(tml_reduce_desc){.fold = fold, .in = values, .length = run->length, .out = out});
        return;
    }
    run->status = tml_search(run->tml, &(tml_search_desc){.sorted = kept->pose,
                                                          .sorted_length = run->length,
                                                          .queries = kept->queries,
                                                          .out = kept->places});
    if (run->status == TML_OK)
        run->status = tml_reduce_segments(
            run->tml, &(tml_reduce_segments_desc){
                          .fold = fold, .in = values, .offsets = kept->places, .out = out});
}

static uint32_t level_word(uint32_t a_level, uint32_t b_level)
{
    return a_level | b_level << COLLIDE_NEAR_B_SHIFT;
}

/* What descents in kept->pairs[!from] have seen, into kept->best. */
static void seen_enqueue(near_stream *run)
{
    struct collide_near *kept = run->kept;
    near_map(run, &(tml_map_desc){.kernel = TML_USE(collide_near_seen),
                                  .in = {kept->pairs[!run->from], run->triangles[0],
                                         run->triangles[1], kept->view},
                                  .length = run->length,
                                  .out = kept->above,
                                  .also = {kept->pose}});
    near_best_enqueue(run, TML_FOLD_MIN, kept->above, kept->best);
}

/* The last step before which pairs of nodes, of all poses, are at most so many; not beyond the leaves. */
static uint32_t step_of(const near_stream *run, uint64_t most)
{
    uint32_t number = 0;
    for (uint32_t s = 1; s + 2 <= run->step_count; s++) {
        uint64_t pairs = (uint64_t)run->a->level_count[run->steps[s].a_level] *
                         run->b->level_count[run->steps[s].b_level];
        if (pairs * run->count > most)
            break;
        number = s;
    }
    return number;
}

static void view_enqueue(near_stream *run, tml_buffer poses, const tml_length *length, double limit)
{
    struct collide_near *kept = run->kept;
    bool has_count = !tml_buffer_is_none(length->device);
    uint32_t words =
        has_count ? (uint32_t)(tml_slot_of(run->tml, length->device)->element_size / 4) : 0;
    float most = (float)fmin(limit, (double)INFINITY);
    if (most < INFINITY)
        most = most * (1 + 0x1p-20f) + 0x1p-100f;
    near_map(run, &(tml_map_desc){
                      .kernel = TML_USE(collide_near_shapes),
                      .params = {.u = {run->count, words, words * (uint32_t)length->device_index}},
                      .in = {run->shapes[0], run->shapes[1],
                             has_count ? length->device : run->shapes[0]},
                      .length = tml_length_of(COLLIDE_VIEW_POSES),
                      .out = kept->shapes});
    near_map(run, &(tml_map_desc){.kernel = TML_USE(collide_near_view),
                                  .params = {.f = {most}},
                                  .in = {kept->shapes, poses, run->boxes[0], run->boxes[1]},
                                  .length = tml_length_of(COLLIDE_VIEW_POSES +
                                                          (uint64_t)COLLIDE_VIEW_POSE * run->count),
                                  .out = kept->view});
}

/* What a step does: which levels and sides, the logarithm of how many children a pair has; and the step after. */
typedef enum step_kind { OF_NODES, OF_LEAVES, OF_TRIANGLES } step_kind;
typedef struct near_step {
    step_kind kind;
    uint32_t word, fan, next;
} near_step;

static near_step step_at(const near_stream *run, uint32_t number)
{
    const collide_step *step = &run->steps[number];
    near_step s = {.fan = 3, .next = number + 1};
    bool is_both = number + 3 < run->step_count && step[1].splits_b != step->splits_b;
    bool splits_b = is_both || step->splits_b, splits_a = is_both || !step->splits_b;
    if (is_both)
        s.fan = 6, s.next = number + 2;
    if (number + 2 >= run->step_count)
        s.kind = s.next == run->step_count ? OF_TRIANGLES : OF_LEAVES;
    s.word = level_word(step->a_level - splits_a, step->b_level - splits_b) |
             (splits_a ? COLLIDE_NEAR_SPLITS_A : 0) | (splits_b ? COLLIDE_NEAR_SPLITS_B : 0);
    return s;
}

static void descents_enqueue(near_stream *run, uint32_t number)
{
    const collide_step *step = &run->steps[number];
    const uint32_t a = run->a->level_count[step->a_level], b = run->b->level_count[step->b_level];
    run->length = tml_length_of((uint64_t)run->count * a * b);
    near_map(run, &(tml_map_desc){.kernel = TML_USE(collide_near_first_descent),
                                  .params = {.u = {a, b, level_word(step->a_level, step->b_level)}},
                                  .in = {run->boxes[0], run->boxes[1], run->kept->view},
                                  .length = run->length,
                                  .out = run->kept->pairs[!run->from]});
    seen_enqueue(run);
}

static void keep_enqueue(near_stream *run, const tml_keep *keep)
{
    if (run->status == TML_OK)
        run->status = tml_compact(run->tml, &(tml_compact_desc){.keep = *keep,
                                                                .length = run->length,
                                                                .indices = run->kept->kept,
                                                                .count = run->kept->count});
    run->length = (tml_length){.count = run->kept->room, .device = run->kept->count};
}

static void first_enqueue(near_stream *run, uint32_t number)
{
    struct collide_near *kept = run->kept;
    const collide_step *step = &run->steps[number];
    const uint32_t a = run->a->level_count[step->a_level], b = run->b->level_count[step->b_level];
    run->length = tml_length_of((uint64_t)run->count * a * b);
    keep_enqueue(run, &(tml_keep){.kernel = TML_USE(collide_near_keep_first),
                                  .params = {.u = {a, b, level_word(step->a_level, step->b_level)}},
                                  .in = {kept->best, run->boxes[0], run->boxes[1], kept->view}});
    near_map(run, &(tml_map_desc){
                      .kernel = TML_USE(collide_near_take_first),
                      .params = {.u = {a, b, (uint32_t)kept->room, step_at(run, number).fan}},
                      .in = {kept->kept, kept->count, kept->best, kept->view},
                      .length = tml_length_of(kept->room),
                      .out = kept->pairs[run->from],
                      .also = {kept->pose, kept->lengths, kept->largest[run->from]}});
}

/* Pairs with what greedy descents from them have seen. */
static void lower_enqueue(near_stream *run, uint32_t number)
{
    struct collide_near *kept = run->kept;
    const collide_step *step = &run->steps[number];
    near_map(run, &(tml_map_desc){
                      .kernel = TML_USE(collide_near_descent),
                      .params = {.u = {level_word(step->a_level, step->b_level)}},
                      .in = {kept->pairs[run->from], run->boxes[0], run->boxes[1], kept->view},
                      .length = run->length,
                      .out = kept->pairs[!run->from]});
    seen_enqueue(run);
    near_map(run, &(tml_map_desc){.kernel = TML_USE(collide_near_lower),
                                  .in = {kept->pairs[run->from], kept->best, kept->pairs[run->from],
                                         kept->view},
                                  .length = run->length,
                                  .out = kept->pairs[!run->from]});
    /* Only the pairs have moved. */
    tml_buffer lowered = kept->pairs[!run->from];
    kept->pairs[!run->from] = kept->pairs[run->from];
    kept->pairs[run->from] = lowered;
}

static void step_enqueue(near_stream *run, near_step step)
{
    struct collide_near *kept = run->kept;
    const uint32_t next = step.next < run->step_count ? step_at(run, step.next).fan : 0;
    const tml_buffer a = step.kind == OF_TRIANGLES ? run->triangles[0] : run->boxes[0];
    const tml_buffer b = step.kind == OF_NODES ? run->boxes[1] : run->triangles[1];
    tml_keep keep = {.kernel = TML_USE(collide_near_keep),
                     .params = {.u = {step.word, step.fan}},
                     .in = {kept->pairs[run->from], a, b, kept->view}};
    if (step.kind == OF_LEAVES)
        keep.kernel = TML_USE(collide_near_keep_leaves);
    if (step.kind == OF_TRIANGLES)
        keep.kernel = TML_USE(collide_near_keep_triangles);
    run->length = (tml_length){.count = kept->room << step.fan, .device = kept->lengths};
    keep_enqueue(run, &keep);
    near_map(run,
             &(tml_map_desc){
                 .kernel = TML_USE(collide_near_take),
                 .params = {.u = {step.word, step.fan, (uint32_t)kept->room, next}},
                 .in = {kept->kept, kept->count, kept->pairs[run->from], kept->largest[run->from]},
                 .length = tml_length_of(kept->room),
                 .out = kept->pairs[!run->from],
                 .also = {kept->pose, kept->lengths, kept->largest[!run->from]}});
    run->from = !run->from;
}

void near_enqueue(near_stream *run, tml_buffer poses, tml_length length, double limit)
{
    uint32_t number = step_of(run, FIRST_PAIRS);
    bool has_seen = false;
    run->from = 0;
    view_enqueue(run, poses, &length, limit);
    descents_enqueue(run, step_of(run, TML_MIN_OF((uint64_t)FIRST_DESCENTS, run->kept->room)));
    first_enqueue(run, number);
    while (number < run->step_count) {
        near_step step = step_at(run, number);
        if (step.kind == OF_NODES && (run->count > 1 || !has_seen))
            lower_enqueue(run, number);
        has_seen = true;
        step_enqueue(run, step);
        number = step.next;
    }
}

#include "kernels/kernel_end.h"
