/* The distance of two meshes on the device. The device finds the pairs of triangles whose lower
 * bound, in floats, is at most the least upper bound; the host decides these. Two words are read
 * back first: the number of pairs that the fullest step made, and the number that are left. If a
 * step lacked room, the buffers grow; if they may not, fewer poses are processed at a time; a
 * single pose is left to the host. */
#include <math.h>
#include <string.h>

#include "collide/collide_distance.h"
#include "collide/collide_distance_stream.h"
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

TML_KERNEL_OUTS_WITH(collide_distance, (float below, float above, uint pose), collide_near_pair,
                     (uvec4 pair, tml_words a_triangles, tml_words b_triangles, tml_words view), {
                         collide_near_pair_out o;
                         triangle_corners t = collide_near_posed(collide_near_rows(view, pair.z),
                                                                 b_triangles, pair.y);
                         vec2 bounds =
                             collide_near_bounds(collide_near_triangle(a_triangles, pair.x), t);
                         o.below = bounds.x;
                         o.above = bounds.y;
                         o.pose = pair.z;
                         return o;
                     })

TML_KERNEL_WITH(collide_distance, bool, collide_is_near,
                (float below, uvec4 pair, tml_words above, tml_words view), {
                    float error = collide_near_of_pose(view, pair.z, COLLIDE_VIEW_ERROR);
                    float bound =
                        min(tml_word_float(above, pair.z) + error, uintBitsToFloat(pair.w));
                    return pair.w == COLLIDE_NEAR_MET || below <= bound;
                })

/* The number of pairs that the fullest step made, and the number that are left. */
TML_KERNEL(uvec2, collide_near_told, (tml_words largest, tml_words count),
           { return UVEC2(tml_word(largest, 0u), tml_word(count, 0u)); })

enum { POSES_AT_ONCE = 1 << 14 };

typedef struct broad_run {
    distance_job *job;
    tml_status status;
    double scale;                        /* mean scale of the poses (collide_schedule) */
    uint64_t room, most_room, sure_room; /* pairs: now; at most; of the last try that ran */
    uint32_t first, count;               /* poses of this try */
    float *matrices;                     /* matrices of these poses; room for pose_room */
    uint32_t pose_room;
    tml_buffer poses, pairs, told; /* arrays of this try */
    /* On the host: pairs of the fullest step; the pairs left; where each pose's pairs begin. */
    uint32_t needed;
    tml_uvec4 *found;
    uint32_t found_count, *starts;
    uint64_t found_room;
} broad_run;

/* ---- a try ----------------------------------------------------------------------------------- */

static const char call[] = "tml_collide_distance";

/* A host step. */
static tml_status write_poses(program *p, void *user)
{
    const broad_run *run = user;
    for (uint32_t i = 0; i < run->count; i++)
        memcpy(run->matrices + (size_t)12 * i, run->job->poses[run->first + i].matrix,
               sizeof run->job->poses->matrix);
    return tml_buffer_write(p->tml, run->poses, 0, (uint64_t)12 * run->count, run->matrices);
}

/* A host step: reads the pairs that are left, if all pairs had room. */
static tml_status read_found(program *p, void *user)
{
    broad_run *run = user;
    uint32_t told[2];
    tml_status status = tml_buffer_read(p->tml, run->told, told);
    if (status != TML_OK)
        return status;
    run->sure_room = run->room;
    run->needed = told[0];
    run->found_count = told[1];
    if (told[0] > run->room || told[1] == 0)
        return TML_OK;
    if (told[1] > run->found_room) {
        tml_free(p->tml, run->found, (size_t)run->found_room * sizeof *run->found);
        run->found = tml_alloc_array(p->tml, told[1], sizeof *run->found);
        run->found_room = run->found ? told[1] : 0;
        if (!run->found)
            return tml_error(p->tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %u pairs", call,
                             told[1]);
    }
    return tml_buffer_read_range(p->tml, run->pairs, 0, told[1], run->found);
}

/* Adds bounds of distances, keeps pairs that may be nearest, collects the host's two words. */
static void add_bounds(broad_run *run, distance_stream *near)
{
    program *p = near->p;
    const tml_buffer below = distance_array(near, TML_F32), above = distance_array(near, TML_F32);
    const tml_buffer pose = distance_array(near, TML_U32), count = program_array(p, TML_U32, 1);
    run->pairs = distance_array(near, TML_VEC(TML_U32, 4));
    run->told = program_array(p, TML_VEC(TML_U32, 2), 1);
    program_map(
        p, &(tml_map_desc){.kernel = TML_USE(collide_near_pair),
                           .in = {near->pairs, near->triangles[0], near->triangles[1], near->view},
                           .length = near->length,
                           .out = {below, above, pose}});
    const tml_buffer best = distance_add_best(near, TML_FOLD_MIN, above, pose, TML_F32);
    program_compact(p, &(tml_compact_desc){.keep = {.kernel = TML_USE(collide_is_near),
                                                    .in = {below, near->pairs, best, near->view}},
                                           .payloads = {{near->pairs, run->pairs}},
                                           .length = near->length,
                                           .count = count});
    program_map(p, &(tml_map_desc){.kernel = TML_USE(collide_near_told),
                                   .in = {near->largest, count},
                                   .out = {run->told}});
}

static void try_poses(broad_run *run)
{
    const distance_job *job = run->job;
    program p = program_begin(job->tml, call);
    distance_stream near = {
        .p = &p, .a = job->a, .b = job->b, .count = run->count, .room = run->room};
    near.step_count = collide_schedule(job->a, job->b, run->scale, near.steps);
    run->poses = program_array(&p, TML_F32, (uint64_t)12 * run->count);
    program_host(&p, &(program_host_desc){.run = write_poses, .user = run, .uses = {run->poses}});
    distance_add(&near, run->poses, tml_length_of(run->count), job->limit);
    add_bounds(run, &near);
    program_host(
        &p, &(program_host_desc){.run = read_found, .user = run, .uses = {run->told, run->pairs}});
    run->status = program_run(p, (tml_buffer){0, 0});
}

/* ---- what is left ---------------------------------------------------------------------------- */

enum { POSES_A_TASK = 8 };

/* Decides poses from their pairs. Distance -1 marks a pose that must be computed depth first. */
static void settle_task(void *argument, uint32_t task)
{
    const broad_run *run = argument;
    uint32_t end = TML_MIN_OF(task * POSES_A_TASK + POSES_A_TASK, run->count);
    for (uint32_t p = task * POSES_A_TASK; p < end; p++) {
        tml_collide_distance_result best = distance_none(run->job);
        bool has_met = false;
        for (uint32_t i = run->starts[p]; i < run->starts[p + 1] && !has_met; i++) {
            has_met = run->found[i].w == COLLIDE_NEAR_MET;
            if (!has_met)
                distance_offer(run->job, run->first + p, run->found[i].x, run->found[i].y, &best);
            has_met |= best.distance == 0;
        }
        distance_finish(run->job, run->first + p, best);
        if (has_met)
            run->job->out[run->first + p].distance = -1;
    }
}

static void follow_task(void *argument, uint32_t task)
{
    const broad_run *run = argument;
    if (run->job->out[run->first + task].distance < 0)
        distance_of_pose(run->job, run->first + task);
}

/* Computes the poses with distance -1 depth first, on the host. */
static void follow_marked(broad_run *run)
{
    const distance_job *job = run->job;
    bool is_any = false;
    for (uint32_t p = 0; p < run->count; p++)
        is_any |= job->out[run->first + p].distance < 0;
    if (!is_any)
        return;
    run->status = trees_fetch(job->tml, call, job->a, job->b, COLLIDE_STALE_ALL);
    if (run->status == TML_OK)
        tml_parallel_for(job->tml, run->count, follow_task, run);
}

static void settle(broad_run *run)
{
    const distance_job *job = run->job;
    run->status =
        trees_fetch(job->tml, call, job->a, job->b, COLLIDE_STALE_IDS | COLLIDE_STALE_TRIANGLES);
    if (run->status != TML_OK)
        return;
    for (uint32_t p = 0, i = 0; p <= run->count; p++) {
        run->starts[p] = i;
        while (p < run->count && i < run->found_count && run->found[i].z == p)
            i++;
    }
    tml_parallel_for(job->tml, TML_CEIL_DIV(run->count, POSES_A_TASK), settle_task, run);
    follow_marked(run);
}

/* ---- the call -------------------------------------------------------------------------------- */

/* Reacts to a step that made too many pairs: more room, or else fewer poses per try. If neither is
 * possible, computes the only pose on the host and returns true. */
static bool overflow(broad_run *run)
{
    const uint64_t needed = run->needed, before = run->room;
    run->room = TML_MIN_OF(TML_MAX_OF(needed + needed / 4, 2 * before), run->most_room);
    if (run->room > before)
        return false;
    if (run->count > 1) {
        run->count = TML_CEIL_DIV(run->count, 8);
        return false;
    }
    run->job->out[run->first].distance = -1;
    follow_marked(run);
    return true;
}

/* Whether a try failed for lack of memory, but an earlier try ran with less room. */
static bool has_no_memory(const broad_run *run)
{
    return run->sure_room > 0 && run->room > run->sure_room &&
           (run->status == TML_ERROR_OUT_OF_MEMORY ||
            run->status == TML_ERROR_OUT_OF_DEVICE_MEMORY);
}

static void run_poses(broad_run *run)
{
    const distance_job *job = run->job;
    uint32_t at_once = run->pose_room;
    while (run->first < job->pose_count && run->status == TML_OK) {
        if (!tml_progress(job->tml, "distance", (double)run->first / job->pose_count)) {
            run->status = tml_error(job->tml, TML_ERROR_CANCELLED, "%s: cancelled", call);
            return;
        }
        run->count = TML_MIN_OF(job->pose_count - run->first, at_once);
        try_poses(run);
        if (has_no_memory(run)) {
            run->status = TML_OK;
            run->most_room = run->room = run->sure_room;
            continue;
        }
        if (run->status != TML_OK)
            return;
        bool is_done = run->needed <= run->room;
        if (is_done)
            settle(run);
        else
            is_done = overflow(run);
        if (is_done)
            run->first += run->count;
        else
            at_once = run->count;
    }
}

static void prepare(broad_run *run)
{
    const distance_job *job = run->job;
    tml_context *tml = job->tml;
    uint32_t poses = TML_MIN_OF(job->pose_count, (uint32_t)POSES_AT_ONCE);
    uint64_t limit = collide_memory_limit(tml, job->memory_limit);
    run->most_room =
        TML_MIN_OF(TML_MAX_OF(limit / DISTANCE_PAIR_BYTES, (uint64_t)DISTANCE_ROOM_LEAST),
                   (uint64_t)DISTANCE_ROOM_MOST);
    run->room = job->a->distance_room ? job->a->distance_room : distance_usual_room(tml, 1);
    run->room = TML_MIN_OF(run->room, run->most_room);
    run->pose_room = (uint32_t)TML_MIN_OF((uint64_t)poses, run->most_room / COLLIDE_WIDTH);
    run->matrices = tml_alloc_array(tml, run->pose_room, 12 * sizeof *run->matrices);
    run->starts = tml_alloc_array(tml, (uint64_t)run->pose_room + 1, sizeof *run->starts);
    if (!run->matrices || !run->starts)
        run->status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %u poses", call,
                                run->pose_room);
}

tml_status distance_on_device(distance_job *job)
{
    tml_context *tml = job->tml;
    broad_run run = {.job = job, .scale = collide_scale_of(job->poses, job->pose_count)};
    if (job->a->levels == 0 || job->b->levels == 0) {
        for (uint32_t p = 0; p < job->pose_count; p++)
            distance_finish(job, p, distance_none(job));
        return TML_OK;
    }
    prepare(&run);
    if (run.status == TML_OK)
        run_poses(&run);
    job->a->distance_room = run.sure_room;
    tml_free(tml, run.matrices, (size_t)run.pose_room * 12 * sizeof *run.matrices);
    tml_free(tml, run.starts, ((size_t)run.pose_room + 1) * sizeof *run.starts);
    tml_free(tml, run.found, (size_t)run.found_room * sizeof *run.found);
    return run.status;
}

#include "kernels/kernel_end.h"
