/* Decodes the samples of a TIFF stack: strips or tiles of its pages, in the order of layers. */
#include <inttypes.h>

#include "io/volumes/tiff_internal.h"

#ifndef TML_TIFF

tml_status tml_tiff_decode(const io_file *file, const volume_header *header, uint64_t offset,
                           uint64_t size, void *out)
{
    (void)header, (void)offset, (void)size, (void)out;
    return tml_io_error(file, TML_ERROR_INTERNAL, "TIFF without libtiff");
}

#else

bool tml_tiff_may_hold(const tiff_reader *reader, uint64_t size)
{
    uint16_t compression = COMPRESSION_NONE;
    TIFFGetFieldDefaulted(reader->tiff, TIFFTAG_COMPRESSION, &compression);
    uint64_t ratio = compression == COMPRESSION_NONE       ? 1
                     : compression == COMPRESSION_PACKBITS ? 64
                     : compression == COMPRESSION_LZW ? 4096 /* most bytes per code */
                                                      : 65536;
    return size / ratio <= reader->file->size;
}

static tml_status bad_samples(const tiff_reader *reader)
{
    if (tml_is_cancelled(reader->file->tml))
        return tml_io_error(reader->file, TML_ERROR_CANCELLED, "cancelled");
    return tml_tiff_fail(reader, "samples cannot be decoded");
}

/* libtiff would read an uncompressed strip or tile beyond its end. */
static tml_status check_stored(const tiff_reader *reader, uint32_t number, uint64_t needed)
{
    uint16_t compression = COMPRESSION_NONE;
    TIFFGetFieldDefaulted(reader->tiff, TIFFTAG_COMPRESSION, &compression);
    uint64_t stored = TIFFGetStrileByteCount(reader->tiff, number);
    if (compression != COMPRESSION_NONE || stored >= needed)
        return TML_OK;
    return tml_io_error(reader->file, TML_ERROR_FILE_FORMAT,
                        "strip or tile %" PRIu32 " has %" PRIu64 " bytes, needs %" PRIu64
                        "; it was cut short or is damaged",
                        number, stored, needed);
}

/* Clears memory that a codec may leave unwritten. LZW, PackBits and deflate check that they wrote
 * all. */
static void clear(const tiff_reader *reader, void *out, uint64_t size)
{
    uint16_t compression = COMPRESSION_NONE;
    TIFFGetFieldDefaulted(reader->tiff, TIFFTAG_COMPRESSION, &compression);
    if (compression != COMPRESSION_NONE && compression != COMPRESSION_LZW &&
        compression != COMPRESSION_PACKBITS && compression != COMPRESSION_ADOBE_DEFLATE &&
        compression != COMPRESSION_DEFLATE)
        memset(out, 0, (size_t)size);
}

static tml_status read_strips(const tiff_reader *reader, const tiff_page *page, uint8_t *out)
{
    uint32_t rows = 0;
    TIFFGetFieldDefaulted(reader->tiff, TIFFTAG_ROWSPERSTRIP, &rows);
    rows = rows < page->height ? rows : page->height;
    uint64_t row_size = page->width * tml_type_size(page->type);
    if (rows == 0)
        return tml_tiff_fail(reader, "a strip has no rows");
    for (uint32_t y = 0, strip = 0; y < page->height; y += rows, strip++) {
        uint32_t count = rows < page->height - y ? rows : page->height - y;
        tmsize_t size = (tmsize_t)(count * row_size);
        tml_status status = check_stored(reader, strip, (uint64_t)size);
        if (status != TML_OK)
            return status;
        clear(reader, out + y * row_size, (uint64_t)size);
        if (tml_is_cancelled(reader->file->tml) ||
            TIFFReadEncodedStrip(reader->tiff, strip, out + y * row_size, size) != size ||
            reader->is_incomplete)
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
        !tml_tiff_may_hold(reader, size))
        return tml_tiff_fail(reader, "a tile's size is wrong");
    uint8_t *tile = tml_io_alloc(file, size);
    tml_status status = tile ? TML_OK : TML_ERROR_OUT_OF_MEMORY;
    uint32_t number = 0;
    for (uint64_t y = 0; y < page->height && status == TML_OK; y += height)
        for (uint64_t x = 0; x < page->width && status == TML_OK; x += width, number++) {
            uint64_t columns = width < page->width - x ? width : page->width - x;
            uint64_t rows = height < page->height - y ? height : page->height - y;
            status = check_stored(reader, number, size);
            if (status != TML_OK)
                break;
            clear(reader, tile, size);
            if (tml_is_cancelled(file->tml) ||
                TIFFReadEncodedTile(reader->tiff, number, tile, (tmsize_t)size) != (tmsize_t)size ||
                reader->is_incomplete) {
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

static tml_status read_samples(const tiff_reader *reader, const tiff_page *page, uint8_t *out)
{
    return TIFFIsTiled(reader->tiff) ? read_tiles(reader, page, out)
                                     : read_strips(reader, page, out);
}

/* Reads the next line of tml_tiff_planes: opens its file, unless it is open, and goes to its page.
 * *name: of the open file; "" is this file. */
static tml_status next_plane(const io_file *file, io_text *lines, io_file *other, io_span *name,
                             tiff_reader *reader)
{
    io_span line, next;
    uint64_t offset = 0;
    if (!tml_io_line(lines, &line))
        return tml_io_error(file, TML_ERROR_INTERNAL, "a layer without a page");
    const char *blank = memchr(line.text, ' ', line.size);
    size_t digits = (size_t)(blank - line.text);
    (void)tml_io_parse_u64((io_span){line.text, digits}, &offset);
    next = (io_span){blank + 1, line.size - digits - 1};
    bool is_open =
        reader->tiff && next.size == name->size && memcmp(next.text, name->text, next.size) == 0;
    if (!is_open) {
        char path[VOLUME_NAME_SIZE];
        tml_status status = TML_OK;
        if (reader->tiff)
            tiff_close(reader);
        reader->tiff = NULL;
        tml_io_close(other);
        tml_io_copy(path, sizeof path, next);
        *name = next;
        if (next.size)
            status = tml_io_open_beside(file, path, other);
        TML_THEN(status, tml_tiff_open(next.size ? other : file, reader));
        if (status != TML_OK)
            return status;
    }
    reader->message[0] = '\0';
    return TIFFSetSubDirectory(reader->tiff, offset) == 1
               ? TML_OK
               : tml_tiff_fail(reader, "a page cannot be read");
}

static tml_status decode_planes(const io_file *file, const volume_header *header, uint64_t size,
                                uint8_t *out)
{
    io_text lines = io_text_of(header->names);
    io_file other = {.fd = -1};
    io_span name = {"", 0};
    tiff_reader reader = {.file = file};
    tml_status status = TML_OK;
    const uint64_t *dims = header->volume.grid.dims;
    const uint64_t page_size = dims[0] * dims[1] * tml_type_size(header->volume.type);
    for (uint64_t done = 0; done < size && status == TML_OK; done += page_size) {
        tiff_page page = {0};
        status = next_plane(file, &lines, &other, &name, &reader);
        TML_THEN(status, tml_tiff_page(&reader, done / page_size, &page));
        if (status == TML_OK && (page.width != dims[0] || page.height != dims[1] ||
                                 tml_type_size(page.type) != tml_type_size(header->volume.type)))
            status = tml_tiff_fail(&reader, "a page changed");
        TML_THEN(status, read_samples(&reader, &page, out + done));
    }
    if (reader.tiff)
        tiff_close(&reader);
    tml_io_close(&other);
    return status;
}

tml_status tml_tiff_decode(const io_file *file, const volume_header *header, uint64_t offset,
                           uint64_t size, void *out)
{
    tiff_reader reader;
    tiff_page first = {0}, page = {0};
    bool has = true;
    uint8_t *to = out;
    (void)offset;
    if (header->source == VOLUME_ATTACHED && header->names.size) /* already checked */
        return out ? decode_planes(file, header, size, out) : TML_OK;
    tml_status status = tml_tiff_open(file, &reader);
    if (status != TML_OK)
        return status;
    status = tml_tiff_next_layer(&reader, true, &has);
    if (status == TML_OK && !tml_tiff_may_hold(&reader, size))
        status = tml_io_error(file, TML_ERROR_FILE_FORMAT,
                              "has %" PRIu64 " bytes, which cannot make the %" PRIu64
                              " of its pages; it was cut short or its header is wrong",
                              file->size, size);
    for (uint64_t number = 0; out && size && status == TML_OK; number++) {
        status = has ? tml_tiff_page(&reader, number, &page)
                     : tml_tiff_fail(&reader, "a page is missing");
        first = number ? first : page;
        uint64_t page_size = (uint64_t)first.width * first.height * tml_type_size(first.type);
        if (status == TML_OK && (!tiff_is_alike(&page, &first) || page_size > size))
            status = tml_tiff_fail(&reader, "a page changed");
        TML_THEN(status, read_samples(&reader, &page, to));
        if (status == TML_OK) {
            to += page_size;
            size -= page_size;
            status = size ? tml_tiff_next_layer(&reader, false, &has) : TML_OK;
        }
    }
    tiff_close(&reader);
    return status;
}

#endif
