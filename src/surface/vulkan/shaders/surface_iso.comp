/* Writes the limits of an isovalue that is in device memory to the head. */
#include "surface.glsl"
#include "surface/gpu/surface_limits.glsl"

ARGS_USE(surface_iso_args)

void main()
{
    if (group_index() != 0u || gl_LocalInvocationID.x != 0u)
        return;
    held_limits held = hold_limits(LOAD_U32(args.iso, 0u));
    uvec2 head = address_of_word(args.head, SURFACE_HEAD_LIMITS);
    store64(head, held.limit);
    store64(address_of_word(head, 2u), held.range);
    store_word(head, 4u, held.keep);
    store_word(args.head, SURFACE_HEAD_INDEX_ISO, held.index_bits);
    store_word(head, 5u, held.words.x);
    store_word(head, 6u, held.words.y);
    store_word(head, 7u, held.words.z);
}
