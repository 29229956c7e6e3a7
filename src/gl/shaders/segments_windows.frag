/* Bounds for segments_begins.frag: the last segment that begins at or before element 64 * i, or
 * 0. */
#include "gl_common.glsl"
#include "gl_segments.glsl"

layout(location = 0) out highp uint last;

void main()
{
    last = segment_search(tml_texel() << 6, 0u, segment_count);
}
