/* Where segments are. Stands after gl_common.glsl. OFFSETS_WIDE: they are u64. */
uniform highp usampler2D offsets;
uniform uint segment_count;
uniform uint segment_elements; /* of the array */

struct segment {
    uint first;
    uint count;
};

/* Those that do not fit stay at the largest number, which is past every array. */
uint segment_offset(uint s)
{
#ifdef OFFSETS_WIDE
    uint low = tml_load_word(offsets, 2u * s), high = tml_load_word(offsets, 2u * s + 1u);
    return high != 0u ? 0xffffffffu : low;
#else
    return tml_load_word(offsets, s);
#endif
}

/* One without elements where the offsets are out of order or range. */
segment segment_at(uint s)
{
    uint first = segment_offset(s), end = segment_offset(s + 1u);
    bool valid = first <= end && end <= segment_elements;
    return segment(first, valid ? end - first : 0u);
}

/* The last segment from low on and before high that begins at or before a position, by bisection; low
 * where none does. Ends with any low and high: offsets may fall, and beside the texels that are drawn run
 * helper invocations, which load what nobody stored. */
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

/* ---- beginnings ------------------------------------------------------------------------------ */

/* For each element where the segment begins that has it, the last of several, or SEGMENT_NONE. */
uniform highp usampler2D begins;
const uint SEGMENT_NONE = 0xffffffffu;

uint segment_begin(uint element)
{
    return tml_load_word(begins, min(element, segment_elements - 1u));
}
