/* tml_search on the CPU. The queries of a block descend together, one step of all queries at a
 * time, so that their loads overlap. There are no branches, which a random query would mispredict.
 *
 * After: Khuong, Morin: Array Layouts for Comparison-Based Searching. 2017. */
#include "cpu/cpu_internal.h"

#include <string.h>

#include "kernels/kernel.h"
#include "kernels/kernel_end.h"
#include "kernels/sort.k.h"

enum { BLOCK = CPU_SEARCH_BLOCK, TILE_ITEMS = 32 * BLOCK };

typedef struct search_job {
    tml_context *tml;
    cpu_tickets tickets;
    cpu_search search;
    uint64_t length;
    tml_slot *out;
} search_job;

/* The result of query q is one of the left + 1 positions from places[q] on. The upper bound inverts
 * all codes: an element is not after the query if and only if its inverted code is not below that
 * of the query. */
#define SEARCH(UINT)                                                                               \
    ALWAYS_INLINE UINT code_##UINT(const void *keys, uint64_t i, UINT minus_zero, UINT flip,       \
                                   UINT real_flip)                                                 \
    {                                                                                              \
        UINT key = SORT_KEY(((const UINT *)keys)[i], minus_zero, (UINT)0);                         \
        return (UINT)SORT_CODE(key, (UINT)SORT_SIGN(key, 8 * sizeof key), flip, real_flip);        \
    }                                                                                              \
    static void search_##UINT(const cpu_search *s, const void *queries, size_t count,              \
                              uint64_t *places)                                                    \
    {                                                                                              \
        UINT code[BLOCK], flip = (UINT)(s->flip ^ (s->upper ? UINT64_MAX : 0)),                    \
                          real_flip = (UINT)s->real_flip, minus_zero = (UINT)s->minus_zero;        \
        uint64_t inverts = s->upper ? UINT64_MAX : 0;                                              \
        for (size_t q = 0; q < count; q++) {                                                       \
            code[q] = code_##UINT(queries, q, minus_zero, flip, real_flip);                        \
            places[q] = 0;                                                                         \
        }                                                                                          \
        for (uint64_t left = s->sorted_length; left > 0;) {                                        \
            uint64_t half = left - left / 2;                                                       \
            for (size_t q = 0; q < count; q++) {                                                   \
                UINT element =                                                                     \
                    code_##UINT(s->sorted, places[q] + half - 1, minus_zero, flip, real_flip);     \
                /* a mask, since ?: becomes a branch */                                            \
                places[q] += half & ((0 - (uint64_t)(element < code[q])) ^ inverts);               \
            }                                                                                      \
            left -= half;                                                                          \
        }                                                                                          \
    }

SEARCH(uint8_t)
SEARCH(uint16_t)
SEARCH(uint32_t)
SEARCH(uint64_t)

typedef void (*search_fn)(const cpu_search *s, const void *queries, size_t count, uint64_t *places);
/* By log2 of an element's size. */
static const search_fn search_fns[] = {search_uint8_t, search_uint16_t, search_uint32_t,
                                       search_uint64_t};

void cpu_search_bind(const tml_context *tml, const tml_search_resolved *resolved, cpu_search *out)
{
    const tml_slot *sorted = tml_slot_of(tml, resolved->desc.sorted);
    *out = (cpu_search){.sorted = sorted->memory,
                        .queries = cpu_memory(tml, resolved->desc.queries),
                        .size = sorted->element_size,
                        .sorted_length = cpu_length(tml, &resolved->desc.sorted_length),
                        .flip = resolved->flip,
                        .real_flip = resolved->real_flip,
                        .minus_zero = resolved->minus_zero,
                        .upper = resolved->desc.upper};
}

static void search_block(const cpu_search *s, uint64_t first, size_t count, uint64_t *places)
{
    search_fns[__builtin_ctzll(s->size)](s, s->queries + first * s->size, count, places);
}

void cpu_search_bins(const cpu_search *s, uint64_t first, size_t count, uint32_t *bins)
{
    cpu_search end = *s; /* searches the end alone: is it before the query? */
    end.sorted = (const unsigned char *)s->sorted + s->sorted_length * s->size;
    end.sorted_length = 1;
    end.upper = false;
    uint64_t places[BLOCK], after[BLOCK];
    for (size_t at = 0; at < count; at += BLOCK) {
        size_t here = TML_MIN_OF(count - at, (size_t)BLOCK);
        search_block(s, first + at, here, places);
        search_block(&end, first + at, here, after);
        for (size_t q = 0; q < here; q++)
            bins[at + q] = after[q] ? UINT32_MAX : (uint32_t)places[q] - 1;
    }
}

static void search_worker(void *argument, uint32_t worker)
{
    search_job *job = argument;
    uint64_t tile, places[BLOCK];
    (void)worker;
    while (cpu_take_tile(&job->tickets, &tile) && !tml_is_cancelled(job->tml)) {
        uint64_t first = tile * TILE_ITEMS, end = TML_MIN_OF(first + TILE_ITEMS, job->length);
        for (; first < end; first += BLOCK) {
            size_t count = (size_t)TML_MIN_OF(end - first, (uint64_t)BLOCK);
            search_block(&job->search, first, count, places);
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
    search_job job = {.tml = tml,
                      .length = cpu_length(tml, &resolved->desc.length),
                      .out = tml_slot_of(tml, resolved->desc.out)};
    (void)scratch;
    (void)size;
    cpu_search_bind(tml, resolved, &job.search);
    cpu_run_tiles(tml, &job.tickets, TML_CEIL_DIV(job.length, TILE_ITEMS), search_worker, &job);
    return cpu_finish(tml, "tml_search");
}

const tml_engine_op cpu_op_search = {.run = search_run};
