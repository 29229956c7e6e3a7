/* tml_reduce of segments in one dispatch, in which no workgroup waits. Segments and elements are
 * merged: segment s has position offset + s, before its first element. Each workgroup processes an
 * equal range of positions, so all do the same amount of work, whatever the segments' lengths
 * (merge path: Merrill, Garland: Merge-based parallel sparse matrix-vector multiplication. 2016). A
 * workgroup processes the segments that begin in its range:
 *   short segments     are staged in shared memory, so that loads are coalesced, and folded by one
 *                      invocation each;
 *   middling segments  are folded by one subgroup each;
 *   long segments      are cut into the tiles of tml_reduce. A tile is folded by the workgroup in
 *                      whose range it begins. The last workgroup of a segment's fan (FOLD_FAN
 *                      tiles) to finish joins the fan, and the last workgroup to complete a fan
 *                      joins the segment.
 * Sums use the reduction tree of reduce_fold.glsl, with pieces counted from the segment's first
 * element. If offsets decrease within a round of 256 segments, the round's results are not
 * written. */
#define FOLD_ROLLED
#define FOLD_STAGED 2560u /* words: with the rest less than the 16 KiB that every device has */
#include "last.glsl"
#include "reduce_fold.glsl"

ARGS_USE(segments_reduce_args)

const uint SHORT_MOST = PIECES << PIECE_LOG2;
/* Up to PIECES pieces per lane of a subgroup, all in a tile's first row. */
const uint MIDDLING_MOST = (SUBGROUP * PIECES > GROUP ? GROUP : SUBGROUP * PIECES) << PIECE_LOG2;

struct segment {
    uint first;
    uint count;
};

shared uint range_ends[2];       /* the first segment of this range and of the next one */
/* A round's lists: middling segments from the front, long segments from the back. */
shared uint listed[GROUP], listed_first[GROUP], listed_count[GROUP];
shared uint middling_count, long_count, fell;
/* elements: the first of the next short segment, the end of the last */
shared uint next_short, short_end;

/* ---- segments -------------------------------------------------------------------------------- */

/* set by main, as the following variables: of the stream, of elements in segments */
uint segments_now, elements_now;
bool is_wide, has_starts;

/* Offset s, clamped to the number of elements, so that the segment before an offset past the end is
 * empty. Few branches: drivers inline this function often. */
uint offset_of(uint s, out bool is_within)
{
    uvec2 offset = uvec2(elements_now, 0u);
    if (!has_starts || s < segments_now) {
        uvec2 at = address_of(args.offsets, s, is_wide ? 8u : 4u);
        uint high = LOAD_U32(at, uint(is_wide)); /* else the low word again */
        offset = uvec2(LOAD_U32(at, 0u), is_wide ? high : 0u);
    }
    is_within = offset.y == 0u && offset.x <= args.elements;
    return is_within ? offset.x : args.elements;
}
segment segment_of(uint s)
{
    bool is_within;
    uint first = offset_of(s, is_within), end = offset_of(s + 1u, is_within);
    return segment(first, is_within && first <= end ? end - first : 0u);
}

/* ---- ranges of positions --------------------------------------------------------------------- */

uvec2 range_first(uint group)
{
    return uvec2(group << args.each_log2, group >> (32u - args.each_log2));
}
uvec2 position_of(uint s)
{
    bool is_within;
    return add64(uvec2(offset_of(s, is_within), 0u), uvec2(s, 0u));
}
bool less64(uvec2 a, uvec2 b)
{
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}
/* The difference of two ascending positions, at most 0xffffffff. */
uint between(uvec2 a, uvec2 b)
{
    uvec2 n = add64(b, add64(~a, uvec2(1u, 0u)));
    return n.y != 0u ? 0xffffffffu : n.x;
}

/* The first segment whose position is at least `position`, or the number of segments. Called by a
 * subgroup. */
uint find_segment(uvec2 position)
{
    uint low = 0u, high = segments_now;
    while (low < high) {
        uint each = (high - low - 1u) / SUBGROUP + 1u, s = low + gl_SubgroupInvocationID * each;
        bool is_less = less64(position_of(min(s, high - 1u)), position) && s < high;
        uint less = subgroupBallotBitCount(subgroupBallot(is_less));
        if (less == 0u)
            return low;
        high = min(high, low + less * each);
        low += (less - 1u) * each + 1u;
    }
    return low;
}

/* ---- elements -------------------------------------------------------------------------------- */

uvec2 address_of_element(uint i)
{
    return address_of(args.in_at, i, 1u << SIZE_LOG2);
}
void store_segment(uint s, segment span, fold_state f)
{
    fold_store(args.out_at, s, f, uvec2(span.first, 0u), uvec2(span.count, 0u));
}

/* Folds pieces first ... first + pieces - 1, at most PIECES, of count elements. */
fold_state fold_some(uvec2 address, uint count, uint first, uint pieces)
{
    piece_fold fold;
    for (uint k = 0u; k < PIECES; k++) {
        uint i = first + k;
        uvec4 piece = neutral_piece();
        if (k < pieces && i << PIECE_LOG2 < count)
            piece = load_piece(address, i, count);
        add_piece(fold, piece, k, i << PIECE_LOG2, false);
    }
    return end_pieces(fold);
}

/* Folds a round's short segments, one per invocation, in windows of shared memory. */
void fold_short(uint s, segment span, bool is_short)
{
    uint t = gl_LocalInvocationID.x, end = span.first + span.count;
    if (is_short && span.count == 0u)
        store_segment(s, span, fold_nothing());
    bool is_open = is_short && span.count > 0u;
    while (true) {
        uint next = subgroupMin(is_open ? span.first : 0xffffffffu);
        if (subgroupElect())
            atomicMin(next_short, next);
        barrier();
        uint first = next_short;
        if (first == 0xffffffffu)
            break;
        uvec2 from = address_of_element(first);
        from.x &= ~3u;
        uint window_end = min(short_end, first + ((4u * FOLD_STAGED - 8u) >> SIZE_LOG2));
        uint words = (address_of_element(window_end).x - from.x + 3u) / 4u;
        for (uint w = t; w < words; w += GROUP)
            staged[w] = LOAD_U32(from, w);
        barrier();
        if (t == 0u)
            next_short = 0xffffffffu;
        if (is_open && end <= window_end) {
            uvec2 at = uvec2(address_of_element(span.first).x - from.x, STAGED);
            store_segment(s, span, fold_some(at, span.count, 0u, PIECES));
            is_open = false;
        }
        barrier();
    }
}

void fold_middling()
{
    uint lane = gl_SubgroupInvocationID;
    for (uint i = subgroup_index(); i < middling_count; i += GROUP / SUBGROUP) {
        segment span = segment(listed_first[i], listed_count[i]);
        bool is_row = span.count <= SUBGROUP << PIECE_LOG2; /* a piece per lane is enough */
        fold_state f =
            fold_subgroup(fold_some(address_of_element(span.first), span.count,
                                    is_row ? lane : lane * PIECES, is_row ? 1u : PIECES));
        if (subgroupElect())
            store_segment(listed[i], span, f);
    }
}

/* ---- long segments --------------------------------------------------------------------------- */

/* Each range of positions has slots in args.results: for the result of the tile that begins in it,
 * and of the fan that begins with that tile; one of each for a segment that begins in the range,
 * and one of each for a segment that begins earlier. Its words in args.counters count the completed
 * fans of the segment, and the completed tiles of the segment's first fan and of a later fan. */
uint tile_slot(uint group, uint tile)
{
    return 4u * (group + (tile << (TILE_LOG2 - args.each_log2))) + uint(tile > 0u);
}
uvec2 counter_at(uint group, uint i)
{
    return address_of_word(args.counters, 3u * group + i);
}

/* Folds a tile of segment s, which begins in the range of workgroup `group`. All invocations call
 * it. */
void fold_long(uint s, segment span, uint group, uint tile)
{
    uint t = gl_LocalInvocationID.x, begin = tile << TILE_LOG2,
         tiles = (span.count - 1u >> TILE_LOG2) + 1u;
    barrier();
    fold_state f = fold_tile(address_of_element(span.first + begin), 0u,
                             min(span.count - begin, 1u << TILE_LOG2));
    f.at += begin;
    if (tiles > 1u) {
        uint most = min(FOLD_FAN, args.pass_tiles), fan = tile / most,
             fans = (tiles - 1u) / most + 1u;
        uint first = fan * most, here = min(tiles - first, most);
        if (t == 0u)
            put_result(args.results, tile_slot(group, tile), f);
        uvec2 counter =
            fan == 0u ? counter_at(group, 1u) : counter_at(tile_slot(group, first) / 4u, 2u);
        if (!is_last_of(counter, here, 1u))
            return;
        f = get_result(args.results, tile_slot(group, first + min(t, here - 1u)));
        f = fold_group(fold_choose(t < here, f, fold_nothing()));
        if (t == 0u)
            put_result(args.results, tile_slot(group, first) + 2u, f);
        barrier();
        if (!is_last_of(counter_at(group, 0u), fans, 1u))
            return;
        uint pass = args.pass_tiles / most; /* fans in a pass of tml_reduce */
        for (uint end = 0u; end < fans;) {
            uint begin_fan = end;
            end = min(end + pass, fans);
            uint each = (end - begin_fan + GROUP - 1u) / GROUP;
            fold_state mine = fold_nothing();
            for (uint k = 0u; k < each; k++) {
                uint i = begin_fan + t * each + k;
                fold_state other =
                    get_result(args.results, tile_slot(group, min(i, end - 1u) * most) + 2u);
                mine = fold_join(mine, fold_choose(i < end, other, fold_nothing()));
            }
            barrier();
            mine = fold_group(mine);
            f = begin_fan == 0u ? mine : fold_join(f, mine);
        }
    }
    if (t == 0u)
        store_segment(s, span, f);
}

/* The tile that begins in the range, of a segment that begins before it. */
void fold_carried(uint s, uint group)
{
    segment span = segment_of(s);
    uvec2 position = position_of(s), range = range_first(group);
    if (!less64(position, range))
        return;
    uint before = between(position, range), tile = (before - 1u >> TILE_LOG2) + 1u;
    uint last = span.count == 0u ? 0u : span.count - 1u >> TILE_LOG2;
    if (tile <= last && (tile << TILE_LOG2) - before < 1u << args.each_log2)
        fold_long(s, span, position.x >> args.each_log2 | position.y << (32u - args.each_log2),
                  tile);
}

/* ---- a workgroup ----------------------------------------------------------------------------- */

/* Folds up to GROUP segments that begin in the range, from segment first on. */
void fold_round(uint first, uint end, uint group)
{
    uint t = gl_LocalInvocationID.x, s = min(first + t, end - 1u);
    bool is_there = first + t < end;
    segment span = segment_of(s);
    barrier();
    if (t == 0u) {
        middling_count = long_count = fell = short_end = 0u;
        next_short = 0xffffffffu;
    }
    barrier();
    uvec2 position = position_of(s), next = position_of(s + 1u), range = range_first(group);
    if (less64(position, range) || !less64(position, next) ||
        between(range, position) >= 1u << args.each_log2)
        atomicOr(fell, 1u);
    bool is_short = is_there && span.count <= SHORT_MOST, is_long = span.count > MIDDLING_MOST;
    if (is_short && span.count > 0u)
        atomicMax(short_end, span.first + span.count);
    else if (is_there && !is_short) {
        uint i = is_long ? GROUP - 1u - atomicAdd(long_count, 1u) : atomicAdd(middling_count, 1u);
        listed[i] = s;
        listed_first[i] = span.first;
        listed_count[i] = span.count;
    }
    barrier();
    if (fell != 0u)
        return;
    fold_short(s, span, is_short);
    fold_middling();
    for (uint i = 0u; i < long_count; i++) {
        uint at = GROUP - 1u - i;
        fold_long(listed[at], segment(listed_first[at], listed_count[at]), group, 0u);
    }
}

void main()
{
    uint t = gl_LocalInvocationID.x, group = group_index();
    uint grid = GROUP * gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    for (uint i = group * GROUP + t; i < args.clear_count; i += grid)
        store_word(args.clear, i, 0u);
    segments_now = stream_length(args.count_at, args.segments);
    elements_now = stream_length(args.end_at, args.elements);
    is_wide = (args.wide & SEGMENTS_WIDE) != 0u;
    has_starts = (args.wide & SEGMENTS_STARTS) != 0u;
    if (group >= args.groups || less64(position_of(segments_now), range_first(group)))
        return;
    if (subgroup_index() < 2u) {
        uint found = find_segment(range_first(group + subgroup_index()));
        if (subgroupElect())
            range_ends[subgroup_index()] = found;
    }
    barrier();
    uint first = range_ends[0], end = min(range_ends[1], first + (1u << args.each_log2));
    if (first > 0u)
        fold_carried(first - 1u, group);
    for (; first < end; first += GROUP)
        fold_round(first, end, group);
}
