/* Shared by the readers and writers of trommel-io: input files, decompression, text, output files.
 * Functions carry the library's prefix, because a static library shares its names with its user.
 *
 * The rules that these functions make easy to keep:
 * - a read is complete or an error: data that are read in part are never used;
 * - memory for contents is allocated only after the file was seen to hold them;
 * - a message starts with the call and the file; the function that finds the fault writes it
 *   once. */
#ifndef TML_IO_INTERNAL_H
#define TML_IO_INTERNAL_H

#include <stdio.h>
#include <string.h>

#include <trommel/extend.h>
#include <trommel/files.h>
#include <zlib.h>

/* The number of the context's tasks that run at once. */
static inline uint32_t io_concurrency(const tml_context *tml)
{
    tml_device_info info;
    tml_context_describe(tml, &info);
    return info.concurrency;
}

/* Linux's limit on the length of a path. */
enum { IO_PATH_SIZE = 4096 };

/* ---- input files ----------------------------------------------------------------------------- */

/* An open file, or a block of memory that stands for one. */
typedef struct io_file {
    tml_context *tml;
    const char *call;        /* the public function that was called, for messages */
    uint64_t size;           /* bytes */
    const uint8_t *memory;   /* the contents if they are in memory; NULL: read from fd */
    int fd;                  /* -1: none */
    bool strict;             /* tml_io_warn reports an error in place of a warning */
    char path[IO_PATH_SIZE]; /* as the caller gave it */
} io_file;

/* Opens a regular file for reading. On failure there is nothing to close.
 * Errors: FILE_ACCESS; UNSUPPORTED, as tml_io_check_stand_in. */
TML_MUST_CHECK tml_status tml_io_open(tml_context *tml, const char *call, const char *path,
                                      io_file *out);
/* tml_io_open without the check for stand-ins, for files that the user did not name, such as those
 * of a folder. */
TML_MUST_CHECK tml_status tml_io_open_any(tml_context *tml, const char *call, const char *path,
                                          io_file *out);
/* Makes an io_file of a block of memory, which must outlive it. name stands for a path in
 * messages. */
void tml_io_open_memory(tml_context *tml, const char *call, const char *name, const void *data,
                        size_t size, io_file *out);
/* Opens the file that a header names, in the header's own folder.
 * Errors: as tml_io_open; FILE_ACCESS also if the header is in memory; UNSUPPORTED for an absolute
 * name or one with "..": a downloaded header must not read the rest of the disk. */
TML_MUST_CHECK tml_status tml_io_open_beside(const io_file *header, const char *name, io_file *out);
/* Returns whether tml_io_open_beside could open that name. */
bool tml_io_has_beside(const io_file *header, const char *name);
void tml_io_close(io_file *file);

/* Records "call: path: ..." as the context's error and returns status. */
tml_status tml_io_error(const io_file *file, tml_status status, const char *format, ...)
    TML_FORMAT(3, 4);
/* As tml_error of core_internal.h. */
#ifdef __clang_analyzer__
#    define tml_io_error(file, status, ...)                                                        \
        ((void)tml_io_error(file, status, __VA_ARGS__), (tml_status)(status))
#endif

/* Reports a part of a file that a reader ignores, or a value that it assumes because the file gives
 * none. The text goes to the log as the warning "call: path: ...". Call it once for each kind of
 * fault, with their number in the text.
 * Returns: TML_OK; if file->strict, FILE_FORMAT with the text as the context's error. */
TML_MUST_CHECK tml_status tml_io_warn(const io_file *file, const char *format, ...)
    TML_FORMAT(2, 3);

/* Allocates memory for contents of a file. Free it by tml_free(file->tml, memory, size).
 * Returns: NULL after recording OUT_OF_MEMORY, and for size 0. */
void *tml_io_alloc(const io_file *file, uint64_t size);

/* Reads all bytes of [offset, offset + size), without progress: for pieces of a few megabytes.
 * Errors: FILE_FORMAT if the file is shorter, FILE_ACCESS if the system fails. */
TML_MUST_CHECK tml_status tml_io_read(const io_file *file, uint64_t offset, void *out, size_t size);

/* tml_io_read without a message, for parallel tasks. offset and size must lie within the file.
 * Returns: 0, the system's errno, or -1 if the file has been shortened since it was opened. */
TML_MUST_CHECK int tml_io_read_quietly(const io_file *file, uint64_t offset, void *out,
                                       size_t size);

/* The contents of a file in memory. An empty file has data NULL and size 0. */
typedef struct io_block {
    uint8_t *data;
    size_t size;
} io_block;

/* Reads the whole file, with progress. Free the result by tml_io_block_free. */
TML_MUST_CHECK tml_status tml_io_read_all(const io_file *file, io_block *out);
/* Reads at most the first limit bytes of a file, or of the contents of a gzip file. */
TML_MUST_CHECK tml_status tml_io_read_head(const io_file *file, size_t limit, io_block *out);
void tml_io_block_free(const io_file *file, io_block *block);

/* Returns whether the data begin as a gzip file does. */
bool tml_io_is_gzip(const void *data, size_t size);
/* Returns whether so many stored bytes can inflate to size bytes: Deflate compresses at most
 * 1032:1. */
bool tml_io_may_inflate_to(uint64_t stored, uint64_t size);

/* ---- progress -------------------------------------------------------------------------------- */

/* Counts the bytes of a long read or write, of one file or several, and reports each hundredth. */
typedef struct io_progress {
    tml_context *tml;
    const char *stage; /* "read", "write" */
    uint64_t done, total, next;
} io_progress;

void tml_io_progress_start(io_progress *progress, tml_context *tml, const char *stage,
                           uint64_t total);
/* Returns false if the caller cancelled. */
TML_MUST_CHECK bool tml_io_progress_add(io_progress *progress, uint64_t size);

/* ---- streams: a run of stored bytes, read once from front to back ---------------------------- */

typedef enum io_encoding {
    IO_RAW,
    IO_DEFLATE, /* gzip or zlib, by the first bytes; several gzip members may follow one another */
    IO_BZIP2,   /* several streams may follow one another; UNSUPPORTED in a build without libbz2 */
} io_encoding;

typedef struct io_stream {
    const io_file *file;
    io_encoding encoding;
    uint64_t offset;       /* of the next stored byte to read */
    uint64_t left;         /* bytes of output still to come */
    io_progress *progress; /* may be NULL */
    z_stream inflater;
    void *bunzipper; /* a bz_stream; it shares inflater's input */
    uint8_t *input;  /* buffer of stored bytes for inflater */
    bool ended;      /* inflater reached the end of its last member */
} io_stream;

/* Opens a stream that starts at a stored offset. On failure there is nothing to close.
 * size  bytes of output in all; no memory is allocated by it
 * Errors: FILE_FORMAT if the file cannot hold that much. */
TML_MUST_CHECK tml_status tml_io_stream_open(const io_file *file, uint64_t offset,
                                             io_encoding encoding, uint64_t size,
                                             io_progress *progress, io_stream *out);
/* Reads the next size bytes, all of them, or skips them if out is NULL.
 * Errors: FILE_FORMAT, FILE_ACCESS, CANCELLED. */
TML_MUST_CHECK tml_status tml_io_stream_read(io_stream *stream, void *out, uint64_t size);
/* Skips the rest of the stream. Compressed data are inflated to their end, which checks their
 * checksum.
 * *has_more  receives whether the compressed data had more than size bytes
 * Errors: as tml_io_stream_read. */
TML_MUST_CHECK tml_status tml_io_stream_finish(io_stream *stream, bool *has_more);
void tml_io_stream_close(io_stream *stream);

/* Inflates a block of zlib, which must hold exactly out_size bytes.
 * Errors: FILE_FORMAT, OUT_OF_MEMORY; UNSUPPORTED from 4 GiB on. */
TML_MUST_CHECK tml_status tml_io_inflate(const io_file *file, const void *data, uint64_t size,
                                         void *out, uint64_t out_size);

/* ---- byte order ------------------------------------------------------------------------------ */

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#    define IO_HOST_IS_BIG_ENDIAN 1
#else
#    define IO_HOST_IS_BIG_ENDIAN 0
#endif

static inline uint16_t io_load_u16(const void *at, bool big_endian)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return big_endian == IO_HOST_IS_BIG_ENDIAN ? value : __builtin_bswap16(value);
}

static inline uint32_t io_load_u32(const void *at, bool big_endian)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return big_endian == IO_HOST_IS_BIG_ENDIAN ? value : __builtin_bswap32(value);
}

static inline uint64_t io_load_u64(const void *at, bool big_endian)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return big_endian == IO_HOST_IS_BIG_ENDIAN ? value : __builtin_bswap64(value);
}

static inline float io_load_f32(const void *at, bool big_endian)
{
    uint32_t bits = io_load_u32(at, big_endian);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline double io_load_f64(const void *at, bool big_endian)
{
    uint64_t bits = io_load_u64(at, big_endian);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline void io_store_u16le(void *at, uint16_t value)
{
    value = IO_HOST_IS_BIG_ENDIAN ? __builtin_bswap16(value) : value;
    memcpy(at, &value, sizeof value);
}

static inline void io_store_u32le(void *at, uint32_t value)
{
    value = IO_HOST_IS_BIG_ENDIAN ? __builtin_bswap32(value) : value;
    memcpy(at, &value, sizeof value);
}

static inline void io_store_u64le(void *at, uint64_t value)
{
    value = IO_HOST_IS_BIG_ENDIAN ? __builtin_bswap64(value) : value;
    memcpy(at, &value, sizeof value);
}

static inline void io_store_f32le(void *at, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    io_store_u32le(at, bits);
}

static inline void io_store_f64le(void *at, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    io_store_u64le(at, bits);
}

/* Converts count elements of 1, 2, 4 or 8 bytes from the given byte order to the machine's, in
 * place. data is aligned to the element. */
void tml_io_to_host(void *data, size_t element_size, uint64_t count, bool big_endian);

/* ---- coordinates ----------------------------------------------------------------------------- */

/* Chooses the origin for the coordinates in a box, which are stored as floats relative to it: 0 if
 * the floats near the coordinates are fine enough for the shape; otherwise the middle of the box,
 * rounded to the extent's order of magnitude, so that people can read it and others can repeat it.
 * is_inexact  some coordinate of the file is not a float and would be rounded if the origin is 0 */
void tml_io_choose_origin(const double lower[3], const double upper[3], bool is_inexact,
                          double origin[3]);

/* ---- text: independent of the locale, never past the end --------------------------------------
 */

/* A piece of text; not NUL-terminated. */
typedef struct io_span {
    const char *text;
    size_t size;
} io_span;

/* A position in a text. Start with {data, data + size, 1}. */
typedef struct io_text {
    const char *at, *end;
    uint64_t line; /* number of that line, from 1, for messages */
} io_text;

/* Gets the next line without its end ("\n" or "\r\n"). Returns false at the end of the text. */
bool tml_io_line(io_text *text, io_span *line);
/* tml_io_line for files that are all text: a single "\r" ends a line, too, as on old Macs. */
bool tml_io_any_line(io_text *text, io_span *line);
/* Gets the next run of characters that are not blank (space, \t \n \v \f \r). Returns false if none
 * is left. To read the words of one line, make an io_text of the line's span. */
bool tml_io_word(io_text *text, io_span *word);
/* The span without blanks at either end. */
io_span tml_io_trim(io_span span);
bool tml_io_is(io_span span, const char *word);          /* equal */
bool tml_io_is_any_case(io_span span, const char *word); /* equal, ASCII letters of either case */
bool tml_io_starts_with(io_span span, const char *prefix);
const char *tml_io_find(io_span span, const char *word); /* its first place; NULL: none */
/* Copies a span to a NUL-terminated string of at most size bytes with the NUL; the rest is cut. */
void tml_io_copy(char *out, size_t size, io_span span);
static inline io_text io_text_of(io_span span)
{
    const char *start = span.text ? span.text : ""; /* C forbids arithmetic on NULL */
    return (io_text){start, start + span.size, 1};
}

/* Parse a number, which must be the whole span, without blanks. If it is not, they return false and
 * leave *out unchanged.
 * u64, i64  decimal, with an optional sign (u64: no minus), within their range
 * f64       decimal, as C writes it; also nan, inf, infinity in any case, and nan(ind) and 1.#IND
 *           as Windows writes them; correctly rounded to the nearest double */
bool tml_io_parse_u64(io_span span, uint64_t *out);
bool tml_io_parse_i64(io_span span, int64_t *out);
bool tml_io_parse_f64(io_span span, double *out);
/* Writes the shortest text that reads back as the same number, NUL-terminated. Returns its length.
 * For headers; number_format.h is for many numbers. */
enum { IO_NUMBER_SIZE = 32 };
size_t tml_io_format_f64(char out[IO_NUMBER_SIZE], double value);

/* Reads a number of a scalar type from an address of any alignment. */
double tml_io_number(const void *at, tml_type type, bool big_endian);

typedef enum io_number_form {
    IO_NUMBERS_TEXT,
    IO_NUMBERS_LITTLE_ENDIAN,
    IO_NUMBERS_BIG_ENDIAN
} io_number_form;

/* Reads the next number of a file's text or binary values. Returns false at the end of the data, or
 * at a word that is not a number. */
bool tml_io_next_number(io_text *text, io_number_form encoding, tml_type type, double *out);

/* ---- stand-ins: stand_in.c ------------------------------------------------------------------- */

/* Refuses a file that is a pointer of Git LFS or git-annex, a web page or a server's message.
 * Errors: UNSUPPORTED. */
TML_MUST_CHECK tml_status tml_io_check_stand_in(const io_file *file);
/* Returns whether head is the start of a pointer of Git LFS or git-annex. */
bool tml_io_is_pointer(io_span head);

/* ---- output files ---------------------------------------------------------------------------- */

/* A file that is being written, under another name beside the target; tml_io_finish renames it.
 * After the first failure, which is kept, writes do nothing: a series of writes needs one check at
 * its end. Long loops should check earlier, to stop early. */
typedef struct io_writer {
    tml_context *tml;
    const char *call;
    uint64_t written;        /* bytes that the caller has written so far */
    uint64_t expected;       /* bytes of the whole file, for messages; 0: unknown */
    tml_status status;       /* of the first failure */
    int fd;                  /* -1: none */
    uint8_t *buffer;         /* IO_WRITER_BUFFER bytes */
    size_t used;             /* bytes in buffer */
    io_progress progress;    /* reports if expected is known */
    const tml_team *team;    /* processes that write this file together; NULL: only this one */
    char path[IO_PATH_SIZE]; /* as the caller gave it, for messages */
    char target[IO_PATH_SIZE];
    char temporary[IO_PATH_SIZE]; /* empty: target is a device, which is written directly */
} io_writer;

enum { IO_WRITER_BUFFER = 1 << 20 };

/* Creates a writer. On failure there is nothing to finish.
 * Errors: FILE_ACCESS, OUT_OF_MEMORY. */
TML_MUST_CHECK tml_status tml_io_create(tml_context *tml, const char *call, const char *path,
                                        uint64_t expected, io_writer *out);
/* The same for one file that all processes of a team write; all of them call it.
 * expected  the final size of the file, in bytes */
TML_MUST_CHECK tml_status tml_io_team_create(tml_context *tml, const char *call, const char *path,
                                             uint64_t expected, const tml_team *team,
                                             io_writer *out);
/* Appends bytes. In a team all processes pass the same bytes, which are written once.
 * Returns: false after a failure of this write or an earlier one, and when cancelled. */
bool tml_io_write(io_writer *writer, const void *data, size_t size);
/* Appends text. For reals use tml_io_format_f64, since printf follows the locale. */
bool tml_io_print(io_writer *writer, const char *format, ...) TML_FORMAT(2, 3);
/* Appends a string without its NUL. */
static inline bool io_write_text(io_writer *writer, const char *text)
{
    return tml_io_write(writer, text, strlen(text));
}
/* Returns whether rows may be written out of order: only to a regular file of known size that this
 * process writes alone. */
static inline bool io_writes_rows(const io_writer *writer)
{
    return writer->expected && writer->temporary[0] && !writer->team;
}
/* Makes offset the place of the next write. Requires io_writes_rows. */
bool tml_io_seek(io_writer *writer, uint64_t offset);
/* Returns whether path names a regular file or no file yet. */
bool tml_io_is_regular(const char *path);
/* Writes rows [first, first + count), of exactly row_size bytes each, to out. Several threads call
 * it at once. Returns the size of the rows in bytes. */
typedef size_t (*io_fill)(const void *user, uint64_t first, uint64_t count, uint8_t *out);
/* Appends rows that all threads make with fill and write. */
bool tml_io_write_rows(io_writer *writer, uint64_t first, uint64_t count, size_t row_size,
                       io_fill fill, const void *user);
/* Completes the file, or removes it if a write failed or status is not TML_OK. Call it exactly once
 * per created writer. Returns the first failure. */
TML_MUST_CHECK tml_status tml_io_finish(io_writer *writer, tml_status status);

/* For tml_file_format: return the name of the file's format if it is a format of that kind of file;
 * NULL if it is not, or if the file cannot be read. */
const char *tml_volume_format_of(tml_context *tml, const char *path);
const char *tml_points_format_of(tml_context *tml, const char *path);
const char *tml_mesh_format_of_file(tml_context *tml, const char *path);
const char *tml_picture_format_of(tml_context *tml, const char *path);
const char *tml_volume_index_format_of(tml_context *tml, const char *path);

/* Moves positions that are far from 0 close to 0: subtracts a centre from them and adds the centre
 * to origin. A coordinate is moved only where that is exact, so positions + origin stays the same.
 * positions  count x 3, changed in place; coordinates that are not finite stay
 * origin     3 numbers, changed
 * Returns: true if something moved. */
bool tml_positions_recenter(float *positions, uint64_t count, double origin[3]);

#endif
