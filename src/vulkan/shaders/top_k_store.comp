/* The values and indices of results, from their positions in the source. */
#include "kernel.glsl"
#include "vulkan/vulkan_top_k.k.h"
#include "common.glsl"
ARGS_USE(top_k_store_args)
#include "top_k_key.glsl"

void main()
{
    uint j = group_index() * GROUP + gl_LocalInvocationID.x;
    if (j >= words_at(args.state).v[TOP_K_COUNT])
        return;
    bool is_whole = words_at(args.state).v[TOP_K_CANDIDATES] == 0u;
    uint at = LOAD_U32(address_of_word(args.positions, j), 0u), index = at;
    uvec2 key = load_key(is_whole ? args.keys : args.candidates, at);
    if (!is_whole)
        index = LOAD_U32(address_of_word(args.candidate_indices, at), 0u);
    if (!is_none(args.values)) {
        if (KEY_LOG2 == 3u)
            store64(address_of(args.values, j, 8u), key);
        else if (KEY_LOG2 == 2u)
            store_word(args.values, j, key.x);
        else if (KEY_LOG2 == 1u)
            store_half(args.values, j, key.x);
        else
            store_byte(args.values, j, key.x);
    }
    if (is_none(args.indices))
        return;
    if (args.wide != 0u)
        store64(address_of(args.indices, j, 8u), uvec2(index, 0u));
    else
        store_word(args.indices, j, index);
}
