#include "cache_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trommel/core.h>

#include "system.h"

enum { PATH_SIZE = 4096 };
static const size_t most_bytes = (size_t)256 << 20;

/* A file begins with this, followed by the data. */
typedef struct file_head {
    char magic[8];
    uint64_t size;     /* size of the data */
    uint64_t checksum; /* checksum of the data, since drivers may not check theirs */
} file_head;
static const char magic[8] = "tmlpipe1";

uint64_t cache_file_hash(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

/* Makes a folder and its missing parents. */
static bool make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash)
            *slash = '\0';
        bool is_there = system_make_folder(path);
        if (!slash)
            return is_there;
        *slash = '/';
    }
}

/* Sets out to the path of a cache file. is_made: also makes its folder if that is missing. */
static bool file_path(const char *name, bool is_made, char out[PATH_SIZE])
{
    char folder[PATH_SIZE];
    return system_cache_folder(folder, sizeof folder) && (!is_made || make_folders(folder)) &&
           snprintf(out, PATH_SIZE, "%s/%s-%d.%d.%d", folder, name, TML_VERSION_MAJOR,
                    TML_VERSION_MINOR, TML_VERSION_PATCH) < PATH_SIZE;
}

bool cache_file_exists(const char *name)
{
    char path[PATH_SIZE];
    system_file info;
    return file_path(name, false, path) && system_examine(path, &info);
}

void *cache_file_read(const char *name, size_t *size)
{
    char path[PATH_SIZE];
    file_head head;
    system_file info;
    FILE *file = file_path(name, false, path) ? fopen(path, "rb") : NULL;
    if (!file)
        return NULL;
    unsigned char *data = NULL;
    if (fread(&head, sizeof head, 1, file) == 1 && memcmp(head.magic, magic, sizeof magic) == 0 &&
        system_examine(path, &info) && head.size <= most_bytes &&
        info.size == sizeof head + head.size)
        data = malloc((size_t)head.size + 1);
    *size = data ? (size_t)head.size : 0;
    bool is_whole = data && fread(data, 1, *size, file) == *size &&
                    cache_file_hash(CACHE_FILE_HASH, data, *size) == head.checksum;
    fclose(file);
    if (is_whole)
        return data;
    free(data);
    return NULL;
}

bool cache_file_write(const char *name, const void *data, size_t size)
{
    char path[PATH_SIZE], temporary[PATH_SIZE + 8];
    file_head head = {.size = size, .checksum = cache_file_hash(CACHE_FILE_HASH, data, size)};
    if (size > most_bytes || !file_path(name, true, path))
        return false;
    memcpy(head.magic, magic, sizeof magic);
    FILE *file = system_create_beside(path, "wb", true, temporary, sizeof temporary);
    if (!file)
        return false;
    bool is_good = fwrite(&head, sizeof head, 1, file) == 1 && fwrite(data, 1, size, file) == size;
    is_good = fclose(file) == 0 && is_good && system_rename(temporary, path);
    if (!is_good)
        system_remove(temporary);
    return is_good;
}
