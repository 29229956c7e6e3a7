/* Single-pass compaction by byte flags at in1. */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"
#include "rows.glsl"

ARGS_USE(compact_args)

#define KEEPS_BY_VALUE 0
/* Each invocation loads a word of four flags; shuffles then make rows of one flag per lane. */
uint keep_rows(uint v[ROWS], uint first, uint count)
{
    const uint WORDS = ROWS / 4u; /* a lane */
    uint lane = gl_SubgroupInvocationID, bits = 0u;
    uint first_word = (first - lane) / 4u + lane, words[WORDS];
    [[unroll]] for (uint w = 0u; w < WORDS; w++)
        words[w] = words_at(args.in1).v[min(first_word + w * SUBGROUP, (count - 1u) / 4u)];
    [[unroll]] for (uint r = 0u; r < ROWS; r++) {
        uint word = subgroupShuffle(words[r / 4u], (r % 4u * SUBGROUP + lane) / 4u);
        bits |= uint((word >> (8u * (lane % 4u)) & 0xffu) != 0u) << r;
    }
    return bits;
}
#include "compact.glsl"
