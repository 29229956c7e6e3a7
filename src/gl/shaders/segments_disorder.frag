/* Where each element's segment begins, also where segments overlap: from the last segment backwards, past all whose
 * hull does not have the element. HULLS: levels of them, 1 to 5. */
#include "gl_common.glsl"
#include "gl_segments.glsl"

uniform highp usampler2D hulls1;
uniform highp usampler2D hulls2;
uniform highp usampler2D hulls3;
uniform highp usampler2D hulls4;
uniform highp usampler2D hulls5;

layout(location = 0) out highp uint begin;

/* Where the segments before end begin that share its node of a level, if element is not in its hull; else
 * end. */
uint skip(highp usampler2D hulls, uint level, uint end, uint element)
{
    uint node = (end - 1u) >> (6u * level);
    uvec4 hull = load_quad(hulls, node);
    bool is_end = end == segment_count || (end & ((1u << (6u * level)) - 1u)) == 0u;
    bool is_inside = hull.x <= element && element < hull.y;
    return is_end && !is_inside ? node << (6u * level) : end;
}

/* One step back from end, which is above 0. */
uint step_back(uint end, uint element)
{
    uint before = end;
#if HULLS > 4
    before = before == end ? skip(hulls5, 5u, end, element) : before;
#endif
#if HULLS > 3
    before = before == end ? skip(hulls4, 4u, end, element) : before;
#endif
#if HULLS > 2
    before = before == end ? skip(hulls3, 3u, end, element) : before;
#endif
#if HULLS > 1
    before = before == end ? skip(hulls2, 2u, end, element) : before;
#endif
    return before == end ? skip(hulls1, 1u, end, element) : before;
}

void main()
{
    uint element = tml_texel(), end = segment_count;
    begin = SEGMENT_NONE;
    while (end > 0u) {
        uint before = step_back(end, element);
        if (before == end) {
            segment span = segment_at(end - 1u);
            before = end - 1u;
            if (element - span.first < span.count) {
                begin = span.first;
                before = 0u;
            }
        }
        end = before;
    }
}
