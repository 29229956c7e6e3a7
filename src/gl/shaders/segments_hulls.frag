/* What 64 segments or, FROM_HULLS, 64 such hulls have between their first and their last element. */
#include "gl_common.glsl"
#ifdef FROM_HULLS
uniform highp usampler2D hulls;
#else
#include "gl_segments.glsl"
#endif

uniform uint items;

layout(location = 0) out highp uvec4 hull; /* first, end */

void main()
{
    uint begin = 64u * tml_texel(), end = min(begin + 64u, items);
    hull = uvec4(0xffffffffu, 0u, 0u, 0u);
    for (uint i = begin; i < end; i++) {
#ifdef FROM_HULLS
        uvec2 item = load_quad(hulls, i).xy;
        bool any = item.x < item.y;
#else
        segment span = segment_at(i);
        uvec2 item = uvec2(span.first, span.first + span.count);
        bool any = span.count > 0u;
#endif
        hull.x = any ? min(hull.x, item.x) : hull.x;
        hull.y = any ? max(hull.y, item.y) : hull.y;
    }
}
