/* Computes from a mesh's triangles whether the mesh is closed, how large it is, and what volume it
 * encloses. Triangles may come in any order, a piece at a time. */
#ifndef CLI_MEASURES_H
#define CLI_MEASURES_H

#include <trommel/mesh.h>

typedef struct waiting_triangle waiting_triangle;

/* Zeroed: nothing yet. */
typedef struct measures {
    bool is_off; /* too many triangles, quads, or out of memory: nothing is reported */
    uint64_t triangles;
    double area, six_volumes, base[3];
    uint64_t balance;          /* of edges; 0: each is used as often one way as the other */
    waiting_triangle *waiting; /* triangles with vertices of the next piece */
    uint64_t waiting_count, waiting_room;
    uint64_t vertices; /* of the pieces so far */
} measures;

/* Adds a piece whose vertices are numbered from the end of the previous piece's numbers, and may
 * share numbers with the next piece. */
void measures_add(tml_context *tml, measures *m, const tml_mesh *piece);
/* Ends with all pieces there; gives back memory. */
void measures_end(tml_context *tml, measures *m);

static inline bool measures_are_told(const measures *m)
{
    return !m->is_off && m->triangles > 0;
}
/* No boundary, and wound alike. */
static inline bool measures_are_closed(const measures *m)
{
    return m->balance == 0;
}

#endif
