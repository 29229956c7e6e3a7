/* Compacts by byte flags, which lie at in1, in one pass. */
#include "kernel.glsl"
#include "kernels/vulkan_args.k.h"
#include "common.glsl"
#include "flag_bits.glsl"

ARGS_USE(compact_args)

#define KEEPS_BY_VALUE 0
uint mark_of(uint quad)
{
    return words_at(args.in1).v[quad];
}
uint keep_quad(uvec4 values, uint mark, uint quad)
{
    return flag_bits(mark);
}
#include "compact.glsl"
