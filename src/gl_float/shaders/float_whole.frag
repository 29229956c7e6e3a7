/* A step of a sum of integers, exact modulo 2^64: a pair of texels is a 64-bit number, the sum of
 * 16 numbers of the step before. FIRST: of 16 elements of tml_type ELEMENT, within the stream's
 * length. */
#include "float_common.glsl"

uniform sampler2D values;
uniform vec4 values_shape;
uniform float count;

/* Sixteen bits in each component, lowest first; sums have more. */
vec4 limbs_of(float i)
{
#ifndef FIRST
    vec4 low = load_bytes(values, values_shape, 2.0 * i);
    vec4 high = load_bytes(values, values_shape, 2.0 * i + 1.0);
    return vec4(low.x, low.z, high.x, high.z) + 256.0 * vec4(low.y, low.w, high.y, high.w);
#elif ELEMENT == 1
    return vec4(load_byte(values, values_shape, i), 0.0, 0.0, 0.0);
#elif ELEMENT == 2
    float value = load_byte(values, values_shape, i);
    return value < 128.0 ? vec4(value, 0.0, 0.0, 0.0) : vec4(value + 65280.0, vec3(65535.0));
#elif ELEMENT == 3
    return vec4(load_half_word(values, values_shape, i), 0.0, 0.0, 0.0);
#elif ELEMENT == 4
    float value = load_half_word(values, values_shape, i);
    return vec4(value, vec3(value < 32768.0 ? 0.0 : 65535.0));
#else
    vec4 bytes = load_bytes(values, values_shape, i);
    float extension = ELEMENT == 6 && bytes.w >= 128.0 ? 65535.0 : 0.0;
    return vec4(bytes.xz + 256.0 * bytes.yw, vec2(extension));
#endif
}

void main()
{
#ifdef FIRST
    float n = stream_length();
#else
    float n = count;
#endif
    float at = tml_texel(), number = floor(at * 0.5);
    vec4 sum = vec4(0.0);
    for (int k = 0; k < 16; k++) {
        float i = 16.0 * number + float(k);
        if (i < n)
            sum += limbs_of(i);
    }
    sum.y += floor(sum.x / 65536.0);
    sum.z += floor(sum.y / 65536.0);
    sum.w += floor(sum.z / 65536.0);
    sum -= 65536.0 * floor(sum / 65536.0);
    vec4 high = floor(sum / 256.0);
    vec4 low = sum - 256.0 * high;
    store_bytes(at - 2.0 * number < 1.0 ? vec4(low.x, high.x, low.y, high.y)
                                        : vec4(low.z, high.z, low.w, high.w));
}
