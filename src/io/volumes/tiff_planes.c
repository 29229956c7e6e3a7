/* Finds the file and the page of each layer of an OME-TIFF (docs.openmicroscopy.org: the OME-TIFF
 * specification). TiffData elements assign runs of planes, counted in DimensionOrder, to runs of
 * pages. Without TiffData, planes and pages have the same order. */
#include <inttypes.h>

#include "io/volumes/tiff_internal.h"

#ifdef TML_TIFF

enum { LAYERS_MOST = 1 << 20, UNKNOWN_FILE = -1 };

typedef struct tiff_layer {
    uint64_t page; /* its number; later its directory's offset */
    int64_t file;  /* like tiff_run.file, or UNKNOWN_FILE */
} tiff_layer;

/* The offsets of all directories of a file, also of reduced pictures and masks: OME's IFD counts
 * all. */
typedef struct tiff_offsets {
    uint64_t *data;
    size_t count, room;
} tiff_offsets;

static tml_status list_pages(tiff_reader *reader, tiff_offsets *out)
{
    const io_file *file = reader->file;
    *out = (tiff_offsets){0};
    if (TIFFSetDirectory(reader->tiff, 0) != 1)
        return tml_tiff_fail(reader, "the first page cannot be read");
    do {
        if (out->count == out->room) {
            size_t room = out->room ? 2 * out->room : 64;
            uint64_t *data = tml_io_alloc(file, room * sizeof *data);
            if (!data)
                return TML_ERROR_OUT_OF_MEMORY;
            if (out->count)
                memcpy(data, out->data, out->count * sizeof *data);
            tml_free(file->tml, out->data, out->room * sizeof *data);
            out->data = data;
            out->room = room;
        }
        out->data[out->count++] = TIFFCurrentDirOffset(reader->tiff);
        if (tml_is_cancelled(file->tml))
            return tml_io_error(file, TML_ERROR_CANCELLED, "cancelled");
        reader->message[0] = '\0';
    } while (TIFFReadDirectory(reader->tiff) == 1);
    return reader->message[0] ? tml_tiff_fail(reader, "a page cannot be read") : TML_OK;
}

static void free_offsets(const io_file *file, tiff_offsets *offsets)
{
    tml_free(file->tml, offsets->data, offsets->room * sizeof *offsets->data);
}

/* Where a frame's layers are among the planes: layer z is plane first + z * step. */
typedef struct plane_steps {
    uint64_t first, step, layers;
} plane_steps;

static plane_steps steps_of(const tiff_text *text, uint32_t frame)
{
    return (plane_steps){frame % text->before + frame / text->before * text->before * text->layers,
                         text->before, text->layers};
}

/* Assigns pages to the layers that are among a run's planes. */
static tml_status place_run(const io_file *file, const tiff_run *run, plane_steps steps,
                            tiff_layer *layers)
{
    uint64_t end;
    if (__builtin_add_overflow(run->plane, run->count, &end))
        end = UINT64_MAX;
    uint64_t before = run->plane > steps.first ? run->plane - steps.first : 0;
    for (uint64_t z = (before + steps.step - 1) / steps.step; z < steps.layers; z++) {
        uint64_t plane = steps.first + z * steps.step;
        if (plane >= end)
            break;
        tiff_layer layer = {run->page + (plane - run->plane), run->file};
        if (layers[z].file != UNKNOWN_FILE &&
            (layers[z].file != layer.file || layers[z].page != layer.page))
            return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                                "its OME description gives layer %" PRIu64 " two pages, %" PRIu64
                                " and %" PRIu64 "; mend its TiffData",
                                z, layers[z].page, layer.page);
        layers[z] = layer;
    }
    return TML_OK;
}

static tml_status place_layers(const io_file *file, const tiff_text *text, uint64_t pages,
                               uint32_t frame, tiff_layer *layers)
{
    const tiff_run all = {0, 0, pages, 0};
    plane_steps steps = steps_of(text, frame);
    tml_status status = TML_OK;
    for (uint64_t z = 0; z < text->layers; z++)
        layers[z].file = UNKNOWN_FILE;
    if (!text->run_count)
        status = place_run(file, &all, steps, layers);
    for (size_t i = 0; i < text->run_count && status == TML_OK; i++) {
        tiff_run run = text->runs[i];
        if (run.count == 0) /* find_pages checks the pages of other files */
            run.count = run.file ? UINT64_MAX : run.page < pages ? pages - run.page : 0;
        status = place_run(file, &run, steps, layers);
    }
    for (uint64_t z = 0; z < text->layers && status == TML_OK; z++)
        if (layers[z].file == UNKNOWN_FILE)
            status = tml_io_error(file, TML_ERROR_FILE_FORMAT,
                                  "its OME description says %" PRIu64 " layers in %" PRIu64
                                  " frames, but names no page for layer %" PRIu64
                                  " of frame %" PRIu32 " (the file has %" PRIu64 " pages)",
                                  text->layers, text->before * text->after, z, frame, pages);
    return status;
}

/* Replaces pages with offsets, for layers in one file, and checks these pages. */
static tml_status find_pages(tiff_reader *reader, uint32_t number, const tiff_offsets *offsets,
                             const tiff_page *first, uint64_t layer_count, tiff_layer *layers)
{
    const io_file *file = reader->file;
    uint64_t size = 0;
    tml_status status = TML_OK;
    for (uint64_t z = 0; z < layer_count && status == TML_OK; z++) {
        tiff_page page = {0};
        if (layers[z].file != number)
            continue;
        if (layers[z].page >= offsets->count)
            return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                                "has %zu pages, but the OME description needs page %" PRIu64
                                " for layer %" PRIu64,
                                offsets->count, layers[z].page, z);
        uint64_t offset = offsets->data[layers[z].page];
        reader->message[0] = '\0';
        if (TIFFSetSubDirectory(reader->tiff, offset) != 1)
            return tml_tiff_fail(reader, "a page cannot be read");
        status = tml_tiff_page(reader, layers[z].page, &page);
        TML_THEN(status, tml_tiff_alike(reader, layers[z].page, &page, first));
        size += (uint64_t)page.width * page.height * tml_type_size(page.type);
        if (status == TML_OK && !tml_tiff_may_hold(reader, size))
            status = tml_io_error(file, TML_ERROR_FILE_FORMAT,
                                  "has %" PRIu64 " bytes, which cannot make its layers up to "
                                  "number %" PRIu64 "; it was cut short or its header is wrong",
                                  file->size, z);
        layers[z].page = offset;
        if (status == TML_OK && tml_is_cancelled(file->tml))
            status = tml_io_error(file, TML_ERROR_CANCELLED, "cancelled");
    }
    return status;
}

static tml_status find_pages_beside(const io_file *file, const tiff_text *text, uint32_t number,
                                    const tiff_page *first, tiff_layer *layers)
{
    const char *name = text->names[number - 1];
    bool is_used = false;
    io_file other;
    tiff_reader reader;
    tiff_offsets offsets;
    for (uint64_t z = 0; z < text->layers; z++)
        is_used |= layers[z].file == number;
    if (!is_used)
        return TML_OK;
    if (!file->memory && !tml_io_has_beside(file, name))
        return tml_io_error(file, TML_ERROR_FILE_ACCESS,
                            "its OME description has the image in several files; put \"%s\" into "
                            "its folder, or save the image as one file",
                            name);
    tml_status status = tml_io_open_beside(file, name, &other);
    if (status != TML_OK)
        return status;
    status = tml_tiff_open(&other, &reader);
    if (status == TML_OK) {
        status = list_pages(&reader, &offsets);
        TML_THEN(status, find_pages(&reader, number, &offsets, first, text->layers, layers));
        free_offsets(file, &offsets);
        tiff_close(&reader);
    }
    tml_io_close(&other);
    return status;
}

/* Writes the lines that the decoder reads. */
static tml_status write_lines(const io_file *file, const tiff_text *text, const tiff_layer *layers,
                              volume_header *out)
{
    enum { NUMBER_SIZE = 24 };
    size_t size = 0, used = 0;
    for (uint64_t z = 0; z < text->layers; z++)
        size += NUMBER_SIZE + (layers[z].file ? strlen(text->names[layers[z].file - 1]) : 0);
    out->list.data = tml_io_alloc(file, size);
    if (!out->list.data)
        return TML_ERROR_OUT_OF_MEMORY;
    out->list.size = size;
    for (uint64_t z = 0; z < text->layers; z++)
        used +=
            (size_t)snprintf((char *)out->list.data + used, size - used, "%" PRIu64 " %s\n",
                             layers[z].page, layers[z].file ? text->names[layers[z].file - 1] : "");
    out->names = (io_span){(const char *)out->list.data, used};
    return TML_OK;
}

/* Lays out one frame of OME's planes; nothing else is read. */
static tml_status tiff_planes_lay_out(const io_file *file, const tiff_text *text, uint32_t frame,
                                      volume_header *out)
{
    uint64_t frames, layer = out->volume.grid.dims[0] * out->volume.grid.dims[1];
    if (__builtin_mul_overflow(text->before, text->after, &frames) || frames > UINT32_MAX ||
        text->layers > LAYERS_MOST)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "its OME description says %" PRIu64 " layers in %" PRIu64 " x %" PRIu64
                            " frames; that is more than any file has",
                            text->layers, text->before, text->after);
    out->volume.grid.dims[2] = text->layers;
    tml_status status = tml_volume_layout(file, layer * text->layers, frames, 1, frame, out);
    out->samples = out->run = out->stride = layer * text->layers;
    out->first = 0;
    out->runs = 1;
    out->encoding = VOLUME_TIFF;
    return status;
}

tml_status tml_tiff_planes(tiff_reader *reader, const tiff_page *first, tiff_text *text,
                           const tml_load_desc *desc, volume_header *out)
{
    const io_file *file = reader->file;
    tiff_offsets offsets;
    tiff_layer *layers = NULL;
    tml_status status = list_pages(reader, &offsets);
    if (status == TML_OK && !text->run_count && text->layers == 1 && text->before == 1 &&
        text->after == 1 && offsets.count > 1) {
        text->layers = offsets.count;
        status = tml_io_warn(file,
                             "its OME description says one plane, but it has %zu pages, which "
                             "are taken for layers",
                             offsets.count);
    }
    TML_THEN(status, tiff_planes_lay_out(file, text, desc->frame, out));
    if (status == TML_OK) {
        layers = tml_io_alloc(file, text->layers * sizeof *layers);
        status = layers ? place_layers(file, text, offsets.count, desc->frame, layers)
                        : TML_ERROR_OUT_OF_MEMORY;
    }
    TML_THEN(status, find_pages(reader, 0, &offsets, first, text->layers, layers));
    for (size_t i = 0; i < text->name_count && status == TML_OK; i++)
        status = find_pages_beside(file, text, (uint32_t)i + 1, first, layers);
    bool is_here = false;
    for (uint64_t z = 0; z < text->layers && status == TML_OK; z++)
        is_here |= layers[z].file == 0;
    if (status == TML_OK && !is_here)
        status =
            tml_io_warn(file,
                        "is one of the files of an image, whose frame %" PRIu32
                        " lies in others, such as \"%s\"; desc.frame chooses another of %" PRIu64,
                        desc->frame, text->names[layers[0].file - 1], out->volume.frame_count);
    TML_THEN(status, write_lines(file, text, layers, out));
    if (layers)
        tml_free(file->tml, layers, (size_t)text->layers * sizeof *layers);
    free_offsets(file, &offsets);
    return status;
}

#endif
