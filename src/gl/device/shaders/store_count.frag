/* Stores a 64-bit number as a u64, or as a u32 that saturates. */
#include "gl_common.glsl"

uniform highp usampler2D counts;
uniform uint at;
uniform uint is_wide;
out uint word;

void main()
{
#ifdef FROM_QUADS
    uvec2 count = load_quad(counts, at).xy;
#else
    uvec2 count = uvec2(tml_load_word(counts, at), tml_load_word(counts, at + 1u));
#endif
    if (is_wide != 0u)
        word = tml_texel() == 0u ? count.x : count.y;
    else
        word = count.y != 0u ? 0xffffffffu : count.x;
}
