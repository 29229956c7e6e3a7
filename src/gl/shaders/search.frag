/* The position of a query in a sorted stream, in one word, or in two (WIDE). AS_BINS: as in
 * tml_search_resolved. */
#include "gl_common.glsl"
#include "key_codes.glsl"

uniform highp usampler2D sorted, queries, sorted_length;
uniform uvec3 sorted_place; /* as gl_common.glsl's tml_length_place */

layout(location = 0) out highp uint value;

void main()
{
    uint word = tml_texel(), query = word;
#ifdef WIDE
    query = word >> 1;
#endif
    if (query >= stream_length())
        discard;
    value = 0u;
#ifdef WIDE
    if ((word & 1u) == 1u)
        return;
#endif
    uvec2 code = code_at(queries, query);
    /* The result is one of the left + 1 positions from value on. */
    for (uint left = length_at(sorted_length, sorted_place); left > 0u; left >>= 1) {
        uint next = value + left - (left >> 1);
        uvec2 element = code_at(sorted, next - 1u);
#ifdef UPPER
        value = is_less(code, element) ? value : next;
#else
        value = is_less(element, code) ? next : value;
#endif
    }
#ifdef AS_BINS
    value = is_less(code_at(sorted, length_at(sorted_length, sorted_place)), code) ? 0xffffffffu
                                                                                   : value - 1u;
#endif
}
