/* Exchange of numbers between the processes that run a command together. */
#include <string.h>

#include "ranks.h"

tml_status ranks_gather(tml_context *tml, const uint64_t *mine, uint64_t count, uint64_t *all)
{
    const tml_team *team = ranks_team();
    if (team)
        return team->gather(team->user, tml, count, mine, all);
    memcpy(all, mine, count * sizeof *all);
    return TML_OK;
}
