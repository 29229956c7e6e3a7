/* A step of a minimum, or of a maximum (LARGEST): a texel is the best of 16 keys of the step
 * before. A key has four bytes; as an unsigned number, it is ordered as the elements are. FIRST:
 * keys of 16 elements of tml_type ELEMENT, within the stream's length. NaN has the worst key. */
#include "float_common.glsl"

uniform sampler2D values;
uniform vec4 values_shape;
uniform float count;

#ifdef LARGEST
#define WORST vec4(0.0)
#else
#define WORST vec4(255.0)
#endif

#ifdef FIRST
float flip(float byte)
{
    return byte < 128.0 ? byte + 128.0 : byte - 128.0;
}
vec4 key_of(float i)
{
#if ELEMENT <= 2
    float byte = load_byte(values, values_shape, i);
    return vec4(ELEMENT == 2 ? flip(byte) : byte, 0.0, 0.0, 0.0);
#elif ELEMENT == 5
    return load_bytes(values, values_shape, i);
#elif ELEMENT == 6
    vec4 bytes = load_bytes(values, values_shape, i);
    return vec4(bytes.xyz, flip(bytes.w));
#elif ELEMENT == 10
    vec4 bytes = load_bytes(values, values_shape, i);
    if (mod(bytes.w, 128.0) == 127.0 && bytes.z >= 128.0 && bytes.x + bytes.y + bytes.z > 128.0)
        return WORST;
    return bytes.w >= 128.0 ? 255.0 - bytes : vec4(bytes.xyz, bytes.w + 128.0);
#else
    float bits = load_half_word(values, values_shape, i);
#if ELEMENT == 4
    bits = bits < 32768.0 ? bits + 32768.0 : bits - 32768.0;
#elif ELEMENT == 9
    if (mod(bits, 32768.0) > 31744.0)
        return WORST;
    bits = bits >= 32768.0 ? 65535.0 - bits : bits + 32768.0;
#endif
    return pack_number(bits);
#endif
}
#else
vec4 key_of(float i)
{
    return load_bytes(values, values_shape, i);
}
#endif

bool is_better(vec4 a, vec4 b)
{
    vec2 x = a.zx + 256.0 * a.wy, y = b.zx + 256.0 * b.wy;
#ifdef LARGEST
    return x.x > y.x || (x.x == y.x && x.y > y.y);
#else
    return x.x < y.x || (x.x == y.x && x.y < y.y);
#endif
}

void main()
{
#ifdef FIRST
    float n = stream_length();
#else
    float n = count;
#endif
    vec4 best = WORST;
    for (int k = 0; k < 16; k++) {
        float i = 16.0 * tml_texel() + float(k);
        if (i < n) {
            vec4 key = key_of(i);
            if (is_better(key, best))
                best = key;
        }
    }
    store_bytes(best);
}
