/* Shared by the HISTOPYRAMID shaders: saturating sums. */
#include "kernel.glsl"
#include "vulkan/vulkan_locate.k.h"
#include "common.glsl"

/* a + b, at most 2^32 - 1. Output indices are smaller than that, so comparing an index with a
 * saturated sum gives the same result as comparing it with the true sum. */
uint add_saturating(uint a, uint b)
{
    uint carry, sum = uaddCarry(a, b, carry);
    return carry != 0u ? 0xffffffffu : sum;
}
