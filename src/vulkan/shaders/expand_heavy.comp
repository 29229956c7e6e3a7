/* Writes the outputs of heavy tiles, a workgroup per block of outputs. A block meets at most two
 * heavy tiles, those of its first and of its last output. */
#include "expand.glsl"

/* The source that has outputs before the part, and the number of these outputs. */
shared uint shared_lead, shared_lead_rank;

/* The tile of an output, by a search with SUBGROUP probes per step. Each subgroup searches for
 * itself. */
uint tile_of(uvec2 output_index, uint tiles)
{
    uint low = 0u, high = tiles; /* places[low] <= output_index < places[high] */
    while (high - low > 1u) {
        uint step = (high - low + (SUBGROUP - 1u)) / SUBGROUP;
        uint probe = low + gl_SubgroupInvocationID * step;
        bool is_before =
            probe < high && !less64(output_index, load64(address_of(args.places, probe, 8u)));
        /* is_before is true in lane 0, and monotonic over the lanes. */
        low += (subgroupBallotBitCount(subgroupBallot(is_before)) - 1u) * step;
        high = min(high, low + step);
    }
    return low;
}

/* Writes n outputs of a tile, after its first skip outputs. */
void write_part(uint tile, uint length, uvec2 skip, uvec2 first, uint n)
{
    uint counts[OWN], places[OWN], low = 0u, high = 0u, low_total, high_total;
    load_counts(tile, length, counts);
    [[unroll]] for (uint i = 0u; i < OWN; i++) {
        low += counts[i] & 0xffffu;
        high += counts[i] >> 16;
    }
    if (gl_LocalInvocationID.x == 0u)
        shared_lead_rank = 0u;
    low = scan_group(low, low_total);
    high = scan_group(high, high_total);
    uvec2 place = join64(low, high), last = add64(skip, uvec2(n, 0u));
    [[unroll]] for (uint i = 0u; i < OWN; i++) {
        uvec2 next = add64(place, uvec2(counts[i], 0u));
        places[i] = NOWHERE;
        if (counts[i] != 0u && less64(place, last) && less64(skip, next)) {
            places[i] = sub64(place, skip).x;
            if (less64(place, skip)) {
                shared_lead = OWN * gl_LocalInvocationID.x + i;
                shared_lead_rank = sub64(skip, place).x;
            }
        }
        place = next;
    }
    barrier();
    write_outputs(tile, first, n, places, shared_lead, shared_lead_rank);
}

void main()
{
    uint row = words_at(args.control).v[EXPAND_GRID + 1u];
    if (group_index() >= row << EXPAND_GRID_LOG2)
        return;
    uvec2 base = load64_or_zero(args.base);
    uvec2 block = add64(shift_right64(base, EXPAND_BLOCK_LOG2), uvec2(group_index(), 0u));
    uvec2 begin = uvec2(block.x << EXPAND_BLOCK_LOG2,
                        block.y << EXPAND_BLOCK_LOG2 | block.x >> (32u - EXPAND_BLOCK_LOG2));
    uvec2 end = add64(begin, uvec2(1u << EXPAND_BLOCK_LOG2, 0u));
    if (less64(begin, base))
        begin = base;
    end = min64(end, min64(load64(args.total), uvec2(args.capacity_low, args.capacity_high)));
    if (!less64(begin, end))
        return;

    uint length = stream_length(args.length_at, args.bound);
    uint tiles = (length + (EXPAND_SOURCES - 1u)) / EXPAND_SOURCES;
    uint first_tile = tile_of(begin, tiles), last_tile = tile_of(sub64(end, uvec2(1u, 0u)), tiles);
    clear_heads();
    for (uint i = 0u; i < 2u; i++) {
        uint tile = i == 0u ? first_tile : last_tile;
        if (i == 1u && last_tile == first_tile)
            break;
        uvec2 place = load64(address_of(args.places, tile, 8u));
        uvec2 next = load64(address_of(args.places, tile + 1u, 8u));
        if (!less64(uvec2(EXPAND_LIGHT, 0u), sub64(next, place)))
            continue;
        uvec2 from = less64(place, begin) ? begin : place;
        uint n = sub64(min64(end, next), from).x;
        write_part(tile, length, sub64(from, place), from, n);
    }
}
