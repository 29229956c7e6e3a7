/* A step of a sum of floats: a texel is the sum of 16 values of the step before, added in a fixed
 * tree. FIRST: of 16 elements of tml_type ELEMENT, within the stream's length. */
#include "float_common.glsl"

uniform sampler2D values;
uniform vec4 values_shape;
uniform float count;

float value_of(float i, float n)
{
    if (i >= n)
        return 0.0;
#if defined(FIRST) && ELEMENT == 9
    return float_of_half(load_half_word(values, values_shape, i));
#else
    return load_float(values, values_shape, i);
#endif
}

float four(float i, float n)
{
    return (value_of(i, n) + value_of(i + 1.0, n)) + (value_of(i + 2.0, n) + value_of(i + 3.0, n));
}

void main()
{
#ifdef FIRST
    float n = stream_length();
#else
    float n = count;
#endif
    float i = 16.0 * tml_texel();
    store_float((four(i, n) + four(i + 4.0, n)) + (four(i + 8.0, n) + four(i + 12.0, n)));
}
