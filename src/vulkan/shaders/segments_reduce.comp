/* segmented tml_reduce for devices without shaderFloat64, and for folds that need no doubles. */
#include "kernel.glsl"
#include "vulkan/vulkan_stream.k.h"
#include "common.glsl"
#include "segments_reduce.glsl"
