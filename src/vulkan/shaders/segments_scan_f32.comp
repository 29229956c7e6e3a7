/* segmented tml_scan with sums of type f32. */
#define SUM_F32
#include "kernel.glsl"
#include "vulkan/vulkan_stream.k.h"
#include "common.glsl"
#include "segments_scan.glsl"
