/* An order along a Z curve through a tree's box: near items take the same way down, and find its
 * nodes in the cache. */
#ifndef TREE_ORDER_H
#define TREE_ORDER_H

#include "kernels/kernel.h"
#include "tree/tree_internal.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/collide_order.k.h"

enum { TREE_CODE_BITS = 10 };

/* A point's place on the curve: bits of each coordinate, at most TREE_CODE_BITS. */
static inline uint32_t tree_code(const tml_tree *tree, const float point[3], uint32_t bits)
{
    return collide_code_in(VEC3(point[0], point[1], point[2]),
                           VEC3(tree->lower[0], tree->lower[1], tree->lower[2]),
                           VEC3(tree->upper[0], tree->upper[1], tree->upper[2]), bits);
}

#include "kernels/kernel_end.h"

/* Items that tasks work on, in rounds; those of a round in the order of their codes. */
enum { TREE_ITEMS_A_TASK = 1024 };
typedef struct tree_rounds {
    const char *call, *stage; /* of messages, of progress */
    double before, share; /* of the progress: what is done already, and what part of it this is */
    /* The first one writes the codes of a task's items into order. */
    void (*find_codes)(void *job, uint32_t task);
    void (*work)(void *job, uint32_t task);
    void *job;
    uint64_t count;
    uint64_t first; /* item of the round */
    uint64_t *order,
        *other;        /* a code, and below it an item, from first on; NULL: too few to sort */
    uint64_t *scratch; /* room for those, or NULL: allocated */
} tree_rounds;
/* Bytes of scratch for count items. */
size_t tree_rounds_size(uint64_t count);
tml_status tree_rounds_run(tml_context *tml, tree_rounds *rounds);

#endif
