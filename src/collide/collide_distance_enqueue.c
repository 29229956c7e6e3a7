/* tml_collide_distance_enqueue. The device itself computes the distances of the remaining pairs, in
 * doubles, with the same bits as the host. For each pose it finds the least distance, then the
 * pairs at that distance, then the pair with the smallest triangles. As distances, crossing
 * triangles have -2, and triangles of which floats are unsure -1. */
#include <math.h>
#include <string.h>

#include "collide/collide_distance.h"
#include "collide/collide_distance_stream.h"
#include "core/call.h"
#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must be included first. */
#include "kernels/collide.k.h"
#include "kernels/collide_triangles.k.h"
/* Need the headers above. */
#include "kernels/collide_stream.k.h"
#include "kernels/collide_triangle_distance.k.h"
/* Needs both groups above. */
#include "kernels/collide_distance.k.h"
/* Doubles. */
#include "kernels/collide_nearest.k.h"
/* Needs them. */
#include "kernels/collide_apart.k.h"
/* Needs all of the above. */
#include "kernels/collide_apart_stream.k.h"

#include "collide_apart_library.h"

TML_KERNEL_WITH(
    collide_apart, double, collide_apart_pair,
    (uvec4 pair, tml_words a_triangles, tml_words b_triangles, tml_words view), {
        if (pair.w == COLLIDE_NEAR_MET)
            return -2.0;
        return collide_apart_posed(pair.x, pair.y, pair.z, a_triangles, b_triangles, view).squared;
    })

/* Whether a pair has its pose's least distance: compares bits. */
TML_KERNEL_WITH(collide_apart, bool, collide_apart_is_nearest,
                (tml_words distances, uvec4 pair, tml_words nearest, tml_index i), {
                    return tml_word(distances, 2u * U(i)) == tml_word(nearest, 2u * pair.z) &&
                           tml_word(distances, 2u * U(i) + 1u) ==
                               tml_word(nearest, 2u * pair.z + 1u);
                })

/* The key that orders pairs at the same distance. */
TML_KERNEL_OUTS_WITH(collide_apart, (uint64 key, uint pose), collide_apart_key,
                     (uvec4 pair, tml_words a_ids, tml_words b_ids), {
                         collide_apart_key_out o;
                         o.key = UINT64(tml_word(b_ids, pair.y), tml_word(a_ids, pair.x));
                         o.pose = pair.z;
                         return o;
                     })

/* A pose's pair: two slots, then two triangles. All are COLLIDE_APART_NONE if there is no pair;
 * only the slots are if the pair stands for a pose whose meshes meet. */
TML_KERNEL_WITH(collide_apart, uvec4, collide_apart_won,
                (uint which, tml_words pairs, tml_words a_ids, tml_words b_ids), {
                    uint none = COLLIDE_APART_NONE;
                    if (which == none)
                        return UVEC4(none, none, none, none);
                    uvec4 pair = collide_near_pair_at(pairs, which);
                    if (pair.w == COLLIDE_NEAR_MET)
                        return UVEC4(none, none, 0u, 0u);
                    return UVEC4(pair.x, pair.y, tml_word(a_ids, pair.x), tml_word(b_ids, pair.y));
                })

/* A pose's outputs. u[0], u[1]: the two words of the limit. */
TML_KERNEL_OUTS_WITH(collide_apart, (double distance, vec3 a, vec3 b, uvec2 triangles),
                     collide_apart_tell,
                     (uvec4 won, tml_words a_triangles, tml_words b_triangles, tml_words view,
                      tml_index i, tml_params p),
                     {
                         collide_apart_tell_out o;
                         float nan = uintBitsToFloat(0x7fc00000u);
                         uint at = COLLIDE_VIEW_POSES + COLLIDE_VIEW_POSE * U(i);
                         o.distance = DOUBLE(0u, 0x7ff00000u);
                         o.a = VEC3(nan, nan, nan);
                         o.b = o.a;
                         o.triangles = UVEC2(COLLIDE_APART_NONE, COLLIDE_APART_NONE);
                         if (tml_word(view, at + COLLIDE_VIEW_STATE) != COLLIDE_POSE_USABLE)
                             o.distance = DOUBLE(0u, 0x7ff80000u);
                         else if (won.x == COLLIDE_APART_NONE && won.z != COLLIDE_APART_NONE)
                             o.distance = 0.0;
                         else if (won.z != COLLIDE_APART_NONE) {
                             collide_apart best = collide_apart_posed(
                                 won.x, won.y, U(i), a_triangles, b_triangles, view);
                             if (best.squared == -2.0)
                                 o.distance = 0.0;
                             else if (best.squared < 0.0)
                                 o.distance = DOUBLE(0u, 0x7ff80000u);
                             else if (best.squared <= DOUBLE(p.u[0], p.u[1])) {
                                 o.distance = best.squared;
                                 o.a = VEC3(F(best.a.x), F(best.a.y), F(best.a.z));
                                 o.b = VEC3(F(best.b.x), F(best.b.y), F(best.b.z));
                                 o.triangles = UVEC2(won.z, won.w);
                             }
                         }
                         return o;
                     })

TML_KERNEL(uint, collide_apart_needed, (tml_words largest), { return tml_word(largest, 0u); })

static const char call[] = "tml_collide_distance_enqueue";

/* ---- on the device --------------------------------------------------------------------------- */

/* Adds the search for each pose's nearest pair. Returns these pairs. */
static tml_buffer add_won(distance_stream *run, const tml_buffer ids[2], tml_length length)
{
    program *p = run->p;
    const tml_buffer won = program_array(p, TML_VEC(TML_U32, 4), run->count);
    const tml_buffer distances = distance_array(run, TML_F64), keys = distance_array(run, TML_U64);
    const tml_buffer near = distance_array(run, TML_VEC(TML_U32, 4)),
                     pose = distance_array(run, TML_U32);
    const tml_buffer count = program_array(p, TML_U32, 1);
    program_map(p,
                &(tml_map_desc){.kernel = TML_USE(collide_apart_pair),
                                .in = {run->pairs, run->triangles[0], run->triangles[1], run->view},
                                .length = run->length,
                                .out = {distances}});
    const tml_buffer least = distance_add_best(run, TML_FOLD_MIN, distances, run->pose, TML_F64);
    program_compact(p, &(tml_compact_desc){.keep = {.kernel = TML_USE(collide_apart_is_nearest),
                                                    .in = {distances, run->pairs, least}},
                                           .payloads = {{run->pairs, near}},
                                           .length = run->length,
                                           .count = count});
    run->length = (tml_length){.count = run->room, .device = count};
    program_map(p, &(tml_map_desc){.kernel = TML_USE(collide_apart_key),
                                   .in = {near, ids[0], ids[1]},
                                   .length = run->length,
                                   .out = {keys, pose}});
    const tml_buffer which = distance_add_best(run, TML_FOLD_ARGMIN, keys, pose, TML_U32);
    program_map(p, &(tml_map_desc){.kernel = TML_USE(collide_apart_won),
                                   .in = {which, near, ids[0], ids[1]},
                                   .length = length,
                                   .out = {won}});
    return won;
}

static tml_map_desc tell_of(const distance_stream *run, const tml_collide_distance_desc *desc,
                            tml_buffer won)
{
    uint64_t bits;
    memcpy(&bits, &desc->limit, sizeof bits);
    return (tml_map_desc){.kernel = TML_USE(collide_apart_tell),
                          .params = {.u = {(uint32_t)bits, (uint32_t)(bits >> 32)}},
                          .in = {won, run->triangles[0], run->triangles[1], run->view},
                          .length = desc->length};
}

/* Returns the caller's buffer, or a new array if there is none. */
static tml_buffer output(distance_stream *run, tml_buffer given, tml_type type)
{
    return tml_buffer_is_none(given) ? program_array(run->p, type, run->count) : given;
}

static tml_status distance_on_device_enqueue(tml_context *tml,
                                             const tml_collide_distance_desc *desc)
{
    static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    tml_tree *const trees[2] = {desc->a, desc->b};
    program p = program_begin(tml, call);
    distance_stream run = {
        .p = &p, .a = desc->a, .b = desc->b, .count = (uint32_t)desc->length.count};
    tml_buffer ids[2] = {{0, 0}, {0, 0}}, poses = desc->pose_buffer;
    run.room = desc->capacity ? desc->capacity : distance_usual_room(p.tml, run.count);
    run.room = TML_MIN_OF(TML_MAX_OF(run.room, (uint64_t)DISTANCE_ROOM_LEAST),
                          (uint64_t)DISTANCE_ROOM_MOST);
    run.room = TML_MAX_OF(run.room, (uint64_t)COLLIDE_WIDTH * run.count);
    run.step_count = collide_schedule(desc->a, desc->b, 0, run.steps);
    if (tml_buffer_is_none(poses)) {
        poses = program_array(&p, TML_F32, 12);
        program_put(&p, poses, identity, sizeof identity);
    }
    distance_add(&run, poses, desc->length, desc->limit);
    const bool is_preparing = tml_prepare_pause(p.tml); /* the tree's own buffers are made now */
    for (int i = 0; i < 2 && !p.status; i++)
        p.status = tree_build_ids_make(p.tml, call, trees[i], &ids[i]);
    tml_prepare_resume(p.tml, is_preparing);
    const tml_buffer won = add_won(&run, ids, desc->length);
    tml_map_desc tell = tell_of(&run, desc, won);
    tell.out[0] = desc->distances;
    tell.out[1] = output(&run, desc->points_a, TML_VEC(TML_F32, 3));
    tell.out[2] = output(&run, desc->points_b, TML_VEC(TML_F32, 3));
    tell.out[3] = output(&run, desc->triangles, TML_VEC(TML_U32, 2));
    program_map(&p, &tell);
    if (!tml_buffer_is_none(desc->needed))
        program_map(&p, &(tml_map_desc){.kernel = TML_USE(collide_apart_needed),
                                        .in = {run.largest},
                                        .length = tml_length_of(1),
                                        .out = {desc->needed}});
    return program_enqueue(p, (tml_buffer){0, 0});
}

/* ---- on the host ----------------------------------------------------------------------------- */

static void pose_task(void *argument, uint32_t task)
{
    const distance_job *job = argument;
    distance_of_pose(job, task);
}

/* Writes the outputs that the device would write. */
static tml_status results_write(const tml_collide_distance_desc *desc, const distance_job *job,
                                const bool *is_usable)
{
    const uint32_t none = 0;
    tml_status status = TML_OK;
    for (uint32_t p = 0; p < job->pose_count && status == TML_OK; p++) {
        tml_collide_distance_result r = job->out[p];
        bool is_apart = is_usable[p] && r.distance > 0 && r.distance < (double)INFINITY;
        uint32_t triangles[2] = {is_apart ? r.a : UINT32_MAX, is_apart ? r.b : UINT32_MAX};
        if (!is_usable[p])
            r.distance = (double)NAN;
        for (int k = 0; k < 3 && !is_apart; k++)
            r.point_a[k] = r.point_b[k] = NAN;
        status = tml_buffer_write(job->tml, desc->distances, p, 1, &r.distance);
        if (status == TML_OK && !tml_buffer_is_none(desc->points_a))
            status = tml_buffer_write(job->tml, desc->points_a, p, 1, r.point_a);
        if (status == TML_OK && !tml_buffer_is_none(desc->points_b))
            status = tml_buffer_write(job->tml, desc->points_b, p, 1, r.point_b);
        if (status == TML_OK && !tml_buffer_is_none(desc->triangles))
            status = tml_buffer_write(job->tml, desc->triangles, p, 1, triangles);
    }
    if (status == TML_OK && !tml_buffer_is_none(desc->needed))
        status = tml_buffer_write(job->tml, desc->needed, 0, 1, &none);
    return status;
}

static tml_status poses_make(tml_buffer given, distance_job *job, float *matrices,
                             collide_pose *poses, bool *is_usable)
{
    const bool has_poses = !tml_buffer_is_none(given);
    tml_status status = TML_OK;
    if (has_poses && job->pose_count > 0)
        status =
            tml_buffer_read_range(job->tml, given, 0, (uint64_t)12 * job->pose_count, matrices);
    for (uint32_t p = 0; p < job->pose_count && status == TML_OK; p++) {
        is_usable[p] = collide_pose_is_usable(job->b, has_poses ? matrices + 12 * (size_t)p : NULL);
        status = collide_pose_make(job->tml, call, job->a, job->b,
                                   has_poses && is_usable[p] ? matrices + 12 * (size_t)p : NULL, p,
                                   &poses[p]);
    }
    job->poses = poses;
    return status;
}

static tml_status distance_on_host(tml_context *tml, const tml_collide_distance_desc *desc)
{
    distance_job job = {.tml = tml, .a = desc->a, .b = desc->b, .limit = desc->limit};
    uint64_t count = 0;
    tml_status status = stream_read_length(tml, &desc->length, &count);
    TML_THEN(status, trees_fetch(tml, call, desc->a, desc->b, COLLIDE_STALE_ALL));
    if (status != TML_OK)
        return status;
    job.pose_count = (uint32_t)count;
    const uint64_t room = count + 1;
    float *matrices = tml_alloc_array(tml, room, 12 * sizeof *matrices);
    collide_pose *poses = tml_alloc_array(tml, room, sizeof *poses);
    bool *is_usable = tml_alloc_array(tml, room, sizeof *is_usable);
    job.out = tml_alloc_array(tml, room, sizeof *job.out);
    if (!matrices || !poses || !is_usable || !job.out)
        status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %u poses", call,
                           job.pose_count);
    TML_THEN(status, poses_make(desc->pose_buffer, &job, matrices, poses, is_usable));
    if (status == TML_OK && !tml_parallel_until(tml, job.pose_count, pose_task, &job))
        status = tml_error(tml, TML_ERROR_CANCELLED, "%s: cancelled", call);
    TML_THEN(status, results_write(desc, &job, is_usable));
    tml_free(tml, matrices, room * 12 * sizeof *matrices);
    tml_free(tml, poses, room * sizeof *poses);
    tml_free(tml, is_usable, room * sizeof *is_usable);
    tml_free(tml, job.out, room * sizeof *job.out);
    return status;
}

/* ---- the call -------------------------------------------------------------------------------- */

static tml_status distance_enqueue(tml_context *tml, const tml_collide_distance_desc *given)
{
    tml_collide_distance_desc resolved = *given;
    const tml_collide_distance_desc *desc = &resolved;
    const distance_stream none = {.count = 0};
    tml_status status = distance_check_enqueue(tml, call, &resolved);
    if (status != TML_OK || desc->length.count == 0)
        return status;
    /* The host also accepts a mesh without triangles. */
    if (tml->engine->is_host)
        return tml->is_preparing ? TML_OK : distance_on_host(tml, desc);
    collide_learn(tml);
    const tml_map_desc tell = tell_of(&none, desc, (tml_buffer){0, 0});
    if (tml->engine->tier || !stream_supports_op(tml, stream_map.parts[tml->engine->part], &tell))
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: %s has no kernels with doubles; use tml_collide_distance", call,
                         tml->device.name);
    if (desc->a->levels == 0 || desc->b->levels == 0)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.%s has no triangle; a mesh without one is infinitely far", call,
                         desc->a->levels == 0 ? "a" : "b");
    if ((desc->a->stale | desc->b->stale) & COLLIDE_UNDEFINED)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: a tree's last update on the device failed; call "
                         "tml_tree_update_enqueue with TML_TREE_REBUILD",
                         call);
    return distance_on_device_enqueue(tml, desc);
}

tml_status tml_collide_distance_enqueue(tml_context *tml, const tml_collide_distance_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, distance_enqueue(tml, desc));
}

#include "kernels/kernel_end.h"
