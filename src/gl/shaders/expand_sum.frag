/* An exact sum of counts: a texel is the sum of FAN texels of the step before. These hold four
 * counts each (FROM_COUNTS), or a 64-bit number in x and y. */
#include "gl_common.glsl"

uniform highp usampler2D addends;
uniform uint addend_count; /* texels */

layout(location = 0) out highp uvec4 sum;

void main()
{
    uint first = uint(FAN) * tml_texel();
    uint end = min(first + uint(FAN), addend_count);
    uvec2 total = uvec2(0u);
    for (uint i = first; i < end; i++) {
        uvec4 addend = load_quad(addends, i);
#ifdef FROM_COUNTS
        uvec2 low = add64(uvec2(addend.x, 0u), uvec2(addend.y, 0u));
        uvec2 high = add64(uvec2(addend.z, 0u), uvec2(addend.w, 0u));
        total = add64(total, add64(low, high));
#else
        total = add64(total, addend.xy);
#endif
    }
    sum = uvec4(total, 0u, 0u);
}
