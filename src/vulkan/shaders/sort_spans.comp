/* Lists the tiles of long segments, one invocation per tile, and computes the grid of the
 * dispatches that sort them. */
#define SORT_WORDS 1
#include "sort_segments.glsl"

/* The window in which the long segment of a tile begins: the last window that has no more tiles
 * before it. */
uint window_of(uint tile, uint windows)
{
    uint low = 0u, high = windows;
    while (high - low > 1u) {
        uint middle = low + ((high - low) >> 1);
        if (words_at(args.longs).v[middle] <= tile)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The tile's record; empty if offsets decrease. */
uvec4 span_of(uint tile, uint windows)
{
    uint w = window_of(tile, windows), nth = tile - words_at(args.longs).v[w];
    uint first = quads_at(args.windows).v[w].w, past = offset_at(quads_at(args.windows).v[w].y);
    bool is_there = first < past && past <= elements_now() && nth <= (past - first - 1u) / SPANS;
    return is_there ? uvec4(first, past - first, w * args.digits, nth) : uvec4(0u);
}

void main()
{
    uint windows = (args.bound + (WINDOW - 1u)) / WINDOW;
    uint tiles = min(words_at(args.head).v[0], SORT_MOST_SPANS(args.bound, SPANS, windows)),
         tile = group_index() * GROUP + gl_LocalInvocationID.x;
    if (tile == 0u) {
        uint groups = max(tiles, 1u), x = min(groups, SORT_GRID_X);
        store_word(args.head, SORT_HEAD_TILES, tiles);
        store_word(args.head, SORT_HEAD_COUNTS, tiles * BINS);
        store_word(args.head, SORT_HEAD_GRID, x);
        store_word(args.head, SORT_HEAD_GRID + 1u, (groups + x - 1u) / x);
        store_word(args.head, SORT_HEAD_GRID + 2u, 1u);
    }
    uvec4 span = uvec4(0u);
    if (tile < tiles)
        quads_at(args.spans).v[tile] = span = span_of(tile, windows);
    /* The subgroup zeroes each table of its tiles together. */
    uint zeroes = span.y != 0u && span.w == 0u ? args.digits * BINS : 0u;
    for (uint lane = 0u; lane < SUBGROUP; lane++) {
        uint words = subgroupShuffle(zeroes, lane);
        uvec2 to = address_of(args.tables, subgroupShuffle(span.z, lane), 4u * BINS);
        for (uint i = gl_SubgroupInvocationID; i < words; i += SUBGROUP)
            words_at(to).v[i] = 0u;
    }
}
