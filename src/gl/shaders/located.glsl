/* The sources of outputs (gl_locate.h), four outputs per texel. INDICES: the sources are the
 * caller's indices, u32 or (WIDE) u64, of which only those below range name a source. Included
 * after gl_common.glsl. */
uniform highp usampler2D sources;

const uint NO_SOURCE = 0xffffffffu; /* past the last output, or without a source */

#include "parts.glsl"

#ifdef INDICES
uniform uint range;
uint source_of(uint j)
{
    if (j >= stream_length())
        return NO_SOURCE;
#ifdef WIDE
    if (tml_load_word(sources, 2u * j + 1u) != 0u)
        return NO_SOURCE;
    j *= 2u;
#endif
    uint source = tml_load_word(sources, j);
    return source < range ? source : NO_SOURCE;
}
#else
uint source_of(uint j)
{
    return part_of(load_quad(sources, j >> 2), j);
}
#endif
