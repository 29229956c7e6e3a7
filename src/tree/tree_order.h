/* Sorts items along a Z curve through a tree's box. Neighbouring items then traverse the same nodes
 * and find them in the cache. */
#ifndef TREE_ORDER_H
#define TREE_ORDER_H

#include "kernels/kernel.h"
#include "tree/tree_internal.h"
/* Formulas in the language of kernels/kernel.h, which must be included first. */
#include "kernels/collide_order.k.h"

enum { TREE_CODE_BITS = 10 };

/* Returns a point's place on the curve. bits: per coordinate, at most TREE_CODE_BITS. */
static inline uint32_t tree_code(const tml_tree *tree, const float point[3], uint32_t bits)
{
    return collide_code_in(VEC3(point[0], point[1], point[2]),
                           VEC3(tree->lower[0], tree->lower[1], tree->lower[2]),
                           VEC3(tree->upper[0], tree->upper[1], tree->upper[2]), bits);
}

#include "kernels/kernel_end.h"

/* Items for parallel tasks, in rounds, each round in the order of its items' codes. */
enum { TREE_ITEMS_A_TASK = 1024 };
typedef struct tree_rounds {
    const char *call, *stage; /* names in messages and in progress reports */
    double before, share;     /* progress before this, and its share of the whole */
    /* find_codes writes to `order`, for each item of the task, its code << 32 | its number in the
     * round. work processes a task's items. */
    void (*find_codes)(void *job, uint32_t task);
    void (*work)(void *job, uint32_t task);
    void *job;
    uint64_t count;
    uint64_t first; /* the round's first item */
    uint64_t *order,
        *other;        /* code << 32 | item, for the round's items; NULL: too few items to sort */
    uint64_t *scratch; /* memory for order and other; NULL: allocate */
} tree_rounds;
/* Bytes of scratch for count items; 0 if they are too few to sort. */
size_t tree_rounds_size(uint64_t count);
tml_status tree_rounds_run(tml_context *tml, tree_rounds *rounds);

#endif
