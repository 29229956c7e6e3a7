/* tml_reduce_segments, for devices without doubles and for all that needs none. */
#include "kernel.glsl"
#include "vulkan/vulkan_stream.k.h"
#include "common.glsl"
#include "segments_reduce.glsl"
