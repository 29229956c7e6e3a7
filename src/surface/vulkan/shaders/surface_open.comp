/* Lists the words of sign bits that have open cells. A light pass of its own, as choosing meshes
 * uses so many registers that few invocations are resident. */
#include "surface_rows.glsl"

ARGS_USE(surface_open_args)

#include "surface_counted.glsl"
#include "kernels/surface_open.k.h"

/* Words per lane: 4 if the words per row are a multiple of 4, otherwise 1. */
layout(constant_id = 4) const uint LANE_WORDS = 1u;

/* For each of four rows: the lane's words, and the word after them. */
uvec4 row[4];
uint row_end[4];

void load_row(uint i, uint at, bool has_next)
{
    row[i] = LANE_WORDS == 4u ? quads_at(args.bits).v[at / 4u] : uvec4(words_at(args.bits).v[at]);
    row_end[i] = has_next ? words_at(args.bits).v[at + LANE_WORDS] : 0u;
}

/* Returns word k of row i, one step along x. */
uint step_of(uint i, uint k)
{
    return surface_step_x(row[i][k], k + 1u < LANE_WORDS ? row[i][min(k + 1u, 3u)] : row_end[i]);
}

/* Returns a bit for each of the lane's words that has open cells. */
uint find_open(uint at, uint words)
{
    uint number = at / words, w = at - number * words, found = 0u;
    uint y = number % args.size_y;
    if (number < own_first || number >= counted_end || y + 1u >= args.size_y ||
        number + args.size_y >= row_count)
        return 0u;
    for (uint i = 0u; i < 4u; i++)
        load_row(i, at + ((i & 1u) + (i >> 1) * args.size_y) * words, w + LANE_WORDS < words);
    for (uint k = 0u; k < LANE_WORDS; k++) {
        uint open = surface_open_cells(row[0][k], step_of(0u, k), row[1][k], step_of(1u, k),
                                       row[2][k], step_of(2u, k), row[3][k], step_of(3u, k));
        found |= (open & x_mask_of(w + k, args.size_x)) != 0u ? 1u << k : 0u;
    }
    return found;
}

void main()
{
    uint words = (args.size_x + 31u) / 32u;
    uint at = (group_index() * GROUP + gl_LocalInvocationID.x) * LANE_WORDS, found = 0u;
    if (at < row_count * words)
        found = find_open(at, words);
    reconverge();
    uint count = popcount32(found), first = 0u;
    uint before = subgroupExclusiveAdd(count), all = subgroupAdd(count);
    if (gl_SubgroupInvocationID == 0u && all != 0u)
        first = atomicAdd(words_at(args.states).v[SURFACE_STATE_OPEN], all);
    reconverge();
    first = subgroupShuffle(first, 0u) + before;
    for (; found != 0u; found &= found - 1u)
        words_at(args.list).v[first++] = at + uint(findLSB(found));
}
