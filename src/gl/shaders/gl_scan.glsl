/* Shared by the shaders of a scan's steps: sums, and stores of four sums at a time. Included after
 * gl_common.glsl. */
#include "gl_scan_types.glsl"

layout(location = 0) out highp uvec4 out_low;
#if !defined(SUM_FLOAT) && SUM_BITS == 64
layout(location = 1) out highp uvec4 out_high;
#endif

void put_sums(sums s)
{
    out_low = low_words(s);
#if !defined(SUM_FLOAT) && SUM_BITS == 64
    out_high = high_words(s);
#endif
}
