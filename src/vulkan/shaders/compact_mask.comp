/* Compacts by a mask, which lies at in1, in one pass. */
#include "kernel.glsl"
#include "kernels/vulkan_args.k.h"
#include "common.glsl"

ARGS_USE(compact_args)

#define KEEPS_BY_VALUE 0
uint mark_of(uint quad)
{
    return words_at(args.in1).v[quad / 8u];
}
uint keep_quad(uvec4 values, uint mark, uint quad)
{
    return mark >> (4u * (quad % 8u)) & 15u;
}
#include "compact.glsl"
