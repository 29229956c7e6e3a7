/* Descends a classic pyramid once for each output and fetches its element: in the fragment shader,
 * or (IN_VERTICES) in the vertex shader. */
#include "gl_common.glsl"
#include "classic_descent.glsl"

uniform highp usampler2D values;
uniform highp usampler2D totals;
uniform uint side;
uniform uint row_log2; /* of values */

bool exists(uint j)
{
    return j < load_quad(totals, 0u).x;
}
uint value_of(uint j)
{
    classic_spot spot = classic_descend(j);
    uint i = uint(spot.at.y) * side + uint(spot.at.x);
    return texelFetch(values, ivec2(int(i & ((1u << row_log2) - 1u)), int(i >> row_log2)), 0).x;
}

#ifdef TML_VERTEX
uniform uvec2 target;
flat out highp uint found;

void main()
{
    uint j = uint(gl_VertexID);
    bool is_output = exists(j);
    found = is_output ? value_of(j) : 0u;
    gl_Position = tml_point(j, target, is_output);
    gl_PointSize = 1.0;
}
#else
layout(location = 0) out highp uint value;
#    ifdef IN_VERTICES
flat in highp uint found;
#    endif

void main()
{
#    ifdef IN_VERTICES
    value = found;
#    else
    uint j = tml_texel();
    if (!exists(j))
        discard;
    value = value_of(j);
#    endif
}
#endif
