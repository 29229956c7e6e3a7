/* The last running count, as a number of 64 bits in a texel of four words. */
#include "gl_common.glsl"

uniform highp usampler2D running;
uniform uint last;

layout(location = 0) out highp uvec4 total;

void main()
{
    total = uvec4(tml_load_word(running, last), 0u, 0u, 0u);
}
