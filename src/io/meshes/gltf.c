/* Reads glTF 2.0 (Khronos: glTF 2.0 Specification. 2021), as one binary file or as JSON with its
 * buffers beside it or within it. jsmn cuts the JSON into tokens; it asks for no memory and calls
 * nothing, and every number that a token holds is checked here before it is used. */
#include <math.h>
#include <stdlib.h>

#include "io/meshes/mesh_sink.h"

#ifndef TML_GLTF

tml_status tml_mesh_read_gltf(mesh_sink *sink, const uint8_t *data, size_t size)
{
    (void)data, (void)size;
    return tml_io_error(
        sink->file, TML_ERROR_UNSUPPORTED,
        "is glTF, and this library was built without jsmn (TML_GLTF); convert it to OBJ or PLY");
}

#else

#    define JSMN_STATIC
#    define JSMN_STRICT
#    define JSMN_PARENT_LINKS /* or deep nesting takes quadratic time */
#    include <jsmn.h>

#    include "kernels/kernel.h"

#    include "kernels/image.k.h"

#    include "kernels/kernel_end.h"

/* Numbers that glTF writes down. */
enum {
    GLB_HEADER_SIZE = 12,
    GLB_CHUNK_SIZE = 8,
    GLB_JSON = 0x4e4f534a,
    GLB_BIN = 0x004e4942,
    GLTF_BYTE = 5120,
    GLTF_UBYTE = 5121,
    GLTF_SHORT = 5122,
    GLTF_USHORT = 5123,
    GLTF_UINT = 5125,
    GLTF_REAL = 5126,
    GLTF_TRIANGLES = 4,
    GLTF_STRIP = 5,
    GLTF_FAN = 6,
};

/* Primitives to place at most: nodes may name one mesh many times. */
enum { GLTF_PLACED_MAX = 1 << 22 };

/* The elements of one of the root's arrays, as tokens. */
typedef struct gltf_list {
    int *tokens;
    uint64_t count;
} gltf_list;

typedef struct gltf_buffer {
    const uint8_t *data;
    uint64_t size;
    io_block owned; /* data's memory, when it is not the file's */
    bool is_loaded;
} gltf_buffer;

typedef struct gltf_reader {
    mesh_sink *sink;
    io_span json;
    io_span bin; /* the binary chunk; text NULL: none */
    jsmntok_t *tokens;
    int token_count;
    gltf_list accessors, views, buffers, nodes, meshes, scenes;
    gltf_buffer *loaded;      /* one for each of buffers */
    struct gltf_dense *dense; /* accessors that were put together, to be freed */
    uint64_t placed;          /* primitives */
    uint64_t skins, morphs;   /* meshes whose shape would be changed by them */
    uint64_t color_count;     /* vertices that the property of colours has so far */
    uint32_t color;           /* the property, once color_components is not 0 */
    uint64_t color_components;
    uint64_t with_values;
    uint64_t left_out; /* attributes that a mesh has no room for */
} gltf_reader;

/* An accessor's elements, put together from what is sparse. */
typedef struct gltf_dense {
    struct gltf_dense *next;
    uint64_t size; /* of all of this */
    uint8_t bytes[];
} gltf_dense;

/* Elements of an accessor without a buffer view: they are 0, and no bytes show that there are so
 * many. */
enum { GLTF_ZEROS_MAX = 1 << 22 };

/* An accessor, checked: count rows of components numbers, all of them within the buffer. */
typedef struct gltf_array {
    const uint8_t *data;
    uint64_t count;
    uint64_t stride;
    uint64_t components;
    uint64_t type; /* GLTF_BYTE ... */
    bool is_normalized;
} gltf_array;

/* ---- tokens ---------------------------------------------------------------------------------- */

static io_span text_of(const gltf_reader *reader, int token)
{
    const jsmntok_t *t = &reader->tokens[token];
    return (io_span){reader->json.text + t->start, (size_t)(t->end - t->start)};
}

static tml_status bad_json(const gltf_reader *reader, int token, const char *what)
{
    return tml_io_error(reader->sink->file, TML_ERROR_FILE_FORMAT, "byte %d of the JSON: %s",
                        token >= 0 ? reader->tokens[token].start : 0, what);
}

/* The token after this one and all tokens within it. */
static int skip_token(const gltf_reader *reader, int token)
{
    int end = reader->tokens[token].end;
    do
        token++;
    while (token < reader->token_count && reader->tokens[token].start < end);
    return token;
}

/* The value of an object's member; -1: there is none, or this is no object. */
static int member(const gltf_reader *reader, int object, const char *name)
{
    if (object < 0 || reader->tokens[object].type != JSMN_OBJECT)
        return -1;
    int end = reader->tokens[object].end;
    for (int key = object + 1; key < reader->token_count && reader->tokens[key].start < end;
         key = skip_token(reader, key)) {
        const jsmntok_t *t = &reader->tokens[key];
        if (t->type == JSMN_STRING && t->size == 1 && tml_io_is(text_of(reader, key), name) &&
            key + 1 < reader->token_count)
            return key + 1;
        if (t->type == JSMN_STRING && t->size == 1)
            key++; /* its value is skipped below */
    }
    return -1;
}

/* A whole number from 0 to 2^53 of a member; fallback where there is none. */
static tml_status get_number(const gltf_reader *reader, int object, const char *name,
                             uint64_t fallback, uint64_t *out)
{
    double number;
    int token = member(reader, object, name);
    *out = fallback;
    if (token < 0)
        return TML_OK;
    if (reader->tokens[token].type != JSMN_PRIMITIVE ||
        !tml_io_parse_f64(text_of(reader, token), &number) || !(number >= 0) ||
        number > 9007199254740992.0 || number != floor(number))
        return bad_json(reader, token, "needs a whole number from 0 on");
    *out = (uint64_t)number;
    return TML_OK;
}

/* count numbers of an array member; false where there is none. */
static tml_status get_numbers(const gltf_reader *reader, int object, const char *name, int count,
                              double *out, bool *is_there)
{
    int token = member(reader, object, name);
    *is_there = token >= 0;
    if (token < 0)
        return TML_OK;
    if (reader->tokens[token].type != JSMN_ARRAY || reader->tokens[token].size != count)
        return bad_json(reader, token, "needs an array of as many numbers as its name asks for");
    for (int i = 0; i < count; i++) {
        int item = token + 1 + i;
        if (item >= reader->token_count || reader->tokens[item].type != JSMN_PRIMITIVE ||
            !tml_io_parse_f64(text_of(reader, item), &out[i]) || !isfinite(out[i]))
            return bad_json(reader, token, "needs finite numbers");
    }
    return TML_OK;
}

static tml_status make_list(gltf_reader *reader, const char *name, gltf_list *out)
{
    int array = member(reader, 0, name);
    if (array < 0)
        return TML_OK;
    if (reader->tokens[array].type != JSMN_ARRAY)
        return bad_json(reader, array, "needs an array");
    uint64_t count = (uint64_t)reader->tokens[array].size;
    out->tokens = tml_io_alloc(reader->sink->file, count * sizeof *out->tokens);
    if (!out->tokens)
        return count ? TML_ERROR_OUT_OF_MEMORY : TML_OK;
    out->count = count;
    int end = reader->tokens[array].end, item = array + 1;
    uint64_t i = 0;
    for (; i < count && item < reader->token_count && reader->tokens[item].start < end; i++) {
        out->tokens[i] = item;
        item = skip_token(reader, item);
    }
    return i == count ? TML_OK : bad_json(reader, array, "is no well-formed array");
}

/* Element number of a list, which a member names. */
static tml_status get_element(const gltf_reader *reader, const gltf_list *list, uint64_t number,
                              const char *what, int *out)
{
    if (number >= list->count)
        return tml_io_error(reader->sink->file, TML_ERROR_FILE_FORMAT,
                            "names %s %llu, the file has %llu (counted from 0)", what,
                            (unsigned long long)number, (unsigned long long)list->count);
    *out = list->tokens[number];
    return TML_OK;
}

static tml_status tokenize(gltf_reader *reader)
{
    const io_file *file = reader->sink->file;
    jsmn_parser parser;
    if (reader->json.size > INT32_MAX)
        return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                            "has %zu bytes of JSON, needs less than 2^31", reader->json.size);
    jsmn_init(&parser);
    int count = jsmn_parse(&parser, reader->json.text, reader->json.size, NULL, 0);
    if (count > 0) {
        uint64_t size = (uint64_t)count * sizeof *reader->tokens;
        if (reader->sink->memory_limit && size > reader->sink->memory_limit)
            return tml_io_error(file, TML_ERROR_OUT_OF_MEMORY,
                                "needs %llu bytes for its JSON, desc.memory_limit is %llu",
                                (unsigned long long)size,
                                (unsigned long long)reader->sink->memory_limit);
        reader->tokens = tml_io_alloc(file, size);
        if (!reader->tokens)
            return TML_ERROR_OUT_OF_MEMORY;
        reader->token_count = count;
        jsmn_init(&parser);
        int again = jsmn_parse(&parser, reader->json.text, reader->json.size, reader->tokens,
                               (unsigned)count);
        count = again == count ? count : again < 0 ? again : JSMN_ERROR_INVAL;
    }
    if (count <= 0 || reader->tokens[0].type != JSMN_OBJECT ||
        skip_token(reader, 0) != reader->token_count)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "is no JSON object; it goes wrong at byte %u", parser.pos);
    for (int i = 0; i < count; i++) /* jsmn leaves a bracket open that another kind closed */
        if (reader->tokens[i].start < 0 || reader->tokens[i].end < reader->tokens[i].start)
            return bad_json(reader, 0, "is not closed");
    return TML_OK;
}

/* ---- buffers --------------------------------------------------------------------------------- */

static int base64_digit(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* RFC 4648, with or without its padding. */
static tml_status decode_base64(const gltf_reader *reader, io_span text, int token, io_block *out)
{
    while (text.size > 0 && text.text[text.size - 1] == '=')
        text.size--;
    uint64_t size = text.size / 4 * 3 + (text.size % 4 > 1 ? text.size % 4 - 1 : 0);
    out->data = tml_io_alloc(reader->sink->file, size);
    out->size = out->data ? (size_t)size : 0;
    if (!out->data && size > 0)
        return TML_ERROR_OUT_OF_MEMORY;
    uint32_t bits = 0, held = 0;
    size_t written = 0;
    for (size_t i = 0; i < text.size; i++) {
        int digit = base64_digit(text.text[i]);
        if (digit < 0)
            return bad_json(reader, token, "its base64 has a character that is none");
        bits = (bits << 6 | (uint32_t)digit) & 0xffffff;
        held += 6;
        if (held >= 8 && written < out->size) {
            held -= 8;
            out->data[written++] = (uint8_t)(bits >> held);
        }
    }
    return TML_OK;
}

/* A relative reference as a file's name: %20 and the like are undone. */
static tml_status decode_name(const gltf_reader *reader, int token, char *out, size_t size)
{
    io_span text = text_of(reader, token);
    size_t length = 0;
    for (size_t i = 0; i < text.size && length + 1 < size; i++) {
        unsigned byte = (unsigned char)text.text[i];
        char digits[3] = {0};
        if (byte == '%' && i + 2 < text.size) {
            memcpy(digits, text.text + i + 1, 2);
            char *end;
            byte = (unsigned)strtoul(digits, &end, 16);
            i += 2;
            if (*end)
                return bad_json(reader, token, "has a % without two hexadecimal digits");
        }
        if (byte == '\\' || byte == 0)
            return bad_json(reader, token, "needs a file name without \\");
        out[length++] = (char)byte;
    }
    out[length] = '\0';
    return TML_OK;
}

static tml_status load_beside(const gltf_reader *reader, int token, io_block *out)
{
    char name[IO_PATH_SIZE];
    io_file file;
    tml_status status = decode_name(reader, token, name, sizeof name);
    TML_THEN(status, tml_io_open_beside(reader->sink->file, name, &file));
    if (status != TML_OK)
        return status;
    if (reader->sink->memory_limit &&
        reader->sink->allocated + file.size > reader->sink->memory_limit)
        status = tml_io_error(
            &file, TML_ERROR_OUT_OF_MEMORY, "has %llu bytes, desc.memory_limit is %llu",
            (unsigned long long)file.size, (unsigned long long)reader->sink->memory_limit);
    TML_THEN(status, tml_io_read_all(&file, out));
    tml_io_close(&file);
    return status;
}

/* The bytes of a buffer: the binary chunk, base64 within the JSON, or a file beside it. */
static tml_status load_buffer(gltf_reader *reader, uint64_t number, gltf_buffer **out)
{
    int object = -1;
    uint64_t length = 0;
    tml_status status = get_element(reader, &reader->buffers, number, "buffer", &object);
    if (status != TML_OK)
        return status;
    gltf_buffer *buffer = *out = &reader->loaded[number];
    if (buffer->is_loaded)
        return TML_OK;
    status = get_number(reader, object, "byteLength", 0, &length);
    int uri = member(reader, object, "uri");
    io_span text = uri >= 0 ? text_of(reader, uri) : (io_span){"", 0};
    if (status == TML_OK && uri < 0) {
        buffer->data = (const uint8_t *)reader->bin.text;
        buffer->size = reader->bin.size;
        if (number != 0 || !reader->bin.text)
            status = bad_json(reader, object, "a buffer has neither uri nor binary chunk");
    } else if (status == TML_OK && tml_io_starts_with(text, "data:")) {
        const char *comma = memchr(text.text, ',', text.size);
        size_t head = comma ? (size_t)(comma - text.text) : 0;
        if (head < 7 || memcmp(comma - 7, ";base64", 7) != 0)
            return bad_json(reader, uri, "needs data in base64");
        status =
            decode_base64(reader, (io_span){comma + 1, text.size - head - 1}, uri, &buffer->owned);
    } else if (status == TML_OK) {
        status = load_beside(reader, uri, &buffer->owned);
    }
    if (uri >= 0) {
        buffer->data = buffer->owned.data;
        buffer->size = buffer->owned.size;
        reader->sink->allocated += buffer->owned.size;
    }
    if (status == TML_OK && length > buffer->size)
        return tml_io_error(reader->sink->file, TML_ERROR_FILE_FORMAT,
                            "buffer %llu has %llu bytes, needs %llu; the file was cut short",
                            (unsigned long long)number, (unsigned long long)buffer->size,
                            (unsigned long long)length);
    buffer->size = length;
    buffer->is_loaded = status == TML_OK;
    return status;
}

/* ---- accessors ------------------------------------------------------------------------------- */

static uint64_t component_size(uint64_t type)
{
    return type == GLTF_BYTE || type == GLTF_UBYTE     ? 1
           : type == GLTF_SHORT || type == GLTF_USHORT ? 2
           : type == GLTF_UINT || type == GLTF_REAL    ? 4
                                                       : 0;
}

/* Integers that are normalised are fractions of their largest (the specification's section
 * 3.6.2.2). */
static double array_number(const gltf_array *array, uint64_t row, uint64_t component)
{
    const uint8_t *at = array->data + row * array->stride + component * component_size(array->type);
    bool n = array->is_normalized;
    switch (array->type) {
    case GLTF_BYTE:
        return n ? fmax((int8_t)*at / 127.0, -1.0) : (int8_t)*at;
    case GLTF_UBYTE:
        return n ? *at / 255.0 : *at;
    case GLTF_SHORT:
        return n ? fmax((int16_t)io_load_u16(at, false) / 32767.0, -1.0)
                 : (int16_t)io_load_u16(at, false);
    case GLTF_USHORT:
        return n ? io_load_u16(at, false) / 65535.0 : io_load_u16(at, false);
    case GLTF_UINT:
        return io_load_u32(at, false);
    default:
        return (double)io_load_f32(at, false);
    }
}

/* The bytes of count rows of size bytes each from offset on in a buffer view, which object, a part
 * of that accessor, names. stride: the view's, or else rows without gaps. */
static tml_status open_view(gltf_reader *reader, int object, uint64_t accessor, uint64_t number,
                            uint64_t offset, uint64_t count, uint64_t size, uint64_t *stride,
                            const uint8_t **out)
{
    int view = -1;
    uint64_t view_offset = 0, view_length = 0, buffer_number = 0;
    gltf_buffer *buffer = NULL;
    tml_status status;
    if ((status = get_element(reader, &reader->views, number, "buffer view", &view)) != TML_OK ||
        (status = get_number(reader, view, "buffer", 0, &buffer_number)) != TML_OK ||
        (status = get_number(reader, view, "byteOffset", 0, &view_offset)) != TML_OK ||
        (status = get_number(reader, view, "byteLength", 0, &view_length)) != TML_OK ||
        (status = get_number(reader, view, "byteStride", 0, stride)) != TML_OK ||
        (status = load_buffer(reader, buffer_number, &buffer)) != TML_OK)
        return status;
    *stride = *stride ? *stride : size;
    if (size == 0 || *stride < size)
        return bad_json(reader, object,
                        "an accessor's componentType or byteStride is none of glTF's");
    if (view_offset > buffer->size || view_length > buffer->size - view_offset ||
        offset > view_length ||
        (count > 0 &&
         (view_length - offset < size || count - 1 > (view_length - offset - size) / *stride)))
        return tml_io_error(reader->sink->file, TML_ERROR_FILE_FORMAT,
                            "accessor %llu of %llu elements reaches past the end of its bytes",
                            (unsigned long long)accessor, (unsigned long long)count);
    *out = count ? buffer->data + view_offset + offset : NULL;
    return TML_OK;
}

/* Replaces elements of bytes by those that "sparse" lists with their numbers, which ascend. */
static tml_status apply_sparse(gltf_reader *reader, int sparse, uint64_t accessor,
                               const gltf_array *array, uint64_t size, uint8_t *bytes)
{
    int at = member(reader, sparse, "indices"), values = member(reader, sparse, "values");
    gltf_array numbers = {.components = 1};
    uint64_t count = 0, view = 0, offset = 0, stride = 0, value_view = 0, value_offset = 0;
    const uint8_t *data = NULL, *from = NULL;
    tml_status status;
    if (at < 0 || values < 0)
        return bad_json(reader, sparse, "sparse needs indices and values");
    if ((status = get_number(reader, sparse, "count", 0, &count)) != TML_OK ||
        (status = get_number(reader, at, "componentType", 0, &numbers.type)) != TML_OK ||
        (status = get_number(reader, at, "bufferView", MESH_NONE, &view)) != TML_OK ||
        (status = get_number(reader, at, "byteOffset", 0, &offset)) != TML_OK ||
        (status = get_number(reader, values, "bufferView", MESH_NONE, &value_view)) != TML_OK ||
        (status = get_number(reader, values, "byteOffset", 0, &value_offset)) != TML_OK)
        return status;
    if (numbers.type != GLTF_UBYTE && numbers.type != GLTF_USHORT && numbers.type != GLTF_UINT)
        return bad_json(reader, at, "indices need whole numbers without sign");
    status = open_view(reader, at, accessor, view, offset, count, component_size(numbers.type),
                       &numbers.stride, &data);
    TML_THEN(status, open_view(reader, values, accessor, value_view, value_offset, count, size,
                               &stride, &from));
    numbers.data = data;
    for (uint64_t i = 0; i < count && status == TML_OK; i++) {
        const uint64_t number = (uint64_t)array_number(&numbers, i, 0);
        if (number >= array->count)
            return bad_json(reader, at, "a sparse accessor names an element past its last");
        memcpy(bytes + number * size, from + i * stride, size);
    }
    return status;
}

/* Makes the elements of an accessor that is sparse or has no buffer view. */
static tml_status make_dense(gltf_reader *reader, int object, uint64_t accessor, gltf_array *array)
{
    mesh_sink *sink = reader->sink;
    const uint64_t size = array->components * component_size(array->type);
    const int sparse = member(reader, object, "sparse");
    const uint64_t all = sizeof(gltf_dense) + array->count * size;
    if (!array->data && array->count > GLTF_ZEROS_MAX)
        return tml_io_error(sink->file, TML_ERROR_UNSUPPORTED,
                            "an accessor without a buffer view has %llu elements, needs at most "
                            "%d; save it as a plain one",
                            (unsigned long long)array->count, GLTF_ZEROS_MAX);
    if (sink->memory_limit && sink->allocated + all > sink->memory_limit)
        return tml_io_error(sink->file, TML_ERROR_OUT_OF_MEMORY,
                            "needs %llu bytes or more, desc.memory_limit is %llu",
                            (unsigned long long)(sink->allocated + all),
                            (unsigned long long)sink->memory_limit);
    gltf_dense *dense = tml_io_alloc(sink->file, all);
    if (!dense)
        return TML_ERROR_OUT_OF_MEMORY;
    dense->next = reader->dense;
    dense->size = all;
    reader->dense = dense;
    sink->allocated += all;
    memset(dense->bytes, 0, (size_t)(array->count * size));
    for (uint64_t i = 0; i < array->count && array->data; i++)
        memcpy(dense->bytes + i * size, array->data + i * array->stride, size);
    array->stride = size;
    array->data = array->count ? dense->bytes : NULL;
    return sparse >= 0 && array->count
               ? apply_sparse(reader, sparse, accessor, array, size, dense->bytes)
               : TML_OK;
}

static uint64_t components_of(const gltf_reader *reader, int object)
{
    static const char *const types[] = {"", "SCALAR", "VEC2", "VEC3", "VEC4"};
    int type = member(reader, object, "type");
    for (uint64_t i = 1; i < sizeof types / sizeof types[0] && type >= 0; i++)
        if (tml_io_is(text_of(reader, type), types[i]))
            return i;
    return 0;
}

/* Finds accessor number, which must have as many components; 0: from 1 to 4. */
static tml_status open_array(gltf_reader *reader, uint64_t number, uint64_t components,
                             gltf_array *out)
{
    int object = -1;
    uint64_t view = 0, offset = 0;
    *out = (gltf_array){.components = components};
    tml_status status = get_element(reader, &reader->accessors, number, "accessor", &object);
    if (status != TML_OK)
        return status;
    const uint64_t found = components_of(reader, object);
    int normalized = member(reader, object, "normalized");
    if (found == 0 || (components && found != components))
        return bad_json(reader, object, "an accessor is of another type than its use asks for");
    out->components = found;
    out->is_normalized = normalized >= 0 && tml_io_is(text_of(reader, normalized), "true");
    if ((status = get_number(reader, object, "componentType", 0, &out->type)) != TML_OK ||
        (status = get_number(reader, object, "count", 0, &out->count)) != TML_OK ||
        (status = get_number(reader, object, "byteOffset", 0, &offset)) != TML_OK ||
        (status = get_number(reader, object, "bufferView", MESH_NONE, &view)) != TML_OK)
        return status;
    const uint64_t size = found * component_size(out->type);
    if (size == 0)
        return bad_json(reader, object, "an accessor's componentType is none of glTF's");
    if (member(reader, object, "bufferView") >= 0)
        status = open_view(reader, object, number, view, offset, out->count, size, &out->stride,
                           &out->data);
    if (status == TML_OK &&
        (member(reader, object, "bufferView") < 0 || member(reader, object, "sparse") >= 0))
        status = make_dense(reader, object, number, out);
    return status;
}

/* ---- primitives ------------------------------------------------------------------------------ */

/* The placement of a mesh: the columns of a matrix, three numbers each, the last of them the
 * translation. */
typedef struct gltf_place {
    double m[12];
    bool is_identity;
} gltf_place;

/* The vertices of a primitive in the sink, which the next one may share. */
typedef struct gltf_vertices {
    uint64_t position, normal, uv, value, color;  /* accessors; MESH_NONE: none */
    uint64_t properties[TML_MESH_MAX_ATTRIBUTES]; /* of each of the sink's, likewise */
    uint64_t count;
    uint32_t first, first_normal, first_uv; /* MESH_NONE: none */
} gltf_vertices;

static void place_point(const gltf_place *place, double p[3])
{
    const double *m = place->m;
    double q[3];
    if (place->is_identity)
        return;
    for (int i = 0; i < 3; i++)
        q[i] = m[i] * p[0] + m[3 + i] * p[1] + m[6 + i] * p[2] + m[9 + i];
    memcpy(p, q, sizeof q);
}

static double determinant(const double *m)
{
    return m[0] * (m[4] * m[8] - m[7] * m[5]) - m[3] * (m[1] * m[8] - m[7] * m[2]) +
           m[6] * (m[1] * m[5] - m[4] * m[2]);
}

/* Transforms a normal by the matrix of cofactors, which is the transposed inverse up to scale and
 * sign. */
static void place_normal(const gltf_place *place, double n[3])
{
    const double *m = place->m;
    double q[3], sign = determinant(m) < 0 ? -1 : 1;
    if (place->is_identity)
        return;
    for (int i = 0; i < 3; i++) {
        int a = (i + 1) % 3, b = (i + 2) % 3;
        q[i] = n[0] * (m[3 + a] * m[6 + b] - m[6 + a] * m[3 + b]) +
               n[1] * (m[6 + a] * m[b] - m[a] * m[6 + b]) +
               n[2] * (m[a] * m[3 + b] - m[3 + a] * m[b]);
    }
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
    for (int i = 0; i < 3; i++)
        n[i] = length > 0 ? sign * q[i] / length : 0;
}

static uint32_t number_in(const mesh_array *array, size_t element)
{
    size_t count = array->size / element;
    return count < MESH_NONE ? (uint32_t)count : MESH_NONE;
}

/* Colours are linear in a file, and coded as sRGB in a mesh; where a primitive has none, its
 * vertices are white, if others have some. */
static tml_status push_color(gltf_reader *reader, const gltf_array *colors, uint64_t row)
{
    static const double white[4] = {1, 1, 1, 1};
    mesh_sink *sink = reader->sink;
    tml_status status = TML_OK;
    if (!colors->data && reader->color_components == 0)
        return TML_OK;
    if (reader->color_components == 0) {
        reader->color_components = colors->components;
        reader->color = tml_mesh_add_property(sink, "color", (uint32_t)colors->components, true, 1);
    }
    while (reader->color_count + 1 < mesh_vertex_count(sink) && status == TML_OK) {
        status = tml_mesh_push_property(sink, reader->color, white);
        reader->color_count++;
    }
    double numbers[4] = {1, 1, 1, 1};
    for (uint64_t c = 0; c < colors->components && colors->data; c++) {
        double x = fmin(fmax(array_number(colors, row, c), 0), 1); /* NaN is 0 */
        numbers[c] = c < 3 ? (double)image_srgb_encode((float)x) : x;
    }
    reader->color_count++;
    return status == TML_OK ? tml_mesh_push_property(sink, reader->color, numbers) : status;
}

/* Attributes of names that begin with _ are a program's own, as glb.c writes them: "_VELOCITY" is
 * velocity. */
static tml_status find_properties(gltf_reader *reader, int attributes, gltf_vertices *v)
{
    mesh_sink *sink = reader->sink;
    for (int i = 0; i < TML_MESH_MAX_ATTRIBUTES; i++)
        v->properties[i] = MESH_NONE;
    if (attributes < 0 || reader->tokens[attributes].type != JSMN_OBJECT)
        return TML_OK;
    const int end = reader->tokens[attributes].end;
    for (int key = attributes + 1; key + 1 < reader->token_count && reader->tokens[key].start < end;
         key = skip_token(reader, key + 1)) {
        io_span text = text_of(reader, key);
        gltf_array array;
        uint64_t number;
        char name[64];
        if (text.size < 2 || text.text[0] != '_' || tml_io_is(text, "_VALUE"))
            continue;
        if (!tml_io_parse_u64(text_of(reader, key + 1), &number))
            return bad_json(reader, key, "needs the number of an accessor");
        tml_status status = open_array(reader, number, 0, &array);
        if (status != TML_OK)
            return status;
        tml_io_copy(name, sizeof name, (io_span){text.text + 1, text.size - 1});
        for (char *at = name; *at; at++)
            *at = (char)(*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at);
        uint32_t property = 0;
        while (property < sink->property_count && strcmp(sink->properties[property].name, name))
            property++;
        if (property == sink->property_count)
            property = tml_mesh_add_property(sink, name, (uint32_t)array.components, false, 1);
        if (property == UINT32_MAX || sink->properties[property].is_color ||
            sink->properties[property].components != array.components)
            reader->left_out++;
        else
            v->properties[property] = number;
    }
    return TML_OK;
}

static tml_status push_properties(gltf_reader *reader, const gltf_vertices *v)
{
    mesh_sink *sink = reader->sink;
    tml_status status = TML_OK;
    for (uint32_t p = 0; p < sink->property_count && status == TML_OK; p++) {
        gltf_array array = {0};
        if (v->properties[p] == MESH_NONE)
            continue;
        status = open_array(reader, v->properties[p], sink->properties[p].components, &array);
        if (status == TML_OK && array.count != v->count)
            status = tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                                  "attributes of one primitive have different counts");
        for (uint64_t i = 0; i < v->count && status == TML_OK; i++) {
            double numbers[4];
            for (uint64_t c = 0; c < array.components; c++)
                numbers[c] = array_number(&array, i, c);
            status = tml_mesh_push_property(sink, p, numbers);
        }
    }
    return status;
}

static tml_status push_vertices(gltf_reader *reader, const gltf_place *place, gltf_vertices *v)
{
    mesh_sink *sink = reader->sink;
    gltf_array positions = {0}, normals = {0}, uvs = {0}, values = {0}, colors = {0};
    tml_status status = open_array(reader, v->position, 3, &positions);
    if (status == TML_OK && v->normal != MESH_NONE)
        status = open_array(reader, v->normal, 3, &normals);
    if (status == TML_OK && v->uv != MESH_NONE)
        status = open_array(reader, v->uv, 2, &uvs);
    if (status == TML_OK && v->value != MESH_NONE)
        status = open_array(reader, v->value, 1, &values);
    if (status == TML_OK && v->color != MESH_NONE)
        status = open_array(reader, v->color, 0, &colors);
    if (status != TML_OK)
        return status;
    if (colors.components > 0 && colors.components < 3)
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                            "COLOR_0 has %llu numbers a vertex, needs 3 or 4",
                            (unsigned long long)colors.components);
    v->count = positions.count;
    sink->place_name = "vertex";
    if ((normals.data && normals.count != v->count) || (uvs.data && uvs.count != v->count) ||
        (values.data && values.count != v->count) || (colors.data && colors.count != v->count))
        return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                            "attributes of one primitive have different counts");
    v->first = (uint32_t)mesh_vertex_count(sink);
    v->first_normal = normals.data ? number_in(&sink->normals, 3 * sizeof(float)) : MESH_NONE;
    v->first_uv = uvs.data ? number_in(&sink->uvs, 2 * sizeof(float)) : MESH_NONE;
    for (uint64_t i = 0; i < v->count && status == TML_OK; i++) {
        double p[3], n[3] = {0, 0, 0}, t[2] = {0, 0};
        for (uint64_t axis = 0; axis < 3; axis++) {
            p[axis] = array_number(&positions, i, axis);
            n[axis] = normals.data ? array_number(&normals, i, axis) : 0;
        }
        for (uint64_t axis = 0; axis < 2 && uvs.data; axis++)
            t[axis] = array_number(&uvs, i, axis);
        place_point(place, p);
        place_normal(place, n);
        status = tml_mesh_push_vertex(sink, p, i);
        if (status == TML_OK && normals.data)
            status = tml_mesh_push_normal(sink, n);
        if (status == TML_OK && uvs.data)
            status = tml_mesh_push_uv(sink, t);
        if (status == TML_OK && values.data)
            status = tml_mesh_push_value(sink, array_number(&values, i, 0));
        TML_THEN(status, push_color(reader, &colors, i));
    }
    reader->with_values += values.data ? v->count : 0;
    return status == TML_OK ? push_properties(reader, v) : status;
}

static tml_status push_triangle(mesh_sink *sink, const gltf_vertices *v, const uint64_t numbers[3],
                                bool is_mirrored)
{
    tml_status status = TML_OK;
    for (int c = 0; c < 3 && status == TML_OK; c++) {
        uint64_t number = numbers[is_mirrored && c ? 3 - c : c];
        const uint64_t place = mesh_face_count(sink);
        if (number >= v->count) {
            tml_mesh_add_fault(sink, &sink->lost_corners, place,
                               "names vertex %llu, its primitive has %llu (counted from 0)",
                               (unsigned long long)number, (unsigned long long)v->count);
            status = tml_mesh_push_corner(sink, (mesh_corner_ref){MESH_NONE, MESH_NONE, MESH_NONE},
                                          place);
            continue;
        }
        uint32_t n = (uint32_t)number;
        status = tml_mesh_push_corner(
            sink,
            (mesh_corner_ref){v->first + n, v->first_uv == MESH_NONE ? MESH_NONE : v->first_uv + n,
                              v->first_normal == MESH_NONE ? MESH_NONE : v->first_normal + n},
            place);
    }
    return status == TML_OK ? tml_mesh_end_face(sink, mesh_face_count(sink)) : status;
}

/* Corners in order of triangles; indices.data NULL: 0, 1, 2 ... */
static tml_status push_triangles(gltf_reader *reader, const gltf_vertices *v,
                                 const gltf_array *indices, uint64_t mode, bool is_mirrored)
{
    uint64_t count = indices->data ? indices->count : v->count;
    uint64_t triangles = mode == GLTF_TRIANGLES ? count / 3 : count < 3 ? 0 : count - 2;
    tml_status status = TML_OK;
    reader->sink->place_name = "triangle";
    for (uint64_t t = 0; t < triangles && status == TML_OK; t++) {
        uint64_t at[3] = {3 * t, 3 * t + 1, 3 * t + 2}, numbers[3];
        if (mode == GLTF_STRIP) {
            at[0] = t;
            at[1] = t + 1 + t % 2;
            at[2] = t + 2 - t % 2;
        } else if (mode == GLTF_FAN) {
            at[0] = 0;
            at[1] = t + 1;
            at[2] = t + 2;
        }
        for (int c = 0; c < 3; c++)
            numbers[c] = indices->data ? (uint64_t)array_number(indices, at[c], 0) : at[c];
        /* Strips and fans repeat vertices on purpose, where they turn. */
        if (mode != GLTF_TRIANGLES &&
            (numbers[0] == numbers[1] || numbers[1] == numbers[2] || numbers[2] == numbers[0]))
            continue;
        status = push_triangle(reader->sink, v, numbers, is_mirrored);
    }
    return status;
}

static tml_status refuse_packed(const gltf_reader *reader, const char *extension)
{
    return tml_io_error(reader->sink->file, TML_ERROR_UNSUPPORTED,
                        "its meshes are compressed (%s); unpack them, for example with "
                        "gltf-transform copy",
                        extension);
}

/* Are the vertices of a primitive in compressed data alone? */
static bool is_packed(const gltf_reader *reader, int primitive, uint64_t position)
{
    const int extensions = member(reader, primitive, "extensions");
    return position < reader->accessors.count &&
           member(reader, extensions, "KHR_draco_mesh_compression") >= 0 &&
           member(reader, reader->accessors.tokens[position], "bufferView") < 0;
}

static tml_status read_primitive(gltf_reader *reader, int primitive, const gltf_place *place,
                                 gltf_vertices *before)
{
    uint64_t mode, index_number;
    gltf_vertices v = {0};
    gltf_array indices = {0};
    int attributes = member(reader, primitive, "attributes");
    tml_status status = get_number(reader, primitive, "mode", GLTF_TRIANGLES, &mode);
    if (status == TML_OK && ++reader->placed > GLTF_PLACED_MAX)
        return tml_io_error(reader->sink->file, TML_ERROR_UNSUPPORTED,
                            "places more than %d primitives", GLTF_PLACED_MAX);
    if (status == TML_OK && (mode < GLTF_TRIANGLES || mode > GLTF_FAN)) {
        reader->sink->skipped_count++;
        return TML_OK;
    }
    if ((status != TML_OK) ||
        (status = get_number(reader, attributes, "POSITION", MESH_NONE, &v.position)) != TML_OK ||
        (status = get_number(reader, attributes, "NORMAL", MESH_NONE, &v.normal)) != TML_OK ||
        (status = get_number(reader, attributes, "TEXCOORD_0", MESH_NONE, &v.uv)) != TML_OK ||
        (status = get_number(reader, attributes, "_VALUE", MESH_NONE, &v.value)) != TML_OK ||
        (status = get_number(reader, attributes, "COLOR_0", MESH_NONE, &v.color)) != TML_OK ||
        (status = get_number(reader, primitive, "indices", MESH_NONE, &index_number)) != TML_OK)
        return status;
    if (v.position == MESH_NONE)
        return bad_json(reader, primitive, "a primitive has no POSITION");
    if (is_packed(reader, primitive, v.position))
        return refuse_packed(reader, "KHR_draco_mesh_compression");
    reader->morphs += member(reader, primitive, "targets") >= 0;
    status = find_properties(reader, attributes, &v);
    if (status != TML_OK)
        return status;
    if (v.position == before->position && v.normal == before->normal && v.uv == before->uv &&
        v.value == before->value && v.color == before->color &&
        memcmp(v.properties, before->properties, sizeof v.properties) == 0)
        v = *before;
    else
        status = push_vertices(reader, place, &v);
    *before = v;
    if (status == TML_OK && index_number != MESH_NONE) {
        status = open_array(reader, index_number, 1, &indices);
        if (status == TML_OK && (indices.type == GLTF_REAL || indices.type == GLTF_BYTE ||
                                 indices.type == GLTF_SHORT || indices.is_normalized))
            return bad_json(reader, primitive, "indices need whole numbers without sign");
        if (status == TML_OK && !indices.data)
            return TML_OK; /* no triangles, and not one for each three vertices */
    }
    return status == TML_OK ? push_triangles(reader, &v, &indices, mode, determinant(place->m) < 0)
                            : status;
}

static tml_status read_mesh(gltf_reader *reader, uint64_t number, const gltf_place *place)
{
    int mesh = -1;
    gltf_vertices before = {.position = MESH_NONE};
    tml_status status = get_element(reader, &reader->meshes, number, "mesh", &mesh);
    if (status != TML_OK)
        return status;
    int primitives = member(reader, mesh, "primitives");
    if (primitives < 0 || reader->tokens[primitives].type != JSMN_ARRAY)
        return bad_json(reader, mesh, "a mesh has no primitives");
    int end = reader->tokens[primitives].end;
    for (int item = primitives + 1;
         status == TML_OK && item < reader->token_count && reader->tokens[item].start < end;
         item = skip_token(reader, item)) {
        status = read_primitive(reader, item, place, &before);
        if (status == TML_OK && !tml_progress(reader->sink->file->tml, "meshes", 0))
            status = tml_io_error(reader->sink->file, TML_ERROR_CANCELLED, "cancelled");
    }
    return status;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static const gltf_place identity = {{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}, true};

/* outer * inner */
static gltf_place combine(const gltf_place *outer, const gltf_place *inner)
{
    gltf_place out = {.is_identity = outer->is_identity && inner->is_identity};
    for (int column = 0; column < 4; column++)
        for (int row = 0; row < 3; row++) {
            double sum = column == 3 ? outer->m[9 + row] : 0;
            for (int k = 0; k < 3; k++)
                sum += outer->m[3 * k + row] * inner->m[3 * column + k];
            out.m[3 * column + row] = sum;
        }
    return out;
}

/* Of a translation, a rotation (a quaternion) and a scale. */
static gltf_place place_of(const double t[3], const double q[4], const double s[3])
{
    const double x = q[0], y = q[1], z = q[2], w = q[3];
    const double rotation[9] = {
        1 - 2 * (y * y + z * z), 2 * (x * y + z * w),     2 * (x * z - y * w),
        2 * (x * y - z * w),     1 - 2 * (x * x + z * z), 2 * (y * z + x * w),
        2 * (x * z + y * w),     2 * (y * z - x * w),     1 - 2 * (x * x + y * y)};
    gltf_place out = {.is_identity = false};
    for (int i = 0; i < 9; i++)
        out.m[i] = rotation[i] * s[i / 3];
    for (int i = 0; i < 3; i++)
        out.m[9 + i] = t[i];
    return out;
}

/* A node's own matrix, or translation, rotation (a quaternion) and scale. */
static tml_status get_place(const gltf_reader *reader, int node, gltf_place *out)
{
    double matrix[16], t[3] = {0, 0, 0}, q[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1};
    bool has_matrix, has_t, has_q, has_s;
    tml_status status = get_numbers(reader, node, "matrix", 16, matrix, &has_matrix);
    TML_THEN(status, get_numbers(reader, node, "translation", 3, t, &has_t));
    TML_THEN(status, get_numbers(reader, node, "rotation", 4, q, &has_q));
    TML_THEN(status, get_numbers(reader, node, "scale", 3, s, &has_s));
    if (status != TML_OK)
        return status;
    *out = identity;
    if (has_matrix) {
        for (int i = 0; i < 12; i++)
            out->m[i] = matrix[i / 3 * 4 + i % 3];
        out->is_identity = memcmp(out->m, identity.m, sizeof out->m) == 0;
        return TML_OK;
    }
    *out = place_of(t, q, s);
    out->is_identity = !has_t && !has_q && !has_s;
    return TML_OK;
}

/* The placements that EXT_mesh_gpu_instancing gives a node's mesh beside its own. */
typedef struct gltf_instances {
    gltf_array t, q, s; /* data NULL: none */
    uint64_t count;
    bool is_there;
} gltf_instances;

static tml_status get_instances(gltf_reader *reader, int node, gltf_instances *out)
{
    static const char *const names[] = {"TRANSLATION", "ROTATION", "SCALE"};
    const int extension =
        member(reader, member(reader, node, "extensions"), "EXT_mesh_gpu_instancing");
    const int attributes = member(reader, extension, "attributes");
    gltf_array *const arrays[] = {&out->t, &out->q, &out->s};
    *out = (gltf_instances){.is_there = extension >= 0};
    bool is_first = true;
    for (int i = 0; i < 3; i++) {
        uint64_t number;
        tml_status status = get_number(reader, attributes, names[i], MESH_NONE, &number);
        if (status == TML_OK && number != MESH_NONE)
            status = open_array(reader, number, i == 1 ? 4 : 3, arrays[i]);
        if (status != TML_OK)
            return status;
        if (number == MESH_NONE)
            continue;
        if (!is_first && arrays[i]->count != out->count)
            return bad_json(reader, attributes, "the attributes of instances differ in counts");
        out->count = arrays[i]->count;
        is_first = false;
    }
    return TML_OK;
}

static gltf_place instance_place(const gltf_instances *all, uint64_t number)
{
    double t[3] = {0, 0, 0}, q[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1};
    for (uint64_t c = 0; c < 4; c++) {
        if (c < 3 && all->t.data)
            t[c] = array_number(&all->t, number, c);
        if (c < 3 && all->s.data)
            s[c] = array_number(&all->s, number, c);
        if (all->q.data)
            q[c] = array_number(&all->q, number, c);
    }
    return place_of(t, q, s);
}

typedef struct gltf_visit {
    uint64_t node;
    gltf_place place; /* of the parent */
} gltf_visit;

/* Pushes the nodes that an array names onto the stack. A node may be named once only. */
static tml_status push_nodes(const gltf_reader *reader, int array, const gltf_place *place,
                             bool *is_seen, mesh_array *stack)
{
    if (array < 0)
        return TML_OK;
    if (reader->tokens[array].type != JSMN_ARRAY)
        return bad_json(reader, array, "needs an array of nodes");
    for (int i = 0; i < reader->tokens[array].size; i++) {
        uint64_t number;
        int item = array + 1 + i, node;
        if (item >= reader->token_count || !tml_io_parse_u64(text_of(reader, item), &number))
            return bad_json(reader, array, "needs numbers of nodes");
        tml_status status = get_element(reader, &reader->nodes, number, "node", &node);
        if (status != TML_OK)
            return status;
        if (is_seen[number])
            return tml_io_error(reader->sink->file, TML_ERROR_FILE_FORMAT,
                                "node %llu has two parents, or is within itself",
                                (unsigned long long)number);
        is_seen[number] = true;
        const gltf_visit visit = {number, *place};
        if (!tml_mesh_append(reader->sink, stack, &visit, sizeof visit))
            return TML_ERROR_OUT_OF_MEMORY;
    }
    return TML_OK;
}

static tml_status visit_nodes(gltf_reader *reader, bool *is_seen, mesh_array *stack)
{
    tml_status status = TML_OK;
    while (stack->size > 0 && status == TML_OK) {
        gltf_visit visit;
        gltf_place own;
        uint64_t mesh;
        stack->size -= sizeof visit;
        memcpy(&visit, stack->data + stack->size, sizeof visit);
        int node = reader->nodes.tokens[visit.node];
        status = get_place(reader, node, &own);
        TML_THEN(status, get_number(reader, node, "mesh", MESH_NONE, &mesh));
        if (status != TML_OK)
            return status;
        gltf_place place = combine(&visit.place, &own);
        gltf_instances instances = {.count = 0};
        if (mesh != MESH_NONE) {
            reader->skins += member(reader, node, "skin") >= 0;
            status = get_instances(reader, node, &instances);
        }
        if (status == TML_OK && mesh != MESH_NONE && !instances.is_there)
            status = read_mesh(reader, mesh, &place);
        for (uint64_t i = 0; i < instances.count && status == TML_OK; i++) {
            const gltf_place own_place = instance_place(&instances, i);
            const gltf_place instance = combine(&place, &own_place);
            status = read_mesh(reader, mesh, &instance);
        }
        TML_THEN(status,
                 push_nodes(reader, member(reader, node, "children"), &place, is_seen, stack));
    }
    return status;
}

/* The nodes of the default scene, or of the first one. A file without scenes is a collection: each
 * node that is no other's child, or else each mesh. */
static tml_status read_scene(gltf_reader *reader, bool *is_seen, mesh_array *stack)
{
    uint64_t number;
    int scene = -1;
    tml_status status = get_number(reader, 0, "scene", 0, &number);
    if (status == TML_OK && reader->scenes.count > 0) {
        status = get_element(reader, &reader->scenes, number, "scene", &scene);
        TML_THEN(status,
                 push_nodes(reader, member(reader, scene, "nodes"), &identity, is_seen, stack));
        return status == TML_OK ? visit_nodes(reader, is_seen, stack) : status;
    }
    for (uint64_t i = 0; i < reader->nodes.count && status == TML_OK; i++)
        status = push_nodes(reader, member(reader, reader->nodes.tokens[i], "children"), &identity,
                            is_seen, stack);
    stack->size = 0; /* this pass only marked the children */
    for (uint64_t i = 0; i < reader->nodes.count && status == TML_OK; i++) {
        const gltf_visit visit = {i, identity};
        if (!is_seen[i] && !tml_mesh_append(reader->sink, stack, &visit, sizeof visit))
            status = TML_ERROR_OUT_OF_MEMORY;
    }
    if (reader->nodes.count > 0)
        memset(is_seen, 0, reader->nodes.count * sizeof *is_seen);
    TML_THEN(status, visit_nodes(reader, is_seen, stack));
    for (uint64_t i = 0; i < reader->meshes.count && reader->nodes.count == 0 && status == TML_OK;
         i++)
        status = read_mesh(reader, i, &identity);
    return status;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Sets json and bin from the chunks of a binary file. */
static tml_status read_chunks(gltf_reader *reader, const uint8_t *data, size_t size)
{
    const io_file *file = reader->sink->file;
    if (size < GLB_HEADER_SIZE + GLB_CHUNK_SIZE || io_load_u32(data + 8, false) != size)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "has %zu bytes, its header says %u; it was cut short", size,
                            size < GLB_HEADER_SIZE ? 0 : io_load_u32(data + 8, false));
    if (io_load_u32(data + 4, false) != 2)
        return tml_io_error(file, TML_ERROR_UNSUPPORTED, "is binary glTF of version %u, needs 2",
                            io_load_u32(data + 4, false));
    for (size_t at = GLB_HEADER_SIZE; at < size;) {
        if (size - at < GLB_CHUNK_SIZE ||
            io_load_u32(data + at, false) > size - at - GLB_CHUNK_SIZE)
            return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                                "byte %zu: a chunk reaches past the end", at);
        uint32_t length = io_load_u32(data + at, false);
        uint32_t type = io_load_u32(data + at + 4, false);
        io_span chunk = {(const char *)data + at + GLB_CHUNK_SIZE, length};
        if (at == GLB_HEADER_SIZE && type != GLB_JSON)
            return tml_io_error(file, TML_ERROR_FILE_FORMAT, "its first chunk is not JSON");
        if (at == GLB_HEADER_SIZE)
            reader->json = chunk;
        else if (type == GLB_BIN && !reader->bin.text)
            reader->bin = chunk;
        at += GLB_CHUNK_SIZE + length;
    }
    return TML_OK;
}

/* Extensions that may be required: those that are applied here, and those that change no shape. */
static bool is_known_extension(io_span name)
{
    static const char *const applied[] = {"KHR_mesh_quantization", "EXT_mesh_gpu_instancing"};
    static const char *const looks[] = {"KHR_materials_", "KHR_texture_", "EXT_texture_",
                                        "MSFT_texture_",  "KHR_lights_",  "EXT_lights_",
                                        "KHR_xmp"};
    for (size_t i = 0; i < sizeof applied / sizeof applied[0]; i++)
        if (tml_io_is(name, applied[i]))
            return true;
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++)
        if (tml_io_starts_with(name, looks[i]))
            return true;
    return false;
}

static tml_status check_extensions(const gltf_reader *reader)
{
    int version = member(reader, member(reader, 0, "asset"), "version");
    int required = member(reader, 0, "extensionsRequired");
    if (version < 0 || !tml_io_starts_with(text_of(reader, version), "2."))
        return tml_io_error(reader->sink->file, TML_ERROR_UNSUPPORTED,
                            "is no glTF 2: asset.version needs to be 2.0");
    int end = required < 0 ? 0 : reader->tokens[required].end;
    for (int i = required + 1;
         required >= 0 && i < reader->token_count && reader->tokens[i].start < end; i++) {
        const io_span name = text_of(reader, i);
        char text[64];
        tml_io_copy(text, sizeof text, name);
        if (tml_io_is(name, "KHR_draco_mesh_compression") ||
            tml_io_is(name, "EXT_meshopt_compression") ||
            tml_io_is(name, "KHR_meshopt_compression"))
            return refuse_packed(reader, text);
        if (!is_known_extension(name))
            return tml_io_error(reader->sink->file, TML_ERROR_UNSUPPORTED,
                                "requires the extension %s, which is not supported here and may "
                                "change its shape; save it without, or as OBJ or PLY",
                                text);
    }
    return TML_OK;
}

static tml_status read_all(gltf_reader *reader)
{
    const io_file *file = reader->sink->file;
    tml_status status = tokenize(reader);
    TML_THEN(status, check_extensions(reader));
    TML_THEN(status, make_list(reader, "accessors", &reader->accessors));
    TML_THEN(status, make_list(reader, "bufferViews", &reader->views));
    TML_THEN(status, make_list(reader, "buffers", &reader->buffers));
    TML_THEN(status, make_list(reader, "nodes", &reader->nodes));
    TML_THEN(status, make_list(reader, "meshes", &reader->meshes));
    TML_THEN(status, make_list(reader, "scenes", &reader->scenes));
    if (status == TML_OK && reader->buffers.count > 0) {
        uint64_t size = reader->buffers.count * sizeof *reader->loaded;
        reader->loaded = tml_io_alloc(file, size);
        if (!reader->loaded)
            return TML_ERROR_OUT_OF_MEMORY;
        memset(reader->loaded, 0, (size_t)size);
    }
    if (status != TML_OK)
        return status;
    bool *is_seen = tml_io_alloc(file, reader->nodes.count * sizeof *is_seen);
    if (!is_seen && reader->nodes.count > 0)
        return TML_ERROR_OUT_OF_MEMORY;
    if (is_seen)
        memset(is_seen, 0, reader->nodes.count * sizeof *is_seen);
    mesh_array stack = {0};
    status = read_scene(reader, is_seen, &stack);
    tml_free(file->tml, stack.data, stack.capacity);
    reader->sink->allocated -= stack.capacity;
    tml_free(file->tml, is_seen, reader->nodes.count * sizeof *is_seen);
    if (status == TML_OK && reader->skins + reader->morphs > 0)
        status = tml_io_warn(file, "%llu %s bent by a skeleton or morph targets %s read unbent",
                             (unsigned long long)(reader->skins + reader->morphs),
                             reader->skins + reader->morphs == 1 ? "mesh" : "meshes",
                             reader->skins + reader->morphs == 1 ? "is" : "are");
    if (status == TML_OK && reader->left_out > 0)
        status =
            tml_io_warn(file,
                        "%llu attributes of vertices are left out; a mesh holds %d, each of as "
                        "many components everywhere",
                        (unsigned long long)reader->left_out, TML_MESH_MAX_ATTRIBUTES);
    if (status == TML_OK && reader->scenes.count > 1)
        snprintf(reader->sink->comment, sizeof reader->sink->comment,
                 "of its %llu scenes, the default one is read",
                 (unsigned long long)reader->scenes.count);
    return status;
}

tml_status tml_mesh_read_gltf(mesh_sink *sink, const uint8_t *data, size_t size)
{
    gltf_reader reader = {.sink = sink, .json = {(const char *)data, size}};
    tml_status status = TML_OK;
    if (size >= 4 && memcmp(data, "glTF", 4) == 0)
        status = read_chunks(&reader, data, size);
    TML_THEN(status, read_all(&reader));
    for (uint64_t i = 0; i < reader.buffers.count && reader.loaded; i++) {
        sink->allocated -= reader.loaded[i].owned.size;
        tml_io_block_free(sink->file, &reader.loaded[i].owned);
    }
    tml_free(sink->file->tml, reader.loaded, reader.buffers.count * sizeof *reader.loaded);
    while (reader.dense) {
        gltf_dense *dense = reader.dense;
        reader.dense = dense->next;
        sink->allocated -= dense->size;
        tml_free(sink->file->tml, dense, dense->size);
    }
    gltf_list *const lists[] = {&reader.accessors, &reader.views,  &reader.buffers,
                                &reader.nodes,     &reader.meshes, &reader.scenes};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        tml_free(sink->file->tml, lists[i]->tokens, lists[i]->count * sizeof *lists[i]->tokens);
    tml_free(sink->file->tml, reader.tokens, (uint64_t)reader.token_count * sizeof *reader.tokens);
    if (reader.with_values > 0)
        snprintf(sink->value_name, sizeof sink->value_name, "value");
    return status;
}

#endif
