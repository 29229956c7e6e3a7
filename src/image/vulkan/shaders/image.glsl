/* Shared by the image shaders: loads of pixels of every type and number of channels, as bits; and
 * the colours of these bits. */
#include "kernel.glsl"
#include "kernels/half.k.h"
#include "kernels/image.k.h"
#include "image/vulkan/vulkan_image_args.k.h"
#include "common.glsl"
#ifdef IMAGE_SAMPLED
#include "sampled.glsl"
#endif
#extension GL_EXT_control_flow_attributes : require

layout(constant_id = 0) const uint TYPE = IMAGE_TYPE_F32;
layout(constant_id = 1) const uint CHANNELS = 4u;
/* 1: sRGB. 2 v: logarithms, where v is the tml_image_values. */
layout(constant_id = 2) const uint CODING = 0u;
const bool IS_SRGB = CODING == 1u;
const uint VALUES = CODING >> 1;

const uint SIZE = TYPE == IMAGE_TYPE_U8 ? 1u : TYPE == IMAGE_TYPE_F32 ? 4u : 2u;
const uint PIXEL_SIZE = CHANNELS * SIZE; /* bytes */
const uint COLOURS = CHANNELS < 3u ? 1u : 3u;
const bool HAS_ALPHA = (CHANNELS & 1u) == 0u;

/* The colour of each sRGB byte. */
shared float decoded_bytes[256];

/* Fills the table. Call it before colour_of. Contains a barrier. */
void image_begin()
{
    if (TYPE == IMAGE_TYPE_U8 && IS_SRGB)
        decoded_bytes[gl_LocalInvocationID.x] = image_from_u8(gl_LocalInvocationID.x, true);
    barrier();
}

/* The bits of a channel. A pixel's channels are packed, from the lowest bit of bits.x on. */
uint channel_bits(uvec4 bits, uint channel)
{
    if (TYPE == IMAGE_TYPE_F32)
        return bits[channel];
    if (TYPE == IMAGE_TYPE_U8)
        return (bits.x >> (channel << 3)) & 0xffu;
    return (bits[channel >> 1] >> ((channel & 1u) << 4)) & 0xffffu;
}
/* The hardware's conversion, except for subnormal halves, which the hardware may flush to 0. */
float half_of(uint code)
{
    return (code & 0x7c00u) == 0u ? tml_half_to_float(code) : unpackHalf2x16(code).x;
}
float colour_of(uvec4 bits, uint channel)
{
    uint code = channel_bits(bits, channel);
    if (VALUES != IMAGE_LINEAR)
        return image_of_log(TYPE == IMAGE_TYPE_F32 ? uintBitsToFloat(code) : half_of(code), VALUES);
    if (TYPE == IMAGE_TYPE_F32)
        return uintBitsToFloat(code);
    if (TYPE == IMAGE_TYPE_F16)
        return half_of(code);
    if (TYPE == IMAGE_TYPE_U16)
        return image_from_u16(code, IS_SRGB);
    return IS_SRGB ? decoded_bytes[code] : image_from_u8(code, false);
}
float alpha_of(uvec4 bits)
{
    uint code = channel_bits(bits, CHANNELS - 1u);
    if (TYPE == IMAGE_TYPE_F32)
        return uintBitsToFloat(code);
    if (TYPE == IMAGE_TYPE_F16)
        return half_of(code);
    return TYPE == IMAGE_TYPE_U16 ? image_from_u16(code, false) : image_from_u8(code, false);
}

/* Loads the bits of a pixel, element by element. The address is a multiple of an element's size. */
uvec4 load_pixel(uvec2 at)
{
    uvec4 bits = uvec4(0u);
    [[unroll]] for (uint c = 0u; c < CHANNELS; c++) {
        if (TYPE == IMAGE_TYPE_F32)
            bits[c] = LOAD_U32(at, c);
        else if (TYPE == IMAGE_TYPE_U8)
            bits.x |= LOAD_U8(at, c) << (c << 3);
        else
            bits[c >> 1] |= LOAD_U16(at, c) << ((c & 1u) << 4);
    }
    return bits;
}

/* Words loaded together. loaded_pixel returns the bits of the pixel that begins at byte first. */
uint loaded[16];
uvec4 loaded_pixel(uint first)
{
    uint word = first >> 2;
    uint shift = (first & 3u) << 3;
    uvec4 bits = uvec4(0u);
    [[unroll]] for (uint i = 0u; i < (PIXEL_SIZE + 3u) / 4u; i++) {
        bits[i] = loaded[word + i] >> shift;
        if (shift != 0u)
            bits[i] |= loaded[min(word + i + 1u, 15u)] << ((32u - shift) & 31u);
    }
    return bits;
}

/* Puts the bits of pixel p of four into words, whose bits there are 0. size: bytes per pixel. */
void put_pixel(inout uint words[16], uint p, uint size, uvec4 bits)
{
    uint word = p * size / 4u, shift = (p * size & 3u) << 3;
    [[unroll]] for (uint i = 0u; i < (size + 3u) / 4u; i++) {
        words[word + i] |= bits[i] << shift;
        if (shift != 0u && word + i + 1u < size)
            words[word + i + 1u] |= bits[i] >> ((32u - shift) & 31u);
    }
}

/* address + i * size, where address and size have 64 bits. */
uvec2 address_at(uvec2 address, uint i, uvec2 size)
{
    uint high, low;
    umulExtended(i, size.x, high, low);
    return address_add(address, low, high + i * size.y);
}
