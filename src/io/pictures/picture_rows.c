/* The rows of pictures: memory that grows with the rows decoded, orientation, and rows as
 * floats. */
#include <inttypes.h>

#include "io/pictures/picture_internal.h"
#include "kernels/kernel.h"
#include "kernels/kernel_end.h"

enum {
    /* The pixels of a compressed picture rarely have more bytes per byte of the file. So much is
     * allocated before decoding; larger pictures double their memory as rows come. */
    USUAL_RATIO = 64,
    LEAST_ROOM = 1 << 20,
};

tml_status tml_picture_begin(picture_reader *reader, tml_type type, uint32_t channels,
                             uint64_t width, uint64_t height, uint64_t stored)
{
    uint64_t pixel_size = tml_type_size(type) * channels, total = 0;
    bool fits = width <= UINT32_MAX && height <= UINT32_MAX &&
                !__builtin_mul_overflow(pixel_size * width, height, &total) && total <= PTRDIFF_MAX;
    if (!fits || width == 0 || height == 0)
        return tml_io_error(reader->file, TML_ERROR_FILE_FORMAT,
                            "is %" PRIu64 " x %" PRIu64
                            " pixels; needs at least 1 and at most what an "
                            "address space holds",
                            width, height);
    if (reader->memory_limit && total > reader->memory_limit)
        return tml_io_error(reader->file, TML_ERROR_OUT_OF_MEMORY,
                            "its %" PRIu64 " x %" PRIu64 " pixels take %" PRIu64
                            " bytes, the limit is %" PRIu64,
                            width, height, total, reader->memory_limit);
    tml_picture *p = &reader->picture;
    p->type = type;
    p->channels = channels;
    p->width = p->full_width = (uint32_t)width;
    p->height = p->full_height = (uint32_t)height;
    reader->row_size = (size_t)(pixel_size * width);
    uint64_t room = stored > UINT64_MAX / USUAL_RATIO ? UINT64_MAX : stored * USUAL_RATIO;
    room = room < LEAST_ROOM ? LEAST_ROOM : room;
    uint64_t rows = room / reader->row_size; /* 0 if a single row is larger */
    rows = rows < height ? rows : height;
    if (rows == 0)
        return TML_OK;
    p->data = tml_io_alloc(reader->file, rows * reader->row_size);
    p->size = p->data ? (size_t)(rows * reader->row_size) : 0;
    return p->data ? TML_OK : TML_ERROR_OUT_OF_MEMORY;
}

uint8_t *tml_picture_rows(picture_reader *reader, uint32_t first, uint32_t count)
{
    tml_picture *p = &reader->picture;
    uint64_t needed = ((uint64_t)first + count) * reader->row_size;
    uint64_t total = (uint64_t)p->height * reader->row_size;
    if (tml_is_cancelled(reader->file->tml)) {
        tml_io_error(reader->file, TML_ERROR_CANCELLED, "cancelled");
        return NULL;
    }
    if (needed > p->size) {
        uint64_t size = 2 * (uint64_t)p->size;
        size = size < needed ? needed : size > total ? total : size;
        uint8_t *data = tml_io_alloc(reader->file, size);
        if (!data)
            return NULL;
        if (p->data)
            memcpy(data, p->data, (size_t)first * reader->row_size);
        tml_free(reader->file->tml, p->data, p->size);
        p->data = data;
        p->size = (size_t)size;
    }
    return (uint8_t *)p->data + (size_t)first * reader->row_size;
}

tml_status tml_picture_orient(picture_reader *reader, picture_orientation how)
{
    tml_picture *p = &reader->picture;
    if (!how.is_transposed && !how.flips_x && !how.flips_y)
        return TML_OK;
    uint8_t *turned = tml_io_alloc(reader->file, p->size);
    if (!turned)
        return TML_ERROR_OUT_OF_MEMORY;
    const uint8_t *from = p->data;
    size_t pixel_size = tml_type_size(p->type) * p->channels;
    uint32_t width = how.is_transposed ? p->height : p->width;
    uint32_t height = how.is_transposed ? p->width : p->height;
    for (uint32_t r = 0; r < p->height; r++)
        for (uint32_t c = 0; c < p->width; c++, from += pixel_size) {
            uint32_t x = how.is_transposed ? r : c, y = how.is_transposed ? c : r;
            x = how.flips_x ? width - 1 - x : x;
            y = how.flips_y ? height - 1 - y : y;
            memcpy(turned + ((size_t)y * width + x) * pixel_size, from, pixel_size);
        }
    tml_free(reader->file->tml, p->data, p->size);
    p->data = turned;
    p->width = p->full_width = width;
    p->height = p->full_height = height;
    return TML_OK;
}

void tml_picture_printable(char *text)
{
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

void tml_picture_floats(const tml_picture *picture, uint32_t y, float *out)
{
    size_t count = (size_t)picture->width * picture->channels;
    if (picture->type == TML_F32) {
        memcpy(out, (const float *)picture->data + y * count, count * sizeof *out);
        return;
    }
    const uint16_t *halves = (const uint16_t *)picture->data + y * count;
    for (size_t i = 0; i < count; i++)
        out[i] = tml_half_to_float(halves[i]);
}
