/* Writes the words of a picture. Include after gl_common.glsl and
 *     vec4 pixel_for(uint x, uint y)
 * which returns a pixel's channels.
 *
 * OUT_TYPE, OUT_CHANNELS, OUT_SRGB: of the picture. OUT_ALPHA: number of the alpha channel, or 4.
 * WHOLE_PIXELS: words hold whole pixels, and pixel_for is called once per pixel. Bytes outside the
 * picture are copied from old. OLD_ENDS: only the first and last word have such bytes. OLD_ALL: any
 * word may have them. */
#include "gl_divide.glsl"
#include "kernels/half.k.h"
#include "kernels/image.k.h"

#define OUT_U8  0
#define OUT_U16 1
#define OUT_F16 2
#define OUT_F32 3

uniform highp usampler2D old;
uniform uvec2 out_words;  /* first and last word */
uniform uint out_first;   /* scalar of the first pixel */
uniform uvec2 out_stride; /* a divisor: the row stride in scalars */
uniform uvec2 out_size;   /* scalars per row; rows */

layout(location = 0) out highp uint word;

#if OUT_TYPE == OUT_U8
const uint EACH = 4u;
#elif OUT_TYPE == OUT_F32
const uint EACH = 1u;
#else
const uint EACH = 2u;
#endif
const uint SCALAR_BITS = 32u / EACH;
#ifdef WHOLE_PIXELS
const uint STEP = uint(OUT_CHANNELS);
#else
const uint STEP = 1u;
#endif

uint code_of(vec4 pixel, uint channel)
{
    float x = channel < 2u ? (channel == 0u ? pixel.x : pixel.y)
                           : (channel == 2u ? pixel.z : pixel.w);
#if OUT_TYPE == OUT_U8
    return image_to_integer(x, 255.0, OUT_SRGB && channel != OUT_ALPHA);
#elif OUT_TYPE == OUT_U16
    return image_to_integer(x, 65535.0, OUT_SRGB && channel != OUT_ALPHA);
#elif OUT_TYPE == OUT_F16
    return tml_float_to_half(x);
#else
    return floatBitsToUint(x);
#endif
}

uint old_word(uint w)
{
#if defined(OLD_ALL)
    return tml_load_word(old, w - out_words.x);
#elif defined(OLD_ENDS)
    return tml_load_word(old, w == out_words.x ? 0u : 1u);
#else
    return 0u;
#endif
}

void main()
{
    uint w = tml_texel();
    uint made = 0u, is_made = 0u;
    for (uint e = 0u; e < EACH; e += STEP) {
        uint scalar = EACH * w + e;
        if (scalar < out_first)
            continue;
        uint row = divide(scalar - out_first, out_stride);
        uint column = scalar - out_first - row * out_stride.x;
        if (row >= out_size.y || column >= out_size.x)
            continue;
        uint x = column / uint(OUT_CHANNELS), channel = column - x * uint(OUT_CHANNELS);
        vec4 pixel = pixel_for(x, row);
        for (uint c = 0u; c < STEP; c++) {
            uint shift = (e + c) * SCALAR_BITS;
            made |= code_of(pixel, channel + c) << shift;
            is_made |= (0xffffffffu >> (32u - SCALAR_BITS)) << shift;
        }
    }
    if (is_made == 0u)
        discard;
    word = is_made == 0xffffffffu ? made : made | (old_word(w) & ~is_made);
}
