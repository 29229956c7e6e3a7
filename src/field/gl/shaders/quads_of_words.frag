/* Copies a buffer of words to quads of four words. */
#include "gl_common.glsl"

uniform highp usampler2D words;
out highp uvec4 quad;

void main()
{
    uint at = 4u * tml_texel();
    quad = uvec4(tml_load_word(words, at), tml_load_word(words, at + 1u),
                 tml_load_word(words, at + 2u), tml_load_word(words, at + 3u));
}
