/* The stages of a call: seconds and progress. */
#include <string.h>

#include "surface/surface_internal.h"

void surface_time_in(tml_surface_stage *stages, uint32_t *count, const char *stage, double seconds)
{
    uint32_t i = 0;
    while (i < *count && strcmp(stages[i].name, stage) != 0)
        i++;
    if (i == SURFACE_STAGES)
        return;
    if (i == *count)
        stages[(*count)++] = (tml_surface_stage){stage, 0};
    stages[i].seconds += seconds;
}

void surface_time(tml_surface_result *result, const char *stage, double seconds)
{
    surface_time_in(result->stages, &result->stage_count, stage, seconds);
}

tml_status surface_report(tml_context *tml, const surface_plan *plan, const char *stage,
                          double fraction)
{
    const surface_progress *progress = &plan->progress;
    fraction = TML_MIN_OF(fraction, progress->last);
    if (progress->reached)
        *progress->reached = fraction = TML_MAX_OF(fraction, *progress->reached);
    return tml_progress(tml, stage, fraction)
               ? TML_OK
               : tml_error(tml, TML_ERROR_CANCELLED, "tml_surface: cancelled");
}

tml_status surface_step_done(tml_context *tml, const surface_plan *plan, const char *stage,
                             double done)
{
    const surface_progress *progress = &plan->progress;
    return surface_report(tml, plan, stage,
                          progress->first + (progress->last - progress->first) * done);
}
