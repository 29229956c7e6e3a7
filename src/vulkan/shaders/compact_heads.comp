/* Keeps the first element of each run of equal ones, in one pass. A pass that is not the first has
 * an element before its own. */
#include "kernel.glsl"
#include "kernels/vulkan_args.k.h"
#include "common.glsl"

ARGS_USE(compact_args)

#define KEEPS_BY_VALUE 1
/* The element before the first lane's; the other lanes' are at their neighbours. */
uint mark_of(uint quad);
uint keep_quad(uvec4 values, uint mark, uint quad);
#include "compact.glsl"

bool is_first_of_all(uint quad)
{
    return quad == 0u && TOTALS != TOTALS_LATER;
}
uint mark_of(uint quad)
{
    uint before = 0u;
    if (gl_SubgroupInvocationID == 0u && !is_first_of_all(quad)) {
        uvec2 at = address_of_word(args.in0, 4u * quad);
        before = LOAD_U32(address_add(at, 0xfffffffcu, 0xffffffffu), 0u);
    }
    return before;
}
uint keep_quad(uvec4 values, uint mark, uint quad)
{
    uint lane = gl_SubgroupInvocationID;
    uint last = subgroupShuffle(values.w, lane == 0u ? 0u : lane - 1u);
    uint before = lane == 0u ? mark : last;
    bool is_head = values.x != before || is_first_of_all(quad);
    return uint(is_head) | uint(values.y != values.x) << 1 | uint(values.z != values.y) << 2 |
           uint(values.w != values.z) << 3;
}
