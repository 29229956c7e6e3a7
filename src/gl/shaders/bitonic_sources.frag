/* Sorted keys are the sources of outputs; four a texel. With OTHERS those of items not kept, too. */
#include "gl_common.glsl"

uniform highp usampler2D keys;
uniform uint key_count;

layout(location = 0) out highp uvec4 sources;

uint source_at(uint j)
{
    uint key = j < key_count ? tml_load_word(keys, j) : 0xffffffffu;
#ifdef OTHERS
    return key == 0xffffffffu ? key : key & 0x7fffffffu;
#else
    return key < 0x80000000u ? key : 0xffffffffu;
#endif
}

void main()
{
    uint j = 4u * tml_texel();
    sources = uvec4(source_at(j), source_at(j + 1u), source_at(j + 2u), source_at(j + 3u));
}
