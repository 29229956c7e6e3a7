/* POSIX functions that test programs call and Windows lacks. Files are opened in binary mode. */
#ifndef ON_WINDOWS_H
#define ON_WINDOWS_H

#include <direct.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void files_are_binary(void)
{
    _fmode = _O_BINARY;
}

/* Replaces the XXXXXX in a name. after: the number of characters that follow it. */
static inline void fill_name(char *name, size_t after)
{
    static unsigned number;
    char digits[7];
    snprintf(digits, sizeof digits, "%06x", ((unsigned)getpid() * 61 + number++) & 0xffffff);
    memcpy(name + strlen(name) - after - 6, digits, 6);
}

static inline char *mkdtemp(char *name)
{
    fill_name(name, 0);
    return _mkdir(name) == 0 ? name : NULL;
}

static inline int mkstemps(char *name, int after)
{
    fill_name(name, (size_t)after);
    return _open(name, _O_RDWR | _O_CREAT | _O_EXCL | _O_BINARY, 0600);
}

/* Memory that free() accepts. Supports at most malloc's alignment, 16 bytes. */
static inline int posix_memalign(void **out, size_t alignment, size_t size)
{
    *out = alignment <= 16 ? malloc(size) : NULL;
    return *out ? 0 : ENOMEM;
}

static inline ssize_t pwrite(int file, const void *data, size_t size, int64_t offset)
{
    const int64_t before = _telli64(file);
    _lseeki64(file, offset, SEEK_SET);
    int wrote = _write(file, data, (unsigned)size);
    _lseeki64(file, before, SEEK_SET);
    return wrote;
}

/* Does nothing: CTest has its own time limit. */
static inline unsigned alarm(unsigned seconds)
{
    return seconds * 0;
}

static inline int setenv(const char *name, const char *value, int replace)
{
    return replace || !getenv(name) ? _putenv_s(name, value) : 0;
}

static inline int unsetenv(const char *name)
{
    return _putenv_s(name, "");
}

static inline void *memmem(const void *data, size_t size, const void *part, size_t part_size)
{
    for (const char *at = data; size >= part_size; at++, size--)
        if (memcmp(at, part, part_size) == 0)
            return (void *)(uintptr_t)at;
    return NULL;
}

#endif
