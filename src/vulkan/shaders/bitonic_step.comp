/* One step of the network: each invocation compares two wires. */
#include "locate.glsl"

ARGS_USE(bitonic_args)

void main()
{
    uint pair = group_index() * GROUP + gl_LocalInvocationID.x;
    if (pair >= args.wires / 2u)
        return;
    uint low_bits = pair & (args.stride - 1u);
    uint a = 2u * (pair - low_bits) + low_bits, b = a + args.stride;
    uint x = LOAD_U32(args.keys, a), y = LOAD_U32(args.keys, b);
    bool is_ascending = (a & args.run) == 0u;
    if ((x > y) == is_ascending) {
        store_word(args.keys, a, y);
        store_word(args.keys, b, x);
    }
}
