/* Copies as many elements as a count on the device says. Both addresses are multiples of 4. */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"
#include "places.glsl"

ARGS_USE(copy_counted_args)

void main()
{
    uint at = 4u * (group_index() * GROUP + gl_LocalInvocationID.x);
    if (at >= COPY_COUNTED_PART)
        return;
    uvec2 first = add64(uvec2(args.first_low, args.first_high), uvec2(at, 0u));
    uvec2 room = uvec2(args.room_low, args.room_high), counted = room;
    if (!is_none(args.count))
        counted = address_at(uvec2(0u), load64(args.count), args.size);
    uint bytes = fits(room, first, fits(counted, first, 4u));
    uvec2 to = add64(args.to, first), from = add64(args.from, first);
    if (bytes == 4u)
        store_word(to, 0u, LOAD_U32(from, 0u));
    for (uint b = 0u; b < bytes && bytes < 4u; b++)
        store_byte(to, b, LOAD_U8(from, b));
}
