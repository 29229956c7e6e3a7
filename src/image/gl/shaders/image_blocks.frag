/* One level of TML_MEASURE_BLOCKS: the averages of blocks of 4 x 4, those of the logarithms in x and of the
 * luminances in y; what is past the border adds zeros. FROM_PICTURE or from the level below. */
#include "gl_common.glsl"
#include "gl_divide.glsl"
#ifdef FROM_PICTURE
#include "gl_image.glsl"
#include "gl_image_luminance.glsl"
uniform float least_counted;
#else
uniform highp usampler2D below;
#endif

uniform uvec2 size_below, columns; /* columns: a divisor, blocks side by side */

layout(location = 0) out highp uvec4 averages;

vec2 values_at(uint x, uint y)
{
    if (x >= size_below.x || y >= size_below.y)
        return vec2(0.0);
#ifdef FROM_PICTURE
    seen_pixel p = see_pixel(x, y);
    float seen = p.kind < IMAGE_NAN ? max(p.luminance, least_counted) : 0.0;
    return vec2(seen > 0.0 ? image_log2(seen) : 0.0, p.luminance);
#else
    return uintBitsToFloat(load_quad(below, x + y * size_below.x).xy);
#endif
}

void main()
{
    uint row = divide(tml_texel(), columns);
    uint x = 4u * (tml_texel() - row * columns.x), y = 4u * row;
    vec2 sums = vec2(0.0), waiting = vec2(0.0);
    for (uint j = 0u; j < 4u; j++) {
        vec2 four = (values_at(x, y + j) + values_at(x + 1u, y + j)) +
                    (values_at(x + 2u, y + j) + values_at(x + 3u, y + j));
        four *= 0.0625; /* before the sum, which might overflow */
        sums += (j & 1u) != 0u ? waiting + four : vec2(0.0);
        waiting = four;
    }
    averages = uvec4(floatBitsToUint(sums), 0u, 0u);
}
