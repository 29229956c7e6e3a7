/* The kernel vocabulary, as every shader begins with it. */
#include "kernels/prelude_vulkan.glsl"
#include "kernels/prelude_common.glsl"
