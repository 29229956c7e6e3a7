/* The sum of each tile's counts, one subgroup per tile. */
#include "expand.glsl"

void main()
{
    uint length = stream_length(args.length_at, args.bound);
    uint tile = group_index() * (GROUP / SUBGROUP) + subgroup_index();
    if (tile >= (length + (EXPAND_SOURCES - 1u)) / EXPAND_SOURCES)
        return;
    uint low = 0u, high = 0u; /* of the counts' halfwords */
    bool is_whole = (tile + 1u) * EXPAND_SOURCES <= length;
    if (is_whole && (args.counts.x & 15u) == 0u) {
        const uint LOADS = EXPAND_SOURCES / 16u * COUNT_SIZE;
        for (uint i = gl_SubgroupInvocationID; i < LOADS; i += SUBGROUP) {
            uvec4 a = quads_at(args.counts).v[tile * LOADS + i];
            uvec4 even = a & 0xffffu, odd = a >> 16;
            if (COUNT_SIZE == 1u) {
                even = (even & 0xffu) + (even >> 8);
                odd = (odd & 0xffu) + (odd >> 8);
            }
            low += even.x + even.y + even.z + even.w;
            high += odd.x + odd.y + odd.z + odd.w;
        }
        if (COUNT_SIZE < 4u) {
            low += high;
            high = 0u;
        }
    } else {
        for (uint i = gl_SubgroupInvocationID; i < EXPAND_SOURCES; i += SUBGROUP) {
            uint source = tile * EXPAND_SOURCES + i;
            uint count = source < length ? load_count(source) : 0u;
            low += count & 0xffffu;
            high += count >> 16;
        }
    }
    uvec2 sum = join64(subgroupAdd(low), subgroupAdd(high));
    if (subgroupElect())
        store64(address_of(args.places, tile, 8u), sum);
}
