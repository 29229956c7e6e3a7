/* A length in device memory, clamped to its bound and split into passes. */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"

ARGS_USE(lengths_args)

bool less64(uvec2 a, uvec2 b)
{
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}

void main()
{
    uvec2 n = uvec2(LOAD_U32(args.from, 0u), 0u);
    if (args.wide != 0u)
        n.y = LOAD_U32(args.from, 1u);
    uvec2 bound = uvec2(args.bound_low, args.bound_high);
    if (less64(bound, n))
        n = bound;
    uint i = group_index() * GROUP + gl_LocalInvocationID.x;
    if (i == 0u)
        store64(args.total, n);
    if (i >= args.count)
        return;
    /* The pass begins at element i << pass_log2; pass_log2 is 1 ... 30. */
    uvec2 first = uvec2(i << args.pass_log2, i >> (32u - args.pass_log2));
    uint items = 1u << args.pass_log2;
    uint here = 0u;
    if (less64(first, n)) {
        uint borrow;
        uint low = usubBorrow(n.x, first.x, borrow);
        uint high = n.y - first.y - borrow;
        here = high != 0u ? items : min(low, items);
    }
    store_word(args.lengths, i, here);
    if (is_none(args.grids))
        return;
    for (uint g = 0u; g < LENGTHS_GRIDS; g++) {
        uint items_log2 = LENGTHS_GRID_LOG2 + g, at = 3u * (LENGTHS_GRIDS * i + g);
        uint groups =
            max((here >> items_log2) + uint((here & ((1u << items_log2) - 1u)) != 0u), 1u);
        uint x = min(groups, args.grid_x);
        store_word(args.grids, at, x);
        store_word(args.grids, at + 1u, (groups + x - 1u) / x);
        store_word(args.grids, at + 2u, 1u);
    }
}
