/* Head flags: a bit for each element whose bytes differ from its predecessor's. */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"

ARGS_USE(heads_args)
#include "keep_tile.glsl"

layout(constant_id = 0) const uint SIZE = 4u;

shared uint words[TILE_WORDS];

bool differs(uint i)
{
    uvec2 here = address_of(args.in_at, i, SIZE), before = address_of(args.before, i, SIZE);
    bool result = false;
    if (SIZE % 4u == 0u) {
        for (uint w = 0u; w < SIZE / 4u; w++)
            result = result || LOAD_U32(here, w) != LOAD_U32(before, w);
    } else {
        for (uint b = 0u; b < SIZE; b++)
            result = result || LOAD_U8(here, b) != LOAD_U8(before, b);
    }
    return result;
}

void main()
{
    uint tile = group_index(), local = gl_LocalInvocationID.x;
    if (!is_in_tiles(tile))
        return;
    uint count = stream_length(args.length_at, args.bound);
    words[local] = 0u;
    barrier();
    for (uint begin = 0u; begin < TILE_ITEMS; begin += GROUP) {
        uint i = tile * TILE_ITEMS + begin + local;
        bool is_head = false;
        if (i < count)
            is_head = (i == 0u && args.is_first != 0u) || differs(i);
        uvec4 ballot = subgroupBallot(is_head);
        uint first = begin + subgroup_index() * SUBGROUP;
        if (gl_SubgroupInvocationID == 0u) {
            atomicOr(words[first / 32u], ballot.x << (first % 32u));
            for (uint w = 1u; w < SUBGROUP / 32u; w++)
                words[first / 32u + w] = ballot[w];
        }
    }
    barrier();
    store_tile(tile, words[local]);
}
