/* Single-pass compaction of positions by keys of any size. The keys are the whole stream's, at in2,
 * or the candidates', at in0; the state is at in1. */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"
#include "rows.glsl"

ARGS_USE(compact_args)
#include "top_k_key.glsl"
layout(constant_id = 1) const uint MODE = TOP_K_SIFT;

bool is_less(uvec2 a, uvec2 b)
{
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}

#define KEEPS_BY_VALUE 0
uint keep_rows(uint v[ROWS], uint first, uint count)
{
    uvec2 limit =
        load64(address_of_word(args.in1, MODE == TOP_K_SIFT ? TOP_K_LIMIT : TOP_K_PREFIX));
    uint tie = words_at(args.in1).v[TOP_K_TIE], bits = 0u;
    bool is_whole = MODE == TOP_K_SIFT || words_at(args.in1).v[TOP_K_CANDIDATES] == 0u;
    uvec2 keys = is_whole ? args.in2 : args.in0;
    [[unroll]] for (uint r = 0u; r < ROWS; r++)
    {
        uint i = args.first_index + min(first + r * SUBGROUP, count - 1u);
        uvec2 code = code_of(load_key(keys, i), uvec2(args.u0, args.u1), uvec2(args.u2, args.u3));
        bool is_kept = MODE == TOP_K_SIFT    ? is_less(code, limit) || (code == limit && i <= tie)
                       : MODE == TOP_K_BELOW ? is_less(code, limit)
                                             : code == limit;
        bits |= uint(is_kept) << r;
    }
    return bits;
}
#include "compact.glsl"
