/* Streams that inflate gzip and zlib (Deutsch, Gailly: RFC 1950 to 1952. 1996) or bzip2; reading
 * whole files and the heads of files. */
#include <inttypes.h>
#include <stdatomic.h>

#ifdef TML_BZIP2
#    include <bzlib.h>
#endif

#include "io/io_internal.h"

enum {
    READ_CHUNK = 4 << 20, /* per thread between two checks for cancellation: about 1 ms */
    READ_PIECE = 1 << 20, /* that a thread reads in one call */
    READERS_MOST = 16,
    STREAM_INPUT = 256 << 10, /* stored bytes read at once for inflating */
    STREAM_SKIP = 64 << 10,   /* buffer for inflated bytes that are skipped */
    BZIP2_RATIO = 1 << 20,    /* at best, about 45 bytes of a block make 45,899,235 */
    DEFLATE_RATIO = 1032,     /* at best, 2 bits of Deflate expand to 258 bytes */
};

#define MIN_OF(a, b) ((a) < (b) ? (a) : (b))

static tml_status cancelled(const io_file *file)
{
    return tml_io_error(file, TML_ERROR_CANCELLED, "cancelled");
}

bool tml_io_is_gzip(const void *data, size_t size)
{
    const uint8_t *bytes = data;
    return size >= 3 && bytes[0] == 0x1f && bytes[1] == 0x8b && bytes[2] == 8;
}

bool tml_io_may_inflate_to(uint64_t stored, uint64_t size)
{
    return size / DEFLATE_RATIO <= stored;
}

typedef struct read_job {
    const io_file *file;
    uint64_t offset;
    uint8_t *out;
    size_t size;
    _Atomic bool has_failed;
} read_job;

static void read_piece(void *argument, uint32_t piece)
{
    read_job *job = argument;
    size_t first = (size_t)piece * READ_PIECE;
    if (tml_io_read_quietly(job->file, job->offset + first, job->out + first,
                            MIN_OF(job->size - first, (size_t)READ_PIECE)) != 0)
        atomic_store_explicit(&job->has_failed, true, memory_order_relaxed);
}

/* tml_io_read by all threads. If a thread fails, one tml_io_read repeats the read and reports the
 * error. */
static tml_status read_in_parallel(const io_file *file, uint64_t offset, void *out, size_t size)
{
    read_job job = {.file = file, .offset = offset, .out = out, .size = size};
    if (offset > file->size || size > file->size - offset)
        return tml_io_read(file, offset, out, size);
    tml_parallel_for(file->tml, (uint32_t)((size + READ_PIECE - 1) / READ_PIECE), read_piece, &job);
    return atomic_load(&job.has_failed) ? tml_io_read(file, offset, out, size) : TML_OK;
}

/* zlib allocates through the context's allocator. tml_free needs the size, so the size is stored in
 * front of the block. */
enum { ZLIB_PREFIX = 64 };

static voidpf zlib_alloc(voidpf opaque, uInt items, uInt item_size)
{
    size_t size = (size_t)items * item_size + ZLIB_PREFIX;
    uint8_t *memory = tml_alloc(opaque, size);
    if (!memory)
        return Z_NULL;
    memcpy(memory, &size, sizeof size);
    return memory + ZLIB_PREFIX;
}

static void zlib_free(voidpf opaque, voidpf address)
{
    uint8_t *memory = (uint8_t *)address - ZLIB_PREFIX;
    size_t size;
    memcpy(&size, memory, sizeof size);
    tml_free(opaque, memory, size);
}

#ifdef TML_BZIP2
static void *bzip2_alloc(void *opaque, int items, int item_size)
{
    return zlib_alloc(opaque, (uInt)items, (uInt)item_size);
}

static void bzip2_free(void *opaque, void *address)
{
    if (address)
        zlib_free(opaque, address);
}

static bool bunzip_init(const io_file *file, bz_stream *bz)
{
    *bz = (bz_stream){.bzalloc = bzip2_alloc, .bzfree = bzip2_free, .opaque = file->tml};
    return BZ2_bzDecompressInit(bz, 0, 0) == BZ_OK;
}

static bool bunzip_open(io_stream *stream)
{
    bz_stream *bz = tml_alloc(stream->file->tml, sizeof *bz);
    if (bz && !bunzip_init(stream->file, bz)) {
        tml_free(stream->file->tml, bz, sizeof *bz);
        bz = NULL;
    }
    stream->bunzipper = bz;
    return bz != NULL;
}

static void bunzip_close(io_stream *stream)
{
    BZ2_bzDecompressEnd(stream->bunzipper);
    tml_free(stream->file->tml, stream->bunzipper, sizeof(bz_stream));
}
#else
static bool bunzip_open(io_stream *stream)
{
    (void)stream;
    return false;
}

static void bunzip_close(io_stream *stream)
{
    (void)stream;
}
#endif

tml_status tml_io_stream_open(const io_file *file, uint64_t offset, io_encoding encoding,
                              uint64_t size, io_progress *progress, io_stream *out)
{
    *out = (io_stream){
        .file = file, .encoding = encoding, .offset = offset, .left = size, .progress = progress};
    uint64_t stored = offset < file->size ? file->size - offset : 0;
    if (encoding == IO_RAW) {
        if (size > stored)
            return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                                "holds %" PRIu64 " bytes from %" PRIu64 " on, needs %" PRIu64
                                "; it was cut short or its header is wrong",
                                stored, offset, size);
        return TML_OK;
    }
#ifndef TML_BZIP2
    if (encoding == IO_BZIP2)
        return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                            "is compressed with bzip2, and this library was built without libbz2 "
                            "(TML_BZIP2); save it with gzip");
#endif
    if (encoding == IO_BZIP2 ? size / BZIP2_RATIO > stored : !tml_io_may_inflate_to(stored, size))
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "holds %" PRIu64 " compressed bytes, which cannot make the %" PRIu64
                            " that it needs; it was cut short or its header is wrong",
                            stored, size);
    out->input = tml_io_alloc(file, STREAM_INPUT + STREAM_SKIP);
    if (!out->input)
        return TML_ERROR_OUT_OF_MEMORY;
    out->inflater.zalloc = zlib_alloc;
    out->inflater.zfree = zlib_free;
    out->inflater.opaque = file->tml;
    const int window_bits = 15 + 32; /* the largest window; gzip or zlib by their first bytes */
    bool good =
        encoding == IO_BZIP2 ? bunzip_open(out) : inflateInit2(&out->inflater, window_bits) == Z_OK;
    if (!good) {
        tml_free(file->tml, out->input, STREAM_INPUT + STREAM_SKIP);
        out->input = NULL;
        return tml_io_error(file, TML_ERROR_OUT_OF_MEMORY, "no memory to inflate with");
    }
    return TML_OK;
}

void tml_io_stream_close(io_stream *stream)
{
    if (!stream->input)
        return;
    if (stream->encoding == IO_BZIP2)
        bunzip_close(stream);
    else
        inflateEnd(&stream->inflater);
    tml_free(stream->file->tml, stream->input, STREAM_INPUT + STREAM_SKIP);
    stream->input = NULL;
}

/* Moves the input that zlib has not consumed to the front of the buffer and fills the rest from the
 * file. */
static tml_status refill(io_stream *stream)
{
    z_stream *z = &stream->inflater;
    if (z->avail_in)
        memmove(stream->input, z->next_in, z->avail_in);
    uint64_t stored = stream->file->size - stream->offset;
    size_t size = (size_t)MIN_OF(stored, (uint64_t)(STREAM_INPUT - z->avail_in));
    tml_status status =
        tml_io_read(stream->file, stream->offset, stream->input + z->avail_in, size);
    if (status != TML_OK)
        return status;
    stream->offset += size;
    z->next_in = stream->input;
    z->avail_in += (uInt)size;
    return TML_OK;
}

#ifdef TML_BZIP2
/* inflate_some for bzip2. */
static tml_status bunzip_some(io_stream *stream, void *out, size_t size, size_t *made)
{
    bz_stream *bz = stream->bunzipper;
    z_stream *z = &stream->inflater;
    const io_file *file = stream->file;
    bz->next_out = out;
    bz->avail_out = (unsigned)size;
    while (bz->avail_out == size && !stream->ended) {
        tml_status status = z->avail_in ? TML_OK : refill(stream);
        if (status != TML_OK)
            return status;
        bool is_last = z->avail_in == 0;
        bz->next_in = (char *)(uintptr_t)z->next_in;
        bz->avail_in = z->avail_in;
        int code = BZ2_bzDecompress(bz);
        z->next_in = (Bytef *)bz->next_in;
        z->avail_in = bz->avail_in;
        if (code == BZ_STREAM_END) {
            status = z->avail_in < 3 ? refill(stream) : TML_OK;
            if (status != TML_OK)
                return status;
            stream->ended = z->avail_in < 3 || memcmp(z->next_in, "BZh", 3) != 0;
            char *to = bz->next_out;
            unsigned room = bz->avail_out;
            BZ2_bzDecompressEnd(bz);
            if (!bunzip_init(file, bz))
                return tml_io_error(file, TML_ERROR_OUT_OF_MEMORY, "no memory for bzip2");
            bz->next_out = to;
            bz->avail_out = room;
        } else if (code == BZ_MEM_ERROR) {
            return tml_io_error(file, TML_ERROR_OUT_OF_MEMORY, "no memory for bzip2");
        } else if (code != BZ_OK || (is_last && bz->avail_out == size)) {
            return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                                code == BZ_OK ? "its bzip2 data are cut short"
                                              : "its bzip2 data are damaged");
        }
    }
    *made = size - bz->avail_out;
    return TML_OK;
}
#endif

/* Inflates until there is at least one byte of output or the last gzip member has ended. Bytes
 * after the last member (padding, which gzip allows) are ignored.
 * *made  receives the number of bytes in out */
static tml_status inflate_some(io_stream *stream, void *out, size_t size, size_t *made)
{
    z_stream *z = &stream->inflater;
#ifdef TML_BZIP2
    if (stream->encoding == IO_BZIP2)
        return bunzip_some(stream, out, size, made);
#endif
    z->next_out = out;
    z->avail_out = (uInt)size;
    while (z->avail_out == size && !stream->ended) {
        tml_status status = z->avail_in ? TML_OK : refill(stream);
        if (status != TML_OK)
            return status;
        int code = inflate(z, Z_NO_FLUSH);
        if (code == Z_STREAM_END) {
            status = z->avail_in < 3 ? refill(stream) : TML_OK;
            if (status != TML_OK)
                return status;
            stream->ended = !tml_io_is_gzip(z->next_in, z->avail_in);
            if (!stream->ended)
                inflateReset(z);
        } else if (code == Z_BUF_ERROR) {
            return tml_io_error(stream->file, TML_ERROR_FILE_FORMAT,
                                "its compressed data are cut short after %lu bytes", z->total_out);
        } else if (code == Z_MEM_ERROR) {
            return tml_io_error(stream->file, TML_ERROR_OUT_OF_MEMORY, "no memory to inflate with");
        } else if (code != Z_OK) {
            return tml_io_error(stream->file, TML_ERROR_FILE_FORMAT,
                                "its compressed data are damaged after %lu bytes: %s", z->total_out,
                                z->msg ? z->msg : "a preset dictionary is missing");
        }
    }
    *made = size - z->avail_out;
    return TML_OK;
}

tml_status tml_io_stream_read(io_stream *stream, void *out, uint64_t size)
{
    const io_file *file = stream->file;
    uint8_t *to = out;
    if (size > stream->left)
        return tml_io_error(file, TML_ERROR_INTERNAL,
                            "a read of %" PRIu64 " bytes goes past the %" PRIu64 " that are left",
                            size, stream->left);
    if (stream->encoding == IO_RAW && !out) {
        stream->offset += size;
        stream->left -= size;
        return !stream->progress || tml_io_progress_add(stream->progress, size) ? TML_OK
                                                                                : cancelled(file);
    }
    while (size) {
        size_t made = (size_t)MIN_OF(size, (uint64_t)(out ? READ_CHUNK : STREAM_SKIP));
        tml_status status;
        if (stream->encoding == IO_RAW) {
            uint32_t readers = MIN_OF(io_concurrency(file->tml), (uint32_t)READERS_MOST);
            made = (size_t)MIN_OF(size, (uint64_t)readers * READ_CHUNK);
            status = read_in_parallel(file, stream->offset, to, made);
            stream->offset += made;
        } else {
            status = inflate_some(stream, out ? to : stream->input + STREAM_INPUT, made, &made);
            if (status == TML_OK && made == 0)
                status =
                    tml_io_error(file, TML_ERROR_FILE_FORMAT,
                                 "its compressed data end %" PRIu64 " bytes before its samples do",
                                 stream->left);
        }
        if (status != TML_OK)
            return status;
        if (out)
            to += made;
        size -= made;
        stream->left -= made;
        if (stream->progress && !tml_io_progress_add(stream->progress, made))
            return cancelled(file);
    }
    return TML_OK;
}

tml_status tml_io_stream_finish(io_stream *stream, bool *has_more)
{
    tml_status status = tml_io_stream_read(stream, NULL, stream->left);
    *has_more = false;
    if (stream->encoding == IO_RAW)
        return status;
    for (size_t more = 1; status == TML_OK && more;) {
        status = inflate_some(stream, stream->input + STREAM_INPUT, STREAM_SKIP, &more);
        *has_more |= status == TML_OK && more;
        if (status == TML_OK && tml_is_cancelled(stream->file->tml))
            status = cancelled(stream->file);
    }
    return status;
}

tml_status tml_io_inflate(const io_file *file, const void *data, uint64_t size, void *out,
                          uint64_t out_size)
{
    z_stream z = {.zalloc = zlib_alloc,
                  .zfree = zlib_free,
                  .opaque = file->tml,
                  .next_in = (Bytef *)(uintptr_t)data,
                  .avail_in = (uInt)size,
                  .next_out = out,
                  .avail_out = (uInt)out_size};
    if (size > UINT32_MAX || out_size > UINT32_MAX)
        return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                            "a compressed block makes %" PRIu64 " bytes, needs less than 4 GiB",
                            out_size);
    if (inflateInit(&z) != Z_OK)
        return tml_io_error(file, TML_ERROR_OUT_OF_MEMORY, "no memory to inflate with");
    int code = inflate(&z, Z_FINISH);
    tml_status status = TML_OK;
    if (code == Z_MEM_ERROR)
        status = tml_io_error(file, TML_ERROR_OUT_OF_MEMORY, "no memory to inflate with");
    else if (code != Z_STREAM_END || z.total_out != out_size)
        status = tml_io_error(file, TML_ERROR_FILE_FORMAT,
                              "a compressed block is damaged: %s, after %lu bytes of %" PRIu64,
                              code == Z_STREAM_END                 ? "it ends"
                              : z.msg                              ? z.msg
                              : code == Z_BUF_ERROR && z.avail_out ? "it was cut short"
                                                                   : "it goes on",
                              z.total_out, out_size);
    inflateEnd(&z);
    return status;
}

tml_status tml_io_read_head(const io_file *file, size_t limit, io_block *out)
{
    *out = (io_block){NULL, 0};
    uint8_t magic[3];
    size_t magic_size = (size_t)MIN_OF(file->size, (uint64_t)sizeof magic);
    tml_status status = tml_io_read(file, 0, magic, magic_size);
    if (status != TML_OK || file->size == 0)
        return status;
    bool compressed = tml_io_is_gzip(magic, magic_size);
    uint64_t most = compressed ? MIN_OF(file->size, (uint64_t)limit) * DEFLATE_RATIO : file->size;
    io_block head = {NULL, (size_t)MIN_OF(most, (uint64_t)limit)};
    io_stream stream;
    status =
        tml_io_stream_open(file, 0, compressed ? IO_DEFLATE : IO_RAW, head.size, NULL, &stream);
    if (status != TML_OK)
        return status;
    size_t filled = 0;
    head.data = tml_io_alloc(file, head.size);
    if (!head.data) {
        status = TML_ERROR_OUT_OF_MEMORY;
    } else if (!compressed) {
        status = tml_io_stream_read(&stream, head.data, head.size);
        filled = head.size;
    } else {
        size_t made = 1;
        while (status == TML_OK && made && filled < head.size) {
            status = inflate_some(&stream, head.data + filled, head.size - filled, &made);
            filled += status == TML_OK ? made : 0;
        }
    }
    tml_io_stream_close(&stream);
    /* Shrinks the block to its contents, so that a sanitizer detects a read past them. */
    if (status == TML_OK && filled < head.size) {
        out->data = tml_io_alloc(file, filled);
        out->size = out->data ? filled : 0;
        if (out->data)
            memcpy(out->data, head.data, filled);
        else if (filled)
            status = TML_ERROR_OUT_OF_MEMORY;
    } else if (status == TML_OK) {
        *out = head;
        return TML_OK;
    }
    tml_io_block_free(file, &head);
    return status;
}

tml_status tml_io_read_all(const io_file *file, io_block *out)
{
    *out = (io_block){NULL, 0};
    if (file->size == 0)
        return TML_OK;
    io_progress progress;
    io_stream stream;
    tml_io_progress_start(&progress, file->tml, "read", file->size);
    tml_status status = tml_io_stream_open(file, 0, IO_RAW, file->size, &progress, &stream);
    if (status != TML_OK)
        return status;
    out->data = tml_io_alloc(file, file->size);
    out->size = out->data ? (size_t)file->size : 0;
    status =
        out->data ? tml_io_stream_read(&stream, out->data, out->size) : TML_ERROR_OUT_OF_MEMORY;
    tml_io_stream_close(&stream);
    if (status != TML_OK)
        tml_io_block_free(file, out);
    return status;
}

void tml_io_block_free(const io_file *file, io_block *block)
{
    tml_free(file->tml, block->data, block->size);
    *block = (io_block){NULL, 0};
}
