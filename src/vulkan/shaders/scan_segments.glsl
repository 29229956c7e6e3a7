/* segmented tml_scan for integers, whose sums do not depend on the order: a segmented scan of the
 * whole stream, tile by tile, that restarts at head flags. A head flag is a bit, set where a
 * segment begins or the last segment ends. A workgroup finds the head flags of its tile by
 * searching the offsets while it waits for the tile's elements. So the stream is read and written
 * once, and each offset is read once.
 *
 * One pass by decoupled look-back. A tile's carry-out is the sum from its last head flag on. If a
 * tile has a head flag, nothing before the tile affects the carry-out: the carry-out is the tile's
 * inclusive prefix, and the tile publishes it at once and only once. Only tiles without a head flag
 * publish an aggregate first. A look-back is therefore a plain sum up to an inclusive prefix, as in
 * tml_scan. With short segments it ends at the preceding tile. A tile that begins with a head flag
 * does not look back.
 *
 * States that store a (carry, flag) pair with plain writes are known to lose carries if the caches
 * of running workgroups differ. This shader avoids that:
 * - every word of a state is written and read by atomics of device scope and contains its own flag,
 *   so it is neither stale next to a fresh flag nor torn (gpu/look_back.glsl);
 * - a tile publishes one sum per flag, and a tile with a head flag publishes once, so no order of
 *   the two can be wrong;
 * - vk_take_states provides zeroed words for all STATES_FIRST + words per tile;
 * - heads and sums in shared memory are complete at a barrier before they are read or published;
 * - a workgroup that gives up reports it.
 * Tests delay tiles, and make tiles withhold their prefix (LATE), so that software drivers also add
 * aggregates.
 *
 * Without forward progress: reduce, then scan. A tile's carry-out then loads only the elements that
 * count.
 *
 * After: Blelloch: Prefix Sums and Their Applications. 1990 (segmented scans); Sengupta, Harris,
 * Garland: Efficient Parallel Scan Algorithms for GPUs. 2008; Merrill, Garland: Single-pass
 * Parallel Prefix Scan with Decoupled Look-back. 2016. */
#include "scan_tile.glsl"

ARGS_USE(scan_segments_args)
layout(constant_id = SCAN_SPEC_WIDE) const bool IS_WIDE = false; /* offsets are u64 */

#define LOOK_SUMS
#include "gpu/look_back.glsl"

/* ---- offsets --------------------------------------------------------------------------------- */

/* Offset s of 0 ... segments. An offset that exceeds 32 bits becomes 2^32 - 1, which is past the
 * elements. */
uint offset_of(uint s)
{
    if (IS_WIDE)
        return load64_within(address_of(args.offsets, s, 8u), 0xffffffffu);
    return words_at(args.offsets).v[s];
}

/* The first of offsets low ... end - 1 that is at least value, or end if there is none. Each
 * subgroup searches for itself. */
uint first_not_below(uint value, uint low, uint end)
{
    while (low < end) {
        uint step = (end - low + (SUBGROUP - 1u)) / SUBGROUP;
        uint probe = low + gl_SubgroupInvocationID * step;
        bool is_below = offset_of(min(probe, end - 1u)) < value && probe < end;
        uint below = subgroupBallotBitCount(subgroupBallot(is_below));
        if (below == 0u)
            return low;
        end = min(end, low + below * step);
        low += (below - 1u) * step + 1u;
    }
    return low;
}

/* The same among all offsets. If segments have similar lengths, the result is near its linear
 * interpolation: probing around that position first saves two or three of six dependent loads for
 * 2^28 offsets. */
uint search_offsets(uint value)
{
    const uint STEP = 512u;
    uint end = args.segments + 1u;
    float part = min(float(value) / float(args.elements), 1.0);
    uint guess = min(uint(part * float(end)), end);
    uint from = max(guess, SUBGROUP / 2u * STEP) - SUBGROUP / 2u * STEP;
    uint probe = from + gl_SubgroupInvocationID * STEP;
    bool is_below = offset_of(min(probe, end - 1u)) < value && probe < end;
    uint below = subgroupBallotBitCount(subgroupBallot(is_below));
    uint low = below == 0u ? 0u : min(from + (below - 1u) * STEP + 1u, end);
    return first_not_below(value, low, below == SUBGROUP ? end : min(from + below * STEP, end));
}

/* Offsets shared_begin ... shared_end - 1 lie in the tile. */
shared uint shared_begin;
shared uint shared_end;

/* Has one barrier. */
void find_offsets(uint first)
{
    if (subgroup_index() < 2u) {
        uint at = search_offsets(first + subgroup_index() * TILE);
        if (subgroupElect() && subgroup_index() == 0u)
            shared_begin = at;
        if (subgroupElect() && subgroup_index() == 1u)
            shared_end = at;
    }
    barrier();
}

/* The end of the elements that are in segments: the last offset that is not past the elements. Each
 * subgroup searches for itself. */
uint find_cover_end()
{
    uint last = offset_of(args.segments);
    if (last <= args.elements)
        return last;
    uint at = first_not_below(args.elements + 1u, 0u, args.segments);
    return at == 0u ? 0u : offset_of(at - 1u);
}

/* ---- head flags ------------------------------------------------------------------------------ */

/* Head flags of the tile: element i's flag is bit i / 256 of word head_word(i). So the flags that
 * the lanes of a subgroup set together, or read together, are in different words and banks. */
/* words from the flags of a quad's element to those of its next one */
const uint HEAD_COLUMN = 72u;
shared uint heads[4u * HEAD_COLUMN];
uint head_word(uint i)
{
    return (i & 3u) * HEAD_COLUMN + (i >> 2 & 63u);
}
void set_head(uint i)
{
    atomicOr(heads[head_word(i)], 1u << (i >> 8));
}
bool is_head(uint i)
{
    return (heads[head_word(i)] >> (i >> 8) & 1u) != 0u;
}

/* Sets the head flags of the tile's offsets. A subgroup skips the rest of many equal offsets, which
 * have no element between them. The number of rounds is bounded in case offsets decrease. */
void set_heads(uint first)
{
    const uint EACH = 8u; /* loads in flight */
    uint share = (shared_end - shared_begin + (GROUP / SUBGROUP - 1u)) / (GROUP / SUBGROUP);
    uint at = shared_begin + subgroup_index() * share, end = min(at + share, shared_end);
    if (shared_end <= shared_begin)
        return;
    for (uint round = 0u; at < end && round < TILE; round++) {
        uint offsets[EACH];
        UNROLL for (uint k = 0u; k < EACH; k++)
            offsets[k] = offset_of(min(at + k * SUBGROUP + gl_SubgroupInvocationID, end - 1u));
        UNROLL for (uint k = 0u; k < EACH; k++)
            if (offsets[k] - first < TILE)
                set_head(offsets[k] - first);
        reconverge();
        uint last = subgroupShuffle(offsets[EACH - 1u], SUBGROUP - 1u);
        bool is_one = last == subgroupShuffle(offsets[0], 0u);
        at += EACH * SUBGROUP;
        if (is_one && at < end)
            at = first_not_below(last + 1u, at, end);
    }
}

/* Finds the tile's head flags. Has two barriers; another must precede the next call. */
void find_heads(uint tile, uint count)
{
    uint local = gl_LocalInvocationID.x;
    for (uint i = local; i < 4u * HEAD_COLUMN; i += GROUP)
        heads[i] = 0u;
    if (SCAN_MODE == SCAN_TILES) { /* tiles are the elements */
        barrier();
        for (uint i = local; i < TILE && tile * TILE + i < count; i += GROUP)
            if (words_at(args.heads).v[tile * TILE + i] != 0u)
                set_head(i);
    } else {
        find_offsets(tile * TILE);
        set_heads(tile * TILE);
    }
    barrier();
}

/* ---- a tile's carry-out ---------------------------------------------------------------------- */

/* The sum of elements first ... end - 1. */
sum_t sum_between(uint first, uint end)
{
    sum_t sum = ZERO, total;
    for (; first < end; first += GROUP) {
        uint i = first + gl_LocalInvocationID.x;
        sum_t x = load_element(args.in_at, min(i, end - 1u));
        sum = add(sum, i < end ? x : ZERO);
    }
    scan_subgroups(add_lanes(sum), total);
    return total;
}

/* Reduce, then scan: stores the tile's carry-out, and whether it has a head flag. */
void sum_tile(uint tile)
{
    uint first = tile * TILE, end = min(args.elements - first, TILE);
    find_offsets(first);
    bool has_head = shared_end > shared_begin;
    sum_t total;
    if (!has_head && end == TILE)
        total = scan_tile(args.in_at, args.in_at, first, args.elements).total;
    else
        total = sum_between(
            first + (has_head ? min(offset_of(shared_end - 1u) - first, end) : 0u), first + end);
    if (gl_LocalInvocationID.x != 0u)
        return;
    store_sum(args.states, tile, total);
    store_word(args.heads, tile, uint(has_head));
}

/* ---- segmented scan of a tile ---------------------------------------------------------------- */

/* The stretch of a subgroup: its elements; the head flags of the lane's quads, four bits per row;
 * and a bit for each row that has no head flag in the stretch before the quad (open). */
struct marked {
    stretch s;
    uint heads;
    uint is_open;
};

/* The quad's carry-out: its sum from its last head flag on. */
sum_t sum_of_quad(quad q, uint heads)
{
    sum_t sum = q.v[0];
    UNROLL for (uint c = 1u; c < 4u; c++) {
        sum_t through = add(sum, q.v[c]);
        sum = (heads >> c & 1u) != 0u ? q.v[c] : through;
    }
    return sum;
}

/* Inclusive scan over the lanes; a lane's sum begins at its lane begin. */
sum_t scan_lanes_from(sum_t x, uint begin)
{
    uint lane = gl_SubgroupInvocationID;
    for (uint step = 1u; step < SUBGROUP; step <<= 1) {
        sum_t both = add(lane_of(x, lane >= step ? lane - step : lane), x);
        x = lane >= begin + step ? both : x;
    }
    return x;
}

/* Sets before and is_open; open rows still lack the stretch's carry-in. Returns the stretch's
 * carry-out and whether the stretch has a head flag. */
sum_t scan_marked(inout marked m, out bool has_head)
{
    uint lane = gl_SubgroupInvocationID;
    sum_t sum = ZERO;
    has_head = false;
    m.is_open = 0u;
    UNROLL for (uint k = 0u; k < ROWS; k++) {
        uint own = m.heads >> (4u * k) & 15u;
        uvec4 lanes = subgroupBallot(own != 0u);
        uvec4 sooner = lanes & gl_SubgroupLtMask, through = lanes & gl_SubgroupLeMask;
        bool is_open = sooner == uvec4(0u);
        uint begin = through == uvec4(0u) ? 0u : subgroupBallotFindMSB(through);
        sum_t sums = scan_lanes_from(sum_of_quad(m.s.quads[k], own), begin);
        sum_t before = lane_of(sums, max(lane, 1u) - 1u);
        before = lane == 0u ? ZERO : before;
        sum_t with_rows = add(sum, before);
        m.s.before[k] = is_open ? with_rows : before;
        m.is_open |= is_open && !has_head ? 1u << k : 0u;
        sum_t row = lane_of(sums, SUBGROUP - 1u);
        sum_t with_row = add(sum, row);
        bool is_plain_row = lanes == uvec4(0u);
        sum = is_plain_row ? with_row : row;
        has_head = has_head || !is_plain_row;
    }
    return sum;
}

quad scan_marked_quad(quad q, uint heads, sum_t before)
{
    quad sums;
    UNROLL for (uint c = 0u; c < 4u; c++) {
        before = (heads >> c & 1u) != 0u ? ZERO : before;
        sum_t through = add(before, q.v[c]);
        sums.v[c] = IS_INCLUSIVE ? through : before;
        before = through;
    }
    return sums;
}

struct marked_tile {
    marked mine;
    sum_t before;   /* carry-in of the stretch from the tile's stretches before it */
    bool is_open;   /* if none of them has a head flag, the tile's carry-in is added */
    sum_t total;    /* carry-out of the tile, if it has a head flag, or its aggregate */
    bool has_head;
};

shared sum_t stretch_sums[SUBGROUPS_MAX];
shared bool stretch_heads[SUBGROUPS_MAX];

/* Has three barriers; another must precede the next call. */
marked_tile scan_marked_tile(uvec2 in_at, uint tile, uint count)
{
    uint first = tile * TILE, in_tile = subgroup_index() * STRETCH;
    marked_tile t;
    load_stretch(in_at, first + in_tile, count, is_plain(in_at, in_at, first + TILE, count),
                 t.mine.s);
    find_heads(tile, count);
    t.mine.heads = 0u;
    UNROLL for (uint k = 0u; k < ROWS; k++)
        UNROLL for (uint c = 0u; c < 4u; c++)
            t.mine.heads |= uint(is_head(in_tile + quad_place(k) + c)) << (4u * k + c);
    sum_t own = scan_marked(t.mine, t.has_head);
    if (subgroupElect()) {
        stretch_sums[subgroup_index()] = own;
        stretch_heads[subgroup_index()] = t.has_head;
    }
    barrier();
    t.total = t.before = ZERO;
    t.has_head = t.is_open = false;
    for (uint s = 0u; s < GROUP / SUBGROUP; s++) {
        if (s == subgroup_index()) {
            t.before = t.total;
            t.is_open = !t.has_head;
        }
        sum_t through = add(t.total, stretch_sums[s]);
        t.total = stretch_heads[s] ? stretch_sums[s] : through;
        t.has_head = t.has_head || stretch_heads[s];
    }
    return t;
}

/* Stores elements cover_first ... cover_end - 1. */
void store_marked_tile(marked_tile t, uvec2 out_at, uint first, sum_t carry, uint cover_first,
                       uint cover_end)
{
    uint begin = first + subgroup_index() * STRETCH;
    sum_t with_carry = add(carry, t.before), before = t.is_open ? with_carry : t.before;
    bool plain = (out_at.x & 15u) == 0u && first >= cover_first && first + TILE <= cover_end;
    UNROLL for (uint k = 0u; k < ROWS; k++) {
        sum_t with_all = add(before, t.mine.s.before[k]);
        quad q = scan_marked_quad(t.mine.s.quads[k], t.mine.heads >> (4u * k) & 15u,
                                  (t.mine.is_open >> k & 1u) != 0u ? with_all : t.mine.s.before[k]);
        uint at = begin + quad_place(k);
        if (plain) {
            store_quad(out_at, at >> 2, q);
        } else {
            UNROLL for (uint c = 0u; c < 4u; c++)
                if (at + c >= cover_first && at + c < cover_end)
                    store_sum(out_at, at + c, q.v[c]);
        }
    }
}

/* ---- look-back ------------------------------------------------------------------------------- */

shared uint ticket;
shared sum_t shared_carry;

/* The workgroup's tile. */
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

/* Publishes the tile's state and returns its carry-in. If a predecessor is stuck, sets args.stalled
 * and publishes a wrong prefix, which releases the tile's successors. */
sum_t find_carry(uint tile, marked_tile t)
{
    uvec2 states = address_of_word(args.states, STATES_FIRST);
    sum_t total = delay(tile, LATE, args.stalled) != 0u ? ZERO : t.total;
    if (gl_LocalInvocationID.x == 0u)
        publish(states, tile, tile == 0u || t.has_head ? INCLUSIVE : AGGREGATE, total);
    if (tile == 0u || is_head(0u))
        return ZERO;
    if (subgroup_index() == 0u) {
        uint end = tile;
        sum_t sum = ZERO;
        uint stuck = look_back_row(states, end, sum);
        if (subgroupElect()) {
            if (stuck != 0u)
                store_word(args.stalled, 0u, 1u);
            shared_carry = sum;
            if (!t.has_head && publishes_prefix(tile, LATE))
                publish(states, tile, INCLUSIVE, add(sum, total));
        }
    }
    barrier();
    return shared_carry;
}

void main()
{
    bool is_of_tiles = SCAN_MODE == SCAN_TILES, is_alone = SCAN_MODE == SCAN_ALL || is_of_tiles;
    uint count = args.elements, tiles = (count + (TILE - 1u)) / TILE, tile = group_index();
    if (is_alone && tile != 0u)
        return;
    if (is_of_tiles) {
        count = tiles;
        tiles = (count + (TILE - 1u)) / TILE;
    }
    if (SCAN_MODE == SCAN_ONE_PASS)
        tile = take_tile();
    uvec2 in_at = is_of_tiles ? args.states : args.in_at,
          out_at = is_of_tiles ? in_at : args.out_at;
    uint cover_first = is_of_tiles ? 0u : offset_of(0u);
    uint cover_end = is_of_tiles ? count : find_cover_end();
    sum_t carry = ZERO;
    for (; tile < tiles; tile++) {
        if (SCAN_MODE == SCAN_SUMS) {
            sum_tile(tile);
            return;
        }
        marked_tile t = scan_marked_tile(in_at, tile, count);
        if (SCAN_MODE == SCAN_ONE_PASS)
            carry = find_carry(tile, t);
        if (SCAN_MODE == SCAN_ADD && tile > 0u)
            carry = load_sum(args.states, tile - 1u);
        store_marked_tile(t, out_at, tile * TILE, carry, cover_first, cover_end);
        if (!is_alone)
            return;
        sum_t through = add(carry, t.total);
        carry = t.has_head ? t.total : through;
        barrier();
    }
}
