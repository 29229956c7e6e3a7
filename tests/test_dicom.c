/* DICOM: real files against what an independent parser found, series that are made here in each way
 * of coding, with every reason to refuse them, damaged, cut and changed files. */
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "test.h"

#include "folder.h"
#include "memory_watch.h"
#include "volume_check.h"
#include "warned.h"

#ifdef TML_DICOM
/* clang-format off */
#define OBLIQUE {64, 64, 4}, TML_I16, 0x84f3c99b, {2.3437497, 2.3437496, 4.0000017}, {-136.2682, -50.12272, 36.6436}
static const volume_check shipped[] = {
    {"volumes/dicom/oblique", "DICOM", 0, 1, OBLIQUE},
    {"volumes/dicom/oblique/003.dcm", "DICOM", 0, 1, OBLIQUE},
    {"volumes/dicom/rtdose.dcm", "DICOM", 0, 1, {10, 10, 15}, TML_U32, 0x4f4143e8, {10, 10, 5}, {189.43125, 199.43125, -761.87}},
    {"volumes/dicom/MR_small_bigendian.dcm", "DICOM", 0, 1, {64, 64, 1}, TML_I16, 0x2614499c, {0.3125, 0.3125, 0.8}, {-83.9063, -91.2, 6.6406}},
};
static const volume_check collected[] = {
    {"volumes/dicom/mr_oblique", "DICOM", 0, 1, {80, 80, 35}, TML_U16, 0x41934401, {3, 3, 3.3}, {-119.62467524735, -142.84578995313, -0.4718822250142}},
    {"volumes/dicom/pet_chest/014.dcm", "DICOM", 0, 1, {128, 128, 28}, TML_I16, 0x6dcff080, {3.5378182, 3.5378182, 3.375}, {-226.13246, -425.88375, -739.709}},
};
/* clang-format on */

TEST(shipped_files_have_the_values_that_another_reader_found)
{
    tml_context *tml = open_plain();
    for (size_t i = 0; i < sizeof shipped / sizeof shipped[0]; i++)
        check_volume(tml, test_data(shipped[i].path), &shipped[i]);
    tml_volume volume;
    if (CHECK_OK(tml, tml_volume_load(tml, test_data("volumes/dicom/rtdose.dcm"), NULL, &volume)))
        CHECK_NEAR(volume.slope, 1e-6, 1e-12);
    tml_volume_free(tml, &volume);
    if (CHECK_OK(tml, tml_volume_load(tml, test_data("volumes/dicom/oblique"), NULL, &volume))) {
        /* The file's orientation, in columns, and the normal. */
        static const double direction[9] = {0.60883,  -0.142762, -0.78035,  0.790737, 0.188227,
                                            0.582499, 0.063724,  -0.971694, 0.227485};
        for (int i = 0; i < 9; i++)
            CHECK_NEAR(volume.grid.direction[i], direction[i], 1e-5);
        CHECK_STR(volume.space, "left-posterior-superior");
    }
    tml_volume_free(tml, &volume);
    CHECK_STR(tml_file_format(tml, test_data("volumes/dicom/oblique"), TML_FILE_VOLUME, NULL),
              "DICOM");
    CHECK_STATUS(tml_volume_load(tml, test_data("points"), NULL, &volume), TML_ERROR_FILE_ACCESS);
    CHECK(strstr(tml_last_error(tml), "folder without TIFF or DICOM"));
    tml_close(tml);
}

TEST(collected_series_have_the_values_that_another_reader_found)
{
    if (!test_full_data(collected[0].path))
        SKIP("TML_DATA is not set");
    tml_context *tml = open_plain();
    for (size_t i = 0; i < sizeof collected / sizeof collected[0]; i++)
        check_volume(tml, test_full_data(collected[i].path), &collected[i]);
    tml_volume volume;
    CHECK_STATUS(
        tml_volume_load(tml, test_full_data("volumes/dicom/ct_head_tilted"), NULL, &volume),
        TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), "4.00193 apart, but 1.08109 between 14.dcm and 15.dcm"));
    CHECK_STATUS(
        tml_volume_load(tml, test_full_data("volumes/dicom/single/JPEG2000.dcm"), NULL, &volume),
        TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), "JPEG 2000"));
    tml_close(tml);
}

TEST(damaged_files_get_an_error)
{
    /* A copy of an image is left out, and told. */
    static const char *const readable[] = {"dicom_with_strangers", "dicom_same_place", NULL};
    if (!test_full_data("damaged"))
        SKIP("TML_DATA is not set");
    check_damaged("dicom_", readable, 1 << 20);
}

/* ---- made files ------------------------------------------------------------------------------ */

typedef enum coding { IMPLICIT, EXPLICIT, BIG_ENDIAN_EXPLICIT, CODINGS } coding;

typedef struct dicom {
    uint8_t data[1 << 14];
    size_t size;
    coding coding;
} dicom;

static void put(dicom *d, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        d->data[d->size++] =
            (uint8_t)(value >> 8 * (d->coding == BIG_ENDIAN_EXPLICIT ? size - 1 - i : i));
}

static void put_head(dicom *d, uint32_t tag, const char *vr, uint32_t length)
{
    put(d, tag >> 16, 2);
    put(d, tag & 0xffff, 2);
    if (!vr || d->coding == IMPLICIT) {
        put(d, length, 4);
        return;
    }
    d->data[d->size++] = (uint8_t)vr[0];
    d->data[d->size++] = (uint8_t)vr[1];
    bool is_long = strcmp(vr, "SQ") == 0 || strcmp(vr, "OW") == 0 || strcmp(vr, "UN") == 0;
    put(d, is_long ? 0 : length, 2);
    if (is_long)
        put(d, length, 4);
}

static void put_text(dicom *d, uint32_t tag, const char *vr, const char *text)
{
    size_t length = strlen(text), even = length + length % 2;
    put_head(d, tag, vr, (uint32_t)even);
    memcpy(d->data + d->size, text, length);
    d->size += length;
    if (even > length)
        d->data[d->size++] = vr[0] == 'U' ? 0 : ' ';
}

static void put_count(dicom *d, uint32_t tag, unsigned value)
{
    put_head(d, tag, "US", 2);
    put(d, value, 2);
}

/* What a made slice is like; zeroed: a plain one. */
typedef struct slice {
    coding coding;
    const char *series, *position, *orientation, *slope, *spacing, *syntax;
    const char *number, *location, *thickness, *between, *detector, *uid, *description;
    unsigned rows, stored, high, sign;
    int bare; /* without 1: group 2, too; 2: the 128 bytes; 3: them and the four letters */
    uint64_t (*sample)(unsigned i);
} slice;

enum { ROWS = 3, COLUMNS = 4, PIXELS = ROWS * COLUMNS };

static void begin(dicom *d, const slice *s)
{
    static const char *const syntaxes[] = {"1.2.840.10008.1.2", "1.2.840.10008.1.2.1",
                                           "1.2.840.10008.1.2.2"};
    *d = (dicom){.size = 128, .coding = EXPLICIT};
    memcpy(d->data + d->size, "DICM", 4);
    d->size += 4;
    put_text(d, 0x00020010, "UI", s->syntax ? s->syntax : syntaxes[s->coding]);
    size_t drop = s->bare == 1 ? d->size : s->bare == 2 ? 128 : s->bare == 3 ? 132 : 0;
    memmove(d->data, d->data + drop, d->size - drop);
    d->size -= drop;
    d->coding = s->coding;
    const struct {
        uint32_t tag;
        const char *vr, *text;
    } texts[] = {{0x00080018, "UI", s->uid},         {0x00080060, "CS", "CT"},
                 {0x0008103E, "LO", s->description}, {0x00180050, "DS", s->thickness},
                 {0x00180088, "DS", s->between},     {0x00181164, "DS", s->detector}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].text)
            put_text(d, texts[i].tag, texts[i].vr, texts[i].text);
    put_text(d, 0x0020000E, "UI", s->series ? s->series : "1.2.3");
}

static void put_image(dicom *d, const slice *s, unsigned frames)
{
    if (s->orientation)
        put_text(d, 0x00200037, "DS", s->orientation);
    if (s->location)
        put_text(d, 0x00201041, "DS", s->location);
    put_count(d, 0x00280002, 1);
    put_text(d, 0x00280004, "CS", "MONOCHROME2");
    if (frames > 1) {
        char text[16];
        snprintf(text, sizeof text, "%u", frames);
        put_text(d, 0x00280008, "IS", text);
    }
    put_count(d, 0x00280010, s->rows ? s->rows : ROWS);
    put_count(d, 0x00280011, COLUMNS);
    if (s->spacing)
        put_text(d, 0x00280030, "DS", s->spacing);
    put_count(d, 0x00280100, 16);
    put_count(d, 0x00280101, s->stored ? s->stored : 16);
    put_count(d, 0x00280102, s->high ? s->high : 15);
    put_count(d, 0x00280103, s->sign);
    if (s->slope) {
        put_text(d, 0x00281052, "DS", "10");
        put_text(d, 0x00281053, "DS", s->slope);
    }
}

static void put_pixels(dicom *d, const slice *s, unsigned count, unsigned first)
{
    put_head(d, 0x7FE00010, "OW", 2 * count);
    for (unsigned i = 0; i < count; i++)
        put(d, s->sample ? s->sample(i) : first + i, 2);
}

static void make_slice(dicom *d, const slice *s, unsigned first)
{
    begin(d, s);
    if (s->number)
        put_text(d, 0x00200013, "IS", s->number);
    if (s->position)
        put_text(d, 0x00200032, "DS", s->position);
    put_image(d, s, 1);
    put_pixels(d, s, (s->rows ? s->rows : ROWS) * COLUMNS, first);
}

static void write_slice(const char *name, const slice *s, unsigned first)
{
    dicom d;
    make_slice(&d, s, first);
    write_file(name, d.data, d.size);
}

static void expect_volume(tml_context *tml, const char *path, const uint16_t *expected,
                          uint64_t layers, const double *direction, const double spacing[3])
{
    tml_volume volume;
    if (!CHECK_OK(tml, tml_volume_load(tml, path, NULL, &volume)))
        return;
    CHECK(volume.type == TML_U16 || volume.type == TML_I16);
    CHECK_EQ_U64(volume.grid.dims[0], COLUMNS);
    CHECK_EQ_U64(volume.grid.dims[1], ROWS);
    if (CHECK_EQ_U64(volume.grid.dims[2], layers))
        CHECK(memcmp(volume.data, expected, volume.size) == 0);
    for (int i = 0; i < 9 && direction; i++)
        CHECK_NEAR(volume.grid.direction[i], direction[i], 1e-6);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(volume.grid.spacing[i], spacing[i], 1e-6);
    tml_volume_free(tml, &volume);
}

#    define UPRIGHT "1\\0\\0\\0\\1\\0"

/* Five slices whose names are in another order than their places, in all codings, one of another
 * series and files that are none among them: whichever is named, the same volume, whole and layer
 * by layer. */
TEST(a_series_is_sorted_along_its_normal)
{
    static const char *const names[] = {"d", "a.dcm", "IM 3", "c", "b.ima"};
    static const double spacing[3] = {0.5, 2, 3},
                        turned[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0}; /* columns of UP_ALONG */
    tml_context *tml = open_plain();
    uint16_t expected[5 * PIXELS], layer[2 * PIXELS];
    for (unsigned i = 0; i < 5 * PIXELS; i++)
        expected[i] = (uint16_t)(100 * (i / PIXELS) + i % PIXELS);
    for (int c = 0; c < CODINGS; c++) {
        for (unsigned i = 0; i < 5;
             i++) { /* rows run along y, columns along z, so slices along x */
            char position[64];
            snprintf(position, sizeof position, "%g\\5\\-7", 3.0 * i - 20);
            write_slice(names[i],
                        &(slice){.coding = (coding)c,
                                 .position = position,
                                 .orientation = "0\\1\\0\\0\\0\\1",
                                 .spacing = "2\\0.5"},
                        100 * i);
        }
        write_slice("other.dcm",
                    &(slice){.series = "1.2.4", .position = "0\\0\\0", .orientation = UPRIGHT}, 0);
        write_file("README.txt", "not DICOM", 9);
        write_file("short", "DICM", 4);
        expect_volume(tml, in_folder("c"), expected, 5, turned, spacing);
        expect_volume(tml, in_folder("a.dcm"), expected, 5, turned, spacing);
        tml_volume info;
        tml_volume_stream *stream = NULL;
        CHECK_STATUS(tml_volume_load(tml, folder, NULL, &info), TML_ERROR_UNSUPPORTED);
        CHECK(strstr(tml_last_error(tml), "several series"));
        remove(in_folder("other.dcm"));
        expect_volume(tml, folder, expected, 5, turned, spacing);
        if (CHECK_OK(tml, tml_volume_stream_open(tml, in_folder("d"), NULL, &info, &stream))) {
            CHECK(info.grid.origin[0] == -20 && info.grid.origin[2] == -7);
            CHECK_OK(tml, tml_volume_stream_read(stream, 1, 2, layer));
            CHECK(memcmp(layer, expected + PIXELS, sizeof layer) == 0);
            CHECK_OK(tml, tml_volume_stream_read(stream, 4, 1, layer));
            CHECK(memcmp(layer, expected + 4 * PIXELS, sizeof layer / 2) == 0);
        }
        tml_volume_stream_close(stream);
        remove_files();
    }
    tml_close(tml);
}

/* Three slices, of which the last is another one; each reason has its words. */
TEST(series_that_are_no_stack_are_refused)
{
    static const struct {
        slice last;
        const char *word;
    } cases[] = {
        {{.position = "0\\0\\5", .orientation = UPRIGHT}, "not equally spaced: 2 apart, but 3"},
        {{.position = "0\\0\\2", .orientation = UPRIGHT}, "two slices at one place, b and c"},
        {{.position = "1\\0\\4", .orientation = UPRIGHT}, "not equally spaced"},
        {{.position = "0\\0\\4", .orientation = "0\\1\\0\\1\\0\\0"}, "c has another orientation"},
        {{.position = "0\\0\\4", .orientation = UPRIGHT, .rows = 2}, "c has another size"},
        {{.position = "0\\0\\4", .orientation = UPRIGHT, .sign = 1}, "another type of samples"},
        {{.position = "0\\0\\4", .orientation = UPRIGHT, .spacing = "2\\1"}, "another spacing"},
        {{.orientation = UPRIGHT}, "c has no position"},
    };
    tml_context *tml = open_plain();
    tml_volume volume;
    write_slice("a", &(slice){.position = "0\\0\\0", .orientation = UPRIGHT}, 0);
    write_slice("b", &(slice){.position = "0\\0\\2", .orientation = UPRIGHT}, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_slice("c", &cases[i].last, 0);
        CHECK_STATUS(tml_volume_load(tml, in_folder("a"), NULL, &volume), TML_ERROR_UNSUPPORTED);
        if (!strstr(tml_last_error(tml), cases[i].word))
            test_fail(__FILE__, __LINE__, "\"%s\", needs \"%s\"", tml_last_error(tml),
                      cases[i].word);
    }
#    ifndef _WIN32 /* where no name has such a character */
    write_slice("c\nd", &(slice){.position = "0\\0\\4", .orientation = UPRIGHT}, 0);
    remove(in_folder("c"));
    CHECK_STATUS(tml_volume_load(tml, in_folder("a"), NULL, &volume), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), "rename it"));
#    endif
    remove_files();
    tml_close(tml);
}

TEST(a_tilted_stack_is_sheared)
{
    tml_context *tml = open_plain();
    tml_volume volume;
    for (unsigned i = 0; i < 3; i++) {
        char position[64], name[2] = {(char)('a' + i), '\0'};
        snprintf(position, sizeof position, "0\\%u\\%u", 3 * i, 4 * i);
        write_slice(name, &(slice){.position = position, .orientation = UPRIGHT}, 0);
    }
    if (CHECK_OK(tml, tml_volume_load(tml, folder, NULL, &volume))) {
        CHECK_NEAR(volume.grid.spacing[2], 5, 1e-12);
        CHECK_NEAR(volume.grid.direction[5], 0.6, 1e-12);
        CHECK_NEAR(volume.grid.direction[8], 0.8, 1e-12);
        CHECK(strstr(volume.comment, "sheared by 36.9 degrees"));
    }
    tml_volume_free(tml, &volume);
    remove_files();
    tml_close(tml);
}

/* One slope stays the volume's; slopes of each slice make floats. */
TEST(slopes)
{
    tml_context *tml = open_plain();
    tml_volume volume;
    for (int apart = 0; apart < 2; apart++) {
        write_slice("a", &(slice){.position = "0\\0\\0", .orientation = UPRIGHT, .slope = "2"}, 1);
        write_slice(
            "b",
            &(slice){.position = "0\\0\\1", .orientation = UPRIGHT, .slope = apart ? "0.5" : "2"},
            50);
        if (CHECK_OK(tml, tml_volume_load(tml, folder, NULL, &volume))) {
            const float *floats = volume.data;
            const uint16_t *words = volume.data;
            CHECK(volume.type == (apart ? TML_F32 : TML_U16));
            CHECK(volume.slope == (apart ? 1 : 2) && volume.intercept == (apart ? 0 : 10));
            for (unsigned i = 0; i < PIXELS && apart; i++)
                CHECK(floats[i] == 2 * (1 + (float)i) + 10 &&
                      floats[PIXELS + i] == 0.5f * (50 + (float)i) + 10);
            CHECK(apart || (words[0] == 1 && words[PIXELS] == 50));
        }
        tml_volume_free(tml, &volume);
    }
    remove_files();
    tml_close(tml);
}

static uint64_t with_overlay(unsigned i)
{
    return (i * 683 & 0xfff) | (i % 3) << 14 | 0x1000;
}

/* Bits that are not used hold overlays in old files; signs reach from the highest used bit. */
TEST(bits_that_are_not_used)
{
    tml_context *tml = open_plain();
    for (unsigned sign = 0; sign < 2; sign++) {
        uint16_t expected[PIXELS];
        for (unsigned i = 0; i < PIXELS; i++) {
            int value = (int)(i * 683 & 0xfff);
            expected[i] = (uint16_t)(sign && value >= 2048 ? value - 4096 : value);
        }
        write_slice("a", &(slice){.stored = 12, .high = 11, .sign = sign, .sample = with_overlay},
                    0);
        expect_volume(tml, in_folder("a"), expected, 1, NULL, (double[3]){1, 1, 1});
    }
    remove_files();
    tml_close(tml);
}

/* Frames with functional groups: in sequences of stated and of unstated lengths, behind an icon
 * with rows and pixels of its own. change: 1 moves the last frame, 2 turns it. */
static void make_frames(dicom *d, coding c, bool is_stated, int change)
{
    const uint32_t unstated = UINT32_MAX;
    slice s = {.coding = c};
    size_t at[4];
    begin(d, &s);
#    define OPEN(i, tag, vr)                                                                       \
        do {                                                                                       \
            put_head(d, tag, vr, unstated);                                                        \
            at[i] = d->size;                                                                       \
        } while (0)
#    define CLOSE(i, end)                                                                          \
        do {                                                                                       \
            size_t size = d->size - at[i], behind = d->size;                                       \
            if (is_stated) {                                                                       \
                d->size = at[i] - 4;                                                               \
                put(d, size, 4);                                                                   \
                d->size = behind;                                                                  \
            } else {                                                                               \
                put_head(d, end, NULL, 0);                                                         \
            }                                                                                      \
        } while (0)
    /* where a reader cannot know that it is a sequence, it is passed over as a value */
    if (c != IMPLICIT) {
        OPEN(0, 0x00880200, "SQ");
        OPEN(1, 0xFFFEE000, NULL);
        put_count(d, 0x00280010, 1);
        put_text(d, 0x00200032, "DS", "9\\9\\9");
        put_head(d, 0x7FE00010, "OW", 2);
        put(d, 7, 2);
        CLOSE(1, 0xFFFEE00D);
        CLOSE(0, 0xFFFEE0DD);
    }
    put_image(d, &s, 3);
    OPEN(0, 0x52009229, "SQ");
    OPEN(1, 0xFFFEE000, NULL);
    OPEN(2, 0x00289110, "SQ");
    OPEN(3, 0xFFFEE000, NULL);
    put_text(d, 0x00280030, "DS", "2\\0.5");
    CLOSE(3, 0xFFFEE00D);
    CLOSE(2, 0xFFFEE0DD);
    CLOSE(1, 0xFFFEE00D);
    CLOSE(0, 0xFFFEE0DD);
    OPEN(0, 0x52009230, "SQ");
    for (int f = 0; f < 3; f++) {
        char position[64];
        snprintf(position, sizeof position, "0\\0\\%d", 4 * f + (f == 2 && change == 1));
        OPEN(1, 0xFFFEE000, NULL);
        OPEN(2, 0x00209113, "SQ");
        OPEN(3, 0xFFFEE000, NULL);
        put_text(d, 0x00200032, "DS", position);
        CLOSE(3, 0xFFFEE00D);
        CLOSE(2, 0xFFFEE0DD);
        OPEN(2, 0x00209116, "SQ");
        OPEN(3, 0xFFFEE000, NULL);
        put_text(d, 0x00200037, "DS", f == 2 && change == 2 ? "0\\1\\0\\1\\0\\0" : UPRIGHT);
        CLOSE(3, 0xFFFEE00D);
        CLOSE(2, 0xFFFEE0DD);
        CLOSE(1, 0xFFFEE00D);
    }
    CLOSE(0, 0xFFFEE0DD);
    put_pixels(d, &s, 3 * PIXELS, 0);
}

TEST(frames_of_one_file)
{
    static const double upright[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, spacing[3] = {0.5, 2, 4};
    uint16_t expected[3 * PIXELS];
    tml_context *tml = open_plain();
    for (unsigned i = 0; i < 3 * PIXELS; i++)
        expected[i] = (uint16_t)i;
    for (int c = 0; c < CODINGS; c++)
        for (int stated = 0; stated < 2; stated++)
            for (int change = 0; change < 3; change++) {
                dicom d;
                make_frames(&d, (coding)c, stated, change);
                if (change) {
                    expect_refusal(tml, "a", d.data, d.size, TML_ERROR_UNSUPPORTED, "no stack");
                    continue;
                }
                write_file("a", d.data, d.size);
                expect_volume(tml, in_folder("a"), expected, 3, upright, spacing);
                remove_files();
            }
    tml_close(tml);
}

/* ---- what files leave out or state in their own way ------------------------------------------ */

/* The volume of four slices or frames whose samples are 100 z + i. */
static void expect_four(tml_context *tml, const char *path, const double spacing[3],
                        const char *warning)
{
    uint16_t expected[4 * PIXELS];
    for (unsigned i = 0; i < 4 * PIXELS; i++)
        expected[i] = (uint16_t)(100 * (i / PIXELS) + i % PIXELS);
    warned[0] = '\0';
    expect_volume(tml, path, expected, 4, NULL, spacing);
    CHECK_WARNED(warning);
    const tml_load_desc strict = {.strict = true};
    tml_volume volume;
    tml_status status = tml_volume_load(tml, path, &strict, &volume);
    CHECK(status == (warning ? TML_ERROR_FILE_FORMAT : TML_OK));
    CHECK(!warning || strstr(tml_last_error(tml), warning));
    if (status == TML_OK) {
        CHECK_STR(volume.unit, "mm");
        tml_volume_free(tml, &volume);
    }
}

/* Writes slices 0 to 3 under names in another order. by: 0 neither location nor number, 1
 * InstanceNumber, 2 SliceLocation and a number that would mislead, 3 positions in space, 4
 * positions without orientation. */
static void write_four(slice s, int by)
{
    static const char *const names[2][4] = {{"c", "a", "d", "b"}, {"s1", "s2", "s9", "s10"}};
    for (unsigned i = 0; i < 4; i++) {
        char number[16], place[16], position[32];
        snprintf(number, sizeof number, "%u", by == 2 ? 9 - i : i + 1);
        snprintf(place, sizeof place, "%g", 3.0 * i - 4);
        snprintf(position, sizeof position, "1\\2\\%g", 3.0 * i);
        s.number = by == 1 || by == 2 ? number : NULL;
        s.location = by == 2 ? place : NULL;
        s.position = by >= 3 ? position : NULL;
        s.orientation = by == 3 ? UPRIGHT : s.orientation;
        write_slice(names[by == 0][i], &s, 100 * i);
    }
}

TEST(slices_without_positions_are_ordered_by_what_they_have)
{
    static const double one[3] = {0.5, 2, 1}, three[3] = {0.5, 2, 3}, four[3] = {0.5, 2, 4};
    static const struct {
        slice slice;
        int by;
        const double *spacing;
        const char *warning;
    } cases[] = {
        {{.thickness = "3"}, 1, three, "order of InstanceNumber, 3 apart, by SliceThickness"},
        {{.between = "4", .thickness = "3"}, 1, four, "InstanceNumber, 4 apart, by SpacingBetween"},
        {{.between = "0", .thickness = "3"}, 1, three, "by SliceThickness"},
        {{.thickness = "thin"}, 1, one, "InstanceNumber, 1 apart, by guess"},
        {{.thickness = "9"}, 2, three, "in the order of SliceLocation, 3 apart"},
        {{.thickness = "3"}, 0, three, "in the order of their files' names, 3 apart"},
        {{.thickness = "3", .orientation = UPRIGHT}, 1, three, "have no position"},
        {{.thickness = "9"}, 4, three, "in the order of the z of ImagePositionPatient, 3 apart"},
    };
    tml_context *tml = open_listening();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int c = 0; c < CODINGS; c++) {
            slice s = cases[i].slice;
            s.coding = (coding)c;
            s.spacing = "2\\0.5";
            write_four(s, cases[i].by);
            expect_four(tml, folder, cases[i].spacing, cases[i].warning);
            remove_files();
        }

    /* A number that is missing is told; one that is there twice, and slices of other places, are
     * refused. */
    tml_volume volume;
    const slice plain = {.spacing = "2\\0.5", .thickness = "3"};
    write_four(plain, 1);
    remove(in_folder("d")); /* number 3 */
    warned[0] = '\0';
    if (CHECK_OK(tml, tml_volume_load(tml, folder, NULL, &volume)))
        CHECK_EQ_U64(volume.grid.dims[2], 3);
    tml_volume_free(tml, &volume);
    CHECK_WARNED(
        "run from 1 to 4, but some are missing, and what is there is taken as neighbours: 1");
    slice other = plain;
    other.number = "2";
    write_slice("e", &other, 0);
    CHECK_STATUS(tml_volume_load(tml, folder, NULL, &volume), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), "a and e both have the number 2"));
    remove_files();
    write_four(plain, 2);
    other.location = "3";
    write_slice("e", &other, 0);
    remove(in_folder("d"));
    CHECK_STATUS(tml_volume_load(tml, in_folder("e"), NULL, &volume), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), "not equally spaced: 3 apart, but 4 between a and e"));
    remove_files();

    /* Of another size: left out, and told. */
    write_four(plain, 1);
    other = plain;
    other.rows = 2;
    other.number = "7";
    write_slice("e", &other, 0);
    warned[0] = '\0';
    if (CHECK_OK(tml, tml_volume_load(tml, in_folder("a"), NULL, &volume)))
        CHECK_EQ_U64(volume.grid.dims[2], 4);
    tml_volume_free(tml, &volume);
    CHECK_WARNED("another size, type or spacing, and no position, and are left out: 1");
    remove_files();
    tml_close(tml);
}

TEST(the_report_of_slices_without_positions_is_read)
{
    if (!test_full_data("reports/dicom_no_positions"))
        SKIP("TML_DATA is not set");
    static const char *const paths[] = {"reports/dicom_no_positions", "reports/dicom_no_preamble",
                                        "reports/dicom_frames_mixed.dcm"};
    tml_context *tml = open_listening();
    for (size_t k = 0; k < 3; k++) {
        tml_volume volume;
        warned[0] = '\0';
        if (!CHECK_OK(tml, tml_volume_load(tml, test_full_data(paths[k]), NULL, &volume)))
            continue;
        CHECK_EQ_U64(volume.grid.dims[2], 4);
        for (unsigned i = 0; i < 120 && volume.size == 240; i++)
            CHECK_EQ_U64(((uint16_t *)volume.data)[i], i % 6 * 10 + i / 6 % 5 * 3 + i / 30 * 7);
        CHECK_NEAR(volume.grid.spacing[2], 3, 1e-12);
        CHECK_STR(volume.unit, "mm");
        CHECK_WARNED(k == 0 ? "in the order of InstanceNumber, 3 apart" : NULL);
        tml_volume_free(tml, &volume);
    }
    tml_close(tml);
}

/* Without the 128 bytes and four letters that files should begin with, in each coding that can
 * be told. */
TEST(files_without_preamble_are_read)
{
    static const double spacing[3] = {0.5, 2, 3};
    tml_context *tml = open_listening();
    for (int bare = 1; bare <= 3; bare++)
        for (int c = 0; c < BIG_ENDIAN_EXPLICIT; c++) {
            write_four((slice){.coding = (coding)c, .bare = bare, .spacing = "2\\0.5"}, 3);
            expect_four(tml, folder, spacing, NULL);
            expect_four(tml, in_folder("d"), spacing, NULL);
            CHECK_STR(tml_file_format(tml, in_folder("d"), TML_FILE_VOLUME, NULL), "DICOM");
            remove_files();
        }

    /* Where the transfer syntax is missing or wrong, the first element shows the coding, which
     * is told. */
    static const char *const syntaxes[] = {"", "1.2.840.10008.1.2", "1.2.840.10008.1.2.1"};
    for (size_t i = 0; i < 3; i++)
        for (int c = 0; c < BIG_ENDIAN_EXPLICIT; c++) {
            bool is_right = i == (size_t)(c == IMPLICIT ? 1 : 2);
            write_four((slice){.coding = (coding)c, .syntax = syntaxes[i], .spacing = "2\\0.5"}, 3);
            expect_four(tml, folder, spacing,
                        is_right ? NULL : "taken as its first element is coded");
            remove_files();
        }

    /* Other files are not taken for it. */
    static const char *const others[] = {"\x08\0\x60\0\2\0\0\0\1\2\x18\0\x50\0\2\0\0\0"
                                         "3 "
                                         "\x20\0\xe\0\0\0\0\0",
                                         "\x08\0\x60\0\2\0\0\0CT\x08\0\x50\0\2\0\0\0"
                                         "3 "
                                         "\x20\0\xe\0\0\0\0\0"};
    for (size_t i = 0; i < 2; i++)
        expect_refusal(tml, "a", others[i], 28, TML_ERROR_FILE_FORMAT,
                       "none of the volume formats");
    tml_close(tml);
}

TEST(spacings_in_other_words)
{
    static const struct {
        const char *text, *detector;
        double rows, columns;
        const char *warning;
    } cases[] = {
        {" 2 \\ 0.5 ", NULL, 2, 0.5, NULL},
        {"2", NULL, 2, 2, "PixelSpacing is \"2\", which should be two lengths; taken as 2"},
        {"2\\0.5\\7", NULL, 2, 0.5, "taken as 2 from row to row and 0.5 from column to column"},
        {"2\\", NULL, 2, 2, "should be two lengths"},
        {"0\\0.5", NULL, 0.5, 0.5, "should be two lengths"},
        {"2,0.5", NULL, 2, 0.5, "should be two lengths"},
        {"2,0\\0,5", NULL, 2, 0.5, "should be two lengths"},
        {"2 0.5", NULL, 2, 0.5, "should be two lengths"},
        {"2", "3\\3", 2, 2, "should be two lengths"},
        {"", "2\\0.5", 2, 0.5, "spacing of its detector"},
        {"0\\0", "2\\0.5", 2, 0.5, "spacing of its detector"},
        {NULL, "2\\0.5", 2, 0.5, "spacing of its detector"},
        {"0\\0", NULL, 1, 1, "has no PixelSpacing; taken as 1 (give desc.spacing)"},
        {"", NULL, 1, 1, "has no PixelSpacing"},
        {NULL, NULL, 1, 1, "has no PixelSpacing"},
    };
    tml_context *tml = open_listening();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double spacing[3] = {cases[i].columns, cases[i].rows, 3};
        write_four((slice){.spacing = cases[i].text, .detector = cases[i].detector}, 3);
        expect_four(tml, folder, spacing, cases[i].warning);
        remove_files();
    }
    /* What is no length at all is refused; the remedy of the message works, and is no
     * assumption. */
    const tml_load_desc desc = {.spacing = {1, 2, 3}, .strict = true};
    tml_volume volume;
    write_four((slice){.spacing = "x\\y"}, 3);
    CHECK_STATUS(tml_volume_load(tml, folder, NULL, &volume), TML_ERROR_FILE_FORMAT);
    CHECK(strstr(tml_last_error(tml), "give desc.spacing"));
    if (CHECK_OK(tml, tml_volume_load(tml, folder, &desc, &volume)))
        CHECK(volume.grid.spacing[1] == 2);
    tml_volume_free(tml, &volume);
    remove_files();
    tml_close(tml);
}

TEST(copies_of_an_image_are_left_out)
{
    static const double spacing[3] = {0.5, 2, 3};
    tml_context *tml = open_listening();
    write_four((slice){.spacing = "2\\0.5"}, 3);
    for (unsigned i = 0; i < 2; i++)
        write_slice(
            i ? "x" : "c",
            &(slice){
                .uid = "1.7", .position = "1\\2\\0", .orientation = UPRIGHT, .spacing = "2\\0.5"},
            0);
    expect_four(tml, folder, spacing, "copies of images that others have, and are left out: 1");
    write_slice(
        "x",
        &(slice){.uid = "1.8", .position = "1\\2\\0", .orientation = UPRIGHT, .spacing = "2\\0.5"},
        0);
    tml_volume volume;
    CHECK_STATUS(tml_volume_load(tml, folder, NULL, &volume), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), "two slices at one place, c and x"));
    remove_files();
    tml_close(tml);
}

/* A slice that is compressed is one of its series all the same. */
TEST(a_series_with_a_file_that_cannot_be_read_is_refused)
{
    tml_context *tml = open_listening();
    tml_volume volume;
    write_four((slice){.spacing = "2\\0.5"}, 3);
    write_slice("e",
                &(slice){.syntax = "1.2.840.10008.1.2.4.90",
                         .coding = EXPLICIT,
                         .position = "1\\2\\12",
                         .orientation = UPRIGHT},
                0);
    CHECK_STATUS(tml_volume_load(tml, folder, NULL, &volume), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), "a file that cannot be read: e: is compressed by JPEG 2000"));
    CHECK(strstr(tml_last_error(tml), "to leave it out, move it to another folder"));
    remove(in_folder("e"));
    CHECK_OK(tml, tml_volume_load(tml, folder, NULL, &volume));
    tml_volume_free(tml, &volume);
    write_slice("e", &(slice){.series = "1.9", .syntax = "1.2.840.10008.1.2.5", .coding = EXPLICIT},
                0);
    CHECK_STATUS(tml_volume_load(tml, folder, NULL, &volume), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), "several series (2)"));
    CHECK_OK(tml, tml_volume_load(tml, in_folder("a"), NULL, &volume));
    tml_volume_free(tml, &volume);
    CHECK_WARNED(NULL);
    write_slice("e", &(slice){.syntax = "1.2.840.10008.1.2.1.99", .coding = IMPLICIT}, 0);
    CHECK_OK(tml, tml_volume_load(tml, in_folder("a"), NULL, &volume));
    tml_volume_free(tml, &volume);
    remove_files();
    tml_close(tml);
}

/* A folder of several series lists them; each is read by naming the file that the list has. */
TEST(several_series_are_listed)
{
    static const double spacing[3] = {0.5, 2, 3};
    tml_context *tml = open_listening();
    tml_volume volume;
    dicom frames;
    write_four((slice){.spacing = "2\\0.5", .description = "Bone"}, 3);
    write_slice(
        "x",
        &(slice){
            .series = "1.9", .position = "0\\0\\0", .orientation = UPRIGHT, .spacing = "2\\0.5"},
        0);
    make_frames(&frames, EXPLICIT, true, 0);
    write_file("y", frames.data, frames.size);
    CHECK_STATUS(tml_volume_load(tml, folder, NULL, &volume), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), "several series (3); name a file of the one that is meant"));
    CHECK(strstr(tml_last_error(tml),
                 "a (\"Bone\", 4 slices of 4 x 3), x (1 slice of 4 x 3), y (3 slices"));
    expect_four(tml, in_folder("a"), spacing, "have several frames, and are left out");
    if (CHECK_OK(tml, tml_volume_load(tml, in_folder("x"), NULL, &volume)))
        CHECK_EQ_U64(volume.grid.dims[2], 1);
    tml_volume_free(tml, &volume);
    if (CHECK_OK(tml, tml_volume_load(tml, in_folder("y"), NULL, &volume)))
        CHECK_EQ_U64(volume.grid.dims[2], 3);
    tml_volume_free(tml, &volume);
    remove_files();
    tml_close(tml);
}

/* Frames, at most four, with places and slopes of their own. */
static void put_some_frames(dicom *d, coding c, int count, const double *z,
                            const char *const *slopes)
{
    slice s = {.coding = c, .spacing = "2\\0.5", .orientation = UPRIGHT};
    begin(d, &s);
    put_image(d, &s, (unsigned)count);
    put_head(d, 0x52009230, "SQ", UINT32_MAX);
    for (int f = 0; f < count; f++) {
        char position[64];
        snprintf(position, sizeof position, "0\\0\\%g", z[f]);
        put_head(d, 0xFFFEE000, NULL, UINT32_MAX);
        put_head(d, 0x00209113, "SQ", UINT32_MAX);
        put_head(d, 0xFFFEE000, NULL, UINT32_MAX);
        put_text(d, 0x00200032, "DS", position);
        put_head(d, 0xFFFEE00D, NULL, 0);
        put_head(d, 0xFFFEE0DD, NULL, 0);
        if (slopes && slopes[f]) {
            put_head(d, 0x00289145, "SQ", UINT32_MAX);
            put_head(d, 0xFFFEE000, NULL, UINT32_MAX);
            put_text(d, 0x00281052, "DS", "-5");
            put_text(d, 0x00281053, "DS", slopes[f]);
            put_head(d, 0xFFFEE00D, NULL, 0);
            put_head(d, 0xFFFEE0DD, NULL, 0);
        }
        put_head(d, 0xFFFEE00D, NULL, 0);
    }
    put_head(d, 0xFFFEE0DD, NULL, 0);
    put_head(d, 0x7FE00010, "OW", 2 * (unsigned)count * PIXELS);
    for (int f = 0; f < count; f++)
        for (unsigned i = 0; i < PIXELS; i++)
            put(d, (uint64_t)(100 * z[f] / 3) + i, 2);
}

static void put_frames(dicom *d, coding c, const double z[4], const char *const *slopes)
{
    put_some_frames(d, c, 4, z, slopes);
}

/* A file of one frame may say everything as those of several do, and is a slice of its series. */
TEST(slices_that_are_files_of_one_frame)
{
    tml_context *tml = open_listening();
    tml_volume volume;
    dicom d;
    for (int apart = 0; apart < 2; apart++) {
        for (int i = 0; i < 3; i++) {
            const double z = 3 * i;
            const char *slope = apart && i == 1 ? "0.5" : "2";
            const char name[2] = {(char)('a' + i), '\0'};
            put_some_frames(&d, EXPLICIT, 1, &z, &slope);
            write_file(name, d.data, d.size);
        }
        if (CHECK_OK(tml, tml_volume_load(tml, folder, NULL, &volume))) {
            CHECK_EQ_U64(volume.grid.dims[2], 3);
            CHECK(volume.type == (apart ? TML_F32 : TML_U16));
            CHECK(volume.slope == (apart ? 1 : 2) && volume.intercept == (apart ? 0 : -5));
            if (volume.type == TML_F32)
                CHECK(((float *)volume.data)[PIXELS + 1] == 0.5f * 101 - 5 &&
                      ((float *)volume.data)[1] == 2.0f * 1 - 5);
        }
        tml_volume_free(tml, &volume);
    }
    CHECK_WARNED(NULL);
    remove_files();
    tml_close(tml);
}

TEST(frames_are_sorted_and_scaled_each_in_its_way)
{
    static const double orders[][4] = {{0, 3, 6, 9}, {6, 0, 9, 3}, {9, 6, 3, 0}};
    static const char *const slopes[4] = {"2", "0.5", "3", NULL}, *const alike[4] = {"2", "2", "2",
                                                                                     "2"};
    static const double spacing[3] = {0.5, 2, 3};
    tml_context *tml = open_listening();
    tml_volume volume;
    dicom d;
    for (int c = 0; c < CODINGS; c++)
        for (size_t o = 0; o < 3; o++) {
            put_frames(&d, (coding)c, orders[o], NULL);
            write_file("a", d.data, d.size);
            if (o < 2)
                expect_four(tml, in_folder("a"), spacing, NULL);
            else if (CHECK_OK(tml, tml_volume_load(tml, in_folder("a"), NULL, &volume))) {
                CHECK(volume.grid.origin[2] == 9 && volume.grid.direction[8] == -1);
                CHECK_EQ_U64(*(uint16_t *)volume.data, 300);
                tml_volume_free(tml, &volume);
            }
            put_frames(&d, (coding)c, orders[o], alike);
            write_file("a", d.data, d.size);
            if (CHECK_OK(tml, tml_volume_load(tml, in_folder("a"), NULL, &volume)))
                CHECK(volume.type == TML_U16 && volume.slope == 2 && volume.intercept == -5);
            tml_volume_free(tml, &volume);
            put_frames(&d, (coding)c, orders[o], slopes);
            write_file("a", d.data, d.size);
            if (!CHECK_OK(tml, tml_volume_load(tml, in_folder("a"), NULL, &volume)))
                continue;
            CHECK(volume.type == TML_F32 && volume.slope == 1 && volume.intercept == 0);
            for (unsigned z = 0; z < 4 && volume.type == TML_F32; z++)
                for (unsigned i = 0; i < PIXELS; i++) {
                    size_t f = 0; /* the frame that lies there */
                    unsigned place = o == 2 ? 3 - z : z;
                    while (orders[o][f] != 3.0 * place)
                        f++;
                    float stored = (float)(100 * place + i);
                    CHECK(((float *)volume.data)[z * PIXELS + i] ==
                          (f < 3 ? strtof(slopes[f], NULL) * stored - 5 : stored));
                }
            tml_volume_free(tml, &volume);
            cut_and_change("a", d.data, d.size, o ? 0 : d.size - 8 * (size_t)PIXELS, 1, 1 << 16);
        }
    static const double twice[4] = {0, 3, 3, 6}, apart[4] = {0, 3, 9, 12};
    put_frames(&d, EXPLICIT, twice, NULL);
    expect_refusal(tml, "a", d.data, d.size, TML_ERROR_UNSUPPORTED,
                   "frames 2 and 3 lie at one place");
    put_frames(&d, EXPLICIT, apart, NULL);
    expect_refusal(tml, "a", d.data, d.size, TML_ERROR_UNSUPPORTED,
                   "frames 2 and 3 are 6 apart, but others 3");
    remove_files();
    tml_close(tml);
}

TEST(files_that_are_not_read)
{
    static const struct {
        slice slice;
        tml_status status;
        const char *word;
    } cases[] = {
        {{.syntax = "1.2.840.10008.1.2.4.50"}, TML_ERROR_UNSUPPORTED, "JPEG (baseline)"},
        {{.syntax = "1.2.840.10008.1.2.4.70"}, TML_ERROR_UNSUPPORTED, "JPEG lossless"},
        {{.syntax = "1.2.840.10008.1.2.4.80"}, TML_ERROR_UNSUPPORTED, "JPEG-LS"},
        {{.syntax = "1.2.840.10008.1.2.5"}, TML_ERROR_UNSUPPORTED, "RLE"},
        {{.syntax = "1.2.840.10008.1.2.1.99"}, TML_ERROR_UNSUPPORTED, "deflate"},
        {{.syntax = "1.2.3"}, TML_ERROR_UNSUPPORTED, "something newer (transfer syntax 1.2.3)"},
        {{.spacing = "-2\\1"}, TML_ERROR_FILE_FORMAT, "above 0; give desc.spacing"},
        {{.spacing = "1\\nan"}, TML_ERROR_FILE_FORMAT, "\"1\\nan\", needs two lengths above 0"},
        {{.spacing = "2\\wide"}, TML_ERROR_FILE_FORMAT, "above 0; give desc.spacing"},
        {{.orientation = "1\\0\\0\\1\\0\\0"}, TML_ERROR_FILE_FORMAT, "right angle"},
        {{.stored = 17}, TML_ERROR_FILE_FORMAT, "17 bits"},
        {{.stored = 12, .high = 10}, TML_ERROR_FILE_FORMAT, "12 bits up to bit 10"},
    };
    tml_context *tml = open_plain();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dicom d;
        slice s = cases[i].slice;
        s.coding = EXPLICIT;
        make_slice(&d, &s, 0);
        expect_refusal(tml, "a", d.data, d.size, cases[i].status, cases[i].word);
    }
    dicom plan;
    begin(&plan, &(slice){.coding = EXPLICIT});
    expect_refusal(tml, "a", plan.data, plan.size, TML_ERROR_UNSUPPORTED, "without pixels");
    tml_close(tml);
}

TEST(files_cut_and_changed)
{
    dicom d;
    for (int c = 0; c < CODINGS; c++) {
        make_slice(&d,
                   &(slice){.coding = (coding)c,
                            .position = "0\\0\\0",
                            .orientation = UPRIGHT,
                            .slope = "2",
                            .spacing = "1\\1"},
                   0);
        cut_and_change("a", d.data, d.size, d.size - 2 * (size_t)PIXELS, 1, 1 << 16);
        make_slice(
            &d, &(slice){.coding = (coding)c, .bare = c != BIG_ENDIAN_EXPLICIT, .spacing = "2,1"},
            0);
        cut_and_change("a", d.data, d.size, d.size - 2 * (size_t)PIXELS, 1, 1 << 16);
        make_frames(&d, (coding)c, c == 1, 0);
        cut_and_change("a", d.data, d.size, d.size - 6 * (size_t)PIXELS, 1, 1 << 16);
    }
    FILE *file = fopen(test_data("volumes/dicom/rtdose.dcm"), "rb");
    d.size = file ? fread(d.data, 1, sizeof d.data, file) : 0;
    if (file)
        fclose(file);
    if (CHECK(d.size > 6000))
        cut_and_change("a", d.data, d.size, d.size - 6000, 1, 1 << 20);
}

#else
TEST(without_it_files_are_refused)
{
    char file[132] = "";
    memcpy(file + 128, "DICM", 4);
    tml_context *tml = open_plain();
    expect_refusal(tml, "a", file, sizeof file, TML_ERROR_UNSUPPORTED, "TML_DICOM");
    tml_close(tml);
}
#endif

int main(int argc, char **argv)
{
    return test_main_in_folder("dicom", argc, argv);
}
