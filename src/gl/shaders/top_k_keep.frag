/* The base of a top k's pyramid of bits: the elements whose codes are below the last result's, then
 * the elements whose codes equal it, each in "blocks" texels. */
#include "gl_common.glsl"
#include "top_k_code.glsl"

uniform uint blocks;

layout(location = 0) out highp uvec4 bits;

uint word_at(uint first, uvec2 last, bool equal)
{
    uint word = 0u, length = stream_length();
    for (uint i = 0u; i < 32u && first + i < length; i++) {
        uvec2 code = code_at(keys, first + i);
        word |= uint(equal ? code == last : is_less(code, last)) << i;
    }
    return word;
}

void main()
{
    uvec2 last = load_quad(state, 0u).xy;
    bool equal = tml_texel() >= blocks;
    uint first = 128u * (equal ? tml_texel() - blocks : tml_texel());
    bits.x = word_at(first, last, equal);
    bits.y = word_at(first + 32u, last, equal);
    bits.z = word_at(first + 64u, last, equal);
    bits.w = word_at(first + 96u, last, equal);
}
