/* Expand: a workgroup per tile of sources scans the tile's counts and writes its outputs, unless
 * the tile is heavy. The index of the tile's first output comes from decoupled look-back in a
 * single pass, or from places, which expand_sum.comp and expand_scan.comp computed.
 *
 * After: Merrill, Garland: Single-pass Parallel Prefix Scan with Decoupled Look-back. 2016. */
#include "expand.glsl"

layout(constant_id = EXPAND_SPEC_ONE_PASS) const bool IS_ONE_PASS = true;

shared uint shared_tile;
shared uvec2 shared_place;

/* ---- look-back ------------------------------------------------------------------------------- */

#define LOOK_WIDE
#include "gpu/look_back.glsl"

/* The aggregate of a full tile, by one subgroup. */
uvec2 sum_alone(uint tile)
{
    uint low = 0u, high = 0u;
    for (uint i = gl_SubgroupInvocationID; i < EXPAND_SOURCES; i += SUBGROUP) {
        uint count = load_count(tile * EXPAND_SOURCES + i);
        low += count & 0xffffu;
        high += count >> 16;
    }
    return join64(subgroupAdd(low), subgroupAdd(high));
}

/* The tile's exclusive prefix. One subgroup calls it, and sums a stuck tile's counts itself. */
uvec2 find_place(uvec2 states, uint tile)
{
    uvec2 sum = uvec2(0u);
    uint end = tile;
    while (look_back_row(states, end, sum) != 0u) {
        end--;
        uvec2 theirs = sum_alone(end);
        if (subgroupElect())
            publish_for(states, end, AGGREGATE, theirs);
        sum = add64(sum, theirs);
    }
    return sum;
}

/* ---- tiles ----------------------------------------------------------------------------------- */

/* Extends the grid of expand_heavy.comp to the last block of this tile's outputs. */
void grow_grid(uvec2 base, uvec2 first, uvec2 end)
{
    uvec2 last = min64(end, uvec2(args.capacity_low, args.capacity_high));
    if (!less64(first, last))
        return;
    last = add64(last, uvec2(0xffffffffu));
    last = shift_right64(last, EXPAND_BLOCK_LOG2);
    uvec2 blocks = sub64(last, shift_right64(base, EXPAND_BLOCK_LOG2)); /* their number minus 1 */
    uint most = blocks.y != 0u ? 0xffffffffu : blocks.x;
    uint x = min(most, (1u << EXPAND_GRID_LOG2) - 1u) + 1u;
    uint y = min(most >> EXPAND_GRID_LOG2, EXPAND_GRID_ROWS - 1u) + 1u;
    words_at control = words_at(args.control);
    atomicMax(control.v[EXPAND_GRID], x);
    atomicMax(control.v[EXPAND_GRID + 1u], y);
    atomicMax(control.v[EXPAND_GRID + 2u], 1u);
}

/* The sum of the excesses over the clamp of scan_tile. */
uvec2 sum_excess(uint counts[OWN])
{
    uint low = 0u, high = 0u, low_total, high_total;
    [[unroll]] for (uint i = 0u; i < OWN; i++) {
        uint excess = counts[i] - min(counts[i], 0x10000u);
        low += excess & 0xffffu;
        high += excess >> 16;
    }
    scan_group(low, low_total);
    scan_group(high, high_total);
    return join64(low_total, high_total);
}

/* Exclusive scan over the tile: the output offsets of the invocation's sources, and the tile's
 * total. Counts are clamped, so that 32-bit sums do not overflow; a tile with a clamped count is
 * heavy in any case. */
uint scan_tile(uint counts[OWN], out uint places[OWN])
{
    uint sum = 0u, total;
    [[unroll]] for (uint i = 0u; i < OWN; i++) {
        places[i] = sum;
        sum += min(counts[i], 0x10000u);
    }
    uint before = scan_group(sum, total);
    [[unroll]] for (uint i = 0u; i < OWN; i++)
        places[i] = counts[i] != 0u ? places[i] + before : NOWHERE;
    return total;
}

void write_light(uint tile, uvec2 first, uint total, uint places[OWN])
{
    uint n = fits(uvec2(args.capacity_low, args.capacity_high), first, total);
    if (n > 0u)
        write_outputs(tile, first, n, places, 0u, 0u);
}

void expand_one_pass()
{
    uint local = gl_LocalInvocationID.x, groups = gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    for (uint i = group_index() * GROUP + local; i < args.clear_count; i += groups * GROUP)
        store_word(args.clear, i, 0u);
    if (local == 0u)
        shared_tile = atomicAdd(words_at(args.control).v[EXPAND_TICKET], 1u);
    clear_heads();
    barrier();
    uvec2 states = address_of_word(args.control, EXPAND_CONTROL);
    uint tile = shared_tile, length = stream_length(args.length_at, args.bound);
    uint tiles = (length + (EXPAND_SOURCES - 1u)) / EXPAND_SOURCES;
    if (tile >= tiles) {
        if (tiles == 0u && tile == 0u && local == 0u) {
            report_total(load64_or_zero(args.base));
            store64(args.places, load64_or_zero(args.base));
        }
        return;
    }

    uint counts[OWN], places[OWN];
    load_counts(tile, length, counts);
    uint total = scan_tile(counts, places);
    uvec2 sum = uvec2(total, 0u);
    if (COUNT_SIZE == 4u && total >= 0x10000u)
        sum = add64(sum, sum_excess(counts));

    if (local == 0u)
        publish(states, tile, tile == 0u ? INCLUSIVE : AGGREGATE, sum);
    if (subgroup_index() == 0u) {
        uvec2 before = find_place(states, tile);
        if (subgroupElect()) {
            if (tile > 0u)
                publish(states, tile, INCLUSIVE, add64(before, sum));
            uvec2 base = load64_or_zero(args.base), first = add64(base, before);
            uvec2 end = add64(first, sum);
            shared_place = first;
            store64(address_of(args.places, tile, 8u), first);
            if (tile + 1u == tiles) {
                store64(address_of(args.places, tiles, 8u), end);
                report_total(end);
            }
            if (total > EXPAND_LIGHT)
                grow_grid(base, first, end);
        }
    }
    barrier();
    if (total <= EXPAND_LIGHT)
        write_light(tile, shared_place, total, places);
}

void expand_placed()
{
    uint tile = group_index(), length = stream_length(args.length_at, args.bound);
    if (tile >= (length + (EXPAND_SOURCES - 1u)) / EXPAND_SOURCES)
        return;
    uvec2 first = load64(address_of(args.places, tile, 8u));
    uvec2 end = load64(address_of(args.places, tile + 1u, 8u));
    uvec2 sum = sub64(end, first);
    if (sum.y != 0u || sum.x > EXPAND_LIGHT) {
        if (gl_LocalInvocationID.x == 0u)
            grow_grid(load64_or_zero(args.base), first, end);
    } else if (sum.x > 0u) {
        uint counts[OWN], places[OWN];
        load_counts(tile, length, counts);
        clear_heads();
        uint total = scan_tile(counts, places);
        write_light(tile, first, total, places);
    }
}

void main()
{
    if (IS_ONE_PASS)
        expand_one_pass();
    else
        expand_placed();
}
