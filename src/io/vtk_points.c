/* Legacy VTK files with points: POLYDATA, UNSTRUCTURED_GRID and STRUCTURED_GRID. Of the point data,
 * arrays of one component named radius or pscale give the radii and the first other one the values. */
#include <strings.h>

#include "io/points_internal.h"
#include "io/vtk_legacy.h"

typedef struct vtk_values {
    io_text text;
    tml_type type;
} vtk_values;

typedef struct vtk_points {
    point_sink *sink;
    io_span contents;
    points_encoding encoding;
    bool has_points, has_two;
    uint64_t count;
    point_columns columns; /* 0, 1, 2: positions; from 3 on the arrays seen, in order */
    int32_t column_count;
    vtk_values positions, radii, values;
} vtk_points;

static void take_array(void *user, const vtk_array *array)
{
    vtk_points *points = user;
    size_t offset = (size_t)array->offset;
    io_text text =
        io_text_of((io_span){points->contents.text + offset, points->contents.size - offset});
    vtk_values values = {text, array->type};
    if (array->place == VTK_POSITIONS) {
        points->has_two |= points->has_points;
        points->has_points = true;
        points->count = array->rows;
        points->positions = values;
    } else if (array->place == VTK_POINT_DATA && array->columns == 1 &&
               array->rows == points->count && !array->is_bit) {
        int32_t column = points->column_count++;
        char name[sizeof points->sink->value_name];
        tml_io_copy(name, sizeof name, (io_span){array->name, strlen(array->name)});
        tml_points_column(points->sink, &points->columns, column, name);
        if (points->columns.radius == column)
            points->radii = values;
        if (points->columns.value == column)
            points->values = values;
    }
}

static bool next_number(const vtk_points *points, vtk_values *values, double *out)
{
    return tml_points_next(&values->text, points->encoding, values->type, out);
}

static tml_status push_points(vtk_points *points)
{
    tml_status status = tml_points_columns_done(points->sink, &points->columns);
    points->sink->expected = points->count;
    for (uint64_t i = 0; i < points->count && status == TML_OK; i++) {
        double position[3], radius = 0.0, value = 0.0;
        if (!next_number(points, &points->positions, &position[0]) ||
            !next_number(points, &points->positions, &position[1]) ||
            !next_number(points, &points->positions, &position[2]) ||
            (points->sink->has_radii && !next_number(points, &points->radii, &radius)) ||
            (points->sink->has_values && !next_number(points, &points->values, &value)))
            return tml_io_error(points->sink->file, TML_ERROR_FILE_FORMAT,
                                "point %llu of %llu holds what is no number", (unsigned long long)i,
                                (unsigned long long)points->count);
        status = tml_points_push(points->sink, position, radius, value);
    }
    return status;
}

tml_status tml_points_read_vtk(point_sink *sink, const uint8_t *data, size_t size)
{
    io_file memory;
    vtk_legacy vtk;
    tml_io_open_memory(sink->file->tml, sink->file->call, sink->file->path, data, size, &memory);
    tml_status status = tml_vtk_open(&memory, &vtk);
    if (status != TML_OK)
        return status;
    if (strcasecmp(vtk.dataset, "STRUCTURED_POINTS") == 0 ||
        strcasecmp(vtk.dataset, "RECTILINEAR_GRID") == 0)
        return tml_io_error(sink->file, TML_ERROR_UNSUPPORTED,
                            "DATASET is %s, a volume, needs POLYDATA, UNSTRUCTURED_GRID or "
                            "STRUCTURED_GRID; volumes are read as such, of STRUCTURED_POINTS",
                            vtk.dataset);
    vtk_points points = {
        .sink = sink,
        .contents = {(const char *)data, size},
        .encoding = vtk.is_binary ? POINTS_BIG_ENDIAN : POINTS_TEXT,
        .columns = {{0, 1, 2}, -1, -1},
        .column_count = 3,
    };
    vtk.array = take_array;
    vtk.user = &points;
    status = tml_vtk_read(&vtk);
    if (status == TML_OK && (!points.has_points || points.has_two))
        status = tml_io_error(sink->file, TML_ERROR_FILE_FORMAT, "there is %s POINTS section",
                              points.has_two ? "more than one" : "no");
    return status == TML_OK ? push_points(&points) : status;
}
