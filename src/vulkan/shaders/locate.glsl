/* What the shaders of HistoPyramids share: sums that do not overflow. */
#include "kernel.glsl"
#include "vulkan/vulkan_locate.k.h"
#include "common.glsl"

/* a + b, or the largest number. Outputs are asked for below that only, so a sum that is cut off
 * there is above every one of them, as the true sum is. */
uint add_saturating(uint a, uint b)
{
    uint carry, sum = uaddCarry(a, b, carry);
    return carry != 0u ? 0xffffffffu : sum;
}
