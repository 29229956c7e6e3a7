/* Sign bits of 32-bit samples if bit i of all words is sample i. */
#define READ 1
#include "surface_bits.glsl"
