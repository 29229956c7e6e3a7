/* Shared by the field's shaders: bricks, and the bins that their support touches. */
#include "kernel.glsl"
#include "kernels/field.k.h"
#include "kernels/field_args.k.h"
#include "common.glsl"
#include "field/gpu/field_bins.glsl"

ARGS_USE(field_args)

const uint LIST_HEAD = 1u; /* words of args.bricks before the list: its count */

uvec3 brick_counts()
{
    uint layers = (args.z_end + BRICK - 1u) / BRICK - args.z_first / BRICK;
    return uvec3((args.dims_x + BRICK - 1u) / BRICK, (args.dims_y + BRICK - 1u) / BRICK, layers);
}

/* The address of sample (0, y, z). z counts from the first layer of the whole grid. */
uvec2 row_at(uint y, uint z)
{
    uint high, low;
    umulExtended(args.dims_x, y + args.dims_y * (z - args.z_first), high, low);
    return address_add(args.out_at, low << 2, high << 2 | low >> 30);
}

/* base: the brick's first sample. */
bin_box bins_near(uint level, uvec3 base)
{
    return bins_of_level(quads_at(args.levels).v[2u * level],
                         quads_at(args.levels).v[2u * level + 1u], base, base + BRICK - 1u);
}
