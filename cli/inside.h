/* trommel collide --find inside: which vertices of B, or points, lie inside A. */
#ifndef CLI_INSIDE_H
#define CLI_INSIDE_H

#include <trommel/collide.h>

#include "report/report.h"

typedef struct inside {
    uint8_t *sides; /* a tml_tree_side per point */
    uint64_t count;
    uint64_t side_counts[3]; /* [tml_tree_side] */
} inside;

/* Finds the sides of points with respect to a mesh.
 * name: the mesh's, for messages. pose: 3 rows of 4 that move the points; NULL: none.
 * Returns: an exit code; prints why on failure. inside_free is valid after a failure, too. */
int inside_find(tml_context *tml, tml_tree *tree, const char *name, tml_tree_rule rule,
                const float *points, uint64_t count, const float *pose, report *times, inside *out);
void inside_free(tml_context *tml, inside *in);

/* Writes .csv, .json or .npy, by the path's ending. */
int inside_save(tml_context *tml, const char *path, const inside *in);
void inside_tell(const inside *in);

#endif
