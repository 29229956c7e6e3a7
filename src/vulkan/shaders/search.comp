/* The positions of queries in a sorted stream, one invocation per query. A position is a number of
 * elements, and may have 64 bits. */
#include "kernel.glsl"
#include "kernels/sort.k.h"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"
#include "places.glsl"

ARGS_USE(search_args)

layout(constant_id = 0) const uint SIZE = 4u;      /* of an element: 1, 2, 4, 8 */
layout(constant_id = 1) const uint LENGTH_WIDE = 0u;
layout(constant_id = 2) const uint OUT_WIDE = 0u;
layout(constant_id = 3) const uint UPPER = 0u;
layout(constant_id = 4) const uint AS_BINS = 0u;    /* of tml_search_resolved */
layout(constant_id = 5) const uint MINUS_ZERO = 0u; /* 1: a key with only the sign bit set is 0 */

bool is_less(uvec2 a, uvec2 b)
{
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}

uvec2 code_at(uvec2 address)
{
    uvec2 key = SIZE == 8u   ? load64(address)
                : SIZE == 4u ? uvec2(LOAD_U32(address, 0u), 0u)
                : SIZE == 2u ? uvec2(LOAD_U16(address, 0u), 0u)
                             : uvec2(LOAD_U8(address, 0u), 0u);
    uvec2 minus = SIZE == 8u ? uvec2(0u, 0x80000000u) : uvec2(0x80u << (8u * SIZE - 8u), 0u);
    key = SORT_KEY(key, MINUS_ZERO * minus, uvec2(0u));
    uint sign = SIZE == 8u ? SORT_SIGN(key.y, 32u) : SORT_SIGN(key.x, 8u * SIZE);
    return SORT_CODE(key, uvec2(sign), uvec2(args.flip_low, args.flip_high),
                     uvec2(args.real_flip_low, args.real_flip_high));
}

uvec2 sorted_count()
{
    uvec2 count = uvec2(args.count_low, args.count_high);
    if (is_none(args.sorted_length))
        return count;
    uvec2 length = LENGTH_WIDE == 1u ? load64(args.sorted_length)
                                     : uvec2(LOAD_U32(args.sorted_length, 0u), 0u);
    return is_less(length, count) ? length : count;
}

/* The result is one of the left + 1 positions from the present value on. */
uvec2 place_of(uvec2 code)
{
    uvec2 place = uvec2(0u), left = sorted_count();
    while ((left.x | left.y) != 0u) {
        uvec2 rest = uvec2(left.x >> 1 | left.y << 31, left.y >> 1), middle = sub64(left, rest);
        uvec2 next = add64(place, middle);
        uvec2 element = code_at(address_at(args.sorted, sub64(next, uvec2(1u, 0u)), SIZE));
        if (UPPER == 1u ? !is_less(code, element) : is_less(element, code))
            place = next;
        left = rest;
    }
    return place;
}

void main()
{
    uint end = stream_length(args.length_at, args.bound);
    uint first = group_index() * MAP_ITEMS;
    for (uint i = first + gl_LocalInvocationID.x; i < min(first + MAP_ITEMS, end); i += GROUP) {
        uvec2 code = code_at(address_of(args.queries, i, SIZE)), place = place_of(code);
        if (AS_BINS == 1u)
            place.x = is_less(code_at(address_at(args.sorted, sorted_count(), SIZE)), code)
                          ? 0xffffffffu
                          : place.x - 1u;
        if (OUT_WIDE == 1u)
            store64(address_of(args.out_at, i, 8u), place);
        else
            store_word(args.out_at, i, place.x);
    }
}
