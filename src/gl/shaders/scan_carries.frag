/* Downsweep of one level: the carry of each whole block, from the level's sums and the carries of
 * the level above (TOP: there is none). */
#include "gl_common.glsl"
#include "gl_scan.glsl"
#ifdef SEGMENTED
#include "gl_segments.glsl"
#endif

uniform highp usampler2D level_sums;
uniform highp usampler2D level_sums_high;
uniform highp usampler2D above;
uniform highp usampler2D above_high;
uniform uint level;

/* The carries of four blocks from one on, which is a multiple of four. */
sums carries_from(uint first, uint block)
{
    uint begin = (first + (1u << level) - 1u) >> level, group = block >> 4, quad = block >> 2 & 3u;
    SUM before = sum_zero();
    for (uint q = 0u; q < 3u; q++) {
        SUM total =
            sums_total(load_sums_from(level_sums, level_sums_high, begin + (group << 4) + 4u * q));
        before = q < quad ? sum_add(before, total) : before;
    }
#ifndef TOP
    uint begin_above = (first + (16u << level) - 1u) >> (level + 4u);
    SUM carry = load_sum(above, above_high, begin_above + max(group, 1u) - 1u);
    before = group > 0u ? sum_add(carry, before) : before;
#endif
    return sums_running(before, load_sums_from(level_sums, level_sums_high, begin + block));
}

#ifdef SEGMENTED
SUM carry_at(uint t)
{
    uint first = segment_begin(t << level);
    uint block = t - ((first + (1u << level) - 1u) >> level);
    return sums_pick(carries_from(first, block & ~3u), block & 3u);
}
#endif

void main()
{
    uint t = 4u * tml_texel();
#ifdef SEGMENTED
    put_sums(sums(carry_at(t), carry_at(t + 1u), carry_at(t + 2u), carry_at(t + 3u)));
#else
    put_sums(carries_from(0u, t));
#endif
}
