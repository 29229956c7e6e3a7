/* Radiance pictures (.hdr, .pic): text lines, a line with the resolution, scan lines of pixels with
 * a shared exponent (Ward: Real Pixels. Graphics Gems II. 1991). Scan lines are flat, have
 * repetitions of pixels (before 1991), or are run-length coded by component. After Radiance's file
 * format description (Ward: The Radiance Picture File Format. 1995). */
#include <inttypes.h>
#include <math.h>

#include "io/pictures/picture_internal.h"

enum {
    RGBE = 4,
    EXPONENT_BIAS = 136, /* 128, and 8 because mantissas are integers */
    COMPONENT_LEAST = 8, /* least width that is coded component by component */
    COMPONENT_MOST = 32767,
    RUN_MARK = 128,      /* a larger byte begins a run of the byte - 128 */
    RUNS_MOST = 1 << 20, /* longest scan line in a file with fewer pixels */
};

static const char format_key[] = "FORMAT=";

static bool has_format_line(io_span head)
{
    io_text text = io_text_of(head);
    io_span line;
    while (tml_io_line(&text, &line) && (line.size || text.line == 2))
        if (tml_io_starts_with(line, "FORMAT=32-bit_rle_"))
            return true;
    return false;
}

/* The first line is missing in files from before 1991, and may name any program in others: then the
 * format's line decides. */
static bool radiance_detect(io_span head)
{
    if (tml_io_starts_with(head, "#?RADIANCE") || tml_io_starts_with(head, "#?RGBE"))
        return true;
    head.size = head.size < PICTURE_HEAD_SIZE ? head.size : PICTURE_HEAD_SIZE;
    return has_format_line(head);
}

/* ---- header ---------------------------------------------------------------------------------- */

typedef struct radiance_header {
    double factor[3]; /* radiances were multiplied by it, per colour */
    /* Rows, their pixels, and how they lie in the picture. */
    uint64_t rows, columns;
    picture_orientation orientation;
} radiance_header;

static tml_status bad_line(const io_file *file, uint64_t number, io_span line, const char *wanted)
{
    char text[64];
    tml_io_copy(text, sizeof text, line);
    tml_picture_printable(text);
    return tml_io_error(file, TML_ERROR_FILE_FORMAT, "line %" PRIu64 " is \"%s\", needs %s", number,
                        text, wanted);
}

/* Reads the numbers behind a key's "=": exactly count, all above 0. */
static bool positive_numbers(io_span line, size_t key_size, double *out, int count)
{
    io_text words = io_text_of((io_span){line.text + key_size, line.size - key_size});
    io_span word;
    for (int i = 0; i < count; i++)
        if (!tml_io_word(&words, &word) || !tml_io_parse_f64(word, &out[i]) ||
            !(out[i] > 0 && isfinite(out[i])))
            return false;
    return !tml_io_word(&words, &word);
}

/* Parses "-Y 85 +X 128": the axis of the rows comes first, and "+Y" is up. */
static bool parse_resolution(io_span line, radiance_header *out)
{
    io_text words = io_text_of(line);
    io_span axis[2], size[2], more;
    uint64_t counts[2];
    for (int i = 0; i < 2; i++) {
        if (!tml_io_word(&words, &axis[i]) || !tml_io_word(&words, &size[i]) ||
            !tml_io_parse_u64(size[i], &counts[i]))
            return false;
        const char *text = axis[i].text;
        if (axis[i].size != 2 || (text[0] != '+' && text[0] != '-') ||
            (text[1] != 'X' && text[1] != 'Y'))
            return false;
        if (text[1] == 'X')
            out->orientation.flips_x = text[0] == '-';
        else
            out->orientation.flips_y = text[0] == '+';
    }
    out->rows = counts[0];
    out->columns = counts[1];
    out->orientation.is_transposed = axis[0].text[1] == 'X';
    return axis[0].text[1] != axis[1].text[1] && !tml_io_word(&words, &more);
}

static tml_status parse_header(picture_reader *reader, io_text *text, radiance_header *out)
{
    const io_file *file = reader->file;
    io_span line;
    bool is_ended = false;
    tml_status status = TML_OK;
    *out = (radiance_header){.factor = {1, 1, 1}};
    while (!is_ended && tml_io_line(text, &line)) {
        double numbers[8];
        /* An empty line ends the header, unless it is the first: a file may have lost the line
         * before it. */
        is_ended = line.size == 0 && text->line > 2;
        if (tml_io_starts_with(line, format_key)) {
            io_span name = tml_io_trim(
                (io_span){line.text + sizeof format_key - 1, line.size - (sizeof format_key - 1)});
            if (tml_io_is(name, "32-bit_rle_xyze"))
                return tml_io_error(
                    file, TML_ERROR_UNSUPPORTED,
                    "holds CIE XYZ colours (32-bit_rle_xyze); convert it: ra_xyze -r "
                    "in.hdr out.hdr");
            if (!tml_io_is(name, "32-bit_rle_rgbe"))
                return bad_line(file, text->line - 1, line, "FORMAT=32-bit_rle_rgbe");
        } else if (tml_io_starts_with(line, "EXPOSURE=")) {
            if (!positive_numbers(line, strlen("EXPOSURE="), numbers, 1))
                return bad_line(file, text->line - 1, line, "one number above 0");
            for (int c = 0; c < 3; c++)
                out->factor[c] *= numbers[0];
        } else if (tml_io_starts_with(line, "COLORCORR=")) {
            if (!positive_numbers(line, strlen("COLORCORR="), numbers, 3))
                return bad_line(file, text->line - 1, line, "three numbers above 0");
            for (int c = 0; c < 3; c++)
                out->factor[c] *= numbers[c];
        } else if (tml_io_starts_with(line, "PRIMARIES=") &&
                   positive_numbers(line, strlen("PRIMARIES="), numbers, 8)) {
            float xy[8];
            for (int i = 0; i < 8; i++)
                xy[i] = (float)numbers[i];
            status = tml_picture_primaries(reader, xy);
        } else if (tml_io_starts_with(line, "PIXASPECT=") &&
                   positive_numbers(line, strlen("PIXASPECT="), numbers, 1) && numbers[0] != 1) {
            tml_picture_note(reader, "pixels %g times as high as wide", numbers[0]);
        }
        if (status != TML_OK)
            return status;
    }
    if (!is_ended || !tml_io_line(text, &line))
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "ends before the empty line and the resolution that end its header");
    if (!parse_resolution(line, out))
        return bad_line(file, text->line - 1, line, "a resolution such as -Y 512 +X 1024");
    for (int c = 0; c < 3; c++)
        if (!(out->factor[c] > 0x1p-100 && out->factor[c] < 0x1p100))
            return tml_io_error(
                file, TML_ERROR_FILE_FORMAT,
                "its EXPOSURE and COLORCORR lines multiply to %g, needs something nearer "
                "to 1",
                out->factor[c]);
    const double *f = out->factor;
    if (f[0] != 1 || f[1] != 1 || f[2] != 1)
        tml_picture_note(reader, "exposure %g, %g, %g divided out", f[0], f[1], f[2]);
    return TML_OK;
}

/* ---- scan lines ------------------------------------------------------------------------------ */

typedef struct line_reader {
    const uint8_t *at, *end;
    uint32_t columns;
    uint8_t (*pixels)[RGBE];
} line_reader;

/* Each reader returns NULL, or what is wrong. */

static const char *const ends_early = "the file ends within it";

static const char *read_components(line_reader *line)
{
    for (int c = 0; c < RGBE; c++)
        for (uint32_t x = 0; x < line->columns;) {
            if (line->end - line->at < 2)
                return ends_early;
            bool is_run = *line->at > RUN_MARK;
            uint32_t count = is_run ? (uint32_t)*line->at - RUN_MARK : *line->at;
            line->at++;
            if (count == 0 || count > line->columns - x)
                return "a run is longer than what is left of it, or empty";
            if (!is_run && (size_t)(line->end - line->at) < count)
                return ends_early;
            for (uint32_t i = 0; i < count; i++)
                line->pixels[x++][c] = is_run ? *line->at : line->at[i];
            line->at += is_run ? 1 : count;
        }
    return NULL;
}

/* Reads pixels. 1, 1, 1, n repeats the pixel before it n times, a second such mark behind it 256 n
 * times, and so on. */
static const char *read_pixels(line_reader *line)
{
    uint32_t shift = 0;
    for (uint32_t x = 0; x < line->columns;) {
        if (line->end - line->at < RGBE)
            return ends_early;
        const uint8_t *p = line->at;
        line->at += RGBE;
        if (p[0] != 1 || p[1] != 1 || p[2] != 1) {
            memcpy(line->pixels[x++], p, RGBE);
            shift = 0;
            continue;
        }
        uint64_t count = shift < 32 ? (uint64_t)p[3] << shift : UINT64_MAX;
        if (x == 0 || count > line->columns - x)
            return x ? "a run is longer than what is left of it" : "it begins with a repetition";
        for (uint64_t i = 0; i < count; i++, x++)
            memcpy(line->pixels[x], line->pixels[x - 1], RGBE);
        shift += 8;
    }
    return NULL;
}

static const char *read_line(line_reader *line)
{
    const uint8_t *p = line->at;
    bool may_be_components = line->columns >= COMPONENT_LEAST && line->columns <= COMPONENT_MOST;
    if (!may_be_components || line->end - p < RGBE || p[0] != 2 || p[1] != 2 || p[2] >= 128)
        return read_pixels(line);
    if (((uint32_t)p[2] << 8 | p[3]) != line->columns)
        return "its own width differs from the header's";
    line->at += RGBE;
    return read_components(line);
}

static void decode(const uint8_t (*pixels)[RGBE], uint32_t count, const double (*scale)[3],
                   float *out)
{
    for (uint32_t x = 0; x < count; x++)
        for (int c = 0; c < 3; c++)
            *out++ = (float)(pixels[x][c] * scale[pixels[x][3]][c]);
}

static tml_status read_rows(picture_reader *reader, line_reader *line, const radiance_header *h)
{
    double scale[256][3] = {{0}}; /* by exponent and colour; 0 is black */
    for (int e = 1; e < 256; e++)
        for (int c = 0; c < 3; c++)
            scale[e][c] = ldexp(1, e - EXPONENT_BIAS) / h->factor[c];
    for (uint32_t y = 0; y < h->rows; y++) {
        const char *fault = read_line(line);
        if (fault)
            return tml_io_error(reader->file, TML_ERROR_FILE_FORMAT,
                                "scan line %" PRIu32 " of %" PRIu64 ": %s", y + 1, h->rows, fault);
        uint8_t *row = tml_picture_rows(reader, y, 1);
        if (!row)
            return tml_is_cancelled(reader->file->tml) ? TML_ERROR_CANCELLED
                                                       : TML_ERROR_OUT_OF_MEMORY;
        decode((const uint8_t(*)[RGBE])line->pixels, line->columns, (const double(*)[3])scale,
               (float *)(void *)row);
    }
    return TML_OK;
}

static tml_status read_radiance(picture_reader *reader)
{
    io_text text = io_text_of(reader->bytes);
    radiance_header header;
    tml_status status = parse_header(reader, &text, &header);
    if (status != TML_OK)
        return status;
    uint64_t stored = (uint64_t)(text.end - text.at);
    /* A scan line has at least one stored pixel. Repetitions can make it any length, so that is
     * limited. */
    uint64_t columns_most = stored / RGBE > RUNS_MOST ? stored / RGBE : RUNS_MOST;
    if (header.rows > stored / RGBE || header.columns > columns_most)
        return tml_io_error(reader->file, TML_ERROR_FILE_FORMAT,
                            "ends after %" PRIu64 " bytes of pixels; %" PRIu64
                            " scan lines of %" PRIu64 " pixels are more",
                            stored, header.rows, header.columns);
    status = tml_picture_begin(reader, TML_F32, 3, header.columns, header.rows, stored);
    if (status != TML_OK)
        return status;
    line_reader line = {.at = (const uint8_t *)text.at,
                        .end = (const uint8_t *)text.end,
                        .columns = (uint32_t)header.columns};
    size_t line_size = header.columns * RGBE;
    line.pixels = tml_io_alloc(reader->file, line_size);
    status = line.pixels ? read_rows(reader, &line, &header) : TML_ERROR_OUT_OF_MEMORY;
    tml_free(reader->file->tml, line.pixels, line_size);
    return status == TML_OK ? tml_picture_orient(reader, header.orientation) : status;
}

const picture_format tml_picture_radiance = {"Radiance", radiance_detect, read_radiance};

/* ---- writing --------------------------------------------------------------------------------- */

/* For the exponents of normal doubles. */
static double power_of_two(int exponent)
{
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Rounds a value from 0 to 256 to the nearest integer, half to even. rint does the same, but may be
 * a call. */
static uint32_t round_small(double value)
{
    const double magic = 0x1p52; /* from here on doubles have no fraction */
    return (uint32_t)(value + magic - magic);
}

/* Converts a colour to the nearest pixel. Colours below the least exponent become black; components
 * above the largest are clamped to it. */
static void encode(const float *color, uint32_t channels, uint8_t out[RGBE])
{
    double rgb[3], most = 0;
    for (uint32_t c = 0; c < 3; c++) {
        double value = (double)color[channels == 3 ? c : 0];
        value = value < 255 * 0x1p119 ? value : value > 0 ? 255 * 0x1p119 : 0; /* NaN becomes 0 */
        rgb[c] = value > 0 ? value : 0;
        most = rgb[c] > most ? rgb[c] : most;
    }
    uint64_t bits;
    memcpy(&bits, &most, sizeof bits);
    int exponent = (int)(bits >> 52) - 1022; /* as frexp: floats are normal doubles */
    memset(out, 0, RGBE);
    if (most == 0)
        return;
    /* A mantissa that rounds up to 256 needs the next exponent. */
    if (round_small(most * power_of_two(8 - exponent)) > 255)
        exponent++;
    if (exponent + 128 < 1)
        return;
    double scale = power_of_two(8 - exponent);
    for (int c = 0; c < 3; c++)
        out[c] = (uint8_t)round_small(rgb[c] * scale);
    out[3] = (uint8_t)(exponent + 128);
}

/* Encodes one component of a scan line: at least four equal bytes become a run, others stay.
 * Returns the end of the output. */
static uint8_t *encode_component(const uint8_t (*pixels)[RGBE], int c, uint32_t count, uint8_t *out)
{
    enum { LEAST_RUN = 4, MOST_RUN = 127, MOST_PLAIN = 128 };
    for (uint32_t x = 0; x < count;) {
        uint32_t begin = x, run = 0;
        while (x < count && x - begin < MOST_PLAIN) {
            for (run = 1; run < MOST_RUN && x + run < count && pixels[x + run][c] == pixels[x][c];)
                run++;
            if (run >= LEAST_RUN)
                break;
            run = 0;
            x++;
        }
        if (x > begin)
            *out++ = (uint8_t)(x - begin);
        for (uint32_t i = begin; i < x; i++)
            *out++ = pixels[i][c];
        if (run >= LEAST_RUN) {
            *out++ = (uint8_t)(RUN_MARK + run);
            *out++ = pixels[x][c];
            x += run;
        }
    }
    return out;
}

/* Encodes a scan line. In a flat one, 1, 1, 1 would be a repetition, and 2, 2 before a byte below
 * 128 the start of a coded line. Neither occurs: the largest mantissa is at least 128. */
static uint8_t *encode_line(const uint8_t (*pixels)[RGBE], uint32_t count, uint8_t *out)
{
    if (count < COMPONENT_LEAST || count > COMPONENT_MOST) {
        memcpy(out, pixels, (size_t)count * RGBE);
        return out + (size_t)count * RGBE;
    }
    const uint8_t mark[RGBE] = {2, 2, (uint8_t)(count >> 8), (uint8_t)count};
    memcpy(out, mark, sizeof mark);
    out += sizeof mark;
    for (int c = 0; c < RGBE; c++)
        out = encode_component(pixels, c, count, out);
    return out;
}

/* Batches of rows are encoded in parallel and written in order. */
enum { ROWS_A_TASK = 16, TASKS_MOST = 64, BATCH_SIZE = 32 << 20 };

typedef struct radiance_encoder {
    const tml_picture *picture;
    uint32_t first, rows; /* of the batch; per task */
    size_t row_size, line_size, coded_size;
    uint8_t *memory; /* per task: a row of floats, a line of pixels, coded lines */
    size_t task_size;
    size_t coded[TASKS_MOST];
} radiance_encoder;

static uint8_t *coded_lines(const radiance_encoder *e, uint32_t index)
{
    return e->memory + index * e->task_size + e->row_size + e->line_size;
}

static void encode_rows(void *argument, uint32_t index)
{
    radiance_encoder *e = argument;
    const tml_picture *p = e->picture;
    float *row = (float *)(void *)(e->memory + index * e->task_size);
    uint8_t(*pixels)[RGBE] = (uint8_t(*)[RGBE])((uint8_t *)row + e->row_size);
    uint8_t *begin = coded_lines(e, index), *out = begin;
    uint32_t first = e->first + index * e->rows;
    uint32_t count = p->height - first < e->rows ? p->height - first : e->rows;
    for (uint32_t y = first; y < first + count; y++) {
        tml_picture_floats(p, y, row);
        for (uint32_t x = 0; x < p->width; x++)
            encode(row + (size_t)x * p->channels, p->channels, pixels[x]);
        out = encode_line((const uint8_t(*)[RGBE])pixels, p->width, out);
    }
    e->coded[index] = (size_t)(out - begin);
}

tml_status tml_picture_write_radiance(io_writer *writer, const tml_picture *picture)
{
    tml_context *tml = writer->tml;
    radiance_encoder e = {.picture = picture, .rows = ROWS_A_TASK};
    e.row_size = (size_t)picture->width * picture->channels * sizeof(float);
    e.line_size = (size_t)picture->width * RGBE;
    /* At worst, a byte precedes each 128 and the rest of each component; the mark has 4 bytes. */
    e.coded_size = e.line_size + e.line_size / 128 + 2 * RGBE;
    if (e.rows * e.coded_size > BATCH_SIZE)
        e.rows = 1;
    e.task_size = (e.row_size + e.line_size + e.rows * e.coded_size + 63) / 64 * 64;
    size_t tasks = BATCH_SIZE / e.task_size, needed = (picture->height + e.rows - 1) / e.rows;
    tasks = tasks < 1 ? 1 : tasks < TASKS_MOST ? tasks : TASKS_MOST;
    tasks = tasks < needed ? tasks : needed;
    e.memory = tml_alloc(tml, tasks * e.task_size);
    if (!e.memory)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for rows of %zu bytes",
                         writer->call, tasks * e.task_size);
    tml_io_print(writer, "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y %" PRIu32 " +X %" PRIu32 "\n",
                 picture->height, picture->width);
    while (writer->status == TML_OK && e.first < picture->height) {
        size_t left = (picture->height - e.first + e.rows - 1) / e.rows;
        uint32_t count = (uint32_t)(left < tasks ? left : tasks);
        tml_parallel_for(tml, count, encode_rows, &e);
        for (uint32_t i = 0; i < count; i++)
            tml_io_write(writer, coded_lines(&e, i), e.coded[i]);
        left -= count;
        e.first = left ? e.first + count * e.rows : picture->height;
    }
    tml_free(tml, e.memory, tasks * e.task_size);
    return TML_OK;
}
