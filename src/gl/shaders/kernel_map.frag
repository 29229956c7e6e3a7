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

/* OUT: which of several outputs is drawn, of OUT_SIZE bytes. */
#ifndef OUT
#define OUT 0
#define OUT_SIZE KERNEL_SIZE
#endif
#if OUT == 0
#define KERNEL_VALUE(result) KERNEL_OUT_0(result)
#elif OUT == 1
#define KERNEL_VALUE(result) KERNEL_OUT_1(result)
#elif OUT == 2
#define KERNEL_VALUE(result) KERNEL_OUT_2(result)
#else
#define KERNEL_VALUE(result) KERNEL_OUT_3(result)
#endif

uint part_of(uint value, uint part)
{
    return value;
}
uint part_of(uvec2 value, uint part)
{
    return part == 0u ? value.x : value.y;
}
uint part_of(uvec3 value, uint part)
{
    return part == 2u ? value.z : part_of(value.xy, part);
}
uint part_of(uvec4 value, uint part)
{
    return part == 3u ? value.w : part_of(value.xyz, part);
}

void main()
{
    const uint EACH = uint(OUT_SIZE) / 4u;
    uint at = tml_texel();
    uint i = at / EACH;
    if (i >= stream_length())
        discard;
    KERNEL_RESULT result = kernel_at(i, i, 0u);
    word = part_of(kernel_words(KERNEL_VALUE(result)), at - i * EACH);
}
#endif
