/* Bytes at any index of an array. Included after gl_common.glsl. */

/* Four bytes from byte index at on. */
uint load_bytes(highp usampler2D words, uint at)
{
    uint shift = (at & 3u) << 3;
    uint low = tml_load_word(words, at >> 2);
    if (shift == 0u)
        return low;
    return low >> shift | tml_load_word(words, (at >> 2) + 1u) << 32u - shift;
}

/* The mask of a word's lowest count bytes; of all four if count is larger. */
uint bytes_below(uint count)
{
    return count < 4u ? (1u << 8u * count) - 1u : 0xffffffffu;
}
