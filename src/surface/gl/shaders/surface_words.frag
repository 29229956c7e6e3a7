/* Copies components of quads to an array of words: COMPONENTS per quad, from component SKIP on.
 * WIDE: words of 64 bits. BOUNDED: writes no elements past the total. RECORD: writes vertex
 * records, with position, normal (NORMAL_WORDS words) and value at the words ..._AT. */
#include "gl_common.glsl"

uniform highp usampler2D elements, normals, totals;
uniform uint first;         /* word of the target for the first element */
uniform uint first_element; /* number of the first element in the part */
uniform uint total_at;      /* word of totals */
out highp uint word;

void main()
{
    uint i = tml_texel() - first;
#ifdef WIDE
    bool is_high = (i & 1u) != 0u;
    i >>= 1;
#endif
    uint element = i / COMPONENTS, component = i - COMPONENTS * element + SKIP;
#ifdef BOUNDED
    if (first_element + element >= tml_load_word(totals, total_at))
        discard;
#endif
#ifdef RECORD
    uint normal_word = component - NORMAL_AT;
    component = component == VALUE_AT ? 3u : component - POSITION_AT;
    uvec4 quad;
    if (normal_word < NORMAL_WORDS) {
        component = normal_word;
        quad = load_quad(normals, element);
    } else
        quad = load_quad(elements, element);
#else
    uvec4 quad = load_quad(elements, element);
#endif
    word =
        component < 2u ? (component == 0u ? quad.x : quad.y) : (component == 2u ? quad.z : quad.w);
#ifdef WIDE
    word = is_high ? 0u : word;
#endif
}
