/* How many of the sorted keys are not null. */
#include "locate.glsl"

ARGS_USE(bitonic_args)

void main()
{
    if (group_index() != 0u || gl_LocalInvocationID.x != 0u)
        return;
    uint low = 0u, high = args.wires; /* keys below low are not null, those from high on are */
    while (low < high) {
        uint middle = low + (high - low) / 2u;
        if (LOAD_U32(args.keys, middle) == BITONIC_NULL)
            high = middle;
        else
            low = middle + 1u;
    }
    store_word(args.total, 0u, low);
}
