/* Lengths of runs, step 1: stores the end of each tile's last run. That end is the next tile's
 * first start, which step 2 overwrites. */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"
#include "runs.glsl"

void main()
{
    uint tile = group_index() * GROUP + gl_LocalInvocationID.x;
    if (tile >= args.tiles)
        return;
    uvec2 last = add64(uvec2(args.first_low, args.first_high),
                       uvec2(tile * TILE_ITEMS + (TILE_ITEMS - 1u), 0u));
    store64(address_of(args.ends, tile, 8u), end_of(last));
}
