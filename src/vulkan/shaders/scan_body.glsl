/* The modes of tml_scan's dispatches, for one type of sums. */
#include "kernels/sort.k.h"
ARGS_USE(scan_args)
#include "scan_tile.glsl"

/* base and total as in vk_scan_counts */
layout(constant_id = SCAN_SPEC_COUNTS) const bool OF_COUNTS = false;

/* The number that precedes the first element. */
sum_t base_sum()
{
    sum_t base = ZERO;
#if defined(SUM_MOST) && defined(SUM_U32)
    base = args.least_low;
#elif defined(SUM_MOST)
    base = uvec2(args.least_low, args.least_high);
#endif
    if (OF_COUNTS)
        base = ZERO;
    else if (!is_none(args.base))
        base = load_sum(args.base, 0u);
    else if (!is_none(args.start))
        base = add(base, code_of(load_sum(args.start, 0u)));
    return base;
}
void store_total(sum_t total)
{
    if (gl_LocalInvocationID.x != 0u)
        return;
#ifdef SUM_U32
    if (OF_COUNTS) {
        uvec2 base = is_none(args.base) ? uvec2(0u) : load64(args.base);
        if (!is_none(args.total))
            store64(args.total, add64(base, uvec2(total, 0u)));
        return;
    }
#endif
    if (!is_none(args.total))
        store_sum(args.total, 0u, number_of(total));
    if (!is_none(args.next_base))
        store_sum(args.next_base, 0u, total);
}

/* ---- look-back ------------------------------------------------------------------------------- */

/* Look-back is for integers only: float sums would vary with the order in which states are
 * published. */
#if defined(SUM_U32) || defined(SUM_U64)
#define LOOK_SUMS
#include "gpu/look_back.glsl"

/* The aggregate of a tile. The whole workgroup calls it. */
sum_t add_up(uint tile, uint count)
{
    sum_t own = ZERO, total;
    for (uint i = gl_LocalInvocationID.x; i < TILE; i += GROUP) {
        uint at = tile * TILE + i;
        sum_t x = load_element(args.in_at, min(at, count - 1u));
        own = add(own, at < count ? x : ZERO);
    }
    scan_subgroups(add_lanes(own), total);
    return total;
}

shared uint stuck_end;
shared sum_t sum_before;

/* The tile's exclusive prefix. If a predecessor is stuck, this workgroup sums that tile's elements
 * itself (fallback), so that no workgroup waits forever, in whatever order they run. If those
 * elements may be overwritten, the workgroup gives up instead: it sets args.stalled and publishes a
 * wrong prefix, which releases its successors. */
sum_t find_before(uint tile, sum_t own, uint count)
{
    uvec2 states = address_of_word(args.states, STATES_FIRST);
    uint end = tile;
    sum_t sum = ZERO;
    own = delay(tile, LATE, args.stalled) != 0u ? ZERO : own;
    if (gl_LocalInvocationID.x == 0u)
        publish(states, tile, tile == 0u ? INCLUSIVE : AGGREGATE, own);
    for (;;) {
        if (subgroup_index() == 0u) {
            uint stuck = look_back_row(states, end, sum);
            if (subgroupElect()) {
                if (GIVES_UP && stuck != 0u)
                    store_word(args.stalled, 0u, 1u);
                stuck_end = GIVES_UP ? 0u : stuck;
                sum_before = sum;
                if (stuck_end == 0u && publishes_prefix(tile, LATE))
                    publish(states, tile, INCLUSIVE, add(sum, own));
            }
        }
        barrier();
        end = stuck_end;
        if (end == 0u)
            return sum_before;
        end--;
        sum_t theirs = add_up(end, count);
        sum = add(sum, theirs);
        if (gl_LocalInvocationID.x == 0u)
            publish_for(states, end, AGGREGATE, theirs);
        barrier();
    }
}

shared uint ticket;

/* The workgroup's tile. A ticket guarantees that all preceding tiles have started. Waiting for the
 * ticket took 1 % of the time of 2^28 elements on an H200, and 8 % of 2^24. */
uint take_tile()
{
    uint groups = gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    for (uint i = group_index() * GROUP + gl_LocalInvocationID.x; i < args.clear_count;
         i += groups * GROUP)
        store_word(args.clear, i, 0u);
    if (!TAKES_TICKETS)
        return group_index();
    if (gl_LocalInvocationID.x == 0u)
        ticket = atomicAdd(word_at(args.states).bits, 1u);
    barrier();
    return ticket;
}
#endif

/* ---- all ------------------------------------------------------------------------------------- */

void main()
{
    uint count = stream_length(args.length_at, args.bound);
    uint tiles = max((count + TILE - 1u) / TILE, 1u);
    uint tile = group_index();
    bool is_alone = SCAN_MODE == SCAN_ALL || SCAN_MODE == SCAN_TILES;
    if (is_alone && tile != 0u)
        return;
    if (SCAN_MODE == SCAN_TILES) { /* the tiles' sums are the elements */
        count = tiles;
        tiles = (count + TILE - 1u) / TILE;
    }
#ifdef LOOK_SUMS
    if (SCAN_MODE == SCAN_ONE_PASS)
        tile = take_tile();
#endif
    sum_t before = base_sum();
    for (; tile < tiles; tile++) {
        tile_scan t = scan_tile(args.in_at, args.out_at, tile * TILE, count);
        if (SCAN_MODE == SCAN_SUMS) {
            if (gl_LocalInvocationID.x == 0u)
                store_sum(args.states, tile, t.total);
            return;
        }
#ifdef LOOK_SUMS
        if (SCAN_MODE == SCAN_ONE_PASS)
            before = add(before, find_before(tile, t.total, count));
#endif
        if (SCAN_MODE == SCAN_ADD)
            before = load_sum(args.states, tile);
        store_tile(args.out_at, count, t, before);
        before = add(before, t.total);
        if (tile == tiles - 1u && SCAN_MODE != SCAN_ADD)
            store_total(before);
        if (!is_alone)
            return;
        barrier();
    }
}
