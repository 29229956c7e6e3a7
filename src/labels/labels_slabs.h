/* The boundaries of labels, slab by slab: the header that the room publishes. */
#ifndef TML_LABELS_SLABS_H
#define TML_LABELS_SLABS_H

#include "surface/slab_producer.h"

/* The producer of desc.boundaries (surface_nets_slabs.c). Errors: as tml_surface_labels. */
TML_MUST_CHECK tml_status nets_slabs_open(slab_producer *out);

#endif
