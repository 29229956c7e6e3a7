/* Writes points as binary little-endian PLY, with radii, values and attributes if there are any. */
#include <strings.h>

#include "io/io_internal.h"
#include "io/points/points_internal.h"

/* Bytes of the header: of the lines that every file has, and of a property's line. */
enum { HEADER_BASE = 512, HEADER_PROPERTY = 96, NAME_SIZE = 64 };

/* How an attribute is written. */
typedef enum saved_kind { SAVED_NOT, SAVED_COLOR, SAVED_NORMAL, SAVED_FLOATS } saved_kind;

static saved_kind kind_of(const tml_points *points, const tml_mesh_attribute *a)
{
    /* If all attributes were asked for, the value is one of them, too. */
    if (!a->data || a->components < 1 || a->components > 4 ||
        (points->values && a->components == 1 && strcasecmp(a->name, points->value_name) == 0))
        return SAVED_NOT;
    if (strcmp(a->name, "color") == 0 && a->components >= 3)
        return SAVED_COLOR;
    return strcmp(a->name, "normal") == 0 && a->components == 3 ? SAVED_NORMAL : SAVED_FLOATS;
}

static size_t row_size(const tml_points *points, bool is_far)
{
    size_t size = (is_far ? 24 : 12) + (points->radii ? 4 : 0) + (points->values ? 4 : 0);
    for (uint32_t i = 0; i < points->attribute_count; i++) {
        const saved_kind kind = kind_of(points, &points->attributes[i]);
        size += kind == SAVED_NOT
                    ? 0
                    : points->attributes[i].components * (kind == SAVED_COLOR ? 1 : sizeof(float));
    }
    return size;
}

static bool is_far(const tml_points *points)
{
    return points->origin[0] != 0 || points->origin[1] != 0 || points->origin[2] != 0;
}

static uint8_t *put_attributes(const tml_points *points, uint64_t point, uint8_t *at)
{
    for (uint32_t i = 0; i < points->attribute_count; i++) {
        const tml_mesh_attribute *a = &points->attributes[i];
        const saved_kind kind = kind_of(points, a);
        for (uint32_t c = 0; c < a->components && kind != SAVED_NOT; c++) {
            const float x = a->data[point * a->components + c];
            if (kind == SAVED_COLOR) /* NaN is 0 */
                *at = x >= 1.0f ? 255 : x > 0.0f ? (uint8_t)(255.0f * x + 0.5f) : 0;
            else
                io_store_f32le(at, x);
            at += kind == SAVED_COLOR ? 1 : 4;
        }
    }
    return at;
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
        at = put_attributes(points, i, at);
    }
    return (size_t)(at - out);
}

/* Makes a word of printable ASCII. */
static void make_word(const char *text, char out[NAME_SIZE])
{
    snprintf(out, NAME_SIZE, "%s", text);
    for (char *at = out; *at; at++)
        *at = *at > ' ' && *at <= '~' ? *at : '_';
}

static size_t name_properties(const tml_points *points, const tml_mesh_attribute *a, char *out)
{
    static const char *const colors[] = {"red", "green", "blue", "alpha"};
    const saved_kind kind = kind_of(points, a);
    char name[NAME_SIZE];
    size_t length = 0;
    make_word(a->name, name);
    for (uint32_t c = 0; c < a->components && kind != SAVED_NOT; c++) {
        int more;
        if (kind == SAVED_COLOR)
            more = snprintf(out + length, HEADER_PROPERTY, "property uchar %s\n", colors[c]);
        else if (kind == SAVED_NORMAL)
            more = snprintf(out + length, HEADER_PROPERTY, "property float n%c\n", "xyz"[c]);
        else if (a->components == 1)
            more = snprintf(out + length, HEADER_PROPERTY, "property float %s\n", name);
        else
            more =
                snprintf(out + length, HEADER_PROPERTY, "property float %s_%c\n", name, "xyzw"[c]);
        length += (size_t)more;
    }
    return length;
}

static size_t make_header(const tml_points *points, char *out)
{
    const char *real = is_far(points) ? "double" : "float";
    char name[NAME_SIZE], value[HEADER_PROPERTY] = "";
    make_word(points->value_name[0] ? points->value_name : "value", name);
    if (points->values)
        snprintf(value, sizeof value, "property float %s\n", name);
    size_t length =
        (size_t)snprintf(out, HEADER_BASE,
                         "ply\nformat binary_little_endian 1.0\ncomment Trommel\nelement vertex "
                         "%llu\nproperty %s x\nproperty %s y\nproperty %s z\n%s%s",
                         (unsigned long long)points->count, real, real, real,
                         points->radii ? "property float radius\n" : "", value);
    for (uint32_t i = 0; i < points->attribute_count; i++)
        length += name_properties(points, &points->attributes[i], out + length);
    memcpy(out + length, "end_header\n", sizeof "end_header\n");
    return length + strlen("end_header\n");
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
    const size_t size = row_size(points, is_far(points));
    /* The header, and a row behind it. */
    const size_t room = HEADER_BASE + (size_t)points->attribute_count * 4 * HEADER_PROPERTY + size;
    char *header = tml_alloc(tml, room);
    if (!header)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %zu bytes", call, room);
    const size_t header_size = make_header(points, header);
    uint8_t *row = (uint8_t *)header + room - size;
    io_writer writer;
    tml_status status = tml_io_create(tml, call, path, header_size + size * points->count, &writer);
    if (status != TML_OK) {
        tml_free(tml, header, room);
        return status;
    }
    tml_io_write(&writer, header, header_size);
    if (io_writes_rows(&writer)) {
        tml_io_write_rows(&writer, 0, points->count, size, fill, points);
    } else { /* a pipe */
        for (uint64_t i = 0; i < points->count && writer.status == TML_OK; i++)
            tml_io_write(&writer, row, fill(points, i, 1, row));
    }
    tml_free(tml, header, room);
    return tml_io_finish(&writer, TML_OK);
}
