/* TIFF stacks: real files of every compression, order and layout against what other readers found,
 * made-up ones for descriptions, damaged, cut and changed ones. */
#include <math.h>
#include <stdlib.h>

#include "test.h"

#include "folder.h"
#include "memory_watch.h"

#include "volume_check.h"

#ifdef TML_TIFF

/* clang-format off */
#define F(name) "volumes/tiff/" name, "TIFF"
#define ONE {1, 1, 1}, {0, 0, 0}
#define U16 {64, 64, 10}, TML_U16, 0x4a9c1830
#define U8  {64, 64, 10}, TML_U8, 0x790ebddc
#define F32 {20, 20, 20}, TML_F32, 0xb9bc6fbc
static const volume_check shipped[] = {
    {F("multipage_u8_2.tif"), 0, 1, {10, 15, 2}, TML_U8, 0xdabac1d2, ONE},
    {F("dots_f32_lzw_3.tif"), 0, 1, {75, 70, 3}, TML_F32, 0x22b465c7, {0.0352734, 0.0352734, 1}, {0, 0, 0}},
    {F("seq-1c-8b-tiled-deflate-20f3db0c.tiff"), 0, 1, {16, 16, 1}, TML_U8, 0x29058c73, ONE},
};
static const volume_check collected[] = {
    {F("blobs_u8_be_30x32x32.tif"), 0, 1, {32, 32, 30}, TML_U8, 0x5e9d09c5, ONE},
    {F("stack_u16_be_10x128x128.tif"), 0, 1, {128, 128, 10}, TML_U16, 0x7e0bfb6a, {0.064, 0.064, 1}, {0, 0, 0}},
    {F("imagej_spacing_u16_10.tif"), 0, 1, U16, {0.4, 0.4, 2}, {0, 0, 0}},
    {F("imagej_f32_20.tif"), 0, 1, F32, {1.14, 1.14, 1.14}, {0, 0, 0}},
    {F("imagej_two_channels_u16_5.tif"), 0, 2, {64, 64, 5}, TML_U16, 0x0beac843, {0.4, 0.4, 2}, {0, 0, 0}},
    {F("imagej_two_channels_u16_5.tif"), 1, 2, {64, 64, 5}, TML_U16, 0x3b4d47d5, {0.4, 0.4, 2}, {0, 0, 0}},
    {F("physical_u16_10.ome.tif"), 0, 1, U16, {0.4, 0.4, 2}, {0, 0, 0}},
    {F("z_series.ome.tif"), 1, 3, {439, 167, 5}, TML_I8, 0x0cad7b20, ONE},
    {F("signed_i16_2.tif"), 0, 1, {120, 120, 2}, TML_I16, 0x44adcd76, ONE},
    {F("with_thumbnail_pages.tif"), 0, 1, U8, ONE},
    {F("matrix/f32_be_big_deflate.tif"), 0, 1, F32, ONE},
    {F("matrix/f32_strips_lzw_pred3.tif"), 0, 1, F32, ONE},
    {F("matrix/f32_strips_none.tif"), 0, 1, F32, ONE},
    {F("matrix/f32_tiles_deflate_pred3.tif"), 0, 1, F32, ONE},
    {F("matrix/u16_be_strips_none.tif"), 0, 1, U16, ONE},
    {F("matrix/u16_be_tiles_deflate_pred2.tif"), 0, 1, U16, ONE},
    {F("matrix/u16_big_be_tiles_lzw.tif"), 0, 1, U16, ONE},
    {F("matrix/u16_big_strips_deflate.tif"), 0, 1, U16, ONE},
    {F("matrix/u16_strips_lzw.tif"), 0, 1, U16, ONE},
    {F("matrix/u16_tiles_lzw_pred2.tif"), 0, 1, U16, ONE},
    {F("matrix/u8_strips_packbits.tif"), 0, 1, U8, ONE},
    {F("matrix/u8_tiles_none.tif"), 0, 1, U8, ONE},
    {F("small/minisblack-1c-16b.tiff"), 0, 1, {157, 151, 1}, TML_U16, 0xd215176f, ONE},
};
/* clang-format on */

TEST(shipped_files_have_the_values_that_another_reader_found)
{
    tml_context *tml = open_plain();
    for (size_t i = 0; i < sizeof shipped / sizeof shipped[0]; i++)
        check_volume(tml, test_data(shipped[i].path), &shipped[i]);
    tml_close(tml);
}

TEST(collected_files_have_the_values_that_another_reader_found)
{
    if (!test_full_data(collected[0].path))
        SKIP("TML_DATA is not set");
    tml_context *tml = open_plain();
    for (size_t i = 0; i < sizeof collected / sizeof collected[0]; i++) {
        CHECK(test_full_data(collected[i].path) != NULL);
        check_volume(tml, test_full_data(collected[i].path), &collected[i]);
    }
    tml_close(tml);
}

TEST(what_is_no_grey_stack_is_refused)
{
    static const struct {
        const char *name, *word;
    } files[] = {{"multipage_rgb_f64_2.tif", "3 samples a pixel"},
                 {"pages_of_two_sizes.tif", "page 1 has 64 x 40 samples"},
                 {"pages_of_two_types.tif", "page 1 has 64 x 64 samples of u16"},
                 {"small/miniswhite-1c-1b.tiff", "of 1 bits"},
                 {"small/palette-1c-8b.tiff", "in colours"},
                 {"small/quad-tile.jpg.tiff", "in colours"},
                 {"stk_u16_2.stk", "MetaMorph"}};
    if (!test_full_data(collected[0].path))
        SKIP("TML_DATA is not set");
    tml_context *tml = open_plain();
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[256];
        tml_volume volume;
        snprintf(path, sizeof path, "volumes/tiff/%s", files[i].name);
        CHECK_STATUS(tml_volume_load(tml, test_full_data(path), NULL, &volume),
                     TML_ERROR_UNSUPPORTED);
        CHECK(strstr(tml_last_error(tml), files[i].word) != NULL);
    }
    tml_close(tml);
}

/* ---- made-up files --------------------------------------------------------------------------- */

enum { WIDTH = 5, HEIGHT = 3, PAGE = WIDTH * HEIGHT };

static void put(uint8_t *file, size_t *size, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        file[(*size)++] = (uint8_t)(value >> 8 * i);
}

/* A stack of bytes, value i * 7 of sample i, then its pages, of which the last point_back ones are
 * left out and lie behind the first. */
static size_t make(uint8_t file[4096], int pages, int directories, const char *description)
{
    size_t size = 0, text = strlen(description) + 1, text_at, samples_at = 8;
    put(file, &size, 0x002a4949, 4);
    put(file, &size, (uint32_t)(8 + pages * PAGE + (int)text), 4);
    for (int i = 0; i < pages * PAGE; i++)
        file[size++] = (uint8_t)(i * 7);
    text_at = size;
    memcpy(file + size, description, text);
    size += text;
    for (int page = 0; page < directories; page++) {
        const uint32_t tags[][4] = {{256, 3, 1, WIDTH},
                                    {257, 3, 1, HEIGHT},
                                    {258, 3, 1, 8},
                                    {259, 3, 1, 1},
                                    {262, 3, 1, 1},
                                    {270, 2, (uint32_t)text, (uint32_t)text_at},
                                    {273, 4, 1, (uint32_t)samples_at + (uint32_t)page * PAGE},
                                    {277, 3, 1, 1},
                                    {278, 3, 1, HEIGHT},
                                    {279, 4, 1, PAGE}};
        put(file, &size, 10, 2);
        for (int i = 0; i < 10; i++) {
            put(file, &size, tags[i][0], 2);
            put(file, &size, tags[i][1], 2);
            put(file, &size, tags[i][2], 4);
            put(file, &size, tags[i][3], 4);
        }
        put(file, &size, page + 1 < directories ? (uint32_t)size + 4 : 0, 4);
    }
    return size;
}

typedef struct made_case {
    const char *description;
    uint32_t frame, frames;
    uint64_t layers;
    int first, step; /* pages that the layers are */
    double spacing;  /* of z */
} made_case;

TEST(descriptions_divide_pages)
{
    static const made_case cases[] = {
        {"nothing", 0, 1, 6, 0, 1, 1},
        {"ImageJ=1.5\nimages=6\nslices=6\nspacing=-2.5\nunit=pixel\n", 0, 1, 6, 0, 1, 2.5},
        {"ImageJ=1.5\nimages=6\nchannels=2\nslices=3\n", 1, 2, 3, 1, 2, 1},
        {"ImageJ=1.5\nimages=6\nslices=2\nframes=3\nspacing=4\n", 2, 3, 2, 4, 1, 4},
        {"ImageJ=1.5\nimages=6\nframes=6\n", 3, 6, 1, 3, 1, 1},
        {"<OME><Pixels DimensionOrder=\"XYZCT\" SizeC=\"3\" SizeZ=\"2\" SizeT=\"1\" "
         "PhysicalSizeZ=\"0.5\"/></OME>",
         1, 3, 2, 2, 1, 0.5},
        {"<OME><Pixels DimensionOrder=\"XYCTZ\" SizeC=\"1\" SizeZ=\"2\" SizeT=\"3\"/></OME>", 2, 3,
         2, 2, 3, 1},
    };
    static uint8_t file[4096];
    tml_context *tml = open_plain();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const made_case *c = &cases[i];
        tml_volume volume;
        size_t size = make(file, 6, 6, c->description);
        tml_load_desc desc = {.frame = c->frame};
        if (!CHECK_OK(tml, load_exact(tml, "a.tif", file, size, &desc, &volume)))
            continue;
        const uint8_t *samples = volume.data;
        CHECK(volume.grid.dims[0] == WIDTH && volume.grid.dims[1] == HEIGHT);
        CHECK_EQ_U64(volume.grid.dims[2], c->layers);
        CHECK_EQ_U64(volume.frame_count, c->frames);
        CHECK(volume.grid.spacing[2] == c->spacing);
        for (uint64_t k = 0; k < volume.size; k++)
            CHECK(samples[k] ==
                  (uint8_t)(7 * ((c->first + (int)(k / PAGE) * c->step) * PAGE + (int)(k % PAGE))));
        tml_volume_free(tml, &volume);
    }
    tml_close(tml);
}

/* As ImageJ writes what is larger than 4 GiB. */
TEST(pages_may_follow_the_first_without_directories)
{
    static uint8_t file[4096];
    tml_context *tml = open_plain();
    tml_volume volume;
    size_t size = make(file, 6, 1, "ImageJ=1.5\nimages=6\nslices=6\n");
    if (CHECK_OK(tml, load_exact(tml, "a.tif", file, size, NULL, &volume)))
        CHECK(volume.size == 6 * PAGE && memcmp(volume.data, file + 8, 6 * PAGE) == 0);
    tml_volume_free(tml, &volume);
    size = make(file, 6, 1, "ImageJ=1.5\nimages=600\nslices=600\n");
    expect_refusal(tml, "a.tif", file, size, TML_ERROR_FILE_FORMAT, "needs 9000");
    tml_close(tml);
}

TEST(files_that_lie)
{
    static const struct {
        const char *description, *word;
    } cases[] = {
        {"ImageJ=1.5\nimages=6\nslices=5\n", "says 5 layers in 1 frames, but it has 6 pages"},
        {"ImageJ=1.5\nslices=18446744073709551615\nchannels=4\n", "but it has 6 pages"},
        {"ImageJ=1.5\nslices=6\nspacing=nan\n", "axis 2"},
        {"<OME SizeZ=\"99\" DimensionOrder=\"XYZCT\"/>", "says 99 layers"}};
    static uint8_t file[4096];
    tml_context *tml = open_plain();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_refusal(tml, "a.tif", file, make(file, 6, 6, cases[i].description),
                       TML_ERROR_FILE_FORMAT, cases[i].word);
    tml_close(tml);
}

TEST(cut_and_changed_files)
{
    static uint8_t file[4096];
    size_t size = make(file, 2, 2, "ImageJ=1.5\nslices=2\n");
    cut_and_change("a.tif", file, size, 0, 5, 4 << 20); /* directories stand at the end */
    cut_and_change("a.tif", file, size, size, 0, 4 << 20);
    FILE *real = fopen(test_data("volumes/tiff/seq-1c-8b-tiled-deflate-20f3db0c.tiff"), "rb");
    size = real ? fread(file, 1, sizeof file, real) : 0;
    cut_and_change("a.tif", file, size, size, 0, 64 << 20);
    if (real)
        fclose(real);
}

TEST(damaged_files_get_an_error)
{
    static const char *const readable[] = {"tiff_cut_at_939.tif", "tiff_loop_to_first.tif",
                                           "tiff_loop_to_itself.tif", "tiff_strip_bytes_huge.tif",
                                           NULL};
    static const char *const none[] = {NULL};
    if (!test_full_data("damaged"))
        SKIP("TML_DATA is not set");
    check_damaged("tiff_", readable, 64 << 20);
    check_damaged("tifftools_", none, 64 << 20);
}

/* ---- folders --------------------------------------------------------------------------------- */

/* A slice of bytes base + 7 i; of width columns where that is not 0. */
static void write_slice(const char *name, uint8_t base, int pages, uint8_t width,
                        const char *description)
{
    static uint8_t file[4096];
    size_t size = make(file, pages, pages, description);
    for (int i = 0; i < pages * PAGE; i++)
        file[8 + i] = (uint8_t)(file[8 + i] + base);
    for (size_t i = 8; i + 12 < size && width; i++) /* the tag of the width */
        if (memcmp(file + i, "\0\1\3\0\1\0\0\0", 8) == 0) {
            file[i + 8] = width;
            break;
        }
    write_file(name, file, size);
}

static void expect_folder_refusal(tml_context *tml, tml_status expected, const char *word)
{
    tml_volume volume;
    tml_volume_stream *stream;
    CHECK_STATUS(tml_volume_load(tml, folder, NULL, &volume), expected);
    if (!CHECK(strstr(tml_last_error(tml), word) != NULL && !volume.data))
        printf("  (%s)\n", tml_last_error(tml));
    CHECK_STATUS(tml_volume_stream_open(tml, folder, NULL, &volume, &stream), expected);
    remove_files();
}

TEST(names_are_ordered_by_their_numbers)
{
    static const char *const rising[] = {"",
                                         "A1",
                                         "a",
                                         "a-1",
                                         "a0",
                                         "a00",
                                         "a01",
                                         "a1",
                                         "a01b",
                                         "a1b",
                                         "a2",
                                         "a9.tif",
                                         "a10.tif",
                                         "a18446744073709551616",
                                         "a18446744073709551617",
                                         "b",
                                         "b1c2",
                                         "b1c10",
                                         "\xc3\xa4"};
    enum { COUNT = sizeof rising / sizeof rising[0] };
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < COUNT; k++) {
            int order = tml_natural_order(rising[i], rising[k]);
            if (!CHECK((order > 0) - (order < 0) == (i > k) - (i < k)))
                printf("  (%s, %s)\n", rising[i], rising[k]);
        }
    CHECK_EQ_I64(tml_number_step("s8.tif", "s10.tif"), 2);
    CHECK_EQ_I64(tml_number_step("s010.tif", "s011.tif"), 1);
    CHECK_EQ_I64(tml_number_step("s1_2", "s1_5"), 3);
    CHECK_EQ_I64(tml_number_step("s1_2", "s2_5"), 0); /* two numbers */
    CHECK_EQ_I64(tml_number_step("s1", "t1"), 0);
    CHECK_EQ_I64(tml_number_step("s1", "s1"), 0);
    CHECK_EQ_I64(tml_number_step("s", "s1"), 0);
    CHECK_EQ_I64(tml_number_step("s18446744073709551616", "s18446744073709551617"), 0);
}

TEST(slices_of_a_folder_come_in_natural_order)
{
    static const char *const names[] = {"s9.tif", "s010.TIF", "s10b.tif", "s11.tiff", "t1.tif"};
    memory_watch watch;
    tml_context *tml = open_watched(&watch);
    tml_volume volume;
    tml_volume_stream *stream;
    uint8_t layers[2 * PAGE];
    for (int i = 4; i >= 0; i--)
        write_slice(names[i], (uint8_t)(20 * i), 1, 0,
                    i ? "" : "ImageJ=1.5\nimages=90\nslices=30\nchannels=3\nspacing=2.5\n");
    write_file("log.txt", "taken", 5);
    write_file(".hidden.tif", "II", 2);
    if (CHECK_OK(tml, tml_volume_load(tml, folder, NULL, &volume))) {
        CHECK_EQ_U64(volume.grid.dims[2], 5);
        CHECK_EQ_U64(volume.frame_count, 1);
        CHECK_NEAR(volume.grid.spacing[2], 2.5, 0);
        CHECK_STR(volume.format, "TIFF");
        CHECK_STR(volume.comment, "files left out, which are not TIFF: 1");
        for (int i = 0; i < 5 * PAGE; i++)
            CHECK(((const uint8_t *)volume.data)[i] == (uint8_t)(20 * (i / PAGE) + 7 * (i % PAGE)));
    }
    tml_volume_free(tml, &volume);
    CHECK_STR(tml_file_format(tml, folder, TML_FILE_VOLUME, NULL), "TIFF");
    /* As a stream, of which a slice is in memory at a time. */
    if (CHECK_OK(tml, tml_volume_stream_open(tml, folder, NULL, &volume, &stream))) {
        CHECK_OK(tml, tml_volume_stream_read(stream, 1, 2, layers));
        CHECK(layers[0] == 20 && layers[PAGE] == 40);
        CHECK_OK(tml, tml_volume_stream_read(stream, 4, 1, layers));
        CHECK(layers[0] == 80);
        tml_volume_stream_close(stream);
    }
    remove_files();
    write_slice("one.tif", 3, 1, 0, "ImageJ=1.5\nimages=90\nslices=90\n");
    CHECK_OK(tml, tml_volume_load(tml, folder, NULL, &volume));
    CHECK_EQ_U64(volume.grid.dims[2], 1);
    tml_volume_free(tml, &volume);
    remove_files();
    tml_close(tml);
    CHECK_EQ_U64(watch.live, 0);
}

/* What the description of one slice says of all: two channels of three layers. */
TEST(slices_may_be_of_channels)
{
    tml_context *tml = open_plain();
    for (int i = 0; i < 6; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d.tif", i);
        write_slice(name, (uint8_t)(10 * i), 1, 0,
                    "<OME SizeZ=\"3\" SizeC=\"2\" SizeT=\"1\" DimensionOrder=\"XYCZT\"/>");
    }
    tml_volume volume;
    if (CHECK_OK(tml, tml_volume_load(tml, folder, &(tml_load_desc){.frame = 1}, &volume))) {
        CHECK_EQ_U64(volume.frame_count, 2);
        CHECK_EQ_U64(volume.grid.dims[2], 3);
        for (int i = 0; i < 3; i++)
            CHECK(((const uint8_t *)volume.data)[i * PAGE] == 10 * (2 * i + 1));
    }
    tml_volume_free(tml, &volume);
    remove_files();
    tml_close(tml);
}

TEST(numbers_that_are_missing_are_told)
{
    static const int numbers[][4] = {
        {8, 9, 10, 11}, {8, 10, 12, 14}, {8, 9, 11, 12}, {98, 99, 100, 102}};
    static const char *const told[] = {"", "", "numbers are missing before s11.tif",
                                       "numbers are missing before s102.tif"};
    tml_context *tml = open_plain();
    for (int i = 0; i < 4; i++) {
        tml_volume volume;
        for (int k = 0; k < 4; k++) {
            char name[16];
            snprintf(name, sizeof name, "s%d.tif", numbers[i][k]);
            write_slice(name, 0, 1, 0, "");
        }
        CHECK_OK(tml, tml_volume_load(tml, folder, NULL, &volume));
        CHECK_STR(volume.comment, told[i]);
        tml_volume_free(tml, &volume);
        remove_files();
    }
    tml_close(tml);
}

TEST(folders_that_are_no_stack_are_refused)
{
    static uint8_t file[4096], dicom[200];
    tml_context *tml = open_plain();
    expect_folder_refusal(tml, TML_ERROR_FILE_ACCESS, "folder without TIFF or DICOM");
    write_file("a.txt", "II", 2);
    expect_folder_refusal(tml, TML_ERROR_FILE_ACCESS, "folder without TIFF or DICOM");
    write_slice("a.tif", 0, 1, 0, "");
    write_slice("b.tif", 0, 1, 4, "");
    expect_folder_refusal(tml, TML_ERROR_UNSUPPORTED,
                          "b.tif: has 4 x 3 samples of u8, needs 5 x 3 of u8 as a.tif");
    write_slice("a.tif", 0, 1, 0, "");
    write_slice("b.tif", 0, 2, 0, "");
    expect_folder_refusal(tml, TML_ERROR_UNSUPPORTED, "b.tif: has several pages");
    write_slice("a.tif", 0, 2, 0, "");
    expect_folder_refusal(tml, TML_ERROR_UNSUPPORTED, "a.tif: has several pages");
    write_slice("a.tif", 0, 1, 0, "");
    memcpy(dicom + 128, "DICM", 4);
    write_file("b.dcm", dicom, sizeof dicom);
    expect_folder_refusal(tml, TML_ERROR_UNSUPPORTED, "holds TIFF and DICOM, as a.tif and b.dcm");
    write_slice("a.tif", 0, 1, 0, "");
    write_slice(" b.tif", 0, 1, 0, "");
    expect_folder_refusal(tml, TML_ERROR_UNSUPPORTED, "rename it");
    /* Cut in its directory, and in its samples, which then lie behind it. */
    size_t size = make(file, 1, 1, "");
    write_slice("a.tif", 0, 1, 0, "");
    write_file("b.tif", file, size - 20);
    expect_folder_refusal(tml, TML_ERROR_FILE_FORMAT, "b.tif: ");
    write_slice("a.tif", 0, 1, 0, "");
    write_file("b.tif", file, 4);
    expect_folder_refusal(tml, TML_ERROR_FILE_FORMAT, "b.tif: ");
    tml_close(tml);
}

#else

TEST(without_libtiff_files_are_refused)
{
    static const char file[] = "II*\0\x08\0\0\0";
    tml_context *tml = open_plain();
    expect_refusal(tml, "a.tif", file, sizeof file - 1, TML_ERROR_UNSUPPORTED, "libtiff");
    tml_close(tml);
}

#endif

int main(int argc, char **argv)
{
    return test_main_in_folder("tiff", argc, argv);
}
