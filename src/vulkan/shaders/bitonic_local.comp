/* All the steps of runs from args.run to args.last whose strides a workgroup's keys hold, in shared
 * memory. */
#include "locate.glsl"

ARGS_USE(bitonic_args)

shared uint keys[BITONIC_LOCAL];

void main()
{
    uint first = group_index() * BITONIC_LOCAL, local = gl_LocalInvocationID.x;
    if (first >= args.wires)
        return;
    uint wires = min(args.wires - first, BITONIC_LOCAL);
    for (uint i = local; i < wires; i += GROUP)
        keys[i] = LOAD_U32(args.keys, first + i);
    for (uint run = args.run; run <= args.last; run *= 2u) {
        for (uint stride = min(run / 2u, BITONIC_LOCAL / 2u); stride > 0u; stride /= 2u) {
            barrier();
            for (uint pair = local; pair < wires / 2u; pair += GROUP) {
                uint low_bits = pair & (stride - 1u);
                uint a = 2u * (pair - low_bits) + low_bits, b = a + stride;
                uint x = keys[a], y = keys[b];
                bool is_ascending = ((first + a) & run) == 0u;
                if ((x > y) == is_ascending) {
                    keys[a] = y;
                    keys[b] = x;
                }
            }
        }
    }
    barrier();
    for (uint i = local; i < wires; i += GROUP)
        store_word(args.keys, first + i, keys[i]);
}
