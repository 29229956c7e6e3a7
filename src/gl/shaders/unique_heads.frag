/* Head flags: an element begins a run if its SIZE bytes differ from its predecessor's. */
#include "gl_common.glsl"
#include "located_bytes.glsl"

uniform highp usampler2D elements;

bool is_head(uint i)
{
#if SIZE % 4 == 0
    const uint words = uint(SIZE / 4);
    for (uint w = i * words; w < (i + 1u) * words; w++)
        if (tml_load_word(elements, w) != tml_load_word(elements, w - words))
            return true;
#else
    const uint size = uint(SIZE);
    for (uint at = 0u; at < size; at += 4u) {
        uint differ =
            load_bytes(elements, i * size + at) ^ load_bytes(elements, (i - 1u) * size + at);
        if ((differ & bytes_below(size - at)) != 0u)
            return true;
    }
#endif
    return false;
}
uint keep_word(uint first)
{
    uint word = 0u;
    for (uint b = 0u; b < 32u; b++)
        if (first + b == 0u || is_head(first + b))
            word |= 1u << b;
    return word;
}
#include "keep_bits.glsl"
