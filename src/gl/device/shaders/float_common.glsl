/* The first include of every fragment shader of the float tier (gl_float.h). All numbers are
 * floats, including positions, exact to 2^24. A word is a texel: its bytes, or x in a float
 * texture. An array is a sampler and its shape. The shape is the uniform SAMPLER_shape, which the
 * engine sets to width, 1 / width, 1 / height, and 1 if texels are floats.
 *
 * A shader computes texel tml_texel() of its target. */
#include "gpu/prelude_es100.glsl"
#include "kernels/pack.k.h"

uniform highp vec2 tml_size; /* the target's size */
varying highp vec2 tml_at;   /* the texel's centre */
float tml_texel()
{
    return floor(tml_at.y) * tml_size.x + floor(tml_at.x);
}

/* floor(a / b) of integers. */
float divide(float a, float b)
{
    float q = floor(a / b);
    float rest = a - q * b;
    return rest < 0.0 ? q - 1.0 : rest >= b ? q + 1.0 : q;
}

/* Component i of v. */
float pick(vec4 v, float i)
{
    return i < 2.0 ? (i < 1.0 ? v.x : v.y) : (i < 3.0 ? v.z : v.w);
}

/* ---- loads ----------------------------------------------------------------------------------- */

/* Widths are powers of two if there is more than one row. */
vec4 fetch(sampler2D words, vec4 shape, float i)
{
    float y = floor(i * shape.y);
    return texture2D(words, vec2((i - y * shape.x + 0.5) * shape.y, (y + 0.5) * shape.z));
}

vec4 load_bytes(sampler2D words, vec4 shape, float i)
{
    vec4 texel = fetch(words, shape, i);
    if (shape.w > 0.0)
        return pack_float(texel.x);
    return floor(texel * 255.0 + 0.5);
}

float load_float(sampler2D words, vec4 shape, float i)
{
    vec4 texel = fetch(words, shape, i);
    if (shape.w > 0.0)
        return texel.x;
    return unpack_float(floor(texel * 255.0 + 0.5));
}

/* Loads from bytes: an integer, exact below 2^24; and one of two bytes or one byte. */
float load_number(sampler2D words, vec4 shape, float i)
{
    return unpack_number(floor(fetch(words, shape, i) * 255.0 + 0.5));
}
float load_half_word(sampler2D words, vec4 shape, float i)
{
    float word = floor(i * 0.5);
    vec4 bytes = floor(fetch(words, shape, word) * 255.0 + 0.5);
    return i - 2.0 * word < 1.0 ? bytes.x + 256.0 * bytes.y : bytes.z + 256.0 * bytes.w;
}
float load_byte(sampler2D words, vec4 shape, float i)
{
    float word = floor(i * 0.25);
    return pick(floor(fetch(words, shape, word) * 255.0 + 0.5), i - 4.0 * word);
}

/* A binary16 number from its bits, which are given as an integer. */
float float_of_half(float bits)
{
    float magnitude = bits >= 32768.0 ? bits - 32768.0 : bits;
    float exponent = floor(magnitude / 1024.0);
    float mantissa = magnitude - 1024.0 * exponent;
    vec4 bytes = pack_number(mantissa * 8192.0);
    /* Exponent 31 becomes 255; other exponents are rebiased. Halves with exponent 0 are fixed-point
     * numbers. */
    float field = exponent == 31.0 ? 255.0 : exponent + 112.0;
    float value =
        unpack_float(vec4(bytes.xy, bytes.z + 128.0 * mod(field, 2.0), floor(field * 0.5)));
    if (exponent == 0.0)
        value = mantissa * (PACK_DOWN_16 * 0.00390625);
    return bits >= 32768.0 ? -value : value;
}

/* ---- stores ---------------------------------------------------------------------------------- */

/* A quarter is added to each byte, so that both targets that round and targets that truncate store
 * it exactly. */
void store_bytes(vec4 bytes)
{
#if TML_TARGET_FLOATS
    gl_FragColor = vec4(unpack_float(bytes));
#else
    gl_FragColor = (bytes + 0.25) / 255.0;
#endif
}
void store_float(float value)
{
#if TML_TARGET_FLOATS
    gl_FragColor = vec4(value);
#else
    gl_FragColor = (pack_float(value) + 0.25) / 255.0;
#endif
}
/* Stores an integer as the bits of an i32 or u32. */
void store_number(float value)
{
    vec4 bytes = pack_number(value < 0.0 ? -value - 1.0 : value);
    store_bytes(value < 0.0 ? 255.0 - bytes : bytes);
}

/* ---- lengths --------------------------------------------------------------------------------- */

/* gl_draw_info.length: the bound; the number of the word in tml_length_words that holds the length
 * on the device; and 0 if there is none, 1 for u32, 2 for u64. */
uniform sampler2D tml_length_words;
uniform vec4 tml_length_words_shape;
uniform vec3 tml_length_place;
float stream_length()
{
    float bound = tml_length_place.x;
    if (tml_length_place.z == 0.0)
        return bound;
    float length = load_number(tml_length_words, tml_length_words_shape, tml_length_place.y);
    if (tml_length_place.z == 2.0 &&
        load_number(tml_length_words, tml_length_words_shape, tml_length_place.y + 1.0) > 0.0)
        return bound;
    return min(length, bound);
}
