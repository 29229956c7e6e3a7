/* Loads a picture's pixels. Include after gl_common.glsl.
 * PIXEL_TYPE, CHANNELS, IS_SRGB, VALUES  as in image_view. PIXEL_COLOURS: a texture of the caller,
 *                                        which decodes its texels itself */
#include "kernels/half.k.h"
#include "kernels/image.k.h"

#define PIXEL_U8  0
#define PIXEL_U16 1
#define PIXEL_F16 2
#define PIXEL_F32 3
#define PIXEL_COLOURS 4

uniform uvec2 picture_size;
/* The scalar of the first pixel, and the row stride in scalars. For a texture: the texel of the
 * first pixel. */
uniform uvec2 picture_rows;

#if PIXEL_TYPE == PIXEL_COLOURS
uniform highp sampler2D picture;

vec4 colours_texel(uint x, uint y)
{
    return texelFetch(picture, ivec2(picture_rows + uvec2(x, y)), 0);
}
vec3 values_at(uint x, uint y)
{
#if CHANNELS < 3
    return vec3(colours_texel(x, y).x);
#else
    return colours_texel(x, y).xyz;
#endif
}
float alpha_at(uint x, uint y)
{
#if CHANNELS == 2
    return colours_texel(x, y).y;
#elif CHANNELS == 4
    return colours_texel(x, y).w;
#else
    return 1.0;
#endif
}
#else
uniform highp usampler2D picture;

float number_of(uint raw, bool is_srgb)
{
#if PIXEL_TYPE == PIXEL_U8
    return image_from_u8(raw, is_srgb);
#elif PIXEL_TYPE == PIXEL_U16
    return image_from_u16(raw, is_srgb);
#elif PIXEL_TYPE == PIXEL_F16
    return tml_half_to_float(raw);
#else
    return uintBitsToFloat(raw);
#endif
}

uint first_scalar(uint x, uint y)
{
    return picture_rows.x + y * picture_rows.y + x * uint(CHANNELS);
}

uint raw_scalar(uint at)
{
#if PIXEL_TYPE == PIXEL_U8
    return tml_load_byte(picture, at) & 0xffu;
#elif PIXEL_TYPE == PIXEL_F32
    return tml_load_word(picture, at);
#else
    return tml_load_half(picture, at) & 0xffffu;
#endif
}

/* Raw colours, from scalar at on. Three bytes or halves lie in at most two words. A grey value is
 * repeated three times. */
uvec3 raw_colours(uint at)
{
#if CHANNELS < 3
    return uvec3(raw_scalar(at));
#elif PIXEL_TYPE == PIXEL_F32
    return uvec3(tml_load_word(picture, at), tml_load_word(picture, at + 1u),
                 tml_load_word(picture, at + 2u));
#elif PIXEL_TYPE == PIXEL_U8
    uint low = tml_load_word(picture, at >> 2), high = tml_load_word(picture, (at + 2u) >> 2);
    uint shift = (at & 3u) << 3, three = low >> shift | (high << (31u - shift)) << 1;
    return uvec3(three & 0xffu, three >> 8 & 0xffu, three >> 16 & 0xffu);
#else
    uint low = tml_load_word(picture, at >> 1), high = tml_load_word(picture, (at + 2u) >> 1);
    uint shift = (at & 1u) << 4, two = low >> shift | (high << (31u - shift)) << 1;
    return uvec3(two & 0xffffu, two >> 16, high >> shift & 0xffffu);
#endif
}
vec3 values_at(uint x, uint y)
{
    uvec3 raw = raw_colours(first_scalar(x, y));
#if CHANNELS < 3
    return vec3(number_of(raw.x, IS_SRGB));
#else
    return vec3(number_of(raw.x, IS_SRGB), number_of(raw.y, IS_SRGB), number_of(raw.z, IS_SRGB));
#endif
}
/* The alpha of a pixel, or 1 if the picture has none. */
float alpha_at(uint x, uint y)
{
#if CHANNELS == 2 || CHANNELS == 4
    return number_of(raw_scalar(first_scalar(x, y) + uint(CHANNELS) - 1u), false);
#else
    return 1.0;
#endif
}
#endif

/* A pixel's linear colours. */
vec3 colours_at(uint x, uint y)
{
    vec3 c = values_at(x, y);
    if (VALUES != IMAGE_LINEAR)
        c = vec3(image_of_log(c.x, VALUES), image_of_log(c.y, VALUES), image_of_log(c.z, VALUES));
    return c;
}

/* A pixel's channels in order. A grey pixel has one, or two with alpha. */
vec4 channels_at(uint x, uint y)
{
    vec3 c = colours_at(x, y);
    float alpha = alpha_at(x, y);
#if CHANNELS < 3
    return vec4(c.x, alpha, 0.0, 0.0);
#else
    return vec4(c, alpha);
#endif
}
