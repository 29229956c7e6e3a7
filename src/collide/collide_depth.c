/* The descent on the host: threads follow pairs of nodes down to triangles, depth first.
 *
 * A call is divided into tasks, each a pair of nodes of one pose. Tasks run in any order; their
 * results are joined in the order of tasks. Workers may not allocate: they take blocks for the
 * pairs that they find from a common store, and a task that finds the store empty goes on counting.
 * A larger store is then made by these counts, and all tasks that found pairs run again. */
#include <string.h>

#include "collide/collide_depth.h"
#include "collide/exact.h"
#include "core/simd.h"

enum {
    TASKS_A_THREAD = 32,   /* enough to balance the load */
    TASKS_A_ROUND = 16384, /* at most, between two reports of progress */
    SEEDS_MAX = 4096,      /* most pairs of nodes that a pose is divided into */
    BLOCKS_AT_FIRST = 16,  /* and one for each task */
};

static const depth_loops *loops_for_processor(void)
{
#if defined(__x86_64__)
    if (tml_simd_level() >= TML_SIMD_AVX2)
        return &depth_loops_avx2;
#endif
    return &depth_loops_plain;
}

/* ---- what is found --------------------------------------------------------------------------- */

/* A place for one more pair; NULL when the store is empty. */
static tml_collide_pair *pair_place(depth_run *run)
{
    if (run->last && run->last->count < DEPTH_BLOCK_PAIRS)
        return &run->last->pairs[run->last->count++];
    uint32_t number = atomic_fetch_add_explicit(&run->call->blocks_taken, 1, memory_order_relaxed);
    if (number >= run->call->block_count)
        return NULL;
    depth_block *block = &run->call->blocks[number];
    block->next = NULL;
    block->count = 1;
    if (run->last)
        run->last->next = block;
    else
        run->first = block;
    run->last = block;
    return &block->pairs[0];
}

void depth_take(depth_run *run, uint32_t a_slot, uint32_t b_slot, bool is_sure)
{
    const collide_job *job = run->call->job;
    uint32_t a = job->a->ids[a_slot], b = job->b->ids[b_slot];
    if (a == COLLIDE_NO_TRIANGLE || b == COLLIDE_NO_TRIANGLE)
        return;
    tml_collide_class kind = TML_COLLIDE_CLASS_CROSSING;
    if (!is_sure) {
        run->unsure++;
        kind = collide_settle(job, run->pose, a_slot, b_slot);
    }
    if (!(job->classes >> kind & 1))
        return;
    run->count++;
    run->class_counts[kind]++;
    if (run->first_only) {
        run->is_over = true;
        uint32_t found = atomic_load_explicit(run->found, memory_order_relaxed);
        while (run->number < found &&
               !atomic_compare_exchange_weak_explicit(run->found, &found, run->number,
                                                      memory_order_relaxed, memory_order_relaxed))
            ;
    }
    if (job->want == TML_COLLIDE_WANT_COUNT || run->is_short)
        return;
    tml_collide_pair *place = pair_place(run);
    if (!place) {
        run->is_short = true;
        return;
    }
    bool is_turned = job->is_self && a > b;
    *place =
        (tml_collide_pair){is_turned ? b : a, is_turned ? a : b, run->pose_number, (uint32_t)kind};
}

/* ---- tasks ----------------------------------------------------------------------------------- */

/* Tasks that run in one parallel loop: one for each of several poses, or all those of one pose. */
typedef struct depth_round {
    depth_call call;
    const depth_loops *loops;
    depth_run *runs;
    uint32_t run_count;
    const depth_pair *seeds; /* one a run, input of seed_step; NULL: start at the roots */
    uint32_t seed_step;
    bool only_short;
} depth_round;

static void run_task(void *argument, uint32_t number)
{
    depth_round *round = argument;
    depth_run *run = &round->runs[number];
    depth_pair roots;
    if (round->only_short) {
        if (!run->is_short)
            return;
        run->first = run->last = NULL;
        run->is_short = run->is_over = false;
        run->count = run->node_pairs = run->tested = run->unsure = 0;
        memset(run->class_counts, 0, sizeof run->class_counts);
    }
    if (round->seeds)
        round->loops->descend(run, &round->seeds[number], round->seed_step);
    else if (round->loops->root(run, &roots))
        round->loops->descend(run, &roots, 0);
}

static depth_run run_of(depth_call *call, uint32_t pose)
{
    return (depth_run){.call = call,
                       .pose = &call->job->poses[pose],
                       .pose_number = pose,
                       .stop_step = UINT32_MAX,
                       .first_only = call->job->want == TML_COLLIDE_WANT_FIRST};
}

static tml_status blocks_make(collide_job *job, depth_call *call, uint64_t count)
{
    tml_free(job->tml, call->blocks, call->block_count * sizeof *call->blocks);
    call->block_count = 0;
    call->blocks = NULL;
    if (count <= UINT32_MAX / 2)
        call->blocks = tml_alloc_array(job->tml, count, sizeof *call->blocks);
    if (!call->blocks)
        return tml_error(job->tml, TML_ERROR_OUT_OF_MEMORY,
                         "tml_collide: no memory for the %llu pairs that were found; ask for "
                         "TML_COLLIDE_WANT_COUNT, fewer classes or fewer poses",
                         (unsigned long long)(count * DEPTH_BLOCK_PAIRS));
    call->block_count = (uint32_t)count;
    atomic_store_explicit(&call->blocks_taken, 0, memory_order_relaxed);
    return TML_OK;
}

/* Adds the runs' counts and pairs to the job's; with WANT_FIRST, of each pose only the first run
 * that has a pair. */
static tml_status runs_gather(collide_job *job, const depth_round *round)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < round->run_count; i++)
        total += round->runs[i].count;
    tml_status status =
        job->want == TML_COLLIDE_WANT_COUNT ? TML_OK : collide_pairs_grow(job, total);
    if (status != TML_OK)
        return status;
    for (uint32_t i = 0; i < round->run_count; i++) {
        const depth_run *run = &round->runs[i];
        job->node_pairs += run->node_pairs;
        job->tested += run->tested;
        job->unsure += run->unsure;
        if (run->first_only && run->count &&
            run->number != atomic_load_explicit(run->found, memory_order_relaxed))
            continue; /* an earlier run of the pose has one, too */
        job->pose_counts[run->pose_number] += run->count;
        for (int k = 0; k < TML_COLLIDE_CLASS_COUNT; k++)
            job->class_counts[k] += run->class_counts[k];
        for (const depth_block *block = run->first; block; block = block->next) {
            memcpy(job->pairs + job->pair_count, block->pairs, block->count * sizeof *block->pairs);
            job->pair_count += block->count;
        }
    }
    return TML_OK;
}

/* Runs the round's tasks, again if the store was too small, and gathers their results. */
static tml_status round_run(collide_job *job, depth_round *round)
{
    tml_status status = TML_OK;
    if (job->want != TML_COLLIDE_WANT_COUNT) {
        if (round->call.block_count < round->run_count)
            status = blocks_make(job, &round->call, BLOCKS_AT_FIRST + round->run_count);
        atomic_store_explicit(&round->call.blocks_taken, 0, memory_order_relaxed);
    }
    if (status != TML_OK)
        return status;
    tml_parallel_for(job->tml, round->run_count, run_task, round);
    uint64_t needed = 0;
    bool is_short = false;
    for (uint32_t i = 0; i < round->run_count; i++) {
        needed += TML_CEIL_DIV(round->runs[i].count, DEPTH_BLOCK_PAIRS);
        is_short = is_short || round->runs[i].is_short;
    }
    if (is_short) {
        /* blocks_make frees the old blocks, so every run that has found pairs runs again. */
        for (uint32_t i = 0; i < round->run_count; i++)
            round->runs[i].is_short = round->runs[i].count > 0;
        status = blocks_make(job, &round->call, needed);
        if (status != TML_OK)
            return status;
        round->only_short = true;
        tml_parallel_for(job->tml, round->run_count, run_task, round);
        round->only_short = false;
    }
    return tml_is_cancelled(job->tml) ? TML_OK : runs_gather(job, round);
}

/* Follows the roots to step and stores the first SEEDS_MAX pairs of nodes there. Returns how many
 * there are. */
static uint32_t seeds_collect(const depth_round *round, depth_run *run, const depth_pair *roots,
                              uint32_t step, depth_pair *seeds)
{
    run->stop_step = step;
    run->stopped = seeds;
    run->stopped_capacity = SEEDS_MAX;
    run->stopped_count = 0;
    run->node_pairs = 0;
    round->loops->descend(run, roots, 0);
    return run->stopped_count;
}

/* Divides one pose into at least wanted pairs of nodes where possible, all of them input of
 * round->seed_step. Returns how many, at most SEEDS_MAX; 0: the roots are apart, or nothing below
 * them meets. *above: pairs of nodes followed on the way. */
static uint32_t seeds_make(depth_round *round, uint32_t pose, uint32_t wanted, depth_pair *seeds,
                           uint64_t *above)
{
    depth_run run = run_of(&round->call, pose);
    _Atomic uint32_t found = UINT32_MAX;
    depth_pair roots;
    run.found = &found;
    *above = 0;
    if (!round->loops->root(&run, &roots))
        return 0;
    seeds[0] = roots;
    round->seed_step = 0;
    uint32_t count = 1;
    for (uint32_t step = 1; step < round->call.step_count - 1 && count < wanted; step++) {
        count = seeds_collect(round, &run, &roots, step, seeds);
        if (count > SEEDS_MAX) { /* too many: go back to the step before */
            count = seeds_collect(round, &run, &roots, round->seed_step, seeds);
            wanted = 0;
        } else {
            round->seed_step = step;
        }
        *above = run.node_pairs;
        if (count == 0)
            return 0;
    }
    return count;
}

uint32_t collide_roots(const collide_job *job, tml_uvec3 *out)
{
    const depth_loops *loops = loops_for_processor();
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
    depth_round round = {.call = {.job = job}, .loops = loops_for_processor()};
    round.call.step_count = collide_schedule(job->a, job->b, round.call.steps);
    if (round.call.step_count == 0) /* a mesh without triangles */
        return TML_OK;
    uint32_t wanted = TASKS_A_THREAD * tml_concurrency(job->tml);
    bool whole = tml_concurrency(job->tml) == 1 || job->pose_count >= wanted;
    uint32_t room = whole ? TML_MIN_OF(job->pose_count, (uint32_t)TASKS_A_ROUND) : SEEDS_MAX;
    size_t runs_size = room * sizeof(depth_run);
    size_t found_size = room * sizeof(_Atomic uint32_t);
    size_t seeds_size = whole ? 0 : SEEDS_MAX * sizeof(depth_pair);
    round.runs = tml_alloc(job->tml, runs_size);
    _Atomic uint32_t *found = tml_alloc(job->tml, found_size);
    depth_pair *seeds = tml_alloc(job->tml, seeds_size);
    tml_status status = TML_OK;
    if (!round.runs || !found || (!seeds && !whole))
        status = tml_error(job->tml, TML_ERROR_OUT_OF_MEMORY,
                           "tml_collide: no memory for %zu bytes of tasks",
                           runs_size + found_size + seeds_size);
    /* Many poses: one task each. Few poses: one after the other, each divided into tasks. */
    for (uint32_t pose = 0; pose < job->pose_count && status == TML_OK;) {
        uint32_t poses = whole ? TML_MIN_OF(room, job->pose_count - pose) : 1;
        uint64_t above = 0;
        round.run_count = whole ? poses : seeds_make(&round, pose, wanted, seeds, &above);
        job->node_pairs += above;
        round.seeds = whole ? NULL : seeds;
        for (uint32_t i = 0; i < round.run_count; i++) {
            round.runs[i] = run_of(&round.call, whole ? pose + i : pose);
            round.runs[i].number = whole ? 0 : i;
            round.runs[i].found = &found[whole ? i : 0];
            atomic_init(&found[i], UINT32_MAX);
        }
        status = round_run(job, &round);
        pose += poses;
        if (!tml_progress(job->tml, "pairs", (double)pose / job->pose_count))
            status = tml_error(job->tml, TML_ERROR_CANCELLED, "tml_collide: cancelled");
    }
    tml_free(job->tml, round.call.blocks, round.call.block_count * sizeof *round.call.blocks);
    tml_free(job->tml, seeds, seeds_size);
    tml_free(job->tml, found, found_size);
    tml_free(job->tml, round.runs, runs_size);
    job->parts = 1;
    return status;
}
