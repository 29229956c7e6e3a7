/* Encodes and stores pixels. Include after image.glsl, whose specialisation constants come
 * first. */
layout(constant_id = 4) const uint OUT_TYPE = IMAGE_TYPE_U8;
layout(constant_id = 5) const uint OUT_CHANNELS = 4u;
layout(constant_id = 6) const bool OUT_IS_SRGB = false;

const uint OUT_SIZE = OUT_TYPE == IMAGE_TYPE_U8 ? 1u : OUT_TYPE == IMAGE_TYPE_F32 ? 4u : 2u;
const uint OUT_PIXEL_SIZE = OUT_CHANNELS * OUT_SIZE; /* bytes */

uint channel_code(float x, uint channel)
{
    if (OUT_TYPE == IMAGE_TYPE_F32)
        return floatBitsToUint(x);
    if (OUT_TYPE == IMAGE_TYPE_F16)
        return tml_float_to_half(x);
    bool is_alpha = (OUT_CHANNELS & 1u) == 0u && channel == OUT_CHANNELS - 1u;
    return image_to_integer(x, OUT_TYPE == IMAGE_TYPE_U8 ? 255.0 : 65535.0,
                            OUT_IS_SRGB && !is_alpha);
}

/* The bits of an encoded pixel. Its channels are packed, from the lowest bit of x on. */
uvec4 pixel_code(vec4 pixel)
{
    uvec4 bits = uvec4(0u);
    [[unroll]] for (uint c = 0u; c < OUT_CHANNELS; c++) {
        uint code = channel_code(pixel[c], c);
        if (OUT_TYPE == IMAGE_TYPE_F32)
            bits[c] = code;
        else if (OUT_TYPE == IMAGE_TYPE_U8)
            bits.x |= code << (c << 3);
        else
            bits[c >> 1] |= code << ((c & 1u) << 4);
    }
    return bits;
}

/* Stores a pixel while other invocations store its neighbours. The address is a multiple of an
 * element's size. Stores words if size and address are multiples of 4 bytes. */
void store_pixel(uvec2 at, uvec4 bits)
{
    if (OUT_PIXEL_SIZE % 4u == 0u && (OUT_TYPE == IMAGE_TYPE_F32 || (at.x & 3u) == 0u)) {
        [[unroll]] for (uint i = 0u; i < OUT_PIXEL_SIZE / 4u; i++)
            store_word(at, i, bits[i]);
        return;
    }
    [[unroll]] for (uint c = 0u; c < OUT_CHANNELS; c++) {
        if (OUT_TYPE == IMAGE_TYPE_F32)
            store_word(at, c, bits[c]);
        else if (OUT_TYPE == IMAGE_TYPE_U8)
            store_byte(at, c, bits.x >> (c << 3));
        else
            store_half(at, c, bits[c >> 1] >> ((c & 1u) << 4));
    }
}
