/* Runs tasks over many items in rounds; the items of a round are sorted by their codes. */
#include "tree/tree_order.h"

#include "core/call.h"
#include "core/host_sort.h"

enum { TASKS_A_ROUND = 1024, LEAST_TO_SORT = 4096, CODES = (1 << 3 * TREE_CODE_BITS) - 1 };

ALWAYS_INLINE uint64_t code_key(const void *record)
{
    return *(const uint64_t *)record >> 32;
}

/* Sorts order by codes. May exchange the two arrays. */
static void sort_codes(uint64_t **order, uint64_t **other, uint64_t count)
{
    uint64_t *sorted = host_sort(*order, *other, count, sizeof *sorted, code_key, CODES);
    if (sorted == *order)
        return;
    *other = *order;
    *order = sorted;
}

static tml_status run_all(tml_context *tml, tree_rounds *r)
{
    uint64_t tasks = TML_CEIL_DIV(r->count, TREE_ITEMS_A_TASK);
    for (uint64_t task = 0; task < tasks; task += TASKS_A_ROUND) {
        uint32_t now = (uint32_t)TML_MIN_OF(tasks - task, (uint64_t)TASKS_A_ROUND);
        bool goes_on =
            tml_progress(tml, r->stage, r->before + r->share * (double)task / (double)tasks);
        r->first = task * TREE_ITEMS_A_TASK;
        if (goes_on && r->order && (goes_on = tml_parallel_until(tml, now, r->find_codes, r->job)))
            sort_codes(&r->order, &r->other,
                       TML_MIN_OF(r->count - r->first, (uint64_t)now * TREE_ITEMS_A_TASK));
        if (!goes_on || !tml_parallel_until(tml, now, r->work, r->job))
            return tml_error(tml, TML_ERROR_CANCELLED, "%s: cancelled", r->call);
    }
    return TML_OK;
}

size_t tree_rounds_size(uint64_t count)
{
    uint64_t room = TML_MIN_OF(count, (uint64_t)TASKS_A_ROUND * TREE_ITEMS_A_TASK);
    return room < LEAST_TO_SORT ? 0 : (size_t)room * 2 * sizeof(uint64_t);
}

tml_status tree_rounds_run(tml_context *tml, tree_rounds *r)
{
    size_t size = tree_rounds_size(r->count);
    if (size == 0)
        return run_all(tml, r);
    uint64_t *memory = r->scratch ? r->scratch : tml_alloc(tml, size);
    if (!memory)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %zu bytes to sort in",
                         r->call, size);
    r->order = memory;
    r->other = memory + size / 2 / sizeof *memory;
    tml_status status = run_all(tml, r);
    if (!r->scratch)
        tml_free(tml, memory, size);
    return status;
}
