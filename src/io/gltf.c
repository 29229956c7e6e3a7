/* Reads glTF 2.0 (Khronos: glTF 2.0 Specification. 2021), as one binary file or as JSON with its
 * buffers beside it or within it. jsmn cuts the JSON into tokens; it asks for no memory and calls
 * nothing, and every number that a token holds is checked here before it is used. */
#include <math.h>
#include <stdlib.h>

#include "io/mesh_sink.h"

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
    gltf_buffer *loaded; /* one for each of buffers */
    uint64_t placed;     /* primitives */
    uint64_t with_values;
} gltf_reader;

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
    if (status == TML_OK)
        status = tml_io_open_beside(reader->sink->file, name, &file);
    if (status != TML_OK)
        return status;
    if (reader->sink->memory_limit &&
        reader->sink->allocated + file.size > reader->sink->memory_limit)
        status = tml_io_error(
            &file, TML_ERROR_OUT_OF_MEMORY, "has %llu bytes, desc.memory_limit is %llu",
            (unsigned long long)file.size, (unsigned long long)reader->sink->memory_limit);
    if (status == TML_OK)
        status = tml_io_read_all(&file, out);
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

/* Finds accessor number, which must have as many components. */
static tml_status open_array(gltf_reader *reader, uint64_t number, uint64_t components,
                             gltf_array *out)
{
    static const char *const types[] = {"", "SCALAR", "VEC2", "VEC3"};
    int object = -1, view = -1;
    uint64_t view_number = 0, offset = 0, view_offset = 0, view_length = 0, buffer_number = 0;
    gltf_buffer *buffer = NULL;
    *out = (gltf_array){.components = components};
    tml_status status = get_element(reader, &reader->accessors, number, "accessor", &object);
    if (status != TML_OK)
        return status;
    int type = member(reader, object, "type");
    int normalized = member(reader, object, "normalized");
    if (type < 0 || !tml_io_is(text_of(reader, type), types[components]))
        return bad_json(reader, object, "an accessor is of another type than its use asks for");
    if (member(reader, object, "sparse") >= 0 || member(reader, object, "bufferView") < 0)
        return tml_io_error(reader->sink->file, TML_ERROR_UNSUPPORTED,
                            "accessor %llu is sparse or has no bufferView; save it as a plain one",
                            (unsigned long long)number);
    out->is_normalized = normalized >= 0 && tml_io_is(text_of(reader, normalized), "true");
    if ((status = get_number(reader, object, "componentType", 0, &out->type)) != TML_OK ||
        (status = get_number(reader, object, "count", 0, &out->count)) != TML_OK ||
        (status = get_number(reader, object, "byteOffset", 0, &offset)) != TML_OK ||
        (status = get_number(reader, object, "bufferView", 0, &view_number)) != TML_OK ||
        (status = get_element(reader, &reader->views, view_number, "buffer view", &view)) !=
            TML_OK ||
        (status = get_number(reader, view, "buffer", 0, &buffer_number)) != TML_OK ||
        (status = get_number(reader, view, "byteOffset", 0, &view_offset)) != TML_OK ||
        (status = get_number(reader, view, "byteLength", 0, &view_length)) != TML_OK ||
        (status = get_number(reader, view, "byteStride", 0, &out->stride)) != TML_OK ||
        (status = load_buffer(reader, buffer_number, &buffer)) != TML_OK)
        return status;
    uint64_t size = components * component_size(out->type);
    out->stride = out->stride ? out->stride : size;
    if (size == 0 || out->stride < size)
        return bad_json(reader, object,
                        "an accessor's componentType or byteStride is none of glTF's");
    if (view_offset > buffer->size || view_length > buffer->size - view_offset ||
        offset > view_length ||
        (out->count > 0 && (view_length - offset < size ||
                            out->count - 1 > (view_length - offset - size) / out->stride)))
        return tml_io_error(reader->sink->file, TML_ERROR_FILE_FORMAT,
                            "accessor %llu of %llu elements reaches past the end of its bytes",
                            (unsigned long long)number, (unsigned long long)out->count);
    out->data = out->count ? buffer->data + view_offset + offset : NULL;
    return TML_OK;
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

/* ---- primitives ------------------------------------------------------------------------------ */

/* The placement of a mesh: the columns of a matrix, three numbers each, the last of them the
 * translation. */
typedef struct gltf_place {
    double m[12];
    bool is_identity;
} gltf_place;

/* The vertices of a primitive in the sink, which the next one may share. */
typedef struct gltf_vertices {
    uint64_t position, normal, uv, value; /* accessors; MESH_NONE: none */
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

static tml_status push_vertices(gltf_reader *reader, const gltf_place *place, gltf_vertices *v)
{
    mesh_sink *sink = reader->sink;
    gltf_array positions = {0}, normals = {0}, uvs = {0}, values = {0};
    tml_status status = open_array(reader, v->position, 3, &positions);
    if (status == TML_OK && v->normal != MESH_NONE)
        status = open_array(reader, v->normal, 3, &normals);
    if (status == TML_OK && v->uv != MESH_NONE)
        status = open_array(reader, v->uv, 2, &uvs);
    if (status == TML_OK && v->value != MESH_NONE)
        status = open_array(reader, v->value, 1, &values);
    if (status != TML_OK)
        return status;
    v->count = positions.count;
    if ((normals.data && normals.count != v->count) || (uvs.data && uvs.count != v->count) ||
        (values.data && values.count != v->count))
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
    }
    reader->with_values += values.data ? v->count : 0;
    return status;
}

static tml_status push_triangle(mesh_sink *sink, const gltf_vertices *v, const uint64_t numbers[3],
                                bool is_mirrored)
{
    tml_status status = TML_OK;
    for (int c = 0; c < 3 && status == TML_OK; c++) {
        uint64_t number = numbers[is_mirrored && c ? 3 - c : c];
        if (number >= v->count)
            return tml_io_error(sink->file, TML_ERROR_FILE_FORMAT,
                                "a triangle names vertex %llu, its primitive has %llu (counted "
                                "from 0)",
                                (unsigned long long)number, (unsigned long long)v->count);
        uint32_t n = (uint32_t)number;
        status = tml_mesh_push_corner(
            sink,
            (mesh_corner_ref){v->first + n, v->first_uv == MESH_NONE ? MESH_NONE : v->first_uv + n,
                              v->first_normal == MESH_NONE ? MESH_NONE : v->first_normal + n},
            0);
    }
    return status == TML_OK ? tml_mesh_end_face(sink, 0) : status;
}

/* Corners in order of triangles; indices.data NULL: 0, 1, 2 ... */
static tml_status push_triangles(gltf_reader *reader, const gltf_vertices *v,
                                 const gltf_array *indices, uint64_t mode, bool is_mirrored)
{
    uint64_t count = indices->data ? indices->count : v->count;
    uint64_t triangles = mode == GLTF_TRIANGLES ? count / 3 : count < 3 ? 0 : count - 2;
    tml_status status = TML_OK;
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
        status = push_triangle(reader->sink, v, numbers, is_mirrored);
    }
    return status;
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
        (status = get_number(reader, primitive, "indices", MESH_NONE, &index_number)) != TML_OK)
        return status;
    if (v.position == MESH_NONE)
        return bad_json(reader, primitive, "a primitive has no POSITION");
    if (v.position == before->position && v.normal == before->normal && v.uv == before->uv &&
        v.value == before->value)
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

/* A node's own matrix, or translation, rotation (a quaternion) and scale. */
static tml_status get_place(const gltf_reader *reader, int node, gltf_place *out)
{
    double matrix[16], t[3] = {0, 0, 0}, q[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1};
    bool has_matrix, has_t, has_q, has_s;
    tml_status status = get_numbers(reader, node, "matrix", 16, matrix, &has_matrix);
    if (status == TML_OK)
        status = get_numbers(reader, node, "translation", 3, t, &has_t);
    if (status == TML_OK)
        status = get_numbers(reader, node, "rotation", 4, q, &has_q);
    if (status == TML_OK)
        status = get_numbers(reader, node, "scale", 3, s, &has_s);
    if (status != TML_OK)
        return status;
    *out = identity;
    if (has_matrix) {
        for (int i = 0; i < 12; i++)
            out->m[i] = matrix[i / 3 * 4 + i % 3];
        out->is_identity = memcmp(out->m, identity.m, sizeof out->m) == 0;
        return TML_OK;
    }
    double x = q[0], y = q[1], z = q[2], w = q[3];
    const double rotation[9] = {
        1 - 2 * (y * y + z * z), 2 * (x * y + z * w),     2 * (x * z - y * w),
        2 * (x * y - z * w),     1 - 2 * (x * x + z * z), 2 * (y * z + x * w),
        2 * (x * z + y * w),     2 * (y * z - x * w),     1 - 2 * (x * x + y * y)};
    for (int i = 0; i < 9; i++)
        out->m[i] = rotation[i] * s[i / 3];
    memcpy(out->m + 9, t, sizeof t);
    out->is_identity = !has_t && !has_q && !has_s;
    return TML_OK;
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
        if (status == TML_OK)
            status = get_number(reader, node, "mesh", MESH_NONE, &mesh);
        if (status != TML_OK)
            return status;
        gltf_place place = combine(&visit.place, &own);
        if (mesh != MESH_NONE)
            status = read_mesh(reader, mesh, &place);
        if (status == TML_OK)
            status = push_nodes(reader, member(reader, node, "children"), &place, is_seen, stack);
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
        if (status == TML_OK)
            status = push_nodes(reader, member(reader, scene, "nodes"), &identity, is_seen, stack);
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
    if (status == TML_OK)
        status = visit_nodes(reader, is_seen, stack);
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

static tml_status check_extensions(const gltf_reader *reader)
{
    int version = member(reader, member(reader, 0, "asset"), "version");
    int required = member(reader, 0, "extensionsRequired");
    if (version < 0 || !tml_io_starts_with(text_of(reader, version), "2."))
        return tml_io_error(reader->sink->file, TML_ERROR_UNSUPPORTED,
                            "is no glTF 2: asset.version needs to be 2.0");
    int end = required < 0 ? 0 : reader->tokens[required].end;
    for (int i = required + 1;
         required >= 0 && i < reader->token_count && reader->tokens[i].start < end; i++)
        if (tml_io_is(text_of(reader, i), "KHR_draco_mesh_compression") ||
            tml_io_is(text_of(reader, i), "EXT_meshopt_compression"))
            return tml_io_error(reader->sink->file, TML_ERROR_UNSUPPORTED,
                                "its meshes are compressed (%.*s); unpack them, for example with "
                                "gltf-transform copy",
                                (int)text_of(reader, i).size, text_of(reader, i).text);
    return TML_OK;
}

static tml_status read_all(gltf_reader *reader)
{
    const io_file *file = reader->sink->file;
    tml_status status = tokenize(reader);
    if (status == TML_OK)
        status = check_extensions(reader);
    if (status == TML_OK)
        status = make_list(reader, "accessors", &reader->accessors);
    if (status == TML_OK)
        status = make_list(reader, "bufferViews", &reader->views);
    if (status == TML_OK)
        status = make_list(reader, "buffers", &reader->buffers);
    if (status == TML_OK)
        status = make_list(reader, "nodes", &reader->nodes);
    if (status == TML_OK)
        status = make_list(reader, "meshes", &reader->meshes);
    if (status == TML_OK)
        status = make_list(reader, "scenes", &reader->scenes);
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
    return status;
}

tml_status tml_mesh_read_gltf(mesh_sink *sink, const uint8_t *data, size_t size)
{
    gltf_reader reader = {.sink = sink, .json = {(const char *)data, size}};
    tml_status status = TML_OK;
    if (size >= 4 && memcmp(data, "glTF", 4) == 0)
        status = read_chunks(&reader, data, size);
    if (status == TML_OK)
        status = read_all(&reader);
    for (uint64_t i = 0; i < reader.buffers.count && reader.loaded; i++) {
        sink->allocated -= reader.loaded[i].owned.size;
        tml_io_block_free(sink->file, &reader.loaded[i].owned);
    }
    tml_free(sink->file->tml, reader.loaded, reader.buffers.count * sizeof *reader.loaded);
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
