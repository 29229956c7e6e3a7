/* Stores a 64-bit count to the caller's buffer. */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"

ARGS_USE(store_count_args)

void main()
{
    if (group_index() != 0u || gl_LocalInvocationID.x != 0u)
        return;
    uvec2 n = load64(args.from);
    if (!is_none(args.base))
        n = add64(n, load64(args.base));
    if (args.wide != 0u)
        store64(args.to, n);
    else
        store_word(args.to, 0u, n.y != 0u ? 0xffffffffu : n.x);
}
