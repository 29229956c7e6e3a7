/* Buffers of Trommel in Vulkan shaders of the caller, by their device addresses.
 *
 *     #include <trommel/trommel.glsl>
 *     layout(push_constant) uniform push { uvec2 positions; };
 *     ... vec3 x = tml_vec3(positions, gl_VertexIndex);
 *
 * address  lower and upper word of a VkDeviceAddress (tml_vulkan_buffer), as a push constant has
 *          them
 * i        the element, below 2^31 words
 * Requires #version 450 or later above it, glslc -I or shaderc, and bufferDeviceAddress. For OpenGL
 * ES the same functions: tml_gl_glsl. */
#ifndef TROMMEL_GLSL
#define TROMMEL_GLSL
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require

layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer tml_words {
    uint v[];
};
uint tml_word(uvec2 address, uint i)
{
    return tml_words(address).v[i];
}
/* Element i of a buffer of u32x2 ... f32x4; tml_count: the number in a count. */
uvec2 tml_uvec2(uvec2 address, uint i)
{
    return uvec2(tml_word(address, 2u * i), tml_word(address, 2u * i + 1u));
}
uvec3 tml_uvec3(uvec2 address, uint i)
{
    return uvec3(tml_word(address, 3u * i), tml_word(address, 3u * i + 1u),
                 tml_word(address, 3u * i + 2u));
}
uvec4 tml_uvec4(uvec2 address, uint i)
{
    return uvec4(tml_uvec2(address, 2u * i), tml_uvec2(address, 2u * i + 1u));
}
float tml_float(uvec2 address, uint i)
{
    return uintBitsToFloat(tml_word(address, i));
}
vec2 tml_vec2(uvec2 address, uint i)
{
    return uintBitsToFloat(tml_uvec2(address, i));
}
vec3 tml_vec3(uvec2 address, uint i)
{
    return uintBitsToFloat(tml_uvec3(address, i));
}
vec4 tml_vec4(uvec2 address, uint i)
{
    return uintBitsToFloat(tml_uvec4(address, i));
}
uint tml_count(uvec2 address)
{
    return tml_word(address, 0u);
}
#endif
