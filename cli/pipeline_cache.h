/* Keeps Vulkan's compiled pipelines and OpenGL ES programs on disk from one run to the next, so
 * that a GPU's first operation need not wait for its driver's compiler. Each device and driver
 * version has its own cache file (cache_file.h). A failure here never fails a command. */
#ifndef CLI_PIPELINE_CACHE_H
#define CLI_PIPELINE_CACHE_H

#include <trommel/core.h>

/* Writes the name of the device's cache file. Returns false if it has none. */
enum { PIPELINE_CACHE_NAME = 128 };
bool pipeline_cache_name(tml_context *tml, char out[PIPELINE_CACHE_NAME]);
/* Loads the cache file into the context. */
void pipeline_cache_load(tml_context *tml);
/* Saves the context's pipelines, if there are more than were loaded. Call it before tml_close. */
void pipeline_cache_save(tml_context *tml);

#endif
