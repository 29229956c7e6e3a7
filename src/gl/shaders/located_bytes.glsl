/* Bytes at any position of an array. Stands after gl_common.glsl. */

/* Four bytes from a byte's position on. */
uint load_bytes(highp usampler2D words, uint at)
{
    uint shift = (at & 3u) << 3;
    uint low = tml_load_word(words, at >> 2);
    if (shift == 0u)
        return low;
    return low >> shift | tml_load_word(words, (at >> 2) + 1u) << 32u - shift;
}

/* A mask of as many of a word's bytes, from the lowest on; all for four and more. */
uint bytes_below(uint count)
{
    return count < 4u ? (1u << 8u * count) - 1u : 0xffffffffu;
}
