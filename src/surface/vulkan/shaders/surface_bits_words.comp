/* Sign bits of 32-bit samples that lie as their bits do. */
#define READ 1
#include "surface_bits.glsl"
