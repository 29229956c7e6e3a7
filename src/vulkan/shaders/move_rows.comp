/* move.comp for 4-byte elements and u32 positions, with the elements in registers (rows.glsl),
 * which is faster. */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"
#include "places.glsl"
#include "rows.glsl"

ARGS_USE(move_args)

layout(constant_id = 1) const uint KIND = MOVE_KIND_WORDS;
layout(constant_id = 2) const bool IS_BOTH = false;

/* Moves the elements of count set bits to output indices start, ...; all invocations call it. */
void move_bits(uint v[ROWS], uint bits, uvec2 start, uint count)
{
    uint fit = fits(uvec2(args.room_low, args.room_high), start, count);
    if (fit < count)
        bits = first_of_rows(bits, fit);
    uvec2 to = address_at(args.to, start, 4u);
    STORE_ROWS(to, bits, v[r])
}

void main()
{
    uint tile = group_index(), lane = gl_SubgroupInvocationID;
    if (tile == 0u && gl_LocalInvocationID.x == 0u && !is_none(args.count))
        store_count(args.count, args.is_wide != 0u, load64(args.total));
    uint count = stream_length(args.length_at, args.bound);
    if (tile * TILE_ITEMS >= count)
        return;
    uint first = section_first(tile), v[ROWS];
    if (KIND == MOVE_KIND_INDEX) {
        [[unroll]] for (uint r = 0u; r < ROWS; r++)
            v[r] = args.first_low + first + r * SUBGROUP;
    } else {
        load_rows(args.from, first, count, v);
    }
    uint word = words_at(args.words).v[tile * TILE_WORDS + gl_LocalInvocationID.x];
    uint bits = rows_of_words(word);
    uint before, in_section = subgroupAdd(popcount32(word));
    count_tile(in_section, before);
    uvec2 start = add64(load64_or_zero(args.base), uvec2(LOAD_U32(args.places, tile) + before, 0u));
    move_bits(v, bits, start, in_section);
    if (!IS_BOTH)
        return;
    /* All elements before the section that were not kept were rejected. */
    uint valid = rows_before(first, count);
    uvec2 elements = add64(uvec2(args.first_low, args.first_high), uvec2(first - lane, 0u));
    move_bits(v, ~bits & valid, add64(load64(args.total), sub64(elements, start)),
              subgroupAdd(popcount32(valid)) - in_section);
}
