/* Colours for pictures: linear light, sRGB, and perceptually even scales. */
#ifndef CLI_COLOR_H
#define CLI_COLOR_H

#include <trommel/kernel.h>

/* One channel, 0 ... 1, between sRGB and linear light. IEC 61966-2-1. */
float color_to_linear(float srgb);
float color_to_srgb(float linear);

/* Linear RGB of a lightness (0 ... 1), chroma (0: grey; 0.15: strong) and hue (turns).
 * Ottosson: A perceptual color space for image processing (OKLab). 2020. */
tml_vec3 color_from_lch(float lightness, float chroma, float hue);

/* Linear RGB of position t in 0 ... 1 on a scale from dark blue over teal to light yellow. Its
 * lightness increases evenly, so it is also readable in grey and for the colour-blind. */
tml_vec3 color_of_value(float t);
/* Linear RGB for the nth of many parts; neighbours differ clearly. */
tml_vec3 color_of_part(uint32_t n);

#endif
