/* Exposes and tone-maps pixels. TO_WORDS: writes the words of another picture; otherwise quads of
 * floats. TONE: IMAGE_TONE_.... STATE: applies the exposure's state. */
#include "gl_common.glsl"
#include "gl_divide.glsl"
#include "gl_image.glsl"
#include "kernels/image_tone.k.h"

uniform highp usampler2D state;
uniform float scale, white;

vec4 pixel_for(uint x, uint y)
{
    float exposure = scale;
#ifdef STATE
    exposure *= LOAD_F32(state, 0u); /* TML_EXPOSURE_SCALE */
#endif
    vec3 c = colours_at(x, y);
    c = image_tone(TONE,
                   vec3(image_exposed(c.x, exposure), image_exposed(c.y, exposure),
                        image_exposed(c.z, exposure)),
                   white);
#if OUT_CHANNELS == 1
    return vec4(image_tone_luminance(c));
#else
    return vec4(c, alpha_at(x, y));
#endif
}

#ifdef TO_WORDS
#include "gl_image_words.glsl"
#else
uniform uvec2 columns; /* a divisor: the picture's width */
layout(location = 0) out highp uvec4 pixel;

void main()
{
    uint row = divide(tml_texel(), columns);
    pixel = floatBitsToUint(pixel_for(tml_texel() - row * columns.x, row));
}
#endif
