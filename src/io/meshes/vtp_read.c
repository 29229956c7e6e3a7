/* Reads VTK XML PolyData (.vtp): polygons and strips with positions, the active normals, and as
 * values the active scalars or else the first array of one component. Other arrays become
 * properties. Vertices and lines are skipped. */
#include <inttypes.h>
#include <strings.h>

#include "io/meshes/mesh_sink.h"
#include "io/points/points_internal.h"
#include "io/vtk/vtk_xml.h"

/* Returns a section's first array of that name (NULL: any) and number of components, or NULL. */
static const vtk_xml_array *find_array(const vtk_xml *xml, const char *section, const char *name,
                                       uint64_t components, bool is_active)
{
    for (uint32_t i = 0; i < xml->array_count; i++) {
        const vtk_xml_array *array = &xml->arrays[i];
        if (strcmp(array->section, section) == 0 && array->type != TML_TYPE_NONE &&
            array->components == components && (!name || strcmp(array->name, name) == 0) &&
            (!is_active || array->is_active))
            return array;
    }
    return NULL;
}

/* ---- points ---------------------------------------------------------------------------------- */

/* Pushes row number. property: the sink's, for push_property. */
typedef tml_status (*push_row)(mesh_sink *sink, const double *row, uint64_t number,
                               uint32_t property);

static tml_status push_position(mesh_sink *sink, const double *row, uint64_t number,
                                uint32_t property)
{
    (void)property;
    return tml_mesh_push_vertex(sink, row, number);
}

static tml_status push_normal(mesh_sink *sink, const double *row, uint64_t number,
                              uint32_t property)
{
    (void)number, (void)property;
    return tml_mesh_push_normal(sink, row);
}

static tml_status push_value(mesh_sink *sink, const double *row, uint64_t number, uint32_t property)
{
    (void)number, (void)property;
    return tml_mesh_push_value(sink, row[0]);
}

static tml_status push_property(mesh_sink *sink, const double *row, uint64_t number,
                                uint32_t property)
{
    (void)number;
    return tml_mesh_push_property(sink, property, row);
}

static tml_status read_rows(mesh_sink *sink, const vtk_xml_array *array, uint64_t rows,
                            push_row push, uint32_t property)
{
    vtk_xml_values values;
    uint64_t count, columns = array->components;
    if (__builtin_mul_overflow(rows, columns, &count))
        count = UINT64_MAX;
    tml_status status = tml_vtk_xml_read_values(sink->file, array, count, &values);
    for (uint64_t i = 0; i < rows && status == TML_OK; i++) {
        double row[4] = {0};
        for (uint64_t k = 0; k < columns; k++)
            row[k] = tml_vtk_xml_value(&values, i * columns + k);
        status = push(sink, row, i, property);
    }
    tml_io_block_free(sink->file, &values.block);
    return status;
}

/* Reads point data of at most four components, except normals and values, as properties, as many as
 * a mesh holds. */
static tml_status read_properties(mesh_sink *sink, const vtk_xml *xml, const vtk_xml_array *normals,
                                  const vtk_xml_array *values)
{
    static const char *const colors[] = {"color", "colors", "colour", "rgb", "rgba"};
    tml_status status = TML_OK;
    uint32_t left_out = 0;
    for (uint32_t i = 0; i < xml->array_count && status == TML_OK; i++) {
        const vtk_xml_array *array = &xml->arrays[i];
        bool is_color = false;
        if (strcmp(array->section, "PointData") != 0 || array->type == TML_TYPE_NONE ||
            array->components < 1 || array->components > 4 || array == normals || array == values)
            continue;
        for (size_t k = 0; k < sizeof colors / sizeof colors[0]; k++)
            is_color |= array->components >= 3 && strcasecmp(array->name, colors[k]) == 0;
        const uint32_t property = tml_mesh_add_property(sink, is_color ? "color" : array->name,
                                                        (uint32_t)array->components, is_color,
                                                        array->type == TML_U8 ? 1.0 / 255.0 : 0.0);
        if (property == UINT32_MAX)
            left_out++;
        else
            status = read_rows(sink, array, xml->points, push_property, property);
    }
    if (status == TML_OK && left_out > 0)
        status = tml_io_warn(sink->file,
                             "%u arrays of points are left out; a mesh holds %d, of names that "
                             "differ",
                             left_out, TML_MESH_MAX_ATTRIBUTES);
    return status;
}

static tml_status read_points(mesh_sink *sink, const vtk_xml *xml, bool *has_normals)
{
    const vtk_xml_array *positions = find_array(xml, "Points", NULL, 3, false);
    const vtk_xml_array *normals = find_array(xml, "PointData", NULL, 3, true);
    const vtk_xml_array *values = find_array(xml, "PointData", NULL, 1, true);
    *has_normals = normals != NULL;
    values = values ? values : find_array(xml, "PointData", NULL, 1, false);
    if (!positions)
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT, "has no Points of three components");
    tml_status status = read_rows(sink, positions, xml->points, push_position, 0);
    if (status == TML_OK && normals)
        status = read_rows(sink, normals, xml->points, push_normal, 0);
    if (status == TML_OK && values) {
        snprintf(sink->value_name, sizeof sink->value_name, "%.31s", values->name);
        status = read_rows(sink, values, xml->points, push_value, 0);
    }
    return status == TML_OK ? read_properties(sink, xml, normals, values) : status;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static tml_status push_corner(mesh_sink *sink, const vtk_xml_values *corners, uint64_t at,
                              bool has_normals, uint64_t cell)
{
    double number = tml_vtk_xml_value(corners, at);
    const bool is_good =
        number >= 0 && number < (double)MESH_NONE && number == (double)(uint32_t)number;
    if (!is_good)
        tml_mesh_add_fault(sink, &sink->lost_corners, cell, "names vertex %g", number);
    uint32_t vertex = is_good ? (uint32_t)number : MESH_NONE;
    return tml_mesh_push_corner(
        sink, (mesh_corner_ref){vertex, MESH_NONE, has_normals ? vertex : MESH_NONE}, cell);
}

/* Pushes corners [first, end) as a polygon, or as a strip, in which every other triangle is
 * reversed. */
static tml_status push_cell(mesh_sink *sink, const vtk_xml_values *corners, uint64_t first,
                            uint64_t end, bool is_strip, bool has_normals, uint64_t cell)
{
    tml_status status = TML_OK;
    for (uint64_t at = first; !is_strip && at < end && status == TML_OK; at++)
        status = push_corner(sink, corners, at, has_normals, cell);
    if (!is_strip || end - first < 3)
        return status == TML_OK ? tml_mesh_end_face(sink, cell) : status;
    for (uint64_t at = first; at + 2 < end && status == TML_OK; at++) {
        const double a = tml_vtk_xml_value(corners, at), b = tml_vtk_xml_value(corners, at + 1),
                     c = tml_vtk_xml_value(corners, at + 2);
        if (a == b || b == c || c == a)
            continue; /* a strip repeats vertices on purpose, where it turns */
        const uint64_t odd = (at - first) % 2, order[3] = {at, at + 1 + odd, at + 2 - odd};
        for (int i = 0; i < 3 && status == TML_OK; i++)
            status = push_corner(sink, corners, order[i], has_normals, cell);
        TML_THEN(status, tml_mesh_end_face(sink, cell));
    }
    return status;
}

/* The offsets say where the corners of each cell end. */
static tml_status read_cells(mesh_sink *sink, const vtk_xml *xml, bool is_strip, bool has_normals)
{
    const char *section = is_strip ? "Strips" : "Polys";
    uint64_t count = is_strip ? xml->strips : xml->polys, first = 0;
    const vtk_xml_array *ends = find_array(xml, section, "offsets", 1, false);
    const vtk_xml_array *corners = find_array(xml, section, "connectivity", 1, false);
    vtk_xml_values end_values = {0}, corner_values = {0};
    if (count == 0)
        return TML_OK;
    if (!ends || !corners)
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                            "its %s have no connectivity and offsets", section);
    tml_status status = tml_vtk_xml_read_values(sink->file, ends, count, &end_values);
    double last = status == TML_OK ? tml_vtk_xml_value(&end_values, count - 1) : 0;
    if (status == TML_OK && !(last >= 0 && last < 0x1p53))
        status = tml_io_error(sink->file, TML_ERROR_FILE_FORMAT, "its %s end at corner %g", section,
                              last);
    TML_THEN(status, tml_vtk_xml_read_values(sink->file, corners, (uint64_t)last, &corner_values));
    for (uint64_t i = 0; i < count && status == TML_OK; i++) {
        double end = tml_vtk_xml_value(&end_values, i);
        if (!(end >= (double)first && end <= last)) {
            status = tml_mesh_error(sink, i, "ends at corner %g, needs %" PRIu64 " to %g", end,
                                    first, last);
            break;
        }
        status = push_cell(sink, &corner_values, first, (uint64_t)end, is_strip, has_normals, i);
        first = (uint64_t)end;
    }
    tml_io_block_free(sink->file, &end_values.block);
    tml_io_block_free(sink->file, &corner_values.block);
    return status;
}

tml_status tml_vtp_read(mesh_sink *sink, bool *is_done)
{
    const io_file *file = sink->file;
    bool has_normals = false;
    *is_done = true;
    vtk_xml *xml = tml_io_alloc(file, sizeof *xml);
    if (!xml)
        return TML_ERROR_OUT_OF_MEMORY;
    tml_status status = tml_vtk_xml_open(file, "PolyData", xml);
    if (status == TML_OK && xml->polys == 0 && xml->strips == 0 && xml->points > 0)
        status =
            tml_io_error(file, TML_ERROR_UNSUPPORTED,
                         "has %" PRIu64 " points and no polygons, which are needed", xml->points);
    if (status == TML_OK && xml->points > 0)
        status = read_points(sink, xml, &has_normals);
    for (int is_strip = 0; is_strip < 2 && status == TML_OK; is_strip++)
        status = read_cells(sink, xml, is_strip, has_normals);
    sink->skipped_count += xml->verts_and_lines;
    tml_free(file->tml, xml, sizeof *xml);
    return status;
}
