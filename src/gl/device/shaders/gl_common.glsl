/* The first include of every fragment shader of the integer path. The engine puts #version and
 * defines before it. TML_ROW_LOG2 is undefined if a caller-owned texture has rows of any width.
 *
 * A shader computes texel tml_texel() of its targets: word i of an array, row by row. */
#include "gpu/prelude_es300.glsl"
#include "gpu/prelude_common.glsl"

#ifdef TML_VERTEX
/* The position of a vertex over texel i of a target with that width and height. An invisible vertex
 * is clipped. */
vec4 tml_point(uint i, uvec2 target, bool is_seen)
{
    vec2 texel = vec2(float(i % target.x), float(i / target.x)) + 0.5;
    return is_seen ? vec4(2.0 * texel / vec2(target) - 1.0, 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
}
#else
uniform uint tml_row; /* the target's width */
uint tml_texel()
{
    return uint(gl_FragCoord.y) * tml_row + uint(gl_FragCoord.x);
}
#endif

/* Texel i of an RGBA32UI temporary. */
uvec4 load_quad(highp usampler2D quads, uint i)
{
    return texelFetch(quads, tml_place(quads, i), 0);
}

/* Component i of v, by selects: NVIDIA's compiler miscompiles v[i] for vectors of an array
 * (tests/test_gl_indices.sh). */
uint tml_component(uvec4 v, uint i)
{
    return i < 2u ? (i == 0u ? v.x : v.y) : (i == 2u ? v.z : v.w);
}

/* ---- 64-bit integers as uvec2 (low, high) ---------------------------------------------------- */

uvec2 add64(uvec2 a, uvec2 b)
{
    uint low = a.x + b.x;
    return uvec2(low, a.y + b.y + (low < a.x ? 1u : 0u));
}

/* ---- lengths --------------------------------------------------------------------------------- */

/* gl_draw_info.length: the bound; the number of the word in tml_length_words that holds the length
 * on the device; and 0 if there is none, 1 for u32, 2 for u64. */
uniform highp usampler2D tml_length_words;
uniform uvec3 tml_length_place;
uint length_at(highp usampler2D words, uvec3 place)
{
    uint bound = place.x;
    if (place.z == 0u)
        return bound;
    uint length = tml_load_word(words, place.y);
    if (place.z == 2u && tml_load_word(words, place.y + 1u) != 0u)
        return bound;
    return min(length, bound);
}
uint stream_length()
{
    return length_at(tml_length_words, tml_length_place);
}
