/* Smallest and largest sample of each brick; one subgroup per brick. */
#include "surface.glsl"

ARGS_USE(surface_index_args)

const uint BRICK_SAMPLES = 64u * 4u * 4u;

#include "surface/gpu/surface_samples.glsl"

void main()
{
    uint bricks_x = (args.dim_x + 63u) / 64u, bricks_y = (args.dim_y + 3u) / 4u;
    uint bricks_z = (args.dim_z + 3u) / 4u;
    uint brick = group_index() * (GROUP / SUBGROUP) + subgroup_index();
    if (brick >= bricks_x * bricks_y * bricks_z)
        return;
    uint bz = brick / (bricks_x * bricks_y), in_layer = brick - bz * bricks_x * bricks_y;
    uint by = in_layer / bricks_x, bx = in_layer - by * bricks_x;
    uint least = 0xffffffffu, largest = 0u;
    for (uint i = gl_SubgroupInvocationID; i < BRICK_SAMPLES; i += SUBGROUP) {
        uint x = 64u * bx + i % 64u, y = 4u * by + i / 64u % 4u, z = 4u * bz + i / 256u;
        if (x >= args.dim_x || y >= args.dim_y || z >= args.dim_z)
            continue;
        uvec2 at = mul_add64(y + args.dim_y * z, args.dim_x, x);
        uvec2 raw = raw_at(TYPE, element_at(args.volume, at, type_size_log2(TYPE)), 0u);
        uvec2 keys = brick_keys(TYPE, raw);
        least = min(least, keys.x);
        largest = max(largest, keys.y);
    }
    least = subgroupMin(least);
    largest = subgroupMax(largest);
    if (gl_SubgroupInvocationID != 0u)
        return;
    words_at(args.bricks).v[2u * brick] =
        (least & 0x80000000u) != 0u ? least ^ 0x80000000u : ~least;
    words_at(args.bricks).v[2u * brick + 1u] =
        (largest & 0x80000000u) != 0u ? largest ^ 0x80000000u : ~largest;
}
