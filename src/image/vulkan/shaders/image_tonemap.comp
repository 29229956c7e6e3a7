/* Exposes and tone-maps. An invocation has four adjacent pixels, which fill whole words for any
 * type. At the ends of rows, and if rows do not begin at multiples of 4 bytes, it handles pixels
 * singly. */
#include "image.glsl"
#include "kernels/image_tone.k.h"
#include "image_out.glsl"

layout(constant_id = 3) const uint OPTIONS = 0u;
layout(constant_id = 7) const uint TONE = IMAGE_TONE_SRGB;

ARGS_USE(image_tonemap_args)

const uint PIECE = 4u; /* pixels; of n bytes each, they fill n words */

/* Exposes, tone-maps and encodes a pixel's bits. in and out may be the same memory: each pixel is
 * read before it is written. */
uvec4 mapped(uvec4 bits, float scale)
{
    vec3 c = vec3(image_exposed(colour_of(bits, 0u), scale));
    if (COLOURS == 3u) {
        c.y = image_exposed(colour_of(bits, 1u), scale);
        c.z = image_exposed(colour_of(bits, 2u), scale);
    }
    vec4 pixel = vec4(image_tone(TONE, c, args.white), HAS_ALPHA ? alpha_of(bits) : 1.0);
    if (OUT_CHANNELS == 1u)
        pixel.x = image_tone_luminance(pixel.xyz);
    return pixel_code(pixel);
}

void map_piece(uvec2 from, uvec2 to, float scale)
{
    if ((OPTIONS & IMAGE_IN_QUADS) != 0u && PIXEL_SIZE % 4u == 0u) {
        [[unroll]] for (uint q = 0u; q < PIXEL_SIZE / 4u; q++) {
            uvec4 quad = quads_at(from).v[q];
            [[unroll]] for (uint i = 0u; i < 4u; i++)
                loaded[4u * q + i] = quad[i];
        }
    } else {
        [[unroll]] for (uint i = 0u; i < PIXEL_SIZE; i++)
            loaded[i] = LOAD_U32(from, i);
    }
    uint words[16];
    [[unroll]] for (uint i = 0u; i < OUT_PIXEL_SIZE; i++)
        words[i] = 0u;
    [[unroll]] for (uint p = 0u; p < PIECE; p++)
        put_pixel(words, p, OUT_PIXEL_SIZE, mapped(loaded_pixel(p * PIXEL_SIZE), scale));
    if ((OPTIONS & IMAGE_OUT_QUADS) != 0u && OUT_PIXEL_SIZE % 4u == 0u) {
        [[unroll]] for (uint q = 0u; q < OUT_PIXEL_SIZE / 4u; q++)
            quads_at(to).v[q] = uvec4(words[4u * q], words[4u * q + 1u], words[4u * q + 2u],
                                      words[4u * q + 3u]);
    } else {
        [[unroll]] for (uint i = 0u; i < OUT_PIXEL_SIZE; i++)
            store_word(to, i, words[i]);
    }
}

void main()
{
    image_begin();
    uint piece = group_index() * GROUP + gl_LocalInvocationID.x;
    uint row = piece / args.row_pieces;
    if (row >= args.height)
        return;
    uint x = (piece - row * args.row_pieces) * PIECE;
    float scale = args.scale;
    if (!is_none(args.state))
        scale *= LOAD_F32(args.state, 0u);
    uvec2 from = address_at(args.in_at, row, uvec2(args.in_row_low, args.in_row_high));
    uvec2 to = address_at(args.out_at, row, uvec2(args.out_row_low, args.out_row_high));
    from = address_of(from, x, PIXEL_SIZE);
    to = address_of(to, x, OUT_PIXEL_SIZE);
    uint count = min(args.width - x, PIECE);
    if (count == PIECE && (OPTIONS & IMAGE_IN_WORDS) != 0u) {
        map_piece(from, to, scale);
        return;
    }
    for (uint p = 0u; p < count; p++)
        store_pixel(address_of(to, p, OUT_PIXEL_SIZE),
                    mapped(load_pixel(address_of(from, p, PIXEL_SIZE)), scale));
}
