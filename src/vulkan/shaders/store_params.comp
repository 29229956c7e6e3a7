/* Stores a few words from the host to scratch: a kernel's parameters and the addresses of its
 * outputs, or others. */
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
