/* Reads points from legacy VTK files: POLYDATA, UNSTRUCTURED_GRID and STRUCTURED_GRID. In the point
 * data, an array of one component named radius or pscale gives the radii, the first other one the
 * values. Arrays of up to four components, and colours, are attributes. */
#include <strings.h>

#include "io/points/points_internal.h"
#include "io/vtk/vtk_legacy.h"

typedef struct vtk_values {
    io_text text;
    tml_type type;
} vtk_values;

typedef struct vtk_points {
    point_sink *sink;
    io_span contents;
    io_number_form encoding;
    bool has_points, has_two;
    bool is_grid;   /* UNSTRUCTURED_GRID, which has cells */
    bool has_cells; /* cells other than vertices and lines, perhaps */
    uint64_t count;
    point_columns columns; /* 0 to 2: positions; from 3 on: arrays in the file's order */
    int32_t column_count;
    vtk_values positions, radii, values;
    vtk_values arrays[3 + POINT_ATTRIBUTES_MAX]; /* by column */
} vtk_points;

static void take_column(vtk_points *points, const vtk_array *array, vtk_values values)
{
    int32_t column = points->column_count;
    char name[sizeof points->sink->value_name];
    tml_io_copy(name, sizeof name, (io_span){array->name, strlen(array->name)});
    bool is_color = array->place == VTK_POINT_COLORS && array->columns >= 3;
    if ((array->place != VTK_POINT_DATA && !is_color) || array->columns < 1 || array->columns > 4)
        return;
    points->arrays[column] = values;
    points->column_count++;
    if (is_color)
        tml_points_list(points->sink, "color", (uint32_t)array->columns, column,
                        points->encoding == IO_NUMBERS_TEXT ? TML_F32 : TML_U8);
    else if (array->columns > 1)
        tml_points_list(points->sink, name, (uint32_t)array->columns, column, array->type);
    else
        tml_points_column(points->sink, &points->columns, column, name, array->type);
    if (points->columns.radius == column)
        points->radii = values;
    if (points->columns.value == column)
        points->values = values;
}

static void take_array(void *user, const vtk_array *array)
{
    vtk_points *points = user;
    size_t offset = (size_t)array->offset;
    io_text text =
        io_text_of((io_span){points->contents.text + offset, points->contents.size - offset});
    vtk_values values = {text, array->type};
    if (array->place == VTK_CELLS || array->place == VTK_OFFSETS)
        points->has_cells |= array->cells > 0 && strcasecmp(array->keyword, "VERTICES") != 0 &&
                             strcasecmp(array->keyword, "LINES") != 0;
    if (array->place == VTK_POSITIONS) {
        points->has_two |= points->has_points;
        points->has_points = true;
        points->count = array->rows;
        points->positions = values;
    } else if (array->rows == points->count && !array->is_bit &&
               points->column_count < 3 + POINT_ATTRIBUTES_MAX) {
        take_column(points, array, values);
    }
}

static bool next_number(const vtk_points *points, vtk_values *values, double *out)
{
    return tml_io_next_number(&values->text, points->encoding, values->type, out);
}

/* Reads the next point's attributes that are asked for. */
static bool next_attributes(vtk_points *points)
{
    point_sink *sink = points->sink;
    bool is_good = true;
    for (uint32_t i = 0; i < sink->attribute_count; i++) {
        const point_attribute *a = &sink->attributes[i];
        double numbers[4] = {0};
        if (a->place < 0)
            continue;
        for (uint32_t c = 0; c < (a->is_packed ? 1 : a->components) && is_good; c++)
            is_good = next_number(points, &points->arrays[a->columns[c]], &numbers[c]);
        tml_points_set(sink, a, numbers);
    }
    return is_good;
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
            (points->sink->has_values && !next_number(points, &points->values, &value)) ||
            !next_attributes(points))
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
        .encoding = vtk.is_binary ? IO_NUMBERS_BIG_ENDIAN : IO_NUMBERS_TEXT,
        .columns = {{0, 1, 2}, -1, -1},
        .column_count = 3,
    };
    points.is_grid = strcasecmp(vtk.dataset, "UNSTRUCTURED_GRID") == 0;
    vtk.array = take_array;
    vtk.user = &points;
    status = tml_vtk_read(&vtk);
    if (status == TML_OK && (!points.has_points || points.has_two))
        status = tml_io_error(sink->file, TML_ERROR_FILE_FORMAT, "there is %s POINTS section",
                              points.has_two ? "more than one" : "no");
    TML_THEN(status, push_points(&points));
    if (status != TML_OK || !points.has_cells)
        return status;
    return tml_points_tell_of_mesh(sink, tml_vtk_count_cells(&memory, false),
                                   points.is_grid ? "cell" : "face");
}
