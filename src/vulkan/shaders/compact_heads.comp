/* Single-pass compaction to the first element of each run of equal elements (its head). In every
 * pass but the first, the first element has a predecessor. */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"
#include "rows.glsl"

ARGS_USE(compact_args)

#define KEEPS_BY_VALUE 1
uint keep_rows(uint v[ROWS], uint first, uint count);
#include "compact.glsl"

uint keep_rows(uint v[ROWS], uint first, uint count)
{
    uint lane = gl_SubgroupInvocationID, bits = 0u;
    bool is_first_of_all = first == 0u && TOTALS != TOTALS_LATER;
    uint last = v[0]; /* the element before the row */
    if (lane == 0u && !is_first_of_all && first < count)
        last =
            LOAD_U32(address_add(address_of_word(args.in0, first), 0xfffffffcu, 0xffffffffu), 0u);
    [[unroll]] for (uint r = 0u; r < ROWS; r++) {
        uint before = subgroupShuffle(v[r], max(lane, 1u) - 1u);
        before = lane == 0u ? last : before;
        bits |= uint(v[r] != before) << r;
        last = subgroupShuffle(v[r], SUBGROUP - 1u);
    }
    return bits | uint(is_first_of_all);
}
