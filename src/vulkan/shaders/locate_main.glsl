/* The rest of a shader that locates: asks locate(output_index, source, rank) for each output. */
void main()
{
    uint j = group_index() * GROUP + gl_LocalInvocationID.x;
    if (j >= min(LOAD_U32(args.total, 0u), args.limit))
        return;
    uint source, rank;
    locate(j, source, rank);
    if (!is_none(args.source))
        store_word(args.source, j, source);
    if (!is_none(args.source64))
        store64(address_of(args.source64, j, 8u), uvec2(source, 0u));
    if (!is_none(args.rank))
        store_word(args.rank, j, rank);
    uint place = is_none(args.first) ? j : LOAD_U32(args.first, 0u) + j;
    if (is_none(args.indices) || place >= args.room)
        return;
    if (args.wide != 0u)
        store64(address_of(args.indices, place, 8u), uvec2(source, 0u));
    else
        store_word(args.indices, place, source);
}
