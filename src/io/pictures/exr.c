/* Reads OpenEXR pictures through the C interface of OpenEXR's own library (OpenEXRCore).
 *
 * Damaged files have often led OpenEXR readers into faults, so the library gets as little work as
 * possible. It parses headers and decodes blocks of scan lines, or tiles of the finest level, one
 * after another, from bytes in memory. Each size that the library reads is compared with the file's
 * size before the library allocates that much. Kinds of files that are rare for pictures are
 * unsupported. */

#include "io/pictures/picture_internal.h"

static bool exr_detect(io_span head)
{
    return head.size >= 4 && memcmp(head.text, "\x76\x2f\x31\x01", 4) == 0;
}

#ifndef TML_EXR

static tml_status read_exr(picture_reader *reader)
{
    return tml_io_error(
        reader->file, TML_ERROR_UNSUPPORTED,
        "is an OpenEXR picture, and this library was built without OpenEXR (TML_EXR); "
        "convert it to Radiance or PFM");
}

#else

#    include <inttypes.h>

#    include <stdlib.h>

#    include <openexr.h>

enum {
    SIDE_MOST = 1 << 18,
    CHANNELS_MOST = 256,
    BLOCK_MOST = 256 << 20, /* decoded bytes of a block of scan lines or a tile */
    BLOCK_HEADER = 8,       /* the block's first row and its size; tiles have more */
    TABLE_ENTRY = 8,        /* the block's offset in the file */
    MESSAGE_SIZE = 256,
};

/* Passed to the library's callbacks. */
typedef struct exr_file {
    picture_reader *reader;
    exr_context_t exr;
    char message[MESSAGE_SIZE]; /* the library's first error message */
} exr_file;

static int64_t exr_read_bytes(exr_const_context_t exr, void *user, void *out, uint64_t size,
                              uint64_t offset, exr_stream_error_func_ptr_t error)
{
    const exr_file *file = user;
    const io_span bytes = file->reader->bytes;
    (void)exr;
    (void)error;
    if (offset >= bytes.size)
        return 0;
    uint64_t there = bytes.size - offset;
    size = size < there ? size : there;
    memcpy(out, bytes.text + offset, size);
    return (int64_t)size;
}

static int64_t tell_size(exr_const_context_t exr, void *user)
{
    (void)exr;
    return (int64_t)((const exr_file *)user)->reader->bytes.size;
}

static void take_message(exr_const_context_t exr, exr_result_t code, const char *text)
{
    void *user = NULL;
    (void)code;
    /* While it parses a header, the library's context may not have the user data yet. */
    if (!exr || exr_get_user_data(exr, &user) != EXR_ERR_SUCCESS || !user)
        return;
    exr_file *file = user;
    if (!file->message[0])
        snprintf(file->message, sizeof file->message, "%s", text);
    tml_picture_printable(file->message);
}

/* Returns zeroed memory: what a damaged file leaves unwritten must not be old memory. */
static void *take_memory(size_t size)
{
    return calloc(1, size);
}

static tml_status exr_fail(const exr_file *file, exr_result_t code)
{
    bool is_memory = code == EXR_ERR_OUT_OF_MEMORY;
    return tml_io_error(file->reader->file,
                        is_memory ? TML_ERROR_OUT_OF_MEMORY : TML_ERROR_FILE_FORMAT,
                        "is no valid OpenEXR file: %s",
                        file->message[0] ? file->message : exr_get_default_error_message(code));
}

/* ---- header ---------------------------------------------------------------------------------- */

enum { RED, GREEN, BLUE, ALPHA, PICKS_MOST };

typedef struct exr_layout {
    exr_attr_box2i_t window; /* the data window */
    uint64_t width, height;
    uint32_t channels;
    int pick[PICKS_MOST]; /* for each channel of the picture: the file's channel */
    tml_type type;
    bool is_tiled;
    int32_t block_width, block_rows; /* of a tile; or all columns and the rows of a block */
} exr_layout;

static tml_status check_kind(const exr_file *file, exr_layout *out)
{
    const io_file *io = file->reader->file;
    int parts = 0;
    exr_storage_t storage;
    exr_compression_t compression;
    exr_result_t code = exr_get_count(file->exr, &parts);
    if (code == EXR_ERR_SUCCESS && parts != 1)
        return tml_io_error(io, TML_ERROR_UNSUPPORTED,
                            "has %d parts; separate them: exrmultipart -separate -i in.exr -o part",
                            parts);
    if (code == EXR_ERR_SUCCESS)
        code = exr_get_storage(file->exr, 0, &storage);
    out->is_tiled = code == EXR_ERR_SUCCESS && storage == EXR_STORAGE_TILED;
    if (code == EXR_ERR_SUCCESS && storage != EXR_STORAGE_SCANLINE && !out->is_tiled)
        return tml_io_error(io, TML_ERROR_UNSUPPORTED,
                            "has deep pixels; flatten it: oiiotool in.exr --flatten -o out.exr");
    if (code == EXR_ERR_SUCCESS)
        code = exr_get_compression(file->exr, 0, &compression);
    if (code == EXR_ERR_SUCCESS && compression > EXR_COMPRESSION_PXR24)
        return tml_io_error(
            io, TML_ERROR_UNSUPPORTED,
            "is compressed by B44, DWA or something newer; convert it: oiiotool in.exr "
            "--compression zip -o out.exr");
    return code == EXR_ERR_SUCCESS ? TML_OK : exr_fail(file, code);
}

static tml_status read_windows(const exr_file *file, exr_layout *out)
{
    tml_picture *p = &file->reader->picture;
    exr_attr_box2i_t whole = {0};
    exr_result_t code = exr_get_data_window(file->exr, 0, &out->window);
    if (code == EXR_ERR_SUCCESS)
        code = exr_get_display_window(file->exr, 0, &whole);
    if (code != EXR_ERR_SUCCESS)
        return exr_fail(file, code);
    const exr_attr_box2i_t *w = &out->window;
    int64_t width = (int64_t)w->max.x - w->min.x + 1, height = (int64_t)w->max.y - w->min.y + 1;
    int64_t far = INT32_MAX / 2; /* a limit at which sums of coordinates cannot overflow */
    if (width < 1 || height < 1 || width > SIDE_MOST || height > SIDE_MOST || w->min.x < -far ||
        w->min.y < -far || w->max.x > far || w->max.y > far)
        return tml_io_error(
            file->reader->file, TML_ERROR_FILE_FORMAT,
            "its data window is (%d, %d) to (%d, %d), needs 1 to %d pixels each way", w->min.x,
            w->min.y, w->max.x, w->max.y, SIDE_MOST);
    int64_t full_width = (int64_t)whole.max.x - whole.min.x + 1;
    int64_t full_height = (int64_t)whole.max.y - whole.min.y + 1;
    int64_t x = (int64_t)w->min.x - whole.min.x, y = (int64_t)w->min.y - whole.min.y;
    if (full_width < 1 || full_height < 1 || full_width > INT32_MAX || full_height > INT32_MAX ||
        x != (int32_t)x || y != (int32_t)y)
        return tml_io_error(
            file->reader->file, TML_ERROR_FILE_FORMAT,
            "its display window is (%d, %d) to (%d, %d), needs a pixel or more each way",
            whole.min.x, whole.min.y, whole.max.x, whole.max.y);
    out->width = (uint64_t)width;
    out->height = (uint64_t)height;
    p->x = (int32_t)x;
    p->y = (int32_t)y;
    p->full_width = (uint32_t)full_width; /* tml_picture_begin overwrites it; see read_open */
    p->full_height = (uint32_t)full_height;
    return TML_OK;
}

static int find_channel(const exr_attr_chlist_t *list, const char *name)
{
    for (int i = 0; i < list->num_channels; i++)
        if (strcmp(list->entries[i].name.str, name) == 0)
            return i;
    return -1;
}

/* Lists the names of the channels, as many as fit, except those that but has picked. */
static void list_names(const exr_attr_chlist_t *list, const exr_layout *but, char *text,
                       size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < list->num_channels && used < size; i++) {
        bool is_picked = false;
        for (uint32_t c = 0; but && c < but->channels; c++)
            is_picked = is_picked || but->pick[c] == i;
        if (!is_picked)
            used += (size_t)snprintf(text + used, size - used, "%s%.32s", used ? " " : "",
                                     list->entries[i].name.str);
    }
    tml_picture_printable(text);
}

static tml_status pick_channels(const exr_file *file, exr_layout *out)
{
    static const char *const colors[] = {"R", "G", "B", "A"};
    const io_file *io = file->reader->file;
    const exr_attr_chlist_t *list = NULL;
    char names[64];
    exr_result_t code = exr_get_channels(file->exr, 0, &list);
    if (code != EXR_ERR_SUCCESS || !list)
        return exr_fail(file, code);
    if (list->num_channels < 1 || list->num_channels > CHANNELS_MOST)
        return tml_io_error(io, TML_ERROR_UNSUPPORTED, "has %d channels, needs 1 to %d",
                            list->num_channels, CHANNELS_MOST);
    list_names(list, NULL, names, sizeof names);
    for (int i = 0; i < list->num_channels; i++)
        if (list->entries[i].x_sampling != 1 || list->entries[i].y_sampling != 1)
            return tml_io_error(io, TML_ERROR_UNSUPPORTED,
                                "has subsampled channels (%s); convert it: oiiotool "
                                "in.exr --ch R,G,B -o out.exr",
                                names);
    for (int c = RED; c <= ALPHA; c++)
        out->pick[c] = find_channel(list, colors[c]);
    int alpha = out->pick[ALPHA], grey = find_channel(list, "Y");
    if (out->pick[RED] >= 0 && out->pick[GREEN] >= 0 && out->pick[BLUE] >= 0) {
        out->channels = alpha >= 0 ? 4 : 3;
    } else if (grey >= 0 || list->num_channels == 1) {
        out->pick[0] = grey >= 0 ? grey : 0;
        out->pick[1] = alpha;
        out->channels = grey >= 0 && alpha >= 0 ? 2 : 1;
    } else {
        return tml_io_error(io, TML_ERROR_UNSUPPORTED,
                            "has the channels %s; needs R, G and B, or Y, or one alone", names);
    }
    out->type = TML_F16;
    for (uint32_t c = 0; c < out->channels; c++)
        if (list->entries[out->pick[c]].pixel_type != EXR_PIXEL_HALF)
            out->type = TML_F32;
    list_names(list, out, names, sizeof names);
    if (names[0])
        snprintf(file->reader->picture.comment, sizeof file->reader->picture.comment,
                 "channels left out: %s", names);
    return TML_OK;
}

/* Checks that the file can hold its blocks, before the library allocates its table of blocks, or a
 * block. */
static tml_status check_blocks(const exr_file *file, exr_layout *out)
{
    uint64_t block_size = 0;
    uint64_t file_size = file->reader->bytes.size;
    int32_t blocks = 0; /* of all levels */
    out->block_width = (int32_t)out->width;
    exr_result_t code =
        out->is_tiled ? exr_get_tile_sizes(file->exr, 0, 0, 0, &out->block_width, &out->block_rows)
                      : exr_get_scanlines_per_chunk(file->exr, 0, &out->block_rows);
    if (code == EXR_ERR_SUCCESS)
        code = exr_get_chunk_unpacked_size(file->exr, 0, &block_size);
    if (code == EXR_ERR_SUCCESS)
        code = exr_get_chunk_count(file->exr, 0, &blocks);
    if (code != EXR_ERR_SUCCESS)
        return exr_fail(file, code);
    uint64_t rows = out->block_rows > 0 ? (uint64_t)out->block_rows : 1;
    uint64_t columns = out->block_width > 0 ? (uint64_t)out->block_width : 1;
    uint64_t most = file_size / (TABLE_ENTRY + BLOCK_HEADER);
    uint64_t down = (out->height + rows - 1) / rows, across = (out->width + columns - 1) / columns;
    if (blocks < 0 || (uint64_t)blocks > most || down * across > most)
        return tml_io_error(file->reader->file, TML_ERROR_FILE_FORMAT,
                            "its %" PRIu64 " bytes cannot hold %" PRIu64 " x %" PRIu64 " pixels",
                            file_size, out->width, out->height);
    if (out->block_rows < 1 || out->block_width < 1 || block_size > BLOCK_MOST)
        return tml_io_error(file->reader->file, TML_ERROR_UNSUPPORTED,
                            "has blocks of %" PRIu64 " bytes, at most %d are read", block_size,
                            BLOCK_MOST);
    return TML_OK;
}

/* ---- pixels ---------------------------------------------------------------------------------- */

typedef struct exr_decoder {
    exr_file *file;
    const exr_layout *layout;
    exr_decode_pipeline_t pipeline;
    bool is_started;
} exr_decoder;

/* The pixels of the picture that a block holds. */
typedef struct exr_area {
    uint32_t x, y, width, height;
} exr_area;

/* Checks a block's position and size: the library accepts a block past the end of the file. */
static tml_status check_block(const exr_decoder *decoder, const exr_chunk_info_t *block,
                              exr_area area)
{
    const exr_layout *layout = decoder->layout;
    uint64_t file_size = decoder->file->reader->bytes.size;
    bool is_inside = block->data_offset <= file_size && block->packed_size <= file_size &&
                     block->data_offset + block->packed_size <= file_size;
    bool is_it = block->width == (int32_t)area.width && block->height == (int32_t)area.height;
    if (layout->is_tiled) /* tiles have numbers in place of positions */
        is_it = is_it && block->start_x == (int32_t)area.x / layout->block_width &&
                block->start_y == (int32_t)area.y / layout->block_rows && block->level_x == 0 &&
                block->level_y == 0;
    else
        is_it = is_it && block->start_y == layout->window.min.y + (int32_t)area.y;
    /* The library reads uncompressed samples without checking that the block has all of them. */
    bool is_whole = block->compression != EXR_COMPRESSION_NONE
                        ? block->packed_size <= block->unpacked_size
                        : block->packed_size == block->unpacked_size;
    if (is_inside && is_it && !is_whole)
        return tml_io_error(decoder->file->reader->file, TML_ERROR_FILE_FORMAT,
                            "the block of pixel %" PRIu32 ", %" PRIu32 " has %" PRIu64
                            " bytes, needs %s%" PRIu64 "; it was cut short or is damaged",
                            area.x, area.y, block->packed_size,
                            block->compression != EXR_COMPRESSION_NONE ? "at most " : "",
                            block->unpacked_size);
    if (is_inside && is_it && block->unpacked_size <= BLOCK_MOST)
        return TML_OK;
    return tml_io_error(decoder->file->reader->file, TML_ERROR_FILE_FORMAT,
                        "the block of pixel %" PRIu32 ", %" PRIu32 " %s", area.x, area.y,
                        is_inside ? "is not that of its place" : "reaches past the file's end");
}

static void aim_channels(exr_decoder *decoder, uint8_t *out)
{
    const exr_layout *layout = decoder->layout;
    size_t size = tml_type_size(layout->type);
    for (int16_t i = 0; i < decoder->pipeline.channel_count; i++)
        decoder->pipeline.channels[i].decode_to_ptr = NULL;
    for (uint32_t c = 0; c < layout->channels; c++) {
        exr_coding_channel_info_t *channel = &decoder->pipeline.channels[layout->pick[c]];
        channel->decode_to_ptr = out + c * size;
        channel->user_pixel_stride = (int32_t)(size * layout->channels);
        channel->user_line_stride = (int32_t)decoder->file->reader->row_size;
        channel->user_bytes_per_element = (int16_t)size;
        channel->user_data_type = layout->type == TML_F16 ? EXR_PIXEL_HALF : EXR_PIXEL_FLOAT;
    }
}

static tml_status decode_block(exr_decoder *decoder, exr_area area)
{
    exr_file *file = decoder->file;
    const exr_layout *layout = decoder->layout;
    exr_chunk_info_t block;
    int32_t x = (int32_t)area.x, y = (int32_t)area.y;
    exr_result_t code =
        layout->is_tiled
            ? exr_read_tile_chunk_info(file->exr, 0, x / layout->block_width,
                                       y / layout->block_rows, 0, 0, &block)
            : exr_read_scanline_chunk_info(file->exr, 0, layout->window.min.y + y, &block);
    if (code != EXR_ERR_SUCCESS)
        return exr_fail(file, code);
    tml_status status = check_block(decoder, &block, area);
    if (status != TML_OK)
        return status;
    uint8_t *out = tml_picture_rows(file->reader, area.y, area.height);
    if (!out)
        return tml_is_cancelled(file->reader->file->tml) ? TML_ERROR_CANCELLED
                                                         : TML_ERROR_OUT_OF_MEMORY;
    bool is_first = !decoder->is_started;
    code = is_first ? exr_decoding_initialize(file->exr, 0, &block, &decoder->pipeline)
                    : exr_decoding_update(file->exr, 0, &block, &decoder->pipeline);
    decoder->is_started = decoder->is_started || code == EXR_ERR_SUCCESS;
    if (code == EXR_ERR_SUCCESS)
        aim_channels(decoder, out + area.x * layout->channels * tml_type_size(layout->type));
    if (code == EXR_ERR_SUCCESS && is_first)
        code = exr_decoding_choose_default_routines(file->exr, 0, &decoder->pipeline);
    if (code == EXR_ERR_SUCCESS)
        code = exr_decoding_run(file->exr, 0, &decoder->pipeline);
    return code == EXR_ERR_SUCCESS ? TML_OK : exr_fail(file, code);
}

static tml_status read_pixels(exr_file *file, const exr_layout *layout)
{
    exr_decoder decoder = {.file = file, .layout = layout};
    tml_status status = TML_OK;
    uint32_t width = (uint32_t)layout->width, height = (uint32_t)layout->height;
    uint32_t columns = (uint32_t)layout->block_width, rows = (uint32_t)layout->block_rows;
    for (uint32_t y = 0; y < height && status == TML_OK; y += rows)
        for (uint32_t x = 0; x < width && status == TML_OK; x += columns)
            status =
                decode_block(&decoder, (exr_area){x, y, width - x < columns ? width - x : columns,
                                                  height - y < rows ? height - y : rows});
    exr_decoding_destroy(file->exr, &decoder.pipeline);
    return status;
}

/* Reports the file's white level, pixel aspect ratio and primaries, which are not applied. */
static tml_status tell_attributes(const exr_file *file)
{
    exr_attr_chromaticities_t c;
    float white = 0, aspect = 1;
    if (exr_attr_get_float(file->exr, 0, "whiteLuminance", &white) == EXR_ERR_SUCCESS)
        tml_picture_note(file->reader, "1 is %g cd/m2", (double)white);
    if (exr_get_pixel_aspect_ratio(file->exr, 0, &aspect) == EXR_ERR_SUCCESS && aspect != 1)
        tml_picture_note(file->reader, "pixels %g times as wide as high", (double)aspect);
    if (exr_attr_get_chromaticities(file->exr, 0, "chromaticities", &c) != EXR_ERR_SUCCESS)
        return TML_OK;
    return tml_picture_primaries(file->reader,
                                 (float[8]){c.red_x, c.red_y, c.green_x, c.green_y, c.blue_x,
                                            c.blue_y, c.white_x, c.white_y});
}

static tml_status read_open(exr_file *file)
{
    exr_layout layout = {0};
    tml_status status = check_kind(file, &layout);
    TML_THEN(status, read_windows(file, &layout));
    TML_THEN(status, pick_channels(file, &layout));
    TML_THEN(status, tell_attributes(file));
    TML_THEN(status, check_blocks(file, &layout));
    if (status != TML_OK)
        return status;
    tml_picture *p = &file->reader->picture;
    const uint32_t full_width = p->full_width, full_height = p->full_height;
    status = tml_picture_begin(file->reader, layout.type, layout.channels, layout.width,
                               layout.height, file->reader->bytes.size);
    p->full_width = full_width;
    p->full_height = full_height;
    return status == TML_OK ? read_pixels(file, &layout) : status;
}

static tml_status read_exr(picture_reader *reader)
{
    exr_file file = {.reader = reader};
    exr_context_initializer_t settings = EXR_DEFAULT_CONTEXT_INITIALIZER;
    settings.error_handler_fn = take_message;
    settings.user_data = &file;
    settings.read_fn = exr_read_bytes;
    settings.size_fn = tell_size;
    settings.alloc_fn = take_memory;
    settings.free_fn = free;
    settings.max_image_width = settings.max_image_height = SIDE_MOST;
    settings.max_tile_width = settings.max_tile_height = SIDE_MOST;
    settings.flags = EXR_CONTEXT_FLAG_DISABLE_CHUNK_RECONSTRUCTION;
    exr_result_t code = exr_start_read(&file.exr, reader->file->path, &settings);
    if (code != EXR_ERR_SUCCESS)
        return exr_fail(&file, code);
    tml_status status = read_open(&file);
    exr_finish(&file.exr);
    return status;
}

#endif

const picture_format tml_picture_exr = {"OpenEXR", exr_detect, read_exr};
