/* Upsweep of one level: sums of whole blocks, of four elements or (FROM_SUMS) of sixteen blocks of
 * the level below. Sum t belongs to the block whose last element is one of the 1 << level elements
 * from t << level on (as in fold_blocks.frag). Sums without a block are undefined. */
#include "gl_common.glsl"
#include "gl_scan.glsl"
#ifdef SEGMENTED
#include "gl_segments.glsl"
#endif

uniform highp usampler2D below; /* elements or sums */
uniform highp usampler2D below_high;
uniform uint level; /* log2 of the elements in a block */

/* The sum of block "block" of the stream or segment that begins at first. */
SUM sum_of_block(uint first, uint block)
{
#ifdef FROM_SUMS
    uint level_below = level - 4u, size_below = 1u << level_below;
    uint at = ((first + size_below - 1u) >> level_below) + (block << 4);
    SUM a = sums_total(load_sums_from(below, below_high, at));
    SUM b = sums_total(load_sums_from(below, below_high, at + 4u));
    SUM c = sums_total(load_sums_from(below, below_high, at + 8u));
    SUM d = sums_total(load_sums_from(below, below_high, at + 12u));
    return sum_add(sum_add(a, b), sum_add(c, d));
#else
    return sums_total(load_elements(below, first + (block << 2)));
#endif
}

SUM sum_at(uint t)
{
#ifdef SEGMENTED
    uint first = segment_begin(t << level);
    return sum_of_block(first, t - ((first + (1u << level) - 1u) >> level));
#else
    return sum_of_block(0u, t);
#endif
}

void main()
{
    uint t = 4u * tml_texel();
    put_sums(sums(sum_at(t), sum_at(t + 1u), sum_at(t + 2u), sum_at(t + 3u)));
}
