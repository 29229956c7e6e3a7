/* Copies texel i + offset of another texture of the same format to texel i. */
#include "gl_common.glsl"

uniform highp usampler2D copied;
uniform uint offset;
layout(location = 0) out uvec4 texel;

void main()
{
    texel = load_quad(copied, tml_texel() + offset);
}
