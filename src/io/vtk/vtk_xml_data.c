/* Reads the values of arrays in VTK's XML files, behind their size. Compressed values are blocks,
 * behind their number and sizes. In base64 these sizes are encoded separately from the blocks. */
#include <inttypes.h>

#include "io/io_internal.h"
#include "io/vtk/vtk_xml.h"

/* A reader of an array's stored bytes. */
typedef struct xml_source {
    const io_file *file;
    vtk_xml_coding coding;
    uint64_t offset, end;
    uint8_t buffer[16384]; /* characters of base64 */
    size_t at, filled;
    uint8_t group[3]; /* decoded bytes, of which the last group_left are unread */
    unsigned group_size, group_left;
} xml_source;

static int base64_value(uint8_t c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Returns the next character that is not blank, or 0 at the end. */
static uint8_t next_character(xml_source *source)
{
    for (;;) {
        if (source->at == source->filled) {
            uint64_t left = source->end - source->offset;
            source->at = 0;
            source->filled = left < sizeof source->buffer ? (size_t)left : sizeof source->buffer;
            if (source->filled == 0 || tml_io_read_quietly(source->file, source->offset,
                                                           source->buffer, source->filled) != 0) {
                source->filled = 0;
                return 0;
            }
            source->offset += source->filled;
        }
        uint8_t c = source->buffer[source->at++];
        if (c != ' ' && !(c >= '\t' && c <= '\r'))
            return c;
    }
}

/* Decodes four characters. Returns false if they are not base64, or the data end. */
static bool next_group(xml_source *source)
{
    uint32_t bits = 0;
    unsigned padding = 0;
    for (int i = 0; i < 4; i++) {
        uint8_t c = next_character(source);
        int value = base64_value(c);
        padding += c == '=';
        if ((value < 0 && (c != '=' || i < 2)) || (value >= 0 && padding))
            return false;
        bits = bits << 6 | (uint32_t)(value < 0 ? 0 : value);
    }
    for (int i = 0; i < 3; i++)
        source->group[i] = (uint8_t)(bits >> (16 - 8 * i));
    source->group_left = source->group_size = 3 - padding;
    return true;
}

static tml_status vtk_xml_data_read_bytes(xml_source *source, uint8_t *out, uint64_t size)
{
    if (!source->coding.is_base64) {
        if (size > source->end - source->offset)
            return tml_io_error(source->file, TML_ERROR_FILE_FORMAT,
                                "holds %" PRIu64 " bytes at %" PRIu64 ", needs %" PRIu64
                                "; it was cut short, or an offset or size is wrong",
                                source->end - source->offset, source->offset, size);
        tml_status status = tml_io_read(source->file, source->offset, out, (size_t)size);
        source->offset += size;
        return status;
    }
    while (size) {
        if (source->group_left == 0 && !next_group(source))
            return tml_io_error(source->file, TML_ERROR_FILE_FORMAT,
                                "the base64 before byte %" PRIu64 " ends %" PRIu64
                                " bytes too early, or is damaged",
                                source->offset - (source->filled - source->at), size);
        for (; source->group_left && size; size--)
            *out++ = source->group[source->group_size - source->group_left--];
    }
    return TML_OK;
}

/* Reads the next of the sizes that precede data. */
static tml_status read_size(xml_source *source, uint64_t *out)
{
    uint8_t bytes[8] = {0};
    bool is_long = source->coding.has_long_sizes;
    tml_status status = vtk_xml_data_read_bytes(source, bytes, is_long ? 8 : 4);
    *out = is_long ? io_load_u64(bytes, source->coding.big_endian)
                   : io_load_u32(bytes, source->coding.big_endian);
    return status;
}

static tml_status wrong_size(const io_file *file, uint64_t is, uint64_t needs)
{
    return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                        "an array says to have %" PRIu64 " bytes, needs %" PRIu64, is, needs);
}

/* ---- blocks of zlib -------------------------------------------------------------------------- */

typedef struct xml_blocks {
    uint64_t count, size, last; /* blocks; bytes of a block, inflated, and of the last one */
    uint64_t *stored;           /* per block */
    uint64_t largest;           /* largest of stored */
} xml_blocks;

static tml_status read_block_sizes(xml_source *source, uint64_t size, xml_blocks *blocks)
{
    const io_file *file = source->file;
    uint64_t left = source->end - source->offset, before, total;
    tml_status status = read_size(source, &blocks->count);
    TML_THEN(status, read_size(source, &blocks->size));
    TML_THEN(status, read_size(source, &blocks->last));
    if (status != TML_OK)
        return status;
    blocks->last = blocks->last ? blocks->last : blocks->size;
    if (blocks->count == 0)
        return size ? wrong_size(file, 0, size) : TML_OK;
    if (blocks->count > left / 4 || blocks->last > blocks->size ||
        __builtin_mul_overflow(blocks->count - 1, blocks->size, &before) ||
        __builtin_add_overflow(before, blocks->last, &total) || total != size)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "an array says to have %" PRIu64 " blocks of %" PRIu64
                            " bytes, needs %" PRIu64 " bytes in all",
                            blocks->count, blocks->size, size);
    blocks->stored = tml_io_alloc(file, blocks->count * sizeof *blocks->stored);
    if (!blocks->stored)
        return TML_ERROR_OUT_OF_MEMORY;
    for (uint64_t i = 0; i < blocks->count && status == TML_OK; i++) {
        status = read_size(source, &blocks->stored[i]);
        if (status == TML_OK && blocks->stored[i] > left)
            status = tml_io_error(file, TML_ERROR_FILE_FORMAT,
                                  "block %" PRIu64 " says to have %" PRIu64
                                  " stored bytes, of %" PRIu64 " that there are",
                                  i, blocks->stored[i], left);
        if (status == TML_OK && blocks->stored[i] > blocks->largest)
            blocks->largest = blocks->stored[i];
    }
    return status;
}

static tml_status read_blocks(xml_source *source, uint64_t size, uint8_t *out)
{
    const io_file *file = source->file;
    xml_blocks blocks = {0};
    uint8_t *stored = NULL;
    tml_status status = read_block_sizes(source, size, &blocks);
    source->group_left = 0; /* the blocks are encoded separately */
    if (status == TML_OK && blocks.largest) {
        stored = tml_io_alloc(file, blocks.largest);
        status = stored ? TML_OK : TML_ERROR_OUT_OF_MEMORY;
    }
    for (uint64_t i = 0; i < blocks.count && status == TML_OK; i++) {
        uint64_t inflated = i + 1 < blocks.count ? blocks.size : blocks.last;
        status = vtk_xml_data_read_bytes(source, stored, blocks.stored[i]);
        TML_THEN(status, tml_io_inflate(file, stored, blocks.stored[i], out, inflated));
        out += inflated;
    }
    tml_free(file->tml, stored, (size_t)blocks.largest);
    if (blocks.stored)
        tml_free(file->tml, blocks.stored, (size_t)(blocks.count * sizeof *blocks.stored));
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------- */

tml_status tml_vtk_xml_skip_size(const io_file *file, vtk_xml_coding coding, uint64_t size,
                                 uint64_t *offset)
{
    uint8_t bytes[8];
    size_t width = coding.has_long_sizes ? 8 : 4;
    tml_status status = tml_io_read(file, *offset, bytes, width);
    if (status != TML_OK)
        return status;
    uint64_t is = coding.has_long_sizes ? io_load_u64(bytes, coding.big_endian)
                                        : io_load_u32(bytes, coding.big_endian);
    *offset += width;
    return is == size ? TML_OK : wrong_size(file, is, size);
}

tml_status tml_vtk_xml_read(const io_file *file, vtk_xml_coding coding, uint64_t offset,
                            uint64_t end, uint64_t size, void *out)
{
    uint64_t is, stored = end > offset ? end - offset : 0;
    bool fits = coding.is_compressed ? tml_io_may_inflate_to(stored, size)
                                     : size <= (coding.is_base64 ? stored / 4 * 3 : stored);
    if (offset > end || !fits)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "an array has %" PRIu64 " stored bytes, too few for the %" PRIu64
                            " that it needs; the file was cut short, or an offset or size is wrong",
                            stored, size);
    if (!out)
        return TML_OK;
    xml_source *source = tml_io_alloc(file, sizeof *source);
    if (!source)
        return TML_ERROR_OUT_OF_MEMORY;
    *source = (xml_source){.file = file, .coding = coding, .offset = offset, .end = end};
    tml_status status;
    if (coding.is_compressed) {
        status = read_blocks(source, size, out);
    } else {
        status = read_size(source, &is);
        TML_THEN(status, is == size ? vtk_xml_data_read_bytes(source, out, size)
                                    : wrong_size(file, is, size));
    }
    tml_free(file->tml, source, sizeof *source);
    return status;
}

/* ---- as numbers ------------------------------------------------------------------------------ */

double tml_vtk_xml_value(const vtk_xml_values *values, uint64_t i)
{
    return tml_io_number(values->block.data + i * tml_type_size(values->type), values->type,
                         IO_HOST_IS_BIG_ENDIAN);
}

/* Reads text as doubles, whatever the array's type. */
static tml_status read_text(const io_file *file, const vtk_xml_array *array, vtk_xml_values *out)
{
    io_block text = {.size = (size_t)(array->end - array->offset)};
    text.data = tml_io_alloc(file, text.size);
    tml_status status = text.data ? tml_io_read(file, array->offset, text.data, text.size)
                                  : TML_ERROR_OUT_OF_MEMORY;
    io_text words = io_text_of((io_span){(const char *)text.data, text.size});
    double *numbers = (double *)out->block.data;
    for (uint64_t i = 0; status == TML_OK && i < out->count; i++) {
        io_span word;
        if (!tml_io_word(&words, &word) || !tml_io_parse_f64(word, &numbers[i]))
            status = tml_io_error(file, TML_ERROR_FILE_FORMAT,
                                  "array %s has no number where its value %" PRIu64 " of %" PRIu64
                                  " should be",
                                  array->name, i, out->count);
    }
    tml_io_block_free(file, &text);
    return status;
}

tml_status tml_vtk_xml_read_values(const io_file *file, const vtk_xml_array *array, uint64_t count,
                                   vtk_xml_values *out)
{
    uint64_t size;
    *out = (vtk_xml_values){.type = array->coding.is_text ? TML_F64 : array->type, .count = count};
    if (__builtin_mul_overflow(count, tml_type_size(out->type), &size))
        return tml_io_error(file, TML_ERROR_FILE_FORMAT, "array %s has %" PRIu64 " values",
                            array->name, count);
    tml_status status = TML_OK;
    if (!array->coding.is_text)
        status = tml_vtk_xml_read(file, array->coding, array->offset, array->end, size, NULL);
    else if (count > (array->end - array->offset) / 2 + 1)
        status =
            tml_io_error(file, TML_ERROR_FILE_FORMAT,
                         "array %s has %" PRIu64 " characters, too few for %" PRIu64 " numbers",
                         array->name, array->end - array->offset, count);
    if (status != TML_OK || count == 0)
        return status;
    out->block.data = tml_io_alloc(file, size);
    out->block.size = out->block.data ? (size_t)size : 0;
    if (!out->block.data)
        return TML_ERROR_OUT_OF_MEMORY;
    if (array->coding.is_text) {
        status = read_text(file, array, out);
    } else {
        status =
            tml_vtk_xml_read(file, array->coding, array->offset, array->end, size, out->block.data);
        if (status == TML_OK)
            tml_io_to_host(out->block.data, tml_type_size(out->type), count,
                           array->coding.big_endian);
    }
    if (status != TML_OK)
        tml_io_block_free(file, &out->block);
    return status;
}
