/* Reads LAS 1.0 to 1.4, point data record formats 0 to 10 (ASPRS: LAS Specification 1.4 - R15.
 * 2019). Integers are little-endian. Every format begins with X, Y, Z as scaled 32-bit integers and
 * the intensity, which becomes the value. The record length says where the next record begins.
 * Compressed files (LAZ) are detected by the top bits of the format or by a variable length record
 * of LASzip. */
#include "io/points/points_internal.h"

enum {
    LAS_VERSION = 24,
    LAS_HEADER_SIZE = 94,
    LAS_POINTS_OFFSET = 96,
    LAS_VLR_COUNT = 100,
    LAS_FORMAT = 104,
    LAS_RECORD_SIZE = 105,
    LAS_LEGACY_COUNT = 107,
    LAS_SCALE = 131,
    LAS_OFFSET = 155,
    LAS_COUNT = 247, /* from 1.4 on: 64 bits */
    LAS_HEADER_MIN = 227,
    LAS_HEADER_MIN_14 = 375,
    VLR_USER_ID = 2,
    VLR_DATA_SIZE = 20,
    VLR_HEADER_SIZE = 54,
    RECORD_INTENSITY = 12,
};

/* Offset of the colour, three 16-bit numbers, in a record of each format; 0: none. */
static const uint8_t record_color[] = {0, 0, 20, 28, 0, 28, 0, 30, 30, 0, 30};

/* Bytes of a record of each format, before any extra bytes. */
static const uint16_t record_minimum[] = {20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67};

static tml_status fail_laz(const point_sink *sink)
{
    return tml_io_error(sink->file, TML_ERROR_UNSUPPORTED,
                        "compressed LAS (LAZ) is not read; convert it with `las2las -i IN.laz -o "
                        "OUT.las` or `pdal translate IN.laz OUT.las`");
}

/* Returns whether a variable length record is LASzip's. */
static bool has_laszip_record(const uint8_t *data, size_t size, size_t at, uint32_t count)
{
    for (uint32_t i = 0; i < count && size - at >= VLR_HEADER_SIZE; i++) {
        if (memcmp(data + at + VLR_USER_ID, "laszip", 6) == 0)
            return true;
        at += VLR_HEADER_SIZE;
        size_t length = io_load_u16(data + at - VLR_HEADER_SIZE + VLR_DATA_SIZE, false);
        if (length > size - at)
            return false;
        at += length;
    }
    return false;
}

/* Sets the requested attributes of the next point. */
static void set_attributes(point_sink *sink, const uint8_t *record)
{
    for (uint32_t i = 0; i < sink->attribute_count; i++) {
        const point_attribute *a = &sink->attributes[i];
        double numbers[4];
        for (uint32_t c = 0; c < a->components; c++)
            numbers[c] = io_load_u16(record + a->columns[0] + 2 * (ptrdiff_t)c, false);
        if (a->place >= 0)
            tml_points_set(sink, a, numbers);
    }
}

/* Pushes all points. The caller has checked that all records are in the file. */
static tml_status push_records(point_sink *sink, const uint8_t *data, const uint8_t *record,
                               size_t record_size, uint64_t count)
{
    double scale[3], shift[3];
    for (int axis = 0; axis < 3; axis++) {
        scale[axis] = io_load_f64(data + LAS_SCALE + 8 * axis, false);
        shift[axis] = io_load_f64(data + LAS_OFFSET + 8 * axis, false);
    }
    sink->expected = count;
    sink->has_values = true;
    memcpy(sink->value_name, "intensity", sizeof "intensity");
    for (uint64_t i = 0; i < count; i++, record += record_size) {
        double position[3];
        for (int axis = 0; axis < 3; axis++)
            position[axis] =
                (double)(int32_t)io_load_u32(record + 4 * axis, false) * scale[axis] + shift[axis];
        set_attributes(sink, record);
        tml_status status =
            tml_points_push(sink, position, 0.0, io_load_u16(record + RECORD_INTENSITY, false));
        if (status != TML_OK)
            return status;
    }
    return TML_OK;
}

tml_status tml_points_read_las(point_sink *sink, const uint8_t *data, size_t size)
{
    if (size < LAS_HEADER_MIN)
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                            "the LAS header needs %d bytes, the file has %zu", LAS_HEADER_MIN,
                            size);
    uint8_t major = data[LAS_VERSION], minor = data[LAS_VERSION + 1];
    if (major != 1 || minor > 4)
        return tml_io_error(sink->file, TML_ERROR_UNSUPPORTED,
                            "LAS version is %u.%u, needs 1.0 to 1.4", major, minor);
    size_t header_size = io_load_u16(data + LAS_HEADER_SIZE, false);
    size_t header_min = minor >= 4 ? LAS_HEADER_MIN_14 : LAS_HEADER_MIN;
    if (header_size < header_min || header_size > size)
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                            "header size is %zu, needs %zu to %zu", header_size, header_min, size);
    uint8_t format = data[LAS_FORMAT];
    if (format & 0xc0 ||
        has_laszip_record(data, size, header_size, io_load_u32(data + LAS_VLR_COUNT, false)))
        return fail_laz(sink);
    if (format >= sizeof record_minimum / sizeof record_minimum[0])
        return tml_io_error(sink->file, TML_ERROR_UNSUPPORTED, "point format is %u, needs 0 to 10",
                            format);
    size_t record_size = io_load_u16(data + LAS_RECORD_SIZE, false);
    if (record_size < record_minimum[format])
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                            "point record length is %zu, format %u needs at least %u", record_size,
                            format, record_minimum[format]);

    uint64_t count = io_load_u32(data + LAS_LEGACY_COUNT, false);
    if (minor >= 4 && io_load_u64(data + LAS_COUNT, false) != 0)
        count = io_load_u64(data + LAS_COUNT, false);
    size_t offset = io_load_u32(data + LAS_POINTS_OFFSET, false);
    if (offset < header_size || offset > size)
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                            "offset to point data is %zu, needs %zu to %zu", offset, header_size,
                            size);
    if (count > (size - offset) / record_size)
        return tml_io_error(
            sink->file, TML_ERROR_FILE_FORMAT,
            "%llu points of %zu bytes are promised, there is room for %zu; the file "
            "is truncated",
            (unsigned long long)count, record_size, (size - offset) / record_size);

    tml_points_list(sink, "intensity", 1, RECORD_INTENSITY, TML_U16);
    if (record_color[format])
        tml_points_list(sink, "color", 3, record_color[format], TML_U16);
    tml_status status = tml_points_choose(sink);
    return status == TML_OK ? push_records(sink, data, data + offset, record_size, count) : status;
}
