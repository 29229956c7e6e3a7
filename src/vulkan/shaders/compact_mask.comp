/* Single-pass compaction by a mask at in1. */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"
#include "rows.glsl"

ARGS_USE(compact_args)

#define KEEPS_BY_VALUE 0
uint keep_rows(uint v[ROWS], uint first, uint count)
{
    uint lane = gl_SubgroupInvocationID;
    return rows_of_words(
        words_at(args.in1).v[min((first - lane) / 32u + lane, (count - 1u) / 32u)]);
}
#include "compact.glsl"
