/* What commands do with the numbers of all processes. */
#include <string.h>

#include "ranks.h"

tml_status ranks_sum(tml_context *tml, uint64_t *numbers, uint64_t count)
{
    const tml_team *team = ranks_team();
    if (!team)
        return TML_OK;
    uint64_t *before = tml_alloc(tml, 2 * count * sizeof *before), *all = before + count;
    if (!before)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for %llu sums",
                         (unsigned long long)count);
    tml_status status = team->scan(team->user, tml, count, numbers, before, all);
    if (status == TML_OK)
        memcpy(numbers, all, count * sizeof *all);
    tml_free(tml, before, 2 * count * sizeof *before);
    return status;
}

tml_status ranks_gather(tml_context *tml, const uint64_t *mine, uint64_t count, uint64_t *all)
{
    const tml_team *team = ranks_team();
    if (team)
        return team->gather(team->user, tml, count, mine, all);
    memcpy(all, mine, count * sizeof *all);
    return TML_OK;
}
