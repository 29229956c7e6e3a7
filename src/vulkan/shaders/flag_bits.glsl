/* Four byte flags of a word as four bits: a byte other than 0 gives 1. */
uint flag_bits(uint flags)
{
    uint is_set = ((flags & 0x7f7f7f7fu) + 0x7f7f7f7fu | flags) & 0x80808080u;
    return (is_set >> 7) * 0x01020408u >> 24;
}
