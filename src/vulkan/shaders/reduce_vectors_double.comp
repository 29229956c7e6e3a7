/* tml_reduce of vectors, of doubles, and means in double precision. */
#define WITH_DOUBLE
#define VECTORS
#include "kernel.glsl"
#include "vulkan/vulkan_stream.k.h"
#include "common.glsl"
#include "reduce_body.glsl"
