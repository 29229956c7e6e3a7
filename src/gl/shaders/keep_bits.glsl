/* The base of a pyramid of bits: texel i holds the keep bits of elements 128 i to 128 i + 127.
 * Included after keep_word(first), which returns 32 keep bits, is defined. Bits past the stream
 * become 0. */
layout(location = 0) out highp uvec4 bits;

uint keep_below(uint first, uint length)
{
    if (first >= length)
        return 0u;
    uint word = keep_word(first);
    return length - first < 32u ? word & ((1u << (length - first)) - 1u) : word;
}

void main()
{
    uint first = 128u * tml_texel(), length = stream_length();
    bits.x = keep_below(first, length);
    bits.y = keep_below(first + 32u, length);
    bits.z = keep_below(first + 64u, length);
    bits.w = keep_below(first + 96u, length);
}
