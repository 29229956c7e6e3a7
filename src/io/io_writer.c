/* Output files. A file is written under another name beside the target, renamed when it is
 * complete, and removed on failure. There is no fsync: a crash of the program leaves the old file
 * or the new one; after a crash of the machine, the result depends on the file system. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>

#include "io/io_internal.h"
#include "io/io_system.h"

enum { TEMPORARY_TRIES = 100, NAME_SHOWN = 200, ROWS_PIECE = 256 << 10 };
enum { WRITERS_MOST = 4 }; /* per file: the system serialises their writes */

/* Keeps only the first failure: later ones follow from it. */
static bool writer_fail(io_writer *writer, tml_status status, const char *what, int error)
{
    if (writer->status != TML_OK)
        return false;
    writer->status = status;
    if (tml_io_is_disk_full(error)) {
        char needed[64] = "more";
        if (writer->expected)
            snprintf(needed, sizeof needed, "%" PRIu64 " bytes", writer->expected);
        tml_error(writer->tml, status,
                  "%s: %s: the disk is full (%s) at %" PRIu64 " bytes, needs %s; free some room or "
                  "write elsewhere",
                  writer->call, writer->path, strerror(error), writer->written, needed);
    } else {
        tml_error(writer->tml, status, "%s: %s: %s%s%s", writer->call, writer->path, what,
                  error ? ": " : "", error ? strerror(error) : "");
    }
    return false;
}

/* Creates a file with a new name in the target's folder. */
static int create_temporary(io_writer *writer)
{
    const char *slash = strrchr(writer->target, '/');
    int folder = slash ? (int)(slash + 1 - writer->target) : 0;
    for (int i = 0; i < TEMPORARY_TRIES; i++) {
        int length = snprintf(writer->temporary, sizeof writer->temporary, "%.*s%.*s.%lu-%d.tmp",
                              folder, writer->target, NAME_SHOWN, writer->target + folder,
                              tml_io_process_number(), i);
        if (length < 0 || (size_t)length >= sizeof writer->temporary) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int fd = tml_io_file_create(writer->temporary);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

tml_status tml_io_create(tml_context *tml, const char *call, const char *path, uint64_t expected,
                         io_writer *out)
{
    *out = (io_writer){.tml = tml, .call = call, .expected = expected, .fd = -1};
    if (!path || strlen(path) >= sizeof out->path)
        return tml_error(tml, TML_ERROR_FILE_ACCESS, "%s: path is %s", call,
                         path ? "longer than 4095 bytes" : "NULL; pass a file's name");
    snprintf(out->path, sizeof out->path, "%s", path);
    /* A link stays a link: the file that it points to is replaced. */
    if (!tml_io_path_resolve(path, out->target, sizeof out->target))
        snprintf(out->target, sizeof out->target, "%s", path);

    io_kind kind = tml_io_path_kind(out->target);
    if (kind == IO_KIND_FOLDER) {
        writer_fail(out, TML_ERROR_FILE_ACCESS, "is a folder; pass a file's name", 0);
        return out->status;
    }
    if (kind == IO_KIND_OTHER)
        out->fd = tml_io_file_open_device(out->target);
    else
        out->fd = create_temporary(out);
    if (out->fd < 0) {
        writer_fail(out, TML_ERROR_FILE_ACCESS, "cannot be written", errno);
        return out->status;
    }
    if (kind == IO_KIND_FILE)
        tml_io_file_copy_rights(out->fd, out->target);
    out->buffer = tml_alloc(tml, IO_WRITER_BUFFER);
    if (!out->buffer) {
        writer_fail(out, TML_ERROR_OUT_OF_MEMORY, "no memory for a write buffer", 0);
        return tml_io_finish(out, TML_OK);
    }
    tml_io_progress_start(&out->progress, tml, "write", expected);
    return TML_OK;
}

tml_status tml_io_team_create(tml_context *tml, const char *call, const char *path,
                              uint64_t expected, const tml_team *team, io_writer *out)
{
    tml_status status = TML_OK;
    if (team->rank == 0) {
        status = tml_io_create(tml, call, path, expected, out);
        if (status != TML_OK)
            return status;
        /* Reserves all disk space first, so that a full disk is reported before anything is
         * written, by the process that knows the whole size. */
        if (!out->temporary[0])
            writer_fail(out, TML_ERROR_UNSUPPORTED,
                        "is no regular file, which several processes need", 0);
        else if (expected && !tml_io_file_reserve(out->fd, expected))
            writer_fail(out, TML_ERROR_FILE_ACCESS, "cannot be written", errno);
        status = out->status;
    } else {
        *out = (io_writer){.tml = tml, .call = call, .expected = expected, .fd = -1};
        snprintf(out->path, sizeof out->path, "%s", path);
    }
    TML_THEN(status, team->open(team->user, tml, out->temporary));
    out->team = team;
    return status == TML_OK ? TML_OK : tml_io_finish(out, status);
}

static bool writer_put(io_writer *writer, const uint8_t *data, size_t size)
{
    while (size) {
        size_t chunk = size < IO_WRITER_BUFFER ? size : IO_WRITER_BUFFER;
        int64_t wrote = tml_io_file_write(writer->fd, data, chunk);
        if (wrote < 0)
            return writer_fail(writer, TML_ERROR_FILE_ACCESS, "cannot be written", errno);
        data += wrote;
        size -= (size_t)wrote;
        bool go_on = writer->expected ? tml_io_progress_add(&writer->progress, (uint64_t)wrote)
                                      : !tml_is_cancelled(writer->tml);
        if (!go_on)
            return writer_fail(writer, TML_ERROR_CANCELLED, "cancelled", 0);
    }
    return true;
}

static bool flush(io_writer *writer)
{
    size_t used = writer->used;
    writer->used = 0;
    return writer_put(writer, writer->buffer, used);
}

/* Writes bytes that are the same in all processes of a team: rank 0 writes them. */
static bool put_once(io_writer *writer, const void *data, size_t size)
{
    const tml_team *team = writer->team;
    writer->status = team->write(team->user, writer->tml, writer->written, data,
                                 team->rank == 0 ? (uint64_t)size : 0);
    writer->written += size;
    return writer->status == TML_OK;
}

bool tml_io_write(io_writer *writer, const void *data, size_t size)
{
    if (writer->status != TML_OK)
        return false;
    if (writer->team)
        return put_once(writer, data, size);
    writer->written += size;
    if (size > IO_WRITER_BUFFER - writer->used && !flush(writer))
        return false;
    if (size >= IO_WRITER_BUFFER)
        return writer_put(writer, data, size);
    if (size)
        memcpy(writer->buffer + writer->used, data, size);
    writer->used += size;
    return true;
}

bool tml_io_print(io_writer *writer, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof text)
        return writer_fail(writer, TML_ERROR_INTERNAL, "a printed line is longer than 1023 bytes",
                           0);
    return tml_io_write(writer, text, (size_t)length);
}

bool tml_io_seek(io_writer *writer, uint64_t offset)
{
    if (writer->status != TML_OK || !flush(writer))
        return false;
    writer->written = offset;
    return tml_io_file_seek(writer->fd, offset) ||
           writer_fail(writer, TML_ERROR_FILE_ACCESS, "cannot be written", errno);
}

bool tml_io_is_regular(const char *path)
{
    io_kind kind = tml_io_path_kind(path);
    return kind == IO_KIND_NONE || kind == IO_KIND_FILE;
}

/* ---- rows by several threads ----------------------------------------------------------------- */

typedef struct rows_job {
    int fd;
    io_fill fill;
    const void *user;
    uint64_t first, end; /* rows */
    size_t row_size;
    uint64_t offset;  /* of the first row in the file */
    uint8_t *buffers; /* ROWS_PIECE bytes per worker */
    _Atomic uint64_t next;
    _Atomic int error; /* errno of a failed write */
} rows_job;

static bool put_at(int fd, const uint8_t *data, size_t size, uint64_t offset)
{
    while (size) {
        int64_t wrote = tml_io_file_write_at(fd, data, size, offset);
        if (wrote < 0)
            return false;
        data += wrote;
        offset += (uint64_t)wrote;
        size -= (size_t)wrote;
    }
    return true;
}

static void rows_worker(void *argument, uint32_t worker)
{
    rows_job *job = argument;
    uint8_t *buffer = job->buffers + (size_t)worker * ROWS_PIECE;
    const uint64_t piece = ROWS_PIECE / job->row_size;
    while (!atomic_load_explicit(&job->error, memory_order_relaxed)) {
        uint64_t row = job->first + piece * atomic_fetch_add(&job->next, 1);
        if (row >= job->end)
            return;
        uint64_t count = job->end - row < piece ? job->end - row : piece;
        size_t size = job->fill(job->user, row, count, buffer);
        if (!put_at(job->fd, buffer, size, job->offset + (row - job->first) * job->row_size))
            atomic_store_explicit(&job->error, errno, memory_order_relaxed);
    }
}

bool tml_io_write_rows(io_writer *writer, uint64_t first, uint64_t count, size_t row_size,
                       io_fill fill, const void *user)
{
    if (writer->status != TML_OK || !flush(writer))
        return false;
    const uint64_t size = count * row_size;
    const uint32_t threads = io_concurrency(writer->tml);
    const uint32_t workers = threads < WRITERS_MOST ? threads : WRITERS_MOST;
    rows_job job = {.fd = writer->fd,
                    .fill = fill,
                    .user = user,
                    .first = first,
                    .end = first + count,
                    .row_size = row_size,
                    .offset = writer->written,
                    .buffers = tml_alloc(writer->tml, (size_t)workers * ROWS_PIECE)};
    if (!job.buffers)
        return writer_fail(writer, TML_ERROR_OUT_OF_MEMORY, "no memory for write buffers", 0);
    tml_parallel_for(writer->tml, workers, rows_worker, &job);
    tml_free(writer->tml, job.buffers, (size_t)workers * ROWS_PIECE);
    int error = atomic_load(&job.error);
    if (error)
        return writer_fail(writer, TML_ERROR_FILE_ACCESS, "cannot be written", error);
    return tml_io_seek(writer, writer->written + size) &&
           (tml_io_progress_add(&writer->progress, size) ||
            writer_fail(writer, TML_ERROR_CANCELLED, "cancelled", 0));
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Checks that a team's file has its expected size before it is renamed. */
static void finish_team(io_writer *writer)
{
    const tml_team *team = writer->team;
    uint64_t size;
    writer->status = team->close(team->user, writer->tml);
    if (writer->status == TML_OK && writer->fd >= 0 &&
        (tml_io_file_kind(writer->fd, &size) == IO_KIND_NONE || size != writer->expected))
        writer_fail(writer, TML_ERROR_FILE_ACCESS,
                    "is not as long as it should be: is the disk full?", 0);
}

tml_status tml_io_finish(io_writer *writer, tml_status status)
{
    if (status == TML_OK && writer->status == TML_OK && writer->team)
        finish_team(writer);
    else if (status == TML_OK && writer->status == TML_OK)
        flush(writer);
    if (writer->fd < 0) /* in a team only rank 0 has the file */
        return status != TML_OK ? status : writer->status;
    if (!tml_io_file_close(writer->fd) && status == TML_OK)
        writer_fail(writer, TML_ERROR_FILE_ACCESS, "cannot be written", errno);
    tml_free(writer->tml, writer->buffer, IO_WRITER_BUFFER);
    writer->buffer = NULL;
    writer->fd = -1;
    if (status == TML_OK && writer->status == TML_OK && writer->temporary[0] &&
        !tml_io_path_rename(writer->temporary, writer->target))
        writer_fail(writer, TML_ERROR_FILE_ACCESS, "the finished file cannot take its name", errno);
    status = status != TML_OK ? status : writer->status;
    if (status != TML_OK && writer->temporary[0])
        tml_io_path_remove(writer->temporary);
    return status;
}
