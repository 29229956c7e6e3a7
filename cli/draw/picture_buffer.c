/* Pictures for the commands exposure, mips and info: from a file into a buffer of the device, and
 * back to the host. */
#include "draw/picture_buffer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "file_advice.h"
#include "report/fields.h"
#include "report/text.h"

int picture_buffer_load(tml_context *tml, const char *path, const cli_common *common,
                        bool is_linear, picture_buffer *out)
{
    memset(out, 0, sizeof *out);
    tml_picture *p = &out->picture;
    uint32_t warnings = cli_warnings();
    tml_status status =
        tml_picture_load(tml, path, &(tml_load_desc){.memory_limit = common->memory}, p);
    if (status != TML_OK)
        return advice_fail(tml, status, path, TML_FILE_PICTURE);
    if (cli_is_strict() && cli_warnings() > warnings) {
        tml_picture_free(tml, p);
        return cli_error("%s: --strict refuses what the warning says", path);
    }
    p->srgb = p->srgb && !is_linear;
    out->image = (tml_image){
        .width = p->width, .height = p->height, .channels = p->channels, .srgb = p->srgb};
    status = cli_lend(tml, p->type, (uint64_t)p->width * p->height * p->channels, p->data,
                      "picture", &out->image.buffer);
    if (status != TML_OK)
        tml_picture_free(tml, p);
    return cli_fail(tml, status);
}

int picture_check_options(const char *path, const tml_picture *p)
{
    bool is_float = p->type == TML_F16 || p->type == TML_F32;
    return opt_check_input(OPT_CONTENTS, is_float ? OPT_FLOATS : OPT_INTEGERS, path);
}

void picture_buffer_free(tml_context *tml, picture_buffer *buffer)
{
    tml_buffer_destroy(tml, buffer->image.buffer);
    tml_picture_free(tml, &buffer->picture);
}

tml_status picture_read(tml_context *tml, const tml_image *image, tml_picture *out)
{
    tml_type type;
    uint64_t room;
    memset(out, 0, sizeof *out);
    if (!tml_buffer_describe(tml, image->buffer, &type, &room))
        return tml_error(tml, TML_ERROR_INVALID_HANDLE, "the picture's buffer is gone");
    uint64_t count = (uint64_t)image->width * image->height * image->channels;
    size_t size = (size_t)(count * tml_type_size(type));
    void *data = tml_alloc(tml, size);
    if (!data)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a picture of %zu bytes",
                         size);
    tml_status status = tml_buffer_read_range(tml, image->buffer, image->first, count, data);
    if (status != TML_OK) {
        tml_free(tml, data, size);
        return status;
    }
    *out = (tml_picture){.data = data,
                         .size = size,
                         .type = type,
                         .width = image->width,
                         .height = image->height,
                         .channels = image->channels,
                         .srgb = image->srgb,
                         .full_width = image->width,
                         .full_height = image->height};
    return TML_OK;
}

void picture_drop_alpha(tml_picture *p, bool *has_alpha)
{
    uint32_t colors = p->channels - 1;
    size_t size = tml_type_size(p->type);
    uint8_t *to = p->data;
    for (uint64_t i = 0; i < (uint64_t)p->width * p->height; i++) {
        const uint8_t *from = (const uint8_t *)p->data + i * p->channels * size;
        uint32_t bits = 0;
        memcpy(&bits, from + colors * size, size);
        *has_alpha = *has_alpha || bits != (p->type == TML_F16 ? 0x3c00u : 0x3f800000u);
        memmove(to, from, colors * size);
        to += colors * size;
    }
    p->channels = colors;
}

tml_value_histogram picture_histogram(const tml_image_stats *stats)
{
    return (tml_value_histogram){.lower = stats->min,
                                 .upper = stats->max,
                                 .mean = stats->mean,
                                 .first = stats->histogram_low + stats->bin_width / 2,
                                 .step = stats->bin_width,
                                 .bin_count = TML_HISTOGRAM_BINS,
                                 .bins = (uint64_t *)(uintptr_t)stats->histogram, /* only read */
                                 .nans = stats->nan,
                                 .infinities = stats->infinite};
}

char *picture_describe(const tml_picture *p, char *text)
{
    int used = snprintf(text, TEXT_SIZE, "%" PRIu32 " x %" PRIu32 ", %" PRIu32 " x %s%s", p->width,
                        p->height, p->channels, tml_type_name(p->type),
                        p->type != TML_U8 && p->type != TML_U16 ? ""
                        : p->srgb                               ? " sRGB"
                                                                : " linear");
    if (p->format[0])
        used += snprintf(text + used, (size_t)(TEXT_SIZE - used), ", %s", p->format);
    if (p->x || p->y || p->full_width != p->width || p->full_height != p->height)
        snprintf(text + used, (size_t)(TEXT_SIZE - used),
                 ", at %" PRId32 ", %" PRId32 " of %" PRIu32 " x %" PRIu32, p->x, p->y,
                 p->full_width, p->full_height);
    return text;
}

void picture_tell(const char *path, const tml_picture *p)
{
    char text[TEXT_SIZE];
    field_text("file", NULL, NULL, path);
    field_count("file_bytes", NULL, NULL, (uint64_t)cli_file_size(path));
    field_text("kind", NULL, NULL, "picture");
    field_text("format", NULL, NULL, p->format);
    field_line("picture", "%s", picture_describe(p, text));
    field_count("width", NULL, NULL, p->width);
    field_count("height", NULL, NULL, p->height);
    field_count("channels", NULL, NULL, p->channels);
    field_text("type", NULL, NULL, tml_type_name(p->type));
    field_flag("srgb", NULL, NULL, p->srgb);
    field_integer("x", NULL, NULL, p->x);
    field_integer("y", NULL, NULL, p->y);
    field_count("full_width", NULL, NULL, p->full_width);
    field_count("full_height", NULL, NULL, p->full_height);
    field_text("comment", "comment", "?%s", p->comment);
}
