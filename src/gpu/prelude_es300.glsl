/* The kernel vocabulary (src/kernels/kernel.h) for GLSL ES 3.00 and WebGL 2. Stands after
 * "#version 300 es" and before prelude_common.glsl. An address is an R32UI texture whose texels, row
 * after row, are an array's 32-bit words; floats travel in them as bits, so no float texture is needed
 * and no value is rounded. */
precision highp float;
precision highp int;
precision highp usampler2D;

#define PRECISE
#define ARG_ADDRESS(name) highp usampler2D name;
/* In a shader's body: makes the global "args" of that type. */
#define ARGS_USE(name)    uniform name args;

#define ADDRESS highp usampler2D
/* Where texel i of an array lies. Rows are 1 << TML_ROW_LOG2 texels when that is defined. */
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
/* The halfword or byte in the low bits; above it, its neighbours. */
uint tml_load_half(highp usampler2D address, uint i)
{
    return tml_load_word(address, i >> 1) >> ((i & 1u) << 4);
}
uint tml_load_byte(highp usampler2D address, uint i)
{
    return tml_load_word(address, i >> 2) >> ((i & 3u) << 3);
}

/* A whole array of users' kernels. */
#define tml_words highp usampler2D
uint tml_word(tml_words words, uint i)
{
    return tml_load_word(words, i);
}

/* ES 3.00 has no "precise": what passes through integers and a number that no compiler knows is fused
 * with nothing. Never set, so always 0. */
uniform highp uint tml_zero;
float rounded_product(float a, float b)
{
    return uintBitsToFloat(floatBitsToUint(a * b) ^ tml_zero);
}

/* ES 3.00 has no bitCount and no findLSB. */
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
