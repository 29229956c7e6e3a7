/* Reads surfaces from legacy VTK files, text or binary: POLYGONS and TRIANGLE_STRIPS of POLYDATA,
 * and the triangles, strips, polygons, pixels and quads of UNSTRUCTURED_GRID. Both forms of cell
 * lists are read: with counts, and with offsets. Vertices and lines are skipped. Volume cells and
 * curved cells are left out, with a warning. The point data give normals, the first scalar array as
 * values, texture coordinates, colours, and other arrays of up to four components. */
#include <strings.h>

#include "io/meshes/mesh_sink.h"
#include "io/points/points_internal.h"
#include "io/vtk/vtk_legacy.h"

/* An array, and the text from its next number on. */
typedef struct vtk_numbers {
    vtk_array array;
    io_text text;
} vtk_numbers;

typedef struct vtk_cells {
    char keyword[24];
    uint64_t count;
    vtk_numbers list, offsets; /* list: corners, after a count for each cell unless has_offsets */
    bool has_offsets;
} vtk_cells;

enum { CELLS_MAX = 8, COLUMNS_MAX = POINT_ATTRIBUTES_MAX };

typedef struct vtk_mesh {
    mesh_sink *sink;
    io_span contents;
    io_number_form encoding;
    uint64_t point_count;
    vtk_numbers positions, normals, uvs, types;
    bool has_positions, has_two, has_normals, has_uvs, has_types, has_too_many;
    vtk_cells cells[CELLS_MAX];
    uint32_t cells_count;
    vtk_numbers columns[COLUMNS_MAX]; /* arrays of point data, by column */
    int32_t column_count;
    point_sink names; /* classifies columns by name */
    point_columns known;
    uint64_t left_out; /* cells of types that are not flat faces */
    uint32_t left_out_type;
} vtk_mesh;

/* ---- which arrays there are ------------------------------------------------------------------ */

static void take_column(vtk_mesh *m, const vtk_array *array, vtk_numbers numbers)
{
    const bool is_color = array->place == VTK_POINT_COLORS && array->columns >= 3;
    char name[32];
    if ((array->place != VTK_POINT_DATA && !is_color) || array->columns < 1 || array->columns > 4 ||
        m->column_count == COLUMNS_MAX)
        return;
    tml_io_copy(name, sizeof name, (io_span){array->name, strlen(array->name)});
    m->columns[m->column_count] = numbers;
    if (is_color)
        tml_points_list(&m->names, "color", (uint32_t)array->columns, m->column_count,
                        m->encoding == IO_NUMBERS_TEXT ? TML_F32 : TML_U8);
    else if (array->columns > 1 || strcasecmp(name, "radius") == 0 ||
             strcasecmp(name, "pscale") == 0)
        tml_points_list(&m->names, name, (uint32_t)array->columns, m->column_count, array->type);
    else
        tml_points_column(&m->names, &m->known, m->column_count, name, array->type);
    m->column_count++;
}

static void take_array(void *user, const vtk_array *array)
{
    vtk_mesh *m = user;
    const size_t offset = (size_t)array->offset;
    const vtk_numbers numbers = {
        *array, io_text_of((io_span){m->contents.text + offset, m->contents.size - offset})};
    if (array->place == VTK_CELLS || array->place == VTK_OFFSETS) {
        m->has_too_many |= m->cells_count == CELLS_MAX;
        if (m->has_too_many)
            return;
        vtk_cells *cells = &m->cells[m->cells_count++];
        *cells = (vtk_cells){.count = array->cells};
        memcpy(cells->keyword, array->keyword, sizeof cells->keyword);
        cells->has_offsets = array->place == VTK_OFFSETS;
        *(cells->has_offsets ? &cells->offsets : &cells->list) = numbers;
    } else if (array->place == VTK_CONNECTIVITY && m->cells_count > 0 && !m->has_too_many) {
        m->cells[m->cells_count - 1].list = numbers;
    } else if (array->place == VTK_CELL_TYPES) {
        m->types = numbers;
        m->has_types = true;
    } else if (array->place == VTK_POSITIONS) {
        m->has_two |= m->has_positions;
        m->has_positions = true;
        m->positions = numbers;
        m->point_count = array->rows;
    } else if (array->rows != m->point_count || array->is_bit) {
        return;
    } else if (strcasecmp(array->keyword, "NORMALS") == 0 && array->place == VTK_POINT_DATA) {
        m->normals = numbers;
        m->has_normals = true;
    } else if (strcasecmp(array->keyword, "TEXTURE_COORDINATES") == 0 && array->columns >= 2 &&
               array->columns <= 3) {
        m->uvs = numbers;
        m->has_uvs = true;
    } else {
        take_column(m, array, numbers);
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

static bool next_number(const vtk_mesh *m, vtk_numbers *numbers, double *out)
{
    return tml_io_next_number(&numbers->text, m->encoding, numbers->array.type, out);
}

static bool next_numbers(const vtk_mesh *m, vtk_numbers *numbers, double out[4])
{
    for (uint64_t c = 0; c < numbers->array.columns; c++)
        if (!next_number(m, numbers, &out[c]))
            return false;
    return true;
}

/* ---- points ---------------------------------------------------------------------------------- */

static tml_status bad_point(const vtk_mesh *m, uint64_t number)
{
    return tml_io_error(m->sink->file, TML_ERROR_FILE_FORMAT,
                        "point %llu of %llu holds what is no number", (unsigned long long)number,
                        (unsigned long long)m->point_count);
}

/* Chooses the columns of values and properties. attributes[p]: the attribute of property p. */
static tml_status choose_columns(vtk_mesh *m, uint32_t attributes[TML_MESH_MAX_ATTRIBUTES])
{
    mesh_sink *sink = m->sink;
    uint32_t left_out = 0;
    tml_status status = tml_points_choose(&m->names); /* joins columns; no name is asked for */
    for (uint32_t i = 0; i < m->names.attribute_count && status == TML_OK; i++) {
        const point_attribute *a = &m->names.attributes[i];
        if (a->components == 1 && a->columns[0] == m->known.value)
            continue;
        uint32_t number = a->is_packed ? UINT32_MAX
                                       : tml_mesh_add_property(sink, a->name, a->components,
                                                               a->is_color, a->scale);
        if (number == UINT32_MAX)
            left_out++;
        else
            attributes[number] = i;
    }
    if (status == TML_OK && left_out > 0)
        status = tml_io_warn(sink->file,
                             "%u arrays of points are left out; a mesh holds %d, of names that "
                             "differ",
                             left_out, TML_MESH_MAX_ATTRIBUTES);
    memcpy(sink->value_name, m->names.value_name, sizeof m->names.value_name);
    return status;
}

static tml_status push_point(vtk_mesh *m, uint64_t number,
                             const uint32_t attributes[TML_MESH_MAX_ATTRIBUTES])
{
    mesh_sink *sink = m->sink;
    double row[4] = {0};
    if (!next_numbers(m, &m->positions, row))
        return bad_point(m, number);
    tml_status status = tml_mesh_push_vertex(sink, row, number);
    if (status == TML_OK && m->has_normals)
        status = next_numbers(m, &m->normals, row) ? tml_mesh_push_normal(sink, row)
                                                   : bad_point(m, number);
    if (status == TML_OK && m->has_uvs)
        status = next_numbers(m, &m->uvs, row) ? tml_mesh_push_uv(sink, row) : bad_point(m, number);
    if (status == TML_OK && m->known.value >= 0)
        status = next_numbers(m, &m->columns[m->known.value], row)
                     ? tml_mesh_push_value(sink, row[0])
                     : bad_point(m, number);
    for (uint32_t p = 0; p < sink->property_count && status == TML_OK; p++) {
        const point_attribute *a = &m->names.attributes[attributes[p]];
        const bool is_joined = a->components > 1 && a->columns[1] != a->columns[0];
        bool is_good = true;
        for (uint32_t c = 0; c < (is_joined ? a->components : 1) && is_good; c++)
            is_good = is_joined ? next_number(m, &m->columns[a->columns[c]], &row[c])
                                : next_numbers(m, &m->columns[a->columns[0]], row);
        status = is_good ? tml_mesh_push_property(sink, p, row) : bad_point(m, number);
    }
    return status;
}

static tml_status push_points(vtk_mesh *m)
{
    uint32_t attributes[TML_MESH_MAX_ATTRIBUTES] = {0};
    tml_status status = choose_columns(m, attributes);
    m->sink->place_name = "point";
    /* A property with the value's column reads a copy of it. */
    if (m->known.value >= 0)
        for (uint32_t p = 0; p < m->sink->property_count; p++)
            for (uint32_t c = 0; c < m->names.attributes[attributes[p]].components; c++)
                if (m->names.attributes[attributes[p]].columns[c] == m->known.value &&
                    m->column_count < COLUMNS_MAX) {
                    m->columns[m->column_count] = m->columns[m->known.value];
                    m->names.attributes[attributes[p]].columns[c] = m->column_count++;
                }
    for (uint64_t i = 0; i < m->point_count && status == TML_OK; i++)
        status = push_point(m, i, attributes);
    return status;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static tml_status push_corner(const vtk_mesh *m, uint32_t vertex, uint64_t cell)
{
    return tml_mesh_push_corner(m->sink,
                                (mesh_corner_ref){vertex, m->has_uvs ? vertex : MESH_NONE,
                                                  m->has_normals ? vertex : MESH_NONE},
                                cell);
}

/* Reads the next corner of a cell; MESH_NONE if it is no vertex number. */
static tml_status next_corner(const vtk_mesh *m, vtk_numbers *list, uint64_t cell, uint32_t *out)
{
    double number;
    if (!next_number(m, list, &number))
        return tml_mesh_error(m->sink, cell, "its corners are no numbers, or the file ends in it");
    const bool is_good =
        number >= 0 && number < (double)MESH_NONE && number == (double)(uint32_t)number;
    if (!is_good)
        tml_mesh_add_fault(m->sink, &m->sink->lost_corners, cell, "names vertex %g", number);
    *out = is_good ? (uint32_t)number : MESH_NONE;
    return TML_OK;
}

static tml_status read_polygon(vtk_mesh *m, vtk_numbers *list, uint64_t size, bool is_pixel,
                               uint64_t cell)
{
    uint32_t vertex = 0,
             held = 0; /* a pixel's third corner, swapped with the fourth */
    tml_status status = TML_OK;
    for (uint64_t i = 0; i < size && status == TML_OK; i++) {
        status = next_corner(m, list, cell, &vertex);
        if (status == TML_OK && is_pixel && i == 2) {
            held = vertex;
            continue;
        }
        TML_THEN(status, push_corner(m, vertex, cell));
        if (status == TML_OK && is_pixel && i == 3)
            status = push_corner(m, held, cell);
    }
    return status == TML_OK ? tml_mesh_end_face(m->sink, cell) : status;
}

/* Every other triangle is wound the other way. A strip repeats vertices on purpose, where it
 * turns. */
static tml_status read_strip(vtk_mesh *m, vtk_numbers *list, uint64_t size, uint64_t cell)
{
    uint32_t before[2] = {0, 0}, vertex = 0;
    tml_status status = TML_OK;
    for (uint64_t i = 0; i < size && status == TML_OK; i++) {
        status = next_corner(m, list, cell, &vertex);
        if (status == TML_OK && i >= 2 && vertex != before[0] && vertex != before[1] &&
            before[0] != before[1]) {
            const uint32_t corners[3] = {before[0], before[1], vertex};
            for (int c = 0; c < 3 && status == TML_OK; c++)
                status = push_corner(m, corners[c], cell);
            TML_THEN(status, tml_mesh_end_face(m->sink, cell));
        }
        before[i % 2] = vertex; /* overwriting alternately keeps the winding right */
    }
    return status;
}

static tml_status skip_cell(const vtk_mesh *m, vtk_numbers *list, uint64_t size, uint64_t cell)
{
    double number;
    for (uint64_t i = 0; i < size; i++)
        if (!next_number(m, list, &number))
            return tml_mesh_error(m->sink, cell,
                                  "its corners are no numbers, or the file ends in it");
    return TML_OK;
}

static tml_status read_cell(vtk_mesh *m, vtk_numbers *list, uint32_t type, uint64_t size,
                            uint64_t cell)
{
    if (type == CELL_TRIANGLE || type == CELL_POLYGON || type == CELL_QUAD || type == CELL_PIXEL)
        return read_polygon(m, list, size, type == CELL_PIXEL && size == 4, cell);
    if (type == CELL_STRIP)
        return read_strip(m, list, size, cell);
    if (type <= CELL_POLY_LINE) {
        m->sink->skipped_count++;
    } else {
        m->left_out_type = m->left_out++ ? m->left_out_type : type;
    }
    return skip_cell(m, list, size, cell);
}

static tml_status next_size(const vtk_mesh *m, vtk_cells *cells, uint64_t cell, double *offset,
                            uint64_t *out)
{
    double number, size;
    if (!next_number(m, cells->has_offsets ? &cells->offsets : &cells->list, &number))
        return tml_mesh_error(m->sink, cell, "its count of corners is no number");
    size = cells->has_offsets ? number - *offset : number;
    *offset = number;
    if (!(size >= 0) || size > (double)cells->list.array.rows)
        return tml_mesh_error(m->sink, cell, "has %g corners, the list is of %llu numbers", size,
                              (unsigned long long)cells->list.array.rows);
    *out = (uint64_t)size;
    return TML_OK;
}

static tml_status read_cells(vtk_mesh *m, vtk_cells *cells)
{
    const uint32_t type_of_all = tml_vtk_type_of_section(cells->keyword);
    double offset = 0, first = 0;
    uint64_t used = 0, size = 0;
    tml_status status = TML_OK;
    m->sink->place_name = "cell";
    if (cells->has_offsets && cells->count > 0 &&
        (!next_number(m, &cells->offsets, &first) || first != 0))
        return tml_io_error(m->sink->file, TML_ERROR_FILE_FORMAT,
                            "the first of its OFFSETS is not 0");
    if (!type_of_all && (!m->has_types || m->types.array.rows != cells->count))
        return tml_io_error(m->sink->file, TML_ERROR_FILE_FORMAT,
                            "has %llu cells, and CELL_TYPES of another number",
                            (unsigned long long)cells->count);
    for (uint64_t i = 0; i < cells->count && status == TML_OK; i++) {
        double type = type_of_all;
        status = next_size(m, cells, i, &offset, &size);
        used += size + !cells->has_offsets;
        if (status == TML_OK && used > cells->list.array.rows)
            status = tml_mesh_error(m->sink, i, "reaches past the %llu numbers of its list",
                                    (unsigned long long)cells->list.array.rows);
        if (status == TML_OK && !type_of_all && !next_number(m, &m->types, &type))
            status = tml_mesh_error(m->sink, i, "its type is no number");
        TML_THEN(status, read_cell(m, &cells->list, type >= 0 && type < 256 ? (uint32_t)type : 255,
                                   size, i));
    }
    return status;
}

tml_status tml_mesh_read_vtk(mesh_sink *sink, const uint8_t *data, size_t size)
{
    io_file memory;
    vtk_legacy vtk;
    tml_io_open_memory(sink->file->tml, sink->file->call, sink->file->path, data, size, &memory);
    tml_status status = tml_vtk_open(&memory, &vtk);
    if (status != TML_OK)
        return status;
    vtk_mesh *m = tml_io_alloc(sink->file, sizeof *m);
    if (!m)
        return TML_ERROR_OUT_OF_MEMORY;
    *m = (vtk_mesh){.sink = sink,
                    .contents = {(const char *)data, size},
                    .encoding = vtk.is_binary ? IO_NUMBERS_BIG_ENDIAN : IO_NUMBERS_TEXT,
                    .names = {.file = sink->file},
                    .known = POINT_COLUMNS_NONE};
    vtk.array = take_array;
    vtk.user = m;
    status = tml_vtk_read(&vtk);
    if (status == TML_OK && (!m->has_positions || m->has_two || m->has_too_many))
        status = tml_io_error(sink->file, TML_ERROR_FILE_FORMAT, "%s",
                              m->has_too_many ? "has more sections of cells than VTK writes"
                              : m->has_two    ? "there is more than one POINTS section"
                                              : "there is no POINTS section");
    TML_THEN(status, push_points(m));
    for (uint32_t i = 0; i < m->cells_count && status == TML_OK; i++)
        status = read_cells(m, &m->cells[i]);
    if (status == TML_OK && m->left_out > 0)
        status = tml_io_warn(sink->file,
                             "%llu %s left out: no flat face (VTK's type %u is the first one's)",
                             (unsigned long long)m->left_out,
                             m->left_out == 1 ? "cell is" : "cells are", m->left_out_type);
    tml_free(sink->file->tml, m, sizeof *m);
    return status;
}
