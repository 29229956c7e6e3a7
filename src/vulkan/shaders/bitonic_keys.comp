/* A kept source's key is its index, the others' is null: above every index. */
#include "locate.glsl"

ARGS_USE(bitonic_args)

void main()
{
    uint i = group_index() * GROUP + gl_LocalInvocationID.x;
    if (i >= args.wires)
        return;
    uint key = BITONIC_NULL;
    if (i < args.count && LOAD_U32(args.counts, i) != 0u)
        key = i;
    store_word(args.keys, i, key);
}
