/* Parses the description of a TIFF file's first page. ImageJ (imagej.net; ij.io.TiffDecoder and
 * ij.measure.Calibration) and SCIFIO (scif.io), with which Fiji also writes, have a line per value.
 * OME (ome-model.readthedocs.io: the OME-XML schema of 2016-06, and the OME-TIFF specification) has
 * an XML document, which Expat parses. */
#include <inttypes.h>
#include <math.h>

#include "io/units.h"
#include "io/volumes/tiff_internal.h"

#ifdef TML_TIFF

void tml_tiff_text_free(const io_file *file, tiff_text *text)
{
    tml_free(file->tml, text->runs, text->run_room * sizeof *text->runs);
    tml_free(file->tml, text->names, text->name_room * sizeof *text->names);
    text->runs = NULL;
    text->names = NULL;
    text->run_count = text->run_room = text->name_count = text->name_room = 0;
}

/* ---- ImageJ ---------------------------------------------------------------------------------- */

/* Calibration functions. Lines and polynomials may be linear. */
enum { IMAGEJ_LINE = 0, IMAGEJ_POLY4 = 3, IMAGEJ_NONE = 20, IMAGEJ_COEFFICIENTS = 5 };

typedef struct imagej_values {
    bool has_function;
    uint64_t function;
    double coefficients[IMAGEJ_COEFFICIENTS];
    char units[3][16];                /* unit, yunit, zunit; empty yunit, zunit: as unit */
    io_span axes, scales, axis_units; /* SCIFIO's lists */
} imagej_values;

/* Returns item i of a list with commas, or nothing. */
static io_span item_of(io_span list, int i)
{
    io_span item = {list.text, 0};
    for (size_t at = 0; at < list.size; at++)
        if (list.text[at] == ',' && i-- == 0)
            break;
        else if (list.text[at] == ',')
            item = (io_span){list.text + at + 1, 0};
        else
            item.size++;
    return i <= 0 ? tml_io_trim(item) : (io_span){"", 0};
}

static void read_imagej_line(io_span key, io_span value, imagej_values *values, tiff_text *out)
{
    static const char *const units[] = {"unit", "yunit", "zunit"};
    static const char *const origins[] = {"xorigin", "yorigin", "zorigin"};
    static const struct {
        const char *key;
        size_t offset;
    } counts[] = {{"images", offsetof(tiff_text, images)},
                  {"channels", offsetof(tiff_text, before)},
                  {"slices", offsetof(tiff_text, layers)},
                  {"frames", offsetof(tiff_text, after)}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (tml_io_is(key, counts[i].key))
            (void)tml_io_parse_u64(value, (uint64_t *)(void *)((char *)out + counts[i].offset));
    for (int axis = 0; axis < 3; axis++) {
        if (tml_io_is(key, units[axis]))
            tml_io_unit(value, values->units[axis], sizeof values->units[axis]);
        if (tml_io_is(key, origins[axis]))
            (void)tml_io_parse_f64(value, &out->origin[axis]);
    }
    if (tml_io_is(key, "axes"))
        values->axes = value;
    if (tml_io_is(key, "scales"))
        values->scales = value;
    if (tml_io_is(key, "units"))
        values->axis_units = value;
    if (tml_io_is(key, "spacing"))
        (void)tml_io_parse_f64(value, &out->spacing[2]);
    if (tml_io_is(key, "cf"))
        values->has_function = tml_io_parse_u64(value, &values->function);
    if (key.size == 2 && key.text[0] == 'c' && key.text[1] >= '0' &&
        key.text[1] < '0' + IMAGEJ_COEFFICIENTS)
        (void)tml_io_parse_f64(value, &values->coefficients[key.text[1] - '0']);
}

/* Reads slope and intercept of the function from samples to values, if it is linear. */
static tml_status read_calibration(const io_file *file, const imagej_values *values, tiff_text *out)
{
    const double *c = values->coefficients;
    bool is_linear =
        values->function <= IMAGEJ_POLY4 && c[1] != 0 && isfinite(c[0]) && isfinite(c[1]);
    for (uint64_t i = 2; is_linear && i <= values->function + 1 && i < IMAGEJ_COEFFICIENTS; i++)
        is_linear = c[i] == 0;
    if (!values->has_function || values->function == IMAGEJ_NONE)
        return TML_OK;
    if (!is_linear)
        return tml_io_warn(file,
                           "ImageJ's calibration function %" PRIu64
                           " is not linear and not applied: values are those of the samples",
                           values->function);
    out->slope = c[1];
    out->intercept = c[0];
    return TML_OK;
}

/* Reads spacing and units by axis: axes=X,Y,Z, scales=0.5,0.5,3, units=um,um,um. */
static void read_scales(imagej_values *values, tiff_text *out)
{
    enum { AXES_MOST = 16 };
    for (int i = 0; i < AXES_MOST; i++) {
        io_span axis = item_of(values->axes, i), unit = item_of(values->axis_units, i);
        int k =
            axis.size == 1 && axis.text[0] >= 'X' && axis.text[0] <= 'Z' ? axis.text[0] - 'X' : -1;
        if (k < 0)
            continue;
        (void)tml_io_parse_f64(item_of(values->scales, i), &out->spacing[k]);
        if (unit.size && !tml_io_is(unit, "null"))
            tml_io_unit(unit, values->units[k], sizeof values->units[k]);
    }
}

static tml_status read_imagej(const io_file *file, const char *text, tiff_text *out)
{
    io_text lines = io_text_of((io_span){text, strlen(text)});
    io_span line;
    imagej_values values = {.function = IMAGEJ_NONE};
    out->kind = TIFF_IMAGEJ;
    while (tml_io_line(&lines, &line)) {
        const char *equals = memchr(line.text, '=', line.size);
        if (!equals)
            continue;
        size_t size = (size_t)(equals - line.text);
        read_imagej_line(tml_io_trim((io_span){line.text, size}),
                         tml_io_trim((io_span){equals + 1, line.size - size - 1}), &values, out);
    }
    read_scales(&values, out);
    out->spacing[2] = fabs(out->spacing[2]); /* negative for a stack from above */
    if (strncmp(values.units[0], "pixel", 5) != 0)
        snprintf(out->unit, sizeof out->unit, "%s", values.units[0]);
    for (int axis = 1; axis < 3; axis++) {
        const char *unit = values.units[axis];
        if (!*unit || strcmp(unit, values.units[0]) == 0)
            continue;
        double ratio = tml_io_unit_ratio(unit, values.units[0]);
        if (ratio == 0)
            return tml_io_error(
                file, TML_ERROR_UNSUPPORTED,
                "its description has lengths in %s and in %s, of which the ratio is "
                "not known; write both in one unit",
                *values.units[0] ? values.units[0] : "no unit", unit);
        out->ratio[axis] = ratio;
    }
    return read_calibration(file, &values, out);
}

/* ---- OME ------------------------------------------------------------------------------------- */

/* May the text be OME's? If it may, its outermost element decides. */
static bool may_be_ome(const char *text)
{
    return *text == '<' && strstr(text, "OME") != NULL;
}

#    ifdef TML_XML
#        include <expat.h>

enum { UUID_SIZE = 128 };

typedef struct ome_reader {
    const io_file *file;
    XML_Parser parser;
    tiff_text *out;
    tml_status status; /* of the first error */
    int depth;
    bool is_ome;
    uint32_t wanted;    /* number of the image that is read */
    uint32_t first_own; /* first image with a plane in this file; UINT32_MAX: none */
    bool is_in_pixels;  /* in the wanted image */
    bool is_in_data;    /* in a TiffData of any image */
    bool is_in_uuid;    /* UUID, in TiffData */
    uint64_t stride[3]; /* planes from one z, c or t to the next */
    char unit[3][16];
    char root[UUID_SIZE]; /* the UUID of this file */
    char uuid[UUID_SIZE];
    char name[VOLUME_NAME_SIZE];
    tiff_run run;
} ome_reader;

static void stop(ome_reader *reader, tml_status status)
{
    TML_THEN(reader->status, status);
    XML_StopParser(reader->parser, XML_FALSE);
}

/* Returns the name without a namespace's prefix. */
static const char *local_name(const XML_Char *name)
{
    const char *colon = strrchr(name, ':');
    return colon ? colon + 1 : name;
}

static io_span attribute(const XML_Char **attributes, const char *name)
{
    for (; *attributes; attributes += 2)
        if (strcmp(local_name(attributes[0]), name) == 0)
            return tml_io_trim((io_span){attributes[1], strlen(attributes[1])});
    return (io_span){NULL, 0};
}

/* Returns the count in an attribute, from least on, or other without the attribute. */
static uint64_t count_of(ome_reader *reader, const XML_Char **attributes, const char *name,
                         uint64_t least, uint64_t other)
{
    io_span value = attribute(attributes, name);
    uint64_t count = other;
    if (value.text && (!tml_io_parse_u64(value, &count) || count < least))
        stop(reader,
             tml_io_error(reader->file, TML_ERROR_FILE_FORMAT,
                          "%s in its OME description is \"%.*s\", needs a count from "
                          "%" PRIu64 " on",
                          name, (int)(value.size < 40 ? value.size : 40), value.text, least));
    return count;
}

static tml_type type_of(io_span name)
{
    static const struct {
        const char *name;
        tml_type type;
    } types[] = {{"int8", TML_I8},   {"uint8", TML_U8},   {"int16", TML_I16}, {"uint16", TML_U16},
                 {"int32", TML_I32}, {"uint32", TML_U32}, {"float", TML_F32}, {"double", TML_F64}};
    for (size_t i = 0; name.text && i < sizeof types / sizeof types[0]; i++)
        if (tml_io_is_any_case(name, types[i].name))
            return types[i].type;
    return TML_TYPE_NONE;
}

/* Reads DimensionOrder, such as "XYCZT", fastest first: the strides, and the frames around the
 * layers. */
static void read_order(ome_reader *reader, io_span order, const uint64_t sizes[3])
{
    static const char letters[] = "ZCT";
    tiff_text *out = reader->out;
    uint64_t planes = 1;
    bool is_after = false, is_huge = false;
    unsigned seen = 0;
    if (!order.text)
        order = (io_span){"XYZCT", 5};
    for (size_t i = 2; i < order.size && order.size == 5; i++) {
        const char *at = memchr(letters, order.text[i], 3);
        if (!at)
            break;
        size_t axis = (size_t)(at - letters);
        seen |= 1u << axis;
        reader->stride[axis] = planes;
        is_huge |= __builtin_mul_overflow(planes, sizes[axis], &planes);
        uint64_t *frames = is_after ? &out->after : &out->before;
        if (axis)
            is_huge |= __builtin_mul_overflow(*frames, sizes[axis], frames);
        is_after |= !axis;
    }
    if (seen != 7 || order.text[0] != 'X' || order.text[1] != 'Y')
        stop(reader, tml_io_error(reader->file, TML_ERROR_FILE_FORMAT,
                                  "DimensionOrder in its OME description is \"%.*s\", needs XY and "
                                  "Z, C and T in some order",
                                  (int)(order.size < 20 ? order.size : 20), order.text));
    if (is_huge)
        out->before = out->after = UINT64_MAX; /* more than any file has */
    out->layers = sizes[0];
}

/* Reads the lengths, in the unit of x or of the first axis that has a length. */
static void read_lengths(ome_reader *reader, const XML_Char **attributes)
{
    static const char *const lengths[] = {"PhysicalSizeX", "PhysicalSizeY", "PhysicalSizeZ"};
    static const char *const units[] = {"PhysicalSizeXUnit", "PhysicalSizeYUnit",
                                        "PhysicalSizeZUnit"};
    tiff_text *out = reader->out;
    bool has_unit = false;
    for (int axis = 0; axis < 3; axis++) {
        io_span value = attribute(attributes, lengths[axis]),
                unit = attribute(attributes, units[axis]);
        char name[16];
        double length = 0;
        if (!value.text)
            continue;
        if (!tml_io_parse_f64(value, &length) || !(length > 0))
            length = NAN; /* an error unless the caller gives a spacing */
        tml_io_unit(unit.text ? unit : (io_span){"\u00b5m", 3}, name, sizeof name);
        if (!has_unit)
            snprintf(out->unit, sizeof out->unit, "%s", name);
        has_unit = true;
        double ratio = strcmp(name, out->unit) == 0 ? 1 : tml_io_unit_ratio(name, out->unit);
        if (ratio == 0)
            stop(reader, tml_io_error(reader->file, TML_ERROR_UNSUPPORTED,
                                      "its OME description has lengths in %s and in %s, of which "
                                      "the ratio is not known; write both in one unit",
                                      out->unit, name));
        out->spacing[axis] = length * ratio;
    }
    if (strcmp(out->unit, "pixel") == 0 || strcmp(out->unit, "reference frame") == 0)
        out->unit[0] = '\0';
}

static void start_pixels(ome_reader *reader, const XML_Char **attributes)
{
    static const char *const counts[] = {"SizeZ", "SizeC", "SizeT"};
    tiff_text *out = reader->out;
    uint64_t sizes[3];
    reader->is_in_pixels = out->image_count++ == reader->wanted;
    if (!reader->is_in_pixels)
        return;
    out->image = reader->wanted;
    for (int i = 0; i < 3; i++)
        sizes[i] = count_of(reader, attributes, counts[i], 1, 1);
    out->width = count_of(reader, attributes, "SizeX", 1, 0);
    out->height = count_of(reader, attributes, "SizeY", 1, 0);
    io_span type = attribute(attributes, "Type");
    out->type = type_of(type.text ? type : attribute(attributes, "PixelType"));
    read_order(reader, attribute(attributes, "DimensionOrder"), sizes);
    read_lengths(reader, attributes);
}

static void start_data(ome_reader *reader, const XML_Char **attributes)
{
    static const char *const firsts[] = {"FirstZ", "FirstC", "FirstT"};
    uint64_t planes[3], plane = 0, part;
    bool is_huge = false;
    reader->is_in_data = true;
    reader->uuid[0] = reader->name[0] = '\0';
    for (int i = 0; i < 3; i++) {
        planes[i] = count_of(reader, attributes, firsts[i], 0, 0);
        is_huge |= __builtin_mul_overflow(planes[i], reader->stride[i], &part) ||
                   __builtin_add_overflow(plane, part, &plane);
    }
    bool has_page = attribute(attributes, "IFD").text != NULL;
    bool has_planes = attribute(attributes, "PlaneCount").text != NULL;
    uint64_t count =
        count_of(reader, attributes, has_planes ? "PlaneCount" : "NumPlanes", 1, has_page ? 1 : 0);
    reader->run = (tiff_run){.plane = is_huge ? UINT64_MAX : plane,
                             .page = count_of(reader, attributes, "IFD", 0, 0),
                             .count = count};
}

static bool grow(const io_file *file, void *array, size_t count, size_t *room, size_t size)
{
    void **data = array;
    if (count < *room)
        return true;
    size_t more = *room ? 2 * *room : 16;
    void *grown = tml_io_alloc(file, more * size);
    if (!grown)
        return false;
    if (count)
        memcpy(grown, *data, count * size);
    tml_free(file->tml, *data, *room * size);
    *data = grown;
    *room = more;
    return true;
}

/* Returns the number of the file that the element UUID names; 0: this file. */
static uint32_t find_file(ome_reader *reader)
{
    tiff_text *out = reader->out;
    const char *name = reader->name, *slash = strrchr(reader->file->path, '/');
    const char *back = strrchr(reader->file->path, '\\');
    const char *own = slash ? slash + 1 : back ? back + 1 : reader->file->path;
    bool is_own_uuid = *reader->uuid && strcmp(reader->uuid, reader->root) == 0;
    if (is_own_uuid || strcmp(name, own) == 0 || (!*name && !*reader->uuid))
        return 0;
    if (!*name || strpbrk(name, "\r\n")) {
        stop(reader, tml_io_error(reader->file, TML_ERROR_UNSUPPORTED,
                                  "its OME description has planes in another file, %s, that it "
                                  "does not name; save the image as one file",
                                  *name ? "with a line break in its name" : reader->uuid));
        return 0;
    }
    for (size_t i = out->name_count; i-- > 0;)
        if (strcmp(out->names[i], name) == 0)
            return (uint32_t)i + 1;
    void *names = out->names;
    if (out->name_count == UINT32_MAX - 1 ||
        !grow(reader->file, &names, out->name_count, &out->name_room, sizeof *out->names)) {
        stop(reader, TML_ERROR_OUT_OF_MEMORY);
        return 0;
    }
    out->names = names;
    snprintf(out->names[out->name_count], sizeof *out->names, "%s", name);
    return (uint32_t)++out->name_count;
}

static void end_data(ome_reader *reader)
{
    tiff_text *out = reader->out;
    reader->is_in_data = false;
    if (!reader->is_in_pixels && reader->first_own != UINT32_MAX)
        return;
    reader->run.file = find_file(reader);
    if (reader->run.file == 0 && reader->first_own == UINT32_MAX)
        reader->first_own = out->image_count - 1;
    if (!reader->is_in_pixels)
        return;
    void *runs = out->runs;
    if (!grow(reader->file, &runs, out->run_count, &out->run_room, sizeof *out->runs)) {
        stop(reader, TML_ERROR_OUT_OF_MEMORY);
        return;
    }
    out->runs = runs;
    out->runs[out->run_count++] = reader->run;
    out->has_own_plane |= reader->run.file == 0;
}

static void start_element(void *user, const XML_Char *element, const XML_Char **attributes)
{
    ome_reader *reader = user;
    const char *name = local_name(element);
    if (reader->depth++ == 0) {
        reader->is_ome = strcmp(name, "OME") == 0;
        tml_io_copy(reader->root, sizeof reader->root, attribute(attributes, "UUID"));
        if (!reader->is_ome)
            stop(reader, TML_OK);
    }
    if (strcmp(name, "BinaryOnly") == 0) {
        reader->out->has_no_data = true;
        tml_io_copy(reader->out->metadata_file, sizeof reader->out->metadata_file,
                    attribute(attributes, "MetadataFile"));
    } else if (strcmp(name, "Pixels") == 0 || attribute(attributes, "DimensionOrder").text) {
        start_pixels(reader, attributes);
    } else if (strcmp(name, "TiffData") == 0 && reader->out->image_count) {
        start_data(reader, attributes);
    } else if (strcmp(name, "UUID") == 0 && reader->is_in_data) {
        reader->is_in_uuid = true;
        tml_io_copy(reader->name, sizeof reader->name, attribute(attributes, "FileName"));
    }
}

static void read_characters(void *user, const XML_Char *text, int size)
{
    ome_reader *reader = user;
    size_t used = strlen(reader->uuid);
    for (int i = 0; reader->is_in_uuid && i < size && used + 1 < sizeof reader->uuid; i++)
        if (text[i] > ' ' || text[i] < 0)
            reader->uuid[used++] = text[i];
    reader->uuid[used] = '\0';
}

static void end_element(void *user, const XML_Char *element)
{
    ome_reader *reader = user;
    const char *name = local_name(element);
    reader->depth--;
    if (strcmp(name, "UUID") == 0)
        reader->is_in_uuid = false;
    else if (strcmp(name, "TiffData") == 0 && reader->is_in_data)
        end_data(reader);
    else if (strcmp(name, "Pixels") == 0)
        reader->is_in_pixels = false;
}

/* A DOCTYPE's entities are the only way for a few bytes to become many. */
static void refuse_doctype(void *user, const XML_Char *name, const XML_Char *system_id,
                           const XML_Char *public_id, int has_subset)
{
    ome_reader *reader = user;
    (void)name, (void)system_id, (void)public_id, (void)has_subset;
    stop(reader, tml_io_error(reader->file, TML_ERROR_FILE_FORMAT,
                              "its OME description has a DOCTYPE, which none needs; remove it"));
}

/* Reads image number wanted. is_latin: the bytes are Latin-1, whatever the text says. */
static tml_status parse_ome(ome_reader *reader, const char *text, uint32_t wanted, bool is_latin,
                            bool *is_bad_byte)
{
    const io_file *file = reader->file;
    size_t size = strlen(text);
    tml_tiff_text_free(file, reader->out);
    *reader->out = (tiff_text){TIFF_OME, 1, 1, 1, .ratio = {1, 1, 1}, .slope = 1, .images = 1};
    *reader = (ome_reader){.file = file,
                           .out = reader->out,
                           .wanted = wanted,
                           .first_own = UINT32_MAX,
                           .stride = {1, 1, 1},
                           .parser = XML_ParserCreate(is_latin ? "ISO-8859-1" : NULL)};
    if (!reader->parser)
        return tml_io_error(file, TML_ERROR_OUT_OF_MEMORY, "no memory to read XML with");
    XML_SetUserData(reader->parser, reader);
    XML_SetElementHandler(reader->parser, start_element, end_element);
    XML_SetCharacterDataHandler(reader->parser, read_characters);
    XML_SetStartDoctypeDeclHandler(reader->parser, refuse_doctype);
    bool is_good =
        size <= INT32_MAX && XML_Parse(reader->parser, text, (int)size, XML_TRUE) == XML_STATUS_OK;
    enum XML_Error code = XML_GetErrorCode(reader->parser);
    *is_bad_byte = !is_good && code == XML_ERROR_INVALID_TOKEN;
    if (!is_good && reader->status == TML_OK && reader->is_ome && (!*is_bad_byte || is_latin))
        reader->status = tml_io_error(
            file, TML_ERROR_FILE_FORMAT, "its OME description is no XML: line %lu: %s",
            (unsigned long)XML_GetCurrentLineNumber(reader->parser), XML_ErrorString(code));
    XML_ParserFree(reader->parser);
    return reader->status;
}

static tml_status read_ome(const io_file *file, const char *text, tiff_text *out)
{
    ome_reader reader = {.file = file, .out = out};
    bool is_bad_byte = false, is_latin = false;
    tml_status status = parse_ome(&reader, text, 0, false, &is_bad_byte);
    if (status == TML_OK && is_bad_byte) {
        is_latin = true;
        status = parse_ome(&reader, text, 0, true, &is_bad_byte);
    }
    /* If there are several images, reads the one with planes in this file. */
    if (status == TML_OK && reader.first_own != UINT32_MAX && reader.first_own > 0)
        status = parse_ome(&reader, text, reader.first_own, is_latin, &is_bad_byte);
    if (status != TML_OK)
        return status;
    if (!reader.is_ome) {
        tml_tiff_text_free(file, out);
        *out = (tiff_text){TIFF_PLAIN, 1, 1, 1, .ratio = {1, 1, 1}, .slope = 1, .images = 1};
        return TML_OK;
    }
    if (!out->image_count && !out->has_no_data)
        out->kind = TIFF_PLAIN;
    return out->image_count > 1 ? tml_io_warn(file,
                                              "its OME description has %" PRIu32
                                              " images, of which number %" PRIu32 " is read",
                                              out->image_count, out->image + 1)
                                : TML_OK;
}

#    else

static tml_status read_ome(const io_file *file, const char *text, tiff_text *out)
{
    (void)text, (void)out;
    return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                        "says in OME's XML which page is which layer, and this library was built "
                        "without expat (TML_XML); save it as TIFF in ImageJ, or as NRRD");
}

#    endif

tml_status tml_tiff_text_read(const io_file *file, const char *text, tiff_text *out)
{
    *out = (tiff_text){TIFF_PLAIN, 1, 1, 1, .ratio = {1, 1, 1}, .slope = 1, .images = 1};
    if (!text)
        return TML_OK;
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0) /* a byte order mark */
        text += 3;
    while (*text == ' ' || (*text >= '\t' && *text <= '\r'))
        text++;
    if (strncmp(text, "ImageJ=", 7) == 0 || strncmp(text, "SCIFIO=", 7) == 0)
        return read_imagej(file, text, out);
    return may_be_ome(text) ? read_ome(file, text, out) : TML_OK;
}

#endif
