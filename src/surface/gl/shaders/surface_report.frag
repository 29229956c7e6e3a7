/* Results of tml_surface_enqueue: the counts; with WIDE as 64 bits; with SOUP, three vertices per
 * triangle. Or with DRAW, the arguments of a draw of at most 2^32 - 1 indices or vertices. */
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
#else
#ifdef WIDE
    uint which = tml_texel() >> 1;
    bool is_high = (tml_texel() & 1u) != 0u;
#else
    uint which = tml_texel();
    bool is_high = false;
#endif
    uint high = 0u;
    word = tml_load_word(totals, which);
#ifdef SOUP
    if (which == 0u) {
        uint triangles = tml_load_word(totals, 1u);
        high = (triangles > 0x55555555u ? 1u : 0u) + (triangles > 0xaaaaaaaau ? 1u : 0u);
        word = 3u * triangles;
    }
#endif
#ifdef WIDE
    word = is_high ? high : word;
#else
    word = high != 0u ? 0xffffffffu : word;
#endif
#endif
}
