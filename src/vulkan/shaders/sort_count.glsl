/* Counts the digits of each tile, by bin and tile. */
#include "sort_tile.glsl"

void main()
{
    uint t = gl_LocalInvocationID.x, count = stream_length(args.length_at, args.bound);
    if (group_index() >= (SPANS != 0u ? count : (args.bound + (TILE - 1u)) / TILE))
        return;
    tile_place place = place_of(group_index(), count);
    uint tile = place.tile;
    count = place.count;
    bins[t] = 0u;
    barrier();
    if (tile * TILE < count)
        count_tile(tile, count);
    barrier();
    if (t < BINS)
        words_at(place.states).v[t * place.column + tile] = bins[t];
}
