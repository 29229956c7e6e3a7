/* Legacy VTK files with points (Kitware: VTK File Formats, vtk.org): POLYDATA, UNSTRUCTURED_GRID
 * and STRUCTURED_GRID, as text or big-endian binary, versions 1 to 5. Cells and everything else are
 * stepped over; of the point data, arrays of one component named radius or pscale give the radii
 * and the first other one the values. */
#include "io/points_internal.h"

/* An array's values: where they lie in the file. */
typedef struct vtk_array {
    io_text text;
    tml_type type;
} vtk_array;

typedef struct vtk_reader {
    point_sink *sink;
    io_text text;
    points_encoding encoding;
    bool has_points;
    uint64_t count;      /* points */
    uint64_t data_count; /* rows of the arrays that follow: points or cells */
    bool in_point_data;
    point_columns columns; /* 0, 1, 2: positions; from 3 on the arrays seen, in order */
    int32_t column_count;
    vtk_array positions, radii, values;
} vtk_reader;

static tml_status fail(const vtk_reader *reader, const char *what)
{
    return tml_io_error(reader->sink->file, TML_ERROR_FILE_FORMAT, "%s", what);
}

/* ---- lines and arrays ------------------------------------------------------------------------ */

/* The next line that is not empty, after any METADATA, which ends at an empty line. */
static bool next_line(vtk_reader *reader, io_text *words, io_span *keyword)
{
    io_span line;
    bool in_metadata = false;
    while (tml_io_line(&reader->text, &line)) {
        *words = io_text_of(line);
        if (!tml_io_word(words, keyword))
            in_metadata = false;
        else if (tml_io_is_any_case(*keyword, "METADATA"))
            in_metadata = true;
        else if (!in_metadata)
            return true;
    }
    return false;
}

/* Reads the next line only if it begins with that word. */
static bool take_line(vtk_reader *reader, const char *wanted, io_text *words)
{
    vtk_reader ahead = *reader;
    io_span keyword;
    if (!next_line(&ahead, words, &keyword) || !tml_io_is_any_case(keyword, wanted))
        return false;
    reader->text = ahead.text;
    return true;
}

static bool next_u64(io_text *words, uint64_t *out)
{
    io_span word;
    return tml_io_word(words, &word) && tml_io_parse_u64(word, out);
}

/* A name of one of VTK's types; *is_bit for the one that is less than a byte. */
static bool next_type(io_text *words, tml_type *type, bool *is_bit)
{
    static const struct {
        const char *name;
        tml_type type;
    } types[] = {
        {"bit", TML_U8},
        {"char", TML_I8},
        {"unsigned_char", TML_U8},
        {"short", TML_I16},
        {"unsigned_short", TML_U16},
        {"int", TML_I32},
        {"unsigned_int", TML_U32},
        {"long", TML_I64},
        {"unsigned_long", TML_U64},
        {"float", TML_F32},
        {"double", TML_F64},
        {"vtkIdType", TML_I32},
        {"vtktypeint64", TML_I64},
        {"vtktypeuint64", TML_U64},
    };
    io_span word;
    if (!tml_io_word(words, &word))
        return false;
    *is_bit = tml_io_is_any_case(word, "bit");
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (tml_io_is_any_case(word, types[i].name)) {
            *type = types[i].type;
            return true;
        }
    }
    return false;
}

/* Steps over an array of rows x columns values and tells where it is. out may be NULL. */
static bool take_array(vtk_reader *reader, tml_type type, bool is_bit, uint64_t rows,
                       uint64_t columns, vtk_array *out)
{
    uint64_t count, size;
    io_text start = reader->text;
    if (__builtin_mul_overflow(rows, columns, &count))
        return false;
    if (reader->encoding == POINTS_TEXT) {
        io_span word;
        for (uint64_t i = 0; i < count; i++)
            if (!tml_io_word(&reader->text, &word))
                return false;
    } else {
        if (is_bit)
            size = count / 8 + (count % 8 != 0);
        else if (__builtin_mul_overflow(count, tml_type_size(type), &size))
            return false;
        if (size > (uint64_t)(start.end - start.at))
            return false;
        reader->text.at += size;
    }
    if (out)
        *out = (vtk_array){start, type};
    return true;
}

/* An array of the attributes: kept when it is a scalar for each point, and wanted. */
static bool take_attribute(vtk_reader *reader, io_span name, tml_type type, bool is_bit,
                           uint64_t rows, uint64_t columns)
{
    vtk_array array;
    if (!take_array(reader, type, is_bit, rows, columns, &array))
        return false;
    if (!reader->in_point_data || columns != 1 || rows != reader->count || is_bit)
        return true;
    char text[32];
    tml_io_copy(text, sizeof text, name);
    int32_t column = reader->column_count++;
    tml_points_column(reader->sink, &reader->columns, column, text);
    if (reader->columns.radius == column)
        reader->radii = array;
    if (reader->columns.value == column)
        reader->values = array;
    return true;
}

/* ---- sections -------------------------------------------------------------------------------- */

static bool read_points(vtk_reader *reader, io_text *words)
{
    tml_type type;
    bool is_bit;
    if (reader->has_points || !next_u64(words, &reader->count) ||
        !next_type(words, &type, &is_bit) || is_bit)
        return false;
    reader->has_points = true;
    return take_array(reader, type, false, reader->count, 3, &reader->positions);
}

/* Cells of any kind: one array of ints, or from version 5.1 on offsets and connectivity. */
static bool read_cells(vtk_reader *reader, io_text *words)
{
    uint64_t first, second;
    tml_type type;
    bool is_bit;
    if (!next_u64(words, &first) || !next_u64(words, &second))
        return false;
    if (!take_line(reader, "OFFSETS", words))
        return take_array(reader, TML_I32, false, second, 1, NULL);
    return next_type(words, &type, &is_bit) && take_array(reader, type, is_bit, first, 1, NULL) &&
           take_line(reader, "CONNECTIVITY", words) && next_type(words, &type, &is_bit) &&
           take_array(reader, type, is_bit, second, 1, NULL);
}

static bool read_cell_types(vtk_reader *reader, io_text *words)
{
    uint64_t count;
    return next_u64(words, &count) && take_array(reader, TML_I32, false, count, 1, NULL);
}

static bool read_data(vtk_reader *reader, io_text *words, bool in_point_data)
{
    reader->in_point_data = in_point_data;
    return next_u64(words, &reader->data_count);
}

static bool read_field(vtk_reader *reader, io_text *words)
{
    io_span name;
    uint64_t arrays;
    if (!tml_io_word(words, &name) || !next_u64(words, &arrays))
        return false;
    for (uint64_t i = 0; i < arrays; i++) {
        uint64_t columns, rows;
        tml_type type;
        bool is_bit;
        io_text line;
        if (!next_line(reader, &line, &name) || !next_u64(&line, &columns) ||
            !next_u64(&line, &rows) || !next_type(&line, &type, &is_bit) ||
            !take_attribute(reader, name, type, is_bit, rows, columns))
            return false;
    }
    return true;
}

static bool read_scalars(vtk_reader *reader, io_text *words)
{
    io_span name, word;
    tml_type type;
    bool is_bit;
    uint64_t columns = 1;
    if (!tml_io_word(words, &name) || !next_type(words, &type, &is_bit))
        return false;
    if (tml_io_word(words, &word) && !tml_io_parse_u64(word, &columns))
        return false;
    (void)take_line(reader, "LOOKUP_TABLE", words);
    return take_attribute(reader, name, type, is_bit, reader->data_count, columns);
}

/* VECTORS, NORMALS and the like: a fixed number of columns. */
static bool read_tuples(vtk_reader *reader, io_text *words, uint64_t columns)
{
    io_span name;
    tml_type type;
    bool is_bit;
    return tml_io_word(words, &name) && next_type(words, &type, &is_bit) &&
           take_attribute(reader, name, type, is_bit, reader->data_count, columns);
}

static bool read_texture_coordinates(vtk_reader *reader, io_text *words)
{
    io_span name;
    uint64_t columns;
    tml_type type;
    bool is_bit;
    return tml_io_word(words, &name) && next_u64(words, &columns) &&
           next_type(words, &type, &is_bit) &&
           take_array(reader, type, is_bit, reader->data_count, columns, NULL);
}

/* Colours are bytes in binary files and fractions in text. */
static bool read_colours(vtk_reader *reader, io_text *words, bool is_table)
{
    io_span name;
    uint64_t number;
    if (!tml_io_word(words, &name) || !next_u64(words, &number))
        return false;
    return take_array(reader, TML_U8, false, is_table ? number : reader->data_count,
                      is_table ? 4 : number, NULL);
}

/* The section that a line begins; false when it is unknown or damaged. */
static bool read_section(vtk_reader *reader, io_span keyword, io_text *words)
{
    static const char *const cells[] = {"VERTICES", "LINES", "POLYGONS", "TRIANGLE_STRIPS",
                                        "CELLS"};
    static const struct {
        const char *name;
        uint64_t columns;
    } tuples[] = {{"VECTORS", 3},    {"NORMALS", 3},      {"TENSORS", 9},   {"TENSORS6", 6},
                  {"GLOBAL_IDS", 1}, {"PEDIGREE_IDS", 1}, {"EDGE_FLAGS", 1}};
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++)
        if (tml_io_is_any_case(keyword, cells[i]))
            return read_cells(reader, words);
    for (size_t i = 0; i < sizeof tuples / sizeof tuples[0]; i++)
        if (tml_io_is_any_case(keyword, tuples[i].name))
            return read_tuples(reader, words, tuples[i].columns);
    if (tml_io_is_any_case(keyword, "POINTS"))
        return read_points(reader, words);
    if (tml_io_is_any_case(keyword, "CELL_TYPES"))
        return read_cell_types(reader, words);
    if (tml_io_is_any_case(keyword, "POINT_DATA"))
        return read_data(reader, words, true);
    if (tml_io_is_any_case(keyword, "CELL_DATA"))
        return read_data(reader, words, false);
    if (tml_io_is_any_case(keyword, "FIELD"))
        return read_field(reader, words);
    if (tml_io_is_any_case(keyword, "SCALARS"))
        return read_scalars(reader, words);
    if (tml_io_is_any_case(keyword, "TEXTURE_COORDINATES"))
        return read_texture_coordinates(reader, words);
    if (tml_io_is_any_case(keyword, "COLOR_SCALARS"))
        return read_colours(reader, words, false);
    if (tml_io_is_any_case(keyword, "LOOKUP_TABLE"))
        return read_colours(reader, words, true);
    return tml_io_is_any_case(keyword, "DIMENSIONS");
}

/* The four lines that every file begins with: version, title, ASCII or BINARY, DATASET. */
static tml_status read_head(vtk_reader *reader)
{
    io_span line, keyword, dataset = {0};
    io_text words;
    if (!tml_io_line(&reader->text, &line) || !tml_io_line(&reader->text, &line) ||
        !next_line(reader, &words, &keyword))
        return fail(reader, "the file ends in its first three lines");
    if (tml_io_is_any_case(keyword, "BINARY"))
        reader->encoding = POINTS_BIG_ENDIAN;
    else if (!tml_io_is_any_case(keyword, "ASCII"))
        return fail(reader, "the third line is neither ASCII nor BINARY");
    if (!take_line(reader, "DATASET", &words) || !tml_io_word(&words, &dataset))
        return fail(reader, "there is no DATASET line");
    if (tml_io_is_any_case(dataset, "STRUCTURED_POINTS") ||
        tml_io_is_any_case(dataset, "RECTILINEAR_GRID"))
        return tml_io_error(reader->sink->file, TML_ERROR_UNSUPPORTED,
                            "DATASET is %.*s, a volume, needs POLYDATA, UNSTRUCTURED_GRID or "
                            "STRUCTURED_GRID; save volumes as NRRD or MetaImage",
                            (int)dataset.size, dataset.text);
    return TML_OK;
}

static bool next_number(const vtk_reader *reader, vtk_array *array, double *out)
{
    return tml_points_next(&array->text, reader->encoding, array->type, out);
}

static tml_status push_points(vtk_reader *reader)
{
    tml_status status = tml_points_columns_done(reader->sink, &reader->columns);
    reader->sink->expected = reader->count;
    for (uint64_t i = 0; i < reader->count && status == TML_OK; i++) {
        double position[3], radius = 0.0, value = 0.0;
        if (!next_number(reader, &reader->positions, &position[0]) ||
            !next_number(reader, &reader->positions, &position[1]) ||
            !next_number(reader, &reader->positions, &position[2]) ||
            (reader->sink->has_radii && !next_number(reader, &reader->radii, &radius)) ||
            (reader->sink->has_values && !next_number(reader, &reader->values, &value)))
            return tml_io_error(reader->sink->file, TML_ERROR_FILE_FORMAT,
                                "point %llu of %llu holds what is no number", (unsigned long long)i,
                                (unsigned long long)reader->count);
        status = tml_points_push(reader->sink, position, radius, value);
    }
    return status;
}

tml_status tml_points_read_vtk(point_sink *sink, const uint8_t *data, size_t size)
{
    vtk_reader reader = {
        .sink = sink,
        .text = {(const char *)data, (const char *)data + size, 1},
        .columns = {{0, 1, 2}, -1, -1},
        .column_count = 3,
    };
    tml_status status = read_head(&reader);
    if (status != TML_OK)
        return status;
    io_text words;
    io_span keyword;
    while (next_line(&reader, &words, &keyword))
        if (!read_section(&reader, keyword, &words))
            return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                                "the section %.*s is unknown or damaged, or the file ends in it",
                                (int)(keyword.size < 40 ? keyword.size : 40), keyword.text);
    return reader.has_points ? push_points(&reader) : fail(&reader, "there is no POINTS section");
}
