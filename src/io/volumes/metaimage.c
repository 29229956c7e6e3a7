/* MetaImage, .mha and .mhd. After the MetaIO documentation (itk.org/Wiki/MetaIO). Positions are
 * LPS.
 *
 * TransformMatrix lists one axis after another, as ITK reads it: its first NDims numbers are the
 * direction of x, which is a column of the grid's matrix. */
#include <inttypes.h>

#include "io/units.h"
#include "io/volumes/volume_internal.h"

enum { AXES_MAX = 4, STRAYS_MAX = 8 };

typedef struct meta_header {
    uint64_t axes, sizes[AXES_MAX], channels;
    double spacing[AXES_MAX], size[AXES_MAX], offset[AXES_MAX], matrix[AXES_MAX * AXES_MAX];
    bool has_sizes, has_spacing, has_bad_spacing, has_size, has_matrix, is_text;
    char orientation[8]; /* AnatomicalOrientation */
    int64_t header_size;
    io_span data_file;
} meta_header;

static const struct {
    const char *name;
    tml_type type;
} type_names[] = {{"MET_CHAR", TML_I8},        {"MET_UCHAR", TML_U8},  {"MET_SHORT", TML_I16},
                  {"MET_USHORT", TML_U16},     {"MET_INT", TML_I32},   {"MET_UINT", TML_U32},
                  {"MET_LONG", TML_I32},       {"MET_ULONG", TML_U32}, {"MET_LONG_LONG", TML_I64},
                  {"MET_ULONG_LONG", TML_U64}, {"MET_FLOAT", TML_F32}, {"MET_DOUBLE", TML_F64}};

static tml_status bad_field(const io_file *file, io_span field, io_span value, const char *needs)
{
    return tml_io_error(file, TML_ERROR_FILE_FORMAT, "%.*s is \"%.*s\", needs %s",
                        (int)(field.size < 40 ? field.size : 40), field.text,
                        (int)(value.size < 80 ? value.size : 80), value.text, needs);
}

static bool parse_bool(io_span value, bool *out)
{
    static const char *const words[] = {"True", "T", "1", "Yes", "False", "F", "0", "No"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (tml_io_is_any_case(value, words[i])) {
            *out = i < 4;
            return true;
        }
    return false;
}

static bool is_one_of(io_span field, const char *const *names)
{
    for (; *names; names++)
        if (tml_io_is_any_case(field, *names))
            return true;
    return false;
}

static tml_status parse_type(const io_file *file, io_span field, io_span value, tml_type *out)
{
    static const char array[] = "_ARRAY";
    size_t size = sizeof array - 1;
    io_span name = value;
    if (name.size > size && tml_io_is((io_span){name.text + name.size - size, size}, array))
        name.size -= size;
    for (size_t i = 0; i < sizeof type_names / sizeof type_names[0]; i++)
        if (tml_io_is_any_case(name, type_names[i].name)) {
            *out = type_names[i].type;
            return TML_OK;
        }
    return bad_field(file, field, value, "a number's type, MET_UCHAR to MET_DOUBLE");
}

/* Parses a field with numbers for each axis. Returns false for other fields. *good receives whether
 * the numbers are valid. */
static bool parse_axes(io_span field, io_span value, meta_header *meta, bool *good)
{
    static const char *const offset_names[] = {"Offset", "Position", "Origin", NULL};
    static const char *const matrix_names[] = {"TransformMatrix", "Rotation", "Orientation", NULL};
    size_t axes = (size_t)meta->axes;
    if (tml_io_is_any_case(field, "DimSize")) {
        *good = meta->has_sizes = axes && tml_volume_parse_sizes(value, meta->sizes, axes);
    } else if (tml_io_is_any_case(field, "ElementSpacing")) {
        meta->has_spacing = axes && tml_volume_parse_reals(value, meta->spacing, axes);
        meta->has_bad_spacing = !meta->has_spacing;
    } else if (tml_io_is_any_case(field, "ElementSize")) {
        meta->has_size = axes && tml_volume_parse_reals(value, meta->size, axes);
    } else if (is_one_of(field, offset_names)) {
        *good = tml_volume_parse_reals(value, meta->offset, axes);
    } else if (is_one_of(field, matrix_names)) {
        *good = meta->has_matrix = tml_volume_parse_reals(value, meta->matrix, axes * axes);
    } else {
        return false;
    }
    return true;
}

static tml_status parse_field(const io_file *file, io_span field, io_span value, meta_header *meta,
                              volume_header *out)
{
    static const char *const order_names[] = {"BinaryDataByteOrderMSB", "ElementByteOrderMSB",
                                              NULL};
    bool good = true, flag = false;
    const char *needs = "a number for each of NDims axes";
    if (parse_axes(field, value, meta, &good)) {
        ;
    } else if (tml_io_is_any_case(field, "ObjectType")) {
        good = tml_io_is_any_case(value, "Image");
        needs = "Image";
    } else if (tml_io_is_any_case(field, "NDims")) {
        good = tml_io_parse_u64(value, &meta->axes) && meta->axes >= 1 && meta->axes <= AXES_MAX;
        needs = "1 to 4";
        if (!good)
            meta->axes = 0;
    } else if (is_one_of(field, order_names)) {
        good = parse_bool(value, &out->big_endian);
        needs = "True or False";
    } else if (tml_io_is_any_case(field, "CompressedData")) {
        good = parse_bool(value, &flag);
        needs = "True or False";
        out->encoding = flag ? VOLUME_DEFLATE : VOLUME_RAW;
    } else if (tml_io_is_any_case(field, "BinaryData")) {
        good = parse_bool(value, &flag);
        needs = "True or False";
        meta->is_text = !flag;
    } else if (tml_io_is_any_case(field, "HeaderSize")) {
        good = tml_io_parse_i64(value, &meta->header_size) && meta->header_size >= -1;
        needs = "a whole number, or -1";
    } else if (tml_io_is_any_case(field, "ElementNumberOfChannels")) {
        good = tml_io_parse_u64(value, &meta->channels);
        needs = "a whole number";
    } else if (tml_io_is_any_case(field, "ElementType")) {
        return parse_type(file, field, value, &out->volume.type);
    } else if (tml_io_is_any_case(field, "ElementDataFile")) {
        meta->data_file = value;
        good = value.size > 0;
        needs = "a file's name, LOCAL or LIST";
    } else if (tml_io_is_any_case(field, "DistanceUnits")) {
        tml_io_unit(value, out->volume.unit, sizeof out->volume.unit);
        if (tml_io_is(value, "?"))
            out->volume.unit[0] = '\0';
    } else if (tml_io_is_any_case(field, "AnatomicalOrientation")) {
        tml_io_copy(meta->orientation, sizeof meta->orientation, value);
    } else if (tml_io_is_any_case(field, "Comment")) {
        tml_io_copy(out->volume.comment, sizeof out->volume.comment, value);
    }
    return good ? TML_OK : bad_field(file, field, value, needs);
}

/* Returns the number of files, each of which has only the first file_axes axes of the volume. */
static uint64_t files_of(const meta_header *meta, uint64_t file_axes)
{
    uint64_t files = 1;
    for (uint64_t i = file_axes; i < meta->axes; i++)
        if (__builtin_mul_overflow(files, meta->sizes[i], &files))
            return 0;
    return files;
}

/* Parses ElementDataFile: "LOCAL", "LIST [n]" with names on the next lines, "name%03d.raw first
 * last step", or a name. */
static tml_status parse_data_file(const io_file *file, io_text *text, const meta_header *meta,
                                  volume_header *out)
{
    static const char list[] = "LIST";
    io_span value = meta->data_file, word, pattern;
    if (tml_io_is_any_case(value, "LOCAL"))
        return TML_OK;
    io_text words = io_text_of(value);
    (void)tml_io_word(&words, &pattern);
    out->offset = 0;
    if (tml_io_is(pattern, list)) {
        uint64_t file_axes = meta->axes - 1;
        if (tml_io_word(&words, &word)) {
            word.size -= word.text[word.size - 1] == 'D';
            if (!tml_io_parse_u64(word, &file_axes) || file_axes < 1 || file_axes > meta->axes)
                return bad_field(file, (io_span){"ElementDataFile", 15}, value,
                                 "LIST and the axes of each file");
        }
        out->source = VOLUME_LIST;
        out->names = (io_span){text->at, (size_t)(text->end - text->at)};
        out->file_count = files_of(meta, file_axes);
        return TML_OK;
    }
    int64_t bounds[3];
    int count = 0;
    while (count < 3 && tml_io_word(&words, &word) && tml_io_parse_i64(word, &bounds[count]))
        count++;
    if (count != 3 || !tml_volume_is_pattern(pattern)) {
        out->source = VOLUME_FILE;
        out->names = value;
        return TML_OK;
    }
    tml_volume_pattern(pattern, bounds[0], bounds[1], bounds[2], out);
    return TML_OK;
}

static tml_status metaimage_parse_grid(const io_file *file, const meta_header *meta,
                                       const tml_load_desc *desc, volume_header *out)
{
    double columns[9], scale[3] = {1, 1, 1};
    uint64_t axes = meta->axes < 3 ? meta->axes : 3;
    bool is_given = desc->spacing[0] != 0 && desc->spacing[1] != 0 && desc->spacing[2] != 0;
    if (meta->has_bad_spacing && !is_given)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "ElementSpacing is not a number for each of NDims axes; give "
                            "desc.spacing");
    memcpy(columns, tml_volume_identity, sizeof columns);
    for (uint64_t i = 0; i < axes; i++) {
        if (meta->has_spacing || meta->has_size)
            scale[i] = meta->has_spacing ? meta->spacing[i] : meta->size[i];
        for (uint64_t row = 0; row < axes && meta->has_matrix; row++)
            columns[3 * row + i] = meta->matrix[i * meta->axes + row];
        out->volume.grid.origin[i] = meta->offset[i];
    }
    snprintf(out->volume.space, sizeof out->volume.space, "left-posterior-superior");
    /* Only the matrix counts, as in ITK. AnatomicalOrientation names the sides that axes come from,
     * so RAI is LPS, which names the sides that axes go to. */
    const char *orientation = meta->orientation;
    bool is_other = *orientation && *orientation != '?' && strcmp(orientation, "RAI") != 0;
    if (is_other && !meta->has_matrix) {
        tml_status status = tml_io_warn(file,
                                        "has AnatomicalOrientation %s without TransformMatrix; "
                                        "its axes are taken as RAI, as ITK takes them",
                                        orientation);
        if (status != TML_OK)
            return status;
    }
    return tml_volume_axes(file, columns, scale, desc, out);
}

/* Returns whether a line is text and not longer than a person would write. */
static bool is_printable(io_span line)
{
    bool is = line.size < 256;
    for (size_t i = 0; i < line.size && is; i++)
        is = (uint8_t)line.text[i] >= ' ' || line.text[i] == '\t';
    return is;
}

static bool is_metaimage(io_span head, const char *path)
{
    static const char *const first_fields[] = {"ObjectType", "NDims", "Comment"};
    io_text text = io_text_of(head);
    io_span line;
    bool named = tml_volume_name_ends(path, ".mhd") || tml_volume_name_ends(path, ".mha");
    if (named || !tml_io_line(&text, &line) || !line.size || !memchr(line.text, '=', line.size))
        return named;
    for (size_t i = 0; i < sizeof first_fields / sizeof first_fields[0]; i++)
        if (tml_io_starts_with(line, first_fields[i]))
            return true;
    return false;
}

/* Parses all fields up to the last, ElementDataFile. */
static tml_status parse_fields(const io_file *file, io_text *text, meta_header *meta,
                               volume_header *out)
{
    io_span line;
    uint32_t strays = 0; /* lines that are not fields */
    while (meta->data_file.size == 0 && tml_io_line(text, &line)) {
        const char *equals = line.size ? memchr(line.text, '=', line.size) : NULL;
        if (tml_io_trim(line).size == 0)
            continue;
        if (!equals && line.size) /* MetaIO accepts ':', too */
            equals = memchr(line.text, ':', line.size);
        if (!equals && strays++ < STRAYS_MAX && is_printable(line))
            continue;
        if (!equals)
            return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                                "line %" PRIu64 " of its header is not \"Field = value\"",
                                text->line - 1);
        size_t at = (size_t)(equals - line.text);
        tml_status status =
            parse_field(file, tml_io_trim((io_span){line.text, at}),
                        tml_io_trim((io_span){equals + 1, line.size - at - 1}), meta, out);
        if (status != TML_OK)
            return status;
    }
    return strays ? tml_io_warn(file,
                                "lines of its header that are not \"Field = value\" are left out: "
                                "%" PRIu32,
                                strays)
                  : TML_OK;
}

static tml_status metaimage_parse(const io_file *file, io_span head, const tml_load_desc *desc,
                                  volume_header *out)
{
    meta_header meta = {.channels = 1};
    io_text text = io_text_of(head);
    tml_status status = parse_fields(file, &text, &meta, out);
    if (status != TML_OK)
        return status;
    const char *missing = !meta.axes                          ? "NDims"
                          : !meta.has_sizes                   ? "DimSize"
                          : out->volume.type == TML_TYPE_NONE ? "ElementType"
                          : meta.data_file.size == 0          ? "ElementDataFile"
                                                              : NULL;
    if (missing)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT, "its header has no field %s", missing);

    if (meta.axes == 4 && meta.sizes[3] == 0) /* some write this for an unused axis */
        meta.sizes[3] = 1;
    for (uint64_t i = 0; i < 3; i++)
        out->volume.grid.dims[i] = i < meta.axes ? meta.sizes[i] : 1;
    out->offset = (uint64_t)(text.at - head.text);
    status = parse_data_file(file, &text, &meta, out);
    if (status != TML_OK)
        return status;
    if (meta.header_size > 0)
        out->offset = (uint64_t)meta.header_size;
    out->at_end = meta.header_size == -1;
    if (out->encoding == VOLUME_DEFLATE && (out->at_end || meta.is_text))
        return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                            "CompressedData is True, needs BinaryData = True and a HeaderSize that "
                            "is not -1");
    if (meta.is_text) {
        out->encoding = VOLUME_TEXT;
        out->at_end = false;
    }
    status = tml_volume_layout(file, 1, meta.channels, meta.axes == 4 ? meta.sizes[3] : 1,
                               desc->frame, out);
    return status == TML_OK ? metaimage_parse_grid(file, &meta, desc, out) : status;
}

const volume_format tml_volume_metaimage = {"MetaImage", is_metaimage, metaimage_parse};

/* ---- writing --------------------------------------------------------------------------------- */

static void print_numbers(io_writer *writer, const char *name, const double *numbers, int count)
{
    tml_io_print(writer, "%s =", name);
    for (int i = 0; i < count; i++) {
        char text[IO_NUMBER_SIZE];
        tml_io_format_f64(text, numbers[i]);
        tml_io_print(writer, " %s", text);
    }
    tml_io_print(writer, "\n");
}

const char *tml_metaimage_unit(const char *unit)
{
    return strcmp(unit, "mm") == 0        ? "mm"
           : strcmp(unit, "cm") == 0      ? "cm"
           : strcmp(unit, "\u00b5m") == 0 ? "um"
                                          : NULL;
}

bool tml_metaimage_write_header(io_writer *writer, const tml_volume *volume)
{
    const tml_grid *grid = &volume->grid;
    const double *direction = tml_volume_identity;
    double spacing[3], offset[3], matrix[9];
    /* LPS axes are kept. Axes that point right, anterior or inferior are reversed. */
    const bool is_turned[3] = {strncmp(volume->space, "right-", 6) == 0,
                               strstr(volume->space, "-anterior") != NULL,
                               strstr(volume->space, "-inferior") != NULL};
    const char *type = "", *unit = tml_metaimage_unit(volume->unit);
    for (int i = 0; i < 9; i++)
        direction = grid->direction[i] != 0 ? grid->direction : direction;
    for (int row = 0; row < 3; row++) {
        double sign = is_turned[row] ? -1 : 1;
        spacing[row] = grid->spacing[row] == 0 ? 1 : grid->spacing[row];
        offset[row] = sign * grid->origin[row] + 0.0; /* never -0 */
        for (int axis = 0; axis < 3; axis++)
            matrix[3 * axis + row] = sign * direction[3 * row + axis] + 0.0;
    }
    for (size_t i = sizeof type_names / sizeof type_names[0]; i-- > 0;)
        if (type_names[i].type == volume->type) /* the first name of a type */
            type = type_names[i].name;
    tml_io_print(writer,
                 "ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = %s\n"
                 "CompressedData = False\n",
                 IO_HOST_IS_BIG_ENDIAN ? "True" : "False");
    print_numbers(writer, "TransformMatrix", matrix, 9);
    print_numbers(writer, "Offset", offset, 3);
    print_numbers(writer, "ElementSpacing", spacing, 3);
    if (unit)
        tml_io_print(writer, "DistanceUnits = %s\n", unit);
    return tml_io_print(writer,
                        "DimSize = %" PRIu64 " %" PRIu64 " %" PRIu64
                        "\nElementType = %s\nElementDataFile = LOCAL\n",
                        grid->dims[0], grid->dims[1], grid->dims[2], type);
}
