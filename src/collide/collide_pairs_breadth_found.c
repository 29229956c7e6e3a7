/* The pairs of triangles at the end of a breadth-first descent: reads them, classifies unsure ones
 * on the host, and adds them to the job. */
#include <inttypes.h>

#include "collide/collide_pairs_breadth.h"

typedef struct settle_work {
    const collide_job *job;
    const tml_uvec3 *found; /* slot of a, slot of b, pose */
    uint8_t *kinds;
    uint64_t count;
} settle_work;

enum { SETTLE_A_TASK = 1024 };

/* Classifies pairs of triangles. */
static void settle_task(void *argument, uint32_t task)
{
    const settle_work *work = argument;
    const collide_job *job = work->job;
    uint64_t first = (uint64_t)task * SETTLE_A_TASK;
    uint64_t end = TML_MIN_OF(first + SETTLE_A_TASK, work->count);
    for (uint64_t i = first; i < end; i++) {
        const tml_uvec3 *pair = &work->found[i];
        uint32_t pose = pair->z & ~COLLIDE_UNSURE_POSE;
        work->kinds[i] = TML_COLLIDE_CLASS_NONE;
        if (breadth_is_answered(job, pose) || tml_is_cancelled(job->tml))
            continue;
        work->kinds[i] = pair->z == pose
                             ? (uint8_t)TML_COLLIDE_CLASS_CROSSING
                             : (uint8_t)collide_settle(job, &job->poses[pose], pair->x, pair->y);
    }
}

/* Classifies `count` pairs in run->found, and adds them to the job's counts and pairs.
 * kinds: scratch of one byte per pair. */
static tml_status found_take(breadth_run *run, uint64_t count, uint8_t *kinds)
{
    collide_job *job = run->job;
    settle_work work = {job, run->found, kinds, count};
    tml_parallel_for(job->tml, (uint32_t)TML_CEIL_DIV(count, SETTLE_A_TASK), settle_task, &work);
    if (tml_is_cancelled(job->tml)) /* some pairs may not be classified */
        return tml_error(job->tml, TML_ERROR_CANCELLED, "tml_collide: cancelled");
    tml_status status =
        job->want == TML_COLLIDE_WANT_COUNT ? TML_OK : collide_pairs_grow(job, count);
    for (uint64_t i = 0; i < count && status == TML_OK; i++) {
        const tml_uvec3 *pair = &run->found[i];
        uint32_t pose = pair->z & ~COLLIDE_UNSURE_POSE;
        uint32_t a = job->a->ids[pair->x], b = job->b->ids[pair->y];
        job->unsure += pair->z != pose;
        if (!(job->classes >> kinds[i] & 1) || breadth_is_answered(job, pose))
            continue;
        job->pose_counts[pose]++;
        job->class_counts[kinds[i]]++;
        if (job->want == TML_COLLIDE_WANT_COUNT)
            continue;
        bool is_turned = job->is_self && a > b;
        job->pairs[job->pair_count++] =
            (tml_collide_pair){is_turned ? b : a, is_turned ? a : b, pose, kinds[i]};
    }
    return status;
}

/* COUNT: reads the slice's certain crossings per pose, and adds them to the job. */
static tml_status crossings_read(breadth_run *run)
{
    collide_job *job = run->job;
    tml_status status =
        tml_buffer_read_range(job->tml, run->stream->crossings, 0, run->pose_count, run->crossings);
    for (uint32_t i = 0; i < run->pose_count && status == TML_OK; i++) {
        job->pose_counts[run->first_pose + i] += run->crossings[i];
        job->class_counts[TML_COLLIDE_CLASS_CROSSING] += run->crossings[i];
    }
    return status;
}

/* Fetches those parts of the trees that `count` pairs in run->found need on the host. */
static tml_status found_fetch(const breadth_run *run, uint64_t count)
{
    const collide_job *job = run->job;
    uint32_t parts = COLLIDE_STALE_IDS;
    for (uint64_t i = 0; i < count && !(parts & COLLIDE_STALE_TRIANGLES); i++)
        if (run->found[i].z & COLLIDE_UNSURE_POSE)
            parts |= COLLIDE_STALE_TRIANGLES;
    return trees_fetch(job->tml, "tml_collide", job->a, job->b, parts);
}

tml_status breadth_found_read(breadth_run *run, uint64_t count, int last)
{
    tml_context *tml = run->job->tml;
    if (run->job->want == TML_COLLIDE_WANT_COUNT && breadth_wants_crossings(run->job)) {
        tml_status status = crossings_read(run);
        if (status != TML_OK)
            return status;
    }
    if (count == 0)
        return TML_OK;
    if (count > run->found_room) {
        tml_free(tml, run->found, (size_t)run->found_room * sizeof *run->found);
        run->found = tml_alloc_array(tml, count, sizeof *run->found);
        run->found_room = run->found ? count : 0;
    }
    uint8_t *kinds = tml_alloc_array(tml, count, 1);
    tml_status status = TML_OK;
    if (!run->found || !kinds)
        status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                           "tml_collide: no memory for %" PRIu64 " pairs", count);
    TML_THEN(status, tml_buffer_read_range(tml, run->stream->pairs[last], 0, count, run->found));
    TML_THEN(status, found_fetch(run, count));
    TML_THEN(status, found_take(run, count, kinds));
    tml_free(tml, kinds, (size_t)count);
    return status;
}
