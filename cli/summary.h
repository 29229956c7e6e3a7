/* What "trommel surface" reports at its end, for people and as JSON. */
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include <trommel/surface.h>

#include "input.h"

enum { SUMMARY_MAX_STAGES = 24, SUMMARY_MAX_OUTPUTS = 3 };

typedef struct summary_stage {
    const char *name;
    double seconds;
} summary_stage;

typedef struct summary {
    const input *in;
    tml_grid grid;      /* of the volume, or of the field that the points made */
    double radius;      /* of points; 0 for volumes */
    const char *origin; /* of the isovalue: "given", "Otsu's method", ... ; NULL: labels */
    const tml_surface_result *result;
    double slope, intercept; /* from samples to physical values */
    uint64_t cells;
    bool has_components;
    uint64_t components;
    uint64_t bytes_in; /* of samples or points that the extraction read */
    double surface_seconds;
    summary_stage stages[SUMMARY_MAX_STAGES];
    uint32_t stage_count;
    const char *outputs[SUMMARY_MAX_OUTPUTS];
    uint32_t output_count;
} summary;

void summary_add_stage(summary *s, const char *name, double seconds);
void summary_print(const summary *s);
void summary_print_json(const summary *s);

#endif
