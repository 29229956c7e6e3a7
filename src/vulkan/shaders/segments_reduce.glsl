/* The dispatches of tml_reduce_segments. Sums have the tree of reduce_fold.glsl, with pieces
 * counted from the segment's first element. */
#define FOLD_ROLLED
#include "reduce_fold.glsl"
#include "segments.glsl"

layout(constant_id = 7) const uint MODE = 0u;

const uint SHORT_MOST = PIECES << PIECE_LOG2;
/* Up to PIECES pieces per lane of a subgroup, all in a tile's first row. */
const uint MIDDLING_MOST = (SUBGROUP * PIECES > GROUP ? GROUP : SUBGROUP * PIECES) << PIECE_LOG2;

uvec2 address_of_element(uint i)
{
    return address_of(args.in_at, i, 1u << SIZE_LOG2);
}
void store_segment(uint s, segment span, fold_state f)
{
    fold_store(args.out_at, s, f, uvec2(span.first, 0u), uvec2(span.count, 0u));
}

/* Folds pieces first ... first + pieces - 1 of a segment, at most PIECES. */
fold_state fold_some(segment span, uint first, uint pieces)
{
    uvec2 address = address_of_element(span.first);
    piece_fold fold;
    for (uint k = 0u; k < PIECES; k++) {
        uint i = first + k;
        uvec4 piece = k < pieces ? load_piece(address, i, span.count) : neutral_piece();
        add_piece(fold, piece, k, i << PIECE_LOG2, false);
    }
    return end_pieces(fold);
}

fold_state fold_segment_tile(segment span, uint tile)
{
    uint begin = tile << TILE_LOG2;
    fold_state f =
        fold_tile(address_of_element(span.first + begin), 0u, min(span.count - begin, 1u << TILE_LOG2));
    f.at += begin;
    return f;
}

shared fold_state fan_result;

/* Joins a segment's tiles as tml_reduce does: tiles by fans, fans by passes. results: index of the
 * first tile's result. */
fold_state fold_tiles(uint tiles, uint results)
{
    uint t = gl_LocalInvocationID.x;
    fold_state whole = fold_nothing();
    for (uint begin = 0u; begin < tiles; begin += args.pass_tiles) {
        uint here = min(tiles - begin, args.pass_tiles);
        uint fans = (here + FOLD_FAN - 1u) / FOLD_FAN, each = (fans + GROUP - 1u) / GROUP;
        fold_state mine = fold_nothing();
        for (uint fan = 0u; fan < fans; fan++) {
            uint first = fan * FOLD_FAN, count = min(here - first, FOLD_FAN);
            uint i = results + begin + first + min(t, count - 1u);
            uvec4 result = quads_at(args.results).v[i];
            fold_state own = fold_state(result.xy, result.z);
            fold_state f = fold_group(fold_choose(t < count, own, fold_nothing()));
            if (t == 0u)
                fan_result = f;
            barrier();
            mine = fold_choose(t == fan / each, fold_join(mine, fan_result), mine);
            barrier();
        }
        mine = fold_group(mine);
        barrier();
        whole = begin == 0u ? mine : fold_join(whole, mine);
    }
    return whole;
}

void main()
{
    uint t = gl_LocalInvocationID.x;
    uint groups = gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    if (MODE != SEGMENTS_FIND && are_falling())
        return;
    if (MODE == SEGMENTS_FIND || MODE == SEGMENTS_MIDDLING) {
        /* FIND: a segment per invocation. MIDDLING: a listed segment per subgroup. */
        bool finds = MODE == SEGMENTS_FIND;
        uint per_group = GROUP / SUBGROUP, lane = gl_SubgroupInvocationID, segments = segments_now();
        if (finds && group_index() * GROUP >= segments)
            return;
        uint begin = finds ? group_index() * GROUP + t : group_index() * per_group + subgroup_index();
        uint end = finds ? begin + 1u : counter(SEGMENTS_MIDDLING_COUNT);
        for (uint i = begin; i < end; i += groups * per_group) {
            uint s = finds ? min(i, segments - 1u) : words_at(args.middling).v[i];
            segment span = segment_of(s);
            bool is_there = !finds || i < segments;
            if (finds)
                list_segment(s, is_there ? span.count : 0u, SHORT_MOST, MIDDLING_MOST,
                             1u << TILE_LOG2);
            bool is_row = span.count <= SUBGROUP << PIECE_LOG2; /* a piece per lane is enough */
            fold_state f = fold_nothing();
            if (!finds || (span.count > 0u && span.count <= SHORT_MOST))
                f = fold_some(span, finds ? 0u : is_row ? lane : lane * PIECES,
                              finds || !is_row ? PIECES : 1u);
            if (!finds)
                f = fold_subgroup(f);
            if (finds ? is_there && span.count <= SHORT_MOST : subgroupElect())
                store_segment(s, span, f);
            if (finds)
                find_falling(s);
        }
    } else if (MODE == SEGMENTS_TILES) {
        uint count = counter(SEGMENTS_TILE_COUNT);
        for (uint i = group_index(); i < count; i += groups) {
            uint place = long_with_tile(i);
            segment span = segment_of(words_at(args.longs).v[place]);
            fold_state f = fold_segment_tile(span, i - words_at(args.tiles).v[place]);
            if (t == 0u)
                quads_at(args.results).v[i] = uvec4(f.number, f.at, 0u);
            barrier();
        }
    } else {
        uint count = counter(SEGMENTS_LONG_COUNT);
        for (uint i = group_index(); i < count; i += groups) {
            uint s = words_at(args.longs).v[i];
            segment span = segment_of(s);
            uint tiles = ((span.count - 1u) >> TILE_LOG2) + 1u;
            fold_state f = fold_tiles(tiles, words_at(args.tiles).v[i]);
            if (t == 0u)
                store_segment(s, span, f);
        }
    }
}
