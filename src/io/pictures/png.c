/* Reads PNG pictures with libpng, if the build has it. png_write.c writes them. */
#include <inttypes.h>

#include "io/pictures/picture_internal.h"

static const uint8_t magic[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

static bool png_detect(io_span head)
{
    return head.size >= sizeof magic && memcmp(head.text, magic, sizeof magic) == 0;
}

#ifdef TML_PNG
#    include <setjmp.h>
#    include <stdlib.h>

#    include <png.h>

/* libpng reports failures to on_error, which must not return, but jumps to decode_or_leave, the
 * only caller of the decoder. */
typedef struct png_source {
    jmp_buf leave;
    const io_file *file;
    io_span bytes;
    size_t at;
    tml_status status;
    char warning[64]; /* latest; an error may say less */
} png_source;

PNG_NORETURN static void on_error(png_structp png, png_const_charp text)
{
    png_source *source = png_get_error_ptr(png);
    TML_THEN(source->status, TML_ERROR_FILE_FORMAT);
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

static void png_read_bytes(png_structp png, png_bytep out, size_t size)
{
    png_source *source = png_get_io_ptr(png);
    if (size > source->bytes.size - source->at)
        png_error(png, "the file ends early");
    memcpy(out, source->bytes.text + source->at, size);
    source->at += size;
}

/* The chunks that say how samples encode light. libpng keeps them unparsed, because it would refuse
 * chunks that contradict each other. PNG (Third Edition), 4.3, ranks them: cICP, iCCP, sRGB, then
 * gAMA and cHRM. */
enum { CODINGS = 5, CICP = 0, ICCP, SRGB, GAMA, CHRM };
static const struct {
    char name[5];
    uint32_t size; /* bytes; 0: any */
    const char *fault;
} codings[CODINGS] = {{"cICP", 4, "its cICP chunk is not four bytes"},
                      {"iCCP", 0, ""},
                      {"sRGB", 1, "its sRGB chunk is not one byte"},
                      {"gAMA", 4, "its gAMA chunk is not four bytes"},
                      {"cHRM", 32, "its cHRM chunk is not 32 bytes"}};

static tml_status read_cicp(const picture_reader *reader, const uint8_t *data, picture_light *light)
{
    static const struct {
        uint8_t number;
        float xy[8];
    } primaries[] = {{9, {0.708f, 0.292f, 0.170f, 0.797f, 0.131f, 0.046f, 0.3127f, 0.3290f}},
                     {11, {0.680f, 0.320f, 0.265f, 0.690f, 0.150f, 0.060f, 0.314f, 0.351f}},
                     {12, {0.680f, 0.320f, 0.265f, 0.690f, 0.150f, 0.060f, 0.3127f, 0.3290f}},
                     {4, {0.67f, 0.33f, 0.21f, 0.71f, 0.14f, 0.08f, 0.310f, 0.316f}},
                     {10, {1, 0, 0, 1, 0, 0, 1 / 3.0f, 1 / 3.0f}}};
    const io_file *file = reader->file;
    tml_status status = TML_OK;
    bool is_known = tml_picture_transfer(data[1], light);
    if (!is_known)
        (void)tml_picture_transfer(PICTURE_SRGB, light);
    if (!is_known)
        status = tml_io_warn(file,
                             "its cICP chunk says transfer function %u, which is not known "
                             "here; taken as sRGB",
                             data[1]);
    if (status == TML_OK && data[2] != 0)
        status = tml_io_warn(file,
                             "its cICP chunk says matrix %u, which PNG does not have; left "
                             "out",
                             data[2]);
    if (data[3] == 0) { /* 16 to 235 of 255; with 16 bits 256 times as much */
        light->low = reader->picture.type == TML_U16 ? 16 * 256 / 65535.0 : 16 / 255.0;
        light->high = reader->picture.type == TML_U16 ? 235 * 256 / 65535.0 : 235 / 255.0;
    }
    bool is_told = data[0] == 1 || data[0] == 5 || data[0] == 6 || data[0] == 7 || data[0] == 2;
    for (size_t i = 0; i < sizeof primaries / sizeof primaries[0] && status == TML_OK; i++)
        if (primaries[i].number == data[0]) {
            is_told = true;
            status = tml_picture_primaries(reader, primaries[i].xy);
        }
    if (status == TML_OK && !is_told)
        status = tml_io_warn(file,
                             "its cICP chunk says primaries %u, which are not known here; "
                             "samples are left as they are",
                             data[0]);
    return status;
}

/* Checks a name, a zero, a byte for the method, and the profile in zlib. */
static tml_status read_iccp(const picture_reader *reader, const uint8_t *data, size_t size)
{
    enum { PROFILE_MOST = 64 << 10 }; /* the description is near the start in most profiles */
    const uint8_t *end = memchr(data, 0, size);
    if (!end || (size_t)(data + size - end) < 2)
        return tml_io_warn(reader->file, "its iCCP chunk is damaged; taken as sRGB");
    if (strstr((const char *)data, "sRGB"))
        return TML_OK;
    uint8_t *profile = tml_io_alloc(reader->file, PROFILE_MOST);
    if (!profile)
        return TML_ERROR_OUT_OF_MEMORY;
    z_stream inflater = {.next_in = (uint8_t *)(uintptr_t)end + 2,
                         .avail_in = (uInt)(data + size - end - 2),
                         .next_out = profile,
                         .avail_out = PROFILE_MOST};
    size_t length = 0;
    if (inflateInit(&inflater) == Z_OK) {
        (void)inflate(&inflater, Z_SYNC_FLUSH);
        length = PROFILE_MOST - inflater.avail_out;
        inflateEnd(&inflater);
    }
    tml_status status = tml_picture_profile(reader, profile, length);
    tml_free(reader->file->tml, profile, PROFILE_MOST);
    return status;
}

static tml_status read_gama(picture_reader *reader, const uint8_t *data, picture_light *light)
{
    const double gamma = io_load_u32(data, true) / 100000.0;
    if (gamma > 0.43 && gamma < 0.48) /* the gamma of sRGB is given as 1 / 2.2 */
        return TML_OK;
    if (gamma < 0.1 || gamma > 4) {
        tml_picture_note(reader, "says that its gamma is %g; taken as sRGB", gamma);
        return tml_io_warn(reader->file, "says that its gamma is %g; taken as sRGB", gamma);
    }
    bool is_linear = gamma > 0.99 && gamma < 1.01;
    *light = (picture_light){is_linear ? PICTURE_LINEAR : 0, is_linear ? 1 : 1 / gamma, 0, 1,
                             "its gamma"};
    return TML_OK;
}

static tml_status read_chrm(const picture_reader *reader, const uint8_t *data)
{
    float xy[8]; /* stored as white, red, green, blue */
    for (int i = 0; i < 8; i++)
        xy[(i + 6) % 8] = (float)(io_load_u32(data + 4 * i, true) / 100000.0);
    return tml_picture_primaries(reader, xy);
}

/* Finds how samples encode light; by default sRGB, as in viewers. */
static tml_status read_coding(png_structp png, png_infop info, picture_reader *reader,
                              picture_light *light)
{
    png_unknown_chunkp chunks;
    png_unknown_chunkp found[CODINGS] = {NULL};
    int count = png_get_unknown_chunks(png, info, &chunks);
    (void)tml_picture_transfer(PICTURE_SRGB, light);
    reader->picture.type = png_get_bit_depth(png, info) == 16 ? TML_U16 : TML_U8;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < CODINGS; k++)
            if (memcmp(chunks[i].name, codings[k].name, 4) == 0 && !found[k]) {
                if (codings[k].size && chunks[i].size != codings[k].size)
                    png_error(png, codings[k].fault);
                found[k] = &chunks[i];
            }
    if (found[CICP])
        return read_cicp(reader, found[CICP]->data, light);
    if (found[ICCP])
        return read_iccp(reader, found[ICCP]->data, found[ICCP]->size);
    if (found[SRGB])
        return TML_OK;
    tml_status status = found[GAMA] ? read_gama(reader, found[GAMA]->data, light) : TML_OK;
    return status == TML_OK && found[CHRM] ? read_chrm(reader, found[CHRM]->data) : status;
}

/* Keeps only the chunks of codings, besides the pixels, but verifies the checksums of all
 * chunks. */
static void choose_chunks(png_structp png)
{
    static const png_byte names[] = "cICP\0iCCP\0sRGB\0gAMA\0cHRM";
    const size_t chunk_most = 16 << 20;
    const int chunks_most = 64;
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_malloc_max(png, chunk_most);
    png_set_chunk_cache_max(png, chunks_most);
    png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
    png_set_benign_errors(png, false);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_ALWAYS, names, CODINGS);
}

/* Keeps samples, except: palettes become colours, fewer than eight bits become eight, a transparent
 * colour becomes alpha, and bytes get the machine's order. Returns the number of passes over the
 * rows. */
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
    uint64_t stored = (uint64_t)png_get_rowbytes(png, info) * height; /* without filter bytes */
    if (!tml_io_may_inflate_to(reader->bytes.size, stored))
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "its %zu bytes cannot hold %" PRIu32 " x %" PRIu32 " pixels",
                            reader->bytes.size, width, height);
    picture_light light;
    tml_status status = read_coding(png, info, reader, &light);
    if (status != TML_OK)
        return status;
    int passes = choose_layout(png, info);
    tml_type type = png_get_bit_depth(png, info) == 16 ? TML_U16 : TML_U8;
    status = tml_picture_begin(reader, type, png_get_channels(png, info), width, height, stored);
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
    reader->picture.srgb = true;
    bool is_kept = light.function == PICTURE_SRGB && light.low == 0;
    return is_kept ? TML_OK : tml_picture_undo(reader, &light);
}

/* on_error jumps here. Everything that changes between setjmp and the jump lies outside this
 * function. */
static tml_status decode_or_leave(picture_reader *reader, png_source *source, png_structp png,
                                  png_infop info)
{
    if (setjmp(source->leave))
        return source->status;
    png_set_read_fn(png, source, png_read_bytes);
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

const picture_format tml_picture_png = {"PNG", png_detect, read_png};
