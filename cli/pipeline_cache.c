#include "pipeline_cache.h"

#ifdef TML_VULKAN

#    include <errno.h>
#    include <stdio.h>
#    include <stdlib.h>
#    include <string.h>
#    include <sys/stat.h>
#    include <trommel/vulkan.h>
#    include <unistd.h>

/* Vulkan's header of a cache's data: sizes, vendor, device, the driver's version as a UUID. */
enum { HEADER = 32, PATH_SIZE = 4096 };
static const size_t most_bytes = (size_t)256 << 20;

/* What stands before the data in a file. */
typedef struct file_head {
    char magic[8];
    uint64_t size;     /* of the data */
    uint64_t checksum; /* of the data: drivers need not check theirs */
} file_head;
static const char magic[8] = "tmlpipe1";

static bool is_used;       /* by the open context */
static size_t loaded_size; /* of the data that it was given */

static uint64_t checksum_of(const unsigned char *data, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * 0x100000001b3u;
    return hash;
}

/* The folder, made where it is missing if that is wanted. */
static bool folder_path(bool is_made, char out[PATH_SIZE])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length;
    if (cache && cache[0] == '/')
        length = snprintf(out, PATH_SIZE, "%s/trommel", cache);
    else if (home && home[0] == '/')
        length = snprintf(out, PATH_SIZE, "%s/.cache/trommel", home);
    else
        return false;
    if (length >= PATH_SIZE)
        return false;
    for (char *slash = strchr(out + 1, '/'); is_made; slash = strchr(slash + 1, '/')) {
        if (slash)
            *slash = '\0';
        bool is_there = mkdir(out, 0700) == 0 || errno == EEXIST;
        if (!slash)
            return is_there;
        *slash = '/';
    }
    return true;
}

/* The file of the context's device. Any context can tell its header. */
static bool file_path(tml_context *tml, bool is_made, char out[PATH_SIZE])
{
    unsigned char header[HEADER];
    size_t size = sizeof header;
    char folder[PATH_SIZE], name[2 * HEADER + 1];
    if (tml_vulkan_cache(tml, header, &size) || size != HEADER || !folder_path(is_made, folder))
        return false;
    for (int i = 8; i < HEADER; i++) /* vendor, device, driver */
        snprintf(name + 2 * (i - 8), 3, "%02x", header[i]);
    return snprintf(out, PATH_SIZE, "%s/vulkan-%s-%d.%d.%d", folder, name, TML_VERSION_MAJOR,
                    TML_VERSION_MINOR, TML_VERSION_PATCH) < PATH_SIZE;
}

static bool is_on_vulkan(const tml_context *tml)
{
    tml_device_info device;
    tml_context_describe(tml, &device);
    return device.engine == TML_ENGINE_VULKAN;
}

void pipeline_cache_load(tml_context *tml)
{
    char path[PATH_SIZE];
    file_head head;
    struct stat info;
    is_used = is_on_vulkan(tml);
    loaded_size = 0;
    if (!is_used || !file_path(tml, false, path))
        return;
    FILE *file = fopen(path, "rb");
    if (!file)
        return;
    unsigned char *data = NULL;
    if (fread(&head, sizeof head, 1, file) == 1 && memcmp(head.magic, magic, sizeof magic) == 0 &&
        fstat(fileno(file), &info) == 0 && head.size <= most_bytes &&
        (uint64_t)info.st_size == sizeof head + head.size)
        data = malloc((size_t)head.size + 1);
    if (data && fread(data, 1, (size_t)head.size, file) == head.size &&
        checksum_of(data, (size_t)head.size) == head.checksum &&
        tml_vulkan_cache_add(tml, data, (size_t)head.size) == TML_OK)
        loaded_size = (size_t)head.size;
    free(data);
    fclose(file);
}

/* Beside the target and renamed, for other processes may read it or write it now. */
static void write_file(const char *path, const unsigned char *data, size_t size)
{
    char temporary[PATH_SIZE + 8];
    file_head head = {.size = size, .checksum = checksum_of(data, size)};
    memcpy(head.magic, magic, sizeof magic);
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    int descriptor = mkstemp(temporary);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (!file) {
        if (descriptor >= 0)
            close(descriptor);
        return;
    }
    bool is_good = fwrite(&head, sizeof head, 1, file) == 1 && fwrite(data, 1, size, file) == size;
    is_good = fclose(file) == 0 && is_good;
    if (!is_good || rename(temporary, path) != 0)
        unlink(temporary);
}

void pipeline_cache_save(tml_context *tml)
{
    char path[PATH_SIZE];
    size_t size = 0;
    if (!is_used || tml_vulkan_cache(tml, NULL, &size) || size <= loaded_size || size < HEADER ||
        size > most_bytes || !file_path(tml, true, path))
        return;
    unsigned char *data = malloc(size);
    if (data && tml_vulkan_cache(tml, data, &size) == TML_OK)
        write_file(path, data, size);
    free(data);
}

#else

void pipeline_cache_load(tml_context *tml)
{
    (void)tml;
}

void pipeline_cache_save(tml_context *tml)
{
    (void)tml;
}

#endif
