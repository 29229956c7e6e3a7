/* Label boundaries, slab by slab. This header is for other rooms. */
#ifndef TML_LABELS_SLABS_H
#define TML_LABELS_SLABS_H

#include "surface/slab_producer.h"

/* Opens the producer for desc.boundaries (surface_nets_slabs.c). Errors: as tml_surface_labels. */
TML_MUST_CHECK tml_status nets_slabs_open(slab_producer *out);

#endif
