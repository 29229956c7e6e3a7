/* Compacts by a kernel of one array of 4-byte elements, which lies at in0, in one pass. */
#include "kernel.glsl"
#include "kernels/vulkan_args.k.h"
#include "common.glsl"

const bool KERNEL_NEAR = true;
ARGS_USE(compact_args)
#include "kernel_loads.glsl"
#include "kernel_glue.glsl"

#define KEEPS_BY_VALUE 1
uint mark_of(uint quad)
{
    return 0u;
}
uint keep_quad(uvec4 values, uint mark, uint quad)
{
    uint i = 4u * quad, index = args.first_index + i;
    return uint(kernel_of_word(values.x, i, index, 0u)) |
           uint(kernel_of_word(values.y, i + 1u, index + 1u, 0u)) << 1 |
           uint(kernel_of_word(values.z, i + 2u, index + 2u, 0u)) << 2 |
           uint(kernel_of_word(values.w, i + 3u, index + 3u, 0u)) << 3;
}
#include "compact.glsl"
