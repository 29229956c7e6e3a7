/* Triangle soup from the pieces of a welded mesh. The last triangles of a piece name vertices of
 * the next piece. They are carried over to it, with their vertices in this one. */
#ifndef SOUP_CARRY_H
#define SOUP_CARRY_H

#include <trommel/surface.h>

enum { SOUP_ARRAYS = 3 + TML_MESH_MAX_ATTRIBUTES }; /* positions, normals, values, attributes */

typedef struct soup_array {
    void *memory;
    size_t size;
} soup_array;

/* Zeroed but for done: before the first piece. */
typedef struct soup_carry {
    uint64_t *triangles; /* carried vertex numbers within the part; in waiting[SOUP_ARRAYS] */
    uint64_t triangle_count;
    uint64_t vertex_first, vertex_count; /* carried vertices */
    uint64_t done;                       /* triangles given out */
    soup_array waiting[SOUP_ARRAYS + 1]; /* carried vertices' arrays, then triangles */
    soup_array soup[SOUP_ARRAYS];
    tml_mesh_attribute attributes[TML_MESH_MAX_ATTRIBUTES]; /* the soup's */
} soup_carry;

/* Takes a part's next piece, which has 64-bit indices. out: the triangles whose vertices are all
 * there, in order; valid until the next call. Errors: OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status soup_carry_add(tml_context *tml, soup_carry *carry,
                                         const tml_surface_piece *piece, tml_surface_piece *out);
void soup_carry_free(tml_context *tml, soup_carry *carry);

#endif
