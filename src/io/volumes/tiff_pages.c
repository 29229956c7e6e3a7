/* Opens TIFF files and reads pages' tags, with libtiff on an io_file. */
#include <inttypes.h>

#include "io/volumes/tiff_internal.h"

#ifdef TML_TIFF

/* ---- libtiff over an io_file ----------------------------------------------------------------- */

static tmsize_t read_proc(thandle_t handle, void *out, tmsize_t size)
{
    tiff_reader *reader = handle;
    uint64_t left = reader->offset < reader->file->size ? reader->file->size - reader->offset : 0;
    uint64_t count = left < (uint64_t)size ? left : (uint64_t)size;
    if (tml_io_read_quietly(reader->file, reader->offset, out, (size_t)count) != 0)
        return -1;
    reader->offset += count;
    return (tmsize_t)count;
}

static tmsize_t write_proc(thandle_t handle, void *data, tmsize_t size)
{
    (void)handle, (void)data, (void)size;
    return -1;
}

static toff_t seek_proc(thandle_t handle, toff_t offset, int whence)
{
    tiff_reader *reader = handle;
    reader->offset = offset + (whence == SEEK_CUR   ? reader->offset
                               : whence == SEEK_END ? reader->file->size
                                                    : 0);
    return reader->offset;
}

static int close_proc(thandle_t handle)
{
    (void)handle;
    return 0;
}

static toff_t size_proc(thandle_t handle)
{
    const tiff_reader *reader = handle;
    return reader->file->size;
}

/* Keeps the first message, and prints nothing to stderr. */
static int keep_error(TIFF *tiff, void *user, const char *module, const char *format, va_list args)
{
    tiff_reader *reader = user;
    (void)tiff, (void)module;
    if (!reader->message[0])
        vsnprintf(reader->message, sizeof reader->message, format, args);
    return 1;
}

/* Notes warnings that matter. libjpeg warns if data are missing, and makes up samples. libtiff
 * warns if a JPEG picture is smaller than its strip, whose rest stays as it was, and if it
 * distrusts the strips' sizes: then it reads what the rows need from each strip's beginning on. */
static int drop_warning(TIFF *tiff, void *user, const char *module, const char *format,
                        va_list args)
{
    tiff_reader *reader = user;
    (void)tiff;
    reader->has_wrong_sizes |= strstr(format, "StripByteCounts") != NULL;
    if ((!module || strcmp(module, "JPEGLib") != 0) && strncmp(format, "Improper JPEG", 13) != 0)
        return 1;
    if (!reader->is_incomplete)
        vsnprintf(reader->message, sizeof reader->message, format, args);
    reader->is_incomplete = true;
    return 1;
}

tml_status tml_tiff_fail(const tiff_reader *reader, const char *what)
{
    return tml_io_error(reader->file, TML_ERROR_FILE_FORMAT, "%s: %s", what,
                        reader->message[0] ? reader->message : "it is damaged or was cut short");
}

tml_status tml_tiff_open(const io_file *file, tiff_reader *out)
{
    /* libtiff allocates lists of tags and stored strips with malloc. Both are parts of the file. */
    const uint64_t extra = 64 << 20;
    *out = (tiff_reader){.file = file};
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options)
        return tml_io_error(file, TML_ERROR_OUT_OF_MEMORY, "no memory to read TIFF with");
    TIFFOpenOptionsSetErrorHandlerExtR(options, keep_error, out);
    TIFFOpenOptionsSetWarningHandlerExtR(options, drop_warning, out);
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)(file->size + extra));
    out->tiff = TIFFClientOpenExt(file->path, "rm", out, read_proc, write_proc, seek_proc,
                                  close_proc, size_proc, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    return out->tiff ? TML_OK : tml_tiff_fail(out, "the first page cannot be read");
}

/* ---- pages ----------------------------------------------------------------------------------- */

static bool is_layer(const tiff_reader *reader)
{
    uint32_t kind = 0;
    TIFFGetFieldDefaulted(reader->tiff, TIFFTAG_SUBFILETYPE, &kind);
    return !(kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK));
}

tml_status tml_tiff_next_layer(tiff_reader *reader, bool is_first, bool *has)
{
    *has = is_first;
    while (!*has || !is_layer(reader)) {
        reader->message[0] = '\0';
        *has = TIFFReadDirectory(reader->tiff) == 1;
        if (!*has)
            return reader->message[0] ? tml_tiff_fail(reader, "a page cannot be read") : TML_OK;
    }
    return TML_OK;
}

static tml_type type_of(uint16_t bits, uint16_t format)
{
    static const tml_type types[3][4] = {{TML_U8, TML_U16, TML_U32, TML_U64},
                                         {TML_I8, TML_I16, TML_I32, TML_I64},
                                         {TML_TYPE_NONE, TML_F16, TML_F32, TML_F64}};
    int size = bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : bits == 64 ? 3 : -1;
    int kind = format == SAMPLEFORMAT_UINT || format == SAMPLEFORMAT_VOID ? 0
               : format == SAMPLEFORMAT_INT                               ? 1
               : format == SAMPLEFORMAT_IEEEFP                            ? 2
                                                                          : -1;
    return size < 0 || kind < 0 ? TML_TYPE_NONE : types[kind][size];
}

tml_status tml_tiff_page(const tiff_reader *reader, uint64_t number, tiff_page *out)
{
    TIFF *tiff = reader->tiff;
    uint16_t samples = 1, bits = 1, format = SAMPLEFORMAT_UINT;
    uint16_t colours = PHOTOMETRIC_MINISBLACK, compression = COMPRESSION_NONE;
    *out = (tiff_page){0};
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &out->width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &out->height);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &bits);
    out->has_format = TIFFGetField(tiff, TIFFTAG_SAMPLEFORMAT, &format) == 1;
    TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &compression);
    TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &colours);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &out->orientation);
    out->type = type_of(bits, format);
    out->has_palette = colours == PHOTOMETRIC_PALETTE;
    bool is_grey =
        colours == PHOTOMETRIC_MINISBLACK || colours == PHOTOMETRIC_MINISWHITE || out->has_palette;
    if (samples != 1 || !is_grey || out->type == TML_TYPE_NONE)
        return tml_io_error(reader->file, TML_ERROR_UNSUPPORTED,
                            "page %" PRIu64 " has %u samples a pixel of %u bits%s, needs one grey "
                            "sample of 8, 16, 32 or 64 bits; convert it to grey",
                            number, samples, bits, is_grey ? "" : " in colours");
    if (!TIFFIsCODECConfigured(compression))
        return tml_io_error(reader->file, TML_ERROR_UNSUPPORTED,
                            "page %" PRIu64 " has compression %u, which this libtiff does not "
                            "decode; convert it with \"tiffcp -c zip\"",
                            number, compression);
#    ifdef TIFFTAG_DEFLATE_SUBCODEC
    /* With libdeflate, libtiff accepts data that exceed the strip, and then has not written the
     * strip's end: samples would be uninitialised memory. zlib stops when the strip is full. */
    if (compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_DEFLATE)
        TIFFSetField(tiff, TIFFTAG_DEFLATE_SUBCODEC, DEFLATE_SUBCODEC_ZLIB);
#    endif
    if (out->width == 0 || out->height == 0 ||
        TIFFScanlineSize64(tiff) != out->width * tml_type_size(out->type))
        return tml_tiff_fail(reader, "a page's size is wrong");
    return TML_OK;
}

tml_status tml_tiff_alike(const tiff_reader *reader, uint64_t number, const tiff_page *page,
                          const tiff_page *first)
{
    if (tiff_is_alike(page, first))
        return TML_OK;
    return tml_io_error(reader->file, TML_ERROR_UNSUPPORTED,
                        "page %" PRIu64 " has %" PRIu32 " x %" PRIu32
                        " samples of %s, needs %" PRIu32 " x %" PRIu32
                        " of %s as the first; divide it with tiffsplit",
                        number, page->width, page->height, tml_type_name(page->type), first->width,
                        first->height, tml_type_name(first->type));
}

#endif
