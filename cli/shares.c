/* Which layers of a volume each process takes. */
#include "shares.h"

enum { BRICK_LAYERS = 4 };
/* What a brick costs that is looked up and left alone, of what one with a surface in it does. */
static const double idle_brick = 1.0 / 64;

/* Does the surface lie in a brick of this range, or beside it? */
static bool is_crossed(const float range[2], const tml_surface_desc *surface)
{
    for (uint32_t i = 0; i < surface->isovalue_count; i++)
        if ((double)range[0] < surface->isovalues[i] && surface->isovalues[i] <= (double)range[1])
            return true;
    for (uint32_t i = 0; i < surface->label_count; i++) {
        double label = (double)surface->labels[i];
        if ((double)range[0] <= label && label <= (double)range[1] && range[0] < range[1])
            return true;
    }
    return false;
}

/* Of a layer of bricks. */
static double cost_of(const tml_bricks *bricks, uint64_t brick_layer,
                      const tml_surface_desc *surface)
{
    const uint64_t one[3] = {bricks->dims[0], bricks->dims[1], 1};
    uint64_t count = tml_bricks_count(one), crossed = 0;
    const float *ranges = bricks->ranges + 2 * count * brick_layer;
    for (uint64_t b = 0; b < count; b++)
        crossed += is_crossed(ranges + 2 * b, surface);
    return (double)crossed + idle_brick * (double)count;
}

layer_share share_layers(uint64_t first, uint64_t count, uint32_t rank, uint32_t ranks,
                         const tml_bricks *bricks, const tml_surface_desc *surface)
{
    uint64_t begin = 0, end = 0;
    if (!bricks || count <= ranks) {
        begin = share_begin(count, rank, ranks);
        end = share_begin(count, rank + 1, ranks);
        if (count < ranks) { /* the first ones have a layer each */
            begin = rank < count ? rank : count;
            end = rank < count ? rank + 1 : count;
        }
        return (layer_share){first + begin, end - begin};
    }
    double total = 0, sum = 0, cost = 0;
    for (uint64_t z = first; z < first + count; z++) {
        if (z == first || z % BRICK_LAYERS == 0)
            cost = cost_of(bricks, z / BRICK_LAYERS, surface);
        total += cost;
    }
    /* A share ends where the sum passes its part of the total, and leaves a layer to each that follows. */
    uint32_t share = 0;
    for (uint64_t k = 0; k < count && share <= rank; k++) {
        uint64_t z = first + k, after = count - k - 1;
        if (k == 0 || z % BRICK_LAYERS == 0)
            cost = cost_of(bricks, z / BRICK_LAYERS, surface);
        sum += cost;
        uint32_t left = ranks - share - 1;
        if (left == 0)
            continue;
        if (sum * ranks >= total * (share + 1) || after == left) {
            if (share + 1 == rank)
                begin = k + 1;
            if (share == rank)
                end = k + 1;
            share++;
        }
    }
    if (rank == ranks - 1)
        end = count;
    return (layer_share){first + begin, end - begin};
}
