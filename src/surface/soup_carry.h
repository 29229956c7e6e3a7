/* A triangle soup from the pieces of a welded mesh. The last triangles of a piece name vertices of
 * the next piece. They are carried over to it, together with their vertices in this piece. */
#ifndef SOUP_CARRY_H
#define SOUP_CARRY_H

#include <trommel/surface.h>

enum { SOUP_ARRAYS = 3 + TML_MESH_MAX_ATTRIBUTES }; /* positions, normals, values, attributes */

typedef struct soup_array {
    void *memory;
    size_t size;
} soup_array;

/* Before the first piece, all but done is zeroed. */
typedef struct soup_carry {
    uint64_t *triangles; /* carried: vertex numbers within the part; in waiting[SOUP_ARRAYS] */
    uint64_t triangle_count;
    uint64_t vertex_first, vertex_count; /* of carried vertices */
    uint64_t done;                       /* triangles returned so far */
    soup_array waiting[SOUP_ARRAYS + 1]; /* arrays of the carried vertices, then the triangles */
    soup_array soup[SOUP_ARRAYS];
    tml_mesh_attribute attributes[TML_MESH_MAX_ATTRIBUTES]; /* of the soup */
} soup_carry;

/* Adds a part's next piece, which has 64-bit indices. out: the triangles whose vertices are all
 * known, in order; valid until the next call. Errors: OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status soup_carry_add(tml_context *tml, soup_carry *carry,
                                         const tml_surface_piece *piece, tml_surface_piece *out);
void soup_carry_free(tml_context *tml, soup_carry *carry);

#endif
