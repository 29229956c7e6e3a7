/* image_mips.comp for a picture that is a texture. */
#define IMAGE_SAMPLED
#include "image_mips.comp"
