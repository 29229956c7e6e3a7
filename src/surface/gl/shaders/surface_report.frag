/* Results of tml_surface_enqueue: the counts, with WIDE of 64 bits; or with DRAW the arguments of
 * an indexed draw, of at most 2^32 - 1 indices. */
#include "gl_common.glsl"

uniform highp usampler2D totals;
uniform uint room; /* triangles that fit in the index buffer */
out highp uint word;

void main()
{
#ifdef DRAW
    uint triangles = min(tml_load_word(totals, 1u), room);
    word = tml_texel() == 0u ? (triangles > 0x55555555u ? 0xffffffffu : 3u * triangles)
                             : (tml_texel() == 1u ? 1u : 0u);
#elif defined(WIDE)
    word = (tml_texel() & 1u) == 0u ? tml_load_word(totals, tml_texel() >> 1) : 0u;
#else
    word = tml_load_word(totals, tml_texel());
#endif
}
