/* Lengths of runs, step 2: replaces starts by lengths, one workgroup per tile of runs. Each
 * invocation loads its run's end before the neighbour overwrites it. */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"
#include "runs.glsl"

void main()
{
    uint tile = group_index();
    if (tile >= args.tiles)
        return;
    uvec2 first = uvec2(args.first_low, args.first_high), runs = load64(args.runs);
    uint part = tile * TILE_ITEMS;
    uint here = fits(uvec2(args.room_low, args.room_high), add64(first, uvec2(part, 0u)),
                     fits(runs, add64(first, uvec2(part, 0u)), TILE_ITEMS));
    for (uint begin = 0u; begin < here; begin += GROUP) {
        uint i = begin + gl_LocalInvocationID.x;
        uvec2 run = add64(first, uvec2(part + i, 0u)), run_length = uvec2(0u);
        if (i < here) {
            bool is_last = i == TILE_ITEMS - 1u;
            uvec2 end = is_last ? load64(address_of(args.ends, tile, 8u)) : end_of(run);
            run_length = sub64(end, start_of(run));
        }
        barrier();
        if (i < here) {
            uvec2 at = address_at(args.starts, run, SIZE);
            if (IS_WIDE)
                store64(at, run_length);
            else
                store_word(at, 0u, run_length.x);
        }
        barrier();
    }
}
