/* Writes OpenEXR pictures by OpenEXR's own library (OpenEXRCore): one part of scan lines,
 * compressed losslessly by ZIP. The library writes the table of blocks last, although it lies
 * before them, so the file is made in memory. It is seldom larger than the pixels. */

#include "io/pictures/picture_internal.h"

#ifdef TML_EXR
#    include <openexr.h>

typedef struct exr_target {
    io_writer *writer;
    io_block file; /* file.size is the capacity; used bytes of it are written */
    uint64_t used;
    tml_status status;
    char message[256]; /* the library's first error message */
} exr_target;

static bool has_room(exr_target *target, uint64_t size)
{
    if (size <= target->file.size)
        return true;
    uint64_t more = size < UINT64_MAX / 2 ? 2 * size : size;
    uint8_t *data = more <= SIZE_MAX ? tml_alloc(target->writer->tml, (size_t)more) : NULL;
    if (!data)
        return false;
    if (target->used)
        memcpy(data, target->file.data, (size_t)target->used);
    tml_free(target->writer->tml, target->file.data, target->file.size);
    target->file = (io_block){data, (size_t)more};
    return true;
}

static int64_t put_bytes(exr_const_context_t exr, void *user, const void *data, uint64_t size,
                         uint64_t offset, exr_stream_error_func_ptr_t error)
{
    exr_target *target = user;
    if (offset > UINT64_MAX - size || !has_room(target, offset + size)) {
        target->status = TML_ERROR_OUT_OF_MEMORY;
        error(exr, EXR_ERR_OUT_OF_MEMORY, "no memory for the file");
        return -1;
    }
    if (offset > target->used) /* a gap is written later, or never */
        memset(target->file.data + target->used, 0, (size_t)(offset - target->used));
    memcpy(target->file.data + offset, data, (size_t)size);
    target->used = target->used > offset + size ? target->used : offset + size;
    return (int64_t)size;
}

static void take_message(exr_const_context_t exr, exr_result_t code, const char *text)
{
    void *user = NULL;
    (void)code;
    if (!exr || exr_get_user_data(exr, &user) != EXR_ERR_SUCCESS || !user)
        return;
    exr_target *target = user;
    if (!target->message[0])
        snprintf(target->message, sizeof target->message, "%s", text);
}

/* Returns a channel's name: grey is Y, alpha is A. */
static const char *channel_name(uint32_t channels, uint32_t channel)
{
    static const char *const colors[] = {"R", "G", "B", "A"}, *const grey[] = {"Y", "A"};
    return channels < 3 ? grey[channel] : colors[channel];
}

static exr_result_t put_header(exr_context_t exr, const tml_picture *p)
{
    int part = 0;
    exr_pixel_type_t type = p->type == TML_F16 ? EXR_PIXEL_HALF : EXR_PIXEL_FLOAT;
    exr_result_t code = exr_add_part(exr, "", EXR_STORAGE_SCANLINE, &part);
    if (code == EXR_ERR_SUCCESS)
        code = exr_initialize_required_attr_simple(exr, part, (int32_t)p->width, (int32_t)p->height,
                                                   EXR_COMPRESSION_ZIP);
    for (uint32_t c = 0; c < p->channels && code == EXR_ERR_SUCCESS; c++)
        code = exr_add_channel(exr, part, channel_name(p->channels, c), type,
                               EXR_PERCEPTUALLY_LOGARITHMIC, 1, 1);
    return code == EXR_ERR_SUCCESS ? exr_write_header(exr) : code;
}

/* Points the pipeline to a row's samples. The library sorts the channels by name. */
static void aim_channels(exr_encode_pipeline_t *pipeline, const tml_picture *p, uint32_t row)
{
    size_t size = tml_type_size(p->type), pixel_size = size * p->channels;
    for (int16_t i = 0; i < pipeline->channel_count; i++) {
        exr_coding_channel_info_t *channel = &pipeline->channels[i];
        uint32_t c = 0;
        while (strcmp(channel->channel_name, channel_name(p->channels, c)) != 0)
            c++;
        channel->encode_from_ptr =
            (const uint8_t *)p->data + row * pixel_size * p->width + c * size;
        channel->user_pixel_stride = (int32_t)pixel_size;
        channel->user_line_stride = (int32_t)(pixel_size * p->width);
        channel->user_bytes_per_element = (int16_t)size;
        channel->user_data_type = p->type == TML_F16 ? EXR_PIXEL_HALF : EXR_PIXEL_FLOAT;
    }
}

static exr_result_t put_pixels(exr_target *target, exr_context_t exr, const tml_picture *p)
{
    exr_encode_pipeline_t pipeline = EXR_ENCODE_PIPELINE_INITIALIZER;
    int32_t rows = 1;
    bool is_started = false;
    exr_result_t code = exr_get_scanlines_per_chunk(exr, 0, &rows);
    for (uint32_t row = 0; row < p->height && code == EXR_ERR_SUCCESS; row += (uint32_t)rows) {
        exr_chunk_info_t block;
        if (!tml_progress(target->writer->tml, "write", (double)row / p->height)) {
            target->status =
                tml_error(target->writer->tml, TML_ERROR_CANCELLED, "%s: %s: cancelled",
                          target->writer->call, target->writer->path);
            break;
        }
        code = exr_write_scanline_chunk_info(exr, 0, (int32_t)row, &block);
        if (code == EXR_ERR_SUCCESS)
            code = is_started ? exr_encoding_update(exr, 0, &block, &pipeline)
                              : exr_encoding_initialize(exr, 0, &block, &pipeline);
        if (code != EXR_ERR_SUCCESS)
            break;
        aim_channels(&pipeline, p, row);
        if (!is_started)
            code = exr_encoding_choose_default_routines(exr, 0, &pipeline);
        is_started = true;
        if (code == EXR_ERR_SUCCESS)
            code = exr_encoding_run(exr, 0, &pipeline);
    }
    exr_encoding_destroy(exr, &pipeline);
    return code;
}

tml_status tml_picture_write_exr(io_writer *writer, const tml_picture *picture)
{
    exr_target target = {.writer = writer};
    if (tml_type_size(picture->type) * picture->channels * picture->width > INT32_MAX)
        return tml_error(writer->tml, TML_ERROR_UNSUPPORTED,
                         "%s: %s: a row of pixels is longer than 2 GiB; write .pfm or .hdr",
                         writer->call, writer->path);
    exr_context_t exr = NULL;
    exr_context_initializer_t settings = EXR_DEFAULT_CONTEXT_INITIALIZER;
    settings.error_handler_fn = take_message;
    settings.user_data = &target;
    settings.write_fn = put_bytes;
    exr_result_t code = exr_start_write(&exr, writer->path, EXR_WRITE_FILE_DIRECTLY, &settings);
    if (code == EXR_ERR_SUCCESS)
        code = put_header(exr, picture);
    if (code == EXR_ERR_SUCCESS)
        code = put_pixels(&target, exr, picture);
    exr_result_t last = exr ? exr_finish(&exr) : EXR_ERR_SUCCESS; /* writes the table of blocks */
    code = code == EXR_ERR_SUCCESS ? last : code;
    if (target.status == TML_OK && code != EXR_ERR_SUCCESS)
        target.status =
            code == EXR_ERR_OUT_OF_MEMORY ? TML_ERROR_OUT_OF_MEMORY : TML_ERROR_INTERNAL;
    if (target.status == TML_OK)
        tml_io_write(writer, target.file.data, (size_t)target.used);
    else if (target.status != TML_ERROR_CANCELLED)
        tml_error(writer->tml, target.status, "%s: %s: OpenEXR cannot write it: %s", writer->call,
                  writer->path,
                  target.message[0] ? target.message : exr_get_default_error_message(code));
    tml_free(writer->tml, target.file.data, target.file.size);
    return target.status;
}

#else

tml_status tml_picture_write_exr(io_writer *writer, const tml_picture *picture)
{
    (void)picture;
    return tml_error(writer->tml, TML_ERROR_UNSUPPORTED,
                     "%s: %s: this library was built without OpenEXR (TML_EXR); write .pfm or .hdr",
                     writer->call, writer->path);
}

#endif
