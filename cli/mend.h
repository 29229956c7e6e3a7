/* Mends what edge collapse may leave: triangles without area, edges of four triangles and more. */
#ifndef CLI_MEND_H
#define CLI_MEND_H

#include <trommel/io.h>

/* Mends a mesh in place. Its arrays, and those of attributes (which are the mesh's), must be from
 * tml_alloc in their exact sizes; they are replaced where a length changes. Indices have 32 bits.
 *   flat    of a triangle flatter than 2^-20 of its longest edge, that edge is flipped, which moves
 *           nothing; where it cannot be flipped, the third corner moves off it by 2^-10 of it
 *   fins    two triangles of the same corners, on an edge that others have, too, are removed
 *   edges   of an edge of four triangles and more, each two that enclose a wedge get an edge of
 *           their own: all but one are cut at a vertex just inside the wedge. Not with texture
 *           coordinates or labels
 * A mesh without these stays as it is. Errors: OUT_OF_MEMORY (the mesh is mended in part). */
TML_MUST_CHECK tml_status mend_mesh(tml_context *tml, tml_mesh *mesh,
                                    tml_mesh_attribute *attributes);

#endif
