/* Isosurfaces and single labels as a producer of slabs. The engine counts and emits. */
#ifndef SLAB_ISOSURFACE_H
#define SLAB_ISOSURFACE_H

#include "surface/slab_producer.h"

/* Opens the producer of desc.surface. Errors: as tml_surface_slabs. */
TML_MUST_CHECK tml_status isosurface_slabs_open(slab_producer *out);

#endif
