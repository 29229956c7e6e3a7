/* Stores words as elements of another size. */
#include "kernel.glsl"
#include "kernels/sort.k.h"
#include "vulkan/vulkan_sort.k.h"
#include "common.glsl"

ARGS_USE(sort_finish_args)

layout(constant_id = 0) const uint SIZE = 1u;

uint narrow(uint i)
{
    uint code = LOAD_U32(args.from, i);
    return SORT_CODE(code, SORT_SIGN(code ^ args.flip, 8u * SIZE), args.flip, args.real_flip);
}

void main()
{
    uint count = stream_length(args.length_at, args.bound),
         i = group_index() * GROUP + gl_LocalInvocationID.x;
    if (SIZE == 8u) {
        if (i < count)
            store64(address_of(args.to, i, 8u), uvec2(LOAD_U32(args.from, i), 0u));
        return;
    }
    /* Element 0 is somewhere in word 0. */
    uint per_word = 4u / SIZE, skip = (args.to.x & 3u) / SIZE, word = 0u, stored = 0u;
    for (uint e = 0u; e < per_word; e++) {
        uint element = i * per_word + e - skip;
        if (element < count) {
            word |= narrow(element) << (8u * SIZE * e);
            stored++;
        }
    }
    if (stored == per_word)
        store_word(uvec2(args.to.x & ~3u, args.to.y), i, word);
    for (uint e = 0u; e < per_word && stored < per_word; e++) {
        uint element = i * per_word + e - skip;
        if (element < count && SIZE == 1u)
            store_byte(args.to, element, word >> (8u * e));
        else if (element < count)
            store_half(args.to, element, word >> (16u * e));
    }
}
