/* The samples of a part's workspace, on every engine: its size with the pads of caps, its own
 * layers, and the halo layers that a slab needs. */
#ifndef TML_SURFACE_SPACE_H
#define TML_SURFACE_SPACE_H

#include "surface/surface_internal.h"

/* The halo of a slab. One layer below: for gradients and for cells with missing corners. Two layers
 * above: triangles name vertices of the first, whose numbers depend on edges into the second. */
enum { SURFACE_LAYERS_BELOW = 1, SURFACE_LAYERS_ABOVE = 2, SURFACE_LAYERS_BESIDE = 3 };

/* First and end of the layers that a slab holds, given its own layers; the most layers it holds. */
static inline uint64_t surface_held_first(uint64_t first)
{
    return first - TML_MIN_OF(first, (uint64_t)SURFACE_LAYERS_BELOW);
}
static inline uint64_t surface_held_end(uint64_t end, uint64_t layers)
{
    return TML_MIN_OF(end + SURFACE_LAYERS_ABOVE, layers);
}
static inline uint64_t surface_held_most(uint64_t own, uint64_t layers)
{
    return TML_MIN_OF(own + SURFACE_LAYERS_BESIDE, layers);
}

/* A part's box with its pads: the samples of a workspace. */
typedef struct surface_space {
    uint64_t pad;               /* with caps 1 on either side of an axis; otherwise 0 */
    uint64_t pad_low, pad_high; /* along z; a part in a slab may lack either */
    uint64_t size[3];
    uint64_t own_first, own_end; /* own layers, as layers of the space (pads included) */
    uint64_t z_first, z_end;     /* own layers, as layers of the volume (without pads) */
    uint64_t box_z;              /* the box's first layer in the volume */
} surface_space;
surface_space surface_space_of(const surface_plan *plan, const surface_part *part);

/* A slab of a space. */
typedef struct surface_slab {
    uint64_t own_first, own_end; /* own layers, as layers of the space */
    uint64_t from, to;           /* those with the halo */
    bool pad_low, pad_high;      /* whether that pad is in [from, to) */
    uint64_t z_first;            /* the volume's layer of the slab's first samples */
} surface_slab;
/* Returns the slab with own layers [first, end) of the volume. A pad next to them is the slab's own
 * too. looks_below: the halo includes the layer below. */
surface_slab surface_slab_of(const surface_space *space, uint64_t first, uint64_t end,
                             bool looks_below);

/* Whether samples may be missing, because of a mask or as NaN. */
bool surface_may_miss(const surface_plan *plan);

#endif
