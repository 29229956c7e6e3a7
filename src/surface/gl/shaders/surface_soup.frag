/* Gathers a word of a soup from a welded mesh's array, which has COMPONENTS words per element.
 * BOUNDED: writes no triangles past the total; one with a vertex past the room becomes zeros. */
#include "gl_common.glsl"

uniform highp usampler2D elements, indices, totals;
uniform uint total_at; /* word of totals */
uniform uint vertex_room;
out highp uint word;

void main()
{
    uint corner = tml_texel() / COMPONENTS, component = tml_texel() - COMPONENTS * corner;
    uint vertex = tml_load_word(indices, corner);
    word = 0u;
#ifdef BOUNDED
    uint triangle = corner / 3u;
    if (triangle >= tml_load_word(totals, total_at))
        discard;
    for (uint k = 0u; k < 3u; k++)
        if (tml_load_word(indices, 3u * triangle + k) >= vertex_room)
            return;
#endif
    word = tml_load_word(elements, COMPONENTS * vertex + component);
}
