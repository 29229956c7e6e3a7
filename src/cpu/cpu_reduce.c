/* Reduce on the CPU: folds blocks of fixed size in parallel, and joins their results in order.
 * Neither the lanes in a block (cpu_fold.c) nor the order of blocks depends on the number of
 * threads. Vectors are split into components, by rows that stay in the first-level cache, and each
 * component is folded as scalars are. */
#include "cpu/cpu_internal.h"

#include <stdalign.h>

enum { COMPONENTS_MOST = 4, ROW = 1024, RESULTS_MOST = TML_MAX_FOLDS * COMPONENTS_MOST };

typedef void (*split_fn)(const void *vectors, size_t count, void *rows);
typedef struct reduce_job {
    tml_context *tml;
    cpu_fold folds[RESULTS_MOST]; /* each fold's components */
    uint32_t components, result_count;
    split_fn split; /* of vectors */
    uint64_t length;
    cpu_tickets tickets;
    cpu_number *results; /* result_count results a block */
} reduce_job;

static uint64_t blocks_of(uint64_t length)
{
    return TML_CEIL_DIV(length, CPU_FOLD_BLOCK);
}

/* ---- vectors --------------------------------------------------------------------------------- */

/* Stores component c of up to ROW vectors in row c. */
#define SPLIT(T, N)                                                                                \
    ALWAYS_INLINE void split_##T##_##N(const void *vectors, size_t count, void *rows)              \
    {                                                                                              \
        const T *restrict in = vectors;                                                            \
        T *restrict out = rows;                                                                    \
        for (size_t i = 0; i < count; i++)                                                         \
            for (size_t c = 0; c < N; c++)                                                         \
                out[c * ROW + i] = in[i * N + c];                                                  \
    }                                                                                              \
    SIMD_INSTANTIATE(void, split_##T##_##N, (const void *vectors, size_t count, void *rows),       \
                     split_##T##_##N(vectors, count, rows))
SPLIT(uint32_t, 2)
SPLIT(uint32_t, 3)
SPLIT(uint32_t, 4)
SPLIT(uint64_t, 2)
SPLIT(uint64_t, 3)
SPLIT(uint64_t, 4)

static const split_fn splits[2][COMPONENTS_MOST - 1][TML_SIMD_LEVELS] = {
    {SIMD_EACH_LEVEL(split_uint32_t_2), SIMD_EACH_LEVEL(split_uint32_t_3),
     SIMD_EACH_LEVEL(split_uint32_t_4)},
    {SIMD_EACH_LEVEL(split_uint64_t_2), SIMD_EACH_LEVEL(split_uint64_t_3),
     SIMD_EACH_LEVEL(split_uint64_t_4)}};

static void fold_vectors(const reduce_job *job, uint64_t first, uint64_t end, cpu_number *results)
{
    alignas(64) unsigned char rows[COMPONENTS_MOST * ROW * sizeof(uint64_t)];
    const size_t size = job->folds[0].size, row = size / job->components * ROW;
    cpu_total totals[RESULTS_MOST] = {0};
    for (uint64_t at = first; at < end; at += ROW) {
        size_t count = (size_t)TML_MIN_OF(end - at, (uint64_t)ROW);
        job->split(job->folds[0].in + at * size, count, rows);
        for (uint32_t r = 0; r < job->result_count; r++)
            cpu_fold_join(&job->folds[r], &totals[r], at,
                          job->folds[r].block(rows + r % job->components * row, count));
    }
    for (uint32_t r = 0; r < job->result_count; r++)
        results[r] = totals[r].value;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Runs all folds on a block, so that all but the first read it from the second-level cache. */
static void reduce_worker(void *argument, uint32_t index)
{
    reduce_job *job = argument;
    uint64_t block;
    (void)index;
    while (cpu_take_tile(&job->tickets, &block) && !tml_is_cancelled(job->tml)) {
        uint64_t first = block * CPU_FOLD_BLOCK;
        size_t count = (size_t)TML_MIN_OF(job->length - first, CPU_FOLD_BLOCK);
        cpu_number *results = job->results + block * job->result_count;
        if (job->split)
            fold_vectors(job, first, first + count, results);
        else
            for (uint32_t r = 0; r < job->result_count; r++)
                results[r] = cpu_fold_block(&job->folds[r], first, count);
    }
}

static uint32_t results_of(tml_context *tml, const tml_reduce_desc *desc)
{
    return tml_reduce_results(desc) * tml_type_components(tml_slot_of(tml, desc->in)->type);
}

static size_t reduce_scratch_size(tml_context *tml, const void *argument)
{
    const tml_reduce_desc *desc = argument;
    cpu_arena arena = {0};
    cpu_arena_take(&arena, blocks_of(desc->length.count) * results_of(tml, desc),
                   sizeof(cpu_number));
    return arena.size;
}

static void store_result(tml_context *tml, const tml_reduce_desc *desc, const reduce_job *job,
                         uint32_t r)
{
    cpu_total total = {0};
    uint64_t block_count = blocks_of(job->length);
    for (uint64_t block = 0; block < block_count; block++)
        cpu_fold_join(&job->folds[r], &total, block * CPU_FOLD_BLOCK,
                      job->results[block * job->result_count + r]);
    const tml_slot *out = tml_slot_of(tml, desc->folds[r / job->components].out);
    tml_type type = tml_type_scalar(out->type);
    unsigned char *memory = out->memory;
    cpu_fold_store(&job->folds[r], &total, 0, job->length,
                   memory + r % job->components * tml_type_size(type), type);
}

static tml_status reduce_run(tml_context *tml, const void *argument, void *scratch, size_t size)
{
    const tml_reduce_desc *desc = argument;
    const tml_type in = tml_slot_of(tml, desc->in)->type;
    reduce_job job = {.tml = tml,
                      .components = tml_type_components(in),
                      .result_count = results_of(tml, desc),
                      .length = cpu_length(tml, &desc->length),
                      .results = scratch};
    (void)size;
    for (uint32_t r = 0; r < job.result_count; r++)
        cpu_fold_bind(tml, desc->folds[r / job.components].fold, desc->in, r % job.components,
                      &job.folds[r]);
    if (job.components > 1)
        job.split =
            splits[tml_type_size(tml_type_scalar(in)) == 8][job.components - 2][tml_simd_level()];
    cpu_run_tiles(tml, &job.tickets, blocks_of(job.length), reduce_worker, &job);
    tml_status status = cpu_finish(tml, "tml_reduce");
    for (uint32_t r = 0; r < job.result_count && !status; r++)
        store_result(tml, desc, &job, r);
    return status;
}

const tml_engine_op cpu_op_reduce = {.scratch_size = reduce_scratch_size, .run = reduce_run};
