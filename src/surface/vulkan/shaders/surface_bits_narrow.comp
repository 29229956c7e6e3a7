/* Sign bits of 8- and 16-bit samples that lie as their bits do. */
#define READ 2
#include "surface_bits.glsl"
