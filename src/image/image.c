/* The checks of pictures, which all image operations share. */
#include <math.h>
#include <stdio.h>

#include "image/image_internal.h"

/* Finds the index after the last scalar, if a row has row_size scalars. Returns false if it exceeds
 * 64 bits. */
static bool view_end(const image_view *view, uint64_t row_size, uint64_t *end)
{
    return tml_mul(view->height - 1, view->row_stride, end) &&
           !__builtin_add_overflow(*end, view->first, end) &&
           !__builtin_add_overflow(*end, row_size, end);
}

static bool is_pixel_type(tml_type scalar)
{
    return scalar == TML_U8 || scalar == TML_U16 || scalar == TML_F16 || scalar == TML_F32;
}

tml_status image_check_buffer(tml_context *tml, const char *call, const char *field,
                              tml_buffer buffer, tml_type *scalar, uint64_t *scalars)
{
    tml_status status = tml_check_buffer(tml, call, field, buffer, NULL, 0);
    if (status != TML_OK)
        return status;
    const tml_slot *slot = tml_slot_of(tml, buffer);
    *scalar = tml_type_scalar(slot->type);
    if (!is_pixel_type(*scalar))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s has elements of %s, needs u8, u16, f16, f32 or vectors of them",
                         call, field, tml_type_name(slot->type));
    *scalars = slot->count * tml_type_components(slot->type);
    return TML_OK;
}

/* Checks the fields that pictures in buffers and in textures share. */
static tml_status check_shape(tml_context *tml, const char *call, const char *field,
                              const tml_image *image, image_view *out)
{
    *out = (image_view){.buffer = image->buffer,
                        .width = image->width,
                        .height = image->height,
                        .channels = image->channels,
                        .values = image->values,
                        .first = image->first};
    if (image->width == 0 || image->height == 0)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s is %u x %u pixels, needs at least 1 x 1", call, field,
                         image->width, image->height);
    if (image->channels < 1 || image->channels > 4)
        return tml_error(
            tml, TML_ERROR_INVALID_ARGUMENT,
            "%s: %s.channels is %u, needs 1 (luminance), 2 (and alpha), 3 (red, green, "
            "blue) or 4 (and alpha)",
            call, field, image->channels);
    if ((unsigned)image->values > TML_IMAGE_LOG10)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s.values is %d, needs one of tml_image_values", call, field,
                         (int)image->values);
    if (image->values && image->srgb)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s.values is %s and %s.srgb is set, needs one or the other", call,
                         field, tml_image_values_name(image->values), field);
    return TML_OK;
}

/* Checks the rest of a picture in a buffer. *out already has its shape. */
static tml_status check_memory(tml_context *tml, const char *call, const char *field,
                               const tml_image *image, image_view *out)
{
    char name[48];
    snprintf(name, sizeof name, "%s.buffer", field);
    uint64_t scalars = 0;
    tml_status status = image_check_buffer(tml, call, name, image->buffer, &out->type, &scalars);
    if (status != TML_OK)
        return status;
    bool is_integer = !tml_type_is_float(out->type);
    if (image->srgb && !is_integer)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s.srgb is set and its elements are %s, needs u8 or u16; floats are "
                         "linear",
                         call, field, tml_type_name(out->type));
    if (image->values && is_integer)
        return tml_error(
            tml, TML_ERROR_INVALID_ARGUMENT,
            "%s: %s.values is %s and its elements are %s, which hold 0 to 1; needs f16 "
            "or f32",
            call, field, tml_image_values_name(image->values), tml_type_name(out->type));
    out->srgb = image->srgb;
    uint64_t row_size = (uint64_t)image->width * image->channels, end;
    out->row_stride = image->row_stride ? image->row_stride : row_size;
    if (out->row_stride < row_size)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s.row_stride is %llu, needs at least a row's %llu scalars, or 0 for "
                         "that",
                         call, field, (unsigned long long)out->row_stride,
                         (unsigned long long)row_size);
    if (!view_end(out, row_size, &end) || end > scalars)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s.buffer has %llu scalars, too few for %u x %u pixels of %u from "
                         "scalar %llu on with rows %llu apart",
                         call, field, (unsigned long long)scalars, image->width, image->height,
                         image->channels, (unsigned long long)out->first,
                         (unsigned long long)out->row_stride);
    return TML_OK;
}

static bool is_texture(const tml_image *image)
{
    return image->vulkan || image->gl;
}

tml_status image_check_view(tml_context *tml, const char *call, const char *field,
                            const tml_image *image, image_view *out)
{
    if (is_texture(image))
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: %s is a texture, needs a buffer; measuring and mip chains read "
                         "textures. A pass of your own that reads desc.state tone-maps one",
                         call, field);
    tml_status status = check_shape(tml, call, field, image, out);
    return status ? status : check_memory(tml, call, field, image, out);
}

tml_status image_check_source(tml_context *tml, const char *call, const char *field,
                              const tml_image *image, image_view *out)
{
    const image_parts *parts = &image_parts_of[tml->engine->part];
    uint32_t components = 0;
    if (!is_texture(image))
        return image_check_view(tml, call, field, image, out);
    if (!tml_buffer_is_none(image->buffer) || image->first || image->row_stride)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s has a texture and a buffer, first or row_stride; needs one or the "
                         "other, and a region in place of first",
                         call, field);
    if (!parts->check_texture || (image->vulkan && image->gl))
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: %s is a texture, which %s does not read; copy it into a buffer", call,
                         field, tml->device.name);
    tml_status status = check_shape(tml, call, field, image, out);
    TML_THEN(status, parts->check_texture(tml, call, field, image, out, &components));
    if (status == TML_OK && image->channels > components)
        status = tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                           "%s: %s.channels is %u, and the texture has %u", call, field,
                           image->channels, components);
    out->type = TML_F32;
    out->row_stride = (uint64_t)image->width * image->channels;
    return status;
}

/* Finds the byte range [first, end) of memory from a view's first to its last scalar. */
static void view_bytes(const tml_context *tml, const image_view *view, uint64_t *first,
                       uint64_t *end)
{
    uint64_t address = tml->engine->address(tml_slot_of(tml, view->buffer));
    uint64_t size = tml_type_size(view->type);
    (void)view_end(view, (uint64_t)view->width * view->channels, end);
    *first = address + view->first * size;
    *end = address + *end * size;
}

bool image_views_overlap(const tml_context *tml, const image_view *a, const image_view *b)
{
    uint64_t first[2], end[2];
    view_bytes(tml, a, &first[0], &end[0]);
    view_bytes(tml, b, &first[1], &end[1]);
    return first[0] < end[1] && first[1] < end[0];
}

bool image_views_same(const tml_context *tml, const image_view *a, const image_view *b)
{
    uint64_t first[2], end[2];
    view_bytes(tml, a, &first[0], &end[0]);
    view_bytes(tml, b, &first[1], &end[1]);
    return first[0] == first[1] && end[0] == end[1] && a->type == b->type &&
           a->channels == b->channels && a->row_stride == b->row_stride;
}

tml_status image_check_luminance(tml_context *tml, const char *call,
                                 const tml_image_luminance *desc, bool *max_rgb, float *weight_r,
                                 float *weight_b)
{
    const tml_luminance luminance = desc->kind;
    static const double known[][3] = {
        {0.2126, 0.7152, 0.0722}, {0.2627, 0.6780, 0.0593}, {0.2722287, 0.6740818, 0.0536895}};
    double weights[3], sum = 0.0;
    *max_rgb = luminance == TML_LUMINANCE_MAX_RGB;
    if (*max_rgb)
        return TML_OK;
    bool is_custom = luminance == TML_LUMINANCE_CUSTOM, is_good = true;
    for (int c = 0; c < 3; c++) {
        weights[c] = is_custom ? (double)desc->weights[c] : known[luminance][c];
        is_good = is_good && weights[c] >= 0.0 && isfinite(weights[c]);
        sum += weights[c];
    }
    if (!is_good || !(sum > 0.0))
        return tml_error(
            tml, TML_ERROR_INVALID_ARGUMENT,
            "%s: desc.luminance.weights are %g %g %g, need finite numbers of at least 0, not all "
            "0",
            call, weights[0], weights[1], weights[2]);
    *weight_r = (float)(weights[0] / sum);
    *weight_b = (float)(weights[2] / sum);
    return TML_OK;
}
