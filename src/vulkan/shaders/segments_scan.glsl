/* The dispatches of segmented tml_scan for one type of floats. Sums have the order of
 * scan_tile.glsl, counted from the segment's first element. */
#define UNROLL
#include "scan_tile.glsl"
#include "segments.glsl"

/* A short segment has at most as many elements as one quad per lane of a row, and at most 8 for its
 * single invocation. */
const uint QUADS = SUBGROUP < 8u ? SUBGROUP : 8u;
const uint SHORT_MOST = 4u * QUADS;
const uint MIDDLING_MOST = STRETCH;

uvec2 address_of_input(segment span)
{
    return address_of(args.in_at, span.first, 1u << IN_LOG2);
}
uvec2 address_of_output(segment span)
{
    return address_of(args.out_at, span.first, SUM_SIZE);
}

/* One invocation adds in the order of a row's lanes. */
void scan_short(segment span)
{
    uvec2 in_at = address_of_input(span), out_at = address_of_output(span);
    quad quads[8];
    sum_t sums[8]; /* inclusive scan of the quads */
    for (uint k = 0u; k < 8u; k++) {
        quads[k] = load_quad_slowly(in_at, 4u * k, span.count);
        sums[k] = add(add(add(quads[k].v[0], quads[k].v[1]), quads[k].v[2]), quads[k].v[3]);
    }
    for (uint step = 1u; step < 8u; step <<= 1)
        for (uint k = 7u; k >= step; k--)
            sums[k] = add(sums[k - step], sums[k]);
    for (uint k = 0u; k < 8u; k++) {
        sum_t before = ZERO;
        if (k > 0u)
            before = sums[k - 1u];
        store_quad_slowly(out_at, 4u * k, span.count, scan_quad(quads[k], before));
    }
}

/* Exclusive scan of a long segment's tile sums in place, pass by pass as in tml_scan. In this
 * dispatch's pipeline, the element type is the type of sums. */
void scan_sums(uvec2 sums, uint count)
{
    sum_t before = ZERO;
    for (uint pass = 0u; pass < count; pass += args.pass_tiles) {
        uint end = min(pass + args.pass_tiles, count);
        for (uint first = pass; first < end; first += TILE) {
            tile_scan t = scan_tile(sums, sums, first, end);
            store_tile(sums, end, t, before);
            before = add(before, t.total);
            barrier();
        }
    }
}

void main()
{
    uint t = gl_LocalInvocationID.x;
    uint groups = gl_NumWorkGroups.x * gl_NumWorkGroups.y;
    if (SCAN_MODE == SEGMENTS_FIND) {
        uint i = group_index() * GROUP + t, s = min(i, args.segments - 1u);
        uint count = segment_of(s).count;
        list_segment(s, i < args.segments ? count : 0u, SHORT_MOST, MIDDLING_MOST, TILE);
        find_falling(s);
        return;
    }
    if (are_falling())
        return;
    if (SCAN_MODE == SEGMENTS_SHORT) {
        uint s = group_index() * GROUP + t;
        if (s >= args.segments)
            return;
        segment span = segment_of(s);
        if (span.count > 0u && span.count <= SHORT_MOST)
            scan_short(span);
    } else if (SCAN_MODE == SEGMENTS_MIDDLING) {
        uint per_group = GROUP / SUBGROUP, count = counter(SEGMENTS_MIDDLING_COUNT);
        for (uint i = group_index() * per_group + subgroup_index(); i < count;
             i += groups * per_group) {
            segment span = segment_of(words_at(args.middling).v[i]);
            uvec2 in_at = address_of_input(span), out_at = address_of_output(span);
            stretch row;
            load_stretch(in_at, 0u, span.count, false, row);
            scan_stretch(row);
            store_stretch(out_at, 0u, span.count, false, row, ZERO);
        }
    } else if (SCAN_MODE == SEGMENTS_LONG) {
        uint count = counter(SEGMENTS_LONG_COUNT);
        for (uint i = group_index(); i < count; i += groups) {
            uint tiles = (segment_of(words_at(args.longs).v[i]).count - 1u) / TILE + 1u;
            uint first = words_at(args.tiles).v[i];
            scan_sums(address_of(args.results, first, 1u << IN_LOG2), tiles);
        }
    } else { /* TILES and ADD */
        uint count = counter(SEGMENTS_TILE_COUNT);
        for (uint i = group_index(); i < count; i += groups) {
            uint place = long_with_tile(i);
            segment span = segment_of(words_at(args.longs).v[place]);
            uvec2 in_at = address_of_input(span), out_at = address_of_output(span);
            uint first = (i - words_at(args.tiles).v[place]) * TILE;
            tile_scan tile = scan_tile(in_at, out_at, first, span.count);
            if (SCAN_MODE == SEGMENTS_ADD)
                store_tile(out_at, span.count, tile, load_sum(args.results, i));
            else if (t == 0u)
                store_sum(args.results, i, tile.total);
            barrier();
        }
    }
}
