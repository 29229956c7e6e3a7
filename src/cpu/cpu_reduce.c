/* Reduce on the CPU: folds blocks of fixed size in parallel, and joins their results in order. Neither the
 * lanes in a block (cpu_fold.c) nor the order of blocks depends on the number of threads. */
#include "cpu/cpu_internal.h"

typedef struct reduce_job {
    tml_context *tml;
    cpu_fold folds[TML_MAX_FOLDS];
    uint32_t fold_count;
    uint64_t length;
    cpu_tickets tickets;
    cpu_number *results; /* fold_count results a block */
} reduce_job;

static uint64_t blocks_of(uint64_t length)
{
    return TML_CEIL_DIV(length, CPU_FOLD_BLOCK);
}

/* Runs all folds on a block: later folds read it from the second-level cache. */
static void reduce_worker(void *argument, uint32_t index)
{
    reduce_job *job = argument;
    uint64_t block;
    (void)index;
    while (cpu_take_tile(&job->tickets, &block) && !tml_is_cancelled(job->tml)) {
        uint64_t first = block * CPU_FOLD_BLOCK;
        size_t count = (size_t)TML_MIN_OF(job->length - first, CPU_FOLD_BLOCK);
        for (uint32_t f = 0; f < job->fold_count; f++)
            job->results[block * job->fold_count + f] =
                cpu_fold_block(&job->folds[f], first, count);
    }
}

static size_t reduce_scratch_size(tml_context *tml, const void *argument)
{
    const tml_reduce_desc *desc = argument;
    cpu_arena arena = {0};
    (void)tml;
    cpu_arena_take(&arena, blocks_of(desc->length.count) * tml_reduce_results(desc),
                   sizeof(cpu_number));
    return arena.size;
}

static tml_status reduce_run(tml_context *tml, const void *argument, void *scratch, size_t size)
{
    const tml_reduce_desc *desc = argument;
    reduce_job job = {.tml = tml,
                      .fold_count = tml_reduce_results(desc),
                      .length = cpu_length(tml, &desc->length),
                      .results = scratch};
    (void)size;
    for (uint32_t f = 0; f < job.fold_count; f++)
        cpu_fold_bind(tml, tml_reduce_result_at(desc, f).fold, desc->in, &job.folds[f]);
    uint64_t block_count = blocks_of(job.length);
    cpu_run_tiles(tml, &job.tickets, block_count, reduce_worker, &job);
    tml_status status = cpu_finish(tml, "tml_reduce");
    if (status)
        return status;

    for (uint32_t f = 0; f < job.fold_count; f++) {
        cpu_total total = {0};
        for (uint64_t block = 0; block < block_count; block++)
            cpu_fold_join(&job.folds[f], &total, block * CPU_FOLD_BLOCK,
                          job.results[block * job.fold_count + f]);
        const tml_slot *out = tml_slot_of(tml, tml_reduce_result_at(desc, f).out);
        cpu_fold_store(&job.folds[f], &total, 0, job.length, out->memory, out->type);
    }
    return TML_OK;
}

const tml_engine_op cpu_op_reduce = {.scratch_size = reduce_scratch_size, .run = reduce_run};
