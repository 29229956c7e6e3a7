/* Words of a buffer from the colours of a texture. TYPE_U8, TYPE_F16 or TYPE_F32; CHANNELS: scalars
 * per texel. */
#include "gl_common.glsl"
#include "kernels/half.k.h"
#include "transfer.glsl"

uniform highp sampler2D colours;

layout(location = 0) out highp uint word;

/* The bits of scalar i, counted from the first texel's first. */
uint scalar_at(uint i)
{
    uint element = i / uint(CHANNELS);
    vec4 texel = texelFetch(colours, texel_of(element), 0);
    uint channel = i - element * uint(CHANNELS);
    float value = channel < 2u ? (channel == 0u ? texel.x : texel.y)
                               : (channel == 2u ? texel.z : texel.w);
#ifdef TYPE_U8
    return uint(clamp(value, 0.0, 1.0) * 255.0 + 0.5);
#elif defined TYPE_F16
    return tml_float_to_half(value);
#else
    return floatBitsToUint(value);
#endif
}

void main()
{
    uint first = tml_texel() * SCALARS_A_WORD - first_scalar, each = 32u / SCALARS_A_WORD;
    uint bits = 0u;
    for (uint k = 0u; k < SCALARS_A_WORD; k++)
        if (first + k < scalar_count)
            bits |= scalar_at(first + k) << (k * each);
    word = bits;
}
