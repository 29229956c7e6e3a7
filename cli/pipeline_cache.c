#include "pipeline_cache.h"

#include <stdio.h>
#include <stdlib.h>

#include "cache_file.h"

/* An engine's cache data. They begin with a header of `header` bytes, whose bytes from `identity`
 * on identify device and driver. Data of fewer than `least` bytes are not worth a file. */
typedef struct cache_kind {
    tml_engine_kind engine;
    const char *name;
    size_t header, identity, least;
} cache_kind;

static const cache_kind kinds[] = {
    {TML_ENGINE_VULKAN, "vulkan", 32, 8, 32},
    {TML_ENGINE_GL, "gl", 16, 8, 17},
};
enum { HEADER_MOST = 32 };
_Static_assert(PIPELINE_CACHE_NAME >= 16 + 2 * HEADER_MOST, "room for a name");

static size_t loaded_size; /* size of the data that the context was given */
static bool is_used;       /* whether the open context uses a cache file */

static const cache_kind *kind_of(const tml_context *tml)
{
    tml_device_info device;
    tml_context_describe(tml, &device);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].engine == device.engine)
            return &kinds[i];
    return NULL;
}

/* The header identifies the device; tml_cache returns it even if nothing else is cached. */
bool pipeline_cache_name(tml_context *tml, char out[PIPELINE_CACHE_NAME])
{
    const cache_kind *kind = kind_of(tml);
    unsigned char header[HEADER_MOST];
    size_t size = kind ? kind->header : 0;
    if (!kind || tml_cache(tml, header, &size) || size != kind->header)
        return false;
    int used = snprintf(out, PIPELINE_CACHE_NAME, "%s-", kind->name);
    for (size_t i = kind->identity; i < kind->header; i++)
        used += snprintf(out + used, 3, "%02x", header[i]);
    return true;
}

void pipeline_cache_load(tml_context *tml)
{
    char name[PIPELINE_CACHE_NAME];
    size_t size;
    is_used = pipeline_cache_name(tml, name);
    loaded_size = 0;
    void *data = is_used ? cache_file_read(name, &size) : NULL;
    if (data && tml_cache_add(tml, data, size) == TML_OK)
        loaded_size = size;
    free(data);
}

void pipeline_cache_save(tml_context *tml)
{
    const cache_kind *kind = is_used ? kind_of(tml) : NULL;
    char name[PIPELINE_CACHE_NAME];
    size_t size = 0;
    if (!kind || tml_cache(tml, NULL, &size) || size <= loaded_size || size < kind->least ||
        !pipeline_cache_name(tml, name))
        return;
    void *data = malloc(size);
    if (data && tml_cache(tml, data, &size) == TML_OK)
        cache_file_write(name, data, size);
    free(data);
}
