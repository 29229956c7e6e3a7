/* tml_reduce of vectors, for devices without shaderFloat64, and for folds that need no doubles. */
#define VECTORS
#include "kernel.glsl"
#include "vulkan/vulkan_stream.k.h"
#include "common.glsl"
#include "reduce_body.glsl"
