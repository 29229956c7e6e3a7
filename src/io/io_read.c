/* Bounded reads from a file or a block of memory.
 *
 * Large contents are read straight into their destination by pread: no second copy as with stdio,
 * and no SIGBUS as with mmap when another process shortens the file meanwhile. */
#include <errno.h>
#include <inttypes.h>

#include "io/io_internal.h"
#include "io/io_system.h"

int tml_io_read_quietly(const io_file *file, uint64_t offset, void *out, size_t size)
{
    if (file->memory) {
        memcpy(out, file->memory + offset, size);
        return 0;
    }
    uint8_t *to = out;
    while (size) {
        int64_t got = tml_io_file_read_at(file->fd, to, size, offset);
        if (got <= 0)
            return got < 0 ? errno : -1;
        to += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return 0;
}

tml_status tml_io_read(const io_file *file, uint64_t offset, void *out, size_t size)
{
    if (offset > file->size || size > file->size - offset)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "ends after %" PRIu64 " bytes, needs %zu bytes at %" PRIu64
                            "; the file was cut short or its header is wrong",
                            file->size, size, offset);
    int fault = size > 0 ? tml_io_read_quietly(file, offset, out, size) : 0;
    if (fault > 0)
        return tml_io_error(file, TML_ERROR_FILE_ACCESS, "cannot be read: %s", strerror(fault));
    if (fault < 0)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT, "was cut short while it was read");
    return TML_OK;
}
