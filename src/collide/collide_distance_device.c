/* The distance of two meshes on the device: the host settles the pairs of triangles whose lower bound, in floats, is not
 * above the least upper one. Two words are read back first: how many pairs the fullest step made, and how many are left.
 * Where there was too little room, buffers grow; if they may not, fewer poses go at a time; and a single pose is followed
 * on the host. */
#include <math.h>
#include <string.h>

#include "collide/collide_distance.h"
#include "collide/collide_distance_stream.h"
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

/* How many pairs the fullest step made, and how many are left. */
TML_KERNEL(uvec2, collide_near_told, (tml_words largest, tml_words count),
           { return UVEC2(tml_word(largest, 0u), tml_word(count, 0u)); })

enum { POSES_AT_ONCE = 1 << 14 };

typedef struct broad_run {
    near_stream stream;
    distance_job *job;
    uint64_t most_room;
    uint32_t first;  /* pose of the first one now */
    float *matrices; /* of poses now, with room for matrix_room */
    size_t matrix_room;
    /* On the host: what is left, and where each pose's part begins. */
    tml_uvec4 *found;
    uint32_t found_count, *starts;
    uint64_t found_room;
    uint32_t start_room;
} broad_run;

/* What is left of the pairs of triangles, into kept->pairs[!from], and how many; and what the host is told. */
static void bounds_enqueue(near_stream *run)
{
    struct collide_near *kept = run->kept;
    near_map(run, &(tml_map_desc){.kernel = TML_USE(collide_near_pair),
                                  .in = {kept->pairs[run->from], run->triangles[0],
                                         run->triangles[1], kept->view},
                                  .length = run->length,
                                  .out = kept->below,
                                  .also = {kept->above, kept->pose}});
    near_best_enqueue(run, TML_FOLD_MIN, kept->above, kept->best);
    if (run->status == TML_OK)
        run->status = tml_compact(
            run->tml,
            &(tml_compact_desc){
                .keep = {.kernel = TML_USE(collide_is_near),
                         .in = {kept->below, kept->pairs[run->from], kept->best, kept->view}},
                .payloads = {{kept->pairs[run->from], kept->pairs[!run->from]}},
                .length = {.count = kept->room, .device = run->length.device},
                .count = kept->count});
    near_map(run, &(tml_map_desc){.kernel = TML_USE(collide_near_told),
                                  .in = {kept->largest[run->from], kept->count},
                                  .length = tml_length_of(1),
                                  .out = kept->told});
}

/* ---- what is left ---------------------------------------------------------------------------- */

enum { POSES_A_TASK = 8 };

/* Settles poses. A distance below 0: to be followed depth first. */
static void settle_task(void *argument, uint32_t task)
{
    const broad_run *run = argument;
    uint32_t end = TML_MIN_OF(task * POSES_A_TASK + POSES_A_TASK, run->stream.count);
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

/* Follows on the host the poses that are marked. */
static void follow_marked(broad_run *run)
{
    const distance_job *job = run->job;
    bool is_any = false;
    for (uint32_t p = 0; p < run->stream.count; p++)
        is_any |= job->out[run->first + p].distance < 0;
    if (run->stream.status != TML_OK || !is_any)
        return;
    run->stream.status =
        collide_trees_fetch(job->tml, "tml_collide_distance", job->a, job->b, COLLIDE_STALE_ALL);
    if (run->stream.status == TML_OK)
        tml_parallel_for(job->tml, run->stream.count, follow_task, run);
}

static void found_read(broad_run *run)
{
    tml_context *tml = run->job->tml;
    if (run->found_count > run->found_room) {
        tml_free(tml, run->found, (size_t)run->found_room * sizeof *run->found);
        run->found = tml_alloc_array(tml, run->found_count, sizeof *run->found);
        run->found_room = run->found ? run->found_count : 0;
        if (!run->found)
            run->stream.status =
                tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                          "tml_collide_distance: no memory for %u pairs", run->found_count);
    }
    if (run->stream.status == TML_OK && run->found_count > 0)
        run->stream.status = tml_buffer_read_range(tml, run->stream.kept->pairs[!run->stream.from],
                                                   0, run->found_count, run->found);
}

static void settle(broad_run *run)
{
    const distance_job *job = run->job;
    found_read(run);
    if (run->stream.status == TML_OK)
        run->stream.status = collide_trees_fetch(job->tml, "tml_collide_distance", job->a, job->b,
                                                 COLLIDE_STALE_IDS | COLLIDE_STALE_TRIANGLES);
    if (run->stream.status != TML_OK)
        return;
    for (uint32_t p = 0, i = 0; p <= run->stream.count; p++) {
        run->starts[p] = i;
        while (p < run->stream.count && i < run->found_count && run->found[i].z == p)
            i++;
    }
    tml_parallel_for(job->tml, TML_CEIL_DIV(run->stream.count, POSES_A_TASK), settle_task, run);
    follow_marked(run);
}

/* ---- the call -------------------------------------------------------------------------------- */

static void room_make(broad_run *run, uint64_t room)
{
    near_stream *stream = &run->stream;
    near_room_make(stream, room);
    near_make(stream, TML_F32, room, NULL, "lower bounds", &stream->kept->below);
}

/* More room, for a step that made so many pairs; or fewer poses; or the only one on the host, which is then done. */
static bool overflow(broad_run *run, uint64_t needed)
{
    uint64_t before = run->stream.kept->room;
    uint64_t room = TML_MIN_OF(TML_MAX_OF(needed + needed / 4, 2 * before), run->most_room);
    if (room > before) {
        room_make(run, room);
        if (run->stream.status == TML_OK)
            return false;
        run->stream.status = TML_OK;
        run->most_room = before;
        room_make(run, before);
        return false;
    }
    if (run->stream.count > 1) {
        run->stream.count = TML_CEIL_DIV(run->stream.count, 8);
        return false;
    }
    run->job->out[run->first].distance = -1;
    follow_marked(run);
    return true;
}

static void poses_upload(broad_run *run)
{
    for (uint32_t p = 0; p < run->stream.count; p++)
        memcpy(run->matrices + (size_t)12 * p, run->job->poses[run->first + p].matrix,
               sizeof run->job->poses->matrix);
    if (run->stream.status == TML_OK)
        run->stream.status = tml_buffer_write(run->job->tml, run->stream.kept->poses, 0,
                                              (uint64_t)12 * run->stream.count, run->matrices);
}

static void poses_run(broad_run *run)
{
    const distance_job *job = run->job;
    near_stream *stream = &run->stream;
    uint32_t at_once = run->start_room - 1;
    while (run->first < job->pose_count && stream->status == TML_OK) {
        uint32_t told[2] = {0, 0};
        if (!tml_progress(job->tml, "distance", (double)run->first / job->pose_count)) {
            stream->status =
                tml_error(job->tml, TML_ERROR_CANCELLED, "tml_collide_distance: cancelled");
            return;
        }
        stream->count = TML_MIN_OF(job->pose_count - run->first, at_once);
        poses_upload(run);
        near_enqueue(stream, stream->kept->poses, tml_length_of(stream->count), job->limit);
        bounds_enqueue(stream);
        if (stream->status == TML_OK)
            stream->status = tml_buffer_read(job->tml, stream->kept->told, told);
        if (stream->status != TML_OK)
            return;
        run->found_count = told[1];
        bool is_done = told[0] <= stream->kept->room;
        if (is_done)
            settle(run);
        else
            is_done = overflow(run, told[0]);
        if (is_done)
            run->first += stream->count;
        else
            at_once = stream->count;
    }
}

static void prepare(broad_run *run)
{
    const distance_job *job = run->job;
    near_stream *stream = &run->stream;
    tml_context *tml = job->tml;
    uint32_t poses = TML_MIN_OF(job->pose_count, (uint32_t)POSES_AT_ONCE);
    uint64_t limit = collide_memory_limit(tml, job->memory_limit);
    run->most_room = TML_MIN_OF(TML_MAX_OF(limit / NEAR_PAIR_BYTES, (uint64_t)NEAR_ROOM_LEAST),
                                (uint64_t)NEAR_ROOM_MOST);
    poses = (uint32_t)TML_MIN_OF((uint64_t)poses, run->most_room / COLLIDE_WIDTH);
    run->matrix_room = (size_t)12 * poses;
    run->start_room = poses + 1;
    run->matrices = tml_alloc_array(tml, run->matrix_room, sizeof *run->matrices);
    run->starts = tml_alloc_array(tml, run->start_room, sizeof *run->starts);
    if (!run->matrices || !run->starts) {
        stream->status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                                   "tml_collide_distance: no memory for %u poses", poses);
        return;
    }
    near_trees_make(stream, &job->a->near);
    if (stream->status != TML_OK)
        return;
    near_make(stream, TML_VEC(TML_U32, 2), 1, NULL, "pair counts", &stream->kept->told);
    if (stream->kept->room == 0 || stream->kept->room > run->most_room ||
        tml_buffer_is_none(stream->kept->below))
        room_make(run, TML_MIN_OF(near_usual_room(tml, 1), run->most_room));
    if (stream->kept->pose_room < poses || (poses == 1) != (stream->kept->pose_room == 1)) {
        near_poses_make(stream, poses);
        near_make(stream, TML_F32, (uint64_t)12 * poses, NULL, "poses", &stream->kept->poses);
    }
}

tml_status distance_on_device(distance_job *job)
{
    tml_context *tml = job->tml;
    broad_run run = {
        .job = job,
        .stream = {.tml = tml, .call = "tml_collide_distance", .a = job->a, .b = job->b}};
    run.stream.step_count = collide_schedule(
        job->a, job->b, collide_scale_of(job->poses, job->pose_count), run.stream.steps);
    if (run.stream.step_count == 0) { /* a mesh without triangles */
        for (uint32_t p = 0; p < job->pose_count; p++)
            distance_finish(job, p, distance_none(job));
        return TML_OK;
    }
    prepare(&run);
    if (run.stream.status == TML_OK)
        poses_run(&run);
    tml_free(tml, run.matrices, run.matrix_room * sizeof *run.matrices);
    tml_free(tml, run.starts, run.start_room * sizeof *run.starts);
    tml_free(tml, run.found, (size_t)run.found_room * sizeof *run.found);
    return run.stream.status;
}

#include "kernels/kernel_end.h"
