/* Connected components of a mesh whose triangles mostly name nearby vertices, like those of a
 * surface. Memory holds a stretch of the mesh, and 24 bytes per component. */
#ifndef MESH_COMPONENTS_H
#define MESH_COMPONENTS_H

#include "mesh/mesh_sweep.h"

/* Counts the components of the triangles whose bit is set. largest: first clears the bits of all
 * but each part's component with the most triangles; of equal ones, keeps the first.
 * Memory, from the allocator: 45 bytes per vertex of a window and 24 per component, more for one
 * whose pieces meet late. A window extends from the lowest vertex that a stretch or a later one
 * names to the highest that it or an earlier one names. If that is large, several stretches share a
 * window, with half as many triangles as it has vertices. Errors: OUT_OF_MEMORY, CANCELLED. */
TML_MUST_CHECK tml_status mesh_components(const mesh_sweep *sweep, const mesh_bits *kept,
                                          bool largest, uint64_t *components);

#endif
