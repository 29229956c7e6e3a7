/* Stores a 64-bit count to the caller's buffer. */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"
#include "places.glsl"

ARGS_USE(store_count_args)

void main()
{
    if (group_index() != 0u || gl_LocalInvocationID.x != 0u)
        return;
    store_count(args.to, args.wide != 0u, add64(load64(args.from), load64_or_zero(args.base)));
}
