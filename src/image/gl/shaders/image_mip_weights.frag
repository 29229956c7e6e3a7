/* Weights of the Kaiser filter along one axis: WEIGHT_QUADS quads a new texel, one weight a tap, 0
 * for taps outside the level. They sum to 1. */
#include "gl_common.glsl"
#include "kernels/image.k.h"
#include "kernels/image_mips.k.h"

uniform uint size_above;

layout(location = 0) out highp uvec4 quad;

float weight_of(uint i, uint tap)
{
    uint j = 2u * i + tap - uint(IMAGE_KAISER_BEFORE); /* wraps to a large number below 0 */
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
