/* Finds pairs of triangles that may be nearest, on the device: a stream of pairs of nodes that
 * descends level by level. Pairs that are certainly farther apart than two triangles already seen
 * are dropped.
 *
 * Greedy descents, one thread each, find triangles early: first from all pairs of nodes some levels
 * below the roots, then from each pair that is left after the first step; with many poses, after
 * each step. The stream begins some levels further down, with all pairs of nodes there. A step
 * tests each pair's children, one thread each, and keeps the numbers of the near ones; a second
 * dispatch makes the pairs. If the next two steps split different sides, they are done at once. All
 * is enqueued at once: a step's length is 8 or 64 times the number of pairs that the step before
 * kept, and stays on the device.
 *
 * After: Larsen, Gottschalk, Lin, Manocha: Fast Proximity Queries with Swept Sphere Volumes. 1999;
 * Lauterbach, Mo, Manocha: gProximity. 2010 (a front of pairs on the device). */
#include "collide/collide_distance_stream.h"

#include <math.h>
#include <string.h>

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must be included first. */
#include "kernels/collide.k.h"
#include "kernels/collide_triangles.k.h"
/* Need the headers above. */
#include "kernels/collide_stream.k.h"
#include "kernels/collide_triangle_distance.k.h"
/* Needs both groups above. */
#include "kernels/collide_distance.k.h"

#include "collide_distance_library.h"

/* A word of the view before its poses. u[0]: maximum number of poses; u[1]: words of the device's
 * count, 0 without one; u[2]: that count's first word. */
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

/* Greedy descents from all pairs of u[0] nodes of a and u[1] nodes of b; u[2]: the nodes' levels.
 * The next kernel descends from given pairs; u[0]: their levels. */
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

TML_KERNEL(uint, collide_near_number, (tml_index i), { return U(i); })

/* An upper bound of the distance of two leaves, and their pose. */
TML_KERNEL_OUTS_WITH(collide_distance, (float above, uint pose), collide_near_seen,
                     (uvec4 pair, tml_words a_triangles, tml_words b_triangles, tml_words view), {
                         collide_near_seen_out o;
                         o.above = collide_near_above(pair, a_triangles, b_triangles, view);
                         o.pose = pair.z;
                         return o;
                     })

/* Whether a pair is near enough, of all pairs of u[0] nodes of a and u[1] nodes of b. u[2]: their
 * levels. best: upper bound of each pose's distance. */
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

/* The kept pairs, of which u[2] have room, and their poses. Every element also gets two totals:
 * the number of children, 2^u[3] per pair, and the number of pairs that the fullest step made. */
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

/* Whether a child of a pair is near enough. u[0]: the children's levels and the sides that are
 * split; u[1]: log2 of the number of children per pair. */
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

/* As collide_near_take_first, but u[0], u[1] are collide_near_keep's. before: fullest step so
 * far. */
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

/* A pair with the upper bound that its pose has found since. */
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

/* ---- what a stream begins with --------------------------------------------------------------- */

enum {
    FIRST_PAIRS = 1 << 20,    /* pairs of nodes that the stream begins with, at most */
    FIRST_DESCENTS = 1 << 10, /* pairs that the first greedy descents begin with, at most */
};

uint64_t distance_usual_room(const tml_context *tml, uint32_t poses)
{
    /* OpenGL draws as many points as there is room for. */
    const uint64_t room =
        tml->device.engine == TML_ENGINE_VULKAN ? (uint64_t)1 << 16 : (uint64_t)1 << 12;
    return TML_MIN_OF(TML_MAX_OF(room, (uint64_t)1024 * poses), (uint64_t)DISTANCE_ROOM_MOST);
}

static tml_status make_shape(tml_context *tml, tml_tree *tree)
{
    uint32_t words[COLLIDE_VIEW_WORDS] = {[COLLIDE_VIEW_LEVELS] = tree->levels};
    words[COLLIDE_VIEW_LEAST] = tree_leaf_words(tree, &words[COLLIDE_VIEW_MORE]);
    for (uint32_t level = 1; level <= tree->levels; level++) {
        words[COLLIDE_VIEW_GROUPS + 2 * level] = tree->level_group[level];
        words[COLLIDE_VIEW_GROUPS + 2 * level + 1] =
            TML_MIN_OF(tree->level_count[level], COLLIDE_WIDTH);
    }
    _Static_assert(COLLIDE_VIEW_GROUPS + 2 * COLLIDE_LEVELS_MAX + 2 <= COLLIDE_VIEW_WORDS,
                   "room for all levels");
    return tml_buffer_make(tml, TML_U32, COLLIDE_VIEW_WORDS, words, "tree shape",
                           &tree->device_shape);
}

/* Makes the buffers of the two trees, which the trees keep. */
static tml_status make_trees(distance_stream *run)
{
    tml_context *tml = run->p->tml;
    tml_tree *const trees[2] = {run->a, run->b};
    tml_status status = TML_OK;
    collide_learn(tml);
    const bool is_preparing = tml_prepare_pause(tml); /* the tree's own buffers are made now */
    for (int i = 0; i < 2 && status == TML_OK; i++) {
        tml_tree *tree = trees[i];
        if (tml_buffer_is_none(tree->device_boxes) || tml_buffer_is_none(tree->device_triangles) ||
            tml_buffer_is_none(tree->device_shape))
            status = tml_refuse_recording(
                tml, run->p->call, "call it once before tml_vulkan_record, to make its buffers");
        TML_THEN(status, tree_on_device(tml, tree, &run->boxes[i], &run->triangles[i]));
        if (status == TML_OK && tml_buffer_is_none(tree->device_shape))
            status = make_shape(tml, tree);
        tree->forget = collide_forget;
        run->shapes[i] = tree->device_shape;
    }
    tml_prepare_resume(tml, is_preparing);
    return status;
}

/* ---- steps ----------------------------------------------------------------------------------- */

tml_buffer distance_array(const distance_stream *run, tml_type type)
{
    return program_array(run->p, type, run->length.count);
}

tml_buffer distance_add_best(const distance_stream *run, tml_fold fold, tml_buffer values,
                             tml_buffer pose, tml_type type)
{
    program *p = run->p;
    const tml_buffer out = program_array(p, type, run->count);
    if (run->count == 1) {
        program_reduce(
            p, &(tml_reduce_desc){.in = values, .length = run->length, .folds = {{fold, out}}});
        return out;
    }
    const tml_buffer offsets = program_array(p, TML_U32, (uint64_t)run->count + 1);
    program_search(p, &(tml_search_desc){.sorted = pose,
                                         .sorted_length = run->length,
                                         .queries = run->numbers,
                                         .out = offsets});
    program_reduce(
        p, &(tml_reduce_desc){.in = values, .segments.offsets = offsets, .folds = {{fold, out}}});
    return out;
}

static uint32_t level_word(uint32_t a_level, uint32_t b_level)
{
    return a_level | b_level << COLLIDE_NEAR_B_SHIFT;
}

/* The last step whose level has at most `most` pairs of nodes in all; not beyond the leaves. */
static uint32_t step_of(const distance_stream *run, uint64_t most)
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

static void add_view(distance_stream *run, tml_buffer poses, const tml_length *length, double limit)
{
    program *p = run->p;
    bool has_count = !tml_buffer_is_none(length->device);
    uint32_t words =
        has_count ? (uint32_t)(tml_slot_of(p->tml, length->device)->element_size / 4) : 0;
    float most = (float)fmin(limit, (double)INFINITY);
    if (most < INFINITY)
        most = most * (1 + 0x1p-20f) + 0x1p-100f;
    const tml_buffer shapes = program_array(p, TML_U32, COLLIDE_VIEW_POSES);
    run->view =
        program_array(p, TML_U32, COLLIDE_VIEW_POSES + (uint64_t)COLLIDE_VIEW_POSE * run->count);
    program_map(
        p, &(tml_map_desc){
               .kernel = TML_USE(collide_near_shapes),
               .params = {.u = {run->count, words, words * (uint32_t)length->device_index}},
               .in = {run->shapes[0], run->shapes[1], has_count ? length->device : run->shapes[0]},
               .out = {shapes}});
    program_map(p, &(tml_map_desc){.kernel = TML_USE(collide_near_view),
                                   .params = {.f = {most}},
                                   .in = {shapes, poses, run->boxes[0], run->boxes[1]},
                                   .out = {run->view}});
    if (run->count == 1)
        return;
    run->numbers = program_array(p, TML_U32, (uint64_t)run->count + 1);
    program_map(p, &(tml_map_desc){.kernel = TML_USE(collide_near_number), .out = {run->numbers}});
}

/* A step: its levels and sides, log2 of the children per pair, and the number of the next step. */
typedef enum step_kind { OF_NODES, OF_LEAVES, OF_TRIANGLES } step_kind;
typedef struct distance_step {
    step_kind kind;
    uint32_t word, fan, next;
} distance_step;

static distance_step step_at(const distance_stream *run, uint32_t number)
{
    const collide_step *step = &run->steps[number];
    distance_step s = {.fan = 3, .next = number + 1};
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

/* Adds greedy descents from run->length pairs, as the map `descend` says, and folds what they see
 * into an upper bound per pose. */
static void add_descents(distance_stream *run, const tml_map_desc *descend)
{
    tml_map_desc map = *descend;
    const tml_buffer leaves = distance_array(run, TML_VEC(TML_U32, 4)),
                     above = distance_array(run, TML_F32);
    const tml_buffer pose = distance_array(run, TML_U32);
    map.length = run->length;
    map.out[0] = leaves;
    program_map(run->p, &map);
    program_map(run->p,
                &(tml_map_desc){.kernel = TML_USE(collide_near_seen),
                                .in = {leaves, run->triangles[0], run->triangles[1], run->view},
                                .length = run->length,
                                .out = {above, pose}});
    run->best = distance_add_best(run, TML_FOLD_MIN, above, pose, TML_F32);
}

/* Adds: keep pairs, by numbers below run->length, and make the next pairs with the map `take`. */
static void add_pairs(distance_stream *run, const tml_keep *keep, const tml_map_desc *take)
{
    tml_map_desc map = *take;
    const tml_buffer kept = program_array(run->p, TML_U32, run->room);
    const tml_buffer count = program_array(run->p, TML_U32, 1);
    program_compact(
        run->p,
        &(tml_compact_desc){.keep = *keep, .length = run->length, .indices = kept, .count = count});
    run->length = (tml_length){.count = run->room, .device = count};
    run->pairs = distance_array(run, TML_VEC(TML_U32, 4));
    run->pose = distance_array(run, TML_U32);
    run->children = distance_array(run, TML_U32);
    run->largest = distance_array(run, TML_U32);
    map.in[0] = kept;
    map.in[1] = count;
    map.params.u[2] = (uint32_t)run->room;
    map.length = tml_length_of(run->room);
    memcpy(map.out, (const tml_buffer[]){run->pairs, run->pose, run->children, run->largest},
           sizeof map.out);
    program_map(run->p, &map);
}

/* Sets run->length to the number of all pairs of nodes at a step. */
static tml_params all_pairs(distance_stream *run, uint32_t number)
{
    const collide_step *step = &run->steps[number];
    const uint32_t a = run->a->level_count[step->a_level], b = run->b->level_count[step->b_level];
    run->length = tml_length_of((uint64_t)run->count * a * b);
    return (tml_params){.u = {a, b, level_word(step->a_level, step->b_level)}};
}

static void add_first(distance_stream *run, uint32_t number)
{
    const tml_params all = all_pairs(run, number);
    add_pairs(run,
              &(tml_keep){.kernel = TML_USE(collide_near_keep_first),
                          .params = all,
                          .in = {run->best, run->boxes[0], run->boxes[1], run->view}},
              &(tml_map_desc){.kernel = TML_USE(collide_near_take_first),
                              .params = {.u = {all.u[0], all.u[1], 0, step_at(run, number).fan}},
                              .in = {[2] = run->best, [3] = run->view}});
}

/* Adds greedy descents from the pairs, and lowers the pairs' bounds to what these see. */
static void add_lower(distance_stream *run, uint32_t number)
{
    const collide_step *step = &run->steps[number];
    const tml_buffer pairs = run->pairs;
    add_descents(run, &(tml_map_desc){.kernel = TML_USE(collide_near_descent),
                                      .params = {.u = {level_word(step->a_level, step->b_level)}},
                                      .in = {pairs, run->boxes[0], run->boxes[1], run->view}});
    run->pairs = distance_array(run, TML_VEC(TML_U32, 4));
    program_map(run->p, &(tml_map_desc){.kernel = TML_USE(collide_near_lower),
                                        .in = {pairs, run->best, pairs, run->view},
                                        .length = run->length,
                                        .out = {run->pairs}});
}

static void add_step(distance_stream *run, distance_step step)
{
    const uint32_t next = step.next < run->step_count ? step_at(run, step.next).fan : 0;
    const tml_buffer a = step.kind == OF_TRIANGLES ? run->triangles[0] : run->boxes[0];
    const tml_buffer b = step.kind == OF_NODES ? run->boxes[1] : run->triangles[1];
    tml_keep keep = {.kernel = TML_USE(collide_near_keep),
                     .params = {.u = {step.word, step.fan}},
                     .in = {run->pairs, a, b, run->view}};
    if (step.kind == OF_LEAVES)
        keep.kernel = TML_USE(collide_near_keep_leaves);
    if (step.kind == OF_TRIANGLES)
        keep.kernel = TML_USE(collide_near_keep_triangles);
    run->length = (tml_length){.count = run->room << step.fan, .device = run->children};
    add_pairs(run, &keep,
              &(tml_map_desc){.kernel = TML_USE(collide_near_take),
                              .params = {.u = {step.word, step.fan, 0, next}},
                              .in = {[2] = run->pairs, [3] = run->largest}});
}

void distance_add(distance_stream *run, tml_buffer poses, tml_length length, double limit)
{
    program *p = run->p;
    collide_learn(p->tml);
    if (!p->status)
        p->status = make_trees(run);
    if (p->status)
        return;
    add_view(run, poses, &length, limit);
    const tml_params all =
        all_pairs(run, step_of(run, TML_MIN_OF((uint64_t)FIRST_DESCENTS, run->room)));
    add_descents(run, &(tml_map_desc){.kernel = TML_USE(collide_near_first_descent),
                                      .params = all,
                                      .in = {run->boxes[0], run->boxes[1], run->view}});
    uint32_t number = step_of(run, FIRST_PAIRS);
    bool has_seen = false;
    add_first(run, number);
    while (number < run->step_count) {
        distance_step step = step_at(run, number);
        if (step.kind == OF_NODES && (run->count > 1 || !has_seen))
            add_lower(run, number);
        has_seen = true;
        add_step(run, step);
        number = step.next;
    }
}

#include "kernels/kernel_end.h"
