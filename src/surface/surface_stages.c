/* The seconds of a call's stages. */
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
