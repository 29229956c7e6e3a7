/* The rank of each element: the number of codes that are smaller, or equal and at an earlier
 * element. Four per texel. */
#include "gl_common.glsl"

uniform highp usampler2D codes;
uniform uint texels;

layout(location = 0) out highp uvec4 ranks;

void main()
{
    uint texel = tml_texel();
    uvec4 mine = load_quad(codes, texel), rank = uvec4(0u);
    for (uint i = 0u; i < texels; i++) {
        uvec4 theirs = load_quad(codes, i);
        for (int k = 0; k < 4; k++)
            rank += i < texel ? uvec4(lessThanEqual(uvec4(theirs[k]), mine))
                              : uvec4(lessThan(uvec4(theirs[k]), mine));
    }
    /* and those before it in its own texel */
    rank.y += uint(mine.x == mine.y);
    rank.z += uint(mine.x == mine.z) + uint(mine.y == mine.z);
    rank.w += uint(mine.x == mine.w) + uint(mine.y == mine.w) + uint(mine.z == mine.w);
    ranks = rank;
}
