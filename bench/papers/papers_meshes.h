/* The tables of image_space.c and self_contained.c. */
#ifndef PAPERS_MESHES_H
#define PAPERS_MESHES_H

#include <trommel/trommel.h>

/* Prints how many pairs of triangles of tori, of about so many triangles each, pictures of growing
 * size miss. */
TML_MUST_CHECK tml_status images_print(tml_context *tml, uint64_t triangles, uint32_t repeats);

/* Prints memory and time of subdividing a torus, as self-contained triangles and by the library. */
TML_MUST_CHECK tml_status selves_print(tml_context *tml, uint32_t repeats);

#endif
