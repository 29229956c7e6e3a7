/* Segmented scan, to words. Integers: the inclusive scan of the whole array, minus the prefix
 * before the segment. Floats: from the carries of the segment's own blocks. */
#define SEGMENTED
#include "gl_common.glsl"
#include "gl_scan_types.glsl"
#include "gl_segments.glsl"
#ifdef SUM_FLOAT
#include "gl_scan_elements.glsl"
#else
uniform highp usampler2D scanned; /* inclusive */
uniform highp usampler2D scanned_high;

/* The exclusive prefix of an element. */
SUM sum_before(uint element)
{
    SUM sum = load_sum(scanned, scanned_high, max(element, 1u) - 1u);
    return element > 0u ? sum : sum_zero();
}
#endif

uniform uint inclusive;

layout(location = 0) out highp uint word;

void main()
{
    uint w = tml_texel();
#if SUM_BITS == 64
    uint element = w >> 1;
#else
    uint element = w;
#endif
    uint first = segment_begin(element);
    if (first == SEGMENT_NONE)
        discard;
#ifdef SUM_FLOAT
    SUM sum = sums_pick(scan_block(first, (element - first) >> 2, inclusive != 0u),
                        (element - first) & 3u);
#elif SUM_BITS == 64
    SUM before = sum_before(first);
    SUM sum = add64(sum_before(element + inclusive), add64(~before, uvec2(1u, 0u)));
#else
    SUM sum = sum_before(element + inclusive) - sum_before(first);
#endif
    uvec2 bits = bits_of_sum(sum);
    word = SUM_BITS == 64 && (w & 1u) != 0u ? bits.y : bits.x;
}
