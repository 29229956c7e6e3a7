/* Points as text: XYZ, TXT, CSV, PTS. There is no standard; this reads what programs write:
 *   - one point a line; columns separated by blanks or tabs, commas, or semicolons;
 *   - empty lines, and comments that begin with # or //;
 *   - a line of column names before the points (also as a comment, "//X Y Z Intensity"); without
 *     one the columns are x, y, z and, where there is a fourth, a value;
 *   - a line with the number of points before them (PTS);
 *   - the same, a comment line, and an element's symbol before each x (chemical XYZ; of several
 *     frames the first). */
#include <math.h>

#include "io/points_internal.h"

enum { XYZ_FIELDS_MAX = 64 }; /* further columns are not looked at */

typedef struct xyz_reader {
    point_sink *sink;
    io_text text;
    char separator; /* ' ' for blanks, ',' or ';' */
    bool has_names; /* columns come from a header */
    point_columns columns;
    bool has_count;
    bool is_chemical; /* symbols before x, frames of count rows */
    uint64_t count;   /* rows that the count line promises */
    uint64_t rows;
    bool is_wanted[XYZ_FIELDS_MAX]; /* columns */
} xyz_reader;

/* ---- lines and fields ------------------------------------------------------------------------ */

static char find_separator(io_span line)
{
    if (memchr(line.text, ';', line.size))
        return ';';
    return memchr(line.text, ',', line.size) ? ',' : ' ';
}

static io_span unquoted(io_span field)
{
    field = tml_io_trim(field);
    if (field.size >= 2 && field.text[0] == '"' && field.text[field.size - 1] == '"')
        return tml_io_trim((io_span){field.text + 1, field.size - 2});
    return field;
}

/* Cuts a line into fields; returns how many there are. */
static uint32_t split(io_span line, char separator, io_span fields[XYZ_FIELDS_MAX])
{
    uint32_t count = 0;
    io_text text = io_text_of(line);
    if (separator == ' ') {
        while (count < XYZ_FIELDS_MAX && tml_io_word(&text, &fields[count]))
            count++;
        return count;
    }
    while (count < XYZ_FIELDS_MAX) {
        const char *end = memchr(text.at, separator, (size_t)(text.end - text.at));
        size_t size = (size_t)((end ? end : text.end) - text.at);
        fields[count++] = unquoted((io_span){text.at, size});
        if (!end)
            break;
        text.at = end + 1;
    }
    return count;
}

/* An empty field of a table is a missing number. */
static bool parse_field(io_span field, double *out)
{
    if (field.size > 0)
        return tml_io_parse_f64(field, out);
    *out = NAN;
    return true;
}

static bool is_number(io_span field)
{
    double value;
    return field.size > 0 && tml_io_parse_f64(field, &value);
}

/* The text of a comment line, or an empty span. */
static io_span comment_of(io_span line)
{
    if (tml_io_starts_with(line, "//"))
        return (io_span){line.text + 2, line.size - 2};
    if (tml_io_starts_with(line, "#"))
        return (io_span){line.text + 1, line.size - 1};
    return (io_span){line.text, 0};
}

static bool is_comment(io_span line)
{
    return tml_io_starts_with(line, "#") || tml_io_starts_with(line, "//");
}

/* ---- what comes before the points ------------------------------------------------------------ */

static void take_names(xyz_reader *reader, const io_span *fields, uint32_t count)
{
    reader->has_names = true;
    reader->columns = POINT_COLUMNS_NONE;
    for (uint32_t i = 0; i < count; i++) {
        char name[32];
        tml_io_copy(name, sizeof name, fields[i]);
        tml_points_column(reader->sink, &reader->columns, (int32_t)i, name, TML_TYPE_NONE);
    }
}

/* A comment is a header when it begins with x, y and z; other words may be prose. */
static void look_for_names(xyz_reader *reader, io_span comment)
{
    io_span fields[XYZ_FIELDS_MAX];
    uint32_t count = split(comment, find_separator(comment), fields);
    if (count >= 3 && tml_io_is_any_case(fields[0], "x") && tml_io_is_any_case(fields[1], "y") &&
        tml_io_is_any_case(fields[2], "z"))
        take_names(reader, fields, count);
}

/* The next line that holds something, trimmed; comments may hold names. */
static bool next_content(xyz_reader *reader, io_span *line)
{
    while (tml_io_line(&reader->text, line)) {
        *line = tml_io_trim(*line);
        if (is_comment(*line)) {
            if (reader->rows == 0 && !reader->has_names)
                look_for_names(reader, comment_of(*line));
        } else if (line->size > 0) {
            return true;
        }
    }
    return false;
}

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* A chemical row: an element's symbol, then three numbers. */
static bool is_atom(io_span line)
{
    io_span fields[XYZ_FIELDS_MAX];
    uint32_t count = split(line, find_separator(line), fields);
    return count >= 4 && is_letter(fields[0].text[0]) && is_number(fields[1]) &&
           is_number(fields[2]) && is_number(fields[3]);
}

/* After the count line: a comment line and atoms, or points at once. */
static void look_for_atoms(xyz_reader *reader)
{
    io_text ahead = reader->text;
    io_span comment, row;
    if (!tml_io_line(&ahead, &comment))
        return;
    io_text rows = ahead;
    reader->is_chemical = tml_io_line(&ahead, &row) && is_atom(tml_io_trim(row));
    if (reader->is_chemical) {
        reader->columns = (point_columns){{1, 2, 3}, -1, -1};
        reader->text = rows;
    }
}

/* Does a line of fields name columns? Its first that is not empty is then a word. */
static bool are_names(const io_span *fields, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (fields[i].size > 0)
            return is_letter(fields[i].text[0]) && !is_number(fields[i]);
    return false;
}

/* Reads the lines before the first point; *line is then the first point's line. */
static tml_status read_head(xyz_reader *reader, io_span *line)
{
    if (!next_content(reader, line))
        return tml_io_error(reader->sink->file, TML_ERROR_FILE_FORMAT, "there are no points in it");
    if (tml_io_parse_u64(*line, &reader->count)) {
        reader->has_count = true;
        look_for_atoms(reader);
        if (!next_content(reader, line)) {
            *line = (io_span){line->text, 0};
            return TML_OK; /* the count is checked at the end */
        }
    }
    reader->separator = find_separator(*line);
    io_span fields[XYZ_FIELDS_MAX];
    uint32_t count = split(*line, reader->separator, fields);
    if (!reader->is_chemical && !reader->has_names && are_names(fields, count)) {
        take_names(reader, fields, count);
        if (!next_content(reader, line))
            *line = (io_span){line->text, 0};
        return TML_OK;
    }
    uint32_t fourth = (uint32_t)reader->columns.position[2] + 1;
    if (!reader->has_names && fourth < count && is_number(fields[fourth])) {
        reader->columns.value = (int32_t)fourth;
        snprintf(reader->sink->value_name, sizeof reader->sink->value_name, "column %u",
                 fourth + 1);
        tml_points_list(reader->sink, reader->sink->value_name, 1, (int32_t)fourth, TML_TYPE_NONE);
    }
    return TML_OK;
}

/* ---- the points ------------------------------------------------------------------------------ */

/* Marks the columns that are looked at. */
static void find_wanted(xyz_reader *reader)
{
    const point_columns *columns = &reader->columns;
    const int32_t wanted[] = {columns->position[0], columns->position[1], columns->position[2],
                              columns->radius, columns->value};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (wanted[i] >= 0)
            reader->is_wanted[wanted[i]] = true;
    for (uint32_t i = 0; i < reader->sink->attribute_count; i++) {
        const point_attribute *a = &reader->sink->attributes[i];
        for (uint32_t c = 0; c < a->components && a->place >= 0; c++)
            reader->is_wanted[a->columns[c]] = true;
    }
}

static tml_status read_row(xyz_reader *reader, io_span line)
{
    io_span fields[XYZ_FIELDS_MAX];
    double values[XYZ_FIELDS_MAX];
    uint32_t count = split(line, reader->separator, fields);
    for (uint32_t column = 0; column < XYZ_FIELDS_MAX; column++) {
        if (!reader->is_wanted[column])
            continue;
        if (column >= count)
            return tml_io_error(reader->sink->file, TML_ERROR_FILE_FORMAT,
                                "line %llu has %u columns, needs at least %u",
                                (unsigned long long)reader->text.line - 1, count, column + 1);
        if (!parse_field(fields[column], &values[column]))
            return tml_io_error(reader->sink->file, TML_ERROR_FILE_FORMAT,
                                "line %llu, column %u is \"%.*s\", which is no number",
                                (unsigned long long)reader->text.line - 1, column + 1,
                                (int)(fields[column].size < 40 ? fields[column].size : 40),
                                fields[column].text);
    }
    reader->rows++;
    return tml_points_push_row(reader->sink, &reader->columns, values);
}

tml_status tml_points_read_xyz(point_sink *sink, const uint8_t *data, size_t size)
{
    xyz_reader reader = {
        .sink = sink,
        .text = {(const char *)data, (const char *)data + size, 1},
        .columns = {{0, 1, 2}, -1, -1},
    };
    if (size >= 3 &&
        memcmp(data, "\xef\xbb\xbf", 3) == 0) /* the byte order mark of Windows editors */
        reader.text.at += 3;
    io_span line;
    tml_status status = read_head(&reader, &line);
    if (status == TML_OK)
        status = tml_points_columns_done(sink, &reader.columns);
    if (status != TML_OK)
        return status;
    find_wanted(&reader);
    sink->expected = reader.has_count ? reader.count : size / (line.size + 1);

    bool has_row = line.size > 0;
    while (has_row && status == TML_OK) {
        status = read_row(&reader, line);
        if (reader.is_chemical && reader.rows == reader.count)
            break; /* another frame may follow */
        has_row = next_content(&reader, &line);
    }
    if (status == TML_OK && reader.has_count && reader.rows != reader.count)
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                            "the count line says %llu points, the file has %llu",
                            (unsigned long long)reader.count, (unsigned long long)reader.rows);
    return status;
}
