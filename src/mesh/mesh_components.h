/* Connected components of a mesh whose triangles mostly name vertices that are close by, as those
 * of a surface do: what is kept in memory is a stretch of it, and 24 bytes a component. */
#ifndef MESH_COMPONENTS_H
#define MESH_COMPONENTS_H

#include "mesh/mesh_sweep.h"

/* Of the triangles whose bit is set: counts components; largest: first clears the bits of all but
 * each part's component with the most triangles, of equal ones the first. Takes, from the
 * allocator, 45 bytes a vertex of a window and 24 a component, more of one whose pieces meet late.
 * The window reaches from the lowest vertex that a stretch or a later one names to the highest that
 * it or an earlier one does; where that is large, several stretches share one, with half as many
 * triangles as it has vertices. Errors: OUT_OF_MEMORY, CANCELLED. */
TML_MUST_CHECK tml_status mesh_components(const mesh_sweep *sweep, const mesh_bits *kept,
                                          bool largest, uint64_t *components);

#endif
