/* Writes indirect arguments from a count. */
#include "kernel.glsl"
#include "vulkan/vulkan_args.k.h"
#include "common.glsl"

ARGS_USE(indirect_args)

const uint DISPATCH = 0u, DRAW = 1u, DRAW_INDEXED = 2u, INSTANCES = 3u, INSTANCES_INDEXED = 4u;

void main()
{
    if (group_index() != 0u || gl_LocalInvocationID.x != 0u)
        return;
    uvec2 n = uvec2(LOAD_U32(args.from, 0u), 0u);
    if (args.wide != 0u)
        n.y = LOAD_U32(args.from, 1u);
    if (n.y > args.limit_high || (n.y == args.limit_high && n.x > args.limit_low))
        n = uvec2(args.limit_low, args.limit_high);
    uint count = n.y != 0u ? 0xffffffffu : n.x;
    if (args.kind == DISPATCH) {
        uint groups = count / args.group + uint(count % args.group != 0u);
        uint x = min(groups, 65535u);
        store_word(args.to, 0u, x);
        store_word(args.to, 1u, x == 0u ? 0u : groups / x + uint(groups % x != 0u));
        store_word(args.to, 2u, 1u);
        return;
    }
    bool counts_instances = args.kind == INSTANCES || args.kind == INSTANCES_INDEXED;
    uint most = 0xffffffffu / args.group;
    store_word(args.to, 0u, counts_instances ? args.group : min(count, most) * args.group);
    store_word(args.to, 1u, counts_instances ? count : 1u);
    store_word(args.to, 2u, args.first);
    uint at = 3u;
    if (args.kind == DRAW_INDEXED || args.kind == INSTANCES_INDEXED)
        store_word(args.to, at++, uint(args.vertex_offset));
    store_word(args.to, at, args.first_instance);
}
