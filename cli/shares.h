/* Which share each process or task takes of things that are counted. */
#ifndef CLI_SHARES_H
#define CLI_SHARES_H

#include <stdint.h>

/* Where the share of rank begins, of ranks that share count things evenly; of rank ranks: count. */
static inline uint64_t share_begin(uint64_t count, uint64_t rank, uint64_t ranks)
{
    return count / ranks * rank + count % ranks * rank / ranks;
}

#endif
