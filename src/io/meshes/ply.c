/* Reads points and meshes from PLY (Greg Turk: The PLY Polygon File Format. 1994): ascii and binary
 * files of either byte order, with properties of any type in any order. */
#include <math.h>
#include <strings.h>

#include "io/meshes/ply_internal.h"

/* ---- the header ------------------------------------------------------------------------------ */

static tml_type ply_type(io_span name)
{
    static const struct {
        const char *name;
        tml_type type;
    } types[] = {
        {"char", TML_I8},   {"int8", TML_I8},     {"uchar", TML_U8},   {"uint8", TML_U8},
        {"short", TML_I16}, {"int16", TML_I16},   {"ushort", TML_U16}, {"uint16", TML_U16},
        {"int", TML_I32},   {"int32", TML_I32},   {"uint", TML_U32},   {"uint32", TML_U32},
        {"float", TML_F32}, {"float32", TML_F32}, {"double", TML_F64}, {"float64", TML_F64},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (tml_io_is(name, types[i].name))
            return types[i].type;
    return TML_TYPE_NONE;
}

/* Returns the next word of a header line; empty at its end. */
static io_span next_word(io_text *words)
{
    io_span word = {words->at, 0};
    (void)tml_io_word(words, &word);
    return word;
}

static bool parse_format(ply_header *header, io_text *words)
{
    static const char *const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    io_span name = next_word(words);
    for (int i = 0; i < 3 && !header->has_format; i++) {
        if (tml_io_is(name, names[i])) {
            header->encoding = (io_number_form)i;
            header->has_format = true;
            return tml_io_is(next_word(words), "1.0");
        }
    }
    return false;
}

static bool parse_element(ply_header *header, io_text *words)
{
    if (header->element_count == PLY_ELEMENTS_MAX)
        return false;
    ply_element *element = &header->elements[header->element_count++];
    io_span name = next_word(words);
    tml_io_copy(element->name, sizeof element->name, name);
    element->first = header->property_count;
    return name.size > 0 && tml_io_parse_u64(next_word(words), &element->count);
}

static bool parse_property(ply_header *header, io_text *words)
{
    if (header->element_count == 0 || header->property_count == PLY_PROPERTIES_MAX)
        return false;
    ply_property *property = &header->properties[header->property_count++];
    header->elements[header->element_count - 1].property_count++;
    io_span type = next_word(words);
    if (tml_io_is(type, "list")) {
        property->list_count = ply_type(next_word(words));
        if (property->list_count == TML_TYPE_NONE || tml_type_is_float(property->list_count))
            return false;
        type = next_word(words);
    }
    property->type = ply_type(type);
    io_span name = next_word(words);
    tml_io_copy(property->name, sizeof property->name, name);
    return property->type != TML_TYPE_NONE && name.size > 0;
}

/* Reads a header line. The first line decides how lines end: on old Macs with \r alone. */
static bool next_line(io_text *text, bool ends_with_cr, io_span *line)
{
    if (!ends_with_cr)
        return tml_io_line(text, line);
    const char *end = memchr(text->at, '\r', (size_t)(text->end - text->at));
    if (!end)
        return false;
    *line = (io_span){text->at, (size_t)(end - text->at)};
    text->at = end + 1;
    text->line++;
    return true;
}

/* Reads the header. text is then at the data. */
static tml_status parse_header(const io_file *file, io_text *text, ply_header *header)
{
    io_span line;
    bool ends_with_cr = text->end - text->at > 4 && text->at[3] == '\r' && text->at[4] != '\n';
    (void)next_line(text, ends_with_cr, &line); /* "ply" */
    for (;;) {
        uint64_t number = text->line;
        if (!next_line(text, ends_with_cr, &line))
            return tml_io_error(file, TML_ERROR_FILE_FORMAT, "the header has no end_header");
        io_text words = io_text_of(line);
        io_span keyword = next_word(&words);
        bool is_good = true;
        if (tml_io_is(keyword, "end_header"))
            break;
        if (tml_io_is(keyword, "format"))
            is_good = parse_format(header, &words);
        else if (tml_io_is(keyword, "element"))
            is_good = parse_element(header, &words);
        else if (tml_io_is(keyword, "property"))
            is_good = parse_property(header, &words);
        else
            is_good = keyword.size == 0 || tml_io_is(keyword, "comment") ||
                      tml_io_is(keyword, "obj_info");
        if (!is_good)
            return tml_io_error(
                file, TML_ERROR_FILE_FORMAT,
                "line %llu of the header is \"%.*s\", which is no format 1.0, element "
                "(at most %d) or property (at most %d) of a known type",
                (unsigned long long)number, (int)(line.size < 80 ? line.size : 80), line.text,
                PLY_ELEMENTS_MAX, PLY_PROPERTIES_MAX);
    }
    if (!header->has_format)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT, "the header has no format line");
    return TML_OK;
}

bool tml_ply_is_points(const io_file *file, io_span head)
{
    ply_header header = {0};
    io_text text = io_text_of(head);
    uint64_t vertices = 0, faces = 0;
    bool names_faces = false;
    if (parse_header(file, &text, &header) != TML_OK)
        return false;
    for (uint32_t e = 0; e < header.element_count; e++) {
        const ply_element *element = &header.elements[e];
        bool is_face =
            strcmp(element->name, "face") == 0 || strcmp(element->name, "tristrips") == 0;
        vertices += strcmp(element->name, "vertex") == 0 ? element->count : 0;
        faces += is_face ? element->count : 0;
        names_faces |= is_face;
    }
    return faces == 0 && (vertices > 0 || !names_faces);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool skip_list(io_text *text, io_number_form encoding, const ply_property *property)
{
    double length, value;
    if (!tml_io_next_number(text, encoding, property->list_count, &length) || !(length >= 0.0) ||
        length != floor(length))
        return false;
    if (encoding == IO_NUMBERS_TEXT) {
        for (double i = 0.0; i < length; i += 1.0)
            if (!tml_io_next_number(text, encoding, property->type, &value))
                return false;
        return true;
    }
    size_t size = tml_type_size(property->type);
    if (length > (double)((size_t)(text->end - text->at) / size))
        return false;
    text->at += (size_t)length * size;
    return true;
}

/* Reads one row of an element: values[i] is that of property i; 0 for a list. */
static bool next_row(io_text *text, const ply_header *header, const ply_element *element,
                     double *values)
{
    for (uint32_t i = 0; i < element->property_count; i++) {
        const ply_property *property = &header->properties[element->first + i];
        values[i] = 0.0;
        if (property->list_count != TML_TYPE_NONE
                ? !skip_list(text, header->encoding, property)
                : !tml_io_next_number(text, header->encoding, property->type, &values[i]))
            return false;
    }
    return true;
}

/* Refuses a row count that does not fit in the bytes left, before any row is read. */
static tml_status check_room(const io_file *file, const io_text *text, const ply_header *header,
                             const ply_element *element)
{
    uint64_t row_min = 0;
    for (uint32_t i = 0; i < element->property_count; i++) {
        const ply_property *property = &header->properties[element->first + i];
        bool is_list = property->list_count != TML_TYPE_NONE;
        /* In text a number has a digit and a blank; the + 1 below is for a missing last blank. */
        row_min += header->encoding == IO_NUMBERS_TEXT
                       ? 2
                       : tml_type_size(is_list ? property->list_count : property->type);
    }
    uint64_t left =
        (uint64_t)(text->end - text->at) + (header->encoding == IO_NUMBERS_TEXT ? 1 : 0);
    if (row_min > 0 && element->count > left / row_min)
        return tml_io_error(
            file, TML_ERROR_FILE_FORMAT,
            "element %s has %llu rows of at least %llu bytes, the file has %llu bytes "
            "left; it is truncated",
            element->name, (unsigned long long)element->count, (unsigned long long)row_min,
            (unsigned long long)left);
    return TML_OK;
}

static tml_status fail_row(const io_file *file, const ply_element *element, uint64_t row)
{
    return tml_io_error(
        file, TML_ERROR_FILE_FORMAT,
        "row %llu of %llu of element %s is no row of numbers, or the file ends in it",
        (unsigned long long)row, (unsigned long long)element->count, element->name);
}

/* ---- points ---------------------------------------------------------------------------------- */

static tml_status read_vertices(point_sink *sink, io_text *text, const ply_header *header,
                                const ply_element *vertex)
{
    point_columns columns = POINT_COLUMNS_NONE;
    for (uint32_t i = 0; i < vertex->property_count; i++)
        if (header->properties[vertex->first + i].list_count == TML_TYPE_NONE)
            tml_points_column(sink, &columns, (int32_t)i,
                              header->properties[vertex->first + i].name,
                              header->properties[vertex->first + i].type);
    tml_status status = tml_points_columns_done(sink, &columns);
    sink->expected = vertex->count;
    double values[PLY_PROPERTIES_MAX];
    for (uint64_t row = 0; row < vertex->count && status == TML_OK; row++) {
        if (!next_row(text, header, vertex, values))
            return fail_row(sink->file, vertex, row);
        status = tml_points_push_row(sink, &columns, values);
    }
    return status;
}

/* Warns that the points are a mesh's vertices, which few callers mean. */
static tml_status tell_of_faces(const point_sink *sink, const ply_header *header)
{
    uint64_t faces = 0;
    for (uint32_t e = 0; e < header->element_count; e++)
        if (strcmp(header->elements[e].name, "face") == 0 ||
            strcmp(header->elements[e].name, "tristrips") == 0)
            faces += header->elements[e].count;
    return tml_points_tell_of_mesh(sink, faces, "face");
}

tml_status tml_points_read_ply(point_sink *sink, const uint8_t *data, size_t size)
{
    ply_header header = {0};
    io_text text = {(const char *)data, (const char *)data + size, 1};
    tml_status status = parse_header(sink->file, &text, &header);
    for (uint32_t e = 0; e < header.element_count && status == TML_OK; e++) {
        const ply_element *element = &header.elements[e];
        status = check_room(sink->file, &text, &header, element);
        if (status != TML_OK)
            return status;
        if (strcmp(element->name, "vertex") == 0) {
            status = read_vertices(sink, &text, &header, element);
            return status == TML_OK ? tell_of_faces(sink, &header) : status;
        }
        double values[PLY_PROPERTIES_MAX];
        for (uint64_t row = 0; element->property_count > 0 && row < element->count; row++)
            if (!next_row(&text, &header, element, values))
                return fail_row(sink->file, element, row);
    }
    return status == TML_OK
               ? tml_io_error(sink->file, TML_ERROR_FILE_FORMAT, "the header has no element vertex")
               : status;
}

/* ---- meshes ---------------------------------------------------------------------------------- */

typedef struct ply_mesh {
    mesh_sink *sink;
    io_text text;
    const ply_header *header;
    bool has_vertex, has_face;
    bool has_vertex_uvs; /* columns of the vertex table are texture coordinates */
    bool has_wedge_uvs;  /* each face has a list of them, two numbers per corner */
    bool has_normals;
    ply_columns columns; /* of the vertex table; valid if has_columns */
    bool has_columns;
} ply_mesh;

static int32_t position_of(const char *name, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (strcasecmp(name, names[i]) == 0)
            return i;
    return -1;
}

/* Makes columns other than position, normal, texture coordinate and value into properties of the
 * mesh's vertices, colours first, as many as fit. A warning names the others. */
static tml_status take_properties(ply_mesh *mesh, point_sink *names, ply_columns *columns)
{
    mesh_sink *sink = mesh->sink;
    char left_out[256] = "";
    size_t used = 0;
    for (int is_other = 0; is_other < 2; is_other++) {
        for (uint32_t i = 0; i < names->attribute_count; i++) {
            const point_attribute *a = &names->attributes[i];
            const bool is_value = a->components == 1 && a->columns[0] == columns->value;
            if (a->is_color == (bool)is_other || is_value)
                continue;
            /* A column of alpha behind a colour becomes its fourth component. */
            const point_attribute *alpha = a + 1;
            const bool has_alpha =
                a->is_color && !a->is_packed && a->components == 3 &&
                i + 1 < names->attribute_count && alpha->components == 1 &&
                (strcasecmp(alpha->name, "alpha") == 0 || strcasecmp(alpha->name, "a") == 0) &&
                alpha->scale == a->scale;
            const uint32_t number =
                a->is_packed ? UINT32_MAX
                             : tml_mesh_add_property(sink, a->name, a->components + has_alpha,
                                                     a->is_color, a->scale);
            if (number == UINT32_MAX && used < sizeof left_out - 40)
                used += (size_t)snprintf(left_out + used, sizeof left_out - used, "%s%s",
                                         used ? ", " : "", a->name);
            if (number == UINT32_MAX)
                continue;
            memcpy(columns->properties[number], a->columns, sizeof a->columns);
            if (has_alpha) {
                columns->properties[number][3] = alpha->columns[0];
                memmove(names->attributes + i + 1, names->attributes + i + 2,
                        (names->attribute_count - i - 2) * sizeof *names->attributes);
                names->attribute_count--;
            }
        }
    }
    return used ? tml_io_warn(sink->file,
                              "what vertices have is left out: %s; a mesh holds %d such properties",
                              left_out, TML_MESH_MAX_ATTRIBUTES)
                : TML_OK;
}

static tml_status find_columns(ply_mesh *mesh, const ply_element *vertex)
{
    static const char *const normals[] = {"nx", "ny", "nz"};
    static const char *const uvs[] = {"s", "t", "u", "v", "texture_u", "texture_v"};
    ply_columns *columns = &mesh->columns;
    point_sink names = {.file = mesh->sink->file}; /* sorts the columns by name, as for points */
    point_columns others = POINT_COLUMNS_NONE;
    if (mesh->has_columns)
        return TML_OK;
    mesh->has_columns = true;
    memset(columns, 0xff, sizeof *columns);
    for (uint32_t i = 0; i < vertex->property_count; i++) {
        const ply_property *property = &mesh->header->properties[vertex->first + i];
        int32_t normal = position_of(property->name, normals, 3);
        int32_t uv = position_of(property->name, uvs, 6);
        if (property->list_count != TML_TYPE_NONE)
            continue;
        if (normal >= 0)
            columns->normal[normal] = (int32_t)i;
        else if (uv >= 0)
            columns->uv[uv % 2] = (int32_t)i;
        else if (strcasecmp(property->name, "radius") == 0 ||
                 strcasecmp(property->name, "pscale") == 0)
            tml_points_list(&names, property->name, 1, (int32_t)i, property->type);
        else
            tml_points_column(&names, &others, (int32_t)i, property->name, property->type);
    }
    memcpy(columns->position, others.position, sizeof columns->position);
    columns->value = others.value;
    memcpy(mesh->sink->value_name, names.value_name, sizeof names.value_name);
    mesh->has_normals =
        columns->normal[0] >= 0 && columns->normal[1] >= 0 && columns->normal[2] >= 0;
    mesh->has_vertex_uvs = columns->uv[0] >= 0 && columns->uv[1] >= 0 && !mesh->has_wedge_uvs;
    const tml_status status = tml_points_choose(&names); /* joins columns; no name is asked for */
    return status == TML_OK ? take_properties(mesh, &names, columns) : status;
}

static tml_status push_vertex_row(ply_mesh *mesh, const double *row, uint64_t number)
{
    mesh_sink *sink = mesh->sink;
    const ply_columns *columns = &mesh->columns;
    double numbers[4];
    for (int i = 0; i < 3; i++)
        numbers[i] = row[columns->position[i]];
    tml_status status = tml_mesh_push_vertex(sink, numbers, number);
    for (int i = 0; i < 3 && mesh->has_normals; i++)
        numbers[i] = row[columns->normal[i]];
    if (status == TML_OK && mesh->has_normals)
        status = tml_mesh_push_normal(sink, numbers);
    if (status == TML_OK && mesh->has_vertex_uvs)
        status =
            tml_mesh_push_uv(sink, (const double[2]){row[columns->uv[0]], row[columns->uv[1]]});
    if (status == TML_OK && columns->value >= 0)
        status = tml_mesh_push_value(sink, row[columns->value]);
    for (uint32_t p = 0; p < sink->property_count && status == TML_OK; p++) {
        for (uint32_t c = 0; c < sink->properties[p].components; c++)
            numbers[c] = row[columns->properties[p][c]];
        status = tml_mesh_push_property(sink, p, numbers);
    }
    return status;
}

static tml_status read_vertex_table(ply_mesh *mesh, const ply_element *vertex)
{
    double row[PLY_PROPERTIES_MAX];
    tml_status status = find_columns(mesh, vertex);
    mesh->sink->place_name = "vertex";
    for (int axis = 0; axis < 3 && status == TML_OK; axis++)
        if (mesh->columns.position[axis] < 0)
            return tml_io_error(mesh->sink->file, TML_ERROR_FILE_FORMAT,
                                "the vertices have no \"%c\"; needs x, y and z", "xyz"[axis]);
    for (uint64_t i = 0; i < vertex->count && status == TML_OK; i++)
        status = next_row(&mesh->text, mesh->header, vertex, row)
                     ? push_vertex_row(mesh, row, i)
                     : fail_row(mesh->sink->file, vertex, i);
    return status;
}

/* A face's list properties, by their use. */
typedef enum ply_list { PLY_LIST_OTHER, PLY_LIST_VERTICES, PLY_LIST_UVS } ply_list;

static ply_list list_kind(const ply_property *property)
{
    if (property->list_count == TML_TYPE_NONE)
        return PLY_LIST_OTHER;
    if (strcmp(property->name, "vertex_indices") == 0 ||
        strcmp(property->name, "vertex_index") == 0)
        return PLY_LIST_VERTICES;
    return strcmp(property->name, "texcoord") == 0 ? PLY_LIST_UVS : PLY_LIST_OTHER;
}

static bool next_length(ply_mesh *mesh, const ply_property *property, uint64_t *out)
{
    double length;
    if (!tml_io_next_number(&mesh->text, mesh->header->encoding, property->list_count, &length) ||
        !(length >= 0.0) || length != floor(length) ||
        length > (double)(mesh->text.end - mesh->text.at)) /* a number has at least a byte */
        return false;
    *out = (uint64_t)length;
    return true;
}

static tml_status push_list_corner(ply_mesh *mesh, double number, uint64_t row)
{
    const bool is_good = number >= 0 && number < (double)MESH_NONE && number == floor(number);
    if (!is_good)
        tml_mesh_add_fault(mesh->sink, &mesh->sink->lost_corners, row,
                           "a corner is vertex %.17g, needs a number from 0 on", number);
    uint32_t vertex = is_good ? (uint32_t)number : MESH_NONE;
    return tml_mesh_push_corner(mesh->sink,
                                (mesh_corner_ref){vertex, mesh->has_vertex_uvs ? vertex : MESH_NONE,
                                                  mesh->has_normals ? vertex : MESH_NONE},
                                row);
}

/* Reads a list of vertex numbers: the corners of the face. */
static tml_status read_corners(ply_mesh *mesh, const ply_element *face,
                               const ply_property *property, uint64_t row)
{
    uint64_t length;
    double number;
    if (!next_length(mesh, property, &length))
        return fail_row(mesh->sink->file, face, row);
    tml_status status = TML_OK;
    for (uint64_t i = 0; i < length && status == TML_OK; i++)
        status = tml_io_next_number(&mesh->text, mesh->header->encoding, property->type, &number)
                     ? push_list_corner(mesh, number, row)
                     : fail_row(mesh->sink->file, face, row);
    return status;
}

/* Reads texture coordinates. *first: number of the first one; *count: how many. */
static tml_status read_wedges(ply_mesh *mesh, const ply_element *face, const ply_property *property,
                              uint64_t row, uint64_t *first, uint64_t *count)
{
    uint64_t length;
    double uv[2];
    if (!next_length(mesh, property, &length))
        return fail_row(mesh->sink->file, face, row);
    *first = mesh->sink->uvs.size / (2 * sizeof(float));
    *count = length / 2;
    tml_status status = TML_OK;
    for (uint64_t i = 0; i < length && status == TML_OK; i++) {
        if (!tml_io_next_number(&mesh->text, mesh->header->encoding, property->type, &uv[i % 2]))
            return fail_row(mesh->sink->file, face, row);
        if (i % 2 == 1)
            status = tml_mesh_push_uv(mesh->sink, uv);
    }
    return status;
}

static tml_status read_face_row(ply_mesh *mesh, const ply_element *face, uint64_t row)
{
    mesh_sink *sink = mesh->sink;
    uint64_t first_uv = 0, uv_count = 0;
    tml_status status = TML_OK;
    for (uint32_t i = 0; i < face->property_count && status == TML_OK; i++) {
        const ply_property *property = &mesh->header->properties[face->first + i];
        ply_list kind = list_kind(property);
        double skipped;
        if (kind == PLY_LIST_VERTICES)
            status = read_corners(mesh, face, property, row);
        else if (kind == PLY_LIST_UVS)
            status = read_wedges(mesh, face, property, row, &first_uv, &uv_count);
        else if (property->list_count != TML_TYPE_NONE
                     ? !skip_list(&mesh->text, mesh->header->encoding, property)
                     : !tml_io_next_number(&mesh->text, mesh->header->encoding, property->type,
                                           &skipped))
            status = fail_row(sink->file, face, row);
    }
    if (status != TML_OK)
        return status;
    mesh_corner_ref *refs = (mesh_corner_ref *)(void *)sink->face.data;
    uint64_t corners = sink->face.size / sizeof *refs;
    for (uint64_t i = 0; i < corners && uv_count == corners; i++)
        refs[i].uv = first_uv + i < MESH_NONE ? (uint32_t)(first_uv + i) : MESH_NONE;
    return tml_mesh_end_face(sink, row);
}

/* Reads a list of triangle strips, separated by -1. Every other triangle of a strip is wound the
 * other way. */
static tml_status read_strips(ply_mesh *mesh, const ply_element *strips,
                              const ply_property *property, uint64_t row)
{
    uint64_t length, run = 0;
    double number, before[2] = {0, 0};
    if (!next_length(mesh, property, &length))
        return fail_row(mesh->sink->file, strips, row);
    tml_status status = TML_OK;
    for (uint64_t i = 0; i < length && status == TML_OK; i++) {
        if (!tml_io_next_number(&mesh->text, mesh->header->encoding, property->type, &number))
            return fail_row(mesh->sink->file, strips, row);
        if (number == -1) {
            run = 0;
            continue;
        }
        /* A strip repeats vertices on purpose, where it turns. */
        if (run >= 2 && number != before[0] && number != before[1] && before[0] != before[1]) {
            status = push_list_corner(mesh, before[0], row);
            TML_THEN(status, push_list_corner(mesh, before[1], row));
            TML_THEN(status, push_list_corner(mesh, number, row));
            TML_THEN(status, tml_mesh_end_face(mesh->sink, row));
        }
        before[run % 2] = number; /* overwriting alternately keeps the winding right */
        run++;
    }
    return status;
}

static tml_status read_face_table(ply_mesh *mesh, const ply_element *face)
{
    tml_status status = TML_OK;
    mesh->sink->place_name = "face";
    for (uint64_t i = 0; i < face->count && status == TML_OK; i++)
        status = read_face_row(mesh, face, i);
    return status;
}

static tml_status read_element(ply_mesh *mesh, const ply_element *element)
{
    const ply_property *properties = mesh->header->properties + element->first;
    bool has_corners = false;
    tml_status status = check_room(mesh->sink->file, &mesh->text, mesh->header, element);
    for (uint32_t i = 0; i < element->property_count; i++)
        has_corners |= list_kind(&properties[i]) == PLY_LIST_VERTICES;
    if (status != TML_OK)
        return status;
    if (strcmp(element->name, "vertex") == 0 && !mesh->has_vertex) {
        mesh->has_vertex = true;
        return read_vertex_table(mesh, element);
    }
    if (strcmp(element->name, "face") == 0 && has_corners) {
        mesh->has_face = true;
        return read_face_table(mesh, element);
    }
    if (strcmp(element->name, "tristrips") == 0 && has_corners && element->property_count == 1) {
        mesh->has_face = true;
        mesh->sink->place_name = "strip";
        for (uint64_t row = 0; row < element->count && status == TML_OK; row++)
            status = read_strips(mesh, element, properties, row);
        return status;
    }
    double values[PLY_PROPERTIES_MAX];
    for (uint64_t row = 0; element->property_count > 0 && row < element->count; row++)
        if (!next_row(&mesh->text, mesh->header, element, values))
            return fail_row(mesh->sink->file, element, row);
    return TML_OK;
}

/* Might the file hold nothing but vertices and triangles, in rows of constant size? */
static bool is_of_triangles(const ply_header *header)
{
    const ply_element *vertex = &header->elements[0], *face = &header->elements[1];
    if (header->encoding == IO_NUMBERS_TEXT || header->element_count != 2 ||
        strcmp(vertex->name, "vertex") != 0 || strcmp(face->name, "face") != 0 ||
        face->property_count != 1)
        return false;
    for (uint32_t i = 0; i < vertex->property_count; i++)
        if (header->properties[vertex->first + i].list_count != TML_TYPE_NONE)
            return false;
    const ply_property *list = &header->properties[face->first];
    return list_kind(list) == PLY_LIST_VERTICES && tml_type_size(list->list_count) == 1 &&
           tml_type_size(list->type) == 4 && !tml_type_is_float(list->type);
}

tml_status tml_mesh_read_ply(mesh_sink *sink, const uint8_t *data, size_t size)
{
    ply_header header = {0};
    ply_mesh mesh = {.sink = sink,
                     .text = {(const char *)data, (const char *)data + size, 1},
                     .header = &header};
    tml_status status = parse_header(sink->file, &mesh.text, &header);
    for (uint32_t e = 0; e < header.element_count && status == TML_OK; e++)
        for (uint32_t i = 0; i < header.elements[e].property_count; i++)
            mesh.has_wedge_uvs |=
                strcmp(header.elements[e].name, "face") == 0 &&
                list_kind(&header.properties[header.elements[e].first + i]) == PLY_LIST_UVS;
    if (status == TML_OK && is_of_triangles(&header) && !mesh.has_wedge_uvs) {
        bool is_done = false;
        status = find_columns(&mesh, &header.elements[0]);
        if (status == TML_OK && !mesh.has_vertex_uvs)
            status = tml_ply_read_triangles(
                sink, &header, &mesh.columns,
                (io_span){mesh.text.at, (size_t)(mesh.text.end - mesh.text.at)}, &is_done);
        if (is_done || status != TML_OK)
            return status;
    }
    for (uint32_t e = 0; e < header.element_count && status == TML_OK; e++)
        status = read_element(&mesh, &header.elements[e]);
    if (status != TML_OK)
        return status;
    if (!mesh.has_vertex)
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT, "the header has no element vertex");
    if (!mesh.has_face)
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                            "the file has no faces (an element face with a list vertex_indices); "
                            "it holds points, not a mesh");
    return TML_OK;
}
