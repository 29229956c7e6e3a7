/* segmented tml_reduce of doubles, and means in double precision. */
#define WITH_DOUBLE
#include "kernel.glsl"
#include "vulkan/vulkan_stream.k.h"
#include "common.glsl"
#include "segments_reduce.glsl"
