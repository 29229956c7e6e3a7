/* export.frag on the float tier: a word is a float, or with TYPE_U8 the four bytes of a texel. */
#include "float_common.glsl"
#include "float_transfer.glsl"

uniform sampler2D scalars;
uniform vec4 scalars_shape;

void main()
{
    float i = element_of(floor(tml_at)) * float(CHANNELS);
    if (i >= scalar_count)
        discard;
    i += first_scalar;
#ifdef TYPE_U8
    gl_FragColor = (load_bytes(scalars, scalars_shape, i) + 0.25) / 255.0;
#else
    vec4 colour = vec4(load_float(scalars, scalars_shape, i), 0.0, 0.0, 1.0);
#if CHANNELS > 1
    colour.y = load_float(scalars, scalars_shape, i + 1.0);
#endif
#if CHANNELS > 2
    colour.z = load_float(scalars, scalars_shape, i + 2.0);
#endif
#if CHANNELS > 3
    colour.w = load_float(scalars, scalars_shape, i + 3.0);
#endif
    gl_FragColor = colour;
#endif
}
