/* Keep bits from flag bytes (KEEP_FLAGS) or from a mask of bits (KEEP_MASK). */
#include "gl_common.glsl"

#ifdef KEEP_FLAGS

uniform highp usampler2D flags;

/* Four byte flags of a word as four bits: a byte other than 0 gives 1. */
uint flag_bits(uint word)
{
    uint ones = (((word & 0x7f7f7f7fu) + 0x7f7f7f7fu) | word) >> 7 & 0x01010101u;
    return ones * 0x00204081u >> 21 & 0xfu;
}
uint keep_word(uint first)
{
    uint word = 0u;
    for (uint i = 0u; i < 8u; i++)
        word |= flag_bits(tml_load_word(flags, (first >> 2) + i)) << (4u * i);
    return word;
}

#else

uniform highp usampler2D mask;

uint keep_word(uint first)
{
    return tml_load_word(mask, first >> 5);
}

#endif
#include "keep_bits.glsl"
