/* Buffers of Trommel's float tier in a shader of GLSL ES 1.00, or 3.00, below "precision highp
 * float": a buffer is a texture of its 32-bit words, row by row; size: its width and height. A word
 * is the four bytes of a texel, lowest in x, or where TML_FLOATS is 1, of f32 and its vectors, the
 * number in x. */
#ifndef TML_LOOKUP
#define TML_LOOKUP
#if __VERSION__ >= 300
#define texture2D texture
#endif
#define FUNCTION(T) T
#define VEC4(x, y, z, w) vec4(x, y, z, w)
#include "kernels/pack.k.h"
#undef FUNCTION
#undef VEC4

highp vec4 tml_texel(highp sampler2D words, highp vec2 size, highp float i)
{
    highp float y = floor(i / size.x);
    return texture2D(words, (vec2(i - y * size.x, y) + 0.5) / size);
}
/* The bytes of word i, 0 to 255; an integer in it, exact below 2^24; and the number in a count. */
highp vec4 tml_bytes(highp sampler2D words, highp vec2 size, highp float i)
{
    return floor(tml_texel(words, size, i) * 255.0 + 0.5);
}
highp float tml_word(highp sampler2D words, highp vec2 size, highp float i)
{
    return unpack_number(tml_bytes(words, size, i));
}
highp float tml_count(highp sampler2D words, highp vec2 size)
{
    return tml_word(words, size, 0.0);
}
/* Elements i of buffers of f32 and its vectors. */
highp float tml_float(highp sampler2D words, highp vec2 size, highp float i)
{
#if TML_FLOATS
    return tml_texel(words, size, i).x;
#else
    return unpack_float(tml_bytes(words, size, i));
#endif
}
highp vec2 tml_vec2(highp sampler2D words, highp vec2 size, highp float i)
{
    return vec2(tml_float(words, size, 2.0 * i), tml_float(words, size, 2.0 * i + 1.0));
}
highp vec3 tml_vec3(highp sampler2D words, highp vec2 size, highp float i)
{
    return vec3(tml_float(words, size, 3.0 * i), tml_float(words, size, 3.0 * i + 1.0),
                tml_float(words, size, 3.0 * i + 2.0));
}
highp vec4 tml_vec4(highp sampler2D words, highp vec2 size, highp float i)
{
    return vec4(tml_vec2(words, size, 2.0 * i), tml_vec2(words, size, 2.0 * i + 1.0));
}
#endif
