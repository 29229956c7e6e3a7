/* Loads and saves pictures by the reader or writer of their format. */
#include <inttypes.h>
#include <strings.h>

#include "io/pictures/picture_internal.h"
#include "kernels/kernel.h"
#include "kernels/kernel_end.h"

static const picture_format *const formats[] = {
    &tml_picture_png, &tml_picture_jpeg, &tml_picture_exr, &tml_picture_radiance, &tml_picture_pfm};

enum { FORMAT_COUNT = sizeof formats / sizeof formats[0] };

/* ---- loading --------------------------------------------------------------------------------- */

static const picture_format *find_format(io_span head)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (formats[i]->detect(head))
            return formats[i];
    return NULL;
}

static tml_status picture_load(const io_file *file, uint64_t memory_limit, tml_picture *out)
{
    io_block block;
    tml_status status = tml_io_read_all(file, &block);
    if (status != TML_OK)
        return status;
    picture_reader reader = {.file = file,
                             .bytes = {(const char *)block.data, block.size},
                             .memory_limit = memory_limit};
    const picture_format *format = find_format(reader.bytes);
    if (!format) {
        tml_io_block_free(file, &block);
        if (file->size == 0)
            return tml_io_error(file, TML_ERROR_FILE_FORMAT, "the file is empty");
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "is none of the picture formats known here (Radiance, PFM, PNG, JPEG, "
                            "OpenEXR)");
    }
    status = format->read(&reader);
    tml_io_block_free(file, &block);
    if (status != TML_OK) {
        tml_free(file->tml, reader.picture.data, reader.picture.size);
        return status;
    }
    *out = reader.picture;
    snprintf(out->format, sizeof out->format, "%s", format->name);
    return TML_OK;
}

static const char load_call[] = "tml_picture_load";

tml_status tml_picture_load(tml_context *tml, const char *path, const tml_load_desc *desc,
                            tml_picture *out)
{
    memset(out, 0, sizeof *out);
    io_file file;
    tml_status status = tml_io_open(tml, load_call, path, &file);
    if (status != TML_OK)
        return status;
    file.strict = desc && desc->strict;
    status = picture_load(&file, desc ? desc->memory_limit : 0, out);
    tml_io_close(&file);
    return status;
}

tml_status tml_picture_load_memory(tml_context *tml, const char *name, const void *data,
                                   size_t size, uint64_t memory_limit, tml_picture *out)
{
    memset(out, 0, sizeof *out);
    io_file file;
    tml_io_open_memory(tml, load_call, name, data, size, &file);
    return picture_load(&file, memory_limit, out);
}

void tml_picture_free(tml_context *tml, tml_picture *picture)
{
    if (!picture)
        return;
    tml_free(tml, picture->data, picture->size);
    memset(picture, 0, sizeof *picture);
}

const char *tml_picture_format_of(tml_context *tml, const char *path)
{
    io_file file;
    uint8_t head[PICTURE_HEAD_SIZE];
    if (tml_io_open(tml, "tml_file_format", path, &file) != TML_OK)
        return NULL;
    size_t size = file.size < sizeof head ? (size_t)file.size : sizeof head;
    const picture_format *format = NULL;
    if (tml_io_read(&file, 0, head, size) == TML_OK)
        format = find_format((io_span){(const char *)head, size});
    tml_io_close(&file);
    return format ? format->name : NULL;
}

/* ---- saving ---------------------------------------------------------------------------------- */

static const struct picture_writer {
    const char *ending, *format;
    bool is_float, has_alpha;
    tml_status (*write)(io_writer *writer, const tml_picture *picture);
} writers[] = {{".png", "PNG", false, true, tml_picture_write_png},
               {".pfm", "PFM", true, false, tml_picture_write_pfm},
               {".hdr", "Radiance", true, false, tml_picture_write_radiance},
               {".exr", "OpenEXR", true, true, tml_picture_write_exr}};

static const struct picture_writer *writer_of(const char *path, const char *format)
{
    const char *dot = path ? strrchr(path, '.') : NULL;
    for (size_t i = 0; path && i < sizeof writers / sizeof writers[0]; i++)
        if (dot ? strcasecmp(dot, writers[i].ending) == 0 : strcmp(format, writers[i].format) == 0)
            return &writers[i];
    return NULL;
}

tml_status tml_picture_save(tml_context *tml, const char *path, const tml_picture *picture)
{
    static const char call[] = "tml_picture_save";
    const uint32_t largest = 1u << 30; /* within PNG's limit; a row's size cannot overflow */
    tml_type type = picture->type;
    bool is_integer = type == TML_U8 || type == TML_U16;
    bool is_float = type == TML_F16 || type == TML_F32;
    uint64_t size = (uint64_t)tml_type_size(type) * picture->channels;
    bool fits = picture->width && picture->height && picture->width < largest &&
                picture->height < largest &&
                !__builtin_mul_overflow(size * picture->width, picture->height, &size);
    if (!fits || (picture->size && size > picture->size) || !picture->data ||
        !(is_integer || is_float) || picture->channels < 1 || picture->channels > 4)
        return tml_error(
            tml, TML_ERROR_INVALID_ARGUMENT,
            "%s: the picture has %" PRIu32 " x %" PRIu32 " pixels of %" PRIu32
            " x %s in %zu bytes; needs 1 to %" PRIu32
            " pixels each way, of 1 to 4 x u8, u16, f16 or f32, and the bytes for them",
            call, picture->width, picture->height, picture->channels, tml_type_name(type),
            picture->size, largest - 1);
    const struct picture_writer *format = writer_of(path, picture->format);
    if (!format)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: %s: the name's ending is not one that can be written (expected .png, "
                         ".pfm, .hdr or .exr)",
                         call, path ? path : "NULL");
    if (format->is_float != is_float)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: %s: pixels are %s, this format holds %s; %s", call, path,
                         tml_type_name(type), is_float ? "u8 and u16" : "floats",
                         is_float ? "tone-map them first" : "write .png");
    if (!format->has_alpha && picture->channels != 1 && picture->channels != 3)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: %s: the picture has %" PRIu32
                         " channels; this format holds 1 or 3, and no "
                         "alpha",
                         call, path, picture->channels);
    io_writer writer;
    tml_status status = tml_io_create(tml, call, path, 0, &writer);
    if (status != TML_OK)
        return status;
    status = format->write(&writer, picture);
    return tml_io_finish(&writer, status);
}
