/* Nearest points on the device, with the bits of the host's: a kernel walks the tree, by bounds in floats and distances in
 * doubles. Devices without doubles leave it to the host. */
#include <string.h>

#include "collide/collide_points_device.h"
#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/collide.k.h"
#include "kernels/collide_triangles.k.h"
/* Uses the formulas above. */
#include "kernels/collide_points.k.h"
#include "kernels/collide_stream.k.h"
#include "kernels/collide_triangle_distance.k.h"
/* Uses both. */
#include "kernels/collide_points_stream.k.h"
/* Doubles. */
#include "kernels/collide_nearest.k.h"
/* Uses all. */
#include "kernels/collide_nearest_stream.k.h"
#include "stream/stream_internal.h"

#include "collide_nearest_library.h"

TML_KERNEL_OUTS_WITH(collide_nearest, (float distance, vec3 position, uint triangle, uint feature),
                     collide_nearest_of,
                     (vec3 point, tml_words boxes, tml_words triangles, tml_words plan), {
                         collide_nearest_of_out o;
                         float nan = uintBitsToFloat(0x7fc00000u);
                         o.distance = uintBitsToFloat(0x7f800000u);
                         o.position = VEC3(nan, nan, nan);
                         o.triangle = COLLIDE_NONE;
                         o.feature = 0u;
                         if (!collide_is_finite(point.x) || !collide_is_finite(point.y) ||
                             !collide_is_finite(point.z))
                             return o;
                         if (collide_is_odd(point)) {
                             o.triangle = 0xfffffffeu;
                             return o;
                         }
                         collide_found found =
                             collide_find(collide_found_none(DOUBLE(0u, 0x7ff00000u)), point, boxes,
                                          triangles, plan);
                         collide_place place =
                             collide_place_of(point, collide_corner_at(triangles, found.slot, 0u),
                                              collide_corner_at(triangles, found.slot, 1u),
                                              collide_corner_at(triangles, found.slot, 2u));
                         o.distance = F(collide_root(place.squared));
                         o.position = VEC3(F(place.x), F(place.y), F(place.z));
                         o.triangle = found.id;
                         o.feature = place.feature;
                         if (collide_is_lost(place.squared * 1.0e37) || collide_is_lost(place.x) ||
                             collide_is_lost(place.y) || collide_is_lost(place.z))
                             o.triangle = 0xfffffffeu;
                         return o;
                     })

/* The triangle of a point that is for the host is 2^32 - 2. */
TML_KERNEL(bool, collide_is_left_over, (uint triangle), { return triangle == 0xfffffffeu; })

TML_KERNEL(float, collide_sign_distance, (float distance, uint side), {
    if (side == 2u)
        return 0.0f;
    return side == 1u ? -distance : distance;
})
_Static_assert(TML_TREE_ON == 2 && TML_TREE_INSIDE == 1, "as the kernel has them");

/* Four features, of which each is a byte. */
TML_KERNEL(uint, collide_pack_features, (tml_words features, tml_index word), {
    uint at = 4u * U(word);
    return tml_word(features, at) | tml_word(features, at + 1u) << 8u |
           tml_word(features, at + 2u) << 16u | tml_word(features, at + 3u) << 24u;
})

typedef struct nearest_run {
    tml_context *tml;
    const tml_tree_nearest_desc *desc;
    uint64_t count;
    points_order order;
    tml_buffer plan, total;
    tml_buffer distances, positions, triangles, features; /* in order */
    tml_buffer unpacked, packed, sides;
} nearest_run;

tml_status points_plan_make(tml_context *tml, const char *call, const tml_tree *tree,
                            const uint32_t *more, uint64_t more_count, tml_buffer *out)
{
    const uint64_t slots = tree->level_count[0], before = COLLIDE_PLAN_WORDS + slots;
    const uint64_t count = before + more_count;
    uint32_t *words = tml_alloc_array(tml, count, sizeof *words);
    if (!words)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for a plan of %zu words",
                         call, (size_t)count);
    points_plan(tree, words);
    memcpy(words + COLLIDE_PLAN_WORDS, tree->ids, (size_t)slots * sizeof *words);
    if (more_count > 0)
        memcpy(words + before, more, (size_t)more_count * sizeof *words);
    tml_status status = points_make(tml, TML_U32, count, words, "tree plan", out);
    tml_free(tml, words, (size_t)count * sizeof *words);
    return status;
}

/* The tree's plan, which stays on the device until the tree changes. */
static tml_status plan_find(nearest_run *run)
{
    tml_tree *tree = run->desc->tree;
    tml_status status = TML_OK;
    if (!tree->has_plan || tree->stale_again) {
        tml_buffer_destroy(run->tml, tree->device_plan);
        tree->device_plan = (tml_buffer){0, 0};
        status = points_plan_make(run->tml, "tml_tree_nearest", tree, NULL, 0, &tree->device_plan);
        tree->has_plan = status == TML_OK;
    }
    run->plan = tree->device_plan;
    return status;
}

static tml_status buffers_make(nearest_run *run)
{
    struct {
        tml_buffer *buffer;
        tml_type type;
        uint64_t count;
        const char *label;
    } wants[] = {{&run->total, TML_U32, 1, "points left over"},
                 {&run->distances, TML_F32, run->count, "distances in order"},
                 {&run->positions, TML_VEC(TML_F32, 3), run->count, "nearest points in order"},
                 {&run->triangles, TML_U32, run->count, "triangles in order"},
                 {&run->features, TML_U32, run->count, "features in order"},
                 {&run->unpacked, TML_U32, (run->count + 3) / 4 * 4, "features"},
                 {&run->packed, TML_U32, (run->count + 3) / 4, "features"},
                 {&run->sides, TML_U8, run->count, "sides"}};
    tml_status status = plan_find(run);
    for (size_t i = 0; i < TML_ARRAY_SIZE(wants) && status == TML_OK; i++) {
        bool is_of_features = wants[i].buffer == &run->unpacked || wants[i].buffer == &run->packed;
        if ((is_of_features && tml_buffer_is_none(run->desc->features)) ||
            (wants[i].buffer == &run->sides &&
             !(run->desc->is_signed && tml_buffer_is_none(run->desc->sides))))
            continue;
        status = points_make(run->tml, wants[i].type, wants[i].count, NULL, wants[i].label,
                             wants[i].buffer);
    }
    return status;
}

static tml_map_desc walk_of(const nearest_run *run)
{
    return (tml_map_desc){.kernel = TML_USE(collide_nearest_of),
                          .in = {run->order.points, {0, 0}, {0, 0}, run->plan},
                          .length = tml_length_of(run->count),
                          .out = run->distances,
                          .also = {run->positions, run->triangles, run->features}};
}

static tml_status walk_enqueue(nearest_run *run)
{
    const tml_tree_nearest_desc *desc = run->desc;
    tml_status status =
        points_order_enqueue(run->tml, desc->points, run->count, run->plan, &run->order);
    tml_map_desc map = walk_of(run);
    if (status == TML_OK)
        status = collide_device_tree(run->tml, desc->tree, &map.in[1], &map.in[2]);
    if (status == TML_OK)
        status = tml_map(run->tml, &map);
    if (status == TML_OK)
        status = tml_compact(run->tml,
                             &(tml_compact_desc){.keep = {.kernel = TML_USE(collide_is_left_over),
                                                          .in = {run->triangles}},
                                                 .length = tml_length_of(run->count),
                                                 .count = run->total});
    return status;
}

static tml_status outputs_enqueue(nearest_run *run)
{
    const tml_tree_nearest_desc *desc = run->desc;
    const tml_payload payloads[] = {{run->distances, desc->distances},
                                    {run->positions, desc->positions},
                                    {run->triangles, desc->triangles},
                                    {run->features, run->unpacked}};
    tml_scatter_desc scatter = {.indices = run->order.indices, .length = tml_length_of(run->count)};
    for (uint32_t i = 0, to = 0; i < TML_ARRAY_SIZE(payloads); i++)
        if (!tml_buffer_is_none(payloads[i].out))
            scatter.payloads[to++] = payloads[i];
    tml_status status = tml_scatter(run->tml, &scatter);
    if (status == TML_OK && desc->is_signed && !tml_buffer_is_none(desc->distances))
        status = tml_map(
            run->tml,
            &(tml_map_desc){
                .kernel = TML_USE(collide_sign_distance),
                .in = {desc->distances, tml_buffer_is_none(desc->sides) ? run->sides : desc->sides},
                .length = tml_length_of(run->count),
                .out = desc->distances});
    return status;
}

/* Features are bytes, which no kernel writes: by way of the host. */
static tml_status put_features(nearest_run *run)
{
    if (tml_buffer_is_none(run->desc->features))
        return TML_OK;
    const uint64_t words = (run->count + 3) / 4;
    uint32_t *packed = tml_alloc_array(run->tml, words, sizeof *packed);
    if (!packed)
        return tml_error(run->tml, TML_ERROR_OUT_OF_MEMORY,
                         "tml_tree_nearest: no memory for the features of %zu points",
                         (size_t)run->count);
    tml_status status = tml_map(run->tml, &(tml_map_desc){.kernel = TML_USE(collide_pack_features),
                                                          .in = {run->unpacked},
                                                          .length = tml_length_of(words),
                                                          .out = run->packed});
    if (status == TML_OK)
        status = tml_buffer_read(run->tml, run->packed, packed);
    if (status == TML_OK)
        status = tml_buffer_write(run->tml, run->desc->features, 0, run->count, packed);
    tml_free(run->tml, packed, (size_t)words * sizeof *packed);
    return status;
}

static tml_status run_all(nearest_run *run, bool *is_told)
{
    uint32_t left_over = 0;
    tml_status status = buffers_make(run);
    if (status == TML_OK)
        status = walk_enqueue(run);
    if (status == TML_OK)
        status = tml_buffer_read(run->tml, run->total, &left_over);
    *is_told = left_over == 0;
    if (status != TML_OK || !*is_told)
        return status;
    tml_tree_nearest_desc sides = *run->desc;
    if (!tml_buffer_is_none(run->sides))
        sides.sides = run->sides;
    if (!tml_buffer_is_none(sides.sides))
        status = points_sides_on_device(run->tml, &sides, run->count);
    if (status == TML_OK)
        status = outputs_enqueue(run);
    return status == TML_OK ? put_features(run) : status;
}

tml_status points_nearest_on_device(tml_context *tml, const tml_tree_nearest_desc *desc,
                                    uint64_t count, bool *is_told)
{
    nearest_run run = {.tml = tml, .desc = desc, .count = count};
    tml_map_desc map = walk_of(&run);
    *is_told = false;
    collide_learn(tml);
    if (!stream_supports_op(tml, stream_map.parts[tml->engine->part], &map))
        return TML_OK;
    tml_status status = run_all(&run, is_told);
    const tml_buffer made[] = {run.total,    run.distances, run.positions, run.triangles,
                               run.features, run.unpacked,  run.packed,    run.sides};
    for (uint32_t i = 0; i < TML_ARRAY_SIZE(made); i++)
        tml_buffer_destroy(tml, made[i]);
    points_order_destroy(tml, &run.order);
    return status;
}

#include "kernels/kernel_end.h"
