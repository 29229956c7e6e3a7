/* The values of outputs: an output of SIZE bytes is a copy of its source, word by word of the
 * target. If elements share words, bytes past the last output keep their values. */
#include "gl_common.glsl"
#include "located.glsl"
#include "located_bytes.glsl"

uniform highp usampler2D values;
uniform highp usampler2D old;

layout(location = 0) out highp uint value;

void main()
{
    uint word = tml_texel();
#if SIZE % 4 == 0
    const uint words = uint(SIZE / 4);
    uint output_index = word / words;
    uint source = source_of(output_index);
    if (source == NO_SOURCE)
        discard;
    value = tml_load_word(values, source * words + (word - output_index * words));
#else
    uint result = 0u, filled = 0u;
    while (filled < 4u) {
        uint byte = 4u * word + filled;
        uint output_index = byte / uint(SIZE), skip = byte - output_index * uint(SIZE);
        uint source = source_of(output_index);
        if (source == NO_SOURCE)
            break;
        uint taken = min(uint(SIZE) - skip, 4u - filled);
        uint bytes = load_bytes(values, source * uint(SIZE) + skip) & bytes_below(taken);
        result |= bytes << 8u * filled;
        filled += taken;
    }
    if (filled == 0u)
        discard;
    if (filled < 4u)
        result |= tml_load_word(old, word) & ~bytes_below(filled);
    value = result;
#endif
}
