/* The first element of each element's segment (gl_segments.glsl). */
#include "gl_common.glsl"
#include "gl_segments.glsl"

uniform highp usampler2D windows; /* of segments_windows.frag */

layout(location = 0) out highp uint begin;

void main()
{
    uint element = tml_texel(), window = element >> 6;
    uint low = tml_load_word(windows, window), high = tml_load_word(windows, window + 1u) + 1u;
    uint s = segment_search(element, low, min(high, segment_count));
    segment span = segment_at(s);
    if (span.first + span.count > stream_length())
        span.count = 0u;
    begin = s < segment_count && element - span.first < span.count ? span.first : SEGMENT_NONE;
}
