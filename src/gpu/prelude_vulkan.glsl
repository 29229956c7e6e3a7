/* The kernel vocabulary (src/kernels/kernel.h) for Vulkan GLSL. Included after "#version 460" and
 * before prelude_common.glsl. Requires only Vulkan 1.2 with bufferDeviceAddress: an address is a
 * uvec2, not a 64-bit integer, and bytes and halfwords are extracted from words, without 8- or
 * 16-bit storage. If TML_WIDE is defined before, users' kernels may use double, int64 or uint64, as
 * far as the device supports them. */
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#ifdef TML_WIDE
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#define int64  int64_t
#define uint64 uint64_t
#define DOUBLE(low, high) packDouble2x32(uvec2(low, high))
#define INT64(low, high)  packInt2x32(ivec2(uvec2(low, high)))
#define UINT64(low, high) packUint2x32(uvec2(low, high))
#endif

#define PRECISE           precise
#define ARG_ADDRESS(name) uvec2 name;
/* In a shader's body: declares the global "args" of that type. */
#define ARGS_USE(name)                                                                             \
    layout(push_constant, std430) uniform tml_push_constants                                       \
    {                                                                                              \
        name args;                                                                                 \
    };

#define ADDRESS uvec2
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer tml_word_at {
    uint bits;
};
/* The word that contains byte 2^32 * high + low of the array at address. The offset is added to the
 * address here, since an array index is signed in SPIR-V and arrays may have more than 2^31
 * words. */
uint tml_load(uvec2 address, uint low, uint high)
{
    uint carry;
    uint sum = uaddCarry(address.x, low, carry);
    return tml_word_at(uvec2(sum & ~3u, address.y + high + carry)).bits;
}
uint tml_load_word(uvec2 address, uint i)
{
    return tml_load(address, i << 2, i >> 30);
}
/* The halfword or byte is in the low bits; its neighbours are above. The array's address is a
 * multiple of the element's size. */
uint tml_load_half(uvec2 address, uint i)
{
    return tml_load(address, i << 1, i >> 31) >> ((((address.x >> 1) + i) & 1u) << 4);
}
uint tml_load_byte(uvec2 address, uint i)
{
    return tml_load(address, i, 0u) >> (((address.x + i) & 3u) << 3);
}

/* A whole array, for users' kernels; words past its end are 0. */
struct tml_words {
    uvec2 address;
    uint count;
};
uint tml_word(tml_words words, uint i)
{
    if (i >= words.count)
        return 0u;
    return tml_load_word(words.address, i);
}
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer tml_uvec4_at {
    uvec4 words;
};
uvec4 tml_word_uvec4(tml_words words, uint i)
{
    uint carry;
    uint sum = uaddCarry(words.address.x, i << 4, carry);
    if (i >= words.count >> 2)
        return uvec4(0u);
    return tml_uvec4_at(uvec2(sum, words.address.y + (i >> 28) + carry)).words;
}

float rounded_product(float a, float b)
{
    precise float product = a * b;
    return product;
}
uint tml_multiply_high(uint a, uint b)
{
    uint high, low;
    umulExtended(a, b, high, low);
    return high;
}
uint popcount32(uint x)
{
    return uint(bitCount(x));
}
uint lowest_bit32(uint x)
{
    return uint(findLSB(x));
}
