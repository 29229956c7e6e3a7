/* Shared by the shaders of mip chains: loads from the level read, and stores to the chain. ARGS:
 * type of the shader's arguments. */
#include "image.glsl"
#include "kernels/image_mips.k.h"
#include "image_out.glsl"

layout(constant_id = 3) const uint OPTIONS = 0u;

ARGS_USE(ARGS)

/* Coherent, because workgroups and invocations pass levels to each other as floats in memory. */
layout(buffer_reference, std430, buffer_reference_align = 16) coherent buffer floats_at {
    vec4 v[];
};
vec4 float_texel(uvec2 floats, uint i)
{
    return floats_at(address_of(floats, i, 16u)).v[0];
}
void store_floats(uvec2 floats, uint i, vec4 texel)
{
    floats_at(address_of(floats, i, 16u)).v[0] = texel;
}

vec4 log_texel(vec3 colours)
{
    return vec4(image_log_luminance(colours.x, colours.y, colours.z,
                                    (OPTIONS & IMAGE_WITH_MAX_RGB) != 0u, args.weight_r,
                                    args.weight_b, args.least),
                0.0, 0.0, 0.0);
}

/* A texel in linear light. Alpha is linear already. */
vec4 texel_of(uvec4 bits)
{
    if ((OPTIONS & IMAGE_AS_LOG) != 0u) {
        float first = colour_of(bits, 0u);
        if (COLOURS == 1u)
            return log_texel(vec3(first));
        return log_texel(vec3(first, colour_of(bits, 1u), colour_of(bits, 2u)));
    }
    vec4 texel = vec4(0.0);
    [[unroll]] for (uint c = 0u; c < CHANNELS; c++)
        texel[c] = HAS_ALPHA && c == CHANNELS - 1u ? alpha_of(bits) : colour_of(bits, c);
    return texel;
}
uvec2 source_at(uint x, uint y)
{
    uvec2 row = address_at(args.in_at, y, uvec2(args.row_bytes_low, args.row_bytes_high));
    return address_of(row, x, PIXEL_SIZE);
}
#ifdef IMAGE_SAMPLED
vec4 source_texel(uint x, uint y)
{
    vec4 texel = sampled_texel(x, y);
    if ((OPTIONS & IMAGE_AS_LOG) != 0u)
        return log_texel(COLOURS == 1u ? texel.xxx : texel.xyz);
    [[unroll]] for (uint c = CHANNELS; c < 4u; c++)
        texel[c] = 0.0;
    return texel;
}
#else
vec4 source_texel(uint x, uint y)
{
    uvec2 at = source_at(x, y);
    if ((OPTIONS & IMAGE_IN_WORDS) == 0u || PIXEL_SIZE % 4u != 0u)
        return texel_of(load_pixel(at));
    uvec4 bits = uvec4(0u);
    [[unroll]] for (uint i = 0u; i < PIXEL_SIZE / 4u; i++)
        bits[i] = LOAD_U32(at, i);
    return texel_of(bits);
}
#endif

/* Stores the code of the chain's texel i, unless the texel is skipped. */
void store_code(uint i, uvec4 code)
{
    if (i >= args.skip)
        store_pixel(address_of(args.out_at, i - args.skip, OUT_PIXEL_SIZE), code);
}
