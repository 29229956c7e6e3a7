/* Shared by the steps of a surface net: counted memory, progress, and layers in parallel. */
#include <inttypes.h>

#include "core/call.h"
#include "labels/surface_nets.h"

#define CALL "tml_surface_labels"

void *nets_alloc(nets_plan *plan, uint64_t count, size_t size)
{
    void *memory = tml_alloc_array(plan->tml, count, size);
    if (!memory) {
        (void)tml_error(plan->tml, TML_ERROR_OUT_OF_MEMORY,
                        CALL ": no memory for %" PRIu64 " times %zu bytes; give a smaller region",
                        count, size);
        return NULL;
    }
    plan->memory += count * size;
    plan->result->scratch_size = TML_MAX_OF(plan->result->scratch_size, plan->memory);
    return memory;
}

void nets_free(nets_plan *plan, void *memory, uint64_t count, size_t size)
{
    if (!memory)
        return;
    tml_free(plan->tml, memory, count * size);
    plan->memory -= count * size;
}

void nets_time(const nets_plan *plan, const char *stage, double seconds)
{
    surface_time_in(plan->result->stages, &plan->result->stage_count, stage, seconds);
}

bool nets_report(const nets_plan *plan, const char *stage, double fraction)
{
    const double from = plan->progress_from, to = plan->progress_to;
    *plan->progress = TML_MAX_OF(*plan->progress, from + (to - from) * fraction);
    if (tml_progress(plan->tml, stage, *plan->progress))
        return true;
    (void)tml_error(plan->tml, TML_ERROR_CANCELLED, CALL ": cancelled");
    return false;
}

tml_status nets_run_layers(nets_plan *plan, const char *stage, uint32_t part, uint32_t parts,
                           uint64_t count, tml_task_fn task)
{
    const uint64_t batch = 8 * (uint64_t)tml_concurrency(plan->tml);
    const double start = tml_seconds();
    for (plan->first_layer = 0; plan->first_layer < count; plan->first_layer += batch) {
        const uint64_t some = TML_MIN_OF(batch, count - plan->first_layer);
        tml_parallel_for(plan->tml, (uint32_t)some, task, plan);
        /* If the call is cancelled, tasks leave their layers undefined. */
        const double done = (double)(plan->first_layer + some) / (double)count;
        if (!nets_report(plan, stage, (part + done) / parts))
            return TML_ERROR_CANCELLED;
    }
    nets_time(plan, stage, tml_seconds() - start);
    return TML_OK;
}
