/* Colours of a texture from the scalars of a buffer. Defines as in import.frag. Components that the
 * buffer lacks are 0, or 1 for alpha. */
#include "gl_common.glsl"
#include "kernels/half.k.h"
#include "transfer.glsl"

uniform highp usampler2D scalars;

layout(location = 0) out highp vec4 colour;

float scalar_at(uint i)
{
#ifdef TYPE_U8
    return float(tml_load_byte(scalars, i) & 0xffu) / 255.0;
#elif defined TYPE_F16
    return tml_half_to_float(tml_load_half(scalars, i) & 0xffffu);
#else
    return uintBitsToFloat(tml_load_word(scalars, i));
#endif
}

void main()
{
    uint element = element_of(uvec2(gl_FragCoord.xy)), i = element * uint(CHANNELS);
    if (i >= scalar_count)
        discard;
    i += first_scalar;
    colour = vec4(0.0, 0.0, 0.0, 1.0);
    colour.x = scalar_at(i);
#if CHANNELS > 1
    colour.y = scalar_at(i + 1u);
#endif
#if CHANNELS > 2
    colour.z = scalar_at(i + 2u);
#endif
#if CHANNELS > 3
    colour.w = scalar_at(i + 3u);
#endif
}
