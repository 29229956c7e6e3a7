/* The progress of long reads and writes. */
#include "io/io_internal.h"

void tml_io_progress_start(io_progress *progress, tml_context *tml, const char *stage,
                           uint64_t total)
{
    *progress = (io_progress){.tml = tml, .stage = stage, .total = total};
}

bool tml_io_progress_add(io_progress *progress, uint64_t size)
{
    progress->done += size;
    if (progress->done < progress->next)
        return !tml_is_cancelled(progress->tml);
    progress->next = progress->done + progress->total / 100 + 1;
    double fraction = progress->total ? (double)progress->done / (double)progress->total : 1.0;
    return tml_progress(progress->tml, progress->stage, fraction < 1.0 ? fraction : 1.0);
}
