/* TIFF and BigTIFF stacks, through libtiff: the pages are layers, from z = 0 on, of one channel; or the files of a
 * folder are, in natural order, each of one page. What ImageJ (imagej.net) and OME (ome-model.readthedocs.io) write into the first page's description gives the
 * spacing, and divides pages into layers, channels and times. Pages that are smaller pictures of others, or
 * masks, are passed over. */
#include <inttypes.h>
#include <math.h>

#include "io/volume_internal.h"

static bool is_tiff(io_span head, const char *path)
{
    (void)path;
    return head.size >= 4 &&
           (memcmp(head.text, "II*\0", 4) == 0 || memcmp(head.text, "MM\0*", 4) == 0 ||
            memcmp(head.text, "II+\0", 4) == 0 || memcmp(head.text, "MM\0+", 4) == 0);
}

#ifndef TML_TIFF

static tml_status parse(const io_file *file, io_span head, const tml_volume_load_desc *desc,
                        volume_header *out)
{
    (void)head, (void)desc, (void)out;
    return tml_io_error(
        file, TML_ERROR_UNSUPPORTED,
        "is TIFF, and this library was built without libtiff (TML_TIFF); save it as "
        "NRRD or raw samples");
}

tml_status tml_tiff_decode(const io_file *file, const volume_header *header, uint64_t offset,
                           uint64_t size, void *out)
{
    (void)header, (void)offset, (void)size, (void)out;
    return tml_io_error(file, TML_ERROR_INTERNAL, "TIFF without libtiff");
}

#else

#    include <tiffio.h>

enum { METAMORPH_TAG = 33629 }; /* UIC2 */

typedef struct tiff_reader {
    const io_file *file;
    TIFF *tiff;
    uint64_t offset;   /* of the next read */
    char message[200]; /* libtiff's first one; empty: none */
} tiff_reader;

/* What must be the same on each page. */
typedef struct tiff_page {
    uint32_t width, height;
    tml_type type;
} tiff_page;

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

/* Keeps the first message; nothing goes to stderr. */
static int keep_error(TIFF *tiff, void *user, const char *module, const char *format, va_list args)
{
    tiff_reader *reader = user;
    (void)tiff, (void)module;
    if (!reader->message[0])
        vsnprintf(reader->message, sizeof reader->message, format, args);
    return 1;
}

static int drop_warning(TIFF *tiff, void *user, const char *module, const char *format,
                        va_list args)
{
    (void)tiff, (void)user, (void)module, (void)format, (void)args;
    return 1;
}

static tml_status fail(const tiff_reader *reader, const char *what)
{
    return tml_io_error(reader->file, TML_ERROR_FILE_FORMAT, "%s: %s", what,
                        reader->message[0] ? reader->message : "it is damaged or was cut short");
}

/* On failure there is nothing to close. */
static tml_status open_tiff(const io_file *file, tiff_reader *out)
{
    /* Lists of tags and stored strips, which libtiff takes from malloc, are parts of the file. */
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
    return out->tiff ? TML_OK : fail(out, "the first page cannot be read");
}

/* ---- pages ----------------------------------------------------------------------------------- */

static bool is_layer(const tiff_reader *reader)
{
    uint32_t kind = 0;
    TIFFGetFieldDefaulted(reader->tiff, TIFFTAG_SUBFILETYPE, &kind);
    return !(kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK));
}

/* Goes to the next page that is a layer, or to the first. *has: there is one. */
static tml_status next_layer(tiff_reader *reader, bool is_first, bool *has)
{
    *has = is_first;
    while (!*has || !is_layer(reader)) {
        reader->message[0] = '\0';
        *has = TIFFReadDirectory(reader->tiff) == 1;
        if (!*has)
            return reader->message[0] ? fail(reader, "a page cannot be read") : TML_OK;
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

static tml_status read_page(const tiff_reader *reader, uint64_t number, tiff_page *out)
{
    TIFF *tiff = reader->tiff;
    uint16_t samples = 1, bits = 1, format = SAMPLEFORMAT_UINT;
    uint16_t colours = PHOTOMETRIC_MINISBLACK, compression = COMPRESSION_NONE;
    *out = (tiff_page){0};
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &out->width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &out->height);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &bits);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &format);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &compression);
    TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &colours);
    out->type = type_of(bits, format);
    bool is_grey = colours == PHOTOMETRIC_MINISBLACK || colours == PHOTOMETRIC_MINISWHITE;
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
    if (out->width == 0 || out->height == 0 ||
        TIFFScanlineSize64(tiff) != out->width * tml_type_size(out->type))
        return fail(reader, "a page's size is wrong");
    return TML_OK;
}

static bool is_alike(const tiff_page *a, const tiff_page *b)
{
    return a->width == b->width && a->height == b->height && a->type == b->type;
}

/* Counts the layers and checks that all are like the first. */
static tml_status count_layers(tiff_reader *reader, const tiff_page *first, uint64_t *count)
{
    bool has = true;
    tml_status status = TML_OK;
    for (*count = 1; status == TML_OK; ++*count) {
        tiff_page page;
        status = next_layer(reader, false, &has);
        if (status != TML_OK || !has)
            break;
        status = read_page(reader, *count, &page);
        if (status == TML_OK && !is_alike(&page, first))
            status = tml_io_error(reader->file, TML_ERROR_UNSUPPORTED,
                                  "page %" PRIu64 " has %" PRIu32 " x %" PRIu32
                                  " samples of %s, needs %" PRIu32 " x %" PRIu32
                                  " of %s as the first; divide it with tiffsplit",
                                  *count, page.width, page.height, tml_type_name(page.type),
                                  first->width, first->height, tml_type_name(first->type));
        if (status == TML_OK && tml_is_cancelled(reader->file->tml))
            status = tml_io_error(reader->file, TML_ERROR_CANCELLED, "cancelled");
    }
    return status;
}

/* ---- folders --------------------------------------------------------------------------------- */

/* A slice has one page, like that of the first file. */
static tml_status check_slice(const io_file *file, const char *first_name, const tiff_page *first)
{
    tiff_reader reader;
    tiff_page page;
    bool has = true;
    tml_status status = open_tiff(file, &reader);
    if (status != TML_OK)
        return status;
    status = next_layer(&reader, true, &has);
    if (status == TML_OK)
        status = has ? read_page(&reader, 0, &page) : fail(&reader, "no page is a layer");
    if (status == TML_OK && !is_alike(&page, first))
        status = tml_io_error(file, TML_ERROR_UNSUPPORTED,
                              "has %" PRIu32 " x %" PRIu32 " samples of %s, needs %" PRIu32
                              " x %" PRIu32 " of %s as %s, the first of its folder; put the slices "
                              "of one stack into a folder of their own",
                              page.width, page.height, tml_type_name(page.type), first->width,
                              first->height, tml_type_name(first->type), first_name);
    if (status == TML_OK)
        status = next_layer(&reader, false, &has);
    if (status == TML_OK && has)
        status = tml_io_error(file, TML_ERROR_UNSUPPORTED,
                              "has several pages, of a folder needs one a file; name the file "
                              "itself, which is a stack");
    TIFFClose(reader.tiff);
    return status;
}

/* Makes the files of the folder the layers, and tells what one may not have meant. */
static tml_status take_slices(const io_file *file, const tiff_page *first, volume_header *out)
{
    const io_folder *slices = out->slices;
    char *comment = out->volume.comment;
    int64_t step = slices->count > 1 ? tml_number_step(slices->names[0], slices->names[1]) : 0;
    tml_status status = TML_OK;
    if (slices->left_out)
        snprintf(comment, sizeof out->volume.comment, "files left out, which are not TIFF: %zu",
                 slices->left_out);
    for (size_t i = 0; i < slices->count && status == TML_OK; i++) {
        const char *name = slices->names[i];
        io_file slice;
        status = tml_io_open_beside(file, name, &slice);
        if (status != TML_OK)
            break;
        status = check_slice(&slice, slices->names[0], first);
        tml_io_close(&slice);
        if (tml_is_cancelled(file->tml))
            status = tml_io_error(file, TML_ERROR_CANCELLED, "cancelled");
        if (i && step && tml_number_step(slices->names[i - 1], name) != step) {
            snprintf(comment, sizeof out->volume.comment, "numbers are missing before %s", name);
            step = 0;
        }
    }
    if (status != TML_OK)
        return status;
    out->encoding = VOLUME_TIFF;
    return tml_volume_list(file, slices->names[0], sizeof slices->names[0], slices->count, out);
}

/* ---- descriptions ---------------------------------------------------------------------------- */

typedef struct tiff_stack {
    uint64_t layers, before, after; /* frames that change faster and more slowly than layers do */
    double spacing[3];
} tiff_stack;

/* The value after key, up to end or the line's; empty when there is none. */
static io_span value_of(const char *text, const char *key, char end)
{
    const char *at = strstr(text, key);
    size_t size = 0;
    if (!at)
        return (io_span){"", 0};
    at += strlen(key);
    while (at[size] && at[size] != end && at[size] != '\n' && at[size] != '\r')
        size++;
    return (io_span){at, size};
}

static uint64_t count_of(const char *text, const char *key, char end)
{
    uint64_t count = 1;
    (void)tml_io_parse_u64(value_of(text, key, end), &count);
    return count;
}

static void read_imagej(const tiff_reader *reader, const char *text, tiff_stack *out)
{
    float resolution[2] = {0, 0};
    io_span unit = value_of(text, "\nunit=", '\n');
    out->before = count_of(text, "\nchannels=", '\n');
    out->layers = count_of(text, "\nslices=", '\n');
    out->after = count_of(text, "\nframes=", '\n');
    if (tml_io_parse_f64(value_of(text, "\nspacing=", '\n'), &out->spacing[2]))
        out->spacing[2] = fabs(out->spacing[2]); /* ImageJ writes -2 for a stack from above */
    if (tml_io_trim(unit).size == 0 || tml_io_is(unit, "pixel"))
        return;
    TIFFGetField(reader->tiff, TIFFTAG_XRESOLUTION, &resolution[0]);
    TIFFGetField(reader->tiff, TIFFTAG_YRESOLUTION, &resolution[1]);
    for (int axis = 0; axis < 2; axis++)
        if (resolution[axis] > 0)
            out->spacing[axis] = 1 / (double)resolution[axis];
}

static void read_ome(const char *text, tiff_stack *out)
{
    static const char letters[] = "CZT";
    static const char *const sizes[] = {" SizeC=\"", " SizeZ=\"", " SizeT=\""};
    static const char *const steps[] = {" PhysicalSizeX=\"", " PhysicalSizeY=\"",
                                        " PhysicalSizeZ=\""};
    io_span order = value_of(text, " DimensionOrder=\"", '"'); /* such as XYCZT, fastest first */
    bool is_after = false;
    for (size_t i = 2; i < order.size && i < 5; i++) {
        const char *letter = memchr(letters, order.text[i], 3);
        uint64_t count = letter ? count_of(text, sizes[letter - letters], '"') : 1;
        uint64_t *to = is_after ? &out->after : &out->before;
        if (order.text[i] == 'Z')
            out->layers = count;
        else if (__builtin_mul_overflow(*to, count, to))
            *to = UINT64_MAX;
        is_after |= order.text[i] == 'Z';
    }
    for (int axis = 0; axis < 3; axis++)
        (void)tml_io_parse_f64(value_of(text, steps[axis], '"'), &out->spacing[axis]);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* May that many bytes come out of the file? Compression is that of the page at hand. */
static bool may_hold(const tiff_reader *reader, uint64_t size)
{
    uint16_t compression = COMPRESSION_NONE;
    TIFFGetFieldDefaulted(reader->tiff, TIFFTAG_COMPRESSION, &compression);
    uint64_t ratio = compression == COMPRESSION_NONE       ? 1
                     : compression == COMPRESSION_PACKBITS ? 64
                     : compression == COMPRESSION_LZW ? 4096 /* bytes that a code may stand for */
                                                      : 65536;
    return size / ratio <= reader->file->size;
}

static tml_status bad_samples(const tiff_reader *reader)
{
    if (tml_is_cancelled(reader->file->tml))
        return tml_io_error(reader->file, TML_ERROR_CANCELLED, "cancelled");
    return fail(reader, "samples cannot be decoded");
}

static tml_status read_strips(const tiff_reader *reader, const tiff_page *page, uint8_t *out)
{
    uint32_t rows = 0;
    TIFFGetFieldDefaulted(reader->tiff, TIFFTAG_ROWSPERSTRIP, &rows);
    rows = rows < page->height ? rows : page->height;
    uint64_t row_size = page->width * tml_type_size(page->type);
    if (rows == 0)
        return fail(reader, "a strip has no rows");
    for (uint32_t y = 0, strip = 0; y < page->height; y += rows, strip++) {
        uint32_t count = rows < page->height - y ? rows : page->height - y;
        tmsize_t size = (tmsize_t)(count * row_size);
        if (tml_is_cancelled(reader->file->tml) ||
            TIFFReadEncodedStrip(reader->tiff, strip, out + y * row_size, size) != size)
            return bad_samples(reader);
    }
    return TML_OK;
}

static tml_status read_tiles(const tiff_reader *reader, const tiff_page *page, uint8_t *out)
{
    const io_file *file = reader->file;
    uint32_t width = 0, height = 0;
    TIFFGetField(reader->tiff, TIFFTAG_TILEWIDTH, &width);
    TIFFGetField(reader->tiff, TIFFTAG_TILELENGTH, &height);
    uint64_t sample = tml_type_size(page->type), size = TIFFTileSize64(reader->tiff);
    if (width == 0 || height == 0 || size != (uint64_t)width * height * sample ||
        !may_hold(reader, size))
        return fail(reader, "a tile's size is wrong");
    uint8_t *tile = tml_io_alloc(file, size);
    tml_status status = tile ? TML_OK : TML_ERROR_OUT_OF_MEMORY;
    uint32_t number = 0;
    for (uint64_t y = 0; y < page->height && status == TML_OK; y += height)
        for (uint64_t x = 0; x < page->width && status == TML_OK; x += width, number++) {
            uint64_t columns = width < page->width - x ? width : page->width - x;
            uint64_t rows = height < page->height - y ? height : page->height - y;
            if (tml_is_cancelled(file->tml) ||
                TIFFReadEncodedTile(reader->tiff, number, tile, (tmsize_t)size) != (tmsize_t)size) {
                status = bad_samples(reader);
                break;
            }
            for (uint64_t row = 0; row < rows; row++)
                memcpy(out + ((y + row) * page->width + x) * sample, tile + row * width * sample,
                       (size_t)(columns * sample));
        }
    tml_free(file->tml, tile, (size_t)size);
    return status;
}

tml_status tml_tiff_decode(const io_file *file, const volume_header *header, uint64_t offset,
                           uint64_t size, void *out)
{
    tiff_reader reader;
    tiff_page first, page;
    bool has = true;
    uint8_t *to = out;
    (void)header, (void)offset;
    tml_status status = open_tiff(file, &reader);
    if (status != TML_OK)
        return status;
    status = next_layer(&reader, true, &has);
    if (status == TML_OK && !may_hold(&reader, size))
        status = tml_io_error(file, TML_ERROR_FILE_FORMAT,
                              "has %" PRIu64 " bytes, which cannot make the %" PRIu64
                              " of its pages; it was cut short or its header is wrong",
                              file->size, size);
    for (uint64_t number = 0; out && size && status == TML_OK; number++) {
        status = has ? read_page(&reader, number, &page) : fail(&reader, "a page is missing");
        first = number ? first : page;
        uint64_t page_size = (uint64_t)first.width * first.height * tml_type_size(first.type);
        if (status == TML_OK && (!is_alike(&page, &first) || page_size > size))
            status = fail(&reader, "a page changed");
        if (status == TML_OK)
            status = TIFFIsTiled(reader.tiff) ? read_tiles(&reader, &page, to)
                                              : read_strips(&reader, &page, to);
        if (status == TML_OK) {
            to += page_size;
            size -= page_size;
            status = size ? next_layer(&reader, false, &has) : TML_OK;
        }
    }
    TIFFClose(reader.tiff);
    return status;
}

/* ---- the format ------------------------------------------------------------------------------ */

/* ImageJ's stacks of over 4 GiB have one page, behind whose samples the others' lie. */
static bool follow_first_page(const tiff_reader *reader, uint64_t images, volume_header *out)
{
    uint16_t compression = COMPRESSION_NONE;
    TIFFGetFieldDefaulted(reader->tiff, TIFFTAG_COMPRESSION, &compression);
    if (images < 2 || compression != COMPRESSION_NONE || TIFFIsTiled(reader->tiff) ||
        TIFFNumberOfStrips(reader->tiff) != 1)
        return false;
    out->encoding = VOLUME_RAW;
    out->offset = TIFFGetStrileOffset(reader->tiff, 0);
    out->big_endian = TIFFIsBigEndian(reader->tiff);
    return true;
}

/* The files of a folder, or the pages of a file. *images: how many it says it has; how many there are. */
static tml_status find_images(tiff_reader *reader, const tiff_page *first, uint64_t *images,
                              volume_header *out)
{
    uint64_t pages = 0;
    if (out->slices) {
        *images = out->slices->count;
        return take_slices(reader->file, first, out);
    }
    out->encoding = VOLUME_TIFF;
    bool follows = follow_first_page(reader, *images, out);
    tml_status status = count_layers(reader, first, &pages);
    if (!follows || pages > 1) { /* text, which libtiff owns, is gone with the first page */
        out->encoding = VOLUME_TIFF;
        out->offset = 0;
        *images = pages;
    }
    return status;
}

static tml_status describe_stack(tiff_reader *reader, const tml_volume_load_desc *desc,
                                 volume_header *out)
{
    const io_file *file = reader->file;
    tiff_stack stack = {1, 1, 1, {1, 1, 1}};
    tiff_page page;
    bool has = true;
    const char *text = NULL;
    tml_status status = next_layer(reader, true, &has);
    if (status == TML_OK)
        status = has ? read_page(reader, 0, &page) : fail(reader, "no page is a layer");
    if (status != TML_OK)
        return status;
    if (TIFFFindField(reader->tiff, METAMORPH_TAG, TIFF_ANY)) /* of whose planes one has a page */
        return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                            "is a MetaMorph stack (.stk), needs a page for each layer; save it as "
                            "TIFF, for example in ImageJ");
    bool is_imagej = TIFFGetField(reader->tiff, TIFFTAG_IMAGEDESCRIPTION, &text) == 1 &&
                     strncmp(text, "ImageJ=", 7) == 0;
    uint64_t images = is_imagej ? count_of(text, "\nimages=", '\n') : 1, needed;
    if (is_imagej)
        read_imagej(reader, text, &stack);
    else if (text && strstr(text, "<OME"))
        read_ome(text, &stack);
    status = find_images(reader, &page, &images, out);
    if (status != TML_OK)
        return status;
    bool is_huge = __builtin_mul_overflow(stack.layers, stack.before, &needed) ||
                   __builtin_mul_overflow(needed, stack.after, &needed);
    if (out->slices && (is_huge || needed != images)) { /* a slice says what its stack once was */
        stack.layers = needed = images;
        stack.before = stack.after = 1;
        is_huge = false;
    }
    if (is_huge || (needed != images && needed != 1))
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "its description says %" PRIu64 " layers in %" PRIu64
                            " frames, but it has %" PRIu64 " pages",
                            stack.layers, stack.before * stack.after, images);
    if (needed != images)
        stack.layers = images;
    out->volume.type = page.type;
    out->volume.grid.dims[0] = page.width;
    out->volume.grid.dims[1] = page.height;
    out->volume.grid.dims[2] = stack.layers;
    status = tml_volume_layout(file, (uint64_t)page.width * page.height, stack.before, stack.after,
                               desc->frame, out);
    return status == TML_OK ? volume_spacings(file, stack.spacing, desc, out) : status;
}

static tml_status parse(const io_file *file, io_span head, const tml_volume_load_desc *desc,
                        volume_header *out)
{
    tiff_reader reader;
    (void)head;
    tml_status status = tml_volume_not_gzip(file);
    if (status == TML_OK)
        status = open_tiff(file, &reader);
    if (status != TML_OK)
        return status;
    status = describe_stack(&reader, desc, out);
    TIFFClose(reader.tiff);
    return status;
}

#endif

const volume_format tml_volume_tiff = {"TIFF", is_tiff, parse};
