/* image_measure.comp for a picture that is a texture. */
#define IMAGE_SAMPLED
#include "image_measure.comp"
