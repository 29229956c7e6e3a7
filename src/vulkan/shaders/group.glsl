/* Scans of u32 over a workgroup. */
shared uint group_sums[SUBGROUPS_MAX];

/* Exclusive scan of the subgroups' sums, each the same in all lanes, in place; returns the total.
 * Has one barrier; another must precede the next call. */
uint scan_subgroups(inout uint sum)
{
    if (subgroupElect())
        group_sums[subgroup_index()] = sum;
    barrier();
    uint total = 0u, before = 0u;
    for (uint first = 0u; first < GROUP / SUBGROUP; first += SUBGROUP) {
        uint i = first + gl_SubgroupInvocationID;
        uint here = i < GROUP / SUBGROUP ? group_sums[i] : 0u;
        before += subgroupAdd(i < subgroup_index() ? here : 0u);
        total += subgroupAdd(here);
    }
    sum = before;
    return total;
}
/* Exclusive scan over the workgroup of a u32 per invocation, and the sum of all. */
uint scan_group(uint own, out uint total)
{
    uint through = subgroupInclusiveAdd(own);
    uint before = subgroupShuffle(through, SUBGROUP - 1u);
    barrier();
    total = scan_subgroups(before);
    return before + through - own;
}
