/* import.frag on the float tier: a word is a float, or with TYPE_U8 the four bytes of a texel. */
#include "float_common.glsl"
#include "float_transfer.glsl"

uniform sampler2D colours;
uniform vec4 colours_shape;

void main()
{
    float i = tml_texel() - first_scalar, element = divide(i, float(CHANNELS));
    vec4 colour = texture2D(colours, (texel_of(element) + 0.5) * colours_shape.yz);
#ifdef TYPE_U8
    colour = vec4(clamp(colour.x, 0.0, 1.0), clamp(colour.y, 0.0, 1.0), clamp(colour.z, 0.0, 1.0),
                  clamp(colour.w, 0.0, 1.0));
    store_bytes(floor(colour * 255.0 + 0.5));
#else
    store_float(pick(colour, i - element * float(CHANNELS)));
#endif
}
