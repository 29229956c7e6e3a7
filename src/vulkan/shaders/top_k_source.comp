/* Chooses the source of the results: the candidates, unless the sample was misleading. */
#include "kernel.glsl"
#include "vulkan/vulkan_top_k.k.h"
#include "common.glsl"
ARGS_USE(top_k_sample_args)

void main()
{
    if (group_index() != 0u || gl_LocalInvocationID.x != 0u)
        return;
    uint found = load64_within(args.found, 0xffffffffu);
    bool is_good = words_at(args.state).v[TOP_K_SIFTED] != 0u && found <= args.room &&
                   found >= words_at(args.state).v[TOP_K_COUNT];
    words_at(args.state).v[TOP_K_CANDIDATES] = is_good ? found : 0u;
    if (is_good)
        words_at(args.state).v[TOP_K_LENGTH] = found;
}
