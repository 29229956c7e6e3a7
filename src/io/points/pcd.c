/* Reads PCD, the Point Cloud Library's format, versions 0.5 to 0.7 (PCL: The PCD file format,
 * pointclouds.org). After a header of text lines, the points are text, packed binary rows, or
 * columns compressed with LZF. A field may have any scalar type and several elements. The viewpoint
 * is the scanner's pose and does not move the points. */
#include <assert.h>

#include "io/points/lzf.h"
#include "io/points/points_internal.h"

enum { PCD_FIELDS_MAX = 128 };

typedef enum pcd_encoding { PCD_ASCII, PCD_BINARY, PCD_COMPRESSED } pcd_encoding;

typedef struct pcd_field {
    char name[32];
    uint64_t size;     /* bytes per element: 1, 2, 4, 8 */
    char kind;         /* 'I' signed, 'U' unsigned, 'F' float */
    uint64_t elements; /* per point */
    tml_type type;
} pcd_field;

typedef struct pcd_header {
    pcd_field fields[PCD_FIELDS_MAX];
    uint32_t field_count;
    uint64_t width, height, points;
    bool has_points;
    pcd_encoding encoding;
    uint64_t row_size;             /* bytes per point */
    uint64_t row_elements;         /* words per point, in text */
    bool has_ending, ends_with_cr; /* of lines */
} pcd_header;

/* ---- the header ------------------------------------------------------------------------------ */

static tml_type pcd_type(char kind, uint64_t size)
{
    static const struct {
        char kind;
        uint8_t size;
        uint8_t type;
    } types[] = {
        {'I', 1, TML_I8},  {'I', 2, TML_I16}, {'I', 4, TML_I32}, {'I', 8, TML_I64},
        {'U', 1, TML_U8},  {'U', 2, TML_U16}, {'U', 4, TML_U32}, {'U', 8, TML_U64},
        {'F', 4, TML_F32}, {'F', 8, TML_F64},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].kind == kind && types[i].size == size)
            return types[i].type;
    return TML_TYPE_NONE;
}

/* Parses one number per field: SIZE or COUNT. */
static bool parse_numbers(pcd_header *header, io_text *words, bool is_size)
{
    io_span word;
    for (uint32_t i = 0; i < header->field_count; i++) {
        pcd_field *field = &header->fields[i];
        if (!tml_io_word(words, &word) ||
            !tml_io_parse_u64(word, is_size ? &field->size : &field->elements))
            return false;
        /* Keeps the sums and products below from overflowing. */
        if (field->size > 8 || field->elements > 1u << 20)
            return false;
    }
    return !tml_io_word(words, &word);
}

static bool parse_kinds(pcd_header *header, io_text *words)
{
    io_span word;
    for (uint32_t i = 0; i < header->field_count; i++) {
        if (!tml_io_word(words, &word) || word.size != 1)
            return false;
        header->fields[i].kind = word.text[0];
    }
    return !tml_io_word(words, &word);
}

static bool parse_names(pcd_header *header, io_text *words)
{
    io_span word;
    header->field_count = 0;
    while (tml_io_word(words, &word)) {
        if (header->field_count == PCD_FIELDS_MAX)
            return false;
        pcd_field *field = &header->fields[header->field_count++];
        *field = (pcd_field){.size = 4, .kind = 'F', .elements = 1}; /* version 0.5 may omit them */
        tml_io_copy(field->name, sizeof field->name, word);
    }
    return header->field_count > 0;
}

static bool parse_encoding(pcd_header *header, io_text *words)
{
    static const char *const names[] = {"ascii", "binary", "binary_compressed"};
    io_span word;
    if (!tml_io_word(words, &word))
        return false;
    for (int i = 0; i < 3; i++) {
        if (tml_io_is(word, names[i])) {
            header->encoding = (pcd_encoding)i;
            return true;
        }
    }
    return false;
}

static bool parse_count(io_text *words, uint64_t *out)
{
    io_span word;
    return tml_io_word(words, &word) && tml_io_parse_u64(word, out);
}

/* Parses a header line; *is_last after DATA. */
static bool parse_line(pcd_header *header, io_span line, bool *is_last)
{
    io_text words = io_text_of(line);
    io_span keyword;
    if (!tml_io_word(&words, &keyword) || tml_io_starts_with(keyword, "#"))
        return true;
    if (tml_io_is(keyword, "FIELDS") || tml_io_is(keyword, "COLUMNS"))
        return parse_names(header, &words);
    if (tml_io_is(keyword, "SIZE"))
        return parse_numbers(header, &words, true);
    if (tml_io_is(keyword, "COUNT"))
        return parse_numbers(header, &words, false);
    if (tml_io_is(keyword, "TYPE"))
        return parse_kinds(header, &words);
    if (tml_io_is(keyword, "WIDTH"))
        return parse_count(&words, &header->width);
    if (tml_io_is(keyword, "HEIGHT"))
        return parse_count(&words, &header->height);
    if (tml_io_is(keyword, "POINTS")) {
        header->has_points = true;
        return parse_count(&words, &header->points);
    }
    if (tml_io_is(keyword, "DATA")) {
        *is_last = true;
        return parse_encoding(header, &words);
    }
    return tml_io_is(keyword, "VERSION") || tml_io_is(keyword, "VIEWPOINT");
}

/* Computes a point's sizes, and checks that the lines agree. */
static tml_status check_header(const point_sink *sink, pcd_header *header)
{
    for (uint32_t i = 0; i < header->field_count; i++) {
        pcd_field *field = &header->fields[i];
        field->type = pcd_type(field->kind, field->size);
        if (field->type == TML_TYPE_NONE)
            return tml_io_error(
                sink->file, TML_ERROR_FILE_FORMAT,
                "field %s has TYPE %c and SIZE %llu, needs I or U of 1, 2, 4, 8 or F of "
                "4, 8",
                field->name, field->kind, (unsigned long long)field->size);
        header->row_size += field->size * field->elements;
        header->row_elements += field->elements;
    }
    if (header->row_size == 0)
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT, "the header has no FIELDS");
    uint64_t points;
    if (__builtin_mul_overflow(header->width, header->height, &points) ||
        (header->has_points && points != header->points))
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                            "POINTS is %llu, needs WIDTH %llu x HEIGHT %llu",
                            (unsigned long long)header->points, (unsigned long long)header->width,
                            (unsigned long long)header->height);
    header->points = points;
    return TML_OK;
}

/* Lines end as the first one does: the first binary bytes may look like another kind of line
 * end. */
static bool next_line(io_text *text, pcd_header *header, io_span *line)
{
    if (!header->has_ending) {
        io_text first = *text;
        header->has_ending = tml_io_any_line(&first, line);
        header->ends_with_cr = first.at > text->at && first.at[-1] == '\r';
    }
    const char *end = header->ends_with_cr && text->at < text->end
                          ? memchr(text->at, '\r', (size_t)(text->end - text->at))
                          : NULL;
    if (!end)
        return tml_io_line(text, line);
    *line = (io_span){text->at, (size_t)(end - text->at)};
    text->at = end + 1;
    text->line++;
    return true;
}

static tml_status parse_header(const point_sink *sink, io_text *text, pcd_header *header)
{
    bool is_last = false;
    while (!is_last) {
        io_span line;
        uint64_t number = text->line;
        if (!next_line(text, header, &line))
            return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT, "the header has no DATA line");
        if (!parse_line(header, line, &is_last))
            return tml_io_error(
                sink->file, TML_ERROR_FILE_FORMAT,
                "line %llu of the header is \"%.*s\", which is no line of PCD 0.5 to 0.7 "
                "or does not fit to FIELDS",
                (unsigned long long)number, (int)(line.size < 80 ? line.size : 80), line.text);
    }
    return check_header(sink, header);
}

/* ---- the points ------------------------------------------------------------------------------ */

static tml_status check_room(const point_sink *sink, const pcd_header *header, uint64_t row_size,
                             uint64_t available)
{
    assert(row_size > 0);
    if (header->points > available / row_size)
        return tml_io_error(
            sink->file, TML_ERROR_FILE_FORMAT,
            "%llu points of at least %llu bytes are promised, %llu bytes are there; the "
            "file is truncated",
            (unsigned long long)header->points, (unsigned long long)row_size,
            (unsigned long long)available);
    return TML_OK;
}

/* Reads a point's words; *is_good: all are numbers. Returns false at the file's end. */
static bool next_row(io_text *text, const pcd_header *header, double values[PCD_FIELDS_MAX],
                     bool *is_good)
{
    io_span word;
    *is_good = true;
    for (uint32_t i = 0; i < header->field_count; i++)
        for (uint64_t element = 0; element < header->fields[i].elements; element++) {
            if (!tml_io_word(text, &word))
                return false;
            *is_good &= tml_io_parse_f64(word, &values[i]);
        }
    return true;
}

/* Leaves out rows with a word that is not a number, with a warning. Half of the rows are too
 * many. */
static tml_status read_ascii(point_sink *sink, const pcd_header *header,
                             const point_columns *columns, io_text text)
{
    /* An element has at least a digit and a blank; the last blank may be missing. */
    uint64_t available = (uint64_t)(text.end - text.at) + 1, bad = 0, first_bad = 0;
    tml_status status = check_room(sink, header, 2 * header->row_elements, available);
    double values[PCD_FIELDS_MAX];
    for (uint64_t row = 0; row < header->points && status == TML_OK; row++) {
        bool is_good;
        if (!next_row(&text, header, values, &is_good))
            return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                                "the file ends in point %llu of %llu", (unsigned long long)row,
                                (unsigned long long)header->points);
        if (is_good)
            status = tml_points_push_row(sink, columns, values);
        else
            first_bad = bad++ ? first_bad : row;
    }
    if (status != TML_OK || bad == 0)
        return status;
    if (2 * bad >= header->points)
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                            "point %llu of %llu is no row of numbers",
                            (unsigned long long)first_bad, (unsigned long long)header->points);
    return tml_io_warn(sink->file, "%llu %s left out (point %llu is no row of numbers)",
                       (unsigned long long)bad, bad == 1 ? "row is" : "rows are",
                       (unsigned long long)first_bad);
}

/* Reads binary points. Rows: point p begins p rows behind the first, its fields follow one another.
 * Columns (by_column): a field's elements for all points follow one another, then the next
 * field's. */
static tml_status read_packed(point_sink *sink, const pcd_header *header,
                              const point_columns *columns, const uint8_t *data, bool by_column)
{
    uint64_t base[PCD_FIELDS_MAX], step[PCD_FIELDS_MAX], offset = 0;
    for (uint32_t i = 0; i < header->field_count; i++) {
        uint64_t field_size = header->fields[i].size * header->fields[i].elements;
        base[i] = offset;
        step[i] = by_column ? field_size : header->row_size;
        offset += by_column ? field_size * header->points : field_size;
    }
    tml_status status = TML_OK;
    double values[PCD_FIELDS_MAX];
    for (uint64_t row = 0; row < header->points && status == TML_OK; row++) {
        for (uint32_t i = 0; i < header->field_count; i++)
            values[i] =
                header->fields[i].elements == 0
                    ? 0.0
                    : tml_io_number(data + base[i] + row * step[i], header->fields[i].type, false);
        status = tml_points_push_row(sink, columns, values);
    }
    return status;
}

static tml_status read_compressed(point_sink *sink, const pcd_header *header,
                                  const point_columns *columns, const uint8_t *data, size_t size)
{
    if (size < 8)
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                            "the sizes of the compressed data are missing");
    uint64_t packed = io_load_u32(data, false), unpacked = io_load_u32(data + 4, false);
    if (packed > size - 8)
        return tml_io_error(
            sink->file, TML_ERROR_FILE_FORMAT,
            "the compressed data have %llu bytes, the file has %zu left; it is truncated",
            (unsigned long long)packed, size - 8);
    tml_status status = check_room(sink, header, header->row_size, unpacked);
    if (status != TML_OK || header->points == 0)
        return status;
    if (unpacked != header->points * header->row_size || unpacked > packed * LZF_RATIO_MAX)
        return tml_io_error(
            sink->file, TML_ERROR_FILE_FORMAT,
            "the compressed data claim %llu bytes; needs %llu for the points, and %llu "
            "packed bytes hold at most %llu",
            (unsigned long long)unpacked, (unsigned long long)(header->points * header->row_size),
            (unsigned long long)packed, (unsigned long long)(packed * LZF_RATIO_MAX));
    uint8_t *columns_data = tml_io_alloc(sink->file, unpacked);
    if (!columns_data)
        return TML_ERROR_OUT_OF_MEMORY;
    if (tml_lzf_unpack(data + 8, packed, columns_data, unpacked))
        status = read_packed(sink, header, columns, columns_data, true);
    else
        status = tml_io_error(sink->file, TML_ERROR_FILE_FORMAT, "the compressed data are damaged");
    tml_free(sink->file->tml, columns_data, unpacked);
    return status;
}

tml_status tml_points_read_pcd(point_sink *sink, const uint8_t *data, size_t size)
{
    pcd_header header = {.height = 1};
    io_text text = {(const char *)data, (const char *)data + size, 1};
    tml_status status = parse_header(sink, &text, &header);
    if (status != TML_OK)
        return status;
    point_columns columns = POINT_COLUMNS_NONE;
    for (uint32_t i = 0; i < header.field_count; i++)
        if (header.fields[i].elements == 1)
            tml_points_column(sink, &columns, (int32_t)i, header.fields[i].name,
                              header.fields[i].type);
    status = tml_points_columns_done(sink, &columns);
    if (status != TML_OK)
        return status;

    sink->expected = header.points;
    const uint8_t *body = (const uint8_t *)text.at;
    size_t body_size = (size_t)(text.end - text.at);
    switch (header.encoding) {
    case PCD_ASCII:
        return read_ascii(sink, &header, &columns, text);
    case PCD_COMPRESSED:
        return read_compressed(sink, &header, &columns, body, body_size);
    case PCD_BINARY:
        break;
    }
    status = check_room(sink, &header, header.row_size, body_size);
    return status == TML_OK ? read_packed(sink, &header, &columns, body, false) : status;
}
