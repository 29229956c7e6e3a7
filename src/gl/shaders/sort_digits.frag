/* The base of a sort's pyramid of bits: the elements with digit 0, then those with digit 1, and so
 * on to 15. Each digit has as many texels as the planes of the digits' bits have
 * (sort_planes.frag). */
#include "gl_common.glsl"
#include "gl_divide.glsl"

uniform highp usampler2D planes0, planes1, planes2, planes3;
uniform uvec2 blocks; /* texels of a plane, for divide() */

layout(location = 0) out highp uvec4 bits;

/* The elements whose bit is that of the digit. */
uvec4 alike(highp usampler2D planes, uint block, uint digit)
{
    return load_quad(planes, block) ^ ((digit & 1u) - 1u);
}

void main()
{
    uint texel = tml_texel(), digit = divide(texel, blocks), block = texel - digit * blocks.x;
    bits = alike(planes0, block, digit) & alike(planes1, block, digit >> 1) &
           alike(planes2, block, digit >> 2) & alike(planes3, block, digit >> 3);
}
