/* Stores what a kernel takes from scratch, its parameters and addresses of outputs, or a few words
 * of the host's. */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"

ARGS_USE(store_params_args)

layout(constant_id = 0) const uint WORDS = PARAMS_WORDS + OUTS_WORDS;

void main()
{
    uint i = gl_LocalInvocationID.x;
    if (group_index() == 0u && i < WORDS)
        store_word(args.to, i, args.words[i]);
}
