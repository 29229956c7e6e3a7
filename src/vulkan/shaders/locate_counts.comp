/* The number of outputs of each source. */
#include "kernel.glsl"
#include "vulkan/vulkan_locate.k.h"
#include "common.glsl"

ARGS_USE(locate_counts_args)

layout(constant_id = 0) const uint BYTES = 4u;
layout(constant_id = 1) const uint OTHERS = 0u;

void main()
{
    uint i = group_index() * GROUP + gl_LocalInvocationID.x;
    if (i >= args.padded)
        return;
    uint count = 0u;
    if (i < stream_length(args.length_at, args.bound))
        count = BYTES == 4u   ? LOAD_U32(args.from, i)
                : BYTES == 2u ? LOAD_U16(args.from, i)
                : BYTES == 1u ? LOAD_U8(args.from, i)
                              : (LOAD_U32(args.from, i / 32u) >> (i & 31u) & 1u) ^ OTHERS;
    store_word(args.counts, i, count);
}
