/* Outputs of an expansion's emit kernel, word by word. In a word of four bools, bytes past the last
 * output keep their values. */
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
    if (source.x == NO_SOURCE)
        discard;
    uint bytes = 0u;
    for (uint k = 0u; k < 4u && source.x != NO_SOURCE; k++) {
        bytes |= uint(kernel_at(source.x, source.x, rank.x)) << (8u * k);
        source = uvec4(source.yzw, NO_SOURCE);
        rank = uvec4(rank.yzw, 0u);
    }
    /* The last of the four sources tells whether all exist. */
    if (load_quad(sources, word).w == NO_SOURCE)
        for (uint k = 0u; k < 4u; k++)
            if (part_of(load_quad(sources, word), k) == NO_SOURCE)
                bytes |= tml_load_word(old, word) & (0xffu << (8u * k));
    value = bytes;
}

#else

void main()
{
    const uint words = uint(KERNEL_SIZE) / 4u;
    uint word = tml_texel(), j = word / words;
    uint source = source_of(j);
    if (source == NO_SOURCE)
        discard;
    uint rank = part_of(load_quad(ranks, j >> 2), j);
    KERNEL_WORDS result = kernel_words(kernel_at(source, source, rank));
#    if KERNEL_SIZE == 4
    value = result;
#    else
    uint part = word - j * words;
    value = part == 0u ? result.x : result.y;
#        if KERNEL_SIZE >= 12
    if (part == 2u)
        value = result.z;
#        endif
#        if KERNEL_SIZE == 16
    if (part == 3u)
        value = result.w;
#        endif
#    endif
}

#endif
