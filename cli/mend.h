/* What edge collapse may leave, mended: triangles without area, and edges of four triangles and more. */
#ifndef CLI_MEND_H
#define CLI_MEND_H

#include <trommel/io.h>

/* The mesh's arrays are its own, from tml_alloc in their exact sizes, and are replaced; so are those of attributes, which
 * are the mesh's. Indices have 32 bits. After it
 *   - no triangle is flatter than 2^-20 of its longest edge: its longest edge is flipped, which moves nothing; or where that
 *     cannot be, its third corner moves off that edge by 2^-8 of it;
 *   - an edge of four triangles and more, as many in one direction as in the other, is an edge for each two that enclose a
 *     wedge: all but one are cut at a vertex just inside the wedge. Not with texture coordinates or labels.
 * A mesh without either stays as it is. Errors: OUT_OF_MEMORY (the mesh is then as it was, or mended in part). */
TML_MUST_CHECK tml_status mend_mesh(tml_context *tml, tml_mesh *mesh,
                                    tml_mesh_attribute *attributes);

#endif
