/* The buffers and accessors of glTF: loads and checks their bytes, and returns them as rows of
 * numbers. */
#include "io/meshes/gltf.h"

#ifdef TML_GLTF
#    include <math.h>
#    include <stdlib.h>

/* The elements of an accessor that is sparse or has no buffer view. */
typedef struct gltf_dense {
    struct gltf_dense *next;
    uint64_t size; /* bytes of the whole struct */
    uint8_t bytes[];
} gltf_dense;

/* Limit on the elements of an accessor without a buffer view: its elements are 0, so the size of
 * the file does not limit them. */
enum { GLTF_ZEROS_MAX = 1 << 22 };

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

/* Decodes base64 (RFC 4648), with or without padding. */
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
            return tml_gltf_bad(reader, token, "its base64 has a character that is none");
        bits = (bits << 6 | (uint32_t)digit) & 0xffffff;
        held += 6;
        if (held >= 8 && written < out->size) {
            held -= 8;
            out->data[written++] = (uint8_t)(bits >> held);
        }
    }
    return TML_OK;
}

/* Converts a relative reference to a file's name: decodes %20 and the like. */
static tml_status decode_name(const gltf_reader *reader, int token, char *out, size_t size)
{
    io_span text = tml_gltf_text(reader, token);
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
                return tml_gltf_bad(reader, token, "has a % without two hexadecimal digits");
        }
        if (byte == '\\' || byte == 0)
            return tml_gltf_bad(reader, token, "needs a file name without \\");
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

/* Loads a buffer: the binary chunk, base64 in the JSON, or a file beside it. */
static tml_status load_buffer(gltf_reader *reader, uint64_t number, gltf_buffer **out)
{
    int object = -1;
    uint64_t length = 0;
    tml_status status = tml_gltf_get_element(reader, &reader->buffers, number, "buffer", &object);
    if (status != TML_OK)
        return status;
    gltf_buffer *buffer = *out = &reader->loaded[number];
    if (buffer->is_loaded)
        return TML_OK;
    status = tml_gltf_get_number(reader, object, "byteLength", 0, &length);
    int uri = tml_gltf_member(reader, object, "uri");
    io_span text = uri >= 0 ? tml_gltf_text(reader, uri) : (io_span){"", 0};
    if (status == TML_OK && uri < 0) {
        buffer->data = (const uint8_t *)reader->bin.text;
        buffer->size = reader->bin.size;
        if (number != 0 || !reader->bin.text)
            status = tml_gltf_bad(reader, object, "a buffer has neither uri nor binary chunk");
    } else if (status == TML_OK && tml_io_starts_with(text, "data:")) {
        const char *comma = memchr(text.text, ',', text.size);
        size_t head = comma ? (size_t)(comma - text.text) : 0;
        if (head < 7 || memcmp(comma - 7, ";base64", 7) != 0)
            return tml_gltf_bad(reader, uri, "needs data in base64");
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

double tml_gltf_number(const gltf_array *array, uint64_t row, uint64_t component)
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

/* Finds the bytes of count rows of size bytes each, which begin at offset in a buffer view.
 * object    the accessor or the part of it that names the view
 * *stride   receives the view's stride; size if the view has none */
static tml_status open_view(gltf_reader *reader, int object, uint64_t accessor, uint64_t number,
                            uint64_t offset, uint64_t count, uint64_t size, uint64_t *stride,
                            const uint8_t **out)
{
    int view = -1;
    uint64_t view_offset = 0, view_length = 0, buffer_number = 0;
    gltf_buffer *buffer = NULL;
    tml_status status;
    if ((status = tml_gltf_get_element(reader, &reader->views, number, "buffer view", &view)) !=
            TML_OK ||
        (status = tml_gltf_get_number(reader, view, "buffer", 0, &buffer_number)) != TML_OK ||
        (status = tml_gltf_get_number(reader, view, "byteOffset", 0, &view_offset)) != TML_OK ||
        (status = tml_gltf_get_number(reader, view, "byteLength", 0, &view_length)) != TML_OK ||
        (status = tml_gltf_get_number(reader, view, "byteStride", 0, stride)) != TML_OK ||
        (status = load_buffer(reader, buffer_number, &buffer)) != TML_OK)
        return status;
    *stride = *stride ? *stride : size;
    if (size == 0 || *stride < size)
        return tml_gltf_bad(reader, object,
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

/* Replaces elements by those that "sparse" lists with their numbers. */
static tml_status apply_sparse(gltf_reader *reader, int sparse, uint64_t accessor,
                               const gltf_array *array, uint64_t size, uint8_t *bytes)
{
    int at = tml_gltf_member(reader, sparse, "indices"),
        values = tml_gltf_member(reader, sparse, "values");
    gltf_array numbers = {.components = 1};
    uint64_t count = 0, view = 0, offset = 0, stride = 0, value_view = 0, value_offset = 0;
    const uint8_t *data = NULL, *from = NULL;
    tml_status status;
    if (at < 0 || values < 0)
        return tml_gltf_bad(reader, sparse, "sparse needs indices and values");
    if ((status = tml_gltf_get_number(reader, sparse, "count", 0, &count)) != TML_OK ||
        (status = tml_gltf_get_number(reader, at, "componentType", 0, &numbers.type)) != TML_OK ||
        (status = tml_gltf_get_number(reader, at, "bufferView", MESH_NONE, &view)) != TML_OK ||
        (status = tml_gltf_get_number(reader, at, "byteOffset", 0, &offset)) != TML_OK ||
        (status = tml_gltf_get_number(reader, values, "bufferView", MESH_NONE, &value_view)) !=
            TML_OK ||
        (status = tml_gltf_get_number(reader, values, "byteOffset", 0, &value_offset)) != TML_OK)
        return status;
    if (numbers.type != GLTF_UBYTE && numbers.type != GLTF_USHORT && numbers.type != GLTF_UINT)
        return tml_gltf_bad(reader, at, "indices need whole numbers without sign");
    status = open_view(reader, at, accessor, view, offset, count, component_size(numbers.type),
                       &numbers.stride, &data);
    TML_THEN(status, open_view(reader, values, accessor, value_view, value_offset, count, size,
                               &stride, &from));
    numbers.data = data;
    for (uint64_t i = 0; from && i < count && status == TML_OK; i++) {
        const uint64_t number = (uint64_t)tml_gltf_number(&numbers, i, 0);
        if (number >= array->count)
            return tml_gltf_bad(reader, at, "a sparse accessor names an element past its last");
        memcpy(bytes + number * size, from + i * stride, size);
    }
    return status;
}

/* Makes the elements of an accessor that is sparse or has no buffer view. */
static tml_status make_dense(gltf_reader *reader, int object, uint64_t accessor, gltf_array *array)
{
    mesh_sink *sink = reader->sink;
    const uint64_t size = array->components * component_size(array->type);
    const int sparse = tml_gltf_member(reader, object, "sparse");
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
    int type = tml_gltf_member(reader, object, "type");
    for (uint64_t i = 1; i < sizeof types / sizeof types[0] && type >= 0; i++)
        if (tml_io_is(tml_gltf_text(reader, type), types[i]))
            return i;
    return 0;
}

tml_status tml_gltf_open_array(gltf_reader *reader, uint64_t number, uint64_t components,
                               gltf_array *out)
{
    int object = -1;
    uint64_t view = 0, offset = 0;
    *out = (gltf_array){.components = components};
    tml_status status =
        tml_gltf_get_element(reader, &reader->accessors, number, "accessor", &object);
    if (status != TML_OK)
        return status;
    const uint64_t found = components_of(reader, object);
    int normalized = tml_gltf_member(reader, object, "normalized");
    if (found == 0 || (components && found != components))
        return tml_gltf_bad(reader, object, "an accessor is of another type than its use asks for");
    out->components = found;
    out->is_normalized = normalized >= 0 && tml_io_is(tml_gltf_text(reader, normalized), "true");
    if ((status = tml_gltf_get_number(reader, object, "componentType", 0, &out->type)) != TML_OK ||
        (status = tml_gltf_get_number(reader, object, "count", 0, &out->count)) != TML_OK ||
        (status = tml_gltf_get_number(reader, object, "byteOffset", 0, &offset)) != TML_OK ||
        (status = tml_gltf_get_number(reader, object, "bufferView", MESH_NONE, &view)) != TML_OK)
        return status;
    const uint64_t size = found * component_size(out->type);
    if (size == 0)
        return tml_gltf_bad(reader, object, "an accessor's componentType is none of glTF's");
    if (tml_gltf_member(reader, object, "bufferView") >= 0)
        status = open_view(reader, object, number, view, offset, out->count, size, &out->stride,
                           &out->data);
    if (status == TML_OK && (tml_gltf_member(reader, object, "bufferView") < 0 ||
                             tml_gltf_member(reader, object, "sparse") >= 0))
        status = make_dense(reader, object, number, out);
    return status;
}

void tml_gltf_free_buffers(gltf_reader *reader)
{
    mesh_sink *sink = reader->sink;
    for (uint64_t i = 0; i < reader->buffers.count && reader->loaded; i++) {
        sink->allocated -= reader->loaded[i].owned.size;
        tml_io_block_free(sink->file, &reader->loaded[i].owned);
    }
    tml_free(sink->file->tml, reader->loaded, reader->buffers.count * sizeof *reader->loaded);
    while (reader->dense) {
        gltf_dense *dense = reader->dense;
        reader->dense = dense->next;
        sink->allocated -= dense->size;
        tml_free(sink->file->tml, dense, dense->size);
    }
}

#endif
