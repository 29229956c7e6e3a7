/* Scans the sums of tiles to output offsets (places), in one workgroup that loops over them. */
#include "expand.glsl"

const uint SUMS = 16u; /* consecutive, per invocation */

shared uvec2 totals[SUBGROUPS_MAX];

void main()
{
    if (group_index() != 0u)
        return;
    uint local = gl_LocalInvocationID.x, length = stream_length(args.length_at, args.bound);
    uint tiles = (length + (EXPAND_SOURCES - 1u)) / EXPAND_SOURCES;
    if (local < EXPAND_CONTROL)
        store_word(args.control, local, 0u);

    uvec2 sum = load64_or_zero(args.base);
    for (uint begin = 0u; begin < tiles; begin += GROUP * SUMS) {
        uint first = begin + local * SUMS;
        uvec2 own = uvec2(0u);
        for (uint i = first; i < min(first + SUMS, tiles); i++)
            own = add64(own, load64(address_of(args.places, i, 8u)));

        uvec2 through = subgroup_inclusive_add64(own);
        if (gl_SubgroupInvocationID == SUBGROUP - 1u)
            totals[subgroup_index()] = through;
        barrier();
        uvec2 place = add64(sum, sub64(through, own));
        for (uint s = 0u; s < GROUP / SUBGROUP; s++) {
            if (s < subgroup_index())
                place = add64(place, totals[s]);
            sum = add64(sum, totals[s]);
        }
        for (uint i = first; i < min(first + SUMS, tiles); i++) {
            uvec2 at = address_of(args.places, i, 8u), here = load64(at);
            store64(at, place);
            place = add64(place, here);
        }
        barrier();
    }
    if (local == 0u) {
        store64(address_of(args.places, tiles, 8u), sum);
        report_total(sum);
    }
}
