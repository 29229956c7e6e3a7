/* The segments. Included after gl_common.glsl. OFFSETS_WIDE: offsets are u64. */
uniform highp usampler2D offsets;
uniform uint segment_count;
uniform uint segment_elements; /* of the array */

struct segment {
    uint first;
    uint count;
};

/* offsets lacks the last segment's end. gl_common.glsl explains lengths and their places. */
#ifdef STARTS
uniform highp usampler2D counts, ends;
uniform uvec3 count_place, end_place;
#endif

/* Offsets saturate at 2^32 - 1, which is past every array. */
uint segment_offset(uint s)
{
#ifdef STARTS
    if (s >= length_at(counts, count_place))
        return length_at(ends, end_place);
#endif
#ifdef OFFSETS_WIDE
    uint low = tml_load_word(offsets, 2u * s), high = tml_load_word(offsets, 2u * s + 1u);
    return high != 0u ? 0xffffffffu : low;
#else
    return tml_load_word(offsets, s);
#endif
}

/* A segment; empty if its offsets decrease or are out of range. */
segment segment_at(uint s)
{
    uint first = segment_offset(s), end = segment_offset(s + 1u);
    bool valid = first <= end && end <= segment_elements;
    return segment(first, valid ? end - first : 0u);
}

/* The last segment in [low, high) that begins at or before a position, by bisection; low if there
 * is none. The loop ends for any low and high, since offsets may decrease, and helper invocations
 * outside the drawn texels load undefined values. */
uint segment_search(uint position, uint low, uint high)
{
    while (low < high && high - low > 1u) {
        uint middle = (low + high) >> 1;
        bool is_before = segment_offset(middle) <= position;
        low = is_before ? middle : low;
        high = is_before ? high : middle;
    }
    return low;
}

/* ---- first elements of segments -------------------------------------------------------------- */

/* The first element of each element's segment (of the last one if there are several), or
 * SEGMENT_NONE. */
uniform highp usampler2D begins;
const uint SEGMENT_NONE = 0xffffffffu;

uint segment_begin(uint element)
{
    return tml_load_word(begins, min(element, segment_elements - 1u));
}
