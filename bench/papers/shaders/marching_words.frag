/* Copies positions from quads to three words each. */
#include "gl_common.glsl"

uniform highp usampler2D positions;
uniform uint first; /* the word of the first quad's x */

layout(location = 0) out highp uint word;

void main()
{
    uint w = tml_texel() - first, c = w % 3u;
    uvec4 quad = load_quad(positions, w / 3u);
    word = c == 0u ? quad.x : c == 1u ? quad.y : quad.z;
}
