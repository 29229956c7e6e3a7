/* Reads points from text: XYZ, TXT, CSV, PTS. There is no standard; this reads what programs write:
 *   - one point per line, which ends in LF, CR LF or CR; columns separated by blanks or tabs,
 *     commas, or semicolons;
 *   - decimal commas, if columns are separated by something else;
 *   - empty lines, and comments that begin with # or //;
 *   - a line of column names before the points (also as a comment, "//X Y Z Intensity"); without
 *     one the columns are x, y, z and, if there is a fourth, a value;
 *   - other lines before the points, which are left out with a warning;
 *   - a line with the number of points before them (PTS), also between scans;
 *   - the same, a comment line, and an element's symbol before each x (chemical XYZ; only the first
 *     frame).
 * Rows that are not points are left out with a warning; as many of them as points are an error. If
 * the last line has no end and too few columns, the file was cut short: an error. */
#include <math.h>

#include "io/points/points_internal.h"

enum { XYZ_FIELDS_MAX = 64 }; /* further columns are ignored */

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
    uint64_t bad_rows, heads; /* lines left out among the points, and before the points */
    uint64_t first_bad, first_head;
    uint32_t table_head; /* fields of a line before the points that may be column names */
    char bad[160];       /* what is wrong with the first bad row */
    bool is_last;        /* the current line has no end: it is the file's last */
    bool is_wanted[XYZ_FIELDS_MAX]; /* columns that are read */
    bool is_needed[XYZ_FIELDS_MAX]; /* columns without which a row is not a point */
    uint64_t missing;               /* numbers missing in other columns */
} xyz_reader;

/* ---- lines and fields ------------------------------------------------------------------------ */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Is a word a number with a decimal comma, such as "1,5": one comma, with digits on both sides? */
static bool is_comma_number(io_span word)
{
    const char *comma = memchr(word.text, ',', word.size);
    const size_t at = comma ? (size_t)(comma - word.text) : 0;
    return comma && at > 0 && at + 1 < word.size && is_digit(comma[-1]) && is_digit(comma[1]) &&
           !memchr(comma + 1, ',', word.size - at - 1);
}

/* Does a line have three or more words, some with a decimal comma and none with other commas? */
static bool has_comma_numbers(io_span line)
{
    io_text words = io_text_of(line);
    io_span word;
    uint32_t count = 0, with_comma = 0;
    for (; tml_io_word(&words, &word); count++) {
        with_comma += is_comma_number(word);
        if (memchr(word.text, ',', word.size) && !is_comma_number(word))
            return false;
    }
    return count >= 3 && with_comma > 0;
}

static char find_separator(io_span line)
{
    if (memchr(line.text, ';', line.size))
        return ';';
    return memchr(line.text, ',', line.size) && !has_comma_numbers(line) ? ',' : ' ';
}

static io_span unquoted(io_span field)
{
    field = tml_io_trim(field);
    if (field.size >= 2 && field.text[0] == '"' && field.text[field.size - 1] == '"')
        return tml_io_trim((io_span){field.text + 1, field.size - 2});
    return field;
}

/* Splits a line into fields. Returns their number. */
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

/* Parses a number, which may have a decimal comma. */
static bool parse_number(io_span field, double *out)
{
    char copy[64];
    if (tml_io_parse_f64(field, out))
        return true;
    if (field.size >= sizeof copy || !is_comma_number(field))
        return false;
    tml_io_copy(copy, sizeof copy, field);
    *(char *)memchr(copy, ',', field.size) = '.'; /* also behind a zero byte */
    return tml_io_parse_f64((io_span){copy, field.size}, out);
}

/* Parses a field. An empty one is a missing number: NaN. */
static bool parse_field(io_span field, double *out)
{
    if (field.size > 0)
        return parse_number(field, out);
    *out = NAN;
    return true;
}

static bool is_number(io_span field)
{
    double value;
    return field.size > 0 && parse_number(field, &value);
}

/* Returns the text of a comment line, or an empty span. */
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

/* Copies a column's name without a unit: "X (m)", "x [mm]". ParaView's "Points:0" becomes x. */
static void name_column(io_span field, char name[32])
{
    static const char *const stems[] = {"Points:", "Points_"};
    const char *bracket = field.size ? memchr(field.text, '(', field.size) : NULL;
    bracket = bracket || !field.size ? bracket : memchr(field.text, '[', field.size);
    if (bracket && bracket > field.text)
        field = tml_io_trim((io_span){field.text, (size_t)(bracket - field.text)});
    tml_io_copy(name, 32, field);
    for (size_t i = 0; i < sizeof stems / sizeof stems[0]; i++)
        if (field.size == 8 && tml_io_starts_with(field, stems[i]) && name[7] >= '0' &&
            name[7] <= '2')
            snprintf(name, 32, "%c", "xyz"[name[7] - '0']);
}

static void take_names(xyz_reader *reader, const io_span *fields, uint32_t count)
{
    reader->has_names = true;
    reader->columns = POINT_COLUMNS_NONE;
    for (uint32_t i = 0; i < count; i++) {
        char name[32];
        name_column(fields[i], name);
        tml_points_column(reader->sink, &reader->columns, (int32_t)i, name, TML_TYPE_NONE);
    }
}

/* Takes names from a comment that begins with x, y and z. Other comments may be prose. */
static void look_for_names(xyz_reader *reader, io_span comment)
{
    io_span fields[XYZ_FIELDS_MAX];
    uint32_t count = split(comment, find_separator(comment), fields);
    if (count >= 3 && tml_io_is_any_case(fields[0], "x") && tml_io_is_any_case(fields[1], "y") &&
        tml_io_is_any_case(fields[2], "z"))
        take_names(reader, fields, count);
}

/* Finds the next line with contents, trimmed. Comments may hold column names. */
static bool next_content(xyz_reader *reader, io_span *line)
{
    while (tml_io_any_line(&reader->text, line)) {
        reader->is_last = line->text + line->size == reader->text.end;
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

/* Is it a chemical row: an element's symbol, then three numbers? */
static bool is_atom(io_span line)
{
    io_span fields[XYZ_FIELDS_MAX];
    uint32_t count = split(line, find_separator(line), fields);
    return count >= 4 && is_letter(fields[0].text[0]) && is_number(fields[1]) &&
           is_number(fields[2]) && is_number(fields[3]);
}

/* Decides what follows the count line: a comment line and atoms, or points. */
static void look_for_atoms(xyz_reader *reader)
{
    io_text ahead = reader->text;
    io_span comment, row;
    if (!tml_io_any_line(&ahead, &comment))
        return;
    io_text rows = ahead;
    reader->is_chemical = tml_io_any_line(&ahead, &row) && is_atom(tml_io_trim(row));
    if (reader->is_chemical) {
        reader->columns = (point_columns){{1, 2, 3}, -1, -1};
        reader->text = rows;
    }
}

/* Do the fields of a line include the names x, y and z? */
static bool are_names(const io_span *fields, uint32_t count)
{
    bool has[3] = {false, false, false};
    for (uint32_t i = 0; i < count; i++) {
        char name[32];
        name_column(fields[i], name);
        for (int axis = 0; axis < 3; axis++)
            has[axis] |= (name[0] | 32) == "xyz"[axis] && !name[1];
    }
    return has[0] && has[1] && has[2];
}

/* Splits a line by the separator that the line itself suggests. */
static uint32_t look_at(xyz_reader *reader, io_span line, io_span fields[XYZ_FIELDS_MAX])
{
    reader->separator = find_separator(line);
    return split(line, reader->separator, fields);
}

/* Does a line have three numbers where the positions are? */
static bool is_row(const xyz_reader *reader, const io_span *fields, uint32_t count)
{
    double value;
    for (int axis = 0; axis < 3; axis++) {
        const uint32_t column = (uint32_t)reader->columns.position[axis];
        if (column >= count || !parse_field(fields[column], &value))
            return false;
    }
    return true;
}

/* Does a line begin with a word, like names or prose? A damaged row does not. */
static bool begins_with_word(const io_span *fields, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (fields[i].size > 0)
            return !is_number(fields[i]) && !is_digit(fields[i].text[0]) &&
                   !strchr("+-.", fields[i].text[0]);
    return false;
}

/* Reads the lines before the first point. *line becomes the first point's line, or empty if there
 * are no points. */
static tml_status read_head(xyz_reader *reader, io_span *line)
{
    io_span fields[XYZ_FIELDS_MAX];
    uint32_t count = 0;
    bool has_line = next_content(reader, line);
    if (!has_line)
        return tml_io_error(reader->sink->file, TML_ERROR_FILE_FORMAT, "there are no points in it");
    if (tml_io_parse_u64(*line, &reader->count)) {
        reader->has_count = true;
        look_for_atoms(reader);
        has_line = next_content(reader, line);
    }
    for (; has_line && !reader->is_chemical; has_line = next_content(reader, line)) {
        count = look_at(reader, *line, fields);
        if (is_row(reader, fields, count) || !begins_with_word(fields, count))
            break;
        if (!reader->has_names && are_names(fields, count))
            take_names(reader, fields, count);
        else if (reader->heads++ == 0)
            reader->first_head = reader->text.line - !reader->is_last;
        if (!reader->has_names &&
            (reader->separator != ' ' || memchr(line->text, '\t', line->size)))
            reader->table_head = count;
    }
    if (!has_line) {
        *line = (io_span){line->text, 0}; /* the end checks the count */
        return reader->heads > 0 ? tml_io_error(reader->sink->file, TML_ERROR_FILE_FORMAT,
                                                "the points have no \"x\"; needs x, y and z")
                                 : TML_OK;
    }
    count = look_at(reader, *line, fields);
    if (!reader->has_names && reader->table_head >= 3 && reader->table_head == count)
        return tml_io_error(
            reader->sink->file, TML_ERROR_FILE_FORMAT,
            "the points have no \"x\"; needs x, y and z: rename three of the columns "
            "of line %llu, or begin it with #",
            (unsigned long long)reader->first_head);
    uint32_t fourth = (uint32_t)reader->columns.position[2] + 1;
    for (uint32_t i = fourth; i < count && !reader->has_names && is_number(fields[i]); i++) {
        char name[32];
        snprintf(name, sizeof name, "column %u", i + 1);
        tml_points_list(reader->sink, name, 1, (int32_t)i, TML_TYPE_NONE);
        if (i > fourth)
            continue;
        reader->columns.value = (int32_t)i;
        snprintf(reader->sink->value_name, sizeof reader->sink->value_name, "%s", name);
    }
    return TML_OK;
}

/* ---- the points ------------------------------------------------------------------------------ */

/* Marks the columns that are read. */
static void find_wanted(xyz_reader *reader)
{
    const point_columns *columns = &reader->columns;
    const int32_t wanted[] = {columns->position[0], columns->position[1], columns->position[2],
                              columns->radius, columns->value};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (wanted[i] >= 0)
            reader->is_needed[wanted[i]] = reader->is_wanted[wanted[i]] = true;
    for (uint32_t i = 0; i < reader->sink->attribute_count; i++) {
        const point_attribute *a = &reader->sink->attributes[i];
        for (uint32_t c = 0; c < a->components && a->place >= 0; c++)
            reader->is_wanted[a->columns[c]] = true;
    }
}

/* Parses a row. wrong: which number is missing or not a number; "": none. */
static void parse_row(xyz_reader *reader, io_span line, double values[XYZ_FIELDS_MAX],
                      char wrong[160])
{
    io_span fields[XYZ_FIELDS_MAX];
    uint32_t count = split(line, reader->separator, fields);
    wrong[0] = '\0';
    for (uint32_t column = 0; column < XYZ_FIELDS_MAX && !wrong[0]; column++) {
        if (!reader->is_wanted[column])
            continue;
        const bool is_there = column < count;
        if (is_there && parse_field(fields[column], &values[column]))
            continue;
        values[column] = NAN;
        if (!reader->is_needed[column])
            reader->missing++;
        else if (!is_there)
            snprintf(wrong, 160, " has %u columns, needs at least %u", count, column + 1);
        else
            snprintf(wrong, 160, ", column %u is \"%.*s\", which is no number", column + 1,
                     (int)(fields[column].size < 40 ? fields[column].size : 40),
                     fields[column].text);
    }
}

static tml_status read_row(xyz_reader *reader, io_span line)
{
    double values[XYZ_FIELDS_MAX];
    char wrong[160];
    uint64_t more;
    const uint64_t number = reader->text.line - !reader->is_last;
    if (reader->has_count && !reader->is_chemical &&
        reader->rows + reader->bad_rows == reader->count && tml_io_parse_u64(line, &more) &&
        !__builtin_add_overflow(reader->count, more, &reader->count))
        return TML_OK; /* the next scan's count */
    parse_row(reader, line, values, wrong);
    if (!wrong[0]) {
        reader->rows++;
        return tml_points_push_row(reader->sink, &reader->columns, values);
    }
    if (reader->is_last)
        return tml_io_error(reader->sink->file, TML_ERROR_FILE_FORMAT,
                            "line %llu%s; it is the last one, has no end, and was cut short",
                            (unsigned long long)number, wrong);
    if (reader->bad_rows++ == 0) {
        reader->first_bad = number;
        memcpy(reader->bad, wrong, sizeof wrong);
    }
    return TML_OK;
}

/* Warns of lines that are left out; too many are an error. */
static tml_status tell_of_lines(const xyz_reader *reader)
{
    const io_file *file = reader->sink->file;
    tml_status status = TML_OK;
    if (reader->bad_rows > 0 && reader->bad_rows >= reader->rows)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT, "line %llu%s",
                            (unsigned long long)reader->first_bad, reader->bad);
    if (reader->heads > 0)
        status = tml_io_warn(
            file, "%llu %s left out before the points (line %llu names no x, y and z)",
            (unsigned long long)reader->heads, reader->heads == 1 ? "line is" : "lines are",
            (unsigned long long)reader->first_head);
    if (status == TML_OK && reader->missing > 0)
        status = tml_io_warn(file, "%llu %s of attributes missing or no number, and NaN",
                             (unsigned long long)reader->missing,
                             reader->missing == 1 ? "number" : "numbers");
    if (status == TML_OK && reader->bad_rows > 0)
        status = tml_io_warn(file, "%llu %s left out (line %llu%s)",
                             (unsigned long long)reader->bad_rows,
                             reader->bad_rows == 1 ? "row is" : "rows are",
                             (unsigned long long)reader->first_bad, reader->bad);
    return status;
}

tml_status tml_points_read_xyz(point_sink *sink, const uint8_t *data, size_t size)
{
    while (size > 0 && (data[size - 1] == 0x1a || data[size - 1] == 0)) /* end of a file on DOS */
        size--;
    xyz_reader reader = {
        .sink = sink,
        .text = {(const char *)data, (const char *)data + size, 1},
        .columns = {{0, 1, 2}, -1, -1},
    };
    if (size >= 3 &&
        memcmp(data, "\xef\xbb\xbf", 3) == 0) /* byte order mark of Windows editors */
        reader.text.at += 3;
    io_span line;
    tml_status status = read_head(&reader, &line);
    TML_THEN(status, tml_points_columns_done(sink, &reader.columns));
    if (status != TML_OK)
        return status;
    find_wanted(&reader);
    sink->expected = reader.has_count ? reader.count : size / (line.size + 1);

    bool has_row = line.size > 0;
    while (has_row && status == TML_OK) {
        status = read_row(&reader, line);
        if (reader.is_chemical && reader.rows == reader.count)
            break; /* further frames are not read */
        has_row = next_content(&reader, &line);
    }
    TML_THEN(status, tell_of_lines(&reader));
    const uint64_t rows = reader.rows + reader.bad_rows;
    if (status == TML_OK && reader.has_count && rows != reader.count)
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                            "the count line says %llu points, the file has %llu",
                            (unsigned long long)reader.count, (unsigned long long)rows);
    return status;
}
