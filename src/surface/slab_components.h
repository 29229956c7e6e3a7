/* Connected components of a mesh that comes in slabs. A slab's triangles name the slab's own
 * vertices and the first vertices of the next slab, so a union-find forest of one slab is enough.
 * Between slabs, only the connections among the named vertices of the next slab are kept. A share
 * also keeps the connections of its first layer's vertices, since the share below names them. */
#ifndef SLAB_COMPONENTS_H
#define SLAB_COMPONENTS_H

#include <trommel/surface.h>

#include "mesh/mesh_arrays.h"

/* Zeroed: before the first slab, with no share below. */
typedef struct slab_components {
    mesh_forest forest;
    uint64_t below_count; /* of the first layer; set by the caller if there is a share below */
    uint64_t next_count;  /* vertices of the next slab that triangles name */
    /* One number per vertex of below_count, then of next_count: the first place in this array that
     * is connected to the vertex, or FOREST_UNUSED. */
    uint64_t *kept;
    uint64_t kept_room;
    bool is_begun;
    uint64_t closed; /* components without a vertex in kept */
} slab_components;

/* Adds a slab's triangles, maybe none. vertex_first: the number of the slab's first vertex. Errors:
 * OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status slab_components_add(tml_context *tml, slab_components *c,
                                              const void *indices, bool indices64,
                                              uint64_t triangle_count, uint64_t vertex_first,
                                              uint64_t vertex_count);
/* Copies the kept connections of a share to out. Errors: OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status slab_components_seam(tml_context *tml, const slab_components *c,
                                               tml_surface_seam *out);
void slab_components_free(tml_context *tml, slab_components *c);
void surface_seams_free(tml_context *tml, tml_surface_seam *seams, uint32_t count);

#endif
