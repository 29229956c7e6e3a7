/* Which share each process or task takes, of layers of a volume or other things. */
#ifndef CLI_SHARES_H
#define CLI_SHARES_H

#include <trommel/io.h>

typedef struct layer_share {
    uint64_t first, count; /* count 0: nothing is left for this one */
} layer_share;

/* Where the share of rank begins, of ranks that share count things evenly; of rank ranks: count. */
static inline uint64_t share_begin(uint64_t count, uint64_t rank, uint64_t ranks)
{
    return count / ranks * rank + count % ranks * rank / ranks;
}

/* The share of one of several processes in layers [first, first + count). With bricks, which may be NULL, shares
 * have about as many bricks that one of the isovalues crosses (or, where there are none, a label's value
 * lies in); without, as many layers. Every process has a layer as long as there are as many. */
layer_share share_layers(uint64_t first, uint64_t count, uint32_t rank, uint32_t ranks,
                         const tml_bricks *bricks, const tml_surface_desc *surface);

#endif
