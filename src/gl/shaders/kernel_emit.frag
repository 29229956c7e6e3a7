/* Outputs of an expansion's emit kernel, word by word. In a word of four bools, bytes that belong
 * to no output keep their values. */
#include "gl_common.glsl"
#include "gl_kernel.glsl"
#include "kernel_glue.glsl"
#include "located.glsl"

uniform highp usampler2D ranks;
uniform highp usampler2D old;

layout(location = 0) out highp uint value;

#if KERNEL_SIZE == 1

void main()
{
    uint word = tml_texel();
    uvec4 source = load_quad(sources, word), rank = load_quad(ranks, word);
    uint bytes = 0u, kept = 0u; /* kept: the mask of old bytes */
    for (uint k = 0u; k < 4u; k++) {
        if (source.x == NO_SOURCE)
            kept |= 0xffu << (8u * k);
        else
            bytes |= uint(kernel_at(source.x, source.x, rank.x)) << (8u * k);
        source = source.yzwx;
        rank = rank.yzwx;
    }
    if (kept == 0xffffffffu)
        discard;
    if (kept != 0u)
        bytes |= tml_load_word(old, word) & kept;
    value = bytes;
}

#else

#include "kernel_out.glsl"

void main()
{
    uint word = tml_texel(), j = word / OUT_WORDS;
    uint source = source_of(j);
    if (source == NO_SOURCE)
        discard;
    uint rank = part_of(load_quad(ranks, j >> 2), j);
    value = out_word(kernel_at(source, source, rank), word - j * OUT_WORDS);
}

#endif
