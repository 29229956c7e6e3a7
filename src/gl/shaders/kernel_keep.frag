/* Keep bits from a kernel. */
#include "gl_common.glsl"
#include "gl_kernel.glsl"
#include "kernel_glue.glsl"

uint keep_bit(uint i)
{
    return uint(kernel_at(i, i, 0u));
}
uint keep_word(uint first)
{
    uint word = 0u;
    for (uint b = 0u; b < 32u; b += 4u) {
        uint i = first + b;
        uint four = keep_bit(i) | keep_bit(i + 1u) << 1 | keep_bit(i + 2u) << 2;
        word |= (four | keep_bit(i + 3u) << 3) << b;
    }
    return word;
}
#include "keep_bits.glsl"
