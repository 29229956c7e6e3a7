/* Copies count words from one address to another. */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"

ARGS_USE(copy_args)

void main()
{
    uint i = group_index() * GROUP + gl_LocalInvocationID.x;
    if (i < args.count)
        store_word(args.to, i, LOAD_U32(args.from, i));
}
