/* Writes the words of a picture from pixels as quads of floats, row by row. */
#include "gl_common.glsl"

uniform highp usampler2D pixels;
uniform uint width;

vec4 pixel_for(uint x, uint y)
{
    return uintBitsToFloat(load_quad(pixels, y * width + x));
}

#include "gl_image_words.glsl"
