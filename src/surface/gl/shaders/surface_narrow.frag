/* Converts 32-bit indices to 16 bits, two per word. A triangle with a vertex beyond 16 bits becomes
 * three zeros. BOUNDED: writes no triangles past the total. */
#include "gl_common.glsl"
#include "surface/gpu/surface_options.k.h"

uniform highp usampler2D indices, totals;
uniform uint total_at; /* word of totals */
uniform uint count;    /* triangles */
out highp uint word;

/* Returns index i; 0 from index end on. */
uint narrow(uint i, uint end)
{
    uint first = i / 3u * 3u;
    if (i >= end)
        return 0u;
    for (uint k = 0u; k < 3u; k++)
        if (tml_load_word(indices, first + k) >= SURFACE_NARROW_VERTICES)
            return 0u;
    return tml_load_word(indices, i);
}

void main()
{
    uint i = 2u * tml_texel(), end = 3u * count;
#ifdef BOUNDED
    end = min(end, 3u * tml_load_word(totals, total_at));
    if (i >= end)
        discard;
#endif
    word = narrow(i, end) | narrow(i + 1u, end) << 16;
}
