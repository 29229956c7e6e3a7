/* Colours for pictures: linear light, sRGB, and perceptually even scales. */
#include <math.h>

#include "draw/color.h"

#include "../src/kernels/kernel.h"

#include "../src/kernels/image.k.h"

#include "../src/kernels/kernel_end.h"

float color_to_linear(float srgb)
{
    return image_srgb_decode(srgb);
}

float color_to_srgb(float linear)
{
    return image_srgb_encode(linear);
}

static float clamp01(float x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

tml_vec3 color_from_lch(float lightness, float chroma, float hue)
{
    const float turn = 6.28318530718f;
    float a = chroma * cosf(turn * hue), b = chroma * sinf(turn * hue);
    float l = lightness + 0.3963377774f * a + 0.2158037573f * b;
    float m = lightness - 0.1055613458f * a - 0.0638541728f * b;
    float s = lightness - 0.0894841775f * a - 1.2914855480f * b;
    l = l * l * l;
    m = m * m * m;
    s = s * s * s;
    return (tml_vec3){clamp01(4.0767416621f * l - 3.3077115913f * m + 0.2309699292f * s),
                      clamp01(-1.2684380046f * l + 2.6097574011f * m - 0.3413193965f * s),
                      clamp01(-0.0041960863f * l - 0.7034186147f * m + 1.7076147010f * s)};
}

tml_vec3 color_of_value(float t)
{
    /* Blue lies near hue 0.76, teal near 0.52, yellow near 0.29. */
    t = clamp01(t);
    return color_from_lch(0.36f + 0.54f * t, 0.10f + 0.04f * t, 0.76f - 0.47f * t);
}

tml_vec3 color_of_part(uint32_t n)
{
    /* Steps of the golden angle never come close to an earlier hue; lightness alternates. */
    const float golden = 0.61803398875f;
    float hue = 0.11f + golden * (float)n;
    return color_from_lch(0.74f - 0.07f * (float)(n % 3), 0.115f, hue - floorf(hue));
}
