/* The depth-first descent on the host: threads follow pairs of nodes down to triangles.
 *
 * A call is divided into rounds of many poses. A round has many tasks, one per pair of nodes, from
 * all of its poses. Tasks run in any order; their results are joined in task order. Workers may not
 * allocate: they take blocks for their pairs from a common store. If a task finds the store empty,
 * it gives up, and later tasks do not start. The store then grows, and these tasks run again. */
#include <string.h>

#include "collide/collide_pairs_depth.h"
#include "core/simd.h"
#include "exact/exact.h"

enum {
    TASKS_A_THREAD = 32,   /* enough to balance the load */
    TASKS_WANTED = 4096,   /* at most */
    POSES_A_ROUND = 16384, /* at most */
    ROUNDS_TO_REPORT = 8,  /* at least, if there is a progress hook */
    PARALLEL_PAIRS = 8192, /* fewer pairs are copied by one thread */
};

/* ---- tasks ----------------------------------------------------------------------------------- */

/* A pose's division: `count` pairs of nodes, all of them input of step `step`. */
typedef struct depth_seeds {
    uint32_t count, step;
    uint64_t step_pairs[COLLIDE_STEPS_MAX]; /* visited by the division itself */
} depth_seeds;

/* Poses [first_pose, first_pose + pose_count), and their tasks. */
typedef struct depth_round {
    depth_call call;
    const depth_loops *loops;
    uint32_t first_pose, pose_count;
    uint32_t wanted;         /* pairs of nodes per pose: at least so many, if there are */
    depth_seeds *seeds;      /* one per pose */
    depth_pair *pairs;       /* seed_room(wanted) per pose */
    _Atomic uint32_t *found; /* per pose: the first run that has found a pair */
    depth_run *runs;
    uint32_t run_count;
    uint32_t runs_a_task; /* runs per copy_task */
} depth_round;

/* seeds_most: pairs after a step that begins with fewer than `wanted`, since each pair has at most
 * COLLIDE_WIDTH children. seed_room: also room for the step's input, which lies after them. */
static uint32_t seeds_most(uint32_t wanted)
{
    return wanted > 1 ? COLLIDE_WIDTH * wanted : 1;
}
static uint32_t seed_room(uint32_t wanted)
{
    return wanted > 1 ? seeds_most(wanted) + wanted : 1;
}

static depth_run run_of(depth_call *call, uint32_t pose)
{
    return (depth_run){.call = call,
                       .pose = &call->job->poses[pose],
                       .pose_number = pose,
                       .stop_step = UINT32_MAX,
                       .first_only = call->job->want == TML_COLLIDE_WANT_FIRST};
}

/* Divides a pose breadth first. No seed: the roots are apart, or nothing below them meets. */
static void seeds_task(void *argument, uint32_t number)
{
    depth_round *round = argument;
    depth_seeds *seeds = &round->seeds[number];
    depth_pair *pairs = round->pairs + (size_t)seed_room(round->wanted) * number;
    depth_pair *from = pairs + seeds_most(round->wanted);
    depth_run run = run_of(&round->call, round->first_pose + number);
    run.found = &round->found[number];
    atomic_init(run.found, UINT32_MAX);
    *seeds = (depth_seeds){.count = round->loops->root(&run, pairs)};
    while (seeds->count > 0 && seeds->count < round->wanted &&
           seeds->step + 2 < round->call.step_count) {
        memcpy(from, pairs, seeds->count * sizeof *from);
        run.stop_step = seeds->step + 1;
        run.stopped = pairs;
        run.stopped_capacity = seeds_most(round->wanted);
        run.stopped_count = 0;
        for (uint32_t i = 0; i < seeds->count; i++)
            round->loops->descend(&run, &from[i], seeds->step);
        seeds->count = run.stopped_count;
        seeds->step++;
    }
    memcpy(seeds->step_pairs, run.step_pairs, sizeof run.step_pairs);
}

static void run_task(void *argument, uint32_t number)
{
    depth_round *round = argument;
    depth_run *run = &round->runs[number];
    if (!run->is_short || (round->call.store_count > 0 && depth_store_is_empty(&round->call)))
        return;
    run->last = NULL;
    run->is_short = run->is_over = false;
    run->count = run->tested = run->unsure = 0;
    memset(run->step_pairs, 0, sizeof run->step_pairs);
    memset(run->class_counts, 0, sizeof run->class_counts);
    round->loops->descend(run, run->start, run->start_step);
}

/* Adds a store. */
static tml_status store_grow(collide_job *job, depth_call *call)
{
    uint64_t count = (uint64_t)DEPTH_STORE_BLOCKS << call->store_count;
    depth_block *store = NULL;
    if (call->store_count < DEPTH_STORES)
        store = tml_alloc_array(job->tml, count, sizeof *store);
    if (!store)
        return tml_error(job->tml, TML_ERROR_OUT_OF_MEMORY,
                         "tml_collide: no memory for %llu more pairs; ask for "
                         "TML_COLLIDE_WANT_COUNT, fewer classes or fewer poses",
                         (unsigned long long)(count * DEPTH_BLOCK_PAIRS));
    atomic_store_explicit(&call->blocks_taken, call->block_count, memory_order_relaxed);
    call->stores[call->store_count++] = store;
    call->block_count += (uint32_t)count;
    return TML_OK;
}

static void stores_free(collide_job *job, depth_call *call)
{
    for (uint32_t k = 0; k < call->store_count; k++)
        tml_free(job->tml, call->stores[k],
                 ((size_t)DEPTH_STORE_BLOCKS << k) * sizeof *call->stores[k]);
}

static void copy_task(void *argument, uint32_t task)
{
    const depth_round *round = argument;
    const collide_job *job = round->call.job;
    uint32_t first = task * round->runs_a_task;
    uint32_t end = TML_MIN_OF(first + round->runs_a_task, round->run_count);
    for (uint32_t i = first; i < end; i++) {
        const depth_run *run = &round->runs[i];
        if (!run->last) /* it found nothing; job->pairs may be NULL */
            continue;
        tml_collide_pair *to = job->pairs + run->at;
        for (const depth_block *block = run->first;; block = block->next) {
            memcpy(to, block->pairs, block->count * sizeof *block->pairs);
            to += block->count;
            if (block == run->last)
                break;
        }
    }
}

static void count_steps(collide_job *job, const uint64_t pairs[COLLIDE_STEPS_MAX])
{
    for (uint32_t step = 0; step < COLLIDE_STEPS_MAX; step++) {
        job->step_pairs[step] += pairs[step];
        job->node_pairs += pairs[step];
    }
}

/* Adds the runs' counts and pairs to the job's; for FIRST, only each pose's first run with one. */
static tml_status runs_gather(collide_job *job, depth_round *round)
{
    uint64_t before = job->pair_count, total = 0;
    for (uint32_t i = 0; i < round->run_count; i++) {
        depth_run *run = &round->runs[i];
        count_steps(job, run->step_pairs);
        job->tested += run->tested;
        job->unsure += run->unsure;
        if (run->first_only && run->count &&
            run->number != atomic_load_explicit(run->found, memory_order_relaxed)) {
            run->last = NULL; /* an earlier run of the pose has a pair */
            continue;
        }
        job->pose_counts[run->pose_number] += run->count;
        for (int k = 0; k < TML_COLLIDE_CLASS_COUNT; k++)
            job->class_counts[k] += run->class_counts[k];
        run->at = before + total;
        total += run->count;
    }
    if (job->want == TML_COLLIDE_WANT_COUNT)
        return TML_OK;
    tml_status status = collide_pairs_grow(job, total);
    if (status != TML_OK)
        return status;
    uint32_t tasks = total < PARALLEL_PAIRS ? 1 : 4 * tml_concurrency(job->tml);
    round->runs_a_task = TML_CEIL_DIV(TML_MAX_OF(round->run_count, 1u), tasks);
    tml_parallel_for(job->tml, TML_CEIL_DIV(round->run_count, round->runs_a_task), copy_task,
                     round);
    job->pair_count += total;
    return TML_OK;
}

/* Runs the round's tasks, repeats those for which the store lacked room, gathers results. */
static tml_status round_run(collide_job *job, depth_round *round)
{
    depth_call *call = &round->call;
    tml_status status = TML_OK;
    atomic_store_explicit(&call->blocks_taken, 0, memory_order_relaxed);
    if (job->want != TML_COLLIDE_WANT_COUNT && call->store_count == 0 && round->run_count > 0)
        status = store_grow(job, call);
    while (status == TML_OK) {
        bool is_short = false;
        tml_parallel_for(job->tml, round->run_count, run_task, round);
        for (uint32_t i = 0; i < round->run_count && !is_short; i++)
            is_short = round->runs[i].is_short;
        if (tml_is_cancelled(job->tml))
            return TML_OK;
        if (!is_short)
            return runs_gather(job, round);
        status = store_grow(job, call);
    }
    return status;
}

/* Divides the round's poses, and makes a run per pair of nodes. */
static void runs_make(collide_job *job, depth_round *round)
{
    tml_parallel_for(job->tml, round->pose_count, seeds_task, round);
    round->run_count = 0;
    for (uint32_t p = 0; p < round->pose_count; p++) {
        const depth_pair *pairs = round->pairs + (size_t)seed_room(round->wanted) * p;
        count_steps(job, round->seeds[p].step_pairs);
        for (uint32_t i = 0; i < round->seeds[p].count; i++) {
            depth_run *run = &round->runs[round->run_count++];
            *run = run_of(&round->call, round->first_pose + p);
            run->start = &pairs[i];
            run->start_step = round->seeds[p].step;
            run->number = i;
            run->found = &round->found[p];
            run->is_short = true; /* not run yet */
        }
    }
}

uint32_t collide_roots(const collide_job *job, tml_uvec3 *out)
{
    const depth_loops *loops = SIMD_CHOOSE(depth_loops);
    depth_call call = {.job = job};
    depth_run run = run_of(&call, 0);
    uint32_t count = 0;
    for (run.pose_number = 0; run.pose_number < job->pose_count; run.pose_number++) {
        depth_pair roots;
        run.pose = &job->poses[run.pose_number];
        if (loops->root(&run, &roots))
            out[count++] = (tml_uvec3){0, 0, run.pose_number};
    }
    return count;
}

tml_status collide_depth_first(collide_job *job)
{
    tml_context *tml = job->tml;
    depth_round round = {.call = {.job = job}, .loops = SIMD_CHOOSE(depth_loops)};
    round.call.step_count = collide_schedule(
        job->a, job->b, collide_scale_of(job->poses, job->pose_count), round.call.steps);
    if (round.call.step_count == 0) /* a mesh without triangles */
        return TML_OK;
    job->step_count = round.call.step_count -
                      1; /* the last one is done with the one before it: both make triangles */
    uint32_t wanted = TML_MIN_OF(TASKS_A_THREAD * tml_concurrency(tml), (uint32_t)TASKS_WANTED);
    uint32_t poses =
        tml->progress ? TML_CEIL_DIV(job->pose_count, ROUNDS_TO_REPORT) : job->pose_count;
    poses = TML_MIN_OF(poses, (uint32_t)POSES_A_ROUND);
    round.wanted = TML_CEIL_DIV(wanted, poses);
    size_t runs_size = (size_t)poses * seeds_most(round.wanted) * sizeof *round.runs;
    size_t pairs_size = (size_t)poses * seed_room(round.wanted) * sizeof *round.pairs;
    size_t seeds_size = poses * sizeof *round.seeds, found_size = poses * sizeof *round.found;
    round.runs = tml_alloc(tml, runs_size);
    round.pairs = tml_alloc(tml, pairs_size);
    round.seeds = tml_alloc(tml, seeds_size);
    round.found = tml_alloc(tml, found_size);
    tml_status status = TML_OK;
    if (!round.runs || !round.pairs || !round.seeds || !round.found)
        status =
            tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "tml_collide: no memory for %zu bytes of tasks",
                      runs_size + pairs_size + seeds_size + found_size);
    for (; round.first_pose < job->pose_count && status == TML_OK;
         round.first_pose += round.pose_count) {
        round.pose_count = TML_MIN_OF(poses, job->pose_count - round.first_pose);
        runs_make(job, &round);
        status = round_run(job, &round);
        double done = (double)(round.first_pose + round.pose_count);
        if (status == TML_OK && !tml_progress(tml, "pairs", done / job->pose_count))
            status = tml_error(tml, TML_ERROR_CANCELLED, "tml_collide: cancelled");
    }
    stores_free(job, &round.call);
    tml_free(tml, round.found, found_size);
    tml_free(tml, round.seeds, seeds_size);
    tml_free(tml, round.pairs, pairs_size);
    tml_free(tml, round.runs, runs_size);
    job->parts = 1;
    return status;
}
