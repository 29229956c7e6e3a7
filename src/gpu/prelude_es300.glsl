/* The kernel vocabulary (src/kernels/kernel.h) for GLSL ES 3.00 and WebGL 2. Included after
 * "#version 300 es" and before prelude_common.glsl. An address is an R32UI texture, whose texels,
 * row by row, are the 32-bit words of an array. Floats are stored as their bits, so no float
 * texture is required and no value is rounded. */
precision highp float;
precision highp int;
precision highp usampler2D;

#define PRECISE
#define ARG_ADDRESS(name) highp usampler2D name;
/* In a shader's body: declares the global "args" of that type. */
#define ARGS_USE(name)    uniform name args;

#define ADDRESS highp usampler2D
/* Coordinates of texel i of an array. Rows have 1 << TML_ROW_LOG2 texels if TML_ROW_LOG2 is
 * defined. */
ivec2 tml_place(highp usampler2D address, uint i)
{
#ifdef TML_ROW_LOG2
    return ivec2(int(i & ((1u << TML_ROW_LOG2) - 1u)), int(i >> TML_ROW_LOG2));
#else
    uint width = uint(textureSize(address, 0).x);
    return ivec2(int(i % width), int(i / width));
#endif
}
uint tml_load_word(highp usampler2D address, uint i)
{
    return texelFetch(address, tml_place(address, i), 0).x;
}
/* The halfword or byte is in the low bits; its neighbours are above. */
uint tml_load_half(highp usampler2D address, uint i)
{
    return tml_load_word(address, i >> 1) >> ((i & 1u) << 4);
}
uint tml_load_byte(highp usampler2D address, uint i)
{
    return tml_load_word(address, i >> 2) >> ((i & 3u) << 3);
}

/* A whole array, for users' kernels. */
#define tml_words highp usampler2D
uint tml_word(tml_words words, uint i)
{
    return tml_load_word(words, i);
}
uvec4 tml_word_uvec4(tml_words words, uint i)
{
    i <<= 2;
    return uvec4(tml_word(words, i), tml_word(words, i + 1u), tml_word(words, i + 2u),
                 tml_word(words, i + 3u));
}

/* GLSL ES 3.00 has no "precise". The product is xor-ed as an integer with a uniform, which the
 * compiler cannot know to be 0, so that it is not contracted to a fused multiply-add. The uniform
 * is never set, so it is 0. */
uniform highp uint tml_zero;
float rounded_product(float a, float b)
{
    return uintBitsToFloat(floatBitsToUint(a * b) ^ tml_zero);
}

/* The upper word of a product. GLSL ES 3.00 has no umulExtended. */
uint tml_multiply_high(uint a, uint b)
{
    uint a_low = a & 0xffffu, a_high = a >> 16, b_low = b & 0xffffu, b_high = b >> 16;
    uint middle = a_high * b_low + (a_low * b_low >> 16);
    uint other = a_low * b_high + (middle & 0xffffu);
    return a_high * b_high + (middle >> 16) + (other >> 16);
}

/* GLSL ES 3.00 has no bitCount and no findLSB. */
uint popcount32(uint x)
{
    x -= x >> 1 & 0x55555555u;
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    return ((x + (x >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}
uint lowest_bit32(uint x)
{
    return (floatBitsToUint(float(x & (0u - x))) >> 23) - 127u; /* the exponent */
}
