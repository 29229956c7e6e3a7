/* Builds a level of the pyramid: a cell is the sum of four cells of the level below. */
#include "locate.glsl"

ARGS_USE(histopyramid_sum_args)

void main()
{
    uint cell = group_index() * GROUP + gl_LocalInvocationID.x;
    if (cell >= args.padded)
        return;
    uint sum = 0u;
    if (cell < args.count) {
        uvec4 child = quads_at(args.children).v[cell];
        sum = add_saturating(add_saturating(child.x, child.y), add_saturating(child.z, child.w));
    }
    store_word(args.parents, cell, sum);
}
