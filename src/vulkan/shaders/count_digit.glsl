/* Counts a digit in a table of shared memory. One atomic does for a subgroup whose digits are all
 * the same, as the highest ones of small numbers are. All its invocations call it. */
#define COUNT_DIGIT(table, digit, is_counted)                                                      \
    {                                                                                              \
        bool all_same =                                                                            \
            subgroupBallot((is_counted) && (digit) == subgroupBroadcastFirst(digit)) ==            \
            subgroupBallot(true);                                                                  \
        if (all_same ? subgroupElect() : (is_counted))                                             \
            atomicAdd(table, all_same ? SUBGROUP : 1u);                                            \
    }
