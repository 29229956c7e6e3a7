/* A part's totals, one word each: vertices, triangles, active cells, 0. */
#include "gl_common.glsl"

uniform highp usampler2D vertices, triangles, active_cells;
uniform uvec2 at; /* quads of the pyramids' totals in vertices and triangles */
uniform uint first;
out highp uint word;

void main()
{
    uint i = tml_texel() - first;
    word = i == 0u   ? load_quad(vertices, at.x).x
           : i == 1u ? load_quad(triangles, at.y).x
           : i == 2u ? load_quad(active_cells, 0u).x
                     : 0u;
}
