/* Connected components of a mesh that comes in slabs. The triangles of a slab name its own
 * vertices and those that the next one begins with, so a forest needs room for one slab. What is
 * kept of a slab is, of each vertex of the next one that it names, to which others of them it is
 * connected. Of a share the same is kept of its first layer's vertices, which the share below
 * names. */
#ifndef SLAB_COMPONENTS_H
#define SLAB_COMPONENTS_H

#include <trommel/surface.h>

#include "mesh/mesh_arrays.h"

/* Zeroed: before the first slab, nothing below. */
typedef struct slab_components {
    mesh_forest forest;
    uint64_t below_count; /* vertices of the first layer, if there is a share below; the caller's */
    uint64_t next_count;  /* vertices of the next slab that triangles name */
    /* Of those and then of these: the first place in this array that is connected to it, or
     * FOREST_UNUSED. */
    uint64_t *kept;
    uint64_t kept_room;
    bool is_begun;
    uint64_t closed; /* components without a vertex that is kept */
} slab_components;

/* Adds a slab's triangles, which may be none. vertex_first: the number of its first vertex.
 * Errors: OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status slab_components_add(tml_context *tml, slab_components *c,
                                              const void *indices, bool indices64,
                                              uint64_t triangle_count, uint64_t vertex_first,
                                              uint64_t vertex_count);
/* What is kept, of a share. Errors: OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status slab_components_seam(tml_context *tml, const slab_components *c,
                                               tml_surface_seam *out);
void slab_components_free(tml_context *tml, slab_components *c);
void surface_seams_free(tml_context *tml, tml_surface_seam *seams, uint32_t count);

#endif
