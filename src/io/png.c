/* PNG pictures, read through libspng, where the build has it. png_write.c writes them. */
#include <inttypes.h>

#include "io/picture_internal.h"

static const uint8_t magic[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

static bool detect(io_span head)
{
    return head.size >= sizeof magic && memcmp(head.text, magic, sizeof magic) == 0;
}

#ifdef TML_PNG
#    include <spng.h>

/* How the pixels come out: as stored, but palettes become colours, fewer bits than eight become eight, and
 * a transparent colour becomes alpha. */
typedef struct png_layout {
    enum spng_format format;
    tml_type type;
    uint32_t channels;
    int flags;
} png_layout;

static png_layout choose_layout(const struct spng_ihdr *header, bool has_transparency)
{
    bool is_wide = header->bit_depth == 16;
    png_layout layout = {.format = SPNG_FMT_PNG, .type = is_wide ? TML_U16 : TML_U8};
    bool is_grey = header->color_type == SPNG_COLOR_TYPE_GRAYSCALE;
    bool is_palette = header->color_type == SPNG_COLOR_TYPE_INDEXED;
    if (has_transparency) {
        layout.flags = SPNG_DECODE_TRNS;
        /* libspng has no grey with alpha of 16 bits, nor of 1 to 4 bits in all versions. */
        bool stays_grey = is_grey && header->bit_depth <= 8;
        layout.format = is_wide ? SPNG_FMT_RGBA16 : stays_grey ? SPNG_FMT_GA8 : SPNG_FMT_RGBA8;
        layout.channels = stays_grey ? 2 : 4;
    } else if (is_palette) {
        layout.format = SPNG_FMT_RGB8;
        layout.channels = 3;
    } else if (is_grey) {
        layout.format = header->bit_depth < 8 ? SPNG_FMT_G8 : SPNG_FMT_PNG;
        layout.channels = 1;
    } else {
        layout.channels = header->color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA ? 2
                          : header->color_type == SPNG_COLOR_TYPE_TRUECOLOR     ? 3
                                                                                : 4;
    }
    return layout;
}

/* sRGB unless the file says otherwise: viewers do the same. */
static void read_coding(spng_ctx *png, tml_picture *picture)
{
    uint8_t intent;
    double gamma;
    picture->srgb = true;
    if (spng_get_srgb(png, &intent) == SPNG_OK || spng_get_gama(png, &gamma) != SPNG_OK)
        return;
    if (gamma > 0.99 && gamma < 1.01)
        picture->srgb = false;
    else if (gamma < 0.43 || gamma > 0.48) /* sRGB is written as 1 / 2.2 */
        snprintf(picture->comment, sizeof picture->comment,
                 "says that its gamma is %g; taken as sRGB", gamma);
}

/* Samples that the header promises, packed as the file packs them, without row filters. */
static uint64_t stored_size(const struct spng_ihdr *header)
{
    static const uint8_t samples[] = {1, 0, 3, 1, 2, 0, 4}; /* by colour type */
    return ((uint64_t)header->width * samples[header->color_type] * header->bit_depth + 7) / 8 *
           header->height;
}

static tml_status decode(picture_reader *reader, spng_ctx *png)
{
    const io_file *file = reader->file;
    struct spng_ihdr header;
    struct spng_trns transparency;
    int code = spng_get_ihdr(png, &header);
    if (code != SPNG_OK)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT, "is no valid PNG: %s",
                            spng_strerror(code));
    uint64_t stored = stored_size(&header);
    if (!tml_io_may_inflate_to(reader->bytes.size, stored))
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "its %zu bytes cannot hold %" PRIu32 " x %" PRIu32 " pixels",
                            reader->bytes.size, header.width, header.height);
    /* This also reads the chunks before the pixels, and checks them. */
    code = spng_get_trns(png, &transparency);
    if (code != SPNG_OK && code != SPNG_ECHUNKAVAIL)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT, "is no valid PNG: %s",
                            spng_strerror(code));
    png_layout layout = choose_layout(&header, code == SPNG_OK);
    tml_status status = tml_picture_begin(reader, layout.type, layout.channels, header.width,
                                          header.height, stored);
    if (status != TML_OK)
        return status;
    read_coding(png, &reader->picture);
    uint8_t *pixels = tml_picture_rows(reader, 0, header.height);
    if (!pixels)
        return tml_is_cancelled(file->tml) ? TML_ERROR_CANCELLED : TML_ERROR_OUT_OF_MEMORY;
    code = spng_decode_image(png, pixels, reader->picture.size, layout.format, layout.flags);
    /* The checksum of the last data and the end mark are looked at only here. */
    if (code == SPNG_OK)
        code = spng_decode_chunks(png);
    if (code != SPNG_OK)
        return tml_io_error(file,
                            code == SPNG_EMEM ? TML_ERROR_OUT_OF_MEMORY : TML_ERROR_FILE_FORMAT,
                            "is no valid PNG: %s", spng_strerror(code));
    return TML_OK;
}

static tml_status read_png(picture_reader *reader)
{
    /* Chunks beside the pixels, texts and profiles say, are small where they are honest. */
    const size_t chunk_most = 16 << 20, cache_most = 64 << 20;
    spng_ctx *png = spng_ctx_new(0);
    if (!png)
        return tml_io_error(reader->file, TML_ERROR_OUT_OF_MEMORY, "no memory for libspng");
    int code = spng_set_chunk_limits(png, chunk_most, cache_most);
    if (code == SPNG_OK)
        code = spng_set_png_buffer(png, reader->bytes.text, reader->bytes.size);
    tml_status status =
        code == SPNG_OK ? decode(reader, png)
                        : tml_io_error(reader->file, TML_ERROR_INTERNAL, "%s", spng_strerror(code));
    spng_ctx_free(png);
    return status;
}

#else

static tml_status read_png(picture_reader *reader)
{
    return tml_io_error(reader->file, TML_ERROR_UNSUPPORTED,
                        "is a PNG picture, and this library was built without libspng");
}

#endif

const picture_format tml_picture_png = {"PNG", detect, read_png};
