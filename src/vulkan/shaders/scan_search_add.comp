/* A pass of the running counts: after that of stride 2^p each is the sum of the last 2^(p + 1)
 * counts that end with it. */
#include "locate.glsl"

ARGS_USE(scan_search_add_args)

void main()
{
    uint i = group_index() * GROUP + gl_LocalInvocationID.x;
    if (i >= args.count)
        return;
    uint sum = LOAD_U32(args.from, i);
    if (i >= args.stride)
        sum = add_saturating(sum, LOAD_U32(args.from, i - args.stride));
    store_word(args.to, i, sum);
}
