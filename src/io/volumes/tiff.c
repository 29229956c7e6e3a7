/* Reads TIFF and BigTIFF stacks with libtiff. The layers, from z = 0 on, are the pages of a file,
 * or the files of a folder in natural order, each with one page; pages have one channel. The first
 * page's description, if ImageJ or OME wrote it (tiff_text.c), gives the spacing, and divides pages
 * into layers, channels and times. OME also says which page is which layer (tiff_planes.c). Pages
 * that are reduced pictures or masks are skipped. */
#include <inttypes.h>

#include "io/volumes/tiff_internal.h"

static bool is_tiff(io_span head, const char *path)
{
    (void)path;
    return head.size >= 4 &&
           (memcmp(head.text, "II*\0", 4) == 0 || memcmp(head.text, "MM\0*", 4) == 0 ||
            memcmp(head.text, "II+\0", 4) == 0 || memcmp(head.text, "MM\0+", 4) == 0);
}

#ifndef TML_TIFF

static tml_status tiff_parse(const io_file *file, io_span head, const tml_load_desc *desc,
                             volume_header *out)
{
    (void)head, (void)desc, (void)out;
    return tml_io_error(
        file, TML_ERROR_UNSUPPORTED,
        "is TIFF, and this library was built without libtiff (TML_TIFF); save it as "
        "NRRD or raw samples");
}

#else

enum { METAMORPH_TAG = 33629 /* UIC2 */, ZEISS_TAG = 34412 };

/* Counts the layers, and checks that all are like the first. */
static tml_status count_layers(tiff_reader *reader, const tiff_page *first, uint64_t *count)
{
    bool has = true;
    tml_status status = TML_OK;
    for (*count = 1; status == TML_OK; ++*count) {
        tiff_page page = {0};
        status = tml_tiff_next_layer(reader, false, &has);
        if (status != TML_OK || !has)
            break;
        status = tml_tiff_page(reader, *count, &page);
        TML_THEN(status, tml_tiff_alike(reader, *count, &page, first));
        if (status == TML_OK && tml_is_cancelled(reader->file->tml))
            status = tml_io_error(reader->file, TML_ERROR_CANCELLED, "cancelled");
    }
    return status;
}

/* ---- folders --------------------------------------------------------------------------------- */

/* Checks that a slice is one page like the first file's. */
static tml_status check_slice(const io_file *file, const char *first_name, const tiff_page *first)
{
    tiff_reader reader;
    tiff_page page = {0};
    bool has = true;
    tml_status status = tml_tiff_open(file, &reader);
    if (status != TML_OK)
        return status;
    status = tml_tiff_next_layer(&reader, true, &has);
    TML_THEN(status,
             has ? tml_tiff_page(&reader, 0, &page) : tml_tiff_fail(&reader, "no page is a layer"));
    if (status == TML_OK && !tiff_is_alike(&page, first))
        status = tml_io_error(file, TML_ERROR_UNSUPPORTED,
                              "has %" PRIu32 " x %" PRIu32 " samples of %s, needs %" PRIu32
                              " x %" PRIu32 " of %s as %s, the first of its folder; put the slices "
                              "of one stack into a folder of their own",
                              page.width, page.height, tml_type_name(page.type), first->width,
                              first->height, tml_type_name(first->type), first_name);
    TML_THEN(status, tml_tiff_next_layer(&reader, false, &has));
    if (status == TML_OK && has)
        status = tml_io_error(file, TML_ERROR_UNSUPPORTED,
                              "has several pages, of a folder needs one a file; name the file "
                              "itself, which is a stack");
    TIFFClose(reader.tiff);
    return status;
}

/* Makes the folder's files the layers. The comment says what is ignored or missing. */
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

/* ---- the format ------------------------------------------------------------------------------ */

/* In ImageJ's stacks of over 4 GiB only the first image has a page; the others' samples follow. */
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

/* Finds the images: files of a folder, or pages of a file. *images: the number in the description,
 * then the real one. */
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
    if (!follows || pages > 1) { /* each image has a page */
        out->encoding = VOLUME_TIFF;
        out->offset = 0;
        *images = pages;
    }
    return status;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

/* Reads the OME description of a file that holds only samples, from an XML document or a TIFF file
 * beside it. */
static tml_status read_metadata_file(const io_file *file, tiff_text *text)
{
    char name[VOLUME_NAME_SIZE];
    io_file other;
    io_block block = {NULL, 0};
    snprintf(name, sizeof name, "%s", text->metadata_file);
    if (!*name || (!file->memory && !tml_io_has_beside(file, name)))
        return tml_io_error(
            file, TML_ERROR_FILE_ACCESS,
            "says that \"%s\" has its OME description; put that file into its folder", name);
    tml_status status = tml_io_open_beside(file, name, &other);
    if (status != TML_OK)
        return status;
    char head[4] = {0};
    const uint64_t most = 256 << 20;
    status = tml_io_read(&other, 0, head, other.size < 4 ? (size_t)other.size : 4);
    tml_tiff_text_free(file, text);
    if (status == TML_OK && is_tiff((io_span){head, sizeof head}, name)) {
        tiff_reader reader;
        const char *description = NULL;
        status = tml_tiff_open(&other, &reader);
        if (status == TML_OK) {
            TIFFGetField(reader.tiff, TIFFTAG_IMAGEDESCRIPTION, &description);
            status = tml_tiff_text_read(file, description, text);
            tiff_close(&reader);
        }
    } else if (status == TML_OK) {
        if (other.size >= most)
            status = tml_io_error(&other, TML_ERROR_UNSUPPORTED,
                                  "is over %" PRIu64 " bytes long, no OME description", most);
        block.size = (size_t)other.size + 1;
        block.data = status == TML_OK ? tml_io_alloc(&other, block.size) : NULL;
        TML_THEN(status, block.data ? tml_io_read(&other, 0, block.data, (size_t)other.size)
                                    : TML_ERROR_OUT_OF_MEMORY);
        if (status == TML_OK) {
            block.data[other.size] = '\0';
            status = tml_tiff_text_read(file, (const char *)block.data, text);
        }
        if (block.data)
            tml_io_block_free(&other, &block);
    }
    if (status == TML_OK && (text->kind != TIFF_OME || text->has_no_data))
        status = tml_io_error(&other, TML_ERROR_FILE_FORMAT,
                              "has no OME description of an image, which %s needs", file->path);
    tml_io_close(&other);
    return status;
}

/* Are the planes in several files? A folder may hold all of them. */
static bool names_files(const tiff_text *text)
{
    return text->name_count > 1 || (text->name_count == 1 && text->has_own_plane);
}

/* Chooses the samples' type; OME's if the pages state no format. */
static tml_status choose_type(const tiff_reader *reader, const tiff_page *page,
                              const tiff_text *text, volume_header *out)
{
    tml_status status = TML_OK;
    out->volume.type = page->type;
    if (text->kind == TIFF_OME && text->type && text->type != page->type) {
        bool is_free = !page->has_format && tml_type_size(text->type) == tml_type_size(page->type);
        if (is_free)
            out->volume.type = text->type;
        else
            status = tml_io_warn(reader->file, "its OME description says %s, but its pages have %s",
                                 tml_type_name(text->type), tml_type_name(page->type));
    }
    if (status == TML_OK && text->kind == TIFF_OME && text->width && text->height &&
        (text->width != page->width || text->height != page->height))
        status = tml_io_warn(reader->file,
                             "its OME description says %" PRIu64 " x %" PRIu64
                             " samples a layer, but its pages have %" PRIu32 " x %" PRIu32,
                             text->width, text->height, page->width, page->height);
    return status;
}

/* Lays out layers in the order of pages, or of a folder's files. */
static tml_status lay_out_pages(tiff_reader *reader, const tiff_page *page,
                                const tml_load_desc *desc, tiff_text *text, volume_header *out)
{
    const io_file *file = reader->file;
    uint64_t images = text->images, needed;
    tml_status status = find_images(reader, page, &images, out);
    if (status != TML_OK)
        return status;
    bool is_huge = __builtin_mul_overflow(text->layers, text->before, &needed) ||
                   __builtin_mul_overflow(needed, text->after, &needed);
    if (out->slices && (is_huge || needed != images)) { /* the text is that of its old stack */
        text->layers = needed = images;
        text->before = text->after = 1;
        is_huge = false;
    }
    if (is_huge || (needed != images && needed != 1))
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "its description says %" PRIu64 " layers in %" PRIu64
                            " frames, but it has %" PRIu64 " pages",
                            text->layers, text->before * text->after, images);
    if (needed != images)
        text->layers = images;
    out->volume.grid.dims[2] = text->layers;
    if (page->has_palette && text->kind == TIFF_PLAIN && images == 1)
        return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                            "is a picture in colours, by a table; convert it to grey");
    return tml_volume_layout(file, (uint64_t)page->width * page->height, text->before, text->after,
                             desc->frame, out);
}

static tml_status describe_page(tiff_reader *reader, const tml_load_desc *desc,
                                const tiff_page *page, tiff_text *text, volume_header *out)
{
    const io_file *file = reader->file;
    tml_status status = choose_type(reader, page, text, out);
    if (status != TML_OK)
        return status;
    out->volume.grid.dims[0] = page->width;
    out->volume.grid.dims[1] = page->height;
    if (!tml_type_is_float(page->type)) { /* ImageJ does not calibrate floats */
        out->volume.slope = text->slope;
        out->volume.intercept = text->intercept;
    }
    bool is_alone = tml_tiff_resolution(reader, text, out);
    if (text->kind == TIFF_OME && (!out->slices || names_files(text))) {
        out->slices = NULL;
        status = tml_tiff_planes(reader, page, text, desc, out);
    } else {
        status = lay_out_pages(reader, page, desc, text, out);
    }
    if (status == TML_OK && page->orientation != ORIENTATION_TOPLEFT)
        status = tml_io_warn(file,
                             "says that its rows or columns do not begin at the top left "
                             "(orientation %u), which is not applied: layers may be mirrored",
                             page->orientation);
    if (status == TML_OK && reader->has_wrong_sizes)
        status =
            tml_io_warn(file, "says wrong sizes of its strips, or none; those that its rows need "
                              "are taken");
    if (status == TML_OK && page->has_palette && text->kind == TIFF_PLAIN)
        status = tml_io_warn(file, "has a table of colours, which is left out: samples are the "
                                   "numbers in it, such as labels or grey values");
    return status == TML_OK ? tml_tiff_spacing(file, desc, is_alone, text, out) : status;
}

static tml_status describe_stack(tiff_reader *reader, const tml_load_desc *desc, volume_header *out)
{
    const io_file *file = reader->file;
    tiff_page page = {0};
    tiff_text text = {0};
    bool has = true;
    const char *description = NULL;
    tml_status status = tml_tiff_next_layer(reader, true, &has);
    TML_THEN(status,
             has ? tml_tiff_page(reader, 0, &page) : tml_tiff_fail(reader, "no page is a layer"));
    if (status != TML_OK)
        return status;
    if (TIFFFindField(reader->tiff, METAMORPH_TAG, TIFF_ANY)) /* it has just one page */
        return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                            "is a MetaMorph stack (.stk), needs a page for each layer; save it as "
                            "TIFF, for example in ImageJ");
    if (TIFFFindField(reader->tiff, ZEISS_TAG, TIFF_ANY)) {
        status = tml_io_warn(file, "is a Zeiss LSM file, whose spacing is not read; give "
                                   "desc.spacing, or save it as TIFF in ImageJ");
        if (status != TML_OK)
            return status;
    }
    TIFFGetField(reader->tiff, TIFFTAG_IMAGEDESCRIPTION, &description);
    status = tml_tiff_text_read(file, description, &text);
    if (status == TML_OK && text.has_no_data)
        status = read_metadata_file(file, &text);
    TML_THEN(status, describe_page(reader, desc, &page, &text, out));
    tml_tiff_text_free(file, &text);
    return status;
}

static tml_status tiff_parse(const io_file *file, io_span head, const tml_load_desc *desc,
                             volume_header *out)
{
    tiff_reader reader;
    (void)head;
    tml_status status = tml_volume_not_gzip(file);
    TML_THEN(status, tml_tiff_open(file, &reader));
    if (status != TML_OK)
        return status;
    status = describe_stack(&reader, desc, out);
    TIFFClose(reader.tiff);
    return status;
}

#endif

const volume_format tml_volume_tiff = {"TIFF", is_tiff, tiff_parse};
