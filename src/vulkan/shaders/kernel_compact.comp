/* Single-pass compaction by a kernel of one array of 4-byte elements, at in0. */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"

const bool KERNEL_NEAR = true, KERNEL_STORED = false;
ARGS_USE(compact_args)
#include "kernel_loads.glsl"
#include "kernel_glue.glsl"
#include "rows.glsl"

#define KEEPS_BY_VALUE 1
uint keep_rows(uint v[ROWS], uint first, uint count)
{
    uint bits = 0u;
    [[unroll]] for (uint r = 0u; r < ROWS; r++) {
        uint i = first + r * SUBGROUP;
        bits |= uint(kernel_of_word(v[r], i, args.first_index + i, 0u)) << r;
    }
    return bits;
}
#include "compact.glsl"
