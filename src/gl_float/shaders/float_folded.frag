/* The result of the last step of a fold, as an element of the result's buffer, word by word. */
#include "float_common.glsl"

uniform sampler2D folded;
uniform vec4 folded_shape;
uniform sampler2D old;
uniform vec4 old_shape;

/* A word of the double with a float's value. */
vec4 double_bytes(float value, float part)
{
    float scale = abs(value) < 1.0 ? 64.0 : 0.0; /* subnormal floats are normal as doubles */
    vec4 b = pack_float(scale > 0.0 ? value * PACK_UP_64 : value);
    float negative = b.w >= 128.0 ? 1.0 : 0.0, odd = b.z >= 128.0 ? 1.0 : 0.0;
    float field = (b.w - 128.0 * negative) * 2.0 + odd;
    float mantissa = b.x + 256.0 * b.y + 65536.0 * (b.z - 128.0 * odd);
    float exponent = field == 255.0 ? 2047.0 : field == 0.0 ? 0.0 : field + 896.0 - scale;
    float high = floor(mantissa / 8.0);
    if (part < 1.0)
        return vec4(0.0, 0.0, 0.0, 32.0 * (mantissa - 8.0 * high));
    float low_exponent = mod(exponent, 16.0);
    vec4 bytes = pack_number(high);
    return vec4(bytes.xy, bytes.z + 16.0 * low_exponent,
                floor(exponent / 16.0) + 128.0 * negative);
}

#ifdef WHOLE
/* A 64-bit number, rounded to float. */
float folded_float()
{
    vec4 low = load_bytes(folded, folded_shape, 0.0), high = load_bytes(folded, folded_shape, 1.0);
    float negative = IS_SIGNED == 1 && high.w >= 128.0 ? 1.0 : 0.0;
    if (negative > 0.0) { /* ones' complement; the sum below adds the missing 1 */
        low = 255.0 - low;
        high = 255.0 - high;
    }
    vec4 limbs = vec4(low.x, low.z, high.x, high.z) + 256.0 * vec4(low.y, low.w, high.y, high.w);
    float sum = (limbs.w * 65536.0 + limbs.z) * (65536.0 * 65536.0);
    sum += limbs.y * 65536.0;
    sum += limbs.x + negative;
    return negative > 0.0 ? -sum : sum;
}
#else
float folded_float()
{
    return load_float(folded, folded_shape, 0.0);
}
#endif

#ifdef BEST
/* The element with the best key or, for an empty stream, the worst element. */
vec4 element_bytes()
{
    vec4 key = load_bytes(folded, folded_shape, 0.0);
    bool is_empty = stream_length() == 0.0;
#if ELEMENT == 10
    if (is_empty)
        return vec4(0.0, 0.0, 128.0, LARGEST == 1 ? 255.0 : 127.0);
    return key.w >= 128.0 ? vec4(key.xyz, key.w - 128.0) : 255.0 - key;
#elif ELEMENT == 9
    if (is_empty)
        return vec4(0.0, LARGEST == 1 ? 252.0 : 124.0, 0.0, 0.0);
    return key.y >= 128.0 ? vec4(key.x, key.y - 128.0, 0.0, 0.0) : vec4(255.0 - key.xy, 0.0, 0.0);
#elif ELEMENT == 2
    return vec4(key.x < 128.0 ? key.x + 128.0 : key.x - 128.0, key.yzw);
#elif ELEMENT == 4
    return vec4(key.x, key.y < 128.0 ? key.y + 128.0 : key.y - 128.0, key.zw);
#elif ELEMENT == 6
    return vec4(key.xyz, key.w < 128.0 ? key.w + 128.0 : key.w - 128.0);
#else
    return key;
#endif
}
#endif

void main()
{
    float part = tml_texel();
#if defined(BEST)
    vec4 bytes = element_bytes();
#if ELEMENT <= 2
    bytes.yzw = load_bytes(old, old_shape, part).yzw;
#elif ELEMENT <= 4 || ELEMENT == 9
    bytes.zw = load_bytes(old, old_shape, part).zw;
#endif
    store_bytes(bytes);
#elif defined(WHOLE) && !defined(MEAN)
    store_bytes(load_bytes(folded, folded_shape, part));
#else
    float value = folded_float();
#ifdef MEAN
    float n = stream_length();
    value = n > 0.0 ? value / n : unpack_float(vec4(0.0, 0.0, 192.0, 127.0));
#endif
#ifdef TO_DOUBLE
    store_bytes(double_bytes(value, part));
#else
    store_float(value);
#endif
#endif
}
