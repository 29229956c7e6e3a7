/* Compiled pipelines kept on disk from one run to the next, so that a GPU's first operation does not
 * wait for its driver's compiler. One file for each device, driver version and version of the
 * program, in $XDG_CACHE_HOME/trommel or ~/.cache/trommel. Files that are damaged, or another's, are
 * ignored; without a place to write to, nothing is kept. No failure here is a command's. */
#ifndef CLI_PIPELINE_CACHE_H
#define CLI_PIPELINE_CACHE_H

#include <trommel/core.h>

/* Gives the context what an earlier run kept. */
void pipeline_cache_load(tml_context *tml);
/* Keeps the context's pipelines, if there are more than were loaded. Before tml_close. */
void pipeline_cache_save(tml_context *tml);

#endif
