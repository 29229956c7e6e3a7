/* Where a part's samples lie, for every engine: sizes with the pads of caps, which layers are a share's
 * own, and which others a slab has to see. */
#ifndef TML_SURFACE_SPACE_H
#define TML_SURFACE_SPACE_H

#include "surface/surface_internal.h"

/* Layers beside a slab's own: one below, for gradients and for cells with missing corners; two above,
 * for the vertices on the seam, which triangles name, and for the edges that number them. */
enum { SURFACE_LAYERS_BELOW = 1, SURFACE_LAYERS_ABOVE = 2, SURFACE_LAYERS_BESIDE = 3 };

/* What a slab holds that owns layers first to end, of so many; and how much one of so many own layers
 * holds at most. */
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
    uint64_t pad;               /* 1 with caps: on either side of an axis */
    uint64_t pad_low, pad_high; /* along z, where a share may lack it */
    uint64_t size[3];
    uint64_t own_first, own_end; /* layers that are the share's own, pads counted */
    uint64_t z_first, z_end;     /* those of the volume; a pad above may be among others' */
    uint64_t box_z;              /* the box's first layer in the volume */
} surface_space;
surface_space surface_space_of(const surface_plan *plan, const surface_part *part);

/* The layers of a space that belong to a slab of the volume, and those that it holds. */
typedef struct surface_slab {
    uint64_t own_first, own_end; /* of the space */
    uint64_t from, to;
    bool pad_low, pad_high; /* is a pad among them? */
    uint64_t z_first;       /* the first layer of samples, in the volume */
} surface_slab;
/* first, end: its own layers in the volume. A pad belongs to the slab of the layer beside it. */
surface_slab surface_slab_of(const surface_space *space, uint64_t first, uint64_t end,
                             bool looks_below);

/* May samples be missing: by a mask, or as NaN? */
bool surface_may_miss(const surface_plan *plan);

#endif
