/* Parses VTK's XML files with expat. */
#include <inttypes.h>

#include "io/vtk/vtk_xml.h"

#ifdef TML_XML
#    include <expat.h>

enum { CHUNK = 65536, TAG_MAX = 1 << 20 };

typedef struct xml_reader {
    const io_file *file;
    XML_Parser parser;
    vtk_xml *xml;
    tml_status status; /* of the first error */
    bool is_done;      /* the appended data begin */
    char section[16];
    char scalars[VTK_XML_NAME_SIZE], normals[VTK_XML_NAME_SIZE]; /* names, from the section */
    vtk_xml_array *array; /* whose values are in the current element */
    uint32_t inside;      /* depth of elements in that one: information keys, without values */
    bool has_values;      /* text that is not blank has occurred in it */
    uint32_t left_out;    /* arrays beyond VTK_XML_ARRAYS_MAX */
} xml_reader;

static void stop(xml_reader *reader, tml_status status)
{
    TML_THEN(reader->status, status);
    XML_StopParser(reader->parser, XML_FALSE);
}

/* ---- attributes ------------------------------------------------------------------------------ */

static const char *attribute(const XML_Char **attributes, const char *name)
{
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

static io_span span_of(const char *text)
{
    return (io_span){text, strlen(text)};
}

static void copy_attribute(const XML_Char **attributes, const char *name, char *out, size_t size)
{
    const char *value = attribute(attributes, name);
    tml_io_copy(out, size, span_of(value ? value : ""));
}

static void bad_attribute(xml_reader *reader, const char *name, const char *value,
                          const char *needs)
{
    stop(reader,
         tml_io_error(reader->file, TML_ERROR_FILE_FORMAT, "line %lu: %s is \"%.80s\", needs %s",
                      (unsigned long)XML_GetCurrentLineNumber(reader->parser), name, value, needs));
}

static void read_reals(xml_reader *reader, const XML_Char **attributes, const char *name,
                       double *out, size_t count)
{
    const char *value = attribute(attributes, name);
    io_text words = io_text_of(span_of(value ? value : ""));
    io_span word;
    bool good = true;
    for (size_t i = 0; value && i < count; i++)
        good = good && tml_io_word(&words, &word) && tml_io_parse_f64(word, &out[i]);
    if (!good || tml_io_word(&words, &word))
        bad_attribute(reader, name, value, count == 3 ? "three numbers" : "nine numbers");
}

static void read_extent(xml_reader *reader, const XML_Char **attributes, const char *name,
                        int64_t out[6])
{
    const char *value = attribute(attributes, name);
    io_text words = io_text_of(span_of(value ? value : ""));
    io_span word;
    bool good = true;
    for (int i = 0; i < 6; i++)
        good = good && tml_io_word(&words, &word) && tml_io_parse_i64(word, &out[i]) &&
               out[i] >= INT32_MIN && out[i] <= INT32_MAX;
    for (int i = 0; i < 6 && good; i += 2)
        good = out[i] <= out[i + 1];
    if (!good || tml_io_word(&words, &word))
        bad_attribute(reader, name, value ? value : "",
                      "six whole numbers, the first and the last along each axis");
}

static uint64_t read_count(xml_reader *reader, const XML_Char **attributes, const char *name,
                           uint64_t otherwise)
{
    const char *value = attribute(attributes, name);
    uint64_t count = otherwise;
    if (value && !tml_io_parse_u64(tml_io_trim(span_of(value)), &count))
        bad_attribute(reader, name, value, "a whole number");
    return count;
}

/* ---- elements -------------------------------------------------------------------------------- */

static void read_file_element(xml_reader *reader, const XML_Char **attributes)
{
    vtk_xml *xml = reader->xml;
    const char *order = attribute(attributes, "byte_order");
    const char *sizes = attribute(attributes, "header_type");
    const char *compressor = attribute(attributes, "compressor");
    copy_attribute(attributes, "type", xml->type, sizeof xml->type);
    xml->coding.big_endian = order && strcmp(order, "BigEndian") == 0;
    xml->coding.has_long_sizes = sizes && strcmp(sizes, "UInt64") == 0;
    xml->coding.is_compressed = compressor && *compressor;
    if (order && !xml->coding.big_endian && strcmp(order, "LittleEndian") != 0)
        bad_attribute(reader, "byte_order", order, "LittleEndian or BigEndian");
    else if (sizes && !xml->coding.has_long_sizes && strcmp(sizes, "UInt32") != 0)
        bad_attribute(reader, "header_type", sizes, "UInt32 or UInt64");
    else if (xml->coding.is_compressed && strcmp(compressor, "vtkZLibDataCompressor") != 0)
        stop(reader, tml_io_error(reader->file, TML_ERROR_UNSUPPORTED,
                                  "compressor is %.60s (expected vtkZLibDataCompressor or none); "
                                  "save it with ZLib, for example in ParaView",
                                  compressor));
}

static tml_type type_of(const char *name)
{
    static const struct {
        const char *name;
        tml_type type;
    } types[] = {{"Int8", TML_I8},     {"UInt8", TML_U8},   {"Int16", TML_I16}, {"UInt16", TML_U16},
                 {"Int32", TML_I32},   {"UInt32", TML_U32}, {"Int64", TML_I64}, {"UInt64", TML_U64},
                 {"Float32", TML_F32}, {"Float64", TML_F64}};
    for (size_t i = 0; name && i < sizeof types / sizeof types[0]; i++)
        if (strcmp(name, types[i].name) == 0)
            return types[i].type;
    return TML_TYPE_NONE;
}

static void read_array_element(xml_reader *reader, const XML_Char **attributes)
{
    vtk_xml *xml = reader->xml;
    const char *format = attribute(attributes, "format");
    if (strcmp(reader->section, "FieldData") ==
        0) /* belongs to the file, not to points or cells */
        return;
    if (xml->array_count == VTK_XML_ARRAYS_MAX) {
        reader->left_out++;
        return;
    }
    vtk_xml_array *array = &xml->arrays[xml->array_count++];
    *array = (vtk_xml_array){.type = type_of(attribute(attributes, "type")), .coding = xml->coding};
    copy_attribute(attributes, "Name", array->name, sizeof array->name);
    snprintf(array->section, sizeof array->section, "%s", reader->section);
    array->components = read_count(reader, attributes, "NumberOfComponents", 1);
    array->is_active = *array->name && (strcmp(array->name, reader->scalars) == 0 ||
                                        strcmp(array->name, reader->normals) == 0);
    array->is_appended = format && strcmp(format, "appended") == 0;
    array->coding.is_text = !format || strcmp(format, "ascii") == 0;
    array->coding.is_base64 = !array->is_appended;
    if (array->is_appended)
        array->offset = read_count(reader, attributes, "offset", 0);
    else if (!array->coding.is_text && strcmp(format, "binary") != 0)
        bad_attribute(reader, "format", format, "ascii, binary or appended");
    if (array->components == 0)
        bad_attribute(reader, "NumberOfComponents", "0", "1 or more");
    if (!array->is_appended) {
        reader->array = array;
        reader->has_values = false;
        array->offset = (uint64_t)XML_GetCurrentByteIndex(reader->parser) +
                        (uint64_t)XML_GetCurrentByteCount(reader->parser);
    }
}

/* Finds the appended data, behind an underscore, and stops: the arrays' readers read them. */
static void read_appended_element(xml_reader *reader, const XML_Char **attributes)
{
    vtk_xml *xml = reader->xml;
    const char *encoding = attribute(attributes, "encoding");
    bool is_base64 = encoding && strcmp(encoding, "base64") == 0;
    uint64_t offset = (uint64_t)XML_GetCurrentByteIndex(reader->parser) +
                      (uint64_t)XML_GetCurrentByteCount(reader->parser);
    char c = ' ';
    if (!is_base64 && encoding && strcmp(encoding, "raw") != 0) {
        bad_attribute(reader, "encoding", encoding, "raw or base64");
        return;
    }
    while ((c == ' ' || (c >= '\t' && c <= '\r')) && offset < reader->file->size) {
        tml_status status = tml_io_read(reader->file, offset++, &c, 1);
        if (status) {
            stop(reader, status);
            return;
        }
    }
    if (c != '_') {
        stop(reader, tml_io_error(reader->file, TML_ERROR_FILE_FORMAT,
                                  "its appended data do not begin with an underscore"));
        return;
    }
    for (uint32_t i = 0; i < xml->array_count; i++) {
        vtk_xml_array *array = &xml->arrays[i];
        if (!array->is_appended)
            continue;
        array->coding.is_base64 = is_base64;
        array->end = reader->file->size;
        if (__builtin_add_overflow(array->offset, offset, &array->offset) ||
            array->offset > array->end)
            stop(reader,
                 tml_io_error(reader->file, TML_ERROR_FILE_FORMAT,
                              "the offset of array %s lies beyond the file's end", array->name));
    }
    reader->is_done = true;
    stop(reader, TML_OK);
}

/* An element or comment begins in an array. Values before it end here. */
static void begin_inner(xml_reader *reader)
{
    if (reader->has_values && reader->array->end == 0)
        reader->array->end = (uint64_t)XML_GetCurrentByteIndex(reader->parser);
}

/* It ends. If no values came before it, they begin behind it. */
static void end_inner(xml_reader *reader)
{
    if (!reader->has_values)
        reader->array->offset = (uint64_t)XML_GetCurrentByteIndex(reader->parser) +
                                (uint64_t)XML_GetCurrentByteCount(reader->parser);
}

static void see_comment(void *user, const XML_Char *text)
{
    xml_reader *reader = user;
    (void)text;
    if (!reader->array || reader->inside)
        return;
    begin_inner(reader);
    end_inner(reader);
}

static void see_text(void *user, const XML_Char *text, int size)
{
    xml_reader *reader = user;
    for (int i = 0; i < size && reader->array && !reader->inside && !reader->has_values; i++)
        reader->has_values = !(text[i] == ' ' || (text[i] >= '\t' && text[i] <= '\r'));
}

static void start_element(void *user, const XML_Char *name, const XML_Char **attributes)
{
    static const char *const sections[] = {"FieldData", "PointData", "CellData", "Points", "Verts",
                                           "Lines",     "Strips",    "Polys",    "Cells"};
    xml_reader *reader = user;
    vtk_xml *xml = reader->xml;
    if (reader->array) {
        if (reader->inside++ == 0)
            begin_inner(reader);
        return;
    }
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        if (strcmp(name, sections[i]) == 0) {
            snprintf(reader->section, sizeof reader->section, "%s", name);
            copy_attribute(attributes, "Scalars", reader->scalars, sizeof reader->scalars);
            copy_attribute(attributes, "Normals", reader->normals, sizeof reader->normals);
        }
    if (strcmp(name, "VTKFile") == 0) {
        read_file_element(reader, attributes);
    } else if (strcmp(name, "ImageData") == 0) {
        read_extent(reader, attributes, "WholeExtent", xml->whole);
        read_reals(reader, attributes, "Origin", xml->origin, 3);
        read_reals(reader, attributes, "Spacing", xml->spacing, 3);
        read_reals(reader, attributes, "Direction", xml->direction, 9);
    } else if (strcmp(name, "Piece") == 0) {
        xml->piece_count++;
        if (strcmp(xml->type, "ImageData") == 0)
            read_extent(reader, attributes, "Extent", xml->extent);
        xml->points = read_count(reader, attributes, "NumberOfPoints", 0);
        xml->polys = read_count(reader, attributes, "NumberOfPolys", 0);
        xml->cells = read_count(reader, attributes, "NumberOfCells", 0);
        xml->strips = read_count(reader, attributes, "NumberOfStrips", 0);
        xml->verts_and_lines = read_count(reader, attributes, "NumberOfVerts", 0) +
                               read_count(reader, attributes, "NumberOfLines", 0);
    } else if (strcmp(name, "DataArray") == 0) {
        read_array_element(reader, attributes);
    } else if (strcmp(name, "AppendedData") == 0) {
        read_appended_element(reader, attributes);
    }
}

static void end_element(void *user, const XML_Char *name)
{
    xml_reader *reader = user;
    (void)name;
    if (reader->array && reader->inside) {
        if (--reader->inside == 0)
            end_inner(reader);
    } else if (reader->array) {
        uint64_t end = (uint64_t)XML_GetCurrentByteIndex(reader->parser);
        if (reader->array->end)
            end = reader->array->end;
        /* In an empty element, <DataArray ... />, both events are at its start. */
        reader->array->end = end > reader->array->offset ? end : reader->array->offset;
        reader->array = NULL;
    }
}

/* A DOCTYPE's entities are the only way for a few bytes to become many. */
static void refuse_doctype(void *user, const XML_Char *name, const XML_Char *system_id,
                           const XML_Char *public_id, int has_subset)
{
    xml_reader *reader = user;
    (void)name, (void)system_id, (void)public_id, (void)has_subset;
    stop(reader, tml_io_error(reader->file, TML_ERROR_FILE_FORMAT,
                              "has a DOCTYPE, which no VTK file needs; remove it"));
}

/* ---- the file -------------------------------------------------------------------------------- */

static tml_status parse_chunks(xml_reader *reader)
{
    const io_file *file = reader->file;
    char chunk[CHUNK];
    for (uint64_t offset = 0; !reader->is_done;) {
        size_t size = file->size - offset < CHUNK ? (size_t)(file->size - offset) : CHUNK;
        tml_status status = tml_io_read(file, offset, chunk, size);
        if (status != TML_OK)
            return status;
        offset += size;
        bool good =
            XML_Parse(reader->parser, chunk, (int)size, offset == file->size) == XML_STATUS_OK;
        if (reader->status != TML_OK || reader->is_done)
            return reader->status;
        if (!good)
            return tml_io_error(file, TML_ERROR_FILE_FORMAT, "line %lu: %s",
                                (unsigned long)XML_GetCurrentLineNumber(reader->parser),
                                XML_ErrorString(XML_GetErrorCode(reader->parser)));
        if (offset == file->size)
            return TML_OK;
        XML_Index at = XML_GetCurrentByteIndex(reader->parser);
        if (at >= 0 && offset - (uint64_t)at > TAG_MAX)
            return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                                "line %lu: a tag is over %d bytes long",
                                (unsigned long)XML_GetCurrentLineNumber(reader->parser), TAG_MAX);
    }
    return TML_OK;
}

tml_status tml_vtk_xml_open(const io_file *file, const char *type, vtk_xml *out)
{
    *out = (vtk_xml){.spacing = {1, 1, 1}, .direction = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    xml_reader reader = {.file = file, .parser = XML_ParserCreate(NULL), .xml = out};
    if (!reader.parser)
        return tml_io_error(file, TML_ERROR_OUT_OF_MEMORY, "no memory to read XML with");
    XML_SetUserData(reader.parser, &reader);
    XML_SetElementHandler(reader.parser, start_element, end_element);
    XML_SetCharacterDataHandler(reader.parser, see_text);
    XML_SetCommentHandler(reader.parser, see_comment);
    XML_SetStartDoctypeDeclHandler(reader.parser, refuse_doctype);
    tml_status status = parse_chunks(&reader);
    XML_ParserFree(reader.parser);
    if (status == TML_OK && type && strcmp(out->type, type) != 0)
        status = tml_io_error(file, TML_ERROR_UNSUPPORTED, "is a VTKFile of type \"%s\", needs %s",
                              out->type, type);
    for (uint32_t i = 0; i < out->array_count && status == TML_OK; i++)
        if (out->arrays[i].is_appended && !reader.is_done)
            status = tml_io_error(file, TML_ERROR_FILE_FORMAT,
                                  "array %s is appended, but there are no appended data",
                                  out->arrays[i].name);
    if (status == TML_OK && reader.left_out)
        status = tml_io_warn(file, "arrays beyond its first %d are left out: %" PRIu32,
                             VTK_XML_ARRAYS_MAX, reader.left_out);
    if (status == TML_OK && out->piece_count != 1)
        status =
            tml_io_error(file, out->piece_count ? TML_ERROR_UNSUPPORTED : TML_ERROR_FILE_FORMAT,
                         "has %" PRIu32 " pieces, needs one; join them, for example in ParaView",
                         out->piece_count);
    return status;
}

#else

tml_status tml_vtk_xml_open(const io_file *file, const char *type, vtk_xml *out)
{
    (void)type, (void)out;
    return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                        "is VTK XML, and this library was built without expat (TML_XML); save "
                        "volumes as NRRD or legacy VTK, meshes and points as PLY");
}

#endif
