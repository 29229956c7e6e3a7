/* Sides of points on the device. A kernel traces each point's ray. Points of which it is unsure are
 * listed and decided on the host in exact arithmetic; when sides are written, these are looked up
 * in the list. Points are sorted along a curve, so that neighbouring threads traverse the same
 * nodes. */
#include "tree/tree_points_device.h"

#include <string.h>

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must be included first. */
#include "kernels/collide.k.h"
#include "kernels/collide_order.k.h"
#include "kernels/collide_triangles.k.h"
/* Need the headers above. */
#include "kernels/collide_points.k.h"
#include "kernels/collide_stream.k.h"
/* Needs both groups above. */
#include "kernels/collide_points_stream.k.h"

#include "tree_points_library.h"

/* A point's code on the curve. u[0]: bits per coordinate. */
TML_KERNEL_WITH(tree_points, uint, collide_point_code, (vec3 point, tml_words plan, tml_params p), {
    return collide_code_in(point, tml_word_vec3(plan, COLLIDE_PLAN_LOW / 3u),
                           tml_word_vec3(plan, COLLIDE_PLAN_HIGH / 3u), p.u[0]);
})

/* A point's side, or that it is unsure. u[0]: not 0 for the winding rule. */
TML_KERNEL_WITH(tree_points, uint, collide_find_side,
                (vec3 point, tml_words boxes, tml_words triangles, tml_words plan, tml_params p), {
                    if (!collide_is_finite(point.x) || !collide_is_finite(point.y) ||
                        !collide_is_finite(point.z))
                        return COLLIDE_OUTSIDE;
                    if (collide_is_small(point.x) || collide_is_small(point.y) ||
                        collide_is_small(point.z))
                        return COLLIDE_SIDE_UNSURE;
                    return collide_point_side(point, boxes, triangles, plan, p.u[0] != 0u);
                })

TML_KERNEL_WITH(tree_points, bool, collide_is_side_unsure, (uint side),
                { return side == COLLIDE_SIDE_UNSURE; })

/* Whether a point is inside. `unsure`, an ascending list of count indices, has unsure points. */
TML_KERNEL_WITH(tree_points, bool, collide_is_inside,
                (uint side, tml_words unsure, tml_words settled, tml_words count, tml_index i), {
                    uint first = 0u;
                    uint end = tml_word(count, 0u);
                    if (side != COLLIDE_SIDE_UNSURE)
                        return side == COLLIDE_INSIDE;
                    while (first < end) {
                        uint middle = (first + end) / 2u;
                        if (tml_word(unsure, middle) < U(i))
                            first = middle + 1u;
                        else
                            end = middle;
                    }
                    return tml_word(settled, first) == COLLIDE_INSIDE;
                })

_Static_assert(COLLIDE_OUTSIDE == TML_TREE_OUTSIDE && COLLIDE_INSIDE == TML_TREE_INSIDE,
               "as kernels tell them");

/* bits per coordinate: more bits make the sort slower */
enum { ORDER_BITS = 8 };

bool points_run_on_device(const tml_context *tml, tml_tree *tree)
{
    if (tml->engine->is_host || tml->engine->tier || tree->levels == 0 ||
        (uint64_t)9 * tree->level_count[0] > UINT32_MAX)
        return false;
    points_learn(tree);
    return tree->is_moderate;
}

void points_plan(const tml_tree *tree, uint32_t *plan)
{
    memset(plan, 0, COLLIDE_PLAN_WORDS * sizeof *plan);
    plan[COLLIDE_PLAN_LEVELS] = tree->levels;
    plan[COLLIDE_PLAN_LEAST] = tree_leaf_words(tree, &plan[COLLIDE_PLAN_MORE]);
    memcpy(plan + COLLIDE_PLAN_LOW, tree->lower, sizeof tree->lower);
    memcpy(plan + COLLIDE_PLAN_HIGH, tree->upper, sizeof tree->upper);
    memcpy(plan + COLLIDE_PLAN_GROUPS, tree->level_group, sizeof tree->level_group);
    plan[COLLIDE_PLAN_BEHIND] = COLLIDE_PLAN_WORDS + tree->level_count[0];
    _Static_assert(sizeof tree->level_group <= 4 * (COLLIDE_PLAN_BEHIND - COLLIDE_PLAN_GROUPS),
                   "room for all levels");
}

points_order points_add_order(program *p, tml_buffer points, uint64_t count, tml_buffer plan)
{
    const points_order order = {.indices = program_array(p, TML_U32, count),
                                .points = program_array(p, TML_VEC(TML_F32, 3), count)};
    tml_buffer codes = program_array(p, TML_U32, count);
    program_map(p, &(tml_map_desc){.kernel = TML_USE(collide_point_code),
                                   .params = {.u = {ORDER_BITS}},
                                   .in = {points, plan},
                                   .length = tml_length_of(count),
                                   .out = {codes}});
    program_sort(p, &(tml_sort_desc){.keys = codes,
                                     .bit_count = 3 * ORDER_BITS,
                                     .payloads = {{points, order.points}},
                                     .indices = order.indices});
    return order;
}

enum { SETTLE_A_TASK = 256 };

static void settle_task(void *argument, uint32_t task)
{
    const points_sides *s = argument;
    const points_loops *loops = SIMD_CHOOSE(points_loops);
    uint32_t first = task * SETTLE_A_TASK, left = s->unsure_count - first;
    uint32_t end = first + (left < SETTLE_A_TASK ? left : SETTLE_A_TASK);
    for (uint32_t i = first; i < end; i++)
        s->sides[i] =
            points_side_of(loops, s->desc->tree, s->desc->rule, s->points + 3 * (uint64_t)i);
}

/* A host step: decides the points of which the kernel is unsure. */
static tml_status settle(program *p, void *user)
{
    points_sides *s = user;
    tml_status status = tml_buffer_read(p->tml, s->total, &s->unsure_count);
    const uint32_t count = s->unsure_count;
    if (status != TML_OK || count == 0)
        return status;
    s->size = (size_t)count * 5 * sizeof(uint32_t);
    s->numbers = tml_alloc_array(p->tml, count, 5 * sizeof(uint32_t));
    if (!s->numbers)
        return tml_error(p->tml, TML_ERROR_OUT_OF_MEMORY,
                         "tml_tree_nearest: no memory for %u points to settle", count);
    s->sides = s->numbers + count;
    s->points = (float *)(void *)(s->sides + count);
    status = tml_buffer_read_range(p->tml, s->unsure, 0, count, s->numbers);
    TML_THEN(status, tml_buffer_read_range(p->tml, s->at, 0, count, s->points));
    if (status != TML_OK)
        return status;
    tml_parallel_for(p->tml, TML_CEIL_DIV(count, SETTLE_A_TASK), settle_task, s);
    return tml_buffer_write(p->tml, s->settled, 0, count, s->sides);
}

/* A host step: writes the points on the mesh, since the kernel returns only a bool. Writes a few
 * points one by one; for many, reads all sides, changes them and writes them back. */
static tml_status put_points_on(program *p, void *user)
{
    enum { FEW = 64 };
    const points_sides *s = user;
    const uint8_t on = TML_TREE_ON;
    uint32_t on_count = 0;
    uint8_t *all = NULL;
    tml_status status = TML_OK;
    for (uint32_t i = 0; i < s->unsure_count; i++)
        on_count += s->sides[i] == TML_TREE_ON;
    if (on_count > FEW) {
        all = tml_alloc_array(p->tml, s->count, 1);
        if (!all)
            return tml_error(p->tml, TML_ERROR_OUT_OF_MEMORY,
                             "tml_tree_nearest: no memory for the sides of %zu points",
                             (size_t)s->count);
        status = tml_buffer_read_range(p->tml, s->out, 0, s->count, all);
    }
    for (uint32_t i = 0; i < s->unsure_count && status == TML_OK; i++)
        if (s->sides[i] == TML_TREE_ON && all)
            all[s->numbers[i]] = on;
        else if (s->sides[i] == TML_TREE_ON)
            status = tml_buffer_write(p->tml, s->out, s->numbers[i], 1, &on);
    if (status == TML_OK && all)
        status = tml_buffer_write(p->tml, s->out, 0, s->count, all);
    tml_free(p->tml, all, all ? (size_t)s->count : 0);
    return status;
}

void points_add_sides(program *p, points_sides *s, tml_buffer plan, points_order order)
{
    tml_buffer boxes = {0, 0}, triangles = {0, 0};
    tml_buffer in_order = program_array(p, TML_U32, s->count);
    tml_buffer raw = program_array(p, TML_U32, s->count);
    s->unsure = program_array(p, TML_U32, s->count);
    s->at = program_array(p, TML_VEC(TML_F32, 3), s->count);
    s->total = program_array(p, TML_U32, 1);
    s->settled = program_array(p, TML_U32, s->count);
    if (!p->status)
        p->status = tree_on_device(p->tml, s->desc->tree, &boxes, &triangles);
    program_map(p, &(tml_map_desc){.kernel = TML_USE(collide_find_side),
                                   .params = {.u = {s->desc->rule == TML_TREE_RULE_WINDING}},
                                   .in = {order.points, boxes, triangles, plan},
                                   .out = {in_order}});
    program_scatter(p, &(tml_gather_desc){.indices = order.indices, .payloads = {{in_order, raw}}});
    program_compact(
        p, &(tml_compact_desc){.keep = {.kernel = TML_USE(collide_is_side_unsure), .in = {raw}},
                               .payloads = {{s->desc->points, s->at}},
                               .length = tml_length_of(s->count),
                               .indices = s->unsure,
                               .count = s->total});
    program_host(p, &(program_host_desc){.run = settle,
                                         .user = s,
                                         .uses = {s->total, s->unsure, s->at, s->settled}});
    program_map(p, &(tml_map_desc){.kernel = TML_USE(collide_is_inside),
                                   .in = {raw, s->unsure, s->settled, s->total},
                                   .out = {s->out}});
    program_host(p, &(program_host_desc){.run = put_points_on, .user = s, .uses = {s->out}});
}

void points_sides_end(tml_context *tml, points_sides *s)
{
    tml_free(tml, s->numbers, s->size);
}

tml_status points_sides_on_device(tml_context *tml, const tml_tree_nearest_desc *desc,
                                  uint64_t count)
{
    uint32_t words[COLLIDE_PLAN_WORDS];
    points_sides s = {.desc = desc, .count = count, .out = desc->sides};
    tree_learn(tml);
    points_plan(desc->tree, words);
    program p = program_begin(tml, "tml_tree_nearest");
    tml_buffer plan = program_array(&p, TML_U32, COLLIDE_PLAN_WORDS);
    program_put(&p, plan, words, sizeof words);
    points_add_sides(&p, &s, plan, points_add_order(&p, desc->points, count, plan));
    tml_status status = program_run(p, (tml_buffer){0, 0});
    points_sides_end(tml, &s);
    return status;
}

#include "kernels/kernel_end.h"
