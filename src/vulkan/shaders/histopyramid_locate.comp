/* HISTOPYRAMID: descends from the apex to each output's source. Each step compares the key index
 * with the inclusive prefix sums of the children. The number of sums that are at most the key index
 * is the number of the child to descend to.
 *
 * After: Ziegler, Tevs, Theobalt, Seidel: GPU Point List Generation through Histogram Pyramids.
 * 2006; Dyken, Ziegler, Theobalt, Seidel: High-speed Marching Cubes using HistoPyramids. 2008. */
#include "locate.glsl"

ARGS_USE(locate_args)

/* Cells of a level, rounded up to a multiple of four. */
uint padded_cells(uint level)
{
    uint cells = args.count;
    if (level > 0u)
        cells = ((cells - 1u) >> (2u * level)) + 1u;
    return (cells + 3u) & ~3u;
}

void locate(uint output_index, out uint source, out uint rank)
{
    uint key_index = output_index, cell = 0u, level_at = args.apex_at;
    for (uint level = args.apex; level > 0u; level--) {
        level_at -= padded_cells(level - 1u);
        cell *= 4u;
        uvec4 child = quads_at(address_of_word(args.state, level_at + cell)).v[0];
        uint two = add_saturating(child.x, child.y), three = add_saturating(two, child.z);
        bvec3 reached = greaterThanEqual(uvec3(key_index), uvec3(child.x, two, three));
        cell += uint(reached.x) + uint(reached.y) + uint(reached.z);
        key_index -= reached.z ? three : reached.y ? two : reached.x ? child.x : 0u;
    }
    source = cell;
    rank = key_index;
}

void main()
{
    uint j = group_index() * GROUP + gl_LocalInvocationID.x;
    if (j >= min(LOAD_U32(args.total, 0u), args.limit))
        return;
    uint source, rank;
    locate(j, source, rank);
    uint at = is_none(args.skip) ? j : load64_within(args.skip, args.limit) + j;
    bool fits = at < args.limit;
    if (!is_none(args.source) && fits)
        store_word(args.source, at, source);
    if (!is_none(args.source64) && fits)
        store64(address_of(args.source64, at, 8u), uvec2(source, 0u));
    if (!is_none(args.rank) && fits)
        store_word(args.rank, at, rank);
    uint place = is_none(args.first) ? j : load64_within(args.first, args.room) + j;
    if (is_none(args.indices) || place >= args.room)
        return;
    if (args.wide != 0u)
        store64(address_of(args.indices, place, 8u), uvec2(source, 0u));
    else
        store_word(args.indices, place, source);
}
