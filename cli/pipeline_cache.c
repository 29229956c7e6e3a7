#include "pipeline_cache.h"

#include <stdio.h>
#include <stdlib.h>

#include "cache_file.h"

#ifdef TML_GL
#    include <trommel/gl.h>
#endif
#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
#endif

/* An engine whose data begin with a header, in which the device and its driver stand from a byte
 * on; with fewer bytes than least they are not worth a file. */
typedef struct cache_kind {
    tml_engine_kind engine;
    const char *name;
    size_t header, identity, least;
    tml_status (*get)(tml_context *tml, void *data, size_t *size);
    tml_status (*add)(tml_context *tml, const void *data, size_t size);
} cache_kind;

static const cache_kind kinds[] = {
#ifdef TML_VULKAN
    {TML_ENGINE_VULKAN, "vulkan", 32, 8, 32, tml_vulkan_cache, tml_vulkan_cache_add},
#endif
#ifdef TML_GL
    {TML_ENGINE_GL, "gl", 16, 8, 17, tml_gl_cache, tml_gl_cache_add},
#endif
    {TML_ENGINE_CPU, "", 0, 0, 0, NULL, NULL},
};
enum { HEADER_MOST = 32 };
_Static_assert(PIPELINE_CACHE_NAME >= 16 + 2 * HEADER_MOST, "room for a name");

static size_t loaded_size; /* of the data that the open context was given */
static bool is_used;       /* by it */

static const cache_kind *kind_of(const tml_context *tml)
{
    tml_device_info device;
    tml_context_describe(tml, &device);
    for (const cache_kind *kind = kinds; kind->get; kind++)
        if (kind->engine == device.engine)
            return kind;
    return NULL;
}

/* Any context can tell its header. */
bool pipeline_cache_name(tml_context *tml, char out[PIPELINE_CACHE_NAME])
{
    const cache_kind *kind = kind_of(tml);
    unsigned char header[HEADER_MOST];
    size_t size = kind ? kind->header : 0;
    if (!kind || kind->get(tml, header, &size) || size != kind->header)
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
    if (data && kind_of(tml)->add(tml, data, size) == TML_OK)
        loaded_size = size;
    free(data);
}

void pipeline_cache_save(tml_context *tml)
{
    const cache_kind *kind = is_used ? kind_of(tml) : NULL;
    char name[PIPELINE_CACHE_NAME];
    size_t size = 0;
    if (!kind || kind->get(tml, NULL, &size) || size <= loaded_size || size < kind->least ||
        !pipeline_cache_name(tml, name))
        return;
    void *data = malloc(size);
    if (data && kind->get(tml, data, &size) == TML_OK)
        cache_file_write(name, data, size);
    free(data);
}
