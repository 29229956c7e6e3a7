/* Keep bits from a mask at in0: the mask's words, with bits past the length cleared. */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"

ARGS_USE(keep_args)
#include "keep_tile.glsl"

void main()
{
    uint tile = group_index();
    if (!is_in_tiles(tile))
        return;
    uint count = stream_length(args.length_at, args.bound);
    uint i = tile * TILE_WORDS + gl_LocalInvocationID.x;
    uint word = 0u;
    if (32u * i < count)
        word = LOAD_U32(args.in0, i) & bits_before(32u * i, count);
    store_tile(tile, word);
}
