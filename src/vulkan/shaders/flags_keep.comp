/* Keep bits from byte flags at in0, whose address is a multiple of 16 (IS_ALIGNED) or 4. */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"
#include "flag_bits.glsl"

ARGS_USE(keep_args)
#include "keep_tile.glsl"

layout(constant_id = 0) const bool IS_ALIGNED = true;

uint bits_of_quad(uvec4 flags)
{
    return flag_bits(flags.x) | flag_bits(flags.y) << 4 | flag_bits(flags.z) << 8 |
           flag_bits(flags.w) << 12;
}

void main()
{
    uint tile = group_index();
    if (!is_in_tiles(tile))
        return;
    uint count = stream_length(args.length_at, args.bound);
    uint first = tile * TILE_ITEMS + 32u * gl_LocalInvocationID.x;
    uint word = 0u;
    if (IS_ALIGNED && first < count && count - first >= 32u) {
        uint quad = first / 16u;
        word = bits_of_quad(quads_at(args.in0).v[quad]) |
               bits_of_quad(quads_at(args.in0).v[quad + 1u]) << 16;
    } else {
        for (uint i = 0u; i < 32u && first + i < count; i += 4u)
            word |= flag_bits(LOAD_U32(args.in0, (first + i) / 4u)) << i;
        word &= bits_before(first, count);
    }
    store_tile(tile, word);
}
