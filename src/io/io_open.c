/* Opens files, blocks of memory that stand for files, and the data file that a header names. */
#include <errno.h>

#include "io/io_internal.h"
#include "io/io_system.h"

tml_status tml_io_open(tml_context *tml, const char *call, const char *path, io_file *out)
{
    tml_status status = tml_io_open_any(tml, call, path, out);
    if (status == TML_OK && (status = tml_io_check_stand_in(out)) != TML_OK)
        tml_io_close(out);
    return status;
}

tml_status tml_io_open_any(tml_context *tml, const char *call, const char *path, io_file *out)
{
    *out = (io_file){.tml = tml, .call = call, .fd = -1};
    if (!path || strlen(path) >= sizeof out->path)
        return tml_error(tml, TML_ERROR_FILE_ACCESS, "%s: path is %s", call,
                         path ? "longer than 4095 bytes" : "NULL; pass a file's name");
    snprintf(out->path, sizeof out->path, "%s", path);
    out->fd = tml_io_file_open(path);
    if (out->fd < 0)
        return tml_io_error(out, TML_ERROR_FILE_ACCESS, "cannot be opened: %s", strerror(errno));
    io_kind kind = tml_io_file_kind(out->fd, &out->size);
    tml_status status = TML_OK;
    if (kind == IO_KIND_NONE)
        status =
            tml_io_error(out, TML_ERROR_FILE_ACCESS, "cannot be examined: %s", strerror(errno));
    else if (kind != IO_KIND_FILE)
        status = tml_io_error(out, TML_ERROR_FILE_ACCESS, "is %s; pass a regular file",
                              kind == IO_KIND_FOLDER ? "a folder" : "a pipe or a device");
    if (status != TML_OK)
        tml_io_close(out);
    return status;
}

void tml_io_open_memory(tml_context *tml, const char *call, const char *name, const void *data,
                        size_t size, io_file *out)
{
    static const uint8_t nothing;
    *out = (io_file){
        .tml = tml, .call = call, .size = size, .memory = data ? data : &nothing, .fd = -1};
    snprintf(out->path, sizeof out->path, "%s", name);
}

/* Returns whether a relative name stays in its folder. */
static bool stays_inside(const char *name)
{
    if (*name == '/' || *name == '\0')
        return false;
    for (const char *part = name; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (part[0] == '.' && part[1] == '.' && (part[2] == '/' || part[2] == '\0'))
            return false;
    }
    return true;
}

static void path_beside(const io_file *header, const char *name, char out[2 * IO_PATH_SIZE])
{
    const char *slash = strrchr(header->path, '/');
    int folder = slash ? (int)(slash + 1 - header->path) : 0;
    snprintf(out, 2 * IO_PATH_SIZE, "%.*s%s", folder, header->path, name);
}

bool tml_io_has_beside(const io_file *header, const char *name)
{
    char path[2 * IO_PATH_SIZE];
    path_beside(header, name, path);
    return stays_inside(name) && !header->memory && tml_io_path_is_readable(path);
}

tml_status tml_io_open_beside(const io_file *header, const char *name, io_file *out)
{
    if (!stays_inside(name))
        return tml_io_error(header, TML_ERROR_UNSUPPORTED,
                            "data file is \"%s\", needs a name within the header's own folder; "
                            "move it there and mend the header",
                            name);
    if (header->memory)
        return tml_io_error(header, TML_ERROR_FILE_ACCESS,
                            "its data lie in \"%s\"; give that too, or one file that has both",
                            name);
    char path[2 * IO_PATH_SIZE];
    path_beside(header, name, path);
    tml_status status = tml_io_open(header->tml, header->call, path, out);
    out->strict = header->strict;
    return status;
}

void tml_io_close(io_file *file)
{
    if (file->fd >= 0)
        (void)tml_io_file_close(file->fd);
    file->fd = -1;
}
