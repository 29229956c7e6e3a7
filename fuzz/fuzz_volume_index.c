/* Any bytes, loaded as an index of bricks: no crash, no hang, no memory beyond what the bytes hold;
 * what loads has the bricks that its dims say, is saved and loaded as the same, and may lead a
 * surface astray but not out of its memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <trommel/trommel.h>
#include <trommel/volumes.h>
#include <zlib.h>

#include "fuzz/demand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADER = 48, SAMPLES_MAX = 1 << 18 };

static tml_context *tml;

static void store(uint8_t *bytes, uint64_t number, int size)
{
    for (int i = 0; i < size; i++)
        bytes[i] = (uint8_t)(number >> 8 * i);
}

/* The checksum of what is there and, with counts, as many bricks in a row as the size says, so that
 * what lies behind them is reached. */
static void mend(uint8_t *bytes, size_t size, bool with_counts)
{
    static const uint8_t sides[4] = {64, 4, 4, 0};
    if (size < HEADER + 4 + 8)
        return;
    if (with_counts) {
        uint64_t count = (size - HEADER - 4) / 8;
        int axis = bytes[8] % 3;
        memcpy(bytes, "TMLINDX1", 8);
        memcpy(bytes + 36, sides, sizeof sides);
        store(bytes + 40, count, 8);
        for (int i = 0; i < 3; i++) /* of the last brick some samples, or all */
            store(bytes + 8 + 8 * i,
                  (i == axis ? count : 1) * sides[i] - bytes[8 + 8 * i] / 4 % sides[i], 8);
    }
    store(bytes + size - 4, crc32_z(0, bytes, size - 4), 4);
}

static void check_same(const tml_volume_index *bricks)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/trommel_fuzz_volume_index_%d.tmx", (int)getpid());
    tml_volume_index again;
    DEMAND(tml_volume_index_save(tml, path, bricks) == TML_OK);
    DEMAND(tml_volume_index_load(tml, path, &again) == TML_OK);
    unlink(path);
    DEMAND(memcmp(bricks->dims, again.dims, sizeof again.dims) == 0 && again.type == bricks->type);
    DEMAND(again.count == bricks->count &&
           memcmp(bricks->ranges, again.ranges, 8 * again.count) == 0);
    tml_volume_index_free(tml, &again);
}

static tml_status take_piece(void *user, const tml_surface_piece *piece)
{
    *(uint64_t *)user += piece->mesh.triangle_count;
    return TML_OK;
}

/* Whole and in slabs. By an index that lies the two may miss different cells. */
static void check_surface(const tml_volume_index *bricks, uint64_t samples, uint8_t how)
{
    size_t size = samples * tml_type_size(bricks->type);
    uint8_t *volume = malloc(size);
    uint32_t random = 1;
    for (size_t i = 0; i < size; i++) {
        random = random * 1664525u + 1013904223u;
        volume[i] = (uint8_t)(random >> 24);
    }
    tml_surface_desc desc = {.iso = 100, .normals = how & 8 ? TML_NORMALS_SOBEL : TML_NORMALS_NONE};
    memcpy(desc.grid.dims, bricks->dims, sizeof bricks->dims);
    tml_buffer_desc of_volume = {.type = bricks->type, .count = samples, .host = volume};
    tml_buffer_desc of_index = {
        .type = TML_VEC(TML_F32, 2), .count = bricks->count, .data = bricks->ranges};
    DEMAND(tml_buffer_create(tml, &of_volume, &desc.volume) == TML_OK);
    DEMAND(tml_buffer_create(tml, &of_index, &desc.index) == TML_OK);
    uint64_t triangles = 0;
    tml_surface_slabs_desc slabs = {
        .surface = &desc, .write = take_piece, .user = &triangles, .slab_layers = how >> 4};
    tml_surface_result whole, in_slabs;
    DEMAND(tml_surface(tml, &desc, &whole) == TML_OK);
    DEMAND(tml_surface_slabs(tml, &slabs, &in_slabs) == TML_OK);
    DEMAND(triangles == in_slabs.triangle_count);
    tml_surface_free(tml, &whole);
    tml_surface_free(tml, &in_slabs);
    tml_buffer_destroy(tml, desc.volume);
    tml_buffer_destroy(tml, desc.index);
    free(volume);
}

/* What to do with it comes first. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int file = -1;
    static char path[64];
    if (!tml) {
        DEMAND(tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = 1}, &tml) == TML_OK);
        file = memfd_create("index", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    if (size-- == 0)
        return 0;
    uint8_t how = *data++, *bytes = malloc(size + (size == 0));
    memcpy(bytes, data, size);
    if (how & 1)
        mend(bytes, size, how & 4);
    DEMAND(ftruncate(file, 0) == 0 && pwrite(file, bytes, size, 0) == (ssize_t)size);
    free(bytes);
    tml_volume_index bricks;
    tml_status status = tml_volume_index_load(tml, path, &bricks);
    if (status != TML_OK) {
        /* UNSUPPORTED: a pointer of Git LFS, or a web page */
        DEMAND((status == TML_ERROR_FILE_FORMAT || status == TML_ERROR_UNSUPPORTED) &&
               !bricks.ranges && tml_last_error(tml)[0]);
        return 0;
    }
    DEMAND(bricks.count == tml_volume_index_count(bricks.dims) && bricks.count <= size / 8);
    if (how & 2)
        check_same(&bricks);
    const uint64_t *dims = bricks.dims;
    if (dims[0] <= 4096 && dims[1] <= 4096 && dims[2] <= 4096 &&
        dims[0] * dims[1] * dims[2] <= SAMPLES_MAX)
        check_surface(&bricks, dims[0] * dims[1] * dims[2], how);
    tml_volume_index_free(tml, &bricks);
    return 0;
}
