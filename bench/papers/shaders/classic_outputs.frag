/* Descends a classic pyramid once for each output and fetches its element. */
#include "gl_common.glsl"
#include "classic_descent.glsl"

uniform highp usampler2D values;
uniform highp usampler2D totals;
uniform uint side;
uniform uint row_log2; /* of values */

layout(location = 0) out highp uint value;

void main()
{
    uint j = tml_texel();
    if (j >= load_quad(totals, 0u).x)
        discard;
    classic_spot spot = classic_descend(j);
    uint i = uint(spot.at.y) * side + uint(spot.at.x);
    value = texelFetch(values, ivec2(int(i & ((1u << row_log2) - 1u)), int(i >> row_log2)), 0).x;
}
