/* Lists the bricks whose bins have points, and fills the other bricks with background. A workgroup
 * has 32 bricks in a row. Eight invocations search the bins of a brick. Then each invocation fills
 * the samples of one x. */
#include "field.glsl"

const uint ROW_BRICKS = GROUP / BRICK;

shared uint near_bricks; /* one bit per brick */
shared uint list_first;

/* Returns whether rows part, part + 8, ... of the brick's bins have a point. */
bool has_points(uvec3 base, uint part)
{
    for (uint level = 0u; level < args.level_count; level++) {
        bin_box box = bins_near(level, base);
        uint rows = box.count.y * box.count.z;
        for (uint row = part; row < rows; row += BRICK) {
            uint y = box.first.y + row % box.count.y, z = box.first.z + row / box.count.y;
            uint bin = box.first_bin + box.first.x + box.bins.x * (y + box.bins.y * z);
            if (LOAD_U32(args.starts, bin) != LOAD_U32(args.starts, bin + box.count.x))
                return true;
        }
    }
    return false;
}

void main()
{
    uvec3 counts = brick_counts();
    uint groups_x = (counts.x + ROW_BRICKS - 1u) / ROW_BRICKS;
    uint row = group_index() / groups_x;
    uint first = group_index() % groups_x * ROW_BRICKS;
    if (row >= counts.y * counts.z)
        return;
    uvec3 brick = uvec3(first, row % counts.y, row / counts.y);
    uvec3 base = uvec3(brick.xy, args.z_first / BRICK + brick.z) * BRICK;

    uint t = gl_LocalInvocationID.x, mine = t / BRICK;
    if (t == 0u)
        near_bricks = 0u;
    barrier();
    if (first + mine < counts.x && has_points(base + uvec3(mine * BRICK, 0u, 0u), t % BRICK))
        atomicOr(near_bricks, 1u << mine);
    barrier();
    uint near = near_bricks;

    if (t == 0u && near != 0u)
        list_first = atomicAdd(words_at(args.bricks).v[0], popcount32(near));
    barrier();
    if (t < ROW_BRICKS && (near >> t & 1u) != 0u)
        store_word(args.bricks, LIST_HEAD + list_first + popcount32(near & ((1u << t) - 1u)),
                   first + t + counts.x * row);

    uint x = base.x + t;
    if (x >= args.dims_x || (near >> mine & 1u) != 0u)
        return;
    uint y_end = min(base.y + BRICK, args.dims_y), z_end = min(base.z + BRICK, args.z_end);
    for (uint z = max(base.z, args.z_first); z < z_end; z++)
        for (uint y = base.y; y < y_end; y++)
            store_word(row_at(y, z), x, floatBitsToUint(args.background));
}
