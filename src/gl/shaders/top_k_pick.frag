/* Adds the last result's digit to the state. */
#include "gl_common.glsl"

uniform highp usampler2D counts0, counts1, counts2, counts3, state;
uniform uint shift;

layout(location = 0) out highp uvec4 next;

void main()
{
    uvec4 four[4];
    four[0] = load_quad(counts0, 0u);
    four[1] = load_quad(counts1, 0u);
    four[2] = load_quad(counts2, 0u);
    four[3] = load_quad(counts3, 0u);
    next = load_quad(state, 0u);
    uint digit = 0u;
    while (digit < 15u && next.z > four[digit >> 2][digit & 3u]) {
        next.z -= four[digit >> 2][digit & 3u];
        digit++;
    }
    if (shift < 32u)
        next.x |= digit << shift;
    else
        next.y |= digit << (shift - 32u);
}
