/* What segmented reduce and scan share: where segments are, and the lists of them. */
ARGS_USE(segments_args)

/* Segment s, or one without elements where its offsets are out of order or range. */
struct segment {
    uint first;
    uint count;
};

uvec2 offset_of(uint s)
{
    if (args.wide == 0u)
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
/* Offsets that fall make segments overlap, and the lists have no room for all: then the first step says
 * so, and the steps that go by the lists do nothing. */
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

/* A place in a list, shared out with one atomic a subgroup. All lanes must come here. */
uint take_place(uint i, bool wants)
{
    uvec4 takers = subgroupBallot(wants);
    uint first = 0u;
    if (subgroupElect() && takers != uvec4(0u))
        first = atomicAdd(words_at(args.counters).v[i], subgroupBallotBitCount(takers));
    return subgroupBroadcastFirst(first) + subgroupBallotExclusiveBitCount(takers);
}

/* Puts a segment that no single invocation does on its list. All lanes must come here together. */
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

/* Tile number i of all long segments' tiles: the segment's place in the list. */
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
