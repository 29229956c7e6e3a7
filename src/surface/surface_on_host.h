/* Surfaces that the host computes for another engine's buffers. Used for the trilinear topology. */
#ifndef TML_SURFACE_ON_HOST_H
#define TML_SURFACE_ON_HOST_H

#include "surface/surface_internal.h"

typedef struct surface_host_array {
    void *memory;
    size_t size;
    tml_slot slot; /* in place of the buffer's slot */
} surface_host_array;

enum { SURFACE_HOST_INPUTS = 3, SURFACE_HOST_OUTPUTS = 5 };

typedef struct surface_host {
    surface_host_array inputs[SURFACE_HOST_INPUTS];
    surface_host_array outputs[SURFACE_HOST_OUTPUTS];
    void *scratch; /* COUNT's, from which EMIT reads */
    size_t scratch_size;
} surface_host;

/* Makes the plan's COUNT and EMIT run on the host, on copies of the desc's volume, mask and
 * attribute. The caller always calls surface_host_end, even after a failure. */
tml_status surface_host_begin(tml_context *tml, const tml_surface_desc *desc, surface_plan *plan,
                              surface_host *host);
void surface_host_end(tml_context *tml, surface_host *host);
/* Runs the plan's stage. EMIT writes its outputs to the buffers. */
tml_status surface_host_run(tml_context *tml, surface_plan *plan);

#endif
