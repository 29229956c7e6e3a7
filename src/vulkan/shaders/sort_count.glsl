/* Counts a digit in each tile, by bin and tile. */
#include "sort_tile.glsl"

void main()
{
    uint t = gl_LocalInvocationID.x, count = stream_length(args.length_at, args.bound);
    uint tile = group_index();
    if (tile >= (args.bound + (TILE - 1u)) / TILE)
        return;
    bins[t] = 0u;
    barrier();
    if (tile * TILE < count)
        count_tile(tile, count);
    barrier();
    if (t < BINS)
        words_at(args.states).v[t * args.tiles + tile] = bins[t];
}
