/* NRRD, versions 1 to 5, attached and detached. After Kindlmann: Definition of NRRD File Format
 * (teem.sourceforge.net/nrrd/format.html).
 *
 * Except for content, fields that do not say where samples are stored or lie in space are ignored:
 * thicknesses, labels, measurement frame ... */
#include <inttypes.h>
#include <math.h>

#include "io/units.h"
#include "io/volumes/volume_internal.h"

enum { AXES_MAX = 16 /* NRRD_DIM_MAX */, FIELDS_MAX = 64, UNIT_SIZE = 16 };

/* The header's fields as they are in the file. */
typedef struct nrrd_header {
    tml_type type;
    uint64_t dimension, sizes[AXES_MAX];
    bool has_sizes, has_encoding, has_endian, has_spacings, has_directions, has_origin, has_kinds;
    double spacings[AXES_MAX];
    uint64_t space_dimension;
    double directions[AXES_MAX][3], origin[3];
    bool has_mins, has_maxs, is_quantized, has_no_origin;
    io_span bad_spacings; /* its text, unless it is a number per axis */
    double mins[AXES_MAX], maxs[AXES_MAX]; /* bounds of axes, used without spacings */
    bool is_node[AXES_MAX], has_centers;
    char axis_units[AXES_MAX][UNIT_SIZE], space_units[3][UNIT_SIZE]; /* empty: none */
    bool is_spatial[AXES_MAX]; /* by directions, otherwise by kinds */
    int64_t byte_skip;
    io_span data_file, list; /* list: the lines behind "data file: LIST" */
} nrrd_header;

/* ---- fields ---------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    tml_type type;
} type_names[] = {
    {"signed char", TML_I8},
    {"int8", TML_I8},
    {"int8_t", TML_I8},
    {"uchar", TML_U8},
    {"unsigned char", TML_U8},
    {"uint8", TML_U8},
    {"uint8_t", TML_U8},
    {"short", TML_I16},
    {"short int", TML_I16},
    {"signed short", TML_I16},
    {"signed short int", TML_I16},
    {"int16", TML_I16},
    {"int16_t", TML_I16},
    {"ushort", TML_U16},
    {"unsigned short", TML_U16},
    {"unsigned short int", TML_U16},
    {"uint16", TML_U16},
    {"uint16_t", TML_U16},
    {"int", TML_I32},
    {"signed int", TML_I32},
    {"int32", TML_I32},
    {"int32_t", TML_I32},
    {"uint", TML_U32},
    {"unsigned int", TML_U32},
    {"uint32", TML_U32},
    {"uint32_t", TML_U32},
    {"longlong", TML_I64},
    {"long long", TML_I64},
    {"long long int", TML_I64},
    {"signed long long", TML_I64},
    {"signed long long int", TML_I64},
    {"int64", TML_I64},
    {"int64_t", TML_I64},
    {"ulonglong", TML_U64},
    {"unsigned long long", TML_U64},
    {"unsigned long long int", TML_U64},
    {"uint64", TML_U64},
    {"uint64_t", TML_U64},
    {"float", TML_F32},
    {"double", TML_F64},
};

static const struct {
    const char *name, *short_name;
} spaces[] = {
    {"right-anterior-superior", "RAS"},
    {"left-anterior-superior", "LAS"},
    {"left-posterior-superior", "LPS"},
};

static tml_status bad_field(const io_file *file, const char *field, io_span value,
                            const char *needs)
{
    return tml_io_error(file, TML_ERROR_FILE_FORMAT, "%s is \"%.*s\", needs %s", field,
                        (int)(value.size < 80 ? value.size : 80), value.text, needs);
}

static tml_status parse_type(const io_file *file, io_span value, nrrd_header *out)
{
    for (size_t i = 0; i < sizeof type_names / sizeof type_names[0]; i++)
        if (tml_io_is_any_case(value, type_names[i].name)) {
            out->type = type_names[i].type;
            return TML_OK;
        }
    if (tml_io_is_any_case(value, "block"))
        return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                            "type is block, needs numbers; take one number of each block with unu");
    return bad_field(file, "type", value, "a C type's name, such as \"unsigned short\"");
}

static tml_status parse_encoding(const io_file *file, io_span value, volume_header *out)
{
    if (tml_io_is_any_case(value, "raw"))
        out->encoding = VOLUME_RAW;
    else if (tml_io_is_any_case(value, "gzip") || tml_io_is_any_case(value, "gz"))
        out->encoding = VOLUME_DEFLATE;
    else if (tml_io_is_any_case(value, "ascii") || tml_io_is_any_case(value, "text") ||
             tml_io_is_any_case(value, "txt"))
        out->encoding = VOLUME_TEXT;
    else if (tml_io_is_any_case(value, "hex"))
        out->encoding = VOLUME_HEX;
    else if (tml_io_is_any_case(value, "bzip2") || tml_io_is_any_case(value, "bz2"))
        out->encoding = VOLUME_BZIP2;
    else
        return tml_io_error(
            file, TML_ERROR_UNSUPPORTED,
            "encoding is \"%.*s\" (expected raw, gzip, bzip2, hex or ascii); convert it with "
            "\"unu save -f nrrd -e gzip\"",
            (int)(value.size < 40 ? value.size : 40), value.text);
    return TML_OK;
}

/* Parses "(1,0,0)", with blanks allowed, or "none", which sets *is_none. */
static bool parse_vector(io_text *text, uint64_t count, double *out, bool *is_none)
{
    while (text->at < text->end && (*text->at == ' ' || *text->at == '\t'))
        text->at++;
    io_span rest = {text->at, (size_t)(text->end - text->at)};
    *is_none = tml_io_starts_with(rest, "none");
    if (*is_none) {
        text->at += 4;
        return true;
    }
    const char *close = rest.size ? memchr(rest.text, ')', rest.size) : NULL;
    if (!close || *rest.text != '(')
        return false;
    const char *at = rest.text + 1;
    for (uint64_t i = 0; i < count; i++) {
        const char *comma = memchr(at, ',', (size_t)(close - at));
        const char *end = i + 1 < count ? comma : close;
        if (!end || (i + 1 == count && comma))
            return false;
        io_span number = tml_io_trim((io_span){at, (size_t)(end - at)});
        if (!tml_io_parse_f64(number, &out[i]))
            return false;
        at = end + 1;
    }
    text->at = close + 1;
    return true;
}

/* Is it all NaN? Old versions of pynrrd write "none" so. */
static bool is_no_vector(const double *v, uint64_t count)
{
    bool is = true;
    for (uint64_t i = 0; i < count; i++)
        is = is && isnan(v[i]);
    return is;
}

/* Parses one unit per axis: a text in quotes, or else a word. */
static void parse_units(io_span value, char out[][UNIT_SIZE], uint64_t count)
{
    const char *at = value.text, *end = value.text + value.size;
    for (uint64_t i = 0; i < count; i++) {
        while (at < end && (*at == ' ' || *at == '\t'))
            at++;
        if (at == end)
            return;
        bool is_quoted = *at == '"';
        at += is_quoted;
        const char *start = at;
        while (at < end && (is_quoted ? *at != '"' : *at != ' ' && *at != '\t'))
            at++;
        tml_io_unit((io_span){start, (size_t)(at - start)}, out[i], UNIT_SIZE);
        if (strcmp(out[i], "???") == 0 || strcmp(out[i], "none") == 0)
            out[i][0] = '\0'; /* teem's words for no unit */
        at += at < end;
    }
}

static tml_status parse_directions(const io_file *file, io_span value, nrrd_header *out)
{
    io_text text = io_text_of(value);
    for (uint64_t i = 0; i < out->dimension; i++) {
        bool is_none;
        if (!parse_vector(&text, out->space_dimension, out->directions[i], &is_none))
            return bad_field(file, "space directions", value,
                             "a vector such as (1,0,0), or none, for each axis");
        out->is_spatial[i] = !is_none && !is_no_vector(out->directions[i], out->space_dimension);
    }
    out->has_directions = true;
    return TML_OK;
}

static void parse_kinds(io_span value, nrrd_header *out)
{
    static const char *const spatial[] = {"domain", "space", "???", "none"};
    io_text words = io_text_of(value);
    io_span word;
    for (uint64_t i = 0; i < out->dimension && tml_io_word(&words, &word); i++) {
        out->is_spatial[i] = false;
        for (size_t k = 0; k < sizeof spatial / sizeof spatial[0]; k++)
            if (tml_io_is_any_case(word, spatial[k]))
                out->is_spatial[i] = true;
    }
    out->has_kinds = true;
}

static tml_status parse_space(const io_file *file, io_span value, nrrd_header *out,
                              tml_volume *volume)
{
    static const char time[] = "-time";
    tml_io_copy(volume->space, sizeof volume->space, value);
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
        if (tml_io_is_any_case(value, spaces[i].short_name) ||
            tml_io_is_any_case(value, spaces[i].name))
            snprintf(volume->space, sizeof volume->space, "%s", spaces[i].name);
    size_t size = sizeof time - 1;
    if (value.size > size &&
        tml_io_is_any_case((io_span){value.text + value.size - size, size}, time))
        return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                            "space is \"%.*s\", needs one of three dimensions", (int)value.size,
                            value.text);
    out->space_dimension = 3;
    return TML_OK;
}

/* Parses the fields that others depend on. */
static tml_status parse_first(const io_file *file, io_span field, io_span value, nrrd_header *nrrd,
                              volume_header *out)
{
    if (tml_io_is_any_case(field, "dimension")) {
        if (!tml_io_parse_u64(value, &nrrd->dimension) || nrrd->dimension < 1 ||
            nrrd->dimension > AXES_MAX)
            return bad_field(file, "dimension", value, "1 to 16");
    } else if (tml_io_is_any_case(field, "type")) {
        return parse_type(file, value, nrrd);
    } else if (tml_io_is_any_case(field, "space")) {
        return parse_space(file, value, nrrd, &out->volume);
    } else if (tml_io_is_any_case(field, "space dimension")) {
        if (!tml_io_parse_u64(value, &nrrd->space_dimension) || nrrd->space_dimension < 1 ||
            nrrd->space_dimension > 3)
            return bad_field(file, "space dimension", value, "1 to 3");
    }
    return TML_OK;
}

static tml_status parse_second(const io_file *file, io_span field, io_span value, nrrd_header *nrrd,
                               volume_header *out)
{
    size_t axes = (size_t)nrrd->dimension;
    if (tml_io_is_any_case(field, "sizes")) {
        nrrd->has_sizes = true;
        if (!tml_volume_parse_sizes(value, nrrd->sizes, axes))
            return bad_field(file, "sizes", value, "a whole number for each axis");
    } else if (tml_io_is_any_case(field, "encoding")) {
        nrrd->has_encoding = true;
        return parse_encoding(file, value, out);
    } else if (tml_io_is_any_case(field, "endian")) {
        nrrd->has_endian = true;
        out->big_endian = tml_io_is_any_case(value, "big");
        if (!out->big_endian && !tml_io_is_any_case(value, "little"))
            return bad_field(file, "endian", value, "little or big");
    } else if (tml_io_is_any_case(field, "spacings")) {
        nrrd->has_spacings = tml_volume_parse_reals(value, nrrd->spacings, axes);
        if (!nrrd->has_spacings)
            nrrd->bad_spacings = value.size ? value : (io_span){"", 1};
    } else if (tml_io_is_any_case(field, "space directions")) {
        return parse_directions(file, value, nrrd);
    } else if (tml_io_is_any_case(field, "space origin")) {
        io_text text = io_text_of(value);
        bool is_none;
        if (!parse_vector(&text, nrrd->space_dimension, nrrd->origin, &is_none))
            return bad_field(file, "space origin", value, "a vector such as (0,0,0)");
        nrrd->has_no_origin = is_none || is_no_vector(nrrd->origin, nrrd->space_dimension);
    } else if (tml_io_is_any_case(field, "kinds")) {
        if (!nrrd->has_directions)
            parse_kinds(value, nrrd);
    } else if (tml_io_is_any_case(field, "units")) {
        parse_units(value, nrrd->axis_units, axes);
    } else if (tml_io_is_any_case(field, "space units")) {
        parse_units(value, nrrd->space_units, nrrd->space_dimension);
    } else if (tml_io_is_any_case(field, "axis mins") || tml_io_is_any_case(field, "axismins")) {
        nrrd->has_mins = tml_volume_parse_reals(value, nrrd->mins, axes);
    } else if (tml_io_is_any_case(field, "axis maxs") || tml_io_is_any_case(field, "axismaxs")) {
        nrrd->has_maxs = tml_volume_parse_reals(value, nrrd->maxs, axes);
    } else if (tml_io_is_any_case(field, "centers") || tml_io_is_any_case(field, "centerings")) {
        io_text words = io_text_of(value);
        io_span word;
        for (size_t i = 0; i < axes && tml_io_word(&words, &word); i++) {
            nrrd->is_node[i] = tml_io_is_any_case(word, "node");
            nrrd->has_centers |= nrrd->is_node[i] || tml_io_is_any_case(word, "cell");
        }
    } else if (tml_io_is_any_case(field, "old min") || tml_io_is_any_case(field, "oldmin") ||
               tml_io_is_any_case(field, "old max") || tml_io_is_any_case(field, "oldmax")) {
        nrrd->is_quantized = true;
    } else if (tml_io_is_any_case(field, "line skip") || tml_io_is_any_case(field, "lineskip")) {
        if (!tml_io_parse_u64(value, &out->line_skip))
            return bad_field(file, "line skip", value, "a whole number");
    } else if (tml_io_is_any_case(field, "byte skip") || tml_io_is_any_case(field, "byteskip")) {
        if (!tml_io_parse_i64(value, &nrrd->byte_skip) || nrrd->byte_skip < -1)
            return bad_field(file, "byte skip", value, "a whole number, or -1");
    } else if (tml_io_is_any_case(field, "data file") || tml_io_is_any_case(field, "datafile")) {
        nrrd->data_file = value;
    } else if (tml_io_is_any_case(field, "content")) {
        tml_io_copy(out->volume.comment, sizeof out->volume.comment, value);
    }
    return TML_OK;
}

/* Refuses a field that occurs twice with different values: nothing says which value is right. */
static tml_status check_twice(const io_file *file, io_span field, io_span value, io_span seen[][2],
                              size_t *count)
{
    for (size_t i = 0; i < *count; i++) {
        char name[40];
        tml_io_copy(name, sizeof name, seen[i][0]);
        if (!tml_io_is_any_case(field, name) || seen[i][0].size != field.size)
            continue;
        if (seen[i][1].size == value.size && memcmp(seen[i][1].text, value.text, value.size) == 0)
            return TML_OK;
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "its header has two fields \"%.*s\" with different values; remove one",
                            (int)(field.size < 40 ? field.size : 40), field.text);
    }
    if (*count < FIELDS_MAX) {
        seen[*count][0] = field;
        seen[(*count)++][1] = value;
    }
    return TML_OK;
}

/* Parses the header's lines, once per pass. On return *text is behind the header: behind the empty
 * line, or at the first name of a list. */
static tml_status parse_lines(const io_file *file, io_text *text, bool second, nrrd_header *nrrd,
                              volume_header *out)
{
    io_span line, seen[FIELDS_MAX][2];
    size_t seen_count = 0;
    while (tml_io_line(text, &line) && line.size) {
        const char *colon = memchr(line.text, ':', line.size);
        if (*line.text == '#' || !colon)
            continue;
        size_t at = (size_t)(colon - line.text);
        io_span field = tml_io_trim((io_span){line.text, at});
        io_span value = tml_io_trim((io_span){colon + 1, line.size - at - 1});
        if (value.size && colon[1] == '=') { /* key:=value; only these two are used */
            value = tml_io_trim((io_span){colon + 2, line.size - at - 2});
            if (tml_io_is(field, "trommel slope"))
                (void)tml_io_parse_f64(value, &out->volume.slope);
            else if (tml_io_is(field, "trommel intercept"))
                (void)tml_io_parse_f64(value, &out->volume.intercept);
            continue;
        }
        tml_status status = second ? check_twice(file, field, value, seen, &seen_count) : TML_OK;
        TML_THEN(status, second ? parse_second(file, field, value, nrrd, out)
                                : parse_first(file, field, value, nrrd, out));
        if (status != TML_OK)
            return status;
        if (second && nrrd->data_file.size && tml_io_starts_with(nrrd->data_file, "LIST")) {
            nrrd->list = (io_span){text->at, (size_t)(text->end - text->at)};
            return TML_OK;
        }
    }
    return TML_OK;
}

/* ---- what the fields mean -------------------------------------------------------------------- */

/* Do the files fit the sizes, if each holds an array of subdim axes? */
static bool files_fit(const nrrd_header *nrrd, uint64_t subdim, uint64_t files)
{
    uint64_t expected = 1;
    if (subdim < 1 || subdim > nrrd->dimension || files == 0)
        return false;
    if (subdim == nrrd->dimension) /* files are slabs of the last axis */
        return nrrd->sizes[subdim - 1] % files == 0;
    for (uint64_t i = subdim; i < nrrd->dimension; i++)
        if (__builtin_mul_overflow(expected, nrrd->sizes[i], &expected))
            return false;
    return expected == files;
}

/* Parses "LIST [subdim]" and the names on the lines behind it. */
static tml_status parse_list(const io_file *file, const nrrd_header *nrrd, volume_header *out)
{
    uint64_t subdim = nrrd->dimension - 1;
    io_text text = io_text_of(nrrd->list);
    io_span words = {nrrd->data_file.text + 4, nrrd->data_file.size - 4}, line;
    if (tml_io_trim(words).size && !tml_io_parse_u64(tml_io_trim(words), &subdim))
        return bad_field(file, "data file", nrrd->data_file, "LIST, or LIST and a dimension");
    out->source = VOLUME_LIST;
    out->names = nrrd->list;
    out->file_count = 0;
    while (tml_io_line(&text, &line))
        out->file_count += tml_io_trim(line).size > 0;
    if (!files_fit(nrrd, subdim, out->file_count))
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "data file lists %" PRIu64 " names, which do not make up its sizes",
                            out->file_count);
    return TML_OK;
}

/* Parses "name%03d.raw first last step [subdim]". Returns false for other forms. */
static bool parse_pattern(const nrrd_header *nrrd, volume_header *out, uint64_t *subdim)
{
    int64_t numbers[4];
    io_span rest = nrrd->data_file;
    int count = 0;
    for (; count < 4; count++) { /* numbers at the end, last first */
        size_t start = rest.size;
        while (start && rest.text[start - 1] != ' ' && rest.text[start - 1] != '\t')
            start--;
        if (!start ||
            !tml_io_parse_i64((io_span){rest.text + start, rest.size - start}, &numbers[count]))
            break;
        rest = tml_io_trim((io_span){rest.text, start});
    }
    if (count < 3 || !tml_volume_is_pattern(rest))
        return false;
    *subdim = count == 4 ? (uint64_t)numbers[0] : nrrd->dimension - 1;
    const int64_t *bounds = numbers + count - 3; /* step, last, first */
    tml_volume_pattern(rest, bounds[2], bounds[1], bounds[0], out);
    return true;
}

static tml_status parse_data_file(const io_file *file, const nrrd_header *nrrd, volume_header *out)
{
    uint64_t subdim;
    if (nrrd->data_file.size == 0)
        return TML_OK;
    out->offset = 0; /* a separate file */
    if (tml_io_starts_with(nrrd->data_file, "LIST"))
        return parse_list(file, nrrd, out);
    if (!parse_pattern(nrrd, out, &subdim)) {
        out->source = VOLUME_FILE;
        out->names = nrrd->data_file;
        return TML_OK;
    }
    if (!files_fit(nrrd, subdim, out->file_count))
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "data file \"%.*s\" means %" PRIu64
                            " files, which do not make up its sizes",
                            (int)(nrrd->data_file.size < 80 ? nrrd->data_file.size : 80),
                            nrrd->data_file.text, out->file_count);
    return TML_OK;
}

/* Sorts axes into x, y, z and those of frames or components: by directions or kinds, else the last
 * of four is of frames. Axes of size 1 do not matter. order[k] is the file's axis that becomes axis
 * k of the volume. */
static tml_status parse_axes(const io_file *file, nrrd_header *nrrd, uint32_t frame,
                             size_t order[3], size_t *spatial, volume_header *out)
{
    size_t axes = (size_t)nrrd->dimension, count = 0;
    for (size_t i = 0; i < axes; i++)
        count += nrrd->is_spatial[i];
    for (size_t i = axes; i-- > 0 && count > 3;)
        if (nrrd->is_spatial[i] && nrrd->sizes[i] == 1) {
            nrrd->is_spatial[i] = false;
            count--;
        }
    if (count == 4 && nrrd->is_spatial[axes - 1]) {
        nrrd->is_spatial[axes - 1] = false;
        count--;
    }
    if (count < 1 || count > 3)
        return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                            "has %zu spatial axes, needs 1 to 3; cut out three with \"unu slice\"",
                            count);

    uint64_t inner = 1, channels = 1, pending = 1, voxels = 1;
    bool fits = true;
    *spatial = 0;
    for (size_t i = 0; i < axes; i++) {
        uint64_t *product = nrrd->is_spatial[i] ? &voxels : &pending;
        fits = fits && !__builtin_mul_overflow(*product, nrrd->sizes[i], product);
        if (!nrrd->is_spatial[i])
            continue;
        if (pending > 1 && channels > 1)
            return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                                "has axes of components in two places between those of space; "
                                "reorder them with \"unu permute\"");
        if (pending > 1) {
            channels = pending;
            pending = 1;
            inner = nrrd->sizes[i] ? voxels / nrrd->sizes[i] : 1;
        }
        order[*spatial] = i;
        out->volume.grid.dims[(*spatial)++] = nrrd->sizes[i];
    }
    for (size_t i = *spatial; i < 3; i++)
        out->volume.grid.dims[i] = 1;
    if (!fits)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "its sizes are more than an address space holds");
    return tml_volume_layout(file, inner, channels, pending, frame, out);
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* Reads the unit of x, and the ratios of the other axes' units to it. Axes are those of space, if
 * directions or space units are given, else the file's. */
static tml_status take_units(const io_file *file, const nrrd_header *nrrd, const size_t order[3],
                             size_t spatial, double ratio[3], tml_volume *volume)
{
    bool by_space = nrrd->has_directions || nrrd->space_units[0][0];
    const char *units[3] = {"", "", ""};
    for (size_t k = 0; k < 3; k++) {
        ratio[k] = 1;
        if (by_space)
            units[k] = nrrd->space_units[k];
        else if (k < spatial)
            units[k] = nrrd->axis_units[order[k]];
    }
    snprintf(volume->unit, sizeof volume->unit, "%s", units[0]);
    for (size_t k = 1; k < 3; k++) {
        bool is_other = units[k][0] && strcmp(units[k], units[0]) != 0;
        if (!is_other)
            continue;
        ratio[k] = tml_io_unit_ratio(units[k], units[0]);
        if (ratio[k] != 0)
            continue;
        ratio[k] = 1;
        volume->unit[0] = '\0';
        tml_status status = tml_io_warn(file,
                                        "its axes have the units \"%s\" and \"%s\", of which "
                                        "one is not known; their numbers are taken as they are",
                                        units[0], units[k]);
        if (status != TML_OK)
            return status;
    }
    return TML_OK;
}

/* Computes the spacing and the first sample's position of an axis whose bounds are given. */
static void take_bounds(const nrrd_header *nrrd, size_t axis, double *spacing, double *first)
{
    double length = nrrd->maxs[axis] - nrrd->mins[axis], size = (double)nrrd->sizes[axis];
    bool is_node = nrrd->is_node[axis];
    if (is_node && size < 2)
        return;
    *spacing = length / (is_node ? size - 1 : size);
    *first = nrrd->mins[axis] + (is_node ? 0 : *spacing / 2);
}

static tml_status nrrd_parse_grid(const io_file *file, const nrrd_header *nrrd,
                                  const size_t order[3], size_t spatial, const tml_load_desc *desc,
                                  volume_header *out)
{
    double axis[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, scale[3] = {1, 1, 1}, columns[9];
    double origin[3], ratio[3];
    bool by_bounds =
        !nrrd->has_directions && !nrrd->has_spacings && nrrd->has_mins && nrrd->has_maxs;
    bool is_given = desc->spacing[0] != 0 && desc->spacing[1] != 0 && desc->spacing[2] != 0;
    if (nrrd->bad_spacings.size && !nrrd->has_directions && !is_given)
        return bad_field(file, "spacings", nrrd->bad_spacings,
                         "a number for each axis; give desc.spacing");
    tml_status status = take_units(file, nrrd, order, spatial, ratio, &out->volume);
    memcpy(origin, nrrd->origin, sizeof origin);
    if (nrrd->has_no_origin) {
        memset(origin, 0, sizeof origin);
        TML_THEN(status, tml_io_warn(file, "its space origin has no numbers; taken as 0"));
    }
    for (size_t k = 0; k < spatial; k++) {
        if (nrrd->has_directions)
            memcpy(axis[k], nrrd->directions[order[k]], sizeof axis[k]);
        else if (nrrd->has_spacings)
            scale[k] = nrrd->spacings[order[k]];
        else if (by_bounds)
            take_bounds(nrrd, order[k], &scale[k], &origin[k]);
    }
    if (status == TML_OK && by_bounds && !nrrd->has_centers)
        status = tml_io_warn(file, "states where its axes begin and end, but not its samples' "
                                   "centering; taken as cells, whose middles the samples are");
    if (status == TML_OK && nrrd->is_quantized)
        status =
            tml_io_warn(file, "its values were quantized (old min, old max); they are taken as "
                              "stored");
    if (status != TML_OK)
        return status;
    if (spatial == 2 && nrrd->has_directions) { /* a slice in space: its normal is the third axis */
        cross(axis[0], axis[1], axis[2]);
        double length = 0;
        for (int i = 0; i < 3; i++)
            length += axis[2][i] * axis[2][i];
        for (int i = 0; i < 3 && length > 0; i++)
            axis[2][i] /= __builtin_sqrt(length);
    }
    for (int row = 0; row < 3; row++)
        for (int k = 0; k < 3; k++)
            columns[3 * row + k] = axis[k][row] * ratio[row];
    for (int row = 0; row < 3; row++)
        out->volume.grid.origin[row] = origin[row] * ratio[row];
    return tml_volume_axes(file, columns, scale, desc, out);
}

static tml_status parse_skips(const io_file *file, const nrrd_header *nrrd, volume_header *out)
{
    if (nrrd->byte_skip == -1 && out->encoding != VOLUME_RAW)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "byte skip is -1, needs encoding raw: the place of compressed data is "
                            "not known from their end");
    out->at_end = nrrd->byte_skip == -1;
    if (!out->at_end)
        out->byte_skip = (uint64_t)nrrd->byte_skip;
    return TML_OK;
}

/* ---- the format ------------------------------------------------------------------------------ */

static bool is_nrrd(io_span head, const char *path)
{
    (void)path;
    return tml_io_starts_with(head, "NRRD00");
}

static tml_status nrrd_parse(const io_file *file, io_span head, const tml_load_desc *desc,
                             volume_header *out)
{
    io_text text = io_text_of(head), again;
    io_span magic;
    (void)tml_io_line(&text, &magic);
    magic = tml_io_trim(magic);
    if (magic.size != 8 || magic.text[6] != '0' || magic.text[7] < '1' || magic.text[7] > '5')
        return bad_field(file, "its first line", magic, "NRRD0001 to NRRD0005");

    nrrd_header nrrd = {.space_dimension = 3};
    for (size_t i = 0; i < AXES_MAX; i++)
        nrrd.is_spatial[i] = true;
    again = text;
    tml_status status = parse_lines(file, &again, false, &nrrd, out);
    if (status == TML_OK && (nrrd.dimension == 0 || nrrd.type == TML_TYPE_NONE))
        status = tml_io_error(file, TML_ERROR_FILE_FORMAT, "its header has no field \"%s\"",
                              nrrd.dimension ? "type" : "dimension");
    TML_THEN(status, parse_lines(file, &text, true, &nrrd, out));
    if (status != TML_OK)
        return status;
    bool has_order = tml_type_size(nrrd.type) == 1 || out->encoding == VOLUME_TEXT;
    const char *missing = !nrrd.has_sizes                  ? "sizes"
                          : !nrrd.has_encoding             ? "encoding"
                          : !nrrd.has_endian && !has_order ? "endian"
                                                           : NULL;
    if (missing)
        return tml_io_error(
            file, TML_ERROR_FILE_FORMAT, "its header has no field \"%s\"%s", missing,
            strcmp(missing, "endian") == 0 ? "; add \"endian: little\" or \"endian: big\"" : "");

    size_t order[3] = {0}, spatial = 0;
    out->volume.type = nrrd.type;
    out->offset = (uint64_t)(text.at - head.text);
    status = parse_skips(file, &nrrd, out);
    TML_THEN(status, parse_axes(file, &nrrd, desc->frame, order, &spatial, out));
    TML_THEN(status, parse_data_file(file, &nrrd, out));
    return status == TML_OK ? nrrd_parse_grid(file, &nrrd, order, spatial, desc, out) : status;
}

const volume_format tml_volume_nrrd = {"NRRD", is_nrrd, nrrd_parse};

/* ---- writing --------------------------------------------------------------------------------- */

static void print_vector(io_writer *writer, double x, double y, double z)
{
    char text[3][IO_NUMBER_SIZE];
    tml_io_format_f64(text[0], x);
    tml_io_format_f64(text[1], y);
    tml_io_format_f64(text[2], z);
    tml_io_print(writer, " (%s,%s,%s)", text[0], text[1], text[2]);
}

bool tml_nrrd_write_header(io_writer *writer, const tml_volume *volume)
{
    static const char *const names[TML_SCALAR_END] = {
        [TML_U8] = "uint8",   [TML_I8] = "int8",   [TML_U16] = "uint16", [TML_I16] = "int16",
        [TML_U32] = "uint32", [TML_I32] = "int32", [TML_U64] = "uint64", [TML_I64] = "int64",
        [TML_F32] = "float",  [TML_F64] = "double"};
    const tml_grid *grid = &volume->grid;
    double spacing[3];
    const double *direction = tml_volume_identity;
    for (int i = 0; i < 3; i++)
        spacing[i] = grid->spacing[i] == 0 ? 1 : grid->spacing[i];
    for (int i = 0; i < 9; i++)
        direction = grid->direction[i] != 0 ? grid->direction : direction;

    tml_io_print(writer, "NRRD0005\ntype: %s\ndimension: 3\n", names[volume->type]);
    bool has_space = volume->space[0] && !strpbrk(volume->space, "\r\n");
    if (has_space)
        tml_io_print(writer, "space: %s\n", volume->space);
    else
        tml_io_print(writer, "space dimension: 3\n");
    tml_io_print(writer,
                 "sizes: %" PRIu64 " %" PRIu64 " %" PRIu64 "\nspace directions:", grid->dims[0],
                 grid->dims[1], grid->dims[2]);
    for (int axis = 0; axis < 3; axis++)
        print_vector(writer, direction[axis] * spacing[axis], direction[3 + axis] * spacing[axis],
                     direction[6 + axis] * spacing[axis]);
    tml_io_print(writer, "\nspace origin:");
    print_vector(writer, grid->origin[0], grid->origin[1], grid->origin[2]);
    if (volume->unit[0] && !strpbrk(volume->unit, "\"\r\n"))
        tml_io_print(writer, "\nspace units: \"%s\" \"%s\" \"%s\"", volume->unit, volume->unit,
                     volume->unit);
    tml_io_print(writer, "\nkinds: domain domain domain\nendian: %s\nencoding: raw\n",
                 IO_HOST_IS_BIG_ENDIAN ? "big" : "little");
    if (volume->comment[0] && !strpbrk(volume->comment, "\r\n"))
        tml_io_print(writer, "content: %s\n", volume->comment);
    bool scaled = volume->slope != 0 && (volume->slope != 1 || volume->intercept != 0);
    if (scaled) {
        char slope[IO_NUMBER_SIZE], intercept[IO_NUMBER_SIZE];
        tml_io_format_f64(slope, volume->slope);
        tml_io_format_f64(intercept, volume->intercept);
        tml_io_print(writer, "trommel slope:=%s\ntrommel intercept:=%s\n", slope, intercept);
    }
    return tml_io_print(writer, "\n");
}
