/* Buffers of Trommel in a shader of GLSL ES 3.00: a buffer is a texture of its 32-bit words, row by
 * row. Lent textures have rows of any width: define TML_ANY_ROWS above this where one is looked
 * up. */
#ifndef TML_LOOKUP
#define TML_LOOKUP
highp uint tml_word(highp usampler2D words, highp uint i)
{
#ifdef TML_ANY_ROWS
    highp uint row = uint(textureSize(words, 0).x);
    return texelFetch(words, ivec2(int(i % row), int(i / row)), 0).x;
#else
    return texelFetch(words, ivec2(int(i & ((1u << TML_ROW_LOG2) - 1u)), int(i >> TML_ROW_LOG2)), 0)
        .x;
#endif
}
/* Elements i of buffers of u32, f32 and their vectors, and the number in a count. */
highp uvec2 tml_uvec2(highp usampler2D words, highp uint i)
{
    return uvec2(tml_word(words, 2u * i), tml_word(words, 2u * i + 1u));
}
highp uvec3 tml_uvec3(highp usampler2D words, highp uint i)
{
    return uvec3(tml_word(words, 3u * i), tml_word(words, 3u * i + 1u),
                 tml_word(words, 3u * i + 2u));
}
highp uvec4 tml_uvec4(highp usampler2D words, highp uint i)
{
    return uvec4(tml_uvec2(words, 2u * i), tml_uvec2(words, 2u * i + 1u));
}
highp float tml_float(highp usampler2D words, highp uint i)
{
    return uintBitsToFloat(tml_word(words, i));
}
highp vec2 tml_vec2(highp usampler2D words, highp uint i)
{
    return uintBitsToFloat(tml_uvec2(words, i));
}
highp vec3 tml_vec3(highp usampler2D words, highp uint i)
{
    return uintBitsToFloat(tml_uvec3(words, i));
}
highp vec4 tml_vec4(highp usampler2D words, highp uint i)
{
    return uintBitsToFloat(tml_uvec4(words, i));
}
highp uint tml_count(highp usampler2D words)
{
    return tml_word(words, 0u);
}
#endif
