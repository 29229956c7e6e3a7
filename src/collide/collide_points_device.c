/* Sides of points on the device: a kernel follows each point's ray, what it is unsure of is listed, settled here in exact
 * arithmetic, and looked up in the list where sides are written. Points are taken along a curve: threads side by side then
 * take the same way. */
#include "collide/collide_points_device.h"

#include <string.h>

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/collide.k.h"
#include "kernels/collide_order.k.h"
#include "kernels/collide_triangles.k.h"
/* Uses the formulas above. */
#include "kernels/collide_points.k.h"
#include "kernels/collide_stream.k.h"
/* Uses both. */
#include "kernels/collide_points_stream.k.h"

#include "collide_points_library.h"

/* u[0]: bits of each coordinate. */
TML_KERNEL_WITH(collide_points, uint, collide_point_code,
                (vec3 point, tml_words plan, tml_params p), {
                    return collide_code_in(point, tml_word_vec3(plan, COLLIDE_PLAN_LOW / 3u),
                                           tml_word_vec3(plan, COLLIDE_PLAN_HIGH / 3u), p.u[0]);
                })

/* u[0]: not 0 for the winding rule. */
TML_KERNEL_WITH(collide_points, uint, collide_find_side,
                (vec3 point, tml_words boxes, tml_words triangles, tml_words plan, tml_params p), {
                    if (!collide_is_finite(point.x) || !collide_is_finite(point.y) ||
                        !collide_is_finite(point.z))
                        return COLLIDE_OUTSIDE;
                    if (collide_is_small(point.x) || collide_is_small(point.y) ||
                        collide_is_small(point.z))
                        return COLLIDE_SIDE_UNSURE;
                    return collide_point_side(point, boxes, triangles, plan, p.u[0] != 0u);
                })

TML_KERNEL_WITH(collide_points, bool, collide_is_side_unsure, (uint side),
                { return side == COLLIDE_SIDE_UNSURE; })

/* Is a point inside? Unsure ones are looked up in the ascending list of u[0] of them. */
TML_KERNEL_WITH(collide_points, bool, collide_is_inside,
                (uint side, tml_words unsure, tml_words settled, tml_index i, tml_params p), {
                    uint first = 0u;
                    uint end = p.u[0];
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

/* Of an order: finer ones take longer to sort. */
enum { ORDER_BITS = 8 };

bool points_run_on_device(const tml_context *tml, tml_tree *tree)
{
    if (tml->engine->is_host || tml->engine->tier || tree->levels == 0 ||
        (uint64_t)9 * tree->level_count[0] > UINT32_MAX)
        return false;
    points_learn(tree);
    return tree->is_moderate;
}

tml_status points_make(tml_context *tml, tml_type type, uint64_t count, const void *data,
                       const char *label, tml_buffer *out)
{
    return tml_buffer_create(
        tml, &(tml_buffer_desc){.type = type, .count = count, .data = data, .label = label}, out);
}

void points_plan(const tml_tree *tree, uint32_t *plan)
{
    memset(plan, 0, COLLIDE_PLAN_WORDS * sizeof *plan);
    plan[COLLIDE_PLAN_LEVELS] = tree->levels;
    plan[COLLIDE_PLAN_LEAST] = collide_leaf_words(tree, &plan[COLLIDE_PLAN_MORE]);
    memcpy(plan + COLLIDE_PLAN_LOW, tree->lower, sizeof tree->lower);
    memcpy(plan + COLLIDE_PLAN_HIGH, tree->upper, sizeof tree->upper);
    memcpy(plan + COLLIDE_PLAN_GROUPS, tree->level_group, sizeof tree->level_group);
    plan[COLLIDE_PLAN_BEHIND] = COLLIDE_PLAN_WORDS + tree->level_count[0];
    _Static_assert(sizeof tree->level_group <= 4 * (COLLIDE_PLAN_BEHIND - COLLIDE_PLAN_GROUPS),
                   "room for all levels");
}

tml_status points_order_enqueue(tml_context *tml, tml_buffer points, uint64_t count,
                                tml_buffer plan, points_order *order)
{
    tml_status status = points_make(tml, TML_U32, count, NULL, "points' codes", &order->codes);
    if (status == TML_OK)
        status = points_make(tml, TML_U32, count, NULL, "order of points", &order->indices);
    if (status == TML_OK)
        status =
            points_make(tml, TML_VEC(TML_F32, 3), count, NULL, "points in order", &order->points);
    if (status == TML_OK)
        status = tml_map(tml, &(tml_map_desc){.kernel = TML_USE(collide_point_code),
                                              .params = {.u = {ORDER_BITS}},
                                              .in = {points, plan},
                                              .length = tml_length_of(count),
                                              .out = order->codes});
    if (status == TML_OK)
        status = tml_sort(tml, &(tml_sort_desc){.keys = order->codes,
                                                .bit_count = 3 * ORDER_BITS,
                                                .length = tml_length_of(count),
                                                .payloads = {{points, order->points}},
                                                .indices = order->indices});
    return status;
}

void points_order_destroy(tml_context *tml, points_order *order)
{
    tml_buffer_destroy(tml, order->codes);
    tml_buffer_destroy(tml, order->indices);
    tml_buffer_destroy(tml, order->points);
}

typedef struct sides_run {
    tml_context *tml;
    const tml_tree_nearest_desc *desc;
    uint64_t count;
    points_order order;
    tml_buffer plan, in_order, raw; /* a side a point, in order and in the stream's */
    tml_buffer unsure, at, total;   /* which of them are to be settled, and where they are */
    tml_buffer settled;
    /* The same here. */
    uint32_t unsure_count;
    uint32_t *numbers, *sides;
    float *points;
    size_t size; /* bytes from numbers on */
} sides_run;

static tml_status buffers_make(sides_run *run)
{
    uint32_t plan[COLLIDE_PLAN_WORDS];
    points_plan(run->desc->tree, plan);
    tml_status status =
        points_make(run->tml, TML_U32, COLLIDE_PLAN_WORDS, plan, "tree plan", &run->plan);
    if (status == TML_OK)
        status = points_make(run->tml, TML_U32, run->count, NULL, "sides in order", &run->in_order);
    if (status == TML_OK)
        status = points_make(run->tml, TML_U32, run->count, NULL, "sides", &run->raw);
    if (status == TML_OK)
        status = points_make(run->tml, TML_U32, run->count, NULL, "unsure points", &run->unsure);
    if (status == TML_OK)
        status =
            points_make(run->tml, TML_VEC(TML_F32, 3), run->count, NULL, "unsure points", &run->at);
    if (status == TML_OK)
        status = points_make(run->tml, TML_U32, 1, NULL, "unsure points", &run->total);
    return status;
}

/* Enqueues the walk, and the list of what it is unsure of. */
static tml_status sides_enqueue(sides_run *run)
{
    tml_status status =
        points_order_enqueue(run->tml, run->desc->points, run->count, run->plan, &run->order);
    tml_map_desc map = {.kernel = TML_USE(collide_find_side),
                        .params = {.u = {run->desc->rule == TML_TREE_RULE_WINDING}},
                        .in = {run->order.points, {0, 0}, {0, 0}, run->plan},
                        .length = tml_length_of(run->count),
                        .out = run->in_order};
    if (status == TML_OK)
        status = collide_device_tree(run->tml, run->desc->tree, &map.in[1], &map.in[2]);
    if (status == TML_OK)
        status = tml_map(run->tml, &map);
    if (status == TML_OK)
        status =
            tml_scatter(run->tml, &(tml_scatter_desc){.indices = run->order.indices,
                                                      .length = tml_length_of(run->count),
                                                      .payloads = {{run->in_order, run->raw}}});
    if (status == TML_OK)
        status = tml_compact(run->tml,
                             &(tml_compact_desc){.keep = {.kernel = TML_USE(collide_is_side_unsure),
                                                          .in = {run->raw}},
                                                 .payloads = {{run->desc->points, run->at}},
                                                 .length = tml_length_of(run->count),
                                                 .indices = run->unsure,
                                                 .count = run->total});
    return status;
}

enum { SETTLE_A_TASK = 256 };

static void settle_task(void *argument, uint32_t task)
{
    const sides_run *run = argument;
    const points_loops *loops = points_loops_for_processor();
    uint32_t first = task * SETTLE_A_TASK, left = run->unsure_count - first;
    uint32_t end = first + (left < SETTLE_A_TASK ? left : SETTLE_A_TASK);
    for (uint32_t i = first; i < end; i++)
        run->sides[i] =
            points_side_of(loops, run->desc->tree, run->desc->rule, run->points + 3 * (uint64_t)i);
}

static tml_status settle(sides_run *run)
{
    uint32_t count = run->unsure_count;
    run->size = (size_t)count * 5 * sizeof(uint32_t);
    run->numbers = tml_alloc_array(run->tml, count, 5 * sizeof(uint32_t));
    if (!run->numbers)
        return tml_error(run->tml, TML_ERROR_OUT_OF_MEMORY,
                         "tml_tree_nearest: no memory for %u points to settle", count);
    run->sides = run->numbers + count;
    run->points = (float *)(void *)(run->sides + count);
    tml_status status = tml_buffer_read_range(run->tml, run->unsure, 0, count, run->numbers);
    if (status == TML_OK)
        status = tml_buffer_read_range(run->tml, run->at, 0, count, run->points);
    if (status == TML_OK) {
        tml_parallel_for(run->tml, TML_CEIL_DIV(count, SETTLE_A_TASK), settle_task, run);
        status = points_make(run->tml, TML_U32, count, run->sides, "settled points", &run->settled);
    }
    return status;
}

/* Writes the points on the mesh, which the kernel of a bool cannot: a few one by one, many by way of the host. */
static tml_status put_points_on(sides_run *run)
{
    enum { FEW = 64 };
    const uint8_t on = TML_TREE_ON;
    uint32_t on_count = 0;
    uint8_t *all = NULL;
    tml_status status = TML_OK;
    for (uint32_t i = 0; i < run->unsure_count; i++)
        on_count += run->sides[i] == TML_TREE_ON;
    if (on_count > FEW) {
        all = tml_alloc_array(run->tml, run->count, 1);
        if (!all)
            return tml_error(run->tml, TML_ERROR_OUT_OF_MEMORY,
                             "tml_tree_nearest: no memory for the sides of %zu points",
                             (size_t)run->count);
        status = tml_buffer_read_range(run->tml, run->desc->sides, 0, run->count, all);
    }
    for (uint32_t i = 0; i < run->unsure_count && status == TML_OK; i++)
        if (run->sides[i] == TML_TREE_ON && all)
            all[run->numbers[i]] = on;
        else if (run->sides[i] == TML_TREE_ON)
            status = tml_buffer_write(run->tml, run->desc->sides, run->numbers[i], 1, &on);
    if (status == TML_OK && all)
        status = tml_buffer_write(run->tml, run->desc->sides, 0, run->count, all);
    tml_free(run->tml, all, all ? (size_t)run->count : 0);
    return status;
}

static tml_status sides_run_all(sides_run *run)
{
    tml_status status = buffers_make(run);
    if (status == TML_OK)
        status = sides_enqueue(run);
    if (status == TML_OK)
        status = tml_buffer_read(run->tml, run->total, &run->unsure_count);
    if (status == TML_OK && run->unsure_count > 0)
        status = settle(run);
    if (status == TML_OK)
        status = tml_map(run->tml,
                         &(tml_map_desc){.kernel = TML_USE(collide_is_inside),
                                         .params = {.u = {run->unsure_count}},
                                         .in = {run->raw, run->unsure,
                                                run->unsure_count ? run->settled : run->unsure},
                                         .length = tml_length_of(run->count),
                                         .out = run->desc->sides});
    return status == TML_OK ? put_points_on(run) : status;
}

tml_status points_sides_on_device(tml_context *tml, const tml_tree_nearest_desc *desc,
                                  uint64_t count)
{
    sides_run run = {.tml = tml, .desc = desc, .count = count};
    collide_learn(tml);
    tml_status status = sides_run_all(&run);
    const tml_buffer made[] = {run.plan, run.in_order, run.raw,    run.unsure,
                               run.at,   run.total,    run.settled};
    for (uint32_t i = 0; i < TML_ARRAY_SIZE(made); i++)
        tml_buffer_destroy(tml, made[i]);
    points_order_destroy(tml, &run.order);
    tml_free(tml, run.numbers, run.size);
    return status;
}

#include "kernels/kernel_end.h"
