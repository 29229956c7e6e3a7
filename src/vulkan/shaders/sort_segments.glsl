/* The segments of a sort, by windows (vulkan_sort.k.h). If offsets decrease, windows overlap; but
 * nothing outside the stream is read or written, and the work of each window is bounded. */
#define SORT_ARGS sort_segments_args
#include "sort_key.glsl"
#include "vulkan/vulkan_stream.k.h"

layout(constant_id = 5) const uint ITEMS = 8u;
const uint TILE = ITEMS * GROUP, WINDOW = SORT_WINDOW(TILE), LONGEST = TILE - WINDOW;

uint elements_now()
{
    return stream_length(args.length_at, args.bound);
}
uint segments_now()
{
    return stream_length(args.count_at, args.segments);
}

/* Offset s: where segment s begins, or where the last segment ends. An offset of more than 32 bits
 * becomes 2^32 - 1, which is past every stream. */
uint offset_at(uint s)
{
    if ((args.kind & SEGMENTS_STARTS) != 0u && s >= segments_now())
        return elements_now();
    if ((args.kind & SEGMENTS_WIDE) == 0u)
        return words_at(args.offsets).v[s];
    uvec2 offset = load64(address_of(args.offsets, s, 8u));
    return offset.y != 0u ? 0xffffffffu : offset.x;
}

/* How many of segments [low, high) begin before an element, and low. */
uint segments_before(uint element, uint low, uint high)
{
    while (low < high) {
        uint middle = low + ((high - low) >> 1);
        if (offset_at(middle) < element)
            low = middle + 1u;
        else
            high = middle;
    }
    return low;
}

