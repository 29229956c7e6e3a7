/* Gathers elements of any size from their sources. Each invocation stores whole words of the
 * output; consecutive invocations store consecutive words. */
#include "kernel.glsl"
#include "vulkan/vulkan_locate.k.h"
#include "common.glsl"

ARGS_USE(gather_args)

layout(constant_id = 0) const uint SIZE = 4u;

/* Elements [begin, end) of the output are copied. */
uint begin, end;

/* For elements of whole words: copies word `part` of an element. */
void copy_word(uint element, uint part)
{
    if (element < begin || element >= end)
        return;
    uvec2 from = address_of(args.from, LOAD_U32(args.source, element - begin), SIZE);
    store_word(address_of(args.to, element, SIZE), part, LOAD_U32(from, part));
}

/* Copies word w, counted from element first. Its bytes may belong to several elements. If some of
 * those elements are not in [begin, end), the bytes of the others are stored one by one. */
void copy_bytes(uint first, uint w)
{
    uvec2 to = address_of(args.to, first, SIZE);
    uint value = 0u, copied = 0u;
    for (uint b = 0u; b < 4u; b++) {
        uint element = first + (4u * w + b) / SIZE, part = (4u * w + b) % SIZE;
        if (element >= begin && element < end) {
            uvec2 from = address_of(args.from, LOAD_U32(args.source, element - begin), SIZE);
            value |= LOAD_U8(from, part) << (8u * b);
            copied |= 1u << b;
        }
    }
    if (copied == 15u) {
        store_word(to, w, value);
        return;
    }
    for (uint b = 0u; b < 4u; b++)
        if ((copied >> b & 1u) != 0u)
            store_byte(to, 4u * w + b, value >> (8u * b));
}

void main()
{
    begin = is_none(args.first) ? 0u : load64_within(args.first, args.room);
    end = min(begin + LOAD_U32(args.total, 0u), args.room);
    /* Four elements have a whole number of words. */
    uint first = (begin & ~3u) + group_index() * GATHER_ELEMENTS;
    if (first >= end)
        return;
    for (uint w = gl_LocalInvocationID.x; w < GATHER_ELEMENTS / 4u * SIZE; w += GROUP) {
        if (SIZE % 4u == 0u)
            copy_word(first + w / (SIZE / 4u), w % (SIZE / 4u));
        else
            copy_bytes(first, w);
    }
}
