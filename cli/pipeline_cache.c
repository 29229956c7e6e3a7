#include "pipeline_cache.h"

#include <stdlib.h>

#include "cache_file.h"

#ifdef TML_VULKAN

#    include <stdio.h>
#    include <trommel/vulkan.h>

/* Vulkan's header of a cache's data: sizes, vendor, device, the driver's version as a UUID. */
enum { HEADER = 32 };

static bool is_used;       /* by the open context */
static size_t loaded_size; /* of the data that it was given */

/* Any context can tell its header. */
bool pipeline_cache_name(tml_context *tml, char out[PIPELINE_CACHE_NAME])
{
    unsigned char header[HEADER];
    size_t size = sizeof header;
    tml_device_info device;
    tml_context_describe(tml, &device);
    if (device.engine != TML_ENGINE_VULKAN || tml_vulkan_cache(tml, header, &size) ||
        size != HEADER)
        return false;
    int used = snprintf(out, PIPELINE_CACHE_NAME, "vulkan-");
    for (int i = 8; i < HEADER; i++) /* vendor, device, driver */
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
    if (data && tml_vulkan_cache_add(tml, data, size) == TML_OK)
        loaded_size = size;
    free(data);
}

void pipeline_cache_save(tml_context *tml)
{
    char name[PIPELINE_CACHE_NAME];
    size_t size = 0;
    if (!is_used || tml_vulkan_cache(tml, NULL, &size) || size <= loaded_size || size < HEADER ||
        !pipeline_cache_name(tml, name))
        return;
    void *data = malloc(size);
    if (data && tml_vulkan_cache(tml, data, &size) == TML_OK)
        cache_file_write(name, data, size);
    free(data);
}

#else

bool pipeline_cache_name(tml_context *tml, char out[PIPELINE_CACHE_NAME])
{
    (void)tml;
    (void)out;
    return false;
}

void pipeline_cache_load(tml_context *tml)
{
    (void)tml;
}

void pipeline_cache_save(tml_context *tml)
{
    (void)tml;
}

#endif
