/* Writes the state's words (TML_EXPOSURE_...) after a frame. */
#include "gl_common.glsl"
#include "kernels/image.k.h"
#include "kernels/image_expose.k.h"

uniform highp usampler2D stats, state;
uniform image_expose_settings settings;

layout(location = 0) out highp uint word;

void main()
{
    uint w = tml_texel();
    image_exposure e = image_expose(stats, LOAD_F32(state, 1u), settings);
    float value = w < 2u   ? (w == 0u ? e.scale : e.average)
                  : w < 4u ? (w == 2u ? e.target : e.ev100)
                           : (w == 4u ? e.low : e.high);
    word = w < 6u ? floatBitsToUint(value) : w == 6u ? floatBitsToUint(e.counted) : 0u;
}
