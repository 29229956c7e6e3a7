/* Reads and writes portable float maps: "PF" (colour) or "Pf" (grey), width, height and a scale
 * whose sign is the byte order, each followed by a blank; then rows of floats from the bottom.
 * After Debevec's description (The PFM format. 2001). Programs also end lines with CR LF or CR, put
 * blanks before line ends, and write comment lines that begin with "#", as in PPM. */
#include <inttypes.h>
#include <math.h>

#include "io/pictures/picture_internal.h"

static bool pfm_detect(io_span head)
{
    return head.size > 3 && head.text[0] == 'P' && (head.text[1] == 'F' || head.text[1] == 'f') &&
           strchr(" \t\r\n", head.text[2]) != NULL && head.text[2] != '\0';
}

/* Reads the next word of the header, behind comment lines. */
static bool next_word(io_text *text, io_span *word)
{
    while (tml_io_word(text, word)) {
        if (word->text[0] != '#')
            return true;
        text->at = word->text;
        while (text->at < text->end && *text->at != '\n' && *text->at != '\r')
            text->at++;
    }
    return false;
}

/* Returns the bytes between the scale and the samples: one blank, or, if the header has lines,
 * blanks and one line end like the first: a sample may begin with what looks like another. */
static size_t gap_of(io_span header, const char *at, const char *end)
{
    const char *first = header.text, *to = at;
    while (first < header.text + header.size && *first != '\n' && *first != '\r')
        first++;
    if (first == header.text + header.size)
        return 1;
    bool is_cr = *first == '\r' && first[1] != '\n';
    while (to < end && (*to == ' ' || *to == '\t'))
        to++;
    if (end - to > 1 && to[0] == '\r' && to[1] == '\n' && !is_cr)
        return (size_t)(to + 2 - at);
    return to < end && (*to == '\n' || *to == '\r') ? (size_t)(to + 1 - at) : 1;
}

static tml_status read_pfm(picture_reader *reader)
{
    const io_file *file = reader->file;
    io_text text = io_text_of(reader->bytes);
    io_span kind, words[3];
    uint64_t width = 0, height = 0;
    double scale = 0;
    bool is_good = tml_io_word(&text, &kind);
    for (int i = 0; i < 3; i++)
        is_good = is_good && next_word(&text, &words[i]);
    is_good = is_good && kind.size == 2 && tml_io_parse_u64(words[0], &width) &&
              tml_io_parse_u64(words[1], &height) && tml_io_parse_f64(words[2], &scale);
    if (!is_good || !isfinite(scale) || scale == 0 || text.at == text.end)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "its header is not the width, the height and a scale other than 0");
    uint64_t stored = (uint64_t)(text.end - text.at), needed;
    uint32_t channels = kind.text[1] == 'F' ? 3 : 1;
    bool fits = !__builtin_mul_overflow(width, height, &needed) &&
                !__builtin_mul_overflow(needed, channels * sizeof(float), &needed);
    size_t gap = gap_of((io_span){reader->bytes.text, (size_t)(text.at - reader->bytes.text)},
                        text.at, text.end);
    const char *data = text.at + gap;
    if (!fits || needed > stored - gap)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "ends after %" PRIu64 " bytes of samples; %" PRIu64 " x %" PRIu64
                            " pixels of %" PRIu32 " floats are more",
                            stored - gap, width, height, channels);
    if (needed < stored - gap) {
        tml_status told = tml_io_warn(file, "has %" PRIu64 " bytes behind its samples, left out",
                                      stored - gap - needed);
        if (told != TML_OK)
            return told;
    }
    tml_status status = tml_picture_begin(reader, TML_F32, channels, width, height, needed);
    if (status != TML_OK)
        return status;
    uint8_t *rows = tml_picture_rows(reader, 0, (uint32_t)height);
    if (!rows)
        return tml_is_cancelled(file->tml) ? TML_ERROR_CANCELLED : TML_ERROR_OUT_OF_MEMORY;
    for (uint64_t y = 0; y < height; y++)
        memcpy(rows + (height - 1 - y) * reader->row_size, data + y * reader->row_size,
               reader->row_size);
    tml_io_to_host(rows, sizeof(float), width * height * channels, scale > 0);
    if (fabs(scale) != 1)
        snprintf(reader->picture.comment, sizeof reader->picture.comment,
                 "scale %g, not applied to the samples", fabs(scale));
    return TML_OK;
}

const picture_format tml_picture_pfm = {"PFM", pfm_detect, read_pfm};

tml_status tml_picture_write_pfm(io_writer *writer, const tml_picture *picture)
{
    size_t size = (size_t)picture->width * picture->channels * sizeof(float);
    float *row = tml_alloc(writer->tml, size);
    if (!row)
        return tml_error(writer->tml, TML_ERROR_OUT_OF_MEMORY,
                         "%s: no memory for a row of %zu bytes", writer->call, size);
    tml_io_print(writer, "%s\n%" PRIu32 " %" PRIu32 "\n%s\n", picture->channels == 3 ? "PF" : "Pf",
                 picture->width, picture->height, IO_HOST_IS_BIG_ENDIAN ? "1.0" : "-1.0");
    bool goes_on = true;
    for (uint32_t y = picture->height; goes_on && y-- > 0;) {
        tml_picture_floats(picture, y, row);
        goes_on = tml_io_write(writer, row, size);
    }
    tml_free(writer->tml, row, size);
    return TML_OK;
}
