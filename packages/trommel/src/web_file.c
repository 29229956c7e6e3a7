/* Files of volumes, pictures and points for JavaScript. */
#include <trommel/pictures.h>
#include <trommel/points.h>
#include <trommel/volumes.h>

#include "io/pictures/picture_internal.h"
#include "io/points/points_internal.h"
#include "io/volumes/volume_internal.h"
#include "web.h"

static tml_volume loaded_volume;

/* The reply holds until web_volume_free. */
EMSCRIPTEN_KEEPALIVE int web_volume_load(tml_context *tml)
{
    const web_request *r = &request;
    tml_load_desc desc = {
        .dims = {(uint64_t)r->dims0, (uint64_t)r->dims1, (uint64_t)r->dims2},
        .type = type_of(r->type),
        .big_endian = r->big_endian != 0.0,
        .skip = (uint64_t)r->skip,
        .spacing = {r->spacing0, r->spacing1, r->spacing2},
        .frame = (uint32_t)r->frame,
        .memory_limit = (uint64_t)r->memory_limit,
    };
    tml_volume *volume = &loaded_volume;
    tml_status status = tml_volume_load_memory(tml, text(r->name), pointer(r->data),
                                               (size_t)r->size, &desc, volume);
    if (status != TML_OK)
        return status;
    reply.data = address(volume->data);
    reply.size = (double)volume->size;
    reply.type = address(tml_type_name(volume->type));
    tell_grid(&volume->grid);
    reply.slope = volume->slope;
    reply.intercept = volume->intercept;
    reply.format = address(volume->format);
    reply.space = address(volume->space);
    reply.unit = address(volume->unit);
    reply.comment = address(volume->comment);
    return TML_OK;
}

EMSCRIPTEN_KEEPALIVE void web_volume_free(tml_context *tml)
{
    tml_volume_free(tml, &loaded_volume);
}

/* The isovalue that Otsu's method finds in size bytes of samples, and the range of the finite
 * ones. */
EMSCRIPTEN_KEEPALIVE int web_suggest_iso(tml_context *tml)
{
    const web_request *r = &request;
    tml_type type = type_of(r->type);
    uint64_t each = type != TML_TYPE_NONE ? tml_type_size(type) : 1;
    tml_value_histogram histogram;
    tml_status status =
        tml_value_histogram_make(tml, pointer(r->data), type, (uint64_t)r->size / each, &histogram);
    if (status != TML_OK)
        return status;
    reply.iso = histogram.otsu;
    reply.min = histogram.lower;
    reply.max = histogram.upper;
    tml_value_histogram_free(tml, &histogram);
    return TML_OK;
}

static tml_picture loaded_picture;

/* The reply holds until web_picture_free. */
EMSCRIPTEN_KEEPALIVE int web_picture_load(tml_context *tml)
{
    const web_request *r = &request;
    tml_picture *picture = &loaded_picture;
    tml_status status = tml_picture_load_memory(
        tml, text(r->name), pointer(r->data), (size_t)r->size, (uint64_t)r->memory_limit, picture);
    if (status != TML_OK)
        return status;
    reply.data = address(picture->data);
    reply.size = (double)picture->size;
    reply.type = address(tml_type_name(picture->type));
    reply.width = picture->width;
    reply.height = picture->height;
    reply.channels = picture->channels;
    reply.srgb = picture->srgb;
    reply.format = address(picture->format);
    reply.comment = address(picture->comment);
    return TML_OK;
}

EMSCRIPTEN_KEEPALIVE void web_picture_free(tml_context *tml)
{
    tml_picture_free(tml, &loaded_picture);
}

static tml_points loaded_points;

/* The reply holds until web_points_free. */
EMSCRIPTEN_KEEPALIVE int web_points_load(tml_context *tml)
{
    const web_request *r = &request;
    tml_points *points = &loaded_points;
    io_file file;
    tml_io_open_memory(tml, "tml_points_load", text(r->name), pointer(r->data), (size_t)r->size,
                       &file);
    tml_status status = tml_points_read(&file, points);
    tml_io_close(&file);
    if (status != TML_OK)
        return status;
    reply.positions = address(points->positions);
    reply.radii = address(points->radii);
    reply.values = address(points->values);
    reply.value_name = address(points->value_name);
    reply.count = (double)points->count;
    memcpy(&reply.origin0, points->origin, sizeof points->origin);
    reply.format = address(points->format);
    reply.dropped = (double)points->dropped;
    return TML_OK;
}

EMSCRIPTEN_KEEPALIVE void web_points_free(tml_context *tml)
{
    tml_points_free(tml, &loaded_points);
}
