/* Saves and loads an index of a volume's bricks (.tmx), little-endian:
 *   "TMLINDX1", dims (u64 x 3), sample type (u32), a brick's samples along x, y, z and a 0 (u8 x
 *   4), number of bricks (u64);
 *   smallest and largest sample of each brick (f32 x 2), x fastest;
 *   CRC-32 of all bytes before it (u32). */
#include <inttypes.h>
#include <math.h>

#include "io/volumes/volume_internal.h"
#include "kernels/kernel.h"
#include "kernels/kernel_end.h"

enum { HEADER_SIZE = 48, PIECE = 1 << 13 };

static const char magic[8] = "TMLINDX1";
static const char save_call[] = "tml_volume_index_save", load_call[] = "tml_volume_index_load";

const char *tml_volume_index_format_of(tml_context *tml, const char *path)
{
    uint8_t head[sizeof magic];
    io_file file;
    if (tml_io_open(tml, "tml_file_format", path, &file) != TML_OK)
        return NULL;
    const bool is = file.size >= sizeof head &&
                    tml_io_read(&file, 0, head, sizeof head) == TML_OK &&
                    memcmp(head, magic, sizeof magic - 1) == 0;
    tml_io_close(&file);
    return is ? "index" : NULL;
}

tml_status tml_volume_index_save(tml_context *tml, const char *path, const tml_volume_index *bricks)
{
    if (bricks->count == 0 || bricks->count != tml_volume_index_count(bricks->dims) ||
        !bricks->ranges)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: index.count is %" PRIu64 ", needs %" PRIu64 " for its dims",
                         save_call, bricks->count, tml_volume_index_count(bricks->dims));
    io_writer writer;
    tml_status status =
        tml_io_create(tml, save_call, path, HEADER_SIZE + 8 * bricks->count + 4, &writer);
    if (status != TML_OK)
        return status;
    uint8_t header[HEADER_SIZE] = {0};
    memcpy(header, magic, sizeof magic);
    for (int i = 0; i < 3; i++)
        io_store_u64le(header + 8 + 8 * i, bricks->dims[i]);
    io_store_u32le(header + 32, bricks->type);
    header[36] = TML_BRICK_X;
    header[37] = TML_BRICK_Y;
    header[38] = TML_BRICK_Z;
    io_store_u64le(header + 40, bricks->count);
    tml_io_write(&writer, header, sizeof header);
    uLong crc = crc32_z(0, header, sizeof header);
    for (uint64_t first = 0; first < bricks->count; first += PIECE) {
        uint8_t piece[8 * PIECE];
        uint64_t n = bricks->count - first < PIECE ? bricks->count - first : PIECE;
        for (uint64_t i = 0; i < 2 * n; i++)
            io_store_f32le(piece + 4 * i, bricks->ranges[2 * first + i]);
        crc = crc32_z(crc, piece, 8 * n);
        if (!tml_io_write(&writer, piece, 8 * n))
            break;
    }
    uint8_t end[4];
    io_store_u32le(end, (uint32_t)crc);
    tml_io_write(&writer, end, sizeof end);
    return tml_io_finish(&writer, TML_OK);
}

static tml_status bricks_parse(const io_file *file, const io_block *block, tml_volume_index *out)
{
    const uint8_t *at = block->data;
    if (block->size < HEADER_SIZE + 4 || memcmp(at, magic, sizeof magic) != 0)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "is no index of bricks; make one with \"trommel index\"");
    for (int i = 0; i < 3; i++)
        out->dims[i] = io_load_u64(at + 8 + 8 * i, false);
    out->type = io_load_u32(at + 32, false);
    out->count = io_load_u64(at + 40, false);
    bool is_known = at[36] == TML_BRICK_X && at[37] == TML_BRICK_Y && at[38] == TML_BRICK_Z &&
                    at[39] == 0 && out->type > TML_TYPE_NONE && out->type < TML_SCALAR_END;
    if (!is_known || out->count == 0 || out->count != tml_volume_index_count(out->dims))
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "its header has %" PRIu64 " x %" PRIu64 " x %" PRIu64
                            " samples in %" PRIu64 " bricks of %d x %d x %d, needs %d x %d x %d",
                            out->dims[0], out->dims[1], out->dims[2], out->count, at[36], at[37],
                            at[38], TML_BRICK_X, TML_BRICK_Y, TML_BRICK_Z);
    if ((block->size - HEADER_SIZE - 4) / 8 != out->count || (block->size - HEADER_SIZE) % 8 != 4)
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "has %zu bytes, needs %" PRIu64 " for its %" PRIu64
                            " bricks; it was cut short",
                            block->size, HEADER_SIZE + 8 * out->count + 4, out->count);
    uLong crc = crc32_z(0, at, block->size - 4);
    if (crc != io_load_u32(at + block->size - 4, false))
        return tml_io_error(file, TML_ERROR_FILE_FORMAT,
                            "is damaged: its checksum is not that of its "
                            "contents; make it again");
    out->ranges = tml_io_alloc(file, 8 * out->count);
    if (!out->ranges)
        return TML_ERROR_OUT_OF_MEMORY;
    for (uint64_t i = 0; i < 2 * out->count; i++)
        out->ranges[i] = io_load_f32(at + HEADER_SIZE + 4 * i, false);
    return TML_OK;
}

tml_status tml_volume_index_load(tml_context *tml, const char *path, tml_volume_index *out)
{
    *out = (tml_volume_index){0};
    io_file file;
    io_block block;
    tml_status status = tml_io_open(tml, load_call, path, &file);
    if (status != TML_OK)
        return status;
    status = tml_io_read_all(&file, &block);
    if (status == TML_OK) {
        status = bricks_parse(&file, &block, out);
        tml_io_block_free(&file, &block);
    }
    tml_io_close(&file);
    if (status != TML_OK)
        *out = (tml_volume_index){0};
    return status;
}

/* ---- against a volume ------------------------------------------------------------------------ */

/* Is x, rounded to a float, outside the range? NaN is inside only if the range is unbounded. */
static bool is_outside(float x, const float *range)
{
    return !(x >= range[0] && x <= range[1]) && !(range[0] == -INFINITY && range[1] == INFINITY);
}

#define ROW_HOLDS(type, to_float)                                                                  \
    do {                                                                                           \
        const type *row = at;                                                                      \
        for (uint64_t x = 0; x < count; x++)                                                       \
            outside |= is_outside(to_float(row[x]), ranges + x / TML_BRICK_X * 2);                 \
    } while (0)

static bool row_holds(tml_type type, const void *at, uint64_t count, const float *ranges)
{
    bool outside = false;
    switch (type) {
    case TML_U8:
        ROW_HOLDS(uint8_t, (float));
        break;
    case TML_I8:
        ROW_HOLDS(int8_t, (float));
        break;
    case TML_U16:
        ROW_HOLDS(uint16_t, (float));
        break;
    case TML_I16:
        ROW_HOLDS(int16_t, (float));
        break;
    case TML_U32:
        ROW_HOLDS(uint32_t, (float));
        break;
    case TML_I32:
        ROW_HOLDS(int32_t, (float));
        break;
    case TML_U64:
        ROW_HOLDS(uint64_t, (float));
        break;
    case TML_I64:
        ROW_HOLDS(int64_t, (float));
        break;
    case TML_F16:
        ROW_HOLDS(uint16_t, tml_half_to_float);
        break;
    case TML_F32:
        ROW_HOLDS(float, (float));
        break;
    default:
        ROW_HOLDS(double, (float));
        break;
    }
    return !outside;
}

bool tml_volume_index_holds(const tml_volume_index *bricks, const void *samples, uint64_t first,
                            uint64_t count, uint64_t step)
{
    const uint64_t *dims = bricks->dims;
    const uint64_t width = tml_volume_index_count((const uint64_t[]){dims[0], 1, 1});
    const uint64_t height = tml_volume_index_count((const uint64_t[]){1, dims[1], 1});
    const size_t row_size = dims[0] * tml_type_size(bricks->type);
    if (first > dims[2] || count > dims[2] - first || step == 0)
        return false;
    bool holds = true;
    for (uint64_t row = 0; row < count * dims[1] && holds; row += step) {
        uint64_t y = row % dims[1], z = first + row / dims[1];
        const float *ranges =
            bricks->ranges + 2 * width * (y / TML_BRICK_Y + height * (z / TML_BRICK_Z));
        holds = row_holds(bricks->type, (const uint8_t *)samples + row * row_size, dims[0], ranges);
    }
    return holds;
}
