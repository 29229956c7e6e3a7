/* The end of outputs that begin at element out_first. x, y: the 64-bit sum of out_first and their
 * number, which is in x and y of texel "at"; z: out_first, at most 2^32 - 1. */
#include "gl_common.glsl"

uniform highp usampler2D totals;
uniform highp usampler2D out_first;
uniform uint at;
uniform uint is_wide; /* out_first is u64 */

layout(location = 0) out highp uvec4 value;

void main()
{
    uvec2 first = uvec2(tml_load_word(out_first, 0u), 0u);
    if (is_wide != 0u)
        first.y = tml_load_word(out_first, 1u);
    if (first.y >= 0x80000000u)
        first = uvec2(0u, 0x80000000u);
    value =
        uvec4(add64(load_quad(totals, at).xy, first), first.y != 0u ? 0xffffffffu : first.x, 0u);
}
