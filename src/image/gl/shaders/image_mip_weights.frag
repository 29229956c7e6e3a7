/* Weights of the Kaiser filter along one axis: WEIGHT_QUADS quads per new texel, one weight per
 * tap. Taps outside the level have weight 0. A texel's weights sum to 1. */
#include "gl_common.glsl"
#include "kernels/image.k.h"
#include "kernels/image_mips.k.h"

uniform uint size_above;

layout(location = 0) out highp uvec4 quad;

float weight_of(uint i, uint tap)
{
    uint j = 2u * i + tap - uint(IMAGE_KAISER_BEFORE); /* below 0 it wraps to a large number */
    return tap < uint(IMAGE_KAISER_TAPS) && j < size_above ? image_kaiser(i, j, size_above) : 0.0;
}

void main()
{
    uint i = tml_texel() / WEIGHT_QUADS, first = 4u * (tml_texel() - i * WEIGHT_QUADS);
    float sum = 0.0;
    for (uint tap = 0u; tap < uint(IMAGE_KAISER_TAPS); tap++)
        sum += weight_of(i, tap);
    vec4 w = vec4(weight_of(i, first), weight_of(i, first + 1u), weight_of(i, first + 2u),
                  weight_of(i, first + 3u));
    quad = floatBitsToUint(w / sum);
}
