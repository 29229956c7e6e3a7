/* The values of outputs: an output of SIZE bytes is a copy of its source, made word by word of the
 * target. If elements share words, bytes of outputs without a source keep their values. */
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
    uint result = 0u, mask = 0u;
    for (uint at = 0u; at < 4u;) {
        uint byte = 4u * word + at;
        uint output_index = byte / uint(SIZE), skip = byte - output_index * uint(SIZE);
        uint source = source_of(output_index);
        uint taken = min(uint(SIZE) - skip, 4u - at), here = bytes_below(taken) << 8u * at;
        if (source != NO_SOURCE) {
            result |= load_bytes(values, source * uint(SIZE) + skip) << 8u * at & here;
            mask |= here;
        }
        at += taken;
    }
    if (mask == 0u)
        discard;
    if (mask != 0xffffffffu)
        result |= tml_load_word(old, word) & ~mask;
    value = result;
#endif
}
