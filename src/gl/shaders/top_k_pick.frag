/* Appends a digit of the last result's code to the state. */
#include "gl_common.glsl"

uniform highp usampler2D counts0, counts1, counts2, counts3, state;
uniform uint shift;

layout(location = 0) out highp uvec4 next;

/* How many elements have that digit. */
uint count_of(uvec4 low, uvec4 middle, uvec4 high, uvec4 highest, uint digit)
{
    uvec4 counts = digit < 8u ? (digit < 4u ? low : middle) : (digit < 12u ? high : highest);
    return tml_component(counts, digit & 3u);
}

void main()
{
    uvec4 low = load_quad(counts0, 0u), middle = load_quad(counts1, 0u);
    uvec4 high = load_quad(counts2, 0u), highest = load_quad(counts3, 0u);
    next = load_quad(state, 0u);
    uint digit = 0u, count = low.x;
    while (digit < 15u && next.z > count) {
        next.z -= count;
        digit++;
        count = count_of(low, middle, high, highest, digit);
    }
    if (shift < 32u)
        next.x |= digit << shift;
    else
        next.y |= digit << (shift - 32u);
}
