/* What the field's shaders share: bricks, and the bins that they look into. */
#include "kernel.glsl"
#include "kernels/field.k.h"
#include "common.glsl"

ARGS_USE(field_args)

const uint BRICK = 8u;
const uint LIST_HEAD = 1u; /* words of args.bricks before the list: its count */

uvec3 brick_counts()
{
    uint layers = (args.z_end + BRICK - 1u) / BRICK - args.z_first / BRICK;
    return uvec3((args.dims_x + BRICK - 1u) / BRICK, (args.dims_y + BRICK - 1u) / BRICK, layers);
}

/* Address of sample (0, y, z); z counts from the whole grid's first slice. */
uvec2 row_at(uint y, uint z)
{
    uint high, low;
    umulExtended(args.dims_x, y + args.dims_y * (z - args.z_first), high, low);
    return address_add(args.out_at, low << 2, high << 2 | low >> 30);
}

/* The bins of a level that a brick looks into: count along each axis, from first on. */
struct bin_box {
    uvec3 first;
    uvec3 count;
    uvec3 bins;
    uint first_bin;
    uint edge_log2;
};
/* base: the brick's first sample. Supports are whole samples here, rounded up: a bin too many adds
 * points that reach nothing. */
bin_box bins_near(uint level, uvec3 base)
{
    uvec4 low = quads_at(args.levels).v[2u * level];
    uvec4 high = quads_at(args.levels).v[2u * level + 1u];
    bin_box box;
    box.first_bin = low.x;
    box.edge_log2 = low.y;
    box.bins = uvec3(low.z, low.w, high.x);
    uvec3 support = high.yzw;
    uvec3 last = min((base + BRICK - 1u + support) >> box.edge_log2, box.bins - 1u);
    box.first = min((base - min(base, support)) >> box.edge_log2, last);
    box.count = last - box.first + 1u;
    return box;
}
