/* io_system.h for the JavaScript package, which has no files. Input lies in memory
 * (tml_io_open_memory). Output is written in order, as to a device, one file at a time, and is
 * returned as memory. */
#include "io/io_system.h"

#include <emscripten.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    uint8_t *data;
    size_t size, room;
} written;

void *tml_io_take_written(size_t *size)
{
    void *data = written.data;
    *size = written.size;
    written.data = NULL;
    written.size = written.room = 0;
    return data;
}

/* ---- numbers --------------------------------------------------------------------------------- */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
/* As exact as musl's strtod, without the code for 128-bit floats that musl's links in. */
EM_JS(double, io_js_number, (const char *text), { return Number(UTF8ToString(text)); })
#pragma GCC diagnostic pop

bool tml_io_strtod(const char *text, double *out)
{
    *out = io_js_number(text);
    return true;
}

int tml_io_print_double(char *out, size_t size, int precision, double value)
{
    return snprintf(out, size, "%.*g", precision, value);
}

/* ---- files ----------------------------------------------------------------------------------- */

io_kind tml_io_path_kind(const char *path)
{
    (void)path;
    return IO_KIND_OTHER;
}

int tml_io_file_open_device(const char *path)
{
    size_t size;
    (void)path;
    free(tml_io_take_written(&size)); /* of a write that failed */
    return 0;
}

int64_t tml_io_file_write(int fd, const void *data, size_t size)
{
    (void)fd;
    if (size > written.room - written.size) {
        size_t room = written.room + written.room / 2 + size;
        uint8_t *larger =
            room > written.room ? realloc(written.data, room) : NULL; /* NULL if room overflowed */
        if (!larger) {
            errno = ENOMEM;
            return -1;
        }
        written.data = larger;
        written.room = room;
    }
    memcpy(written.data + written.size, data, size);
    written.size += size;
    return (int64_t)size;
}

bool tml_io_file_close(int fd)
{
    (void)fd;
    return true;
}

/* ---- functions that need files: they fail ---------------------------------------------------- */

bool tml_io_path_is_readable(const char *path)
{
    (void)path;
    return false;
}

bool tml_io_path_resolve(const char *path, char *out, size_t size)
{
    (void)path, (void)out, (void)size;
    return false;
}

bool tml_io_path_rename(const char *from, const char *to)
{
    (void)from, (void)to;
    return false;
}

void tml_io_path_remove(const char *path)
{
    (void)path;
}

unsigned long tml_io_process_number(void)
{
    return 0;
}

double tml_io_seconds(void)
{
    return 1e-3 * emscripten_get_now();
}

static int none(void)
{
    errno = ENOENT;
    return -1;
}

int tml_io_file_open(const char *path)
{
    (void)path;
    return none();
}

int tml_io_file_create(const char *path)
{
    (void)path;
    return none();
}

io_kind tml_io_file_kind(int fd, uint64_t *size)
{
    (void)fd, (void)size;
    return IO_KIND_NONE;
}

void tml_io_file_copy_rights(int fd, const char *path)
{
    (void)fd, (void)path;
}

int64_t tml_io_file_read_at(int fd, void *out, size_t size, uint64_t offset)
{
    (void)fd, (void)out, (void)size, (void)offset;
    return none();
}

int64_t tml_io_file_write_at(int fd, const void *data, size_t size, uint64_t offset)
{
    (void)fd, (void)data, (void)size, (void)offset;
    return none();
}

bool tml_io_file_seek(int fd, uint64_t offset)
{
    (void)fd, (void)offset;
    return false;
}

bool tml_io_file_reserve(int fd, uint64_t size)
{
    (void)fd, (void)size;
    return true;
}

bool tml_io_is_disk_full(int error)
{
    (void)error;
    return false;
}

bool tml_io_folder_visit(const char *path, bool (*visit)(void *user, const char *name), void *user)
{
    (void)path, (void)visit, (void)user;
    return false;
}
