/* The dispatches of tml_scan_segments for integers, whose sums do not depend on the order: a
 * segmented scan of the whole stream, tile by tile, that restarts at head flags. A head flag (mark)
 * is a bit, set where a segment begins or the last one ends.
 *
 * Reduce, then scan: a tile's carry-out is the sum from its last head flag on. Only those elements
 * are loaded for it, so short segments cost one read and one write of the stream. 2^28 u32 in
 * segments of ten, on an H200: 0.90 ms; 4.2 ms with a subgroup or an invocation per segment.
 *
 * After: Blelloch: Prefix Sums and Their Applications. 1990 (segmented scans); Sengupta, Harris,
 * Garland: Efficient Parallel Scan Algorithms for GPUs. 2008. */
#include "scan_tile.glsl"
#include "segments.glsl"

/* Sets head flags, at most one per lane. Elements do not decrease over the lanes, and lanes of one word
 * share an atomic. (Without that 2^28 elements in segments of two took 2.2 instead of 1.5 ms on an H200.) */
void set_marks(uvec2 marks, uint i, bool wants)
{
    uint lane = gl_SubgroupInvocationID, word = i >> 5, bits = wants ? 1u << (i & 31u) : 0u;
    for (uint step = 1u; step < SUBGROUP; step <<= 1) {
        uint other = min(lane + step, SUBGROUP - 1u);
        uint its_word = subgroupShuffle(word, other), its_bits = subgroupShuffle(bits, other);
        bits |= its_word == word ? its_bits : 0u;
    }
    uint sooner = subgroupShuffle(word, max(lane, 1u) - 1u);
    if ((lane == 0u || sooner != word) && bits != 0u)
        atomicOr(words_at(marks).v[word], bits);
}

/* Offset s of 0 ... last: sets its head flag, and the bounds of the elements in segments. Of equal
 * offsets the first sets the flag. All lanes call it together. */
void mark_offset(uint s, uint last)
{
    bool is_there = s <= last;
    s = min(s, last);
    uvec2 own = offset_of(s), sooner = offset_of(max(s, 1u) - 1u), later = offset_of(min(s + 1u, last));
    bool is_within = own.y == 0u && own.x <= args.elements;
    bool is_first = s == 0u || any(notEqual(own, sooner));
    set_marks(args.marks, own.x, is_there && is_within && own.x < args.elements && is_first);
    if (is_within && s == 0u)
        words_at(args.counters).v[SEGMENTS_COVER_FIRST] = own.x;
    if (is_within && (s == last || later.y != 0u || later.x > args.elements))
        words_at(args.counters).v[SEGMENTS_COVER_END] = own.x;
}

/* ---- a tile's carry-out ----------------------------------------------------------------------- */

shared uint last_marks[SUBGROUPS_MAX];

/* Index in the tile of its last head flag, plus 1; 0: there is none. */
uint find_last_mark(uint tile)
{
    uint last = 0u, words = TILE / 32u;
    for (uint first = 0u; first < words; first += GROUP) {
        uint w = min(first + gl_LocalInvocationID.x, words - 1u);
        uint bits = words_at(args.marks).v[tile * words + w];
        last = bits != 0u ? 32u * w + uint(findMSB(bits)) + 1u : last;
    }
    last = subgroupMax(last);
    if (subgroupElect())
        last_marks[subgroup_index()] = last;
    barrier();
    for (uint s = 0u; s < GROUP / SUBGROUP; s++)
        last = max(last, last_marks[s]);
    return last;
}

/* The sum of elements first ... end - 1. */
sum_t sum_between(uint first, uint end)
{
    sum_t sum = ZERO, total;
    for (; first < end; first += GROUP) {
        uint i = first + gl_LocalInvocationID.x;
        sum_t x = load_element(args.in_at, min(i, end - 1u));
        sum = add(sum, i < end ? x : ZERO);
    }
    scan_subgroups(lane_of(scan_lanes(sum), SUBGROUP - 1u), total);
    return total;
}

void sum_tile(uint tile)
{
    uint first = tile * TILE, last = find_last_mark(tile);
    sum_t total;
    if (last == 0u && first + TILE <= args.elements)
        total = scan_tile(args.in_at, args.in_at, first, args.elements).total;
    else
        total = sum_between(first + max(last, 1u) - 1u, min(first + TILE, args.elements));
    if (gl_LocalInvocationID.x != 0u)
        return;
    store_sum(args.results, tile, total);
    if (last != 0u)
        atomicOr(words_at(args.tile_marks).v[tile >> 5], 1u << (tile & 31u));
}

/* ---- segmented scans --------------------------------------------------------------------------- */

/* A subgroup's stretch; the head flags of a lane's quads, four bits per row; and a bit for each row
 * that has no head flag in the stretch before the quad (open). */
struct marked {
    stretch s;
    uint marks;
    uint is_open;
};

uint marks_of_quad(uvec2 marks, uint at)
{
    return words_at(marks).v[at >> 5] >> (at & 31u) & 15u;
}

/* The quad's carry-out: its sum from its last head flag on. */
sum_t sum_of_quad(quad q, uint marks)
{
    sum_t sum = q.v[0];
    UNROLL for (uint c = 1u; c < 4u; c++) {
        sum_t through = add(sum, q.v[c]);
        sum = (marks >> c & 1u) != 0u ? q.v[c] : through;
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

/* Fills before and is_open; open rows still lack the stretch's carry-in. Returns the stretch's
 * carry-out, and whether it has a head flag. */
sum_t scan_marked(inout marked m, out bool has_mark)
{
    uint lane = gl_SubgroupInvocationID;
    sum_t sum = ZERO;
    has_mark = false;
    m.is_open = 0u;
    UNROLL for (uint k = 0u; k < ROWS; k++) {
        uint marks = m.marks >> (4u * k) & 15u;
        uvec4 lanes = subgroupBallot(marks != 0u);
        uvec4 sooner = lanes & gl_SubgroupLtMask, through = lanes & gl_SubgroupLeMask;
        bool is_open = sooner == uvec4(0u);
        uint begin = through == uvec4(0u) ? 0u : subgroupBallotFindMSB(through);
        sum_t sums = scan_lanes_from(sum_of_quad(m.s.quads[k], marks), begin);
        sum_t before = lane_of(sums, max(lane, 1u) - 1u);
        before = lane == 0u ? ZERO : before;
        sum_t with_rows = add(sum, before);
        m.s.before[k] = is_open ? with_rows : before;
        m.is_open |= is_open && !has_mark ? 1u << k : 0u;
        sum_t row = lane_of(sums, SUBGROUP - 1u);
        sum_t with_row = add(sum, row);
        bool is_plain_row = lanes == uvec4(0u);
        sum = is_plain_row ? with_row : row;
        has_mark = has_mark || !is_plain_row;
    }
    return sum;
}

quad scan_marked_quad(quad q, uint marks, sum_t before)
{
    quad sums;
    UNROLL for (uint c = 0u; c < 4u; c++) {
        before = (marks >> c & 1u) != 0u ? ZERO : before;
        sum_t through = add(before, q.v[c]);
        sums.v[c] = IS_INCLUSIVE ? through : before;
        before = through;
    }
    return sums;
}

shared sum_t marked_sums[SUBGROUPS_MAX];
shared bool are_marked[SUBGROUPS_MAX];

/* Segmented scan of the tile at element first of count, with carry-in carry; stores elements
 * cover_first ... cover_end - 1. Returns the carry-out. Has one barrier; another must precede the
 * next call. */
sum_t scan_marked_tile(uvec2 in_at, uvec2 out_at, uvec2 marks_at, uint first, uint count,
                       sum_t carry, uint cover_first, uint cover_end)
{
    marked m;
    uint begin = first + subgroup_index() * STRETCH;
    load_stretch(in_at, begin, count, is_plain(in_at, in_at, first + TILE, count), m.s);
    m.marks = 0u;
    UNROLL for (uint k = 0u; k < ROWS; k++)
        m.marks |= marks_of_quad(marks_at, begin + quad_place(k)) << (4u * k);
    bool has_mark;
    sum_t own = scan_marked(m, has_mark);
    if (subgroupElect()) {
        marked_sums[subgroup_index()] = own;
        are_marked[subgroup_index()] = has_mark;
    }
    barrier();
    sum_t before = carry;
    for (uint s = 0u; s < GROUP / SUBGROUP; s++) {
        sum_t through = add(carry, marked_sums[s]);
        carry = are_marked[s] ? marked_sums[s] : through;
        before = s < subgroup_index() ? carry : before;
    }
    bool plain = (out_at.x & 15u) == 0u && first >= cover_first && first + TILE <= cover_end;
    UNROLL for (uint k = 0u; k < ROWS; k++) {
        sum_t with_all = add(before, m.s.before[k]);
        quad q = scan_marked_quad(m.s.quads[k], m.marks >> (4u * k) & 15u,
                                  (m.is_open >> k & 1u) != 0u ? with_all : m.s.before[k]);
        uint at = begin + quad_place(k);
        if (plain) {
            store_quad(out_at, at >> 2, q);
        } else {
            UNROLL for (uint c = 0u; c < 4u; c++)
                if (at + c >= cover_first && at + c < cover_end)
                    store_sum(out_at, at + c, q.v[c]);
        }
    }
    return carry;
}

void main()
{
    uint groups = gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    uint tiles = (args.elements + TILE - 1u) / TILE;
    if (SCAN_MODE == SEGMENTS_FIND) {
        uint first = group_index() * SEGMENTS_FIND_EACH;
        for (uint s = first; s < first + SEGMENTS_FIND_EACH && s <= args.segments; s += GROUP)
            mark_offset(s + gl_LocalInvocationID.x, args.segments);
        return;
    }
    if (SCAN_MODE == SEGMENTS_LONG) { /* one workgroup; the elements are the tiles' carry-outs */
        sum_t carry = ZERO;
        for (uint first = 0u; first < tiles; first += TILE) {
            carry = scan_marked_tile(args.results, args.results, args.tile_marks, first, tiles,
                                     carry, 0u, tiles);
            barrier();
        }
    } else {
        uint tile = group_index();
        if (tile >= tiles)
            return;
        if (SCAN_MODE == SEGMENTS_TILES) {
            sum_tile(tile);
            return;
        }
        sum_t carry = ZERO;
        if (tile > 0u)
            carry = load_sum(args.results, tile - 1u);
        scan_marked_tile(args.in_at, args.out_at, args.marks, tile * TILE, args.elements, carry,
                         counter(SEGMENTS_COVER_FIRST), counter(SEGMENTS_COVER_END));
    }
}
