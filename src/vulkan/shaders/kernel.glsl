/* The kernel vocabulary, which every shader includes first. */
#include "gpu/prelude_vulkan.glsl"
#include "gpu/prelude_common.glsl"
