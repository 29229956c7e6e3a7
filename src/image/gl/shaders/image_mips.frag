/* A level of a mip chain as quads of floats, from the picture (FROM_PICTURE) or the level above.
 * AREA filters along both axes at once. KAISER filters along x, then (ALONG_Y) along y, with
 * weights from image_mip_weights.frag. */
#include "gl_common.glsl"
#include "gl_divide.glsl"
#include "kernels/image.k.h"
#ifdef FROM_PICTURE
#include "gl_image.glsl"
#else
uniform highp usampler2D above;
#endif
#include "kernels/image_mips.k.h"

uniform uvec2 size_above;
uniform uvec2 columns; /* a divisor: texels per row */
#ifdef KAISER
uniform highp usampler2D weights;
#endif

layout(location = 0) out highp uvec4 texel;

#ifdef LOG_LUMINANCE
uniform vec3 log_weights; /* weight_r, weight_b and least of image_log_luminance */
#ifdef MAX_RGB
const bool IS_MAX_RGB = true;
#else
const bool IS_MAX_RGB = false;
#endif
#endif

vec4 above_at(uint x, uint y)
{
#ifdef LOG_LUMINANCE
    vec3 colours = colours_at(x, y);
    return vec4(image_log_luminance(colours.x, colours.y, colours.z, IS_MAX_RGB, log_weights.x,
                                    log_weights.y, log_weights.z),
                0.0, 0.0, 0.0);
#elif defined(FROM_PICTURE)
    return channels_at(x, y);
#else
    return uintBitsToFloat(load_quad(above, x + y * size_above.x));
#endif
}

#ifdef KAISER
vec4 along(uint i, uint line)
{
#ifdef ALONG_Y
    return above_at(line, i);
#else
    return above_at(i, line);
#endif
}

vec4 filtered(uint x, uint y)
{
#ifdef ALONG_Y
    uint i = y, line = x;
#else
    uint i = x, line = y;
#endif
    vec4 sum = vec4(0.0);
    for (uint q = 0u; q < WEIGHT_QUADS; q++) {
        vec4 w = uintBitsToFloat(load_quad(weights, i * WEIGHT_QUADS + q));
        uint j = 2u * i + 4u * q - uint(IMAGE_KAISER_BEFORE);
        /* Texels outside the level have weight 0 and are not read. */
        if (w.x != 0.0)
            sum += w.x * along(j, line);
        if (w.y != 0.0)
            sum += w.y * along(j + 1u, line);
        if (w.z != 0.0)
            sum += w.z * along(j + 2u, line);
        if (w.w != 0.0)
            sum += w.w * along(j + 3u, line);
    }
    return sum;
}
#else
vec4 tapped(image_taps taps, vec4 first, vec4 middle, vec4 last)
{
    return vec4(image_tapped(taps, first.x, middle.x, last.x),
                image_tapped(taps, first.y, middle.y, last.y),
                image_tapped(taps, first.z, middle.z, last.z),
                image_tapped(taps, first.w, middle.w, last.w));
}

vec4 row_tapped(image_taps taps, uint y)
{
    vec4 middle = above_at(taps.middle, y), last = middle;
    if (taps.last != taps.middle)
        last = above_at(taps.last, y);
    return tapped(taps, above_at(taps.first, y), middle, last);
}

vec4 filtered(uint x, uint y)
{
    image_taps across = image_taps_of(x, size_above.x);
    image_taps down = image_taps_of(y, size_above.y);
    vec4 middle = row_tapped(across, down.middle), last = middle;
    if (down.last != down.middle)
        last = row_tapped(across, down.last);
    return tapped(down, row_tapped(across, down.first), middle, last);
}
#endif

void main()
{
    uint y = divide(tml_texel(), columns);
    texel = floatBitsToUint(filtered(tml_texel() - y * columns.x, y));
}
