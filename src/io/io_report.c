/* Error messages and warnings about a file, and memory for its contents. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>

#include "io/io_internal.h"

enum { MESSAGE_PATH = 200 }; /* a message shows at most the last 200 characters of a path */

static tml_status io_report(tml_context *tml, const char *call, const char *path, tml_status status,
                            const char *format, va_list arguments)
{
    char detail[512];
    vsnprintf(detail, sizeof detail, format, arguments);
    size_t length = strlen(path);
    bool cut = length > MESSAGE_PATH;
    return tml_error(tml, status, "%s: %s%s: %s", call, cut ? "..." : "",
                     cut ? path + length - MESSAGE_PATH : path, detail);
}

tml_status(tml_io_error)(const io_file *file, tml_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    io_report(file->tml, file->call, file->path, status, format, arguments);
    va_end(arguments);
    return status;
}

tml_status tml_io_warn(const io_file *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tml_status status = TML_OK;
    if (file->strict) {
        status = TML_ERROR_FILE_FORMAT;
        io_report(file->tml, file->call, file->path, status, format, arguments);
    } else {
        char text[1024];
        vsnprintf(text, sizeof text, format, arguments);
        tml_log(file->tml, TML_LOG_WARNING, "%s: %s: %s", file->call, file->path, text);
    }
    va_end(arguments);
    return status;
}

void *tml_io_alloc(const io_file *file, uint64_t size)
{
    void *memory = size <= PTRDIFF_MAX ? tml_alloc(file->tml, (size_t)size) : NULL;
    if (!memory && size)
        tml_io_error(file, TML_ERROR_OUT_OF_MEMORY, "no memory for %" PRIu64 " bytes", size);
    return memory;
}
