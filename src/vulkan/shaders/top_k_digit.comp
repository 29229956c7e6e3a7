/* One digit of the last result's code: counts the digit among the source's codes that have the
 * prefix; the last workgroup then picks the digit. */
#include "kernel.glsl"
#include "vulkan/vulkan_top_k.k.h"
#include "common.glsl"
#extension GL_EXT_control_flow_attributes : require
ARGS_USE(top_k_digit_args)
#include "last.glsl"
#include "top_k_key.glsl"
#include "top_k_pick.glsl"

void main()
{
    uint t = gl_LocalInvocationID.x, groups = gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    uint count = words_at(args.state).v[TOP_K_LENGTH];
    uvec2 keys = words_at(args.state).v[TOP_K_CANDIDATES] != 0u ? args.candidates : args.keys;
    uvec2 prefix_at = address_of_word(args.state, TOP_K_PREFIX), prefix = load64(prefix_at);
    const uint TILE = TOP_K_ITEMS * GROUP;
    uint tiles = count / TILE + uint(count % TILE != 0u);
    table[t] = 0u;
    barrier();
    for (uint tile = group_index(); tile < tiles; tile += groups) {
        uint left = count - tile * TILE;
        uvec2 from = address_of(keys, tile * TOP_K_ITEMS << KEY_LOG2, GROUP);
        uvec2 codes[TOP_K_ITEMS];
        [[unroll]] for (uint r = 0u; r < TOP_K_ITEMS; r++) codes[r] =
            code_of(load_key(from, min(r * GROUP + t, left - 1u)), FLIPS);
        [[unroll]] for (uint r = 0u; r < TOP_K_ITEMS; r++)
        {
            uint digit = digit_of(codes[r], args.shift);
            bool is_counted = r * GROUP + t < left && has_prefix(codes[r], prefix, args.shift);
            COUNT_DIGIT(table[digit], digit, is_counted)
        }
    }
    barrier();
    if (table[t] != 0u)
        atomicAdd(words_at(args.counts).v[t], table[t]);
    memoryBarrierBuffer();
    barrier();
    if (!is_last_of(address_of_word(args.counts, TOP_K_BINS), groups, 1u))
        return;
    uint rest = words_at(args.state).v[TOP_K_REST];
    uint digit = pick(ATOMIC_LOAD(words_at(args.counts).v[t]), rest);
    if (t == 0u) {
        store64(prefix_at, with_digit(prefix, digit, args.shift));
        words_at(args.state).v[TOP_K_REST] = rest;
    }
}
