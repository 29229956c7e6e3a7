/* Files of bricks (.tmx): what is saved comes back to the bit; what is cut short, changed or lies
 * is refused, and takes no more memory than the file. */
#include <zlib.h>

#include <trommel/surface.h>
#include <trommel/volumes.h>

#include "io/volumes/volume_internal.h"
#include "test.h"

#include "contexts.h"
#include "folder.h"
#include "memory_watch.h"

enum { WIDTH = 130, HEIGHT = 9, DEPTH = 5, SAMPLES = WIDTH * HEIGHT * DEPTH, BRICKS = 3 * 3 * 2 };
enum { AT_DIMS = 8, AT_TYPE = 32, AT_SIDES = 36, AT_COUNT = 40, HEADER = 48 };
enum { SIZE = HEADER + 8 * BRICKS + 4, ROOM = SIZE + 64 };

/* An index with numbers of every kind, in a file. */
static void save_index(tml_context *tml, tml_volume_index *bricks)
{
    static float ranges[2 * BRICKS];
    for (int i = 0; i < BRICKS; i++) {
        ranges[2 * i] = i == 3 ? -INFINITY : (float)i - 7.25f;
        ranges[2 * i + 1] = i == 3 ? INFINITY : (float)i * 1e30f;
    }
    *bricks = (tml_volume_index){
        .dims = {WIDTH, HEIGHT, DEPTH}, .type = TML_F32, .ranges = ranges, .count = BRICKS};
    CHECK_OK(tml, tml_volume_index_save(tml, in_folder("a.tmx"), bricks));
}

/* The file's bytes, with room for more. */
static size_t read_index(uint8_t bytes[ROOM])
{
    FILE *file = fopen(in_folder("a.tmx"), "rb");
    size_t size = file ? fread(bytes, 1, ROOM, file) : 0;
    if (file)
        fclose(file);
    CHECK_EQ_U64(size, SIZE);
    return size;
}

static void store(uint8_t *at, uint64_t number, int size)
{
    for (int i = 0; i < size; i++)
        at[i] = (uint8_t)(number >> 8 * i);
}

/* The checksum of what is there: a lie that was written so, not damage. */
static void mend_checksum(uint8_t *bytes, size_t size)
{
    store(bytes + size - 4, crc32_z(0, bytes, size - 4), 4);
}

static void expect_refused(tml_context *tml, const uint8_t *bytes, size_t size, const char *words)
{
    tml_volume_index bricks;
    write_file("b.tmx", bytes, size);
    CHECK_STATUS(tml_volume_index_load(tml, in_folder("b.tmx"), &bricks), TML_ERROR_FILE_FORMAT);
    CHECK(!bricks.ranges && bricks.count == 0 && bricks.dims[0] == 0);
    if (!strstr(tml_last_error(tml), words))
        test_fail(__FILE__, __LINE__, "\"%s\" does not tell \"%s\"", tml_last_error(tml), words);
}

TEST(counts_of_bricks)
{
    CHECK_EQ_U64(tml_volume_index_count((uint64_t[]){WIDTH, HEIGHT, DEPTH}), BRICKS);
    CHECK_EQ_U64(tml_volume_index_count((uint64_t[]){64, 4, 4}), 1);
    CHECK_EQ_U64(tml_volume_index_count((uint64_t[]){65, 5, 5}), 8);
    CHECK_EQ_U64(tml_volume_index_count((uint64_t[]){1, 1, 1}), 1);
    CHECK_EQ_U64(tml_volume_index_count((uint64_t[]){0, 1, 1}), 0);
    CHECK_EQ_U64(tml_volume_index_count((uint64_t[]){UINT64_MAX, 64, 1}), (uint64_t)1 << 62);
    CHECK_EQ_U64(tml_volume_index_count((uint64_t[]){UINT64_MAX, 256, 1}), 0);
    CHECK_EQ_U64(tml_volume_index_count((uint64_t[]){UINT64_MAX, UINT64_MAX, UINT64_MAX}), 0);
}

TEST(an_index_comes_back)
{
    tml_context *tml = open_cpu(1);
    tml_volume_index saved, loaded;
    save_index(tml, &saved);
    if (CHECK_OK(tml, tml_volume_index_load(tml, in_folder("a.tmx"), &loaded))) {
        CHECK(memcmp(loaded.dims, saved.dims, sizeof loaded.dims) == 0);
        CHECK(loaded.type == TML_F32 && loaded.count == BRICKS);
        CHECK(memcmp(loaded.ranges, saved.ranges, 8 * BRICKS) == 0);
    }
    tml_volume_index_free(tml, &loaded);
    CHECK(!loaded.ranges && loaded.count == 0);
    saved.count--;
    CHECK_STATUS(tml_volume_index_save(tml, in_folder("c.tmx"), &saved),
                 TML_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(tml_volume_index_load(tml, in_folder("c.tmx"), &loaded), TML_ERROR_FILE_ACCESS);
    tml_close(tml);
}

/* What tml_surface_index finds, by way of a file, leads to the same surface. */
TEST(a_loaded_index_is_as_good_as_a_new_one)
{
    tml_context *tml = open_cpu(1);
    static float samples[SAMPLES];
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = sinf((float)(i % WIDTH) * 0.3f) + cosf((float)(i / WIDTH) * 0.7f);
    samples[77] = NAN;
    const tml_grid grid = {.dims = {WIDTH, HEIGHT, DEPTH}};
    tml_surface_desc desc = {
        .volume = buffer_of(tml, TML_F32, SAMPLES, samples), .grid = grid, .iso = 0.5};
    tml_buffer index;
    tml_volume_index bricks = {.dims = {WIDTH, HEIGHT, DEPTH}, .type = TML_F32, .count = BRICKS};
    CHECK_OK(tml, tml_surface_index(tml, &(tml_surface_desc){.volume = desc.volume, .grid = grid},
                                    &index));
    bricks.ranges = fetch(tml, index, BRICKS);
    CHECK_OK(tml, tml_volume_index_save(tml, in_folder("a.tmx"), &bricks));
    free(bricks.ranges);
    if (CHECK_OK(tml, tml_volume_index_load(tml, in_folder("a.tmx"), &bricks))) {
        tml_surface_result with, without;
        CHECK_OK(tml, tml_surface(tml, &desc, &without));
        desc.index = buffer_of(tml, TML_VEC(TML_F32, 2), bricks.count, bricks.ranges);
        CHECK_OK(tml, tml_surface(tml, &desc, &with));
        CHECK(without.triangle_count > 1000);
        CHECK_EQ_U64(with.triangle_count, without.triangle_count);
        tml_surface_free(tml, &with);
        tml_surface_free(tml, &without);
        tml_volume_index_free(tml, &bricks);
    }
    tml_close(tml);
}

TEST(every_prefix_and_every_changed_byte_is_refused)
{
    memory_watch watch;
    tml_context *tml = open_watched(&watch);
    tml_volume_index bricks;
    uint8_t bytes[ROOM];
    save_index(tml, &bricks);
    size_t size = read_index(bytes);
    for (size_t cut = 0; cut < size; cut++)
        expect_refused(tml, bytes, cut, "tml_volume_index_load: ");
    for (size_t at = 0; at < size; at++) {
        bytes[at] ^= 1 << at % 8;
        expect_refused(tml, bytes, size, at >= HEADER ? "checksum" : "tml_volume_index_load: ");
        bytes[at] ^= 1 << at % 8;
    }
    CHECK(watch.largest <= 1 << 20);
    tml_close(tml);
    CHECK_EQ_U64(watch.live, 0);
}

/* Headers that say what is not so, with the checksum of what they say. */
TEST(lies_are_refused_and_allocate_nothing)
{
    static const struct lie {
        int at, size;
        uint64_t number;
        const char *words;
    } lies[] = {
        {AT_DIMS, 8, 0, "has 0 x 9 x 5 samples in 18 bricks"},
        {AT_DIMS, 8, 3 * 64 + 1, "has 193 x 9 x 5 samples in 18 bricks"},
        {AT_DIMS, 8, UINT64_MAX, "in 18 bricks"},
        {AT_DIMS + 8, 8, UINT64_MAX, "in 18 bricks"},
        {AT_DIMS + 16, 8, 9, "in 18 bricks"},
        {AT_COUNT, 8, 0, "in 0 bricks"},
        {AT_COUNT, 8, BRICKS - 1, "in 17 bricks"},
        {AT_COUNT, 8, BRICKS + ((uint64_t)1 << 61), "bricks"}, /* times 8 bytes: the same */
        {AT_TYPE, 4, TML_TYPE_NONE, "header"},
        {AT_TYPE, 4, TML_SCALAR_END, "header"},
        {AT_TYPE, 4, TML_VEC(TML_F32, 2), "header"},
        {AT_SIDES, 1, 32, "bricks of 32 x 4 x 4"},
        {AT_SIDES + 1, 1, 8, "bricks of 64 x 8 x 4"},
        {AT_SIDES + 2, 1, 0, "bricks of 64 x 4 x 0"},
        {AT_SIDES + 3, 1, 1, "header"},
        {0, 8, 0, "is no index of bricks"},
    };
    memory_watch watch;
    tml_context *tml = open_watched(&watch);
    tml_volume_index bricks;
    uint8_t bytes[ROOM], changed[ROOM];
    save_index(tml, &bricks);
    size_t size = read_index(bytes);
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        memcpy(changed, bytes, size);
        store(changed + lies[i].at, lies[i].number, lies[i].size);
        mend_checksum(changed, size);
        expect_refused(tml, changed, size, lies[i].words);
    }
    /* Bricks and dims agree, but the file has fewer: also where 8 times as many wrap to what there
     * is. */
    memcpy(changed, bytes, size);
    store(changed + AT_DIMS, 6 * 64, 8);
    store(changed + AT_COUNT, 2 * BRICKS, 8);
    mend_checksum(changed, size);
    expect_refused(tml, changed, size, "it was cut short");
    static const uint64_t wrapping[] = {2 * 64, (((uint64_t)1 << 60) + BRICKS / 2) * 4, 4};
    memcpy(changed, bytes, size);
    for (int i = 0; i < 3; i++)
        store(changed + AT_DIMS + 8 * i, wrapping[i], 8);
    store(changed + AT_COUNT, tml_volume_index_count(wrapping), 8);
    mend_checksum(changed, size);
    expect_refused(tml, changed, size, "it was cut short");
    for (size_t more = 1; more <= 64; more++) { /* and more than it has */
        memcpy(changed, bytes, size);
        memset(changed + size, 0, more);
        mend_checksum(changed, size + more);
        expect_refused(tml, changed, size + more, "needs 196 for its 18");
    }
    CHECK(watch.largest <= 1 << 20);
    tml_close(tml);
    CHECK_EQ_U64(watch.live, 0);
}

/* Without bounds is from -inf to inf, and no other two infinities: by those a surface skips the
 * brick. */
TEST(infinite_ranges_hold_everything_or_nothing)
{
    static const float samples[4] = {1.0f, NAN, -INFINITY, 3.0f};
    float ranges[2] = {-INFINITY, INFINITY};
    const tml_volume_index bricks = {
        .dims = {4, 1, 1}, .type = TML_F32, .ranges = ranges, .count = 1};
    CHECK(tml_volume_index_holds(&bricks, samples, 0, 1, 1));
    ranges[0] = INFINITY;
    CHECK(!tml_volume_index_holds(&bricks, samples, 0, 1, 1));
    ranges[1] = -INFINITY;
    CHECK(!tml_volume_index_holds(&bricks, samples, 0, 1, 1));
}

TEST(memory_runs_out)
{
    memory_watch watch;
    tml_context *tml = open_watched(&watch);
    tml_volume_index bricks;
    save_index(tml, &bricks);
    tml_status status = TML_ERROR_OUT_OF_MEMORY;
    for (uint64_t n = 1; status == TML_ERROR_OUT_OF_MEMORY && n < 100; n++) {
        size_t live = watch.live;
        watch.fail_at = watch.count + n;
        status = tml_volume_index_load(tml, in_folder("a.tmx"), &bricks);
        CHECK(status == TML_OK || (!bricks.ranges && watch.live == live));
        CHECK(status == TML_OK || strstr(tml_last_error(tml), "tml_volume_index_load: "));
    }
    CHECK_OK(tml, status);
    CHECK(watch.count >= 2);
    tml_volume_index_free(tml, &bricks);
    tml_close(tml);
    CHECK_EQ_U64(watch.live, 0);
}

int main(int argc, char **argv)
{
    return test_main_in_folder("bricks", argc, argv);
}
