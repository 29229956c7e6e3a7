#include "cache_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <trommel/core.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };
static const size_t most_bytes = (size_t)256 << 20;

/* What stands before the data in a file. */
typedef struct file_head {
    char magic[8];
    uint64_t size;     /* of the data */
    uint64_t checksum; /* of the data: drivers need not check theirs */
} file_head;
static const char magic[8] = "tmlpipe1";

uint64_t cache_file_hash(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

/* Makes a folder and those above it. */
static bool make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash)
            *slash = '\0';
        bool is_there = mkdir(path, 0700) == 0 || errno == EEXIST;
        if (!slash)
            return is_there;
        *slash = '/';
    }
}

/* The file of that name. is_made: its folder, too, where it is missing. */
static bool file_path(const char *name, bool is_made, char out[PATH_SIZE])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char folder[PATH_SIZE];
    int length;
    if (cache && cache[0] == '/')
        length = snprintf(folder, PATH_SIZE, "%s/trommel", cache);
    else if (home && home[0] == '/')
        length = snprintf(folder, PATH_SIZE, "%s/.cache/trommel", home);
    else
        return false;
    if (length >= PATH_SIZE || (is_made && !make_folders(folder)))
        return false;
    return snprintf(out, PATH_SIZE, "%s/%s-%d.%d.%d", folder, name, TML_VERSION_MAJOR,
                    TML_VERSION_MINOR, TML_VERSION_PATCH) < PATH_SIZE;
}

bool cache_file_exists(const char *name)
{
    char path[PATH_SIZE];
    return file_path(name, false, path) && access(path, R_OK) == 0;
}

void *cache_file_read(const char *name, size_t *size)
{
    char path[PATH_SIZE];
    file_head head;
    struct stat info;
    FILE *file = file_path(name, false, path) ? fopen(path, "rb") : NULL;
    if (!file)
        return NULL;
    unsigned char *data = NULL;
    if (fread(&head, sizeof head, 1, file) == 1 && memcmp(head.magic, magic, sizeof magic) == 0 &&
        fstat(fileno(file), &info) == 0 && head.size <= most_bytes &&
        (uint64_t)info.st_size == sizeof head + head.size)
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
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    int descriptor = mkstemp(temporary);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (!file) {
        if (descriptor >= 0)
            close(descriptor);
        return false;
    }
    bool is_good = fwrite(&head, sizeof head, 1, file) == 1 && fwrite(data, 1, size, file) == size;
    is_good = fclose(file) == 0 && is_good && rename(temporary, path) == 0;
    if (!is_good)
        unlink(temporary);
    return is_good;
}
