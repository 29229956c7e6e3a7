/* For each position, the element whose index names it. Each element is drawn as a point, over
 * positions that were CLEARed. Positions from range on have no texel. */
#include "gl_common.glsl"

#ifdef TML_VERTEX
uniform highp usampler2D indices;
uniform uint range;
uniform uvec2 target; /* width, height */

flat out highp uint element;

void main()
{
    element = uint(gl_VertexID);
    uint place = range;
    if (element < stream_length()) {
#ifdef WIDE
        if (tml_load_word(indices, 2u * element + 1u) == 0u)
            place = tml_load_word(indices, 2u * element);
#else
        place = tml_load_word(indices, element);
#endif
    }
    gl_Position = tml_point(place, target, place < range);
    gl_PointSize = 1.0;
}
#else
#ifndef CLEAR
flat in highp uint element;
#endif

layout(location = 0) out highp uint value;

void main()
{
#ifdef CLEAR
    value = 0xffffffffu;
#else
    value = element;
#endif
}
#endif
