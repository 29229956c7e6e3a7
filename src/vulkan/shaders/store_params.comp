/* Stores what a kernel takes from scratch: its parameters, and addresses of outputs. */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"

ARGS_USE(store_params_args)

void main()
{
    uint i = gl_LocalInvocationID.x;
    if (group_index() == 0u && i < PARAMS_WORDS + OUTS_WORDS)
        store_word(args.to, i, args.words[i]);
}
