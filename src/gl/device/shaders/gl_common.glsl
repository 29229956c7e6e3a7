/* Stands at the top of every fragment shader of the engine's integer path. The engine puts #version and
 * its defines before it; TML_ROW_LOG2 is missing where a texture of the caller's has rows of any
 * width.
 *
 * A shader computes texel tml_texel() of its targets: word i of an array, row after row. */
#include "gpu/prelude_es300.glsl"
#include "gpu/prelude_common.glsl"

uniform uint tml_row; /* the target's width */
uint tml_texel()
{
    return uint(gl_FragCoord.y) * tml_row + uint(gl_FragCoord.x);
}

/* Texel i of an RGBA32UI temporary. */
uvec4 load_quad(highp usampler2D quads, uint i)
{
    return texelFetch(quads, tml_place(quads, i), 0);
}

/* ---- numbers of 64 bits in pairs ------------------------------------------------------------- */

uvec2 add64(uvec2 a, uvec2 b)
{
    uint low = a.x + b.x;
    return uvec2(low, a.y + b.y + (low < a.x ? 1u : 0u));
}

/* ---- lengths --------------------------------------------------------------------------------- */

/* gl_draw_info.length: the bound, and on the device the word where the length lies, 0 for none, 1 for
 * u32, 2 for u64. */
uniform highp usampler2D tml_length_words;
uniform uvec3 tml_length_place;
uint stream_length()
{
    uint bound = tml_length_place.x;
    if (tml_length_place.z == 0u)
        return bound;
    uint length = tml_load_word(tml_length_words, tml_length_place.y);
    if (tml_length_place.z == 2u && tml_load_word(tml_length_words, tml_length_place.y + 1u) != 0u)
        return bound;
    return min(length, bound);
}
