/* The keys to sort, from a pyramid's base of bits: an item's index when it is kept, above 2^31 when it
 * is not, and 2^32 - 1 past the stream. */
#include "gl_common.glsl"

uniform highp usampler2D items;

layout(location = 0) out highp uint key;

void main()
{
    uint i = tml_texel();
    key = 0xffffffffu;
    if (i >= stream_length())
        return;
    uvec4 quad = load_quad(items, i >> 7);
    uint part = i >> 5 & 3u;
    uint word = part < 2u ? (part == 0u ? quad.x : quad.y) : (part == 2u ? quad.z : quad.w);
    key = (word >> (i & 31u) & 1u) != 0u ? i : i | 0x80000000u;
}
