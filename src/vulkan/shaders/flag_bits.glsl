/* Four flags, each a byte of a word, as four bits: any byte but 0 is 1. */
uint flag_bits(uint flags)
{
    uint is_set = ((flags & 0x7f7f7f7fu) + 0x7f7f7f7fu | flags) & 0x80808080u;
    return (is_set >> 7) * 0x01020408u >> 24;
}
