/* The segments of a segmented scan of floats, and the lists of them. */
ARGS_USE(segments_args)

/* Segment s; empty if its offsets decrease or are out of range. */
struct segment {
    uint first;
    uint count;
};

uvec2 offset_of(uint s)
{
    if ((args.wide & SEGMENTS_WIDE) == 0u)
        return uvec2(LOAD_U32(args.offsets, s), 0u);
    return load64(address_of(args.offsets, s, 8u));
}
segment segment_of(uint s)
{
    uvec2 a = offset_of(s), b = offset_of(s + 1u);
    bool valid = a.y == 0u && b.y == 0u && a.x <= b.x && b.x <= args.elements;
    return segment(a.x, valid ? b.x - a.x : 0u);
}

uint counter(uint i)
{
    return words_at(args.counters).v[i];
}
/* If offsets decrease, segments overlap and may exceed the lists' capacity. FIND reports that, and
 * the steps that use the lists do nothing. */
void find_falling(uint s)
{
    uvec2 a = offset_of(s), b = offset_of(s + 1u);
    if (a.y > b.y || (a.y == b.y && a.x > b.x))
        words_at(args.counters).v[SEGMENTS_FALLING] = 1u;
}
bool are_falling()
{
    return counter(SEGMENTS_FALLING) != 0u;
}

/* An index in a list, by one atomic per subgroup. All invocations call it. */
uint take_place(uint i, bool wants)
{
    uvec4 takers = subgroupBallot(wants);
    uint first = 0u;
    if (subgroupElect() && takers != uvec4(0u))
        first = atomicAdd(words_at(args.counters).v[i], subgroupBallotBitCount(takers));
    return subgroupBroadcastFirst(first) + subgroupBallotExclusiveBitCount(takers);
}

/* Appends a segment that is not short to its list. All invocations call it together. */
void list_segment(uint s, uint count, uint short_most, uint middling_most, uint tile)
{
    bool is_long = count > middling_most, is_middling = count > short_most && !is_long;
    uint among_middling = take_place(SEGMENTS_MIDDLING_COUNT, is_middling);
    uint among_longs = take_place(SEGMENTS_LONG_COUNT, is_long);
    if (is_middling && among_middling < args.middling_room)
        words_at(args.middling).v[among_middling] = s;
    if (is_long && among_longs < args.long_room) {
        words_at(args.longs).v[among_longs] = s;
        words_at(args.tiles).v[among_longs] = (count - 1u) / tile + 1u;
    }
}

/* The list index of the long segment that contains tile i, counted over the tiles of all long
 * segments. */
uint long_with_tile(uint i)
{
    uint low = 0u, high = counter(SEGMENTS_LONG_COUNT);
    while (high - low > 1u) {
        uint middle = (low + high) >> 1;
        if (words_at(args.tiles).v[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    return low;
}
