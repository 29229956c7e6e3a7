/* tml_gather and tml_scatter: moves elements of any size from, or to, the positions that indices
 * give. Each invocation processes whole words of the array that is in order; consecutive
 * invocations process consecutive words. */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"
#include "places.glsl"

ARGS_USE(gather_scatter_args)

layout(constant_id = 0) const uint SIZE = 4u;
layout(constant_id = 1) const uint WIDE = 0u; /* 1: indices are u64 */
layout(constant_id = 2) const uint SCATTERS = 0u;

/* The position of the element that index i names, if it names one. */
bool find_place(uint i, out uvec2 place)
{
    uvec2 index = WIDE == 1u ? load64(address_of(args.indices, i, 8u))
                             : uvec2(LOAD_U32(args.indices, i), 0u);
    place = address_at(args.placed, index, SIZE);
    return index.y < args.range_high ||
           (index.y == args.range_high && index.x < args.range_low);
}

/* For elements of whole words: moves word `part` of an element. */
void move_word(uint element, uint part)
{
    uvec2 place, here = address_of(args.ordered, element, SIZE);
    if (!find_place(element, place))
        return;
    if (SCATTERS == 1u)
        store_word(place, part, LOAD_U32(here, part));
    else
        store_word(here, part, LOAD_U32(place, part));
}

/* Gathers word w, counted from element first. Its bytes may belong to several elements. If some of
 * those elements are not gathered, the bytes of the others are stored one by one. */
void gather_bytes(uint first, uint w, uint end)
{
    uvec2 to = address_of(args.ordered, first, SIZE), place;
    uint value = 0u, moved = 0u;
    for (uint b = 0u; b < 4u; b++) {
        uint element = first + (4u * w + b) / SIZE, part = (4u * w + b) % SIZE;
        if (element < end && find_place(element, place)) {
            value |= LOAD_U8(place, part) << (8u * b);
            moved |= 1u << b;
        }
    }
    if (moved == 15u) {
        store_word(to, w, value);
        return;
    }
    for (uint b = 0u; b < 4u; b++)
        if ((moved >> b & 1u) != 0u)
            store_byte(to, 4u * w + b, value >> (8u * b));
}

/* Scatters the bytes of word w; its halfwords if no element begins in the middle of a halfword. */
void scatter_bytes(uint first, uint w, uint end)
{
    const uint EACH = SIZE % 2u == 0u ? 2u : 1u;
    uvec2 place;
    for (uint b = 0u; b < 4u; b += EACH) {
        uint element = first + (4u * w + b) / SIZE, part = (4u * w + b) % SIZE;
        if (element >= end || !find_place(element, place))
            continue;
        uvec2 here = address_of(args.ordered, element, SIZE);
        if (EACH == 2u)
            store_half(place, part / 2u, LOAD_U16(here, part / 2u));
        else
            store_byte(place, part, LOAD_U8(here, part));
    }
}

void main()
{
    uint end = stream_length(args.length_at, args.bound);
    uint first = group_index() * MAP_ITEMS;
    for (uint w = gl_LocalInvocationID.x; w < MAP_ITEMS / 4u * SIZE; w += GROUP) {
        if (SIZE % 4u != 0u && SCATTERS == 1u)
            scatter_bytes(first, w, end);
        else if (SIZE % 4u != 0u)
            gather_bytes(first, w, end);
        else if (first + w / (SIZE / 4u) < end)
            move_word(first + w / (SIZE / 4u), w % (SIZE / 4u));
    }
}
