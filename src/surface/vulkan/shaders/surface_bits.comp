/* Sign bits of any volume. */
#define READ 0
#include "surface_bits.glsl"
