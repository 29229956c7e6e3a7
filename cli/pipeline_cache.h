/* Compiled pipelines of Vulkan and programs of OpenGL ES, kept on disk from one run to the next, so
 * that a GPU's first operation does not wait for its driver's compiler: a cache file for each
 * device and driver version (cache_file.h). Another's are ignored. No failure here is a
 * command's. */
#ifndef CLI_PIPELINE_CACHE_H
#define CLI_PIPELINE_CACHE_H

#include <trommel/core.h>

/* The cache file of the context's device; false where it has none. */
enum { PIPELINE_CACHE_NAME = 128 };
bool pipeline_cache_name(tml_context *tml, char out[PIPELINE_CACHE_NAME]);
/* Gives the context what an earlier run kept. */
void pipeline_cache_load(tml_context *tml);
/* Keeps the context's pipelines, if there are more than were loaded. Before tml_close. */
void pipeline_cache_save(tml_context *tml);

#endif
