/* Exclusive scan of u32 counts in place: all of them by one workgroup that loops over tiles, or the
 * first and last step of reduce, then scan. A subgroup has a range of its own in each tile. Its
 * lanes have consecutive uvec4, so that loads and stores are coalesced. */
#include "kernel.glsl"
#include "vulkan/vulkan_stream.k.h"
#include "common.glsl"
#include "group.glsl"
#extension GL_EXT_control_flow_attributes : require

ARGS_USE(scan_counts_args)
layout(constant_id = 0) const uint MODE = 0u;

const uint QUADS = COUNTS_TILE / (4u * GROUP);

/* Counts past the end are 0. There is no divergent branch: some drivers reconverge only after the
 * subgroup operations that follow. */
uvec4 load_counts(uint at, bool whole)
{
    if (whole)
        return quads_at(args.values).v[at >> 2];
    uvec4 quad;
    for (uint c = 0u; c < 4u; c++) {
        uint x = words_at(args.values).v[min(at + c, args.count - 1u)];
        quad[c] = at + c < args.count ? x : 0u;
    }
    return quad;
}

void store_counts(uint at, uvec4 quad)
{
    if (at + 4u <= args.count) {
        quads_at(args.values).v[at >> 2] = quad;
        return;
    }
    for (uint c = 0u; c < 3u; c++)
        if (at + c < args.count)
            words_at(args.values).v[at + c] = quad[c];
}

/* Scans the tile from prefix before; returns before plus the tile's sum. Has one barrier. */
uint scan_tile(uint tile, uint before)
{
    uint first = tile * COUNTS_TILE + subgroup_index() * (4u * QUADS * SUBGROUP) +
                 4u * gl_SubgroupInvocationID;
    bool whole = (tile + 1u) * COUNTS_TILE <= args.count;
    uvec4 quads[QUADS];
    [[unroll]] for (uint k = 0u; k < QUADS; k++)
        quads[k] = load_counts(first + k * 4u * SUBGROUP, whole);

    uint sums[QUADS]; /* exclusive prefix of each uvec4 in the subgroup */
    uint sum = 0u;
    [[unroll]] for (uint k = 0u; k < QUADS; k++) {
        uint own = quads[k].x + quads[k].y + quads[k].z + quads[k].w;
        uint through = subgroupInclusiveAdd(own);
        sums[k] = sum + through - own;
        sum += subgroupShuffle(through, SUBGROUP - 1u);
    }
    uint total = scan_subgroups(sum);
    if (MODE == COUNTS_SUMS)
        return total;

    [[unroll]] for (uint k = 0u; k < QUADS; k++) {
        uvec4 quad;
        quad.x = before + sum + sums[k];
        quad.y = quad.x + quads[k].x;
        quad.z = quad.y + quads[k].y;
        quad.w = quad.z + quads[k].z;
        store_counts(first + k * 4u * SUBGROUP, quad);
    }
    return before + total;
}

void main()
{
    uint tiles = (args.count + COUNTS_TILE - 1u) / COUNTS_TILE;
    if (MODE == COUNTS_ALL) {
        if (group_index() != 0u)
            return;
        uint sum = 0u;
        for (uint tile = 0u; tile < tiles; tile++) {
            sum = scan_tile(tile, sum);
            barrier();
        }
        if (gl_LocalInvocationID.x == 0u && !is_none(args.total)) {
            uvec2 base = is_none(args.base) ? uvec2(0u) : load64(args.base);
            store64(args.total, add64(base, uvec2(sum, 0u)));
        }
        return;
    }
    uint tile = group_index();
    if (tile >= tiles)
        return;
    uint before = MODE == COUNTS_ADD ? words_at(args.sums).v[tile] : 0u;
    uint sum = scan_tile(tile, before);
    if (MODE == COUNTS_SUMS && gl_LocalInvocationID.x == 0u)
        words_at(args.sums).v[tile] = sum;
}
