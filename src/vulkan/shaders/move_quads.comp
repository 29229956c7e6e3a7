/* Moves the kept elements of a tile, of 4 bytes, or their u32 positions: as move.comp does, but with
 * the elements in registers (section.glsl), which is faster. */
#include "kernel.glsl"
#include "kernels/vulkan_args.k.h"
#include "common.glsl"
#include "places.glsl"
#include "section.glsl"

ARGS_USE(move_args)

layout(constant_id = 1) const uint KIND = MOVE_KIND_WORDS;
layout(constant_id = 2) const bool IS_BOTH = false;

uvec4 values[QUADS];

uint value_at(uint k, uint j)
{
    return values[k][j];
}

/* The set bits' elements go to start, start + 1, ...; all invocations call it. */
void move_bits(uint bits, uvec2 start)
{
    uint before, in_section = rank_section(bits);
    count_tile(in_section, before);
    start = add64(start, uvec2(before, 0u));
    uvec2 to = address_at(args.to, start, 4u);
    uint fit = fits(uvec2(args.room_low, args.room_high), start, in_section);
    for (uint begin = 0u, next = 0u; begin < fit; begin = next) {
        STAGE(begin, next, bits, value_at)
        store_staged(address_of_word(to, begin), min(next, fit) - begin);
    }
}

void main()
{
    uint tile = group_index();
    uint count = stream_length(args.length_at, args.bound);
    uint first = tile * TILE_ITEMS, first_quad = tile * TILE_QUADS;
    if (first >= count)
        return;
    if (KIND == MOVE_KIND_INDEX) {
        [[unroll]] for (uint k = 0u; k < QUADS; k++) {
            uint i = args.first_low + 4u * (first_quad + quad_at(k));
            values[k] = uvec4(i, i + 1u, i + 2u, i + 3u);
        }
    } else if (count - first >= TILE_ITEMS) {
        [[unroll]] for (uint k = 0u; k < QUADS; k++)
            values[k] = quads_at(args.from).v[first_quad + quad_at(k)];
    } else {
        [[unroll]] for (uint k = 0u; k < QUADS; k++) {
            [[unroll]] for (uint j = 0u; j < 4u; j++) {
                uint i = 4u * (first_quad + quad_at(k)) + j;
                values[k][j] = i < count ? words_at(args.from).v[i] : 0u;
            }
        }
    }
    uint bits = 0u;
    [[unroll]] for (uint k = 0u; k < QUADS; k++) {
        uint q = quad_at(k);
        uint word = words_at(args.words).v[tile * TILE_WORDS + q / 8u];
        bits |= (word >> (4u * (q % 8u)) & 15u) << (4u * k);
    }
    uvec2 start = add64(load64_or_zero(args.base), uvec2(LOAD_U32(args.places, tile), 0u));
    move_bits(bits, start);
    if (!IS_BOTH)
        return;
    /* All tiles before this one are whole: what of them is not kept was rejected. */
    uint rejected = 0u;
    [[unroll]] for (uint k = 0u; k < QUADS; k++) {
        uint valid = valid_bits(4u * (first_quad + quad_at(k)), count);
        rejected |= (~bits >> (4u * k) & valid) << (4u * k);
    }
    uvec2 elements = add64(uvec2(args.first_low, args.first_high), uvec2(first, 0u));
    barrier();
    move_bits(rejected, add64(load64(args.total), sub64(elements, start)));
}
