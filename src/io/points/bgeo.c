/* Reads Houdini's classic geometry (.bgeo, version 5), as Partio and SPlisHSPlasH write particles.
 * The file is big-endian: a header with counts; the name, size and type of each attribute of
 * points; then per point x y z w and the attributes, 4 bytes per number. Later sections
 * (primitives, details) are ignored. */
#include <inttypes.h>

#include "io/points/points_internal.h"

enum { HEADER_SIZE = 41, VERSION = 5, FLOAT = 0, INTEGER = 1, INDEX = 4, VECTOR = 5 };

typedef struct bgeo_attribute {
    uint32_t first, size; /* first number and number of numbers in a point */
    tml_type type;
} bgeo_attribute;

typedef struct bgeo_points {
    bgeo_attribute attributes[1 + POINT_ATTRIBUTES_MAX]; /* by column; the first is the position */
    int32_t count;
    const uint8_t *point;
} bgeo_points;

/* Consumes count bytes. Returns NULL if fewer are left. */
static const uint8_t *bgeo_take(io_span *left, size_t count)
{
    const uint8_t *at = (const uint8_t *)left->text;
    if (count > left->size)
        return NULL;
    left->text += count;
    left->size -= count;
    return at;
}

/* Skips the default values, or the strings that an index chooses from. */
static bool skip_defaults(io_span *left, uint32_t size, uint32_t type)
{
    const uint8_t *at;
    if (type != INDEX)
        return bgeo_take(left, (size_t)4 * size) != NULL;
    if (!(at = bgeo_take(left, 4)))
        return false;
    for (uint32_t i = io_load_u32(at, true); i > 0; i--)
        if (!(at = bgeo_take(left, 2)) || !bgeo_take(left, io_load_u16(at, true)))
            return false;
    return true;
}

static tml_status read_attribute(point_sink *sink, io_span *left, uint32_t number,
                                 uint32_t *numbers, point_columns *columns, bgeo_points *points)
{
    const uint8_t *at = bgeo_take(left, 2),
                  *text = at ? bgeo_take(left, io_load_u16(at, true)) : NULL;
    const uint8_t *rest = text ? bgeo_take(left, 6) : NULL;
    const uint32_t size = rest ? io_load_u16(rest, true) : 0;
    const uint32_t type = rest ? io_load_u32(rest + 2, true) : 0;
    if (!rest || !skip_defaults(left, size, type))
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                            "ends within attribute %" PRIu32 " of the points; it was cut short",
                            number);
    if (type != FLOAT && type != INTEGER && type != VECTOR && (type != INDEX || size != 1))
        return tml_io_error(sink->file, TML_ERROR_UNSUPPORTED,
                            "attribute %" PRIu32 " of the points has type %" PRIu32
                            " and size %" PRIu32
                            ", needs 0 (float), 1 (integer), 5 (vector) or 4 (index) of size 1",
                            number, type, size);
    char name[sizeof sink->value_name];
    tml_io_copy(name, sizeof name, (io_span){(const char *)text, io_load_u16(at, true)});
    const int32_t column = points->count;
    if (type != INDEX && size >= 1 && size <= 4 && column <= POINT_ATTRIBUTES_MAX) {
        bgeo_attribute *a = &points->attributes[points->count++];
        *a = (bgeo_attribute){*numbers, size, type == INTEGER ? TML_I32 : TML_F32};
        if (size > 1)
            tml_points_list(sink, strcmp(name, "Cd") == 0 ? "color" : name, size, column, a->type);
        else
            tml_points_column(sink, columns, column, name, a->type);
    }
    *numbers += size; /* cannot overflow: the file holds size default values, too */
    return TML_OK;
}

static double number_at(const void *user, int32_t column, uint32_t component)
{
    const bgeo_points *points = user;
    const bgeo_attribute *a = &points->attributes[column];
    const uint32_t at = a->first + (component < a->size ? component : 0);
    return tml_io_number(points->point + (size_t)4 * at, a->type, true);
}

tml_status tml_points_read_bgeo(point_sink *sink, const uint8_t *data, size_t size)
{
    io_span left = {(const char *)data, size};
    const uint8_t *header = bgeo_take(&left, HEADER_SIZE);
    if (!header || io_load_u32(header + 5, true) != VERSION)
        return tml_io_error(sink->file, header ? TML_ERROR_UNSUPPORTED : TML_ERROR_FILE_FORMAT,
                            "is Houdini geometry %s; needs version %d",
                            header ? "of another version" : "that was cut short", VERSION);
    const uint32_t count = io_load_u32(header + 9, true);
    const uint32_t attributes = io_load_u32(header + 25, true);
    bgeo_points points = {.attributes = {{0, 3, TML_F32}}, .count = 1};
    point_columns columns = {{0, 0, 0}, -1, -1};
    uint32_t numbers = 4;
    tml_status status = TML_OK;
    for (uint32_t i = 0; i < attributes && status == TML_OK; i++)
        status = read_attribute(sink, &left, i, &numbers, &columns, &points);
    if (status == TML_OK && count > left.size / 4 / numbers)
        status = tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                              "says %" PRIu32 " points of %" PRIu32
                              " bytes, and has %zu bytes for them; it was cut short",
                              count, 4 * numbers, left.size);
    TML_THEN(status, tml_points_columns_done(sink, &columns));
    sink->expected = count;
    for (uint32_t i = 0; i < count && status == TML_OK; i++) {
        points.point = bgeo_take(&left, (size_t)4 * numbers);
        status = tml_points_push_numbers(sink, &columns, number_at, &points);
    }
    return status;
}
