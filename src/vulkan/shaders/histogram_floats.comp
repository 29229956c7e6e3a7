/* Converts the sums of float weights from integer units to floats. */
#include "kernel.glsl"
#include "kernels/histogram.k.h"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"

ARGS_USE(histogram_floats_args)

void main()
{
    uint bin = group_index() * GROUP + gl_LocalInvocationID.x;
    if (bin < args.bins)
        store_word(args.to, bin,
                   histogram_float(load64(address_of(args.sums, bin, 8u)),
                                   histogram_shift(LOAD_U32(args.largest, 0u), args.length_log2)));
}
