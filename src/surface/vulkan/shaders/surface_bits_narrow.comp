/* Sign bits of 8- and 16-bit samples if bit i of all words is sample i. */
#define READ 2
#include "surface_bits.glsl"
