/* Sums over a subgroup and over a workgroup, in a fixed order, so that float sums are the same in
 * every run. The type is u32, unless the including file defines SUM_U64, SUM_F32 or SUM_F64. With
 * SUM_MOST, the largest u32 or u64 is found instead of the sum. 0 is neutral in both cases. */
#if defined(SUM_U64)
#define sum_t uvec2
const sum_t ZERO = uvec2(0u);
#elif defined(SUM_F32)
#define sum_t float
const sum_t ZERO = 0.0;
#elif defined(SUM_F64)
#define sum_t double
const sum_t ZERO = 0.0lf;
#else
#define SUM_U32
#define sum_t uint
const sum_t ZERO = 0u;
#endif

sum_t add(sum_t a, sum_t b)
{
#if defined(SUM_MOST) && defined(SUM_U64)
    return a.y > b.y || (a.y == b.y && a.x > b.x) ? a : b;
#elif defined(SUM_MOST)
    return max(a, b);
#elif defined(SUM_U64)
    return add64(a, b);
#else
    precise sum_t sum = a + b;
    return sum;
#endif
}

sum_t lane_of(sum_t x, uint lane)
{
#ifdef SUM_F64
    return packDouble2x32(subgroupShuffle(unpackDouble2x32(x), lane));
#else
    return subgroupShuffle(x, lane);
#endif
}

/* Inclusive scan over the subgroup: steps of 1, 2, 4 ... lanes (Kogge, Stone: A parallel algorithm
 * for the efficient solution of a general class of recurrence equations. 1973). */
sum_t scan_lanes(sum_t x)
{
#if defined(SUM_U32) && defined(SUM_MOST)
    return subgroupInclusiveMax(x);
#elif defined(SUM_U32)
    return subgroupInclusiveAdd(x);
#else
    for (uint step = 1u; step < SUBGROUP; step <<= 1) {
        uint lane = gl_SubgroupInvocationID;
        sum_t both = add(lane_of(x, lane >= step ? lane - step : lane), x);
        x = lane >= step ? both : x;
    }
    return x;
#endif
}
sum_t add_lanes(sum_t x)
{
#if defined(SUM_U32) && defined(SUM_MOST)
    return subgroupMax(x);
#elif defined(SUM_U32)
    return subgroupAdd(x);
#else
    return lane_of(scan_lanes(x), SUBGROUP - 1u);
#endif
}

shared sum_t subgroup_sums[SUBGROUPS_MAX];

/* Exclusive scan of the subgroups' sums; all lanes of a subgroup pass the same sum. total receives
 * the sum of all. Has one barrier; another must precede the next call. */
sum_t scan_subgroups(sum_t own, out sum_t total)
{
    if (subgroupElect())
        subgroup_sums[subgroup_index()] = own;
    barrier();
    total = ZERO;
    sum_t before = ZERO;
    for (uint first = 0u; first < GROUP / SUBGROUP; first += SUBGROUP) {
        uint i = first + gl_SubgroupInvocationID;
        sum_t theirs = subgroup_sums[min(i, GROUP / SUBGROUP - 1u)];
        sum_t through = scan_lanes(i < GROUP / SUBGROUP ? theirs : ZERO);
        uint here = subgroup_index() - first; /* at least SUBGROUP: not in this round */
        sum_t sooner = lane_of(through, (here - 1u) & (SUBGROUP - 1u));
        if (here < SUBGROUP)
            before = here == 0u ? total : add(total, sooner);
        total = add(total, lane_of(through, SUBGROUP - 1u));
    }
    return before;
}

#ifdef SUM_U32
/* Exclusive scan over the workgroup of a u32 per invocation, and the sum of all. */
uint scan_group(uint own, out uint total)
{
    uint through = scan_lanes(own);
    barrier();
    uint before = scan_subgroups(subgroupShuffle(through, SUBGROUP - 1u), total);
    return before + through - own;
}
#endif
