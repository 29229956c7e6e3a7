#include "tree/collide_order.h"

#include "core/call.h"

enum { TASKS_A_ROUND = 1024, LEAST_TO_SORT = 4096, DIGIT_BITS = 10, DIGITS = 1 << DIGIT_BITS };

/* Sorts by bits 32 to 61, stably, from the least digit on. other: as much room; they change
 * places. */
static void sort_codes(uint64_t **order, uint64_t **other, uint64_t count)
{
    for (uint32_t shift = 32; shift < 32 + 3 * COLLIDE_CODE_BITS; shift += DIGIT_BITS) {
        uint32_t starts[DIGITS] = {0}, sum = 0;
        uint64_t *from = *order, *to = *other;
        for (uint64_t i = 0; i < count; i++)
            starts[from[i] >> shift & (DIGITS - 1)]++;
        for (uint32_t digit = 0; digit < DIGITS; digit++) {
            uint32_t here = starts[digit];
            starts[digit] = sum;
            sum += here;
        }
        for (uint64_t i = 0; i < count; i++)
            to[starts[from[i] >> shift & (DIGITS - 1)]++] = from[i];
        *order = to;
        *other = from;
    }
}

static tml_status run_all(tml_context *tml, collide_rounds *r)
{
    uint64_t tasks = TML_CEIL_DIV(r->count, COLLIDE_ITEMS_A_TASK);
    for (uint64_t task = 0; task < tasks; task += TASKS_A_ROUND) {
        uint32_t now = (uint32_t)TML_MIN_OF(tasks - task, (uint64_t)TASKS_A_ROUND);
        bool goes_on =
            tml_progress(tml, r->stage, r->before + r->share * (double)task / (double)tasks);
        r->first = task * COLLIDE_ITEMS_A_TASK;
        if (goes_on && r->order && (goes_on = tml_parallel_until(tml, now, r->find_codes, r->job)))
            sort_codes(&r->order, &r->other,
                       TML_MIN_OF(r->count - r->first, (uint64_t)now * COLLIDE_ITEMS_A_TASK));
        if (!goes_on || !tml_parallel_until(tml, now, r->work, r->job))
            return tml_error(tml, TML_ERROR_CANCELLED, "%s: cancelled", r->call);
    }
    return TML_OK;
}

size_t collide_rounds_size(uint64_t count)
{
    uint64_t room = TML_MIN_OF(count, (uint64_t)TASKS_A_ROUND * COLLIDE_ITEMS_A_TASK);
    return room < LEAST_TO_SORT ? 0 : (size_t)room * 2 * sizeof(uint64_t);
}

tml_status collide_rounds_run(tml_context *tml, collide_rounds *r)
{
    size_t size = collide_rounds_size(r->count);
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
