/* The sources of outputs (gl_locate.h), four outputs per texel. Included after gl_common.glsl. */
uniform highp usampler2D sources;

const uint NO_SOURCE = 0xffffffffu; /* past the last output */

uint part_of(uvec4 quad, uint i)
{
    return (i & 2u) == 0u ? ((i & 1u) == 0u ? quad.x : quad.y) : ((i & 1u) == 0u ? quad.z : quad.w);
}
uint source_of(uint j)
{
    return part_of(load_quad(sources, j >> 2), j);
}
