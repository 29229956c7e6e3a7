/* PNG pictures, read through libpng, where the build has it. png_write.c writes them. */
#include <inttypes.h>

#include "io/picture_internal.h"

static const uint8_t magic[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

static bool detect(io_span head)
{
    return head.size >= sizeof magic && memcmp(head.text, magic, sizeof magic) == 0;
}

#ifdef TML_PNG
#    include <setjmp.h>
#    include <stdlib.h>

#    include <png.h>

/* libpng ends a failed call through its error function, which must not return: by a jump to the one
 * place that called it. */
typedef struct png_source {
    jmp_buf leave;
    const io_file *file;
    io_span bytes;
    size_t at;
    tml_status status;
    char warning[64]; /* the latest: an error may say less */
} png_source;

PNG_NORETURN static void on_error(png_structp png, png_const_charp text)
{
    png_source *source = png_get_error_ptr(png);
    if (source->status == TML_OK)
        source->status = TML_ERROR_FILE_FORMAT;
    tml_io_error(source->file, source->status, "is no valid PNG: %s%s%s", text,
                 source->warning[0] ? ": " : "", source->warning);
    longjmp(source->leave, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    png_source *source = png_get_error_ptr(png);
    snprintf(source->warning, sizeof source->warning, "%s", text);
}

static png_voidp take_memory(png_structp png, png_alloc_size_t size)
{
    png_source *source = png_get_mem_ptr(png);
    void *memory = malloc(size);
    if (!memory)
        source->status = TML_ERROR_OUT_OF_MEMORY;
    return memory;
}

static void give_memory(png_structp png, png_voidp memory)
{
    (void)png;
    free(memory);
}

static void read_bytes(png_structp png, png_bytep out, size_t size)
{
    png_source *source = png_get_io_ptr(png);
    if (size > source->bytes.size - source->at)
        png_error(png, "the file ends early");
    memcpy(out, source->bytes.text + source->at, size);
    source->at += size;
}

/* sRGB unless the file says otherwise: viewers do the same. libpng keeps the two chunks as they are, since
 * it would refuse those that contradict each other. */
static void read_coding(png_structp png, png_infop info, tml_picture *picture)
{
    png_unknown_chunkp chunks;
    int count = png_get_unknown_chunks(png, info, &chunks);
    double gamma = 0;
    picture->srgb = true;
    for (int i = 0; i < count; i++) {
        bool is_srgb = memcmp(chunks[i].name, "sRGB", 4) == 0;
        if (chunks[i].size != (is_srgb ? 1 : 4))
            png_error(png, is_srgb ? "its sRGB chunk is not one byte"
                                   : "its gAMA chunk is not four bytes");
        if (is_srgb)
            return;
        gamma = io_load_u32(chunks[i].data, true) / 100000.0;
    }
    if (gamma > 0.99 && gamma < 1.01)
        picture->srgb = false;
    else if (count && (gamma < 0.43 || gamma > 0.48)) /* sRGB is written as 1 / 2.2 */
        snprintf(picture->comment, sizeof picture->comment,
                 "says that its gamma is %g; taken as sRGB", gamma);
}

/* Of the chunks beside the pixels only gAMA and sRGB are looked at, but every checksum is. */
static void choose_chunks(png_structp png)
{
    static const png_byte coding[] = "gAMA\0sRGB";
    const size_t chunk_most = 16 << 20;
    const int chunks_most = 64;
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_malloc_max(png, chunk_most);
    png_set_chunk_cache_max(png, chunks_most);
    png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
    png_set_benign_errors(png, false);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_ALWAYS, coding, 2);
}

/* As stored, but palettes become colours, fewer bits than eight become eight, and a transparent colour becomes
 * alpha; in the machine's byte order. Returns the number of passes over the rows. */
static int choose_layout(png_structp png, png_infop info)
{
    const uint16_t one = 1;
    png_set_expand(png);
    if (*(const uint8_t *)&one == 1)
        png_set_swap(png);
    int passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    return passes;
}

static tml_status decode(picture_reader *reader, png_structp png, png_infop info)
{
    const io_file *file = reader->file;
    choose_chunks(png);
    png_read_info(png, info);
    uint32_t width = png_get_image_width(png, info), height = png_get_image_height(png, info);
    uint64_t stored = (uint64_t)png_get_rowbytes(png, info) * height; /* without row filters */
    if (!tml_io_may_inflate_to(reader->bytes.size, stored))
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "its %zu bytes cannot hold %" PRIu32 " x %" PRIu32 " pixels",
                            reader->bytes.size, width, height);
    read_coding(png, info, &reader->picture);
    int passes = choose_layout(png, info);
    tml_type type = png_get_bit_depth(png, info) == 16 ? TML_U16 : TML_U8;
    tml_status status =
        tml_picture_begin(reader, type, png_get_channels(png, info), width, height, stored);
    if (status != TML_OK)
        return status;
    for (int pass = 0; pass < passes; pass++)
        for (uint32_t y = 0; y < height; y++) {
            uint8_t *row = tml_picture_rows(reader, y, 1);
            if (!row)
                return tml_is_cancelled(file->tml) ? TML_ERROR_CANCELLED : TML_ERROR_OUT_OF_MEMORY;
            png_read_row(png, row, NULL);
        }
    png_read_end(png, NULL);
    return TML_OK;
}

/* The target of the jump. Everything that changes between setjmp and the jump lies outside of this
 * function. */
static tml_status decode_or_leave(picture_reader *reader, png_source *source, png_structp png,
                                  png_infop info)
{
    if (setjmp(source->leave))
        return source->status;
    png_set_read_fn(png, source, read_bytes);
    return decode(reader, png, info);
}

static tml_status read_png(picture_reader *reader)
{
    png_source source = {.file = reader->file, .bytes = reader->bytes};
    png_structp png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &source, on_error, on_warning,
                                               &source, take_memory, give_memory);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    tml_status status =
        info ? decode_or_leave(reader, &source, png, info)
             : tml_io_error(reader->file, TML_ERROR_OUT_OF_MEMORY, "no memory for libpng");
    png_destroy_read_struct(&png, &info, NULL);
    return status;
}

#else

static tml_status read_png(picture_reader *reader)
{
    return tml_io_error(reader->file, TML_ERROR_UNSUPPORTED,
                        "is a PNG picture, and this library was built without libpng");
}

#endif

const picture_format tml_picture_png = {"PNG", detect, read_png};
