/* Reads points from VTK XML files (.vtu, .vtp). In the point data, an array of one component named
 * radius or pscale gives the radii, the first other one the values. Arrays of up to four components
 * are attributes. */
#include <inttypes.h>

#include "io/points/points_internal.h"
#include "io/vtk/vtk_xml.h"

typedef struct xml_points {
    point_sink *sink;
    io_file memory;
    vtk_xml xml;
    point_columns columns;                     /* numbers of arrays */
    vtk_xml_values values[VTK_XML_ARRAYS_MAX]; /* those that are needed */
    bool is_needed[VTK_XML_ARRAYS_MAX];
    uint64_t at; /* number of the current point */
} xml_points;

static void list_arrays(xml_points *p)
{
    for (uint32_t i = 0; i < p->xml.array_count; i++) {
        const vtk_xml_array *array = &p->xml.arrays[i];
        const bool is_data = strcmp(array->section, "PointData") == 0;
        char name[sizeof p->sink->value_name];
        tml_io_copy(name, sizeof name, (io_span){array->name, strlen(array->name)});
        if (array->type == TML_TYPE_NONE || array->components > 4)
            continue;
        if (strcmp(array->section, "Points") == 0 && array->components == 3)
            for (int axis = 0; axis < 3; axis++)
                p->columns.position[axis] = (int32_t)i;
        else if (is_data && array->components > 1)
            tml_points_list(p->sink, name, (uint32_t)array->components, (int32_t)i, array->type);
        else if (is_data && !(name[0] && !name[1] && strchr("xyzXYZ", name[0])))
            tml_points_column(p->sink, &p->columns, (int32_t)i, name, array->type);
    }
}

static void need(xml_points *p, int32_t column)
{
    if (column >= 0)
        p->is_needed[column] = true;
}

static tml_status read_arrays(xml_points *p)
{
    const point_sink *sink = p->sink;
    tml_status status = TML_OK;
    need(p, p->columns.position[0]);
    need(p, p->columns.radius);
    need(p, p->columns.value);
    for (uint32_t i = 0; i < sink->attribute_count; i++)
        for (uint32_t c = 0; c < sink->attributes[i].components; c++)
            if (sink->attributes[i].place >= 0)
                need(p, sink->attributes[i].columns[c]);
    for (uint32_t i = 0; i < p->xml.array_count && status == TML_OK; i++) {
        uint64_t count;
        if (!p->is_needed[i])
            continue;
        if (__builtin_mul_overflow(p->xml.points, p->xml.arrays[i].components, &count))
            count = UINT64_MAX;
        status = tml_vtk_xml_read_values(&p->memory, &p->xml.arrays[i], count, &p->values[i]);
    }
    return status;
}

static double number_at(const void *user, int32_t column, uint32_t component)
{
    const xml_points *p = user;
    const uint64_t components = p->xml.arrays[column].components;
    return tml_vtk_xml_value(&p->values[column],
                             p->at * components + (components > 1 ? component : 0));
}

/* Counts the cells of a grid other than vertices and lines. */
static uint64_t count_cells(const xml_points *p)
{
    enum { POLY_LINE = 4 }; /* VTK's number of the type */
    uint64_t count = 0;
    for (uint32_t i = 0; i < p->xml.array_count && p->xml.cells > 0; i++) {
        const vtk_xml_array *array = &p->xml.arrays[i];
        vtk_xml_values types;
        if (strcmp(array->section, "Cells") != 0 || strcmp(array->name, "types") != 0 ||
            tml_vtk_xml_read_values(&p->memory, array, p->xml.cells, &types) != TML_OK)
            continue;
        for (uint64_t k = 0; k < p->xml.cells; k++) {
            const double type = tml_vtk_xml_value(&types, k);
            count += type > POLY_LINE;
        }
        tml_io_block_free(p->sink->file, &types.block);
    }
    return count;
}

tml_status tml_points_read_vtk_xml(point_sink *sink, const uint8_t *data, size_t size)
{
    xml_points *p = tml_io_alloc(sink->file, sizeof *p);
    if (!p)
        return TML_ERROR_OUT_OF_MEMORY;
    *p = (xml_points){.sink = sink, .columns = POINT_COLUMNS_NONE};
    tml_io_open_memory(sink->file->tml, sink->file->call, sink->file->path, data, size, &p->memory);
    tml_status status = tml_vtk_xml_open(&p->memory, NULL, &p->xml);
    if (status == TML_OK && strcmp(p->xml.type, "UnstructuredGrid") != 0 &&
        strcmp(p->xml.type, "PolyData") != 0)
        status = tml_io_error(sink->file, TML_ERROR_UNSUPPORTED,
                              "is a VTKFile of type \"%s\", needs UnstructuredGrid or PolyData",
                              p->xml.type);
    if (status == TML_OK)
        list_arrays(p);
    TML_THEN(status, tml_points_columns_done(sink, &p->columns));
    TML_THEN(status, read_arrays(p));
    sink->expected = p->xml.points;
    for (; p->at < p->xml.points && status == TML_OK; p->at++)
        status = tml_points_push_numbers(sink, &p->columns, number_at, p);
    TML_THEN(status, tml_points_tell_of_mesh(sink, p->xml.polys + p->xml.strips, "face"));
    TML_THEN(status, tml_points_tell_of_mesh(sink, count_cells(p), "cell"));
    for (uint32_t i = 0; i < VTK_XML_ARRAYS_MAX; i++)
        tml_io_block_free(sink->file, &p->values[i].block);
    tml_free(sink->file->tml, p, sizeof *p);
    return status;
}
