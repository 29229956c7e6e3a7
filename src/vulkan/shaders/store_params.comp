/* Stores the parameters of a kernel that takes them from scratch. */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"

ARGS_USE(store_params_args)

void main()
{
    uint i = gl_LocalInvocationID.x;
    if (group_index() == 0u && i < PARAMS_WORDS)
        store_word(args.to, i, args.words[i]);
}
