/* Shared by shaders that write keep bits: a tile per workgroup, a word per invocation. Included
 * after args. */
shared uint tile_counts[SUBGROUPS_MAX];

bool is_in_tiles(uint tile)
{
    return tile < max(1u, (args.bound + (TILE_ITEMS - 1u)) / TILE_ITEMS);
}
/* The mask of a word's bits that belong to elements before count; bit 0 is element first. */
uint bits_before(uint first, uint count)
{
    return first >= count ? 0u : count - first >= 32u ? 0xffffffffu : (1u << (count - first)) - 1u;
}
void store_tile(uint tile, uint word)
{
    uint local = gl_LocalInvocationID.x;
    store_word(args.bits, tile * TILE_WORDS + local, word);
    uint kept = subgroupAdd(popcount32(word));
    if (gl_SubgroupInvocationID == 0u)
        tile_counts[subgroup_index()] = kept;
    barrier();
    if (local != 0u)
        return;
    uint sum = 0u;
    for (uint s = 0u; s < GROUP / SUBGROUP; s++)
        sum += tile_counts[s];
    store_word(args.counts, tile, sum);
}
