/* How counted things are shared among processes or tasks. */
#ifndef CLI_SHARES_H
#define CLI_SHARES_H

#include <stdint.h>

/* Returns where a rank's share of count things begins; for rank == ranks: count. */
static inline uint64_t share_begin(uint64_t count, uint64_t rank, uint64_t ranks)
{
    return count / ranks * rank + count % ranks * rank / ranks;
}

#endif
