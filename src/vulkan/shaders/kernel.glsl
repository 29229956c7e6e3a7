/* The kernel vocabulary, as every shader begins with it. */
#include "gpu/prelude_vulkan.glsl"
#include "gpu/prelude_common.glsl"
