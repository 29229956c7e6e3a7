/* Counts a digit in a table of shared memory. If all digits of a subgroup are equal, as the highest
 * digits of small numbers are, one atomic counts them all. All invocations of the subgroup call
 * it. */
#define COUNT_DIGIT(table, digit, is_counted)                                                      \
    {                                                                                              \
        bool all_same =                                                                            \
            subgroupBallot((is_counted) && (digit) == subgroupBroadcastFirst(digit)) ==            \
            subgroupBallot(true);                                                                  \
        if (all_same ? subgroupElect() : (is_counted))                                             \
            atomicAdd(table, all_same ? SUBGROUP : 1u);                                            \
    }
