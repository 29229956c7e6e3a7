/* Copies texel i + offset of another texture to texel i. Either texture may hold bytes or
 * floats. */
#include "float_common.glsl"

uniform sampler2D copied;
uniform vec4 copied_shape;
uniform float offset;

void main()
{
    float i = tml_texel() + offset;
#if TML_TARGET_FLOATS
    store_float(load_float(copied, copied_shape, i));
#else
    store_bytes(load_bytes(copied, copied_shape, i));
#endif
}
