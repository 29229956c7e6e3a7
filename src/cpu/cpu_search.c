/* tml_search on the CPU. A block of queries descends together, a step of all at a time, so that their
 * loads do not wait for one another; without branches, which a random query would mispredict.
 *
 * After: Khuong, Morin: Array Layouts for Comparison-Based Searching. 2017. */
#include "cpu/cpu_internal.h"

#include <string.h>

#include "kernels/kernel.h"
#include "kernels/kernel_end.h"
#include "kernels/sort.k.h"

enum { BLOCK = 256, TILE_ITEMS = 32 * BLOCK };

typedef struct search_job search_job;
typedef void (*search_fn)(const search_job *job, const void *queries, size_t count,
                          uint64_t *places);
struct search_job {
    tml_context *tml;
    cpu_tickets tickets;
    search_fn search;
    const void *sorted;
    const unsigned char *queries;
    size_t size;
    uint64_t sorted_length, length;
    uint64_t flip, real_flip;
    bool upper;
    tml_slot *out;
};

/* Each place is one of the left + 1 from its present value on. An element is not after a query if its
 * inverted code is not below the query's, which serves the upper bound. */
#define SEARCH(UINT)                                                                               \
    CPU_INLINE UINT code_##UINT(const void *keys, uint64_t i, UINT flip, UINT real_flip)           \
    {                                                                                              \
        UINT key = ((const UINT *)keys)[i];                                                        \
        return (UINT)SORT_CODE(key, (UINT)SORT_SIGN(key, 8 * sizeof key), flip, real_flip);        \
    }                                                                                              \
    static void search_##UINT(const search_job *job, const void *queries, size_t count,            \
                              uint64_t *places)                                                    \
    {                                                                                              \
        UINT code[BLOCK], flip = (UINT)(job->flip ^ (job->upper ? UINT64_MAX : 0)),                \
                          real_flip = (UINT)job->real_flip;                                        \
        uint64_t inverts = job->upper ? UINT64_MAX : 0;                                            \
        for (size_t q = 0; q < count; q++) {                                                       \
            code[q] = code_##UINT(queries, q, flip, real_flip);                                    \
            places[q] = 0;                                                                         \
        }                                                                                          \
        for (uint64_t left = job->sorted_length; left > 0;) {                                      \
            uint64_t half = left - left / 2;                                                       \
            for (size_t q = 0; q < count; q++) {                                                   \
                UINT element = code_##UINT(job->sorted, places[q] + half - 1, flip, real_flip);    \
                /* a mask: of ?: compilers make a branch */                                        \
                places[q] += half & ((0 - (uint64_t)(element < code[q])) ^ inverts);               \
            }                                                                                      \
            left -= half;                                                                          \
        }                                                                                          \
    }

SEARCH(uint8_t)
SEARCH(uint16_t)
SEARCH(uint32_t)
SEARCH(uint64_t)

/* By log2 of an element's size. */
static const search_fn search_fns[] = {search_uint8_t, search_uint16_t, search_uint32_t,
                                       search_uint64_t};

static void search_worker(void *argument, uint32_t worker)
{
    search_job *job = argument;
    uint64_t tile, places[BLOCK];
    (void)worker;
    while (cpu_take_tile(&job->tickets, &tile) && !tml_is_cancelled(job->tml)) {
        uint64_t first = tile * TILE_ITEMS, end = TML_MIN_OF(first + TILE_ITEMS, job->length);
        for (; first < end; first += BLOCK) {
            size_t count = (size_t)TML_MIN_OF(end - first, (uint64_t)BLOCK);
            job->search(job, job->queries + first * job->size, count, places);
            if (job->out->type == TML_U64)
                memcpy((uint64_t *)job->out->memory + first, places, count * sizeof *places);
            else
                for (size_t q = 0; q < count; q++)
                    ((uint32_t *)job->out->memory)[first + q] = (uint32_t)places[q];
        }
    }
}

static tml_status search_run(tml_context *tml, const void *argument, void *scratch, size_t size)
{
    const tml_search_resolved *resolved = argument;
    const tml_search_desc *desc = &resolved->desc;
    const tml_slot *sorted = tml_slot_of(tml, desc->sorted);
    search_job job = {.tml = tml,
                      .search = search_fns[__builtin_ctzll(sorted->element_size)],
                      .sorted = sorted->memory,
                      .queries = cpu_memory(tml, desc->queries),
                      .size = sorted->element_size,
                      .sorted_length = cpu_length(tml, &desc->sorted_length),
                      .length = cpu_length(tml, &desc->length),
                      .flip = resolved->flip,
                      .real_flip = resolved->real_flip,
                      .upper = desc->upper,
                      .out = tml_slot_of(tml, desc->out)};
    (void)scratch;
    (void)size;
    cpu_run_tiles(tml, &job.tickets, TML_CEIL_DIV(job.length, TILE_ITEMS), search_worker, &job);
    return cpu_finish(tml, "tml_search");
}

const tml_engine_op cpu_op_search = {.run = search_run};
