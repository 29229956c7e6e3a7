/* out[i] = kernel(...), word by word. In a word of four bools, bytes past the stream keep their
 * values. */
#include "gl_common.glsl"
#include "gl_kernel.glsl"
#include "kernel_glue.glsl"

uniform highp usampler2D old;
out uint word;

#if KERNEL_SIZE == 1
void main()
{
    uint n = stream_length(), first = 4u * tml_texel();
    if (first >= n)
        discard;
    uint bits = first + 4u > n ? tml_load_word(old, tml_texel()) : 0u;
    for (uint k = 0u; k < 4u && first + k < n; k++) {
        uint shift = 8u * k;
        uint byte = kernel_at(first + k, first + k, 0u) ? 1u : 0u;
        bits = (bits & ~(0xffu << shift)) | (byte << shift);
    }
    word = bits;
}
#else

#include "kernel_out.glsl"

void main()
{
    uint at = tml_texel();
    uint i = at / OUT_WORDS;
    if (i >= stream_length())
        discard;
    word = out_word(kernel_at(i, i, 0u), at - i * OUT_WORDS);
}
#endif
