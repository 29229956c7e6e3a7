/* The sources of outputs, or their ranks (RANKS), as numbers of one word, or of two (WIDE). */
#include "gl_common.glsl"
#include "located.glsl"

#ifdef RANKS
uniform highp usampler2D ranks;
#endif

layout(location = 0) out highp uint value;

void main()
{
    uint word = tml_texel();
#ifdef WIDE
    uint j = word >> 1;
#else
    uint j = word;
#endif
    uint source = source_of(j);
    if (source == NO_SOURCE)
        discard;
#ifdef RANKS
    source = part_of(load_quad(ranks, j >> 2), j);
#endif
#ifdef WIDE
    value = (word & 1u) == 0u ? source : 0u;
#else
    value = source;
#endif
}
