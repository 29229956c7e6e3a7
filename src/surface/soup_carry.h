/* Triangle soup from the pieces of a welded mesh. The triangles at a piece's end name vertices of the
 * next one; they wait for it, with what they have of vertices. */
#ifndef SOUP_CARRY_H
#define SOUP_CARRY_H

#include <trommel/surface.h>

enum { SOUP_ARRAYS = 3 }; /* positions, normals, values */

typedef struct soup_array {
    void *memory;
    size_t size;
} soup_array;

/* Zeroed: before the first piece. */
typedef struct soup_carry {
    uint64_t *triangles; /* numbers within the part; in waiting[SOUP_ARRAYS] */
    uint64_t triangle_count;
    uint64_t vertex_first, vertex_count; /* of the vertices that wait */
    uint64_t done;                       /* triangles handed out */
    soup_array waiting[SOUP_ARRAYS + 1];
    soup_array soup[SOUP_ARRAYS];
} soup_carry;

/* Takes a part's next piece, with 64-bit indices, and gives the triangles that are complete by now, in
 * order; their memory is good until the next call. Errors: OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status soup_carry_add(tml_context *tml, soup_carry *carry,
                                         const tml_surface_piece *piece, tml_surface_piece *out);
void soup_carry_free(tml_context *tml, soup_carry *carry);

#endif
