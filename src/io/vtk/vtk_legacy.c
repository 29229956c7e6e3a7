/* Reads the structure of legacy VTK files. */
#include "io/vtk/vtk_legacy.h"

static tml_status vtk_legacy_fail(const vtk_legacy *vtk, const char *what)
{
    return tml_io_error(vtk->file, TML_ERROR_FILE_FORMAT, "%s", what);
}

/* ---- lines and arrays ------------------------------------------------------------------------ */

/* Copies the next bytes, up to size, without consuming them. Returns how many; 0 at the end, or if
 * they cannot be read. */
static size_t look(const vtk_legacy *vtk, char *out, size_t size)
{
    uint64_t left = vtk->offset < vtk->file->size ? vtk->file->size - vtk->offset : 0;
    size = left < size ? (size_t)left : size;
    return size && tml_io_read_quietly(vtk->file, vtk->offset, out, size) == 0 ? size : 0;
}

/* Reads the next line. *line is just its start if it is longer than any keyword needs. */
static bool any_line(vtk_legacy *vtk, io_span *line)
{
    size_t size = look(vtk, vtk->line, sizeof vtk->line);
    io_text text = io_text_of((io_span){vtk->line, size});
    if (!tml_io_line(&text, line))
        return false;
    vtk->offset += (uint64_t)(text.at - vtk->line);
    char rest[VTK_LINE_SIZE];
    bool ended = text.at < text.end || (size && text.at[-1] == '\n');
    while (!ended && (size = look(vtk, rest, sizeof rest))) {
        const char *newline = memchr(rest, '\n', size);
        ended = newline != NULL;
        vtk->offset += newline ? (uint64_t)(newline - rest) + 1 : size;
    }
    return true;
}

/* Reads the next line that is not empty, behind any METADATA, which an empty line ends. */
static bool next_line(vtk_legacy *vtk, io_text *words, io_span *keyword)
{
    io_span line;
    bool in_metadata = false;
    while (any_line(vtk, &line)) {
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

/* Consumes the next line only if it begins with that word. */
static bool take_line(vtk_legacy *vtk, const char *wanted, io_text *words)
{
    uint64_t offset = vtk->offset;
    io_span keyword;
    if (next_line(vtk, words, &keyword) && tml_io_is_any_case(keyword, wanted))
        return true;
    vtk->offset = offset;
    return false;
}

static bool next_u64(io_text *words, uint64_t *out)
{
    io_span word;
    return tml_io_word(words, &word) && tml_io_parse_u64(word, out);
}

/* Parses the name of a type. *is_bit: it is bit, which is smaller than a byte. */
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
        {"string", TML_TYPE_NONE}, /* texts, which are skipped */
        {"utf8_string", TML_TYPE_NONE},
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

static bool skip_words(vtk_legacy *vtk, uint64_t count)
{
    char chunk[16384];
    bool in_word = false;
    while (count) {
        size_t size = look(vtk, chunk, sizeof chunk);
        if (size == 0)
            return in_word && count == 1;
        size_t i = 0;
        for (; i < size && count; i++) {
            bool is_blank = chunk[i] == ' ' || (chunk[i] >= '\t' && chunk[i] <= '\r');
            count -= is_blank && in_word;
            in_word = !is_blank;
        }
        vtk->offset += count ? size : i - 1; /* the line may end directly behind the last word */
    }
    return true;
}

/* Skips texts: lines, or in a binary file texts behind their lengths. A length has 1, 2, 4 or 8
 * bytes, as its first two bits say. */
static bool skip_strings(vtk_legacy *vtk, uint64_t count)
{
    io_span line;
    for (; count; count--) {
        char bytes[8];
        uint64_t length = 0, left = vtk->file->size - vtk->offset;
        if (!vtk->is_binary) {
            if (!any_line(vtk, &line))
                return false;
            continue;
        }
        if (look(vtk, bytes, 1) != 1)
            return false;
        size_t size = (size_t)8 >> ((uint8_t)bytes[0] >> 6);
        if (look(vtk, bytes, size) != size)
            return false;
        for (size_t i = 0; i < size; i++)
            length = length << 8 | (uint8_t)(i ? bytes[i] : bytes[i] & 0x3f);
        if (length > left - size)
            return false;
        vtk->offset += size + length;
    }
    return true;
}

/* Skips an array and reports it to vtk->array. */
static bool take_array(vtk_legacy *vtk, vtk_array array)
{
    uint64_t count, size, left = vtk->file->size - vtk->offset;
    array.offset = vtk->offset;
    memcpy(array.keyword, vtk->keyword, sizeof array.keyword);
    if (__builtin_mul_overflow(array.rows, array.columns, &count))
        return false;
    if (array.type == TML_TYPE_NONE)
        return skip_strings(vtk, count);
    if (vtk->is_binary) {
        if (array.is_bit)
            size = count / 8 + (count % 8 != 0);
        else if (__builtin_mul_overflow(count, tml_type_size(array.type), &size))
            return false;
        if (size > left)
            return false;
        vtk->offset += size;
    } else if (!skip_words(vtk, count)) {
        return false;
    }
    array.end = vtk->offset;
    vtk->array(vtk->user, &array);
    return true;
}

/* Parses "NAME TYPE" in the rest of an array's line. */
static bool next_name_and_type(io_text *words, vtk_array *out)
{
    io_span name;
    if (!tml_io_word(words, &name))
        return false;
    tml_io_copy(out->name, sizeof out->name, name);
    return next_type(words, &out->type, &out->is_bit);
}

/* ---- sections -------------------------------------------------------------------------------- */

static bool read_points(vtk_legacy *vtk, io_text *words)
{
    vtk_array array = {.place = VTK_POSITIONS, .columns = 3};
    return next_u64(words, &array.rows) && next_type(words, &array.type, &array.is_bit) &&
           !array.is_bit && take_array(vtk, array);
}

/* Reads cells of any kind: one array of ints, or, from version 5.1 on, offsets and connectivity. */
static bool read_cells(vtk_legacy *vtk, io_text *words)
{
    vtk_array first = {.columns = 1, .place = VTK_OFFSETS};
    vtk_array second = {.type = TML_I32, .columns = 1, .place = VTK_CELLS};
    if (!next_u64(words, &first.rows) || !next_u64(words, &second.rows))
        return false;
    second.cells = first.rows;
    if (!take_line(vtk, "OFFSETS", words))
        return take_array(vtk, second);
    first.cells = first.rows ? first.rows - 1 : 0;
    second.cells = 0;
    second.place = VTK_CONNECTIVITY;
    return next_type(words, &first.type, &first.is_bit) && take_array(vtk, first) &&
           take_line(vtk, "CONNECTIVITY", words) &&
           next_type(words, &second.type, &second.is_bit) && take_array(vtk, second);
}

static bool read_cell_types(vtk_legacy *vtk, io_text *words)
{
    vtk_array array = {.type = TML_I32, .columns = 1, .place = VTK_CELL_TYPES};
    return next_u64(words, &array.rows) && take_array(vtk, array);
}

static bool read_data(vtk_legacy *vtk, io_text *words, vtk_place place)
{
    vtk->place = place;
    return next_u64(words, &vtk->rows);
}

static bool read_field(vtk_legacy *vtk, io_text *words)
{
    io_span name;
    uint64_t arrays;
    if (!tml_io_word(words, &name) || !next_u64(words, &arrays))
        return false;
    for (uint64_t i = 0; i < arrays; i++) {
        io_text line;
        vtk_array array = {.place = vtk->place};
        if (!next_line(vtk, &line, &name) || !next_u64(&line, &array.columns) ||
            !next_u64(&line, &array.rows) || !next_type(&line, &array.type, &array.is_bit))
            return false;
        tml_io_copy(array.name, sizeof array.name, name);
        if (!take_array(vtk, array))
            return false;
    }
    return true;
}

static bool read_scalars(vtk_legacy *vtk, io_text *words)
{
    io_span word;
    vtk_array array = {.place = vtk->place, .rows = vtk->rows, .columns = 1};
    if (!next_name_and_type(words, &array))
        return false;
    if (tml_io_word(words, &word) && !tml_io_parse_u64(word, &array.columns))
        return false;
    (void)take_line(vtk, "LOOKUP_TABLE", words);
    return take_array(vtk, array);
}

/* Reads VECTORS, NORMALS and the like, with a fixed number of columns. */
static bool read_tuples(vtk_legacy *vtk, io_text *words, uint64_t columns)
{
    vtk_array array = {.place = vtk->place, .rows = vtk->rows, .columns = columns};
    return next_name_and_type(words, &array) && take_array(vtk, array);
}

static bool read_texture_coordinates(vtk_legacy *vtk, io_text *words)
{
    io_span name;
    vtk_array array = {.rows = vtk->rows};
    return tml_io_word(words, &name) && next_u64(words, &array.columns) &&
           next_type(words, &array.type, &array.is_bit) && take_array(vtk, array);
}

/* Reads colours: bytes in binary files, fractions in text. */
static bool read_colours(vtk_legacy *vtk, io_text *words, bool is_table)
{
    io_span name;
    uint64_t number;
    if (!tml_io_word(words, &name) || !next_u64(words, &number))
        return false;
    vtk_array array = {
        .type = TML_U8, .rows = is_table ? number : vtk->rows, .columns = is_table ? 4 : number};
    if (!is_table && vtk->place == VTK_POINT_DATA)
        array.place = VTK_POINT_COLORS;
    tml_io_copy(array.name, sizeof array.name, name);
    return take_array(vtk, array);
}

static bool read_three(io_text *words, double out[3])
{
    io_span word;
    for (int i = 0; i < 3; i++)
        if (!tml_io_word(words, &word) || !tml_io_parse_f64(word, &out[i]))
            return false;
    return true;
}

/* Reads the section that a line begins. Returns false if it is unknown or damaged. */
static bool read_section(vtk_legacy *vtk, io_span keyword, io_text *words)
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
            return read_cells(vtk, words);
    for (size_t i = 0; i < sizeof tuples / sizeof tuples[0]; i++)
        if (tml_io_is_any_case(keyword, tuples[i].name))
            return read_tuples(vtk, words, tuples[i].columns);
    if (tml_io_is_any_case(keyword, "POINTS"))
        return read_points(vtk, words);
    if (tml_io_is_any_case(keyword, "CELL_TYPES"))
        return read_cell_types(vtk, words);
    if (tml_io_is_any_case(keyword, "POINT_DATA"))
        return read_data(vtk, words, VTK_POINT_DATA);
    if (tml_io_is_any_case(keyword, "CELL_DATA"))
        return read_data(vtk, words, VTK_CELL_DATA);
    if (tml_io_is_any_case(keyword, "FIELD"))
        return read_field(vtk, words);
    if (tml_io_is_any_case(keyword, "SCALARS"))
        return read_scalars(vtk, words);
    if (tml_io_is_any_case(keyword, "TEXTURE_COORDINATES"))
        return read_texture_coordinates(vtk, words);
    if (tml_io_is_any_case(keyword, "COLOR_SCALARS"))
        return read_colours(vtk, words, false);
    if (tml_io_is_any_case(keyword, "LOOKUP_TABLE"))
        return read_colours(vtk, words, true);
    if (tml_io_is_any_case(keyword, "SPACING") || tml_io_is_any_case(keyword, "ASPECT_RATIO"))
        return read_three(words, vtk->spacing);
    if (tml_io_is_any_case(keyword, "ORIGIN"))
        return read_three(words, vtk->origin);
    return tml_io_is_any_case(keyword, "DIMENSIONS") && next_u64(words, &vtk->dims[0]) &&
           next_u64(words, &vtk->dims[1]) && next_u64(words, &vtk->dims[2]);
}

tml_status tml_vtk_open(const io_file *file, vtk_legacy *out)
{
    *out = (vtk_legacy){.file = file, .spacing = {1, 1, 1}};
    io_span line, keyword, dataset;
    io_text words;
    if (!any_line(out, &line) || !any_line(out, &line) || !next_line(out, &words, &keyword))
        return vtk_legacy_fail(out, "the file ends in its first three lines");
    out->is_binary = tml_io_is_any_case(keyword, "BINARY");
    if (!out->is_binary && !tml_io_is_any_case(keyword, "ASCII"))
        return vtk_legacy_fail(out, "the third line is neither ASCII nor BINARY");
    if (!take_line(out, "DATASET", &words) || !tml_io_word(&words, &dataset))
        return vtk_legacy_fail(out, "there is no DATASET line");
    tml_io_copy(out->dataset, sizeof out->dataset, dataset);
    return TML_OK;
}

tml_status tml_vtk_read(vtk_legacy *vtk)
{
    io_text words;
    io_span keyword;
    while (next_line(vtk, &words, &keyword)) {
        char name[41];
        tml_io_copy(name, sizeof name, keyword); /* the line's memory is reused */
        tml_io_copy(vtk->keyword, sizeof vtk->keyword, keyword);
        if (!read_section(vtk, keyword, &words))
            return tml_io_error(vtk->file, TML_ERROR_FILE_FORMAT,
                                "the section %s is unknown or damaged, or the file ends in it",
                                name);
    }
    return TML_OK;
}
