/* Compacts 4-byte elements and/or their positions in one pass, or only counts: the body of the
 * shaders compact_*.comp and kernel_compact.comp. Each defines
 *
 *   KEEPS_BY_VALUE              1: keep_quad looks at the elements; 0: they are only moved
 *   uint mark_of(uint quad)     what else decides about the elements 4 * quad ... 4 * quad + 3, of
 *                               which at least one exists
 *   uint keep_quad(uvec4 values, uint mark, uint quad)
 *                               which of them are kept, in bits 0 ... 3. All lanes call it at once,
 *                               with neighbouring quads
 *
 * A tile counts, publishes its count in one word with its status, and adds up what its predecessors
 * have published until it meets one that knows all before it. A look that meets nothing is repeated
 * a bounded number of times: then the workgroup counts the silent neighbour's elements itself and
 * publishes for it, so that devices that keep workgroups waiting finish all the same. There, moreover,
 * workgroups take tiles by a ticket, so that a tile's predecessors are done or at work. GPUs that keep
 * workgroups moving begin them in their order, and are not made to wait for tickets (2 % of the time of
 * 2^28 elements on an H200, 6 % of 2^24).
 *
 * What made it fast on a large GPU: the elements stay in registers; little shared memory; states
 * are exchanged by atomicExchange and read by plain volatile loads (a read-modify-write on the
 * reading side took 1.6 times as long); stores of 16 bytes; and what was kept first is staged before
 * the look-back, which gives the predecessors time to publish. What did not help: looking at 64, 128
 * or 256 tiles at once (1, 5, 18 % more time), and a rolled delay before the first look (1 % less).
 *
 * After: Merrill, Garland: Single-pass Parallel Prefix Scan with Decoupled Look-back. 2016; Smith,
 * Levien, Owens: Decoupled Fallback: A Portable Single-Pass GPU Scan. 2025. */
#include "places.glsl"
#include "section.glsl"

layout(constant_id = 4) const bool HAS_OUT = true;
layout(constant_id = 5) const bool HAS_INDICES = false;
layout(constant_id = 6) const uint TOTALS = TOTALS_ALONE;
layout(constant_id = 7) const bool IS_WIDE = false;
layout(constant_id = 8) const uint LOOKS = 16u;
layout(constant_id = 9) const bool TAKES_TICKETS = true;

const bool READS_VALUES = KEEPS_BY_VALUE != 0 || HAS_OUT;

layout(buffer_reference, std430, buffer_reference_align = 4) volatile buffer states_at {
    uint v[];
};
/* A state is zero until something is known. A whole prefix is at most 2^30 elements. */
const uint PARTIAL = 0x40000000u;   /* | the tile's count */
const uint INCLUSIVE = 0x80000000u; /* | the count of all up to the tile */

shared uint tile_taken;
shared uint tile_place;

uvec4 values[QUADS];

uint tile_of_group()
{
    return TAKES_TICKETS ? tile_taken : group_index();
}

/* The count of a tile that is known to be whole, by one subgroup. */
uint count_neighbour(uint tile)
{
    uint sum = 0u;
    for (uint q = gl_SubgroupInvocationID; q < TILE_QUADS; q += SUBGROUP) {
        uint quad = tile * TILE_QUADS + q;
        uvec4 here = uvec4(0u);
        if (KEEPS_BY_VALUE != 0)
            here = quads_at(args.in0).v[quad];
        sum += popcount32(keep_quad(here, mark_of(quad), quad));
    }
    return subgroupAdd(sum);
}

/* How many are kept in all tiles before this one, by one subgroup. */
uint look_back(uint tile)
{
    uint lane = gl_SubgroupInvocationID, place = 0u, misses = 0u;
    uint end = tile; /* the tiles before this one are still to be added */
    while (true) {
        uint state = INCLUSIVE;
        if (lane < end)
            state = states_at(args.states).v[STATES_FIRST + end - 1u - lane];
        uvec4 known = subgroupBallot(state >= INCLUSIVE), silent = subgroupBallot(state == 0u);
        uint first_known = known == uvec4(0u) ? SUBGROUP : subgroupBallotFindLSB(known);
        uint first_silent = silent == uvec4(0u) ? SUBGROUP : subgroupBallotFindLSB(silent);
        uint usable = min(first_known + 1u, first_silent);
        uint part = state & (state >= INCLUSIVE ? INCLUSIVE - 1u : PARTIAL - 1u);
        place += subgroupAdd(lane < usable ? part : 0u);
        if (first_known < first_silent)
            return place;
        end -= usable;
        misses = usable == 0u ? misses + 1u : 0u;
        if (misses > LOOKS) {
            end--;
            uint count = count_neighbour(end);
            if (lane == 0u)
                atomicMax(states_at(args.states).v[STATES_FIRST + end], PARTIAL | count);
            place += count;
            misses = 0u;
        }
    }
}

uint value_at(uint k, uint j)
{
    return values[k][j];
}
uint position_at(uint k, uint j)
{
    return args.first_index + tile_of_group() * TILE_ITEMS + 4u * quad_at(k) + j;
}

void main()
{
    uint local = gl_LocalInvocationID.x, lane = gl_SubgroupInvocationID;
    uint count = stream_length(args.length_at, args.bound);
    uint tile_count = max(1u, (count + (TILE_ITEMS - 1u)) / TILE_ITEMS);
    uint grid = GROUP * gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    for (uint i = group_index() * GROUP + local; i < args.clear_count; i += grid)
        words_at(args.clear).v[i] = 0u;
    if (TAKES_TICKETS) {
        if (local == 0u)
            tile_taken = atomicAdd(states_at(args.states).v[0], 1u);
        barrier();
    }
    uint tile = tile_of_group();
    if (tile >= tile_count)
        return;

    /* The last tile goes its own way: clamped loads cost registers. */
    uint first_quad = tile * TILE_QUADS;
    uint marks[QUADS];
    if (tile + 1u < tile_count) {
        [[unroll]] for (uint k = 0u; k < QUADS; k++) {
            uint quad = first_quad + quad_at(k);
            marks[k] = mark_of(quad);
            values[k] = READS_VALUES ? quads_at(args.in0).v[quad] : uvec4(0u);
        }
    } else {
        [[unroll]] for (uint k = 0u; k < QUADS; k++) {
            uint quad = first_quad + quad_at(k);
            marks[k] = 4u * quad < count ? mark_of(quad) : 0u;
            [[unroll]] for (uint j = 0u; j < 4u; j++) {
                uint i = 4u * quad + j;
                values[k][j] = READS_VALUES && i < count ? words_at(args.in0).v[i] : 0u;
            }
        }
    }
    uint bits = 0u;
    [[unroll]] for (uint k = 0u; k < QUADS; k++) {
        uint quad = first_quad + quad_at(k);
        bits |= (keep_quad(values[k], marks[k], quad) & valid_bits(4u * quad, count)) << (4u * k);
    }

    uint before, in_section = rank_section(bits);
    uint in_tile = count_tile(in_section, before);
    if (local == 0u)
        atomicExchange(states_at(args.states).v[STATES_FIRST + tile],
                       (tile == 0u ? INCLUSIVE : PARTIAL) | in_tile);
    uint next = 0u;
    if (HAS_OUT)
        STAGE(0u, next, bits, value_at)
    else if (HAS_INDICES)
        STAGE(0u, next, bits, position_at)

    uvec2 base = uvec2(0u);
    if (TOTALS == TOTALS_LATER)
        base = load64(args.totals);
    if (subgroup_index() == 0u) {
        uint place = look_back(tile);
        if (lane == 0u) {
            tile_place = place;
            if (tile != 0u)
                atomicExchange(states_at(args.states).v[STATES_FIRST + tile],
                               INCLUSIVE | (place + in_tile));
            if (tile + 1u == tile_count) {
                uvec2 total = add64(base, uvec2(place + in_tile, 0u));
                if (TOTALS != TOTALS_ALONE)
                    store64(address_add(args.totals, 8u, 0u), total);
                else if (IS_WIDE)
                    store64(args.totals, total);
                else if (!is_none(args.totals))
                    store_word(args.totals, 0u, total.x);
            }
        }
    }
    barrier();

    uvec2 start = add64(base, uvec2(tile_place + before, 0u));
    uint fit = in_section;
    if (args.capacity != 0xffffffffu) /* that many: as many as there can be */
        fit = fits(uvec2(args.capacity, 0u), start, in_section);
    if (HAS_OUT) {
        uvec2 to = address_at(args.out_at, start, 4u);
        for (uint begin = 0u; begin < fit; begin = next) {
            if (begin != 0u)
                STAGE(begin, next, bits, value_at)
            store_staged(address_of_word(to, begin), min(next, fit) - begin);
        }
    }
    if (HAS_INDICES) {
        uvec2 to = address_at(args.indices, start, 4u);
        for (uint begin = 0u; begin < fit; begin = next) {
            if (begin != 0u || HAS_OUT)
                STAGE(begin, next, bits, position_at)
            store_staged(address_of_word(to, begin), min(next, fit) - begin);
        }
    }
}
