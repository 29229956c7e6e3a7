/* Keep bits from a user's kernel. A workgroup evaluates the kernel for a tile of TILE_ITEMS
 * elements, and stores the tile's TILE_WORDS words and its count. */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"

const bool KERNEL_NEAR = true, KERNEL_STORED = false;
ARGS_USE(keep_args)
#include "keep_tile.glsl"
#include "kernel_loads.glsl"
#include "kernel_glue.glsl"

bool is_kept(uint i)
{
    return kernel_at(i, args.first_index + i, 0u);
}

/* The part of the lane's word (elements 32 * lane ... 32 * lane + 31 of the subgroup's range) that
 * ballot k contains (elements k * SUBGROUP ...). */
uint word_from(uvec4 ballot, uint k, uint lane)
{
    if (SUBGROUP > 32u) {
        uint at = 32u * lane - k * SUBGROUP; /* wraps around if it is in an earlier ballot */
        if (at >= SUBGROUP)
            return 0u;
        return at < 32u ? ballot.x : at < 64u ? ballot.y : at < 96u ? ballot.z : ballot.w;
    }
    uint at = k * SUBGROUP;
    return at >> 5 == lane ? ballot.x << (at & 31u) : 0u;
}

void main()
{
    uint tile = group_index();
    if (!is_in_tiles(tile))
        return;
    uint n = stream_length(args.length_at, args.bound);
    uint lane = gl_SubgroupInvocationID;
    uint first = tile * TILE_ITEMS + subgroup_index() * SUBGROUP * 32u;
    uint word = 0u;
    if (first + SUBGROUP * 32u <= n) {
        /* Eight at a time, so that their loads are in flight together. */
        for (uint k = 0u; k < 32u; k += 8u) {
            bool kept[8];
            for (uint j = 0u; j < 8u; j++)
                kept[j] = is_kept(first + (k + j) * SUBGROUP + lane);
            for (uint j = 0u; j < 8u; j++)
                word |= word_from(subgroupBallot(kept[j]), k + j, lane);
        }
    } else {
        for (uint k = 0u; k < 32u; k++) {
            uint i = first + k * SUBGROUP + lane;
            bool kept = false;
            if (i < n)
                kept = is_kept(i);
            word |= word_from(subgroupBallot(kept), k, lane);
        }
    }
    store_tile(tile, word);
}
