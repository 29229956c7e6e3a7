/* NumPy's NPY, versions 1 to 3: one array with a short text header. After the format's description
 * in NumPy's documentation (numpy.lib.format) and NEP 1.
 *
 * The last index of a volume is x, in either memory order: array[z, y, x] means the same after
 * np.asfortranarray, so a Fortran-ordered file is transposed while loading. */
#include <inttypes.h>

#include "io/volumes/volume_internal.h"

static const char magic[] = "\x93NUMPY";
enum { MAGIC_SIZE = 6, HEADER_ALIGNMENT = 64 };

static const struct {
    char code[4]; /* without the byte order */
    tml_type type;
} type_codes[] = {{"u1", TML_U8},  {"i1", TML_I8},  {"u2", TML_U16}, {"i2", TML_I16},
                  {"u4", TML_U32}, {"i4", TML_I32}, {"u8", TML_U64}, {"i8", TML_I64},
                  {"f2", TML_F16}, {"f4", TML_F32}, {"f8", TML_F64}, {"b1", TML_U8}};

enum { TYPE_CODE_COUNT = sizeof type_codes / sizeof type_codes[0] };

/* ---- reading --------------------------------------------------------------------------------- */

/* Parses the header's Python literal: {'descr': '<f4', 'fortran_order': False, 'shape': (3,)} */
typedef struct literal {
    const char *at, *end;
} literal;

static bool next_is(literal *text, char c)
{
    while (text->at < text->end && (*text->at == ' ' || *text->at == '\n' || *text->at == '\t'))
        text->at++;
    if (text->at == text->end || *text->at != c)
        return false;
    text->at++;
    return true;
}

static bool quoted(literal *text, io_span *out)
{
    char quote = next_is(text, '\'') ? '\'' : next_is(text, '"') ? '"' : '\0';
    const char *end = quote ? memchr(text->at, quote, (size_t)(text->end - text->at)) : NULL;
    if (!end)
        return false;
    *out = (io_span){text->at, (size_t)(end - text->at)};
    text->at = end + 1;
    return true;
}

static bool boolean(literal *text, bool *out)
{
    while (text->at < text->end && *text->at == ' ')
        text->at++;
    io_span rest = {text->at, (size_t)(text->end - text->at)};
    *out = tml_io_starts_with(rest, "True");
    if (!*out && !tml_io_starts_with(rest, "False"))
        return false;
    text->at += *out ? 4 : 5;
    return true;
}

static bool tuple(literal *text, npy_header *out)
{
    if (!next_is(text, '('))
        return false;
    out->axis_count = 0;
    while (!next_is(text, ')')) {
        io_span digits = {text->at, 0};
        while (text->at < text->end && *text->at >= '0' && *text->at <= '9') {
            text->at++;
            digits.size++;
        }
        if (out->axis_count == NPY_AXES_MAX ||
            !tml_io_parse_u64(digits, &out->shape[out->axis_count++]))
            return false;
        next_is(text, 'L'); /* a long of Python 2 */
        if (!next_is(text, ',')) {
            if (!next_is(text, ')'))
                return false;
            break;
        }
    }
    return true;
}

static bool is_npy(io_span head, const char *path)
{
    (void)path;
    return tml_io_starts_with(head, magic);
}

static tml_status parse_type(const io_file *file, io_span descr, npy_header *out)
{
    for (size_t i = 0; i < TYPE_CODE_COUNT && descr.size == 3; i++)
        if (memcmp(descr.text + 1, type_codes[i].code, 2) == 0 && strchr("<>|=", descr.text[0])) {
            out->type = type_codes[i].type;
            out->big_endian = descr.text[0] == '>';
            return TML_OK;
        }
    char kind = descr.size > 1 ? descr.text[1] : '\0';
    const char *what = kind == 'c'   ? "save its size or one part: numpy.abs(array), array.real"
                       : kind == 'O' ? "save an array of numbers: array.astype(float)"
                       : kind == 'V' ? "save one field: array['name']"
                                     : "convert with array.astype(float)";
    return tml_io_error(
        file, TML_ERROR_UNSUPPORTED,
        "its element type (descr) is '%.*s' (expected u1 to u8, i1 to i8, f2, f4, f8 or b1); %s",
        (int)(descr.size < 40 ? descr.size : 40), descr.text, what);
}

static tml_status parse_npy(const io_file *file, io_span head, npy_header *out)
{
    *out = (npy_header){.count = 1};
    const uint8_t *bytes = (const uint8_t *)head.text;
    uint8_t version = head.size > MAGIC_SIZE ? bytes[MAGIC_SIZE] : 0;
    size_t start = version == 1 ? 10 : 12;
    if (version < 1 || version > 3)
        return tml_io_error(file, TML_ERROR_UNSUPPORTED, "is NPY version %u, needs 1 to 3",
                            version);
    size_t size = head.size < start ? 0
                  : version == 1    ? io_load_u16(bytes + 8, false)
                                    : io_load_u32(bytes + 8, false);
    if (head.size < start || size > head.size - start)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "its header of %zu bytes goes past the end of the file", size);
    out->offset = start + size;

    literal text = {head.text + start, head.text + start + size};
    uint32_t seen = 0;
    bool good = next_is(&text, '{');
    while (good && !next_is(&text, '}')) {
        io_span key, descr;
        good = quoted(&text, &key) && next_is(&text, ':');
        if (good && tml_io_is(key, "descr")) {
            if (next_is(&text, '['))
                return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                                    "its elements are records; save one field: array['name']");
            good = quoted(&text, &descr);
            tml_status status = good ? parse_type(file, descr, out) : TML_OK;
            if (status != TML_OK)
                return status;
            seen |= 1;
        } else if (good && tml_io_is(key, "fortran_order")) {
            good = boolean(&text, &out->fortran_order);
            seen |= 2;
        } else {
            good = good && tml_io_is(key, "shape") && tuple(&text, out);
            seen |= 4;
        }
        if (good && !next_is(&text, ',')) {
            good = next_is(&text, '}');
            break;
        }
    }
    if (!good || seen != 7)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "its header is not {'descr': ..., 'fortran_order': ..., 'shape': ...}");
    uint64_t size_all;
    for (uint32_t i = 0; i < out->axis_count; i++)
        if (__builtin_mul_overflow(out->count, out->shape[i], &out->count))
            good = false;
    if (!good || __builtin_mul_overflow(out->count, tml_type_size(out->type), &size_all) ||
        size_all > INT64_MAX)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "its shape is more than an address space holds");
    return TML_OK;
}

static tml_status parse_volume(const io_file *file, io_span head, const tml_load_desc *desc,
                               volume_header *out)
{
    npy_header npy;
    tml_status status = parse_npy(file, head, &npy);
    if (status != TML_OK)
        return status;
    uint32_t axes = npy.axis_count;
    if (axes < 1 || axes > 4)
        return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                            "has %" PRIu32
                            " axes, needs 1 to 4: (z, y, x), fewer, or (frame, z, y, "
                            "x); save one part, array[0], or array.reshape(...)",
                            axes);
    tml_grid *grid = &out->volume.grid;
    for (uint32_t i = 0; i < 3; i++)
        grid->dims[i] = i < axes ? npy.shape[axes - 1 - i] : 1;
    uint64_t frames = axes == 4 ? npy.shape[0] : 1;
    out->volume.type = npy.type;
    out->big_endian = npy.big_endian;
    out->offset = npy.offset;
    if (npy.fortran_order) /* the first index, the frame, varies fastest; then z, y, x */
        for (uint8_t k = 0; k < 3; k++)
            out->axis[k] = axes >= 3 ? (uint8_t)(2 - k) : axes == 2 && k < 2 ? (uint8_t)(1 - k) : k;
    status = npy.fortran_order ? tml_volume_layout(file, 1, frames, 1, desc->frame, out)
                               : tml_volume_layout(file, 1, 1, frames, desc->frame, out);
    return status == TML_OK ? volume_spacings(file, (const double[3]){1, 1, 1}, desc, out) : status;
}

const volume_format tml_volume_npy = {"NPY", is_npy, parse_volume};

/* ---- arrays ---------------------------------------------------------------------------------- */

/* Copies elements from Fortran to C order: visits them in C order, with their place in the
 * other. */
static void to_c_order(const npy_header *npy, const uint8_t *from, uint8_t *to)
{
    size_t size = tml_type_size(npy->type);
    uint64_t step[NPY_AXES_MAX], index[NPY_AXES_MAX] = {0}, product = 1, at = 0;
    for (uint32_t i = 0; i < npy->axis_count; i++) {
        step[i] = product;
        product *= npy->shape[i];
    }
    for (uint64_t n = 0; n < npy->count; n++) {
        memcpy(to + n * size, from + at * size, size);
        for (uint32_t i = npy->axis_count; i-- > 0;) {
            at += step[i];
            if (++index[i] < npy->shape[i])
                break;
            at -= step[i] * npy->shape[i];
            index[i] = 0;
        }
    }
}

static tml_status read_header(const io_file *file, npy_header *out, bool *wrapped)
{
    io_block block;
    tml_status status = tml_io_read_head(file, VOLUME_HEAD_SIZE, &block);
    if (status != TML_OK)
        return status;
    io_span head = {(const char *)block.data, block.size};
    uint8_t first[3] = {0};
    if (!is_npy(head, file->path))
        status = tml_io_error(file, TML_ERROR_FILE_FORMAT, "is no NPY file (numpy.save makes one)");
    else
        status = tml_io_read(file, 0, first, sizeof first);
    TML_THEN(status, parse_npy(file, head, out));
    *wrapped = tml_io_is_gzip(first, sizeof first);
    tml_io_block_free(file, &block);
    return status;
}

static tml_status load_array(const io_file *file, tml_array *out)
{
    npy_header npy;
    bool wrapped;
    tml_status status = read_header(file, &npy, &wrapped);
    if (status != TML_OK)
        return status;

    uint64_t size = npy.count * tml_type_size(npy.type);
    bool transpose = npy.fortran_order && npy.axis_count > 1 && size;
    uint8_t *data = NULL, *ordered = NULL;
    io_progress progress;
    io_stream stream;
    tml_io_progress_start(&progress, file->tml, "read", size);
    status = tml_io_stream_open(file, wrapped ? 0 : npy.offset, wrapped ? IO_DEFLATE : IO_RAW,
                                size + (wrapped ? npy.offset : 0), &progress, &stream);
    if (status != TML_OK)
        return status;
    data = tml_io_alloc(file, size);
    ordered = data && transpose ? tml_io_alloc(file, size) : NULL;
    if (size && (!data || (transpose && !ordered)))
        status = TML_ERROR_OUT_OF_MEMORY;
    if (status == TML_OK && wrapped)
        status = tml_io_stream_read(&stream, NULL, npy.offset);
    TML_THEN(status, tml_io_stream_read(&stream, data, size));
    bool has_more;
    TML_THEN(status, tml_io_stream_finish(&stream, &has_more));
    tml_io_stream_close(&stream);
    if (status == TML_OK)
        tml_io_to_host(data, tml_type_size(npy.type), npy.count, npy.big_endian);
    if (status == TML_OK && transpose) {
        to_c_order(&npy, data, ordered);
        uint8_t *swap = data;
        data = ordered;
        ordered = swap;
    }
    tml_free(file->tml, ordered, (size_t)size);
    if (status != TML_OK) {
        tml_free(file->tml, data, (size_t)size);
        return status;
    }
    uint64_t last = npy.axis_count >= 2 ? npy.shape[npy.axis_count - 1] : 1;
    bool vectors = last >= 2 && last <= 4;
    *out = (tml_array){.data = data,
                       .size = (size_t)size,
                       .type = vectors ? TML_VEC(npy.type, last) : npy.type,
                       .count = vectors ? npy.count / last : npy.count,
                       .total = npy.count};
    return TML_OK;
}

static const char load_call[] = "tml_array_load";

static tml_status load_part(const io_file *file, uint64_t first, uint64_t count, tml_array *out)
{
    npy_header npy;
    bool wrapped;
    tml_status status = read_header(file, &npy, &wrapped);
    if (status != TML_OK)
        return status;
    if (wrapped || (npy.fortran_order && npy.axis_count > 1))
        return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                            "is %s, of which no part can be read alone; %s",
                            wrapped ? "gzipped" : "in Fortran's order",
                            wrapped ? "unzip it" : "save numpy.ascontiguousarray(array)");
    size_t size = tml_type_size(npy.type);
    if (npy.count > (UINT64_MAX - npy.offset) / size || npy.offset + npy.count * size > file->size)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "has %" PRIu64 " bytes, %" PRIu64
                            " elements need more; it is truncated",
                            file->size, npy.count);
    *out = (tml_array){.type = npy.type, .total = npy.count};
    if (first > npy.count || count > npy.count - first)
        return tml_io_error(file, TML_ERROR_INVALID_ARGUMENT, "has %" PRIu64 " elements",
                            npy.count);
    if (count == 0)
        return TML_OK;
    out->data = tml_io_alloc(file, count * size);
    if (!out->data)
        return TML_ERROR_OUT_OF_MEMORY;
    out->size = (size_t)(count * size);
    out->count = count;
    status = tml_io_read(file, npy.offset + first * size, out->data, out->size);
    if (status == TML_OK)
        tml_io_to_host(out->data, size, count, npy.big_endian);
    else
        tml_array_free(file->tml, out);
    return status;
}

tml_status tml_array_load(tml_context *tml, const char *path, uint64_t first, uint64_t count,
                          tml_array *out)
{
    memset(out, 0, sizeof *out);
    io_file file;
    tml_status status = tml_io_open(tml, load_call, path, &file);
    if (status != TML_OK)
        return status;
    status = first == 0 && count == UINT64_MAX ? load_array(&file, out)
                                               : load_part(&file, first, count, out);
    tml_io_close(&file);
    return status;
}

tml_status tml_array_load_memory(tml_context *tml, const char *name, const void *data, size_t size,
                                 tml_array *out)
{
    memset(out, 0, sizeof *out);
    io_file file;
    tml_io_open_memory(tml, load_call, name, data, size, &file);
    return load_array(&file, out);
}

/* ---- writing --------------------------------------------------------------------------------- */

bool tml_npy_write_header(io_writer *writer, tml_type scalar, const uint64_t *shape,
                          uint32_t axis_count)
{
    const char *code = "";
    for (size_t i = TYPE_CODE_COUNT; i-- > 0;)
        if (type_codes[i].type == scalar)
            code = type_codes[i].code; /* a type's first code: u1, not b1 */
    char order = tml_type_size(scalar) == 1 ? '|' : IO_HOST_IS_BIG_ENDIAN ? '>' : '<';
    char text[64 + NPY_AXES_MAX * 22];
    int length = snprintf(text, sizeof text, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                          order, code);
    for (uint32_t i = 0; i < axis_count; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%" PRIu64 ",%s", shape[i],
                           i + 1 < axis_count ? " " : "");
    length += snprintf(text + length, sizeof text - (size_t)length, "), }");

    /* Blanks and a line end, so that the elements begin at a multiple of 64. */
    size_t prefix = MAGIC_SIZE + 4;
    size_t whole =
        (prefix + (size_t)length + HEADER_ALIGNMENT) / HEADER_ALIGNMENT * HEADER_ALIGNMENT;
    uint8_t start[MAGIC_SIZE + 4] = {0};
    memcpy(start, magic, MAGIC_SIZE);
    start[MAGIC_SIZE] = 1; /* version 1.0 */
    io_store_u16le(start + MAGIC_SIZE + 2, (uint16_t)(whole - prefix));
    tml_io_write(writer, start, sizeof start);
    return tml_io_print(writer, "%-*s\n", (int)(whole - prefix - 1), text);
}

tml_status tml_array_save(tml_context *tml, const char *path, const tml_array *array)
{
    static const char call[] = "tml_array_save";
    uint32_t components = tml_type_components(array->type);
    uint64_t size;
    if (components == 0 || tml_type_scalar(array->type) == TML_TYPE_NONE ||
        __builtin_mul_overflow(array->count, tml_type_size(array->type), &size) ||
        size != array->size || (size && !array->data))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: array has %zu bytes, needs %" PRIu64
                         " elements of a scalar or vector type (%s)",
                         call, array->size, array->count, tml_type_name(array->type));
    io_writer writer;
    tml_status status = tml_io_create(tml, call, path, size + 2 * HEADER_ALIGNMENT, &writer);
    if (status != TML_OK)
        return status;
    tml_npy_write_header(&writer, tml_type_scalar(array->type),
                         (uint64_t[]){array->count, components}, components > 1 ? 2 : 1);
    tml_io_write(&writer, array->data, array->size);
    return tml_io_finish(&writer, TML_OK);
}

struct tml_array_stream {
    io_writer writer;
    uint64_t start; /* where the elements begin, in bytes */
    uint64_t count, done;
    size_t size;
};

tml_status tml_array_stream_open(tml_context *tml, const char *path, tml_type type, uint64_t count,
                                 const tml_team *team, tml_array_stream **out)
{
    static const char call[] = "tml_array_stream_open";
    uint64_t size;
    *out = NULL;
    if (tml_type_components(type) != 1 || __builtin_mul_overflow(count, tml_type_size(type), &size))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %" PRIu64 " elements of %s, needs scalars", call, count,
                         tml_type_name(type));
    tml_array_stream *stream = tml_alloc(tml, sizeof *stream);
    if (!stream)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %zu bytes", call,
                         sizeof *stream);
    uint64_t expected = size + 2 * HEADER_ALIGNMENT;
    tml_status status = team ? tml_io_team_create(tml, call, path, expected, team, &stream->writer)
                             : tml_io_create(tml, call, path, expected, &stream->writer);
    if (status != TML_OK) {
        tml_free(tml, stream, sizeof *stream);
        return status;
    }
    stream->count = count;
    stream->done = 0;
    stream->size = tml_type_size(type);
    tml_npy_write_header(&stream->writer, type, &count, 1);
    stream->start = stream->writer.written;
    stream->writer.expected = stream->start + size;
    *out = stream;
    return TML_OK;
}

tml_status tml_array_stream_write(tml_array_stream *stream, uint64_t first, uint64_t count,
                                  const void *data)
{
    io_writer *writer = &stream->writer;
    if (first > stream->count || count > stream->count - first ||
        (!writer->team && first != stream->done))
        return tml_error(writer->tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_array_stream_write: elements [%" PRIu64 ", +%" PRIu64 ") of %" PRIu64
                         ", after %" PRIu64,
                         first, count, stream->count, stream->done);
    stream->done = first + count;
    if (!writer->team)
        return tml_io_write(writer, data, (size_t)(count * stream->size)) ? TML_OK : writer->status;
    if (writer->status == TML_OK)
        writer->status =
            writer->team->write(writer->team->user, writer->tml,
                                stream->start + first * stream->size, data, count * stream->size);
    return writer->status;
}

tml_status tml_array_stream_finish(tml_array_stream *stream, tml_status status)
{
    tml_context *tml = stream->writer.tml;
    if (status == TML_OK && !stream->writer.team && stream->done != stream->count)
        status = tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                           "tml_array_stream_finish: %" PRIu64 " of %" PRIu64 " elements came",
                           stream->done, stream->count);
    status = tml_io_finish(&stream->writer, status);
    tml_free(tml, stream, sizeof *stream);
    return status;
}
