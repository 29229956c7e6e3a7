/* The scan of four elements of a stream; TOTAL: the sum of all. */
#include "gl_common.glsl"
#include "gl_scan.glsl"
#include "gl_scan_elements.glsl"

uniform uint inclusive;

void main()
{
#ifdef TOTAL
    uint length = stream_length();
    SUM total = sums_pick(scan_block(0u, length >> 2, false), length & 3u);
    out_low = uvec4(bits_of_sum(number_of_sum(total)), 0u, 0u);
#else
    put_sums(scan_block(0u, tml_texel(), inclusive != 0u));
#endif
}
