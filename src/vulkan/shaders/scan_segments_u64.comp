/* segmented tml_scan with sums of type u64. */
#define SUM_U64
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "vulkan/vulkan_stream.k.h"
#include "common.glsl"
#include "scan_segments.glsl"
