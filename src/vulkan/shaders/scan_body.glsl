/* The modes of tml_scan's dispatches, for one type of sums. */
#include "scan_tile.glsl"

ARGS_USE(scan_args)
layout(constant_id = 4) const uint SPINS = 16u; /* polls before a predecessor counts as stuck */
layout(constant_id = 5) const bool CAN_HELP = false; /* the fallback may read a predecessor's elements */
layout(constant_id = 6) const bool OF_COUNTS = false; /* base and total as in vk_scan_counts */
layout(constant_id = 7) const bool TAKES_TICKETS = true;

sum_t base_sum()
{
    return OF_COUNTS || is_none(args.base) ? ZERO : load_sum(args.base, 0u);
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
        store_sum(args.total, 0u, total);
    if (!is_none(args.next_base))
        store_sum(args.next_base, 0u, total);
}

/* ---- look-back ------------------------------------------------------------------------------- */

/* A tile's state: words with 16 bits of a sum each and, above them, a flag that says which sum. A
 * tile publishes one sum for each flag, so words with the same flag belong together. */
#ifdef SUM_U32
#define LOOK_BACK
const uint PARTS = 2u;
uvec4 parts_of(uint x)
{
    return uvec4(x & 0xffffu, x >> 16, 0u, 0u);
}
uint sum_of_parts(uvec4 parts)
{
    return (parts.x & 0xffffu) | parts.y << 16;
}
#endif
#ifdef SUM_U64
#define LOOK_BACK
const uint PARTS = 4u;
uvec4 parts_of(uvec2 x)
{
    return uvec4(x.x & 0xffffu, x.x >> 16, x.y & 0xffffu, x.y >> 16);
}
uvec2 sum_of_parts(uvec4 parts)
{
    return uvec2((parts.x & 0xffffu) | parts.y << 16, (parts.z & 0xffffu) | parts.w << 16);
}
#endif

#ifdef LOOK_BACK
const uint IS_SUM = 1u << 16;    /* the tile's aggregate */
const uint IS_PREFIX = 2u << 16; /* the tile's inclusive prefix */
const uint FLAGS = 3u << 16;

uvec2 state_address(uint tile)
{
    return address_of_word(args.states, 4u + tile * PARTS);
}
void publish(uint tile, uint flag, sum_t sum)
{
    uvec4 parts = parts_of(sum) | flag;
    for (uint p = 0u; p < PARTS; p++)
        atomicExchange(word_at(address_of_word(state_address(tile), p)).bits, parts[p]);
}
/* Publishes the aggregate of another workgroup's tile, unless that has published by itself. */
void publish_for(uint tile, sum_t sum)
{
    uvec4 parts = parts_of(sum) | IS_SUM;
    for (uint p = 0u; p < PARTS; p++)
        atomicMax(word_at(address_of_word(state_address(tile), p)).bits, parts[p]);
}
/* The flag, or 0 if the words disagree. */
uint look_at(uint tile, out sum_t sum)
{
    uvec2 state = state_address(tile);
    uvec4 parts = uvec4(0u);
    for (uint p = 0u; p < PARTS; p++)
        parts[p] = ATOMIC_LOAD(words_at(state).v[p]);
    uint flag = parts[0] & FLAGS;
    for (uint p = 1u; p < PARTS; p++)
        flag = flag == (parts[p] & FLAGS) ? flag : 0u;
    sum = sum_of_parts(parts);
    return flag;
}

sum_t add_lanes(sum_t x)
{
#ifdef SUM_U32
    return subgroupAdd(x);
#else
    return lane_of(scan_lanes(x), SUBGROUP - 1u);
#endif
}

const uint NOBODY = 0xffffffffu;

/* Look-back by one subgroup: adds the states of the tiles before end to sum, nearest first, one per lane.
 * Returns NOBODY if sum is complete. Else returns a stuck tile; end is then its index, and sum lacks it. */
uint look_back(inout uint end, inout sum_t sum)
{
    uint lane = gl_SubgroupInvocationID;
    for (;;) {
        sum_t theirs = ZERO;
        bool is_there = false;
        uint stuck = 0u, nearest = SUBGROUP;
        for (uint spin = 0u; spin < SPINS; spin++) {
            /* Before the first tile the prefix is 0. */
            uint flag = look_at(lane < end ? end - 1u - lane : 0u, theirs);
            flag = lane < end ? flag : IS_PREFIX;
            theirs = lane < end ? theirs : ZERO;
            uvec4 prefixes = subgroupBallot(flag == IS_PREFIX);
            uvec4 missing = subgroupBallot(flag == 0u);
            nearest = prefixes == uvec4(0u) ? SUBGROUP : subgroupBallotFindLSB(prefixes);
            stuck = missing == uvec4(0u) ? SUBGROUP : subgroupBallotFindLSB(missing);
            is_there = stuck > nearest || stuck == SUBGROUP;
            if (is_there)
                break;
        }
        uint usable = is_there ? nearest + 1u : stuck;
        sum = add(sum, add_lanes(lane < usable ? theirs : ZERO));
        if (!is_there) {
            end -= stuck + 1u;
            return end;
        }
        if (nearest < SUBGROUP)
            return NOBODY;
        end -= SUBGROUP;
    }
}

/* The aggregate of a tile, by the workgroup. */
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

shared uint stuck_tile;
shared sum_t sum_before;

/* The tile's exclusive prefix. If a predecessor is stuck, this workgroup sums that tile's elements itself
 * (fallback), so that none waits forever, in whatever order workgroups run. Without CAN_HELP they may be
 * overwritten: it sets args.stalled and publishes a wrong prefix, which releases its successors. */
sum_t find_before(uint tile, sum_t own, uint count)
{
    bool looks = subgroup_index() == 0u;
    uint end = tile;
    sum_t sum = ZERO;
    if (gl_LocalInvocationID.x == 0u)
        publish(tile, tile == 0u ? IS_PREFIX : IS_SUM, own);
    for (;;) {
        if (looks) {
            uint stuck = look_back(end, sum);
            bool gives_up = !CAN_HELP && stuck != NOBODY;
            stuck = CAN_HELP ? stuck : NOBODY;
            if (subgroupElect()) {
                if (gives_up)
                    store_word(args.stalled, 0u, 1u);
                stuck_tile = stuck;
                sum_before = sum;
                if (stuck == NOBODY && tile != 0u)
                    publish(tile, IS_PREFIX, add(sum, own));
            }
        }
        barrier();
        uint stuck = stuck_tile;
        if (stuck == NOBODY)
            return sum_before;
        sum_t theirs = add_up(stuck, count);
        sum = add(sum, theirs);
        if (gl_LocalInvocationID.x == 0u)
            publish_for(stuck, theirs);
        barrier();
    }
}

shared uint ticket;

/* The workgroup's tile. A ticket guarantees that the tiles before it have started; waiting for it
 * took 1 % of the time of 2^28 elements on an H200, 8 % of 2^24. */
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
#ifdef LOOK_BACK
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
#ifdef LOOK_BACK
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
