/* image_mips_level.comp for a picture that is a texture. */
#define IMAGE_SAMPLED
#include "image_mips_level.comp"
