/* Single-pass compaction of the 4-byte keys at in0, and their indices, that do not follow the limit
 * in the state at in1. */
#include "kernel.glsl"
#include "kernels/sort.k.h"
#include "vulkan/vulkan_args.k.h"
#include "vulkan/vulkan_top_k.k.h"
#include "common.glsl"
#include "rows.glsl"

ARGS_USE(compact_args)

#define KEEPS_BY_VALUE 1
uint keep_rows(uint v[ROWS], uint first, uint count)
{
    uint limit = words_at(args.in1).v[TOP_K_LIMIT], tie = words_at(args.in1).v[TOP_K_TIE],
         bits = 0u;
    [[unroll]] for (uint r = 0u; r < ROWS; r++)
    {
        uint code = SORT_CODE(v[r], SORT_SIGN(v[r], 32u), args.u0, args.u2);
        uint i = args.first_index + first + r * SUBGROUP;
        bits |= uint(code < limit || (code == limit && i <= tie)) << r;
    }
    return bits;
}
#include "compact.glsl"
