/* Writes PNG pictures. Stripes of rows are filtered and compressed in parallel. Each stripe is a
 * piece of one Deflate stream: it uses the 32 KiB before it as its dictionary and ends at a byte,
 * so the pieces can be concatenated (Adler: pigz. 2007). The picture alone decides where stripes
 * begin, so the file does not depend on the number of threads. */
#include <inttypes.h>
#include <stdlib.h>

#include "io/pictures/picture_internal.h"

#ifdef TML_PNG

enum {
    /* Level of zlib. Photographs took 2.1 to 2.4 times as long at its default, 6, and became 1.5 to
     * 3.1 % smaller. */
    LEVEL = 4,
    STRIPE_SIZE = 512 << 10, /* bytes; at least a row */
    BATCH_SIZE = 32 << 20,   /* bytes of the stripes in memory at a time */
    WINDOW_SIZE = 32 << 10,
    TRIAL_SIZE = 32 << 10,  /* bytes of a stripe by which a strategy is chosen */
    TRIAL_LEAST = 64 << 10, /* smaller stripes are compressed without a trial */
    MEMORY_SIZE = 1 << 20,  /* for zlib's state of a stripe, which takes 268 KB */
    PIECE_MOST = 1 << 30,   /* bytes given to zlib, or written as a chunk, at once */
    LEFT_MOST = 8,          /* bytes of the largest pixel */
    HEAD_SIZE = 2,          /* header of zlib's format, before the first stripe */
    ADLER_SIZE = 4,         /* checksum, after the last */
    FILTER_COUNT = 5,
};

typedef struct png_stripe {
    uint32_t row, rows;
    uint8_t *lines[2];   /* a row and the row above, each behind LEFT_MOST zeros */
    uint8_t *filtered;   /* for each row a byte that names the filter, then the bytes */
    uint8_t *compressed; /* room for the largest result, behind HEAD_SIZE bytes */
    size_t filtered_size, size;
    uint32_t adler;
    bool is_last, is_failed;
    uint8_t *memory; /* for zlib */
    size_t memory_used;
} png_stripe;

typedef struct png_encoder {
    io_writer *writer;
    const tml_picture *picture;
    size_t pixel_size, row_size;
    uint32_t stripe_rows, batch; /* rows per stripe, stripes per batch */
    size_t room;                 /* for a stripe's compressed bytes */
    uint8_t *filtered;           /* of a batch, behind the window before it */
    uint8_t *lines, *compressed, *memory;
    png_stripe *stripes;
    uint32_t adler;
} png_encoder;

/* ---- filters --------------------------------------------------------------------------------- */

/* Returns that of the left, upper and upper left neighbours which is nearest to left + up -
 * corner. */
static inline uint8_t paeth(int left, int up, int corner)
{
    int to_left = abs(up - corner), to_up = abs(left - corner),
        to_corner = abs(left + up - 2 * corner);
    int other = to_up <= to_corner ? up : corner;
    return (uint8_t)(to_left <= to_up && to_left <= to_corner ? left : other);
}

static inline uint8_t filter_one(int filter, uint8_t x, uint8_t left, uint8_t up, uint8_t corner)
{
    switch (filter) {
    case 1:
        return (uint8_t)(x - left);
    case 2:
        return (uint8_t)(x - up);
    case 3:
        return (uint8_t)(x - (left + up) / 2);
    case 4:
        return (uint8_t)(x - paeth(left, up, corner));
    default:
        return x;
    }
}

/* The pixels before line and above must be readable. */
static void filter_row(int filter, const uint8_t *line, const uint8_t *above, size_t pixel_size,
                       size_t size, uint8_t *out)
{
    const uint8_t *left = line - pixel_size, *corner = above - pixel_size;
#    define FILTER_CASE(F)                                                                         \
    case F:                                                                                        \
        for (size_t i = 0; i < size; i++)                                                          \
            out[i] = filter_one(F, line[i], left[i], above[i], corner[i]);                         \
        break;
    switch (filter) {
        FILTER_CASE(1)
        FILTER_CASE(2)
        FILTER_CASE(3)
        FILTER_CASE(4)
    default:
        memcpy(out, line, size);
    }
#    undef FILTER_CASE
}

/* Returns the filter whose output, as signed bytes, has the smallest sum of magnitudes (PNG
 * specification, 12.8). */
static int choose_filter(const uint8_t *line, const uint8_t *above, size_t pixel_size, size_t size)
{
    enum { BLOCK = 4096 }; /* the sums of a block fit in 32 bits */
    uint64_t sums[FILTER_COUNT] = {0};
    uint8_t filtered[BLOCK];
    for (size_t first = 0; first < size; first += BLOCK) {
        size_t count = size - first < BLOCK ? size - first : BLOCK;
        for (int f = 0; f < FILTER_COUNT; f++) {
            uint32_t sum = 0;
            filter_row(f, line + first, above + first, pixel_size, count, filtered);
            for (size_t i = 0; i < count; i++) {
                uint8_t negative = (uint8_t)-filtered[i];
                sum += filtered[i] < negative ? filtered[i] : negative;
            }
            sums[f] += sum;
        }
    }
    int best = 0;
    for (int f = 1; f < FILTER_COUNT; f++)
        best = sums[f] < sums[best] ? f : best;
    return best;
}

/* The file has the high byte of a two-byte sample first. */
static void copy_line(const png_encoder *e, uint32_t row, uint8_t *out)
{
    const uint8_t *from = (const uint8_t *)e->picture->data + row * e->row_size;
    memcpy(out, from, e->row_size);
    if (e->picture->type == TML_U16)
        tml_io_to_host(out, 2, e->row_size / 2, true);
}

static void filter_stripe(void *argument, uint32_t index)
{
    png_encoder *e = argument;
    png_stripe *s = &e->stripes[index];
    uint8_t *line = s->lines[0] + LEFT_MOST, *above = s->lines[1] + LEFT_MOST;
    if (s->row)
        copy_line(e, s->row - 1, above);
    else
        memset(above, 0, e->row_size);
    uint8_t *out = s->filtered;
    for (uint32_t row = s->row; row < s->row + s->rows; row++) {
        copy_line(e, row, line);
        int filter = choose_filter(line, above, e->pixel_size, e->row_size);
        *out = (uint8_t)filter;
        filter_row(filter, line, above, e->pixel_size, e->row_size, out + 1);
        out += 1 + e->row_size;
        uint8_t *swap = line;
        line = above;
        above = swap;
    }
}

/* ---- compression ----------------------------------------------------------------------------- */

/* zlib must not call the context's allocator in a task. */
static voidpf take_memory(voidpf opaque, uInt items, uInt item_size)
{
    png_stripe *s = opaque;
    size_t size = ((size_t)items * item_size + 63) / 64 * 64;
    if (size > MEMORY_SIZE - s->memory_used)
        return Z_NULL;
    s->memory_used += size;
    return s->memory + s->memory_used - size;
}

static void keep_memory(voidpf opaque, voidpf address)
{
    (void)opaque, (void)address;
}

/* Compresses into s->compressed, with window bytes before in as the dictionary. Returns the
 * compressed size; 0 on failure. */
static size_t deflate_bytes(png_stripe *s, size_t room, const uint8_t *in, size_t size,
                            size_t window, int strategy, int end)
{
    z_stream z = {.zalloc = take_memory, .zfree = keep_memory, .opaque = s};
    const int window_bits = -15, memory_level = 8; /* no header or trailer; zlib's default */
    s->memory_used = 0;
    if (deflateInit2(&z, LEVEL, Z_DEFLATED, window_bits, memory_level, strategy) != Z_OK)
        return 0;
    if (window)
        deflateSetDictionary(&z, in - window, (uInt)window);
    size_t written = 0;
    int code = Z_OK;
    z.next_in = (Bytef *)(uintptr_t)in; /* zlib only reads it */
    while (code == Z_OK && (size || z.avail_in || z.avail_out == 0)) {
        if (z.avail_in == 0) {
            z.avail_in = (uInt)(size < PIECE_MOST ? size : PIECE_MOST);
            size -= z.avail_in;
        }
        size_t left = room - HEAD_SIZE - ADLER_SIZE - written;
        uInt given = (uInt)(left < PIECE_MOST ? left : PIECE_MOST);
        z.next_out = s->compressed + HEAD_SIZE + written;
        z.avail_out = given;
        code = deflate(&z, size ? Z_NO_FLUSH : end);
        written += given - z.avail_out;
    }
    deflateEnd(&z);
    bool is_complete = end == Z_FINISH ? code == Z_STREAM_END : !size && !z.avail_in && z.avail_out;
    return is_complete ? written : 0;
}

/* In noise the search for repetitions takes most of the time, and runs alone compress nearly as
 * well. A trial on some bytes in the middle decides. */
static int choose_strategy(png_stripe *s, size_t room)
{
    if (s->filtered_size < TRIAL_LEAST)
        return Z_FILTERED;
    const uint8_t *middle = s->filtered + s->filtered_size / 2;
    size_t searched = deflate_bytes(s, room, middle, TRIAL_SIZE, 0, Z_FILTERED, Z_FINISH);
    size_t runs = deflate_bytes(s, room, middle, TRIAL_SIZE, 0, Z_RLE, Z_FINISH);
    bool is_noise = runs > TRIAL_SIZE / 8; /* data that compress better may repeat at a distance */
    return is_noise && runs <= searched + searched / 100 ? Z_RLE : Z_FILTERED;
}

static void compress_stripe(void *argument, uint32_t index)
{
    png_encoder *e = argument;
    png_stripe *s = &e->stripes[index];
    size_t before = (size_t)s->row * (1 + e->row_size);
    size_t window = before < WINDOW_SIZE ? before : WINDOW_SIZE;
    if (tml_is_cancelled(e->writer->tml))
        return;
    s->adler = (uint32_t)adler32_z(1, s->filtered, s->filtered_size);
    int strategy = choose_strategy(s, e->room);
    s->size = deflate_bytes(s, e->room, s->filtered, s->filtered_size, window, strategy,
                            s->is_last ? Z_FINISH : Z_SYNC_FLUSH);
    s->is_failed = s->size == 0;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static void put_u32(uint8_t out[4], uint32_t value)
{
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(value >> (24 - 8 * i));
}

static void write_chunk(io_writer *writer, const char name[4], const uint8_t *data, size_t size)
{
    uint8_t head[8], tail[4];
    put_u32(head, (uint32_t)size);
    memcpy(head + 4, name, 4);
    put_u32(tail, (uint32_t)crc32_z(crc32_z(0, head + 4, 4), data, size));
    tml_io_write(writer, head, sizeof head);
    tml_io_write(writer, data, size);
    tml_io_write(writer, tail, sizeof tail);
}

static void write_head(const png_encoder *e)
{
    static const uint8_t magic[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    static const uint8_t color_types[] = {0, 0, 4, 2, 6}; /* by number of channels */
    static const uint8_t perceptual = 0;
    const tml_picture *p = e->picture;
    uint8_t header[13] = {0}, gamma[4];
    put_u32(header, p->width);
    put_u32(header + 4, p->height);
    header[8] = p->type == TML_U16 ? 16 : 8;
    header[9] = color_types[p->channels];
    put_u32(gamma, 100000); /* gamma 1 */
    tml_io_write(e->writer, magic, sizeof magic);
    write_chunk(e->writer, "IHDR", header, sizeof header);
    if (p->srgb)
        write_chunk(e->writer, "sRGB", &perceptual, 1);
    else
        write_chunk(e->writer, "gAMA", gamma, sizeof gamma);
}

/* ---- stripes --------------------------------------------------------------------------------- */

/* Lays out a batch of stripes from row on. Returns their number. */
static uint32_t png_write_lay_out(png_encoder *e, uint32_t row)
{
    const tml_picture *p = e->picture;
    size_t line_size = LEFT_MOST + e->row_size, at = WINDOW_SIZE;
    uint32_t count = 0;
    for (; count < e->batch && row < p->height; count++) {
        uint32_t left = p->height - row;
        png_stripe *s = &e->stripes[count];
        *s = (png_stripe){.row = row,
                          .rows = left < e->stripe_rows ? left : e->stripe_rows,
                          .lines = {e->lines + 2 * count * line_size,
                                    e->lines + (2 * (size_t)count + 1) * line_size},
                          .filtered = e->filtered + at,
                          .compressed = e->compressed + count * e->room,
                          .memory = e->memory + (size_t)count * MEMORY_SIZE};
        s->filtered_size = s->rows * (1 + e->row_size);
        s->is_last = s->rows == left;
        at += s->filtered_size;
        row += s->rows;
    }
    return count;
}

static tml_status write_stripes(png_encoder *e, uint32_t count)
{
    static const uint8_t zlib_head[HEAD_SIZE] = {0x78, 0x5e};
    for (uint32_t i = 0; i < count && e->writer->status == TML_OK; i++) {
        const png_stripe *s = &e->stripes[i];
        uint8_t *begin = s->compressed + HEAD_SIZE, *end = begin + s->size;
        if (s->is_failed)
            return tml_error(e->writer->tml, TML_ERROR_INTERNAL, "%s: %s: zlib cannot compress it",
                             e->writer->call, e->writer->path);
        e->adler = (uint32_t)adler32_combine(e->adler, s->adler, (z_off_t)s->filtered_size);
        if (s->row == 0)
            begin = memcpy(s->compressed, zlib_head, HEAD_SIZE);
        if (s->is_last) {
            put_u32(end, e->adler);
            end += ADLER_SIZE;
        }
        for (size_t size; begin < end; begin += size) {
            size = end - begin < PIECE_MOST ? (size_t)(end - begin) : PIECE_MOST;
            write_chunk(e->writer, "IDAT", begin, size);
        }
    }
    return TML_OK;
}

static tml_status write_rows(png_encoder *e)
{
    tml_context *tml = e->writer->tml;
    tml_status status = TML_OK;
    write_head(e);
    for (uint32_t row = 0; row < e->picture->height && status == TML_OK;) {
        uint32_t count = png_write_lay_out(e, row);
        const png_stripe *last = &e->stripes[count - 1];
        tml_parallel_for(tml, count, filter_stripe, e);
        tml_parallel_for(tml, count, compress_stripe, e);
        if (tml_is_cancelled(tml))
            return tml_error(tml, TML_ERROR_CANCELLED, "%s: %s: cancelled", e->writer->call,
                             e->writer->path);
        status = write_stripes(e, count);
        if (e->writer->status != TML_OK)
            return TML_OK;
        row = last->row + last->rows;
        /* The next batch's window. Every batch but the last is longer than one. */
        if (row < e->picture->height)
            memmove(e->filtered, last->filtered + last->filtered_size - WINDOW_SIZE, WINDOW_SIZE);
    }
    write_chunk(e->writer, "IEND", e->filtered, 0); /* not NULL, which resets crc32_z */
    return status;
}

tml_status tml_picture_write_png(io_writer *writer, const tml_picture *picture)
{
    size_t pixel_size = tml_type_size(picture->type) * picture->channels;
    png_encoder e = {.writer = writer,
                     .picture = picture,
                     .pixel_size = pixel_size,
                     .row_size = pixel_size * picture->width,
                     .adler = 1};
    size_t rows = STRIPE_SIZE / (1 + e.row_size);
    rows = rows < 1 ? 1 : rows < picture->height ? rows : picture->height;
    size_t stripe_size = rows * (1 + e.row_size);
    size_t stripes = (picture->height + rows - 1) / rows, most = BATCH_SIZE / stripe_size;
    most = most < 1 ? 1 : most < 64 ? most : 64;
    e.stripe_rows = (uint32_t)rows;
    e.batch = (uint32_t)(stripes < most ? stripes : most);
    e.room =
        deflateBound(NULL, (uLong)stripe_size) + 64; /* of any level; flushing adds bytes */

    struct {
        uint8_t **memory;
        size_t size; /* per stripe, then per batch */
        size_t more;
    } parts[] = {{&e.filtered, stripe_size, WINDOW_SIZE},
                 {&e.lines, 2 * (LEFT_MOST + e.row_size), 0},
                 {&e.compressed, e.room, 0},
                 {&e.memory, MEMORY_SIZE, 0},
                 {(uint8_t **)&e.stripes, sizeof *e.stripes, 0}};
    enum { PART_COUNT = sizeof parts / sizeof parts[0] };
    tml_status status = TML_OK;
    size_t total = 0;
    for (int i = 0; i < PART_COUNT; i++) {
        parts[i].size = parts[i].size * e.batch + parts[i].more;
        total += parts[i].size;
        *parts[i].memory = tml_alloc(writer->tml, parts[i].size);
        status = *parts[i].memory ? status : TML_ERROR_OUT_OF_MEMORY;
    }
    if (status == TML_OK) {
        memset(e.lines, 0, parts[1].size);
        status = write_rows(&e);
    } else {
        tml_error(writer->tml, status, "%s: %s: no memory for %zu bytes of stripes", writer->call,
                  writer->path, total);
    }
    for (int i = 0; i < PART_COUNT; i++)
        tml_free(writer->tml, *parts[i].memory, parts[i].size);
    return status;
}

#else

tml_status tml_picture_write_png(io_writer *writer, const tml_picture *picture)
{
    (void)picture;
    return tml_error(writer->tml, TML_ERROR_UNSUPPORTED,
                     "%s: %s: this library was built without libpng; write .pfm or .hdr",
                     writer->call, writer->path);
}

#endif
