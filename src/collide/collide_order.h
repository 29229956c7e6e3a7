/* An order along a Z curve through a tree's box: near items take the same way down, and find its nodes in the cache. */
#ifndef COLLIDE_ORDER_H
#define COLLIDE_ORDER_H

#include "collide/collide_internal.h"

enum { COLLIDE_CODE_BITS = 10 };

/* The lowest ten bits of x, two zeros between. */
static inline uint32_t collide_spread(uint32_t x)
{
    x = (x | x << 16) & 0x030000ff;
    x = (x | x << 8) & 0x0300f00f;
    x = (x | x << 4) & 0x030c30c3;
    return (x | x << 2) & 0x09249249;
}

/* A point's place on the curve: bits of each coordinate, at most COLLIDE_CODE_BITS. */
static inline uint32_t collide_code(const tml_tree *tree, const float point[3], uint32_t bits)
{
    const float most = (float)((1u << bits) - 1);
    uint32_t code = 0;
    for (uint32_t k = 0; k < 3; k++) {
        float size = tree->upper[k] - tree->lower[k];
        float at = (point[k] - tree->lower[k]) / size * most;
        code |= collide_spread((uint32_t)(at > 0.0f ? TML_MIN_OF(at, most) : 0.0f))
                << k; /* NaN: 0 */
    }
    return code;
}

/* Items that tasks work on, in rounds; those of a round in the order of their codes. */
enum { COLLIDE_ITEMS_A_TASK = 1024 };
typedef struct collide_rounds {
    const char *call, *stage; /* of messages, of progress */
    double before, share; /* of the progress: what is done already, and what part of it this is */
    /* The first one writes the codes of a task's items into order. */
    void (*find_codes)(void *job, uint32_t task);
    void (*work)(void *job, uint32_t task);
    void *job;
    uint64_t count;
    uint64_t first; /* item of the round */
    uint64_t *order,
        *other; /* a code, and below it an item, from first on; NULL: too few to sort */
} collide_rounds;
tml_status collide_rounds_run(tml_context *tml, collide_rounds *rounds);

#endif
