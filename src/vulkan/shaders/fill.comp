/* Fills count words with value. */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"

ARGS_USE(fill_args)

void main()
{
    uint i = group_index() * GROUP + gl_LocalInvocationID.x;
    if (i < args.count)
        store_word(args.at, i, args.value);
}
