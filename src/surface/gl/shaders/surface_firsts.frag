/* Exclusive prefix sums: the number of the first vertex of each quad of edges, four per texel. */
#include "gl_common.glsl"
#include "gl_pyramid.glsl"

out highp uvec4 firsts;

void main()
{
    firsts = pyramid_before_four(4u * tml_texel());
}
