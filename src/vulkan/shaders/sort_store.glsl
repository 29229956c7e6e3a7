/* Stores of keys and words of a sort. */
void store_code(uint i, code_t code)
{
#if SORT_WORDS == 1
    uint key = DECODES ? code_of(code, SORT_SIGN(code ^ args.flip_low, 32u)) : code;
    if (IS_LONG)
        store_word(args.keys_out, i, key);
    else
        words_at(args.keys_out).v[i] = key;
#else
    uvec2 key = DECODES ? code_of(code, SORT_SIGN(code.y ^ args.flip_high, 32u)) : code;
    if (IS_LONG)
        pairs_at(address_of(args.keys_out, i, 8u)).v[0] = key;
    else
        pairs_at(args.keys_out).v[i] = key;
#endif
}
void store_value(uint i, uint value)
{
    if (IS_LONG)
        store_word(args.values_out, i, value);
    else
        words_at(args.values_out).v[i] = value;
}
