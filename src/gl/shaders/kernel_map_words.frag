/* An output of kernel_map_once.frag, from quads to its WORDS words an element. */
#include "gl_common.glsl"
#include "parts.glsl"

uniform highp usampler2D quads;
uniform uint first; /* element of quad 0 */
out uint word;

void main()
{
    uint at = tml_texel(), i = at / uint(WORDS);
    if (i >= stream_length())
        discard;
    word = part_of(load_quad(quads, i - first), at - i * uint(WORDS));
}
