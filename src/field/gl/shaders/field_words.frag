/* Copies samples from the quads of field.frag, which hold four rows, to an array of words. */
#include "gl_common.glsl"
#include "gl_divide.glsl"

uniform highp usampler2D row0, row1, row2, row3;
uniform uvec2 dims_x, dims_y; /* divisors */
uniform uint quads_x, groups_y;
uniform uint first; /* target texel of the first layer */
out highp uint word;

void main()
{
    uint i = tml_texel() - first;
    uint row = divide(i, dims_x), x = i - row * dims_x.x;
    uint z = divide(row, dims_y), y = row - z * dims_y.x;
    uint texel = (x >> 2) + quads_x * ((y >> 2) + groups_y * z);
    uvec4 four;
    if ((y & 2u) == 0u)
        four = (y & 1u) == 0u ? load_quad(row0, texel) : load_quad(row1, texel);
    else
        four = (y & 1u) == 0u ? load_quad(row2, texel) : load_quad(row3, texel);
    word = (x & 2u) == 0u ? ((x & 1u) == 0u ? four.x : four.y)
                          : ((x & 1u) == 0u ? four.z : four.w);
}
