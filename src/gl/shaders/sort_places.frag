/* The element of each rank (sort_ranks.frag): four indices per texel. */
#include "gl_common.glsl"

uniform highp usampler2D ranks, indices;
uniform uint texels;

layout(location = 0) out highp uvec4 moved_indices;

void main()
{
    uvec4 mine = 4u * tml_texel() + uvec4(0u, 1u, 2u, 3u), index = uvec4(0u);
    for (uint i = 0u; i < texels; i++) {
        uvec4 theirs = load_quad(ranks, i), from = load_quad(indices, i);
        for (int k = 0; k < 4; k++) /* each rank belongs to exactly one element */
            index += uvec4(equal(uvec4(theirs[k]), mine)) * from[k];
    }
    moved_indices = index;
}
