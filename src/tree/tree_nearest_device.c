/* Nearest points on the device, with the same bits as on the host. A kernel walks the tree with
 * bounds in floats and distances in doubles. On devices without doubles the host does it all. */
#include <string.h>

#include "tree/tree_points_device.h"

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must be included first. */
#include "kernels/collide.k.h"
#include "kernels/collide_triangles.k.h"
/* Need the headers above. */
#include "kernels/collide_points.k.h"
#include "kernels/collide_stream.k.h"
#include "kernels/collide_triangle_distance.k.h"
/* Needs both groups above. */
#include "kernels/collide_points_stream.k.h"
/* Doubles. */
#include "kernels/collide_nearest.k.h"
/* Needs all of the above. */
#include "kernels/collide_nearest_stream.k.h"

#include "tree_nearest_library.h"

TML_KERNEL_OUTS_WITH(tree_nearest, (float distance, vec3 position, uint triangle, uint feature),
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
                             o.triangle = COLLIDE_LEFT_OVER;
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
                             o.triangle = COLLIDE_LEFT_OVER;
                         return o;
                     })

TML_KERNEL(bool, collide_is_left_over, (uint triangle), { return triangle == 0xfffffffeu; })
_Static_assert(COLLIDE_LEFT_OVER == 0xfffffffeu, "as the kernel has it");

TML_KERNEL(float, collide_sign_distance, (float distance, uint side), {
    if (side == 2u)
        return 0.0f;
    return side == 1u ? -distance : distance;
})
_Static_assert(TML_TREE_ON == 2 && TML_TREE_INSIDE == 1, "as the kernel has them");

/* Packs four features, a byte each. */
TML_KERNEL(uint, collide_pack_features, (tml_words features, tml_index word), {
    uint at = 4u * U(word);
    return tml_word(features, at) | tml_word(features, at + 1u) << 8u |
           tml_word(features, at + 2u) << 16u | tml_word(features, at + 3u) << 24u;
})

static const char call[] = "tml_tree_nearest";

tml_status points_plan_make(tml_context *tml, const char *name, const tml_tree *tree,
                            const uint32_t *more, uint64_t more_count, tml_buffer *out)
{
    const uint64_t slots = tree->level_count[0], before = COLLIDE_PLAN_WORDS + slots;
    const uint64_t count = before + more_count;
    uint32_t *words = tml_alloc_array(tml, count, sizeof *words);
    if (!words)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for a plan of %zu words",
                         name, (size_t)count);
    points_plan(tree, words);
    memcpy(words + COLLIDE_PLAN_WORDS, tree->ids, (size_t)slots * sizeof *words);
    if (more_count > 0)
        memcpy(words + before, more, (size_t)more_count * sizeof *words);
    tml_status status = tml_buffer_make(tml, TML_U32, count, words, "tree plan", out);
    tml_free(tml, words, (size_t)count * sizeof *words);
    return status;
}

/* Makes the tree's plan on the device, unless current. It stays until the tree changes. */
static tml_status plan_find(tml_context *tml, tml_tree *tree)
{
    tml_status status = TML_OK;
    if (!tree->has_plan || tree->stale_again) {
        tml_buffer_destroy(tml, tree->device_plan);
        tree->device_plan = (tml_buffer){0, 0};
        status = points_plan_make(tml, call, tree, NULL, 0, &tree->device_plan);
        tree->has_plan = status == TML_OK;
    }
    return status;
}

typedef struct nearest_run {
    const tml_tree_nearest_desc *desc;
    uint64_t count;
    tml_buffer left_over_count, packed; /* arrays of the program */
    uint32_t left_over;
} nearest_run;

/* A host step: stops the program if points are left to the host. */
static tml_status stop_if_left_over(program *p, void *user)
{
    nearest_run *run = user;
    tml_status status = tml_buffer_read(p->tml, run->left_over_count, &run->left_over);
    if (run->left_over > 0)
        program_stop(p);
    return status;
}

/* A host step: writes the features, which are bytes; kernels cannot write bytes. */
static tml_status put_features(program *p, void *user)
{
    const nearest_run *run = user;
    const uint64_t words = (run->count + 3) / 4;
    uint32_t *packed = tml_alloc_array(p->tml, words, sizeof *packed);
    if (!packed)
        return tml_error(p->tml, TML_ERROR_OUT_OF_MEMORY,
                         "%s: no memory for the features of %zu points", call, (size_t)run->count);
    tml_status status = tml_buffer_read(p->tml, run->packed, packed);
    TML_THEN(status, tml_buffer_write(p->tml, run->desc->features, 0, run->count, packed));
    tml_free(p->tml, packed, (size_t)words * sizeof *packed);
    return status;
}

/* Adds the walk, with outputs in the order of points, and a stop if points are left over. */
static tml_map_desc add_walk(program *p, nearest_run *run, tml_buffer plan, points_order order)
{
    tml_map_desc walk = {.kernel = TML_USE(collide_nearest_of),
                         .in = {order.points, {0, 0}, {0, 0}, plan},
                         .out = {program_array(p, TML_F32, run->count),
                                 program_array(p, TML_VEC(TML_F32, 3), run->count),
                                 program_array(p, TML_U32, run->count),
                                 program_array(p, TML_U32, run->count)}};
    run->left_over_count = program_array(p, TML_U32, 1);
    if (!p->status)
        p->status = tree_on_device(p->tml, run->desc->tree, &walk.in[1], &walk.in[2]);
    program_map(p, &walk);
    program_compact(p, &(tml_compact_desc){
                           .keep = {.kernel = TML_USE(collide_is_left_over), .in = {walk.out[2]}},
                           .count = run->left_over_count});
    program_host(p, &(program_host_desc){
                        .run = stop_if_left_over, .user = run, .uses = {run->left_over_count}});
    return walk;
}

static void add_outputs(program *p, nearest_run *run, const tml_map_desc *walk, points_order order,
                        tml_buffer sides)
{
    const tml_tree_nearest_desc *desc = run->desc;
    const uint64_t words = (run->count + 3) / 4;
    const bool has_features = !tml_buffer_is_none(desc->features);
    tml_buffer unpacked = program_array(p, TML_U32, 4 * words);
    run->packed = program_array(p, TML_U32, words);
    const tml_payload payloads[] = {{walk->out[0], desc->distances},
                                    {walk->out[1], desc->positions},
                                    {walk->out[2], desc->triangles},
                                    {walk->out[3], has_features ? unpacked : (tml_buffer){0, 0}}};
    tml_gather_desc scatter = {.indices = order.indices};
    for (uint32_t i = 0, to = 0; i < TML_ARRAY_SIZE(payloads); i++)
        if (!tml_buffer_is_none(payloads[i].out))
            scatter.payloads[to++] = payloads[i];
    program_scatter(p, &scatter);
    if (desc->is_signed && !tml_buffer_is_none(desc->distances))
        program_map(p, &(tml_map_desc){.kernel = TML_USE(collide_sign_distance),
                                       .in = {desc->distances, sides},
                                       .length = tml_length_of(run->count),
                                       .out = {desc->distances}});
    if (!has_features)
        return;
    program_map(p, &(tml_map_desc){.kernel = TML_USE(collide_pack_features),
                                   .in = {unpacked},
                                   .out = {run->packed}});
    program_host(p, &(program_host_desc){.run = put_features, .user = run, .uses = {run->packed}});
}

tml_status points_nearest_on_device(tml_context *tml, const tml_tree_nearest_desc *desc,
                                    uint64_t count, bool *is_told)
{
    nearest_run run = {.desc = desc, .count = count};
    points_sides sides = {.desc = desc, .count = count, .out = desc->sides};
    *is_told = false;
    tree_learn(tml);
    if (!stream_supports_op(tml, stream_map.parts[tml->engine->part],
                            &(tml_map_desc){.kernel = TML_USE(collide_nearest_of)}))
        return TML_OK;
    tml_status status = plan_find(tml, desc->tree);
    if (status != TML_OK)
        return status;
    program p = program_begin(tml, call);
    const points_order order = points_add_order(&p, desc->points, count, desc->tree->device_plan);
    const tml_map_desc walk = add_walk(&p, &run, desc->tree->device_plan, order);
    if (desc->is_signed && tml_buffer_is_none(sides.out))
        sides.out = program_array(&p, TML_U8, count);
    if (!tml_buffer_is_none(sides.out))
        points_add_sides(&p, &sides, desc->tree->device_plan, order);
    add_outputs(&p, &run, &walk, order, sides.out);
    status = program_run(p, (tml_buffer){0, 0});
    *is_told = run.left_over == 0;
    points_sides_end(tml, &sides);
    return status;
}

#include "kernels/kernel_end.h"
