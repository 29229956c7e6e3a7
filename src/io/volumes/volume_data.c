/* Reads a volume's samples, whatever format described them: from one file or many slices, raw,
 * compressed or as text. Selects one frame or component, and converts byte order and axis order. */
#include <errno.h>
#include <inttypes.h>

#include "io/io_system.h"
#include "io/volumes/volume_internal.h"

enum { GATHER_SIZE = 256 << 10 };

/* Reads the data files one after another, as one sequence of samples. */
typedef struct samples_reader {
    const io_file *header_file;
    const volume_header *header;
    bool wrapped;
    uint64_t file_size; /* bytes of samples in each data file */
    uint64_t left;      /* bytes of samples left in the open file */
    uint64_t next;      /* number of the next data file */
    io_text names;      /* rest of a list */
    io_file file;
    io_stream stream;
    uint64_t stored;  /* offset at which the decoder begins */
    io_block decoded; /* all samples of the open file, unless they were read at once */
    bool is_open;
    io_progress progress;
} samples_reader;

/* ---- data files ------------------------------------------------------------------------------ */

/* Finds '%', optional 0, optional width, then d, i or u. *width: 0 if there is none. */
static bool find_conversion(io_span name, size_t *start, size_t *end, int *width, bool *zeros)
{
    for (size_t i = 0; i < name.size; i++) {
        if (name.text[i] != '%')
            continue;
        *start = i++;
        *zeros = i < name.size && name.text[i] == '0';
        *width = 0;
        for (; i < name.size && name.text[i] >= '0' && name.text[i] <= '9' && *width < 10; i++)
            *width = 10 * *width + (name.text[i] - '0');
        *end = i + 1;
        return i < name.size && strchr("diu", name.text[i]) && name.text[i] && *width < 20 &&
               !memchr(name.text + *end, '%', name.size - *end);
    }
    return false;
}

bool tml_volume_is_pattern(io_span name)
{
    size_t start, end;
    int width;
    bool zeros;
    return find_conversion(name, &start, &end, &width, &zeros);
}

void tml_volume_pattern(io_span name, int64_t first, int64_t last, int64_t step, volume_header *out)
{
    const int64_t files_max = 1 << 20; /* each file is opened: a wrong count must not take hours */
    int64_t span;
    out->source = VOLUME_PATTERN;
    out->names = name;
    out->pattern_first = first;
    out->pattern_step = step;
    out->file_count = 0;
    if (step != 0 && step != INT64_MIN && !__builtin_sub_overflow(last, first, &span) &&
        (span == 0 || (span > 0) == (step > 0)) && span / step < files_max)
        out->file_count = (uint64_t)(span / step) + 1;
}

/* Finds the next data file's name. Returns false at the end of a list, or if it is too long. */
static bool next_name(samples_reader *reader, char name[VOLUME_NAME_SIZE])
{
    const volume_header *header = reader->header;
    io_span line = header->names;
    if (header->source == VOLUME_PATTERN) {
        size_t start, end;
        int width;
        bool zeros;
        if (!find_conversion(line, &start, &end, &width, &zeros))
            return false;
        int64_t number = header->pattern_first + (int64_t)reader->next * header->pattern_step;
        int length = snprintf(name, VOLUME_NAME_SIZE,
                              zeros ? "%.*s%0*" PRId64 "%.*s" : "%.*s%*" PRId64 "%.*s", (int)start,
                              line.text, width, number, (int)(line.size - end), line.text + end);
        return length > 0 && length < VOLUME_NAME_SIZE;
    }
    if (header->source == VOLUME_LIST) {
        do {
            if (!tml_io_line(&reader->names, &line))
                return false;
            line = tml_io_trim(line);
        } while (line.size == 0);
    }
    if (line.size >= VOLUME_NAME_SIZE || memchr(line.text, '\0', line.size))
        return false;
    tml_io_copy(name, VOLUME_NAME_SIZE, line);
    return true;
}

/* Advances *offset by that many lines. */
static tml_status skip_lines(const io_file *file, uint64_t lines, uint64_t *offset)
{
    char chunk[4096];
    while (lines) {
        uint64_t left = *offset < file->size ? file->size - *offset : 0;
        size_t size = left < sizeof chunk ? (size_t)left : sizeof chunk;
        if (size == 0)
            return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                                "ends %" PRIu64 " lines before the lines to skip do", lines);
        tml_status status = tml_io_read(file, *offset, chunk, size);
        if (status != TML_OK)
            return status;
        const char *at = chunk, *newline;
        while (lines && (newline = memchr(at, '\n', (size_t)(chunk + size - at)))) {
            at = newline + 1;
            lines--;
        }
        *offset += lines ? size : (size_t)(at - chunk);
    }
    return TML_OK;
}

/* Parses a number as a sample of a type. Returns false if it is not a number or does not fit. */
static bool parse_sample(io_span word, tml_type type, void *out)
{
    double real;
    uint64_t natural;
    int64_t integer;
    if (type == TML_F64 || type == TML_F32) {
        if (!tml_io_parse_f64(word, &real))
            return false;
        float single = (float)real;
        memcpy(out, type == TML_F64 ? (void *)&real : (void *)&single, tml_type_size(type));
        return true;
    }
    size_t size = tml_type_size(type);
    unsigned bits = 8 * (unsigned)size;
    if (tml_type_is_signed(type)) {
        if (!tml_io_parse_i64(word, &integer) || integer < -(INT64_MAX >> (64 - bits)) - 1 ||
            integer > INT64_MAX >> (64 - bits))
            return false;
        natural = (uint64_t)integer;
    } else if (!tml_io_parse_u64(word, &natural) || natural > UINT64_MAX >> (64 - bits)) {
        return false;
    }
    uint8_t *bytes = out;
    for (size_t i = 0; i < size; i++) /* the low bytes, in the machine's order */
        bytes[IO_HOST_IS_BIG_ENDIAN ? size - 1 - i : i] = (uint8_t)(natural >> 8 * i);
    return true;
}

/* Parses a byte that is written as a fraction of 255. */
static bool parse_fraction(io_span word, void *out)
{
    double share;
    if (!tml_io_parse_f64(word, &share) || !(share >= 0 && share <= 1))
        return false;
    *(uint8_t *)out = (uint8_t)(255 * share + 0.5);
    return true;
}

static tml_status decode_text(const io_file *file, const volume_header *header, uint64_t offset,
                              uint64_t size, void *out)
{
    tml_type type = header->volume.type;
    size_t sample_size = tml_type_size(type), count = (size_t)(size / sample_size);
    io_block text = {.size = (size_t)((header->end ? header->end : file->size) - offset)};
    if (count > text.size / 2 + 1)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "holds %zu characters, too few for %zu numbers", text.size, count);
    if (!out)
        return TML_OK;
    text.data = tml_io_alloc(file, text.size);
    tml_status status =
        text.data ? tml_io_read(file, offset, text.data, text.size) : TML_ERROR_OUT_OF_MEMORY;
    io_text words = io_text_of((io_span){(const char *)text.data, text.size});
    io_span word;
    for (size_t i = 0; status == TML_OK && i < count; i++) {
        if (!tml_io_word(&words, &word))
            status = tml_io_error(file, TML_ERROR_FILE_FORMAT,
                                  "holds %zu numbers, needs %zu; it was cut short", i, count);
        else if (header->is_fraction ? !parse_fraction(word, (uint8_t *)out + i)
                                     : !parse_sample(word, type, (uint8_t *)out + i * sample_size))
            status = tml_io_error(file, TML_ERROR_FILE_FORMAT, "number %zu is \"%.*s\", needs a %s",
                                  i, (int)(word.size < 40 ? word.size : 40), word.text,
                                  tml_type_name(type));
    }
    if (status == TML_OK && header->is_exact && tml_io_word(&words, &word))
        status = tml_io_error(file, TML_ERROR_FILE_FORMAT,
                              "holds more than the %zu numbers that its sizes say", count);
    tml_io_block_free(file, &text);
    return status;
}

static tml_status decode_hex(const io_file *file, const volume_header *header, uint64_t offset,
                             uint64_t size, void *out)
{
    uint8_t chunk[4096], *to = out;
    uint64_t digits = 0; /* read so far; two digits are a byte */
    (void)header;
    if (size > (file->size - offset) / 2)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "holds %" PRIu64 " characters, too few for %" PRIu64 " bytes in hex",
                            file->size - offset, size);
    while (out && digits < 2 * size) {
        uint64_t left = file->size - offset;
        size_t length = left < sizeof chunk ? (size_t)left : sizeof chunk;
        tml_status status = length ? tml_io_read(file, offset, chunk, length)
                                   : tml_io_error(file, TML_ERROR_FILE_FORMAT,
                                                  "holds %" PRIu64 " bytes in hex, needs %" PRIu64
                                                  "; it was cut short",
                                                  digits / 2, size);
        if (status != TML_OK)
            return status;
        for (size_t i = 0; i < length && digits < 2 * size; i++) {
            uint8_t c = chunk[i], letter = c | 0x20;
            int digit = c >= '0' && c <= '9'             ? c - '0'
                        : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10
                                                         : -1;
            if (c == ' ' || (c >= '\t' && c <= '\r'))
                continue;
            if (digit < 0)
                return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                                    "byte %" PRIu64 " is no hexadecimal digit", offset + i);
            to[digits / 2] = (uint8_t)(digits % 2 ? to[digits / 2] | digit : digit << 4);
            digits++;
        }
        offset += length;
    }
    return TML_OK;
}

static tml_status decode_vtk_xml(const io_file *file, const volume_header *header, uint64_t offset,
                                 uint64_t size, void *out)
{
    return tml_vtk_xml_read(file, header->coding, offset, header->end, size, out);
}

static const volume_decoder decoders[VOLUME_ENCODINGS] = {[VOLUME_TEXT] = decode_text,
                                                          [VOLUME_HEX] = decode_hex,
                                                          [VOLUME_TIFF] = tml_tiff_decode,
                                                          [VOLUME_DICOM] = tml_dicom_decode,
                                                          [VOLUME_VTK_XML] = decode_vtk_xml};

static void close_file(samples_reader *reader)
{
    if (!reader->is_open)
        return;
    tml_io_stream_close(&reader->stream);
    tml_io_block_free(&reader->file, &reader->decoded);
    if (reader->header->source != VOLUME_ATTACHED)
        tml_io_close(&reader->file);
    reader->is_open = false;
}

/* Checks that the open data file can hold its share of the samples, and opens a stream at the first
 * of them. */
static tml_status open_stream(samples_reader *reader, bool only_check)
{
    const volume_header *header = reader->header;
    const io_file *file = &reader->file;
    uint64_t offset = header->offset, size = reader->file_size;
    if (header->at_end)
        offset = file->size >= size ? file->size - size : 0;
    tml_status status = skip_lines(file, header->line_skip, &offset);
    if (status != TML_OK)
        return status;
    if (decoders[header->encoding]) {
        uint64_t end = header->end ? header->end : file->size;
        if (__builtin_add_overflow(offset, header->byte_skip, &offset) || offset > end)
            return tml_io_error(file, TML_ERROR_FILE_FORMAT, "ends before the bytes to skip do");
        reader->stored = offset;
        return decoders[header->encoding](file, header, offset, size, NULL);
    }
    /* In a gzip file, the stream delivers the header before the samples. */
    uint64_t before = header->byte_skip + (reader->wrapped ? offset : 0);
    uint64_t total;
    if (__builtin_add_overflow(size, before, &total) || before < header->byte_skip)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT, "its header skips %" PRIu64 " bytes",
                            header->byte_skip);
    io_encoding encoding = header->encoding == VOLUME_BZIP2                        ? IO_BZIP2
                           : reader->wrapped || header->encoding == VOLUME_DEFLATE ? IO_DEFLATE
                                                                                   : IO_RAW;
    status = tml_io_stream_open(file, reader->wrapped ? 0 : offset, encoding, total,
                                &reader->progress, &reader->stream);
    return status == TML_OK && !only_check ? tml_io_stream_read(&reader->stream, NULL, before)
                                           : status;
}

static tml_status open_next(samples_reader *reader, bool only_check)
{
    const volume_header *header = reader->header;
    tml_status status = TML_OK;
    if (header->source == VOLUME_ATTACHED) {
        reader->file = *reader->header_file;
    } else {
        char name[VOLUME_NAME_SIZE];
        if (!next_name(reader, name))
            return tml_io_error(reader->header_file, TML_ERROR_FILE_FORMAT,
                                "the name of data file %" PRIu64 " of %" PRIu64
                                " is missing or longer than %d bytes",
                                reader->next + 1, header->file_count, VOLUME_NAME_SIZE - 1);
        status = tml_io_open_beside(reader->header_file, name, &reader->file);
    }
    if (status != TML_OK)
        return status;
    reader->is_open = true;
    reader->next++;
    reader->left = reader->file_size;
    return open_stream(reader, only_check);
}

/* Ends a data file. Bytes behind its samples are ignored, unless only they can reveal wrong dims
 * (is_exact). */
static tml_status finish_file(samples_reader *reader)
{
    bool has_more;
    if (decoders[reader->header->encoding])
        return TML_OK;
    tml_status status = tml_io_stream_finish(&reader->stream, &has_more);
    if (status == TML_OK && has_more && reader->header->is_exact)
        status = tml_io_error(&reader->file, TML_ERROR_FILE_FORMAT,
                              "its compressed data go on after the last sample; check desc.dims, "
                              "desc.type and desc.skip");
    return status;
}

static void rewind_files(samples_reader *reader)
{
    close_file(reader);
    reader->next = reader->left = 0;
    reader->names = io_text_of(reader->header->names);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Reads the next bytes of the open file; at most as many as it has. */
static tml_status read_piece(samples_reader *reader, uint8_t *out, uint64_t size)
{
    volume_decoder decoder = decoders[reader->header->encoding];
    const io_file *file = &reader->file;
    tml_status status = TML_OK;
    if (!decoder)
        return tml_io_stream_read(&reader->stream, out, size);
    if (out && size == reader->file_size) {
        status = decoder(file, reader->header, reader->stored, size, out);
    } else if (!reader->decoded.data) {
        reader->decoded.data = tml_io_alloc(file, reader->file_size);
        reader->decoded.size = reader->decoded.data ? (size_t)reader->file_size : 0;
        status = reader->decoded.data ? decoder(file, reader->header, reader->stored,
                                                reader->file_size, reader->decoded.data)
                                      : TML_ERROR_OUT_OF_MEMORY;
    }
    if (status == TML_OK && out && reader->decoded.data)
        memcpy(out, reader->decoded.data + reader->file_size - reader->left, (size_t)size);
    if (status == TML_OK && !tml_io_progress_add(&reader->progress, size))
        status = tml_io_error(file, TML_ERROR_CANCELLED, "cancelled");
    return status;
}

/* Reads the next size bytes of samples. out NULL: skips them. */
static tml_status volume_data_read_bytes(samples_reader *reader, uint8_t *out, uint64_t size)
{
    tml_status status = TML_OK;
    while (size && status == TML_OK) {
        if (reader->left == 0) {
            close_file(reader);
            status = open_next(reader, false);
            continue;
        }
        uint64_t piece = size < reader->left ? size : reader->left;
        status = read_piece(reader, out, piece);
        reader->left -= piece;
        size -= piece;
        out = out ? out + piece : NULL;
        if (status == TML_OK && reader->left == 0)
            status = finish_file(reader);
    }
    return status;
}

/* Reads runs [first, first + count) in order. Small gaps between runs are read, not skipped. */
static tml_status read_runs(samples_reader *reader, uint64_t first, uint64_t count, uint8_t *out)
{
    const volume_header *header = reader->header;
    const io_file *file = reader->header_file;
    uint64_t sample_size = tml_type_size(header->volume.type);
    uint64_t run = header->run * sample_size, gap = header->stride * sample_size - run;
    bool is_close = header->runs > 1 && gap + run <= GATHER_SIZE;
    uint64_t batch = is_close ? GATHER_SIZE / (gap + run) : 1;
    tml_status status = TML_OK;
    if (first == 0 && count) { /* skip_to_samples has skipped the samples before it */
        status = volume_data_read_bytes(reader, out, run);
        out += run;
        first++;
        count--;
    }
    if (!is_close) {
        for (; count && status == TML_OK; count--, out += run) {
            status = volume_data_read_bytes(reader, NULL, gap);
            TML_THEN(status, volume_data_read_bytes(reader, out, run));
        }
        return status;
    }
    uint8_t *strides = tml_io_alloc(file, batch * (gap + run));
    if (!strides)
        return TML_ERROR_OUT_OF_MEMORY;
    while (status == TML_OK && count) {
        uint64_t n = count < batch ? count : batch;
        status = volume_data_read_bytes(reader, strides, n * (gap + run));
        for (uint64_t i = 0; i < n && status == TML_OK; i++, out += run)
            memcpy(out, strides + i * (gap + run) + gap, (size_t)run);
        count -= n;
    }
    tml_free(file->tml, strides, (size_t)(batch * (gap + run)));
    return status;
}

static tml_status skip_to_samples(samples_reader *reader)
{
    return volume_data_read_bytes(
        reader, NULL, reader->header->first * tml_type_size(reader->header->volume.type));
}

/* Skips to the end of the last file, so that its checksum is verified. */
static tml_status skip_to_end(samples_reader *reader)
{
    const volume_header *header = reader->header;
    uint64_t end = header->first + (header->runs - 1) * header->stride + header->run;
    return volume_data_read_bytes(reader, NULL,
                                  (header->samples - end) * tml_type_size(header->volume.type));
}

static tml_status read_samples(samples_reader *reader, uint8_t *out)
{
    tml_status status = skip_to_samples(reader);
    TML_THEN(status, read_runs(reader, 0, reader->header->runs, out));
    return status == TML_OK ? skip_to_end(reader) : status;
}

/* ---- axis order ------------------------------------------------------------------------------ */

#define PERMUTE(type)                                                                              \
    do {                                                                                           \
        const type *from_row = from;                                                               \
        type *to_row = to;                                                                         \
        for (uint64_t z = 0; z < dims[2]; z++)                                                     \
            for (uint64_t y = 0; y < dims[1]; y++)                                                 \
                for (uint64_t x = 0; x < dims[0]; x++)                                             \
                    *to_row++ = from_row[x * step[0] + y * step[1] + z * step[2]];                 \
    } while (0)

/* Copies samples from the file's axis order to x fastest. layers: samples along z. */
static void permute(const volume_header *header, uint64_t layers, const void *from, void *to)
{
    const uint64_t dims[3] = {header->volume.grid.dims[0], header->volume.grid.dims[1], layers};
    uint64_t step[3], product = 1; /* strides in from, along the volume's axes */
    for (int k = 0; k < 3; k++) {
        step[header->axis[k]] = product;
        product *= dims[header->axis[k]];
    }
    switch (tml_type_size(header->volume.type)) {
    case 1:
        PERMUTE(uint8_t);
        break;
    case 2:
        PERMUTE(uint16_t);
        break;
    case 4:
        PERMUTE(uint32_t);
        break;
    default:
        PERMUTE(uint64_t);
        break;
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool is_permuted(const volume_header *header)
{
    return header->axis[0] != 0 || header->axis[1] != 1;
}

/* Initialises a reader at the start of the first data file, if all data files exist and can hold
 * their share. */
static tml_status reader_open(const io_file *file, bool wrapped, const volume_header *header,
                              samples_reader *out)
{
    uint64_t all = header->samples * tml_type_size(header->volume.type);
    if (wrapped && (header->source != VOLUME_ATTACHED || header->encoding != VOLUME_RAW ||
                    header->line_skip || header->at_end))
        return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                            "is a gzip file whose header points outside of it or compresses again; "
                            "gunzip it first");
    if (header->file_count == 0 || header->samples % header->file_count != 0)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "names %" PRIu64 " data files, among which %" PRIu64
                            " samples cannot be divided",
                            header->file_count, header->samples);
    *out = (samples_reader){.header_file = file,
                            .header = header,
                            .wrapped = wrapped,
                            .file_size = all / header->file_count};
    tml_io_progress_start(&out->progress, file->tml, "read", all);
    rewind_files(out);
    tml_status status = TML_OK;
    for (uint64_t i = 0; i < header->file_count && status == TML_OK; i++) {
        status = open_next(out, true);
        close_file(out);
    }
    rewind_files(out);
    return status;
}

tml_status tml_volume_read(const io_file *file, bool wrapped, const tml_load_desc *desc,
                           volume_header *header)
{
    tml_volume *volume = &header->volume;
    uint64_t sample_size = tml_type_size(volume->type);
    uint64_t size = header->run * header->runs * sample_size;
    if (desc->memory_limit && size > desc->memory_limit)
        return tml_io_error(file, TML_ERROR_OUT_OF_MEMORY,
                            "needs %" PRIu64 " bytes, desc.memory_limit is %" PRIu64, size,
                            desc->memory_limit);
    samples_reader reader;
    tml_status status = reader_open(file, wrapped, header, &reader);
    bool permuted = is_permuted(header);
    void *samples = NULL, *ordered = NULL;
    if (status == TML_OK)
        samples = tml_io_alloc(file, size);
    if (samples && permuted)
        ordered = tml_io_alloc(file, size);
    if (status == TML_OK && (!samples || (permuted && !ordered)))
        status = TML_ERROR_OUT_OF_MEMORY;
    if (status == TML_OK) {
        status = read_samples(&reader, samples);
        close_file(&reader);
    }
    if (status != TML_OK) {
        tml_free(file->tml, samples, (size_t)size);
        tml_free(file->tml, ordered, (size_t)size);
        return status;
    }
    tml_io_to_host(samples, sample_size, size / sample_size, header->big_endian);
    if (permuted) {
        permute(header, volume->grid.dims[2], samples, ordered);
        tml_free(file->tml, samples, (size_t)size);
        samples = ordered;
    }
    volume->data = samples;
    volume->size = (size_t)size;
    return TML_OK;
}

/* ---- layer by layer -------------------------------------------------------------------------- */

struct tml_volume_stream {
    io_file file;
    io_block head; /* contains the names of data files */
    volume_header header;
    samples_reader reader;
    uint64_t next;      /* layer */
    uint64_t layer;     /* bytes */
    uint8_t *unordered; /* a layer in the file's axis order, or NULL */
    void *mapped;
    size_t mapped_size;
};

tml_status tml_volume_stream_begin(const io_file *file, bool wrapped, const io_block *head,
                                   const volume_header *header, tml_volume_stream **out)
{
    const uint64_t *dims = header->volume.grid.dims;
    uint64_t layer_samples = dims[0] * dims[1];
    bool is_series = (header->encoding == VOLUME_DICOM || header->encoding == VOLUME_TIFF) &&
                     header->file_count > 1; /* each file decodes alone */
    if ((decoders[header->encoding] && !is_series) || header->axis[2] != 2)
        return tml_io_error(file, TML_ERROR_UNSUPPORTED,
                            "%s, so that it cannot be read layer by layer; load it whole, or "
                            "convert it (\"unu save -e raw\", \"unu permute\")",
                            header->encoding == VOLUME_TEXT ? "is text"
                            : header->axis[2] != 2          ? "has another slowest axis than z"
                                                            : "is encoded as a whole");
    tml_volume_stream *stream = tml_io_alloc(file, sizeof *stream);
    if (!stream)
        return TML_ERROR_OUT_OF_MEMORY;
    *stream = (tml_volume_stream){.file = *file, .head = *head, .header = *header};
    if (header->names.text == header->made_name) /* made_name is copied, too */
        stream->header.names.text = stream->header.made_name;
    stream->layer = layer_samples * tml_type_size(header->volume.type);
    tml_status status = reader_open(&stream->file, wrapped, &stream->header, &stream->reader);
    if (status == TML_OK && is_permuted(header)) {
        stream->unordered = tml_io_alloc(file, stream->layer);
        status = stream->unordered ? TML_OK : TML_ERROR_OUT_OF_MEMORY;
    }
    if (status == TML_OK)
        *out = stream;
    else
        tml_free(file->tml, stream, sizeof *stream); /* the caller keeps file and head */
    return status;
}

const tml_volume *tml_volume_stream_info(const tml_volume_stream *stream)
{
    return &stream->header.volume;
}

tml_context *tml_volume_stream_context(const tml_volume_stream *stream)
{
    return stream->file.tml;
}

/* Reads the next count layers; out NULL: skips them. */
static tml_status read_layers(tml_volume_stream *stream, uint64_t count, uint8_t *out)
{
    const volume_header *header = &stream->header;
    uint64_t sample_size = tml_type_size(header->volume.type);
    uint64_t run = header->run * sample_size, gap = header->stride * sample_size - run;
    if (header->runs == 1)
        return volume_data_read_bytes(&stream->reader, out, count * stream->layer);
    uint64_t first = stream->next * (stream->layer / run), runs = count * (stream->layer / run);
    if (out)
        return read_runs(&stream->reader, first, runs, out);
    return volume_data_read_bytes(&stream->reader, NULL, runs * (run + gap) - (first ? 0 : gap));
}

tml_status tml_volume_stream_read(tml_volume_stream *stream, uint64_t first, uint64_t count,
                                  void *out)
{
    const volume_header *header = &stream->header;
    uint64_t layers = header->volume.grid.dims[2];
    if (first < stream->next || first > layers || count > layers - first)
        return tml_io_error(&stream->file, TML_ERROR_INVALID_ARGUMENT,
                            "layers [%" PRIu64 ", +%" PRIu64 ") are asked for, layer %" PRIu64
                            " of %" PRIu64 " is next; a stream goes forward",
                            first, count, stream->next, layers);
    tml_status status =
        stream->next == 0 && !stream->reader.is_open ? skip_to_samples(&stream->reader) : TML_OK;
    if (status == TML_OK && first > stream->next)
        status = read_layers(stream, first - stream->next, NULL);
    stream->next = first;
    uint8_t *to = out, *const unordered = stream->unordered;
    for (uint64_t left = count; left && status == TML_OK;) {
        uint64_t n = unordered ? 1 : left;
        uint8_t *samples = unordered ? unordered : to;
        status = read_layers(stream, n, samples);
        if (status != TML_OK)
            break;
        tml_io_to_host(samples, tml_type_size(header->volume.type),
                       n * stream->layer / tml_type_size(header->volume.type), header->big_endian);
        if (unordered)
            permute(header, 1, samples, to);
        to += n * stream->layer;
        stream->next += n;
        left -= n;
    }
    if (status == TML_OK && stream->next == layers)
        status = skip_to_end(&stream->reader);
    return status;
}

tml_status tml_volume_stream_map(tml_volume_stream *stream, const void **out)
{
    const volume_header *header = &stream->header;
    uint64_t sample_size = tml_type_size(header->volume.type);
    uint64_t size = stream->layer * header->volume.grid.dims[2];
    samples_reader reader = stream->reader;
    bool is_plain = header->encoding == VOLUME_RAW && !reader.wrapped && header->file_count == 1 &&
                    header->runs == 1 && !stream->unordered && !stream->file.memory &&
                    (sample_size == 1 || header->big_endian == IO_HOST_IS_BIG_ENDIAN);
    *out = NULL;
    if (!is_plain)
        return tml_io_error(&stream->file, TML_ERROR_UNSUPPORTED,
                            "cannot be mapped: its samples are not raw, in one file and in this "
                            "machine's byte order");
    reader.is_open = false;
    rewind_files(&reader);
    tml_status status = open_next(&reader, false);
    uint64_t offset = reader.stream.offset + header->first * sample_size;
    uint64_t skipped = offset % tml_io_page_size();
    if (status == TML_OK && offset % sample_size)
        status = tml_io_error(&stream->file, TML_ERROR_UNSUPPORTED,
                              "cannot be mapped: its samples begin at byte %" PRIu64
                              ", needs a multiple of %" PRIu64,
                              offset, sample_size);
    if (status == TML_OK && !stream->mapped) {
        void *memory =
            tml_io_map(reader.file.fd, offset - skipped, (size_t)(size + skipped), false);
        if (!memory) {
            status = tml_io_error(&stream->file, TML_ERROR_FILE_ACCESS, "cannot be mapped: %s",
                                  strerror(errno));
        } else {
            stream->mapped = memory;
            stream->mapped_size = (size_t)(size + skipped);
        }
    }
    close_file(&reader);
    if (status == TML_OK)
        *out = (const uint8_t *)stream->mapped + skipped;
    return status;
}

tml_status tml_volume_stream_prefetch(tml_volume_stream *stream, uint64_t first, uint64_t count)
{
    uint64_t layers = stream->header.volume.grid.dims[2];
    if (!stream->mapped || first > layers || count > layers - first)
        return tml_io_error(&stream->file, TML_ERROR_INVALID_ARGUMENT,
                            "layers [%" PRIu64 ", +%" PRIu64 ") of %" PRIu64 " cannot be brought%s",
                            first, count, layers, stream->mapped ? "" : "; nothing is mapped");
    uint64_t page = tml_io_page_size();
    uint64_t before = stream->mapped_size - layers * stream->layer; /* within the first page */
    uint64_t from = (before + first * stream->layer) / page * page;
    uint64_t size = before + (first + count) * stream->layer - from;
    uint8_t *memory = (uint8_t *)stream->mapped + from;
    if (size == 0)
        return TML_OK;
    if (!tml_io_map_prefetch(memory, (size_t)size))
        return tml_io_error(&stream->file, TML_ERROR_FILE_ACCESS,
                            "cannot be read: it was shortened meanwhile, or the disk failed");
    return TML_OK;
}

void tml_volume_stream_release(tml_volume_stream *stream, uint64_t layer)
{
    uint64_t layers = stream->header.volume.grid.dims[2];
    uint64_t size = layer * stream->layer, page = tml_io_page_size();
    if (!stream->mapped || layer > layers)
        return;
    if (size >= page) /* the mapping begins less than a page before the samples */
        tml_io_map_release(stream->mapped, (size_t)(size / page * page));
}

void tml_volume_stream_close(tml_volume_stream *stream)
{
    if (!stream)
        return;
    tml_context *tml = stream->file.tml;
    if (stream->mapped)
        tml_io_unmap(stream->mapped, stream->mapped_size);
    close_file(&stream->reader);
    tml_free(tml, stream->unordered, (size_t)stream->layer);
    tml_io_block_free(&stream->file, &stream->head);
    tml_io_close(&stream->file);
    tml_free(tml, stream, sizeof *stream);
}
