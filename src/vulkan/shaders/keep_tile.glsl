/* Shared by shaders that write keep bits: a tile per workgroup, a word per invocation. Included after args. */
#include "last.glsl"
#include "places.glsl"
#extension GL_EXT_control_flow_attributes : require

layout(constant_id = 4) const uint TOTALS = TOTALS_ALONE;

shared uint tile_counts[SUBGROUPS_MAX];

/* Counts are exchanged between workgroups, so their memory is coherent. */
layout(buffer_reference, std430, buffer_reference_align = 4) coherent buffer counts_at {
    uint v[];
};

/* Tiles whose bits and counts are written. */
uint tiles_written()
{
    uint count = TOTALS == TOTALS_ALONE ? args.bound : stream_length(args.length_at, args.bound);
    return max(1u, (count + (TILE_ITEMS - 1u)) / TILE_ITEMS);
}
/* The mask of a word's bits that belong to elements before count; bit 0 is element first. */
uint bits_before(uint first, uint count)
{
    return first >= count ? 0u : count - first >= 32u ? 0xffffffffu : (1u << (count - first)) - 1u;
}

/* The sum over the workgroup; before: over the subgroups before this one. Has two barriers. */
uint sum_tile(uint own, out uint before)
{
    uint here = subgroupAdd(own), sum = 0u;
    barrier();
    if (gl_SubgroupInvocationID == 0u)
        tile_counts[subgroup_index()] = here;
    barrier();
    before = 0u;
    for (uint s = 0u; s < GROUP / SUBGROUP; s++) {
        before += s < subgroup_index() ? tile_counts[s] : 0u;
        sum += tile_counts[s];
    }
    return sum;
}

/* By the last workgroup: replaces the counts by their exclusive scan, and stores the total. */
void place_tiles()
{
    const uint OWN = 16u; /* consecutive tiles of an invocation */
    uint tiles = tiles_written(), place = 0u, counts[OWN];
    for (uint first = 0u; first < tiles; first += OWN * GROUP) {
        uint at = first + OWN * gl_LocalInvocationID.x, own = 0u;
        [[unroll]] for (uint i = 0u; i < OWN; i++) {
            uint count = counts_at(args.counts).v[min(at + i, tiles - 1u)];
            counts[i] = at + i < tiles ? count : 0u;
            own += counts[i];
        }
        uint before, total = sum_tile(own, before);
        uint next = place + before + subgroupExclusiveAdd(own);
        [[unroll]] for (uint i = 0u; i < OWN; i++) {
            if (at + i < tiles)
                store_word(args.counts, at + i, next);
            next += counts[i];
        }
        place += total;
    }
    if (gl_LocalInvocationID.x != 0u)
        return;
    uvec2 base = TOTALS == TOTALS_LATER ? load64(args.totals) : uvec2(0u);
    store64(address_add(args.totals, 8u, 0u), add64(base, uvec2(place, 0u)));
    store_word(args.counter, 0u, 0u);
}

void store_tile(uint tile, uint word)
{
    uint local = gl_LocalInvocationID.x;
    store_word(args.bits, tile * TILE_WORDS + local, word);
    uint before, sum = sum_tile(popcount32(word), before);
    if (local == 0u)
        counts_at(args.counts).v[tile] = sum;
    if (TOTALS != TOTALS_ALONE && is_last_of(args.counter, tiles_written(), 1u))
        place_tiles();
}
