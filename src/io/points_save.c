/* Points, written as PLY: binary little-endian, with radii and a value where there are some. */
#include <strings.h>

#include "io/io_internal.h"
#include "io/points_internal.h"

enum { HEADER_MOST = 512 };

static size_t row_size(const tml_points *points, bool is_far)
{
    return (is_far ? 24 : 12) + (points->radii ? 4 : 0) + (points->values ? 4 : 0);
}

static bool is_far(const tml_points *points)
{
    return points->origin[0] != 0 || points->origin[1] != 0 || points->origin[2] != 0;
}

static size_t fill(const void *user, uint64_t first, uint64_t count, uint8_t *out)
{
    const tml_points *points = user;
    const bool far = is_far(points);
    uint8_t *at = out;
    for (uint64_t i = first; i < first + count; i++) {
        for (uint64_t axis = 0; axis < 3; axis++) {
            float x = points->positions[3 * i + axis];
            if (far)
                io_store_f64le(at, points->origin[axis] + (double)x);
            else
                io_store_f32le(at, x);
            at += far ? 8 : 4;
        }
        if (points->radii) {
            io_store_f32le(at, points->radii[i]);
            at += 4;
        }
        if (points->values) {
            io_store_f32le(at, points->values[i]);
            at += 4;
        }
    }
    return (size_t)(at - out);
}

static size_t make_header(const tml_points *points, char *out)
{
    const char *real = is_far(points) ? "double" : "float";
    char name[sizeof points->value_name] = "value", value[64] = "";
    if (points->value_name[0])
        snprintf(name, sizeof name, "%s", points->value_name);
    for (char *at = name; *at; at++) /* a word of printable ASCII */
        *at = *at > ' ' && *at <= '~' ? *at : '_';
    if (points->values)
        snprintf(value, sizeof value, "property float %s\n", name);
    return (size_t)snprintf(out, HEADER_MOST,
                            "ply\nformat binary_little_endian 1.0\ncomment Trommel\nelement vertex "
                            "%llu\nproperty %s x\nproperty %s y\nproperty %s z\n%s%send_header\n",
                            (unsigned long long)points->count, real, real, real,
                            points->radii ? "property float radius\n" : "", value);
}

tml_status tml_points_save(tml_context *tml, const char *path, const tml_points *points)
{
    static const char call[] = "tml_points_save";
    const char *ending = path ? strrchr(path, '.') : NULL;
    if (!ending || strcasecmp(ending, ".ply") != 0)
        return tml_error(tml, TML_ERROR_UNSUPPORTED, "%s: path is %s, needs one that ends in .ply",
                         call, path ? path : "NULL");
    if (points->count > UINT64_MAX / 64 || (points->count && !points->positions))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: points.count is %llu, needs less than 2^58, and positions", call,
                         (unsigned long long)points->count);
    char header[HEADER_MOST];
    size_t header_size = make_header(points, header), size = row_size(points, is_far(points));
    io_writer writer;
    tml_status status = tml_io_create(tml, call, path, header_size + size * points->count, &writer);
    if (status != TML_OK)
        return status;
    tml_io_write(&writer, header, header_size);
    if (io_writes_rows(&writer)) {
        tml_io_write_rows(&writer, 0, points->count, size, fill, points);
    } else { /* a pipe */
        uint8_t row[40];
        for (uint64_t i = 0; i < points->count && writer.status == TML_OK; i++)
            tml_io_write(&writer, row, fill(points, i, 1, row));
    }
    return tml_io_finish(&writer, TML_OK);
}
