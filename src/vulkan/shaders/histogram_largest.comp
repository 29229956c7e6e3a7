/* The largest float weight of a pass, as histogram_weight_size. */
#include "kernel.glsl"
#include "kernels/histogram.k.h"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"

ARGS_USE(histogram_largest_args)

void main()
{
    uint end = stream_length(args.length_at, args.bound), largest = 0u;
    uint first = group_index() * HISTOGRAM_LARGEST;
    for (uint i = first + gl_LocalInvocationID.x; i < min(first + HISTOGRAM_LARGEST, end);
         i += GROUP)
        largest = max(largest, histogram_weight_size(LOAD_U32(args.weights, i)));
    reconverge();
    largest = subgroupMax(largest);
    if (subgroupElect() && largest > 0u)
        atomicMax(word_at(args.largest).bits, largest);
}
