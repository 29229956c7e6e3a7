/* Volume files: real ones against values that another reader gave, made-up ones for every corner of
 * every format, lying and cut-off headers, round trips, cancelling, failing memory and disks.
 *
 * The checksums (CRC-32 of the little-endian samples), sizes and geometry of real files were taken
 * with NumPy, from parsers that share nothing with this library. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#ifdef TML_PNG
#    include <png.h>
#endif
#ifdef TML_BZIP2
#    include <bzlib.h>
#endif
#include <sys/stat.h>

#include <trommel/pictures.h>
#include <trommel/points.h>

#include "io/volumes/volume_internal.h"
#include "test.h"

#include "folder.h"
#include "low_bytes.h"
#include "memory_watch.h"
#include "warned.h"

static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

/* ---- files of our own ------------------------------------------------------------------------ */

/* Bytes in the making: a header, then samples. */
typedef struct bytes {
    uint8_t data[65536];
    size_t size;
} bytes;

static void add(bytes *to, const void *data, size_t size)
{
    if (!CHECK(to->size + size <= sizeof to->data))
        return;
    memcpy(to->data + to->size, data, size);
    to->size += size;
}

static void add_text(bytes *to, const char *text)
{
    add(to, text, strlen(text));
}

static void put_at(bytes *to, size_t at, const void *value, size_t size, bool big)
{
    put_ordered(to->data + at, value, size, big);
    if (to->size < at + size)
        to->size = at + size;
}

static void put_i16(bytes *to, size_t at, int value, bool big)
{
    int16_t v = (int16_t)value;
    put_at(to, at, &v, sizeof v, big);
}

static void put_i32(bytes *to, size_t at, int32_t value, bool big)
{
    put_at(to, at, &value, sizeof value, big);
}

static void put_i64(bytes *to, size_t at, int64_t value, bool big)
{
    put_at(to, at, &value, sizeof value, big);
}

static void put_f32(bytes *to, size_t at, double value, bool big)
{
    float v = (float)value;
    put_at(to, at, &v, sizeof v, big);
}

static void put_f64(bytes *to, size_t at, double value, bool big)
{
    put_at(to, at, &value, sizeof value, big);
}

/* Value of sample i in made-up volumes: small enough for every type, and an own one for each i. */
static int pattern(uint64_t i)
{
    return (int)(i * 7 % 101);
}

/* A whole number from 0 to 2047 as IEEE binary16. */
static uint16_t half_of(int value)
{
    int exponent = 0;
    while (value >> (exponent + 1))
        exponent++;
    return value ? (uint16_t)((exponent + 15) << 10 | ((value << 10 >> exponent) & 0x3ff)) : 0;
}

/* A sample's value in its type, for values that every type holds. */
static size_t encode(tml_type type, int value, uint8_t out[8])
{
    return type == TML_F16 ? put_scalar(out, half_of(value), TML_U16, IS_BIG_ENDIAN)
                           : put_scalar(out, value, type, IS_BIG_ENDIAN);
}

/* Adds samples first, first + 1 ... of the pattern. */
static void add_samples(bytes *to, tml_type type, uint64_t first, uint64_t count, bool big)
{
    for (uint64_t i = first; i < first + count; i++) {
        uint8_t sample[8];
        size_t size = encode(type, pattern(i), sample);
        put_at(to, to->size, sample, size, big);
    }
}

/* Is sample i of the volume the value-th of the pattern? */
static bool sample_is(const tml_volume *volume, uint64_t i, uint64_t value)
{
    uint8_t sample[8];
    size_t size = encode(volume->type, pattern(value), sample);
    return memcmp((const uint8_t *)volume->data + i * size, sample, size) == 0;
}

/* Are the samples pattern(first), pattern(first + step) ...? */
static bool samples_are(const tml_volume *volume, uint64_t first, uint64_t step)
{
    uint64_t count = volume->grid.dims[0] * volume->grid.dims[1] * volume->grid.dims[2];
    bool good = volume->size == count * tml_type_size(volume->type);
    for (uint64_t i = 0; i < count && good; i++)
        good = sample_is(volume, i, first + i * step);
    return good;
}

/* The loader over an exact block, so that a sanitizer sees the first byte read past it. */
static tml_status load(tml_context *tml, const char *name, const bytes *from,
                       const tml_load_desc *desc, tml_volume *out)
{
    uint8_t *copy = malloc(from->size ? from->size : 1);
    memcpy(copy, from->data, from->size);
    tml_status status = tml_volume_load_memory(tml, name, copy, from->size, desc, out);
    free(copy);
    return status;
}

static bool dims_are(const tml_volume *volume, uint64_t x, uint64_t y, uint64_t z)
{
    const uint64_t *dims = volume->grid.dims;
    return dims[0] == x && dims[1] == y && dims[2] == z;
}

static bool near3(const double *a, double x, double y, double z)
{
    return fabs(a[0] - x) < 1e-5 && fabs(a[1] - y) < 1e-5 && fabs(a[2] - z) < 1e-5;
}

/* Column axis of the direction. */
static bool axis_is(const tml_volume *volume, int axis, double x, double y, double z)
{
    const double *d = volume->grid.direction;
    return near3((const double[]){d[axis], d[3 + axis], d[6 + axis]}, x, y, z);
}

/* Loads, compares the samples with pattern(first + i * step), frees. */
static void expect(tml_context *tml, const char *what, const char *name, const bytes *from,
                   uint32_t frame, uint64_t first, uint64_t step)
{
    tml_volume volume;
    tml_load_desc desc = {.frame = frame};
    tml_status status = load(tml, name, from, &desc, &volume);
    if (status != TML_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", what, tml_last_error(tml));
    else if (!samples_are(&volume, first, step))
        test_fail(__FILE__, __LINE__, "%s: samples are wrong", what);
    tml_volume_free(tml, &volume);
}

/* Loads something that must fail so, with a message that holds a word. */
static void expect_error(tml_context *tml, const char *what, const char *name, const bytes *from,
                         tml_status expected, const char *word)
{
    tml_volume volume;
    tml_status status = load(tml, name, from, NULL, &volume);
    if (status != expected || !strstr(tml_last_error(tml), word) || volume.data)
        test_fail(__FILE__, __LINE__, "%s: %s \"%s\", needs %s with \"%s\"", what,
                  tml_status_name(status), status ? tml_last_error(tml) : "",
                  tml_status_name(expected), word);
    tml_volume_free(tml, &volume);
}

static const tml_type all_types[] = {TML_U8,  TML_I8,  TML_U16, TML_I16, TML_U32, TML_I32,
                                     TML_U64, TML_I64, TML_F16, TML_F32, TML_F64};
enum { TYPE_COUNT = sizeof all_types / sizeof all_types[0] };

/* ---- real files ------------------------------------------------------------------------------ */

typedef struct real_file {
    const char *path, *format;
    uint64_t dims[3];
    tml_type type;
    uint32_t crc;
    double spacing[3], origin[3];
    const char *space;
} real_file;

#define LPS "left-posterior-superior"
#define RAS "right-anterior-superior"
#define G   0.0625

/* clang-format off */
/* Shipped with the sources. */
static const real_file shipped[] = {
    {"volumes/ball30_gz.nrrd", "NRRD", {30, 30, 30}, TML_I16, 0xe4bde59d, {1, 1, 1}, {0, 0, 0}, LPS},
    {"malformed/pynrrd_kv_byteskip.nrrd", "NRRD", {30, 30, 30}, TML_I16, 0xe4bde59d, {1, 1, 1}, {0, 0, 0}, LPS},
    {"volumes/brain1_label.nrrd", "NRRD", {256, 256, 25}, TML_I32, 0x0fc17a6b, {0.78125, 0.78125, 6.5}, {-99.609375, 99.609375, -78}, LPS},
    {"volumes/anatomical_be_int16.nii", "NIfTI-1", {33, 41, 25}, TML_I16, 0xf5071113, {2, 2, 2}, {32, -40, -16}, RAS},
    {"volumes/fuel_crop.nii.gz", "NIfTI-1", {64, 33, 32}, TML_U8, 0x5a11d17a, {1, 1, 1}, {-31, -16, -16}, RAS},
    {"volumes/nifti_types/float32_3x3x3.nii", "NIfTI-1", {3, 3, 3}, TML_F32, 0x348b6306, {1, 1, 1}, {0, 0, 0}, RAS},
    {"volumes/nifti_types/int16_3x3x3.nii", "NIfTI-1", {3, 3, 3}, TML_I16, 0xb154c46e, {1, 1, 1}, {0, 0, 0}, RAS},
    {"volumes/nifti_types/uint16_3x3x3.nii", "NIfTI-1", {3, 3, 3}, TML_U16, 0xb154c46e, {1, 1, 1}, {0, 0, 0}, RAS},
    {"volumes/nifti_types/uint8_3x3x3.nii", "NIfTI-1", {3, 3, 3}, TML_U8, 0x124d3279, {1, 1, 1}, {0, 0, 0}, RAS},
    {"volumes/ct_lung_small.mha", "MetaImage", {57, 78, 64}, TML_I16, 0x1ab9c7dc, {2.732, 2.732, 5}, {-152.461, -148.986, -1432}, LPS},
    {"volumes/EMD-3197.map", "MRC", {20, 20, 20}, TML_F32, 0xb9bc6fbc, {11.4, 11.4, 11.4}, {-22.8, 0, 0}, ""},
    {"engine_256x256x128_uint8.raw.gz", "raw", {256, 256, 128}, TML_U8, 0x9e845983, {1, 1, 1}, {0, 0, 0}, ""},
};

/* Of the whole collection. */
static const real_file collected[] = {
    {"volumes/ball30_raw.nrrd", "NRRD", {30, 30, 30}, TML_I16, 0xe4bde59d, {1, 1, 1}, {0, 0, 0}, LPS},
    {"volumes/brain1_image.nrrd", "NRRD", {256, 256, 25}, TML_I16, 0x2dba4966, {0.78125, 0.78125, 6.5}, {-99.609375, 99.609375, -78}, LPS},
    {"volumes/CT_pitch_aniso.nii.gz", "NIfTI-1", {175, 248, 58}, TML_U8, 0x03ab7932, {0.8125, 0.8125, 2.39704943}, {-69.02075958, -134.38560485, -13.56882095}, RAS},
    {"volumes/bigbrain_labels22.nii.gz", "NIfTI-1", {310, 374, 317}, TML_U8, 0x7c87ed0f, {0.5, 0.5, 0.5}, {-77, -109, -71}, RAS},
    {"volumes/ct_lung_mask.mha", "MetaImage", {115, 157, 129}, TML_U8, 0xf98cd9a7, {1.366, 1.366, 2.5}, {-153.827, -150.352, -1434.5}, LPS},
    {"volumes/fixed2d/fixed.mhd", "MetaImage", {256, 256, 1}, TML_I16, 0x8f4e9de3, {1, 1, 1}, {0, 0, 0}, LPS},
    {"volumes/nrrd/stack_u16_raw_big.nrrd", "NRRD", {64, 64, 10}, TML_U16, 0x4a9c1830, {0.4, 0.4, 2}, {0, 0, 0}, ""},
    {"volumes/nrrd/stack_u16_ascii.nrrd", "NRRD", {64, 64, 10}, TML_U16, 0x4a9c1830, {0.4, 0.4, 2}, {0, 0, 0}, ""},
    {"volumes/nrrd/stack_u16_hex.nrrd", "NRRD", {64, 64, 10}, TML_U16, 0x4a9c1830, {0.4, 0.4, 2}, {0, 0, 0}, ""},
    {"volumes/nrrd/stack_u16_gzip.nrrd", "NRRD", {64, 64, 10}, TML_U16, 0x4a9c1830, {0.4, 0.4, 2}, {0, 0, 0}, ""},
    {"volumes/nrrd/parts_backwards.nhdr", "NRRD", {64, 64, 10}, TML_U16, 0x044b9560, {0.4, 0.4, 2}, {0, 0, 0}, ""},
    {"volumes/nrrd/parts_list.nhdr", "NRRD", {64, 64, 10}, TML_U16, 0x4a9c1830, {0.4, 0.4, 2}, {0, 0, 0}, ""},
    {"volumes/nrrd/parts_pattern.nhdr", "NRRD", {64, 64, 10}, TML_U16, 0x4a9c1830, {0.4, 0.4, 2}, {0, 0, 0}, ""},
    {"volumes/nrrd/slabs_list.nhdr", "NRRD", {64, 64, 10}, TML_U16, 0x4a9c1830, {0.4, 0.4, 2}, {0, 0, 0}, ""},
#ifdef TML_BZIP2
    {"volumes/nrrd/stack_u16_bzip2.nrrd", "NRRD", {64, 64, 10}, TML_U16, 0x4a9c1830, {0.4, 0.4, 2}, {0, 0, 0}, ""},
    {"volumes/nrrd/detached_bzip2.nhdr", "NRRD", {64, 64, 10}, TML_U16, 0x4a9c1830, {0.4, 0.4, 2}, {0, 0, 0}, ""},
#endif
    {"topology/gaspar/case-03.1.nhdr", "NRRD", {33, 33, 33}, TML_F32, 0x4839c006, {G, G, G}, {0, 0, 0}, ""},
    {"topology/gaspar/case-04.1.nhdr", "NRRD", {33, 33, 33}, TML_F32, 0xf88aacac, {G, G, G}, {0, 0, 0}, ""},
    {"topology/gaspar/case-07.1.nhdr", "NRRD", {33, 33, 33}, TML_F32, 0xe0eb9f48, {G, G, G}, {0, 0, 0}, ""},
    {"topology/gaspar/case-10.1.nhdr", "NRRD", {33, 33, 33}, TML_F32, 0x392ab67d, {G, G, G}, {0, 0, 0}, ""},
    {"topology/gaspar/case-13.3.nhdr", "NRRD", {33, 33, 33}, TML_F32, 0x328fc669, {G, G, G}, {0, 0, 0}, ""},
    {"topology/gaspar/case-13.5.nhdr", "NRRD", {33, 33, 33}, TML_F32, 0xfd6e2196, {G, G, G}, {0, 0, 0}, ""},
    {"topology/gaspar/case-coarse-00.1.nhdr", "NRRD", {2, 2, 2}, TML_F32, 0xd19f8d97, {2, 2, 2}, {0, 0, 0}, ""},
    {"topology/gaspar/case-coarse-01.1.nhdr", "NRRD", {2, 2, 2}, TML_F32, 0xbb4b4c92, {2, 2, 2}, {0, 0, 0}, ""},
    {"topology/gaspar/case-coarse-02.1.nhdr", "NRRD", {2, 2, 2}, TML_F32, 0xf3ce5257, {2, 2, 2}, {0, 0, 0}, ""},
    {"topology/gaspar/case-coarse-03.1.nhdr", "NRRD", {2, 2, 2}, TML_F32, 0x1f54ff81, {2, 2, 2}, {0, 0, 0}, ""},
    {"topology/gaspar/case-coarse-04.1.nhdr", "NRRD", {2, 2, 2}, TML_F32, 0xab451eef, {2, 2, 2}, {0, 0, 0}, ""},
    {"topology/gaspar/case-coarse-05.1.nhdr", "NRRD", {2, 2, 2}, TML_F32, 0xcee2c712, {2, 2, 2}, {0, 0, 0}, ""},
    {"topology/gaspar/case-coarse-06.1.nhdr", "NRRD", {2, 2, 2}, TML_F32, 0x190f366d, {2, 2, 2}, {0, 0, 0}, ""},
    {"topology/gaspar/case-coarse-07.1.nhdr", "NRRD", {2, 2, 2}, TML_F32, 0x3f0a54f5, {2, 2, 2}, {0, 0, 0}, ""},
    {"topology/gaspar/case-coarse-07.3.nhdr", "NRRD", {2, 2, 2}, TML_F32, 0xe9bb837f, {2, 2, 2}, {0, 0, 0}, ""},
    {"topology/gaspar/case-coarse-08.1.nhdr", "NRRD", {2, 2, 2}, TML_F32, 0x2d62c3b6, {2, 2, 2}, {0, 0, 0}, ""},
    {"topology/gaspar/case-coarse-09.1.nhdr", "NRRD", {2, 2, 2}, TML_F32, 0x7159fbe5, {2, 2, 2}, {0, 0, 0}, ""},
    {"topology/gaspar/case-coarse-10.1.nhdr", "NRRD", {2, 2, 2}, TML_F32, 0x4290d23d, {2, 2, 2}, {0, 0, 0}, ""},
    {"topology/gaspar/case-coarse-11.1.nhdr", "NRRD", {2, 2, 2}, TML_F32, 0x30dcb3ac, {2, 2, 2}, {0, 0, 0}, ""},
    {"topology/gaspar/case-coarse-12.1.nhdr", "NRRD", {2, 2, 2}, TML_F32, 0x66ba3155, {2, 2, 2}, {0, 0, 0}, ""},
    {"topology/gaspar/case-coarse-13.1.nhdr", "NRRD", {2, 2, 2}, TML_F32, 0xccb5836d, {2, 2, 2}, {0, 0, 0}, ""},
    {"topology/gaspar/case-coarse-13.3.nhdr", "NRRD", {2, 2, 2}, TML_F32, 0x57eac55b, {2, 2, 2}, {0, 0, 0}, ""},
    {"topology/gaspar/case-coarse-13.5.nhdr", "NRRD", {2, 2, 2}, TML_F32, 0xf793a2b2, {2, 2, 2}, {0, 0, 0}, ""},
};
/* clang-format on */

static void check_real_file(tml_context *tml, const char *path, const real_file *expected)
{
    tml_volume volume;
    if (!CHECK_OK(tml, tml_volume_load(tml, path, NULL, &volume)))
        return;
    const tml_grid *grid = &volume.grid;
    const double *s = expected->spacing, *o = expected->origin;
    bool good = CHECK_STR(volume.format, expected->format);
    good &= CHECK_STR(volume.space, expected->space);
    good &= CHECK(dims_are(&volume, expected->dims[0], expected->dims[1], expected->dims[2]));
    good &= CHECK(volume.type == expected->type);
    tml_io_to_host(volume.data, tml_type_size(volume.type),
                   volume.size / tml_type_size(volume.type), false);
    good &= CHECK_EQ_U64(crc32_z(0, volume.data, volume.size), expected->crc);
    good &= CHECK(near3(grid->spacing, s[0], s[1], s[2]));
    good &= CHECK(near3(grid->origin, o[0], o[1], o[2]));
    good &= CHECK(volume.slope == 1 && volume.intercept == 0);
    if (!good)
        printf("  (%s)\n", path);
    tml_volume_free(tml, &volume);
    CHECK(volume.data == NULL);
}

TEST(shipped_files_have_the_values_that_another_reader_found)
{
    tml_context *tml = open_plain();
    for (size_t i = 0; i < sizeof shipped / sizeof shipped[0]; i++)
        check_real_file(tml, test_data(shipped[i].path), &shipped[i]);
    tml_close(tml);
}

TEST(collected_files_have_the_values_that_another_reader_found)
{
    if (!test_full_data("volumes/ball30_raw.nrrd"))
        SKIP("TML_DATA is not set");
    tml_context *tml = open_plain();
    for (size_t i = 0; i < sizeof collected / sizeof collected[0]; i++) {
        const char *path = test_full_data(collected[i].path);
        if (CHECK(path != NULL))
            check_real_file(tml, path, &collected[i]);
    }
    tml_close(tml);
}

TEST(axis_directions_of_real_files)
{
    tml_context *tml = open_plain();
    tml_volume volume;
    if (CHECK_OK(tml, tml_volume_load(tml, test_data("volumes/brain1_label.nrrd"), NULL, &volume)))
        CHECK(axis_is(&volume, 0, 1, 0, 0) && axis_is(&volume, 1, 0, -1, 0) &&
              axis_is(&volume, 2, 0, 0, 1));
    tml_volume_free(tml, &volume);
    if (CHECK_OK(tml, tml_volume_load(tml, test_data("volumes/anatomical_be_int16.nii"), NULL,
                                      &volume))) {
        CHECK(axis_is(&volume, 0, -1, 0, 0) && axis_is(&volume, 1, 0, 1, 0));
        CHECK_STR(volume.comment, "spm - 3D normalized");
    }
    tml_volume_free(tml, &volume);
    const char *oblique = test_full_data("volumes/CT_pitch_aniso.nii.gz");
    if (oblique && CHECK_OK(tml, tml_volume_load(tml, oblique, NULL, &volume))) {
        CHECK(axis_is(&volume, 1, 0, 0.95882, -0.284015));
        CHECK(axis_is(&volume, 2, 0, 0.284015, 0.95882));
        tml_volume_free(tml, &volume);
    }
    tml_close(tml);
}

TEST(malformed_files_get_an_error)
{
    static const char *const names[] = {
        "nifti-rs_crash-1.nii", "nifti-rs_crash-08123ef33416bd6f0c5fa63d44b681b8581d62a0.nii"};
    memory_watch watch;
    tml_context *tml = open_watched(&watch);
    tml_volume volume;
    for (size_t i = 0; i < 2; i++) {
        char path[256];
        snprintf(path, sizeof path, "malformed/%s", names[i]);
        CHECK_STATUS(tml_volume_load(tml, test_data(path), NULL, &volume), TML_ERROR_FILE_FORMAT);
        CHECK(strstr(tml_last_error(tml), names[i]) != NULL);
    }
    char all[512] = "";
    if (test_full_data("malformed"))
        snprintf(all, sizeof all, "%s", test_full_data("malformed"));
    DIR *directory = *all ? opendir(all) : NULL;
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, "pynrrd_kv_byteskip.nrrd") == 0)
            continue;
        tml_status status = tml_volume_load(tml, test_path(all, entry->d_name), NULL, &volume);
        if (status != TML_ERROR_FILE_FORMAT)
            test_fail(__FILE__, __LINE__, "%s: %s", entry->d_name, tml_status_name(status));
    }
    if (directory)
        closedir(directory);
    CHECK(watch.largest <= 4 << 20);
    tml_close(tml);
    CHECK_EQ_U64(watch.live, 0);
}

/* ---- NRRD ------------------------------------------------------------------------------------ */

static void nrrd_start(bytes *file, const char *fields)
{
    file->size = 0;
    add_text(file, "NRRD0004\n# a comment: not a field\n");
    add_text(file, fields);
}

TEST(nrrd_types_by_every_name_and_in_both_orders)
{
    static const struct {
        const char *name;
        tml_type type;
    } names[] = {{"signed char", TML_I8},
                 {"int8", TML_I8},
                 {"int8_t", TML_I8},
                 {"uchar", TML_U8},
                 {"unsigned char", TML_U8},
                 {"uint8", TML_U8},
                 {"uint8_t", TML_U8},
                 {"short", TML_I16},
                 {"short int", TML_I16},
                 {"signed short", TML_I16},
                 {"signed short int", TML_I16},
                 {"int16", TML_I16},
                 {"int16_t", TML_I16},
                 {"ushort", TML_U16},
                 {"unsigned short", TML_U16},
                 {"unsigned short int", TML_U16},
                 {"uint16", TML_U16},
                 {"uint16_t", TML_U16},
                 {"int", TML_I32},
                 {"signed int", TML_I32},
                 {"int32", TML_I32},
                 {"int32_t", TML_I32},
                 {"uint", TML_U32},
                 {"unsigned int", TML_U32},
                 {"uint32", TML_U32},
                 {"uint32_t", TML_U32},
                 {"longlong", TML_I64},
                 {"long long", TML_I64},
                 {"long long int", TML_I64},
                 {"signed long long", TML_I64},
                 {"signed long long int", TML_I64},
                 {"int64", TML_I64},
                 {"int64_t", TML_I64},
                 {"ulonglong", TML_U64},
                 {"unsigned long long", TML_U64},
                 {"unsigned long long int", TML_U64},
                 {"uint64", TML_U64},
                 {"uint64_t", TML_U64},
                 {"float", TML_F32},
                 {"double", TML_F64},
                 {"Unsigned Char", TML_U8}};
    tml_context *tml = open_plain();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        for (int big = 0; big < 2; big++) {
            static bytes file;
            char fields[256];
            snprintf(fields, sizeof fields,
                     "type: %s\ndimension: 3\nsizes: 5 3 2\nendian: %s\nencoding: raw\n\n",
                     names[i].name, big ? "big" : "little");
            nrrd_start(&file, fields);
            add_samples(&file, names[i].type, 0, 30, big);
            tml_volume volume;
            if (CHECK_OK(tml, load(tml, "a.nrrd", &file, NULL, &volume)))
                CHECK(volume.type == names[i].type && samples_are(&volume, 0, 1));
            tml_volume_free(tml, &volume);
        }
    tml_close(tml);
}

TEST(nrrd_encodings_and_skips)
{
    tml_context *tml = open_plain();
    static bytes file;
    nrrd_start(&file, "type: short\ndimension: 3\nsizes: 4 3 2\nencoding: ascii\n\n");
    for (uint64_t i = 0; i < 24; i++) {
        char number[16];
        snprintf(number, sizeof number, "%s%d", i % 5 ? "  " : "\r\n\t", pattern(i));
        add_text(&file, number);
    }
    expect(tml, "ascii", "a", &file, 0, 0, 1);
    nrrd_start(&file, "type: uchar\ndimension: 1\nsizes: 3\nencoding: text\n\n1 256 3");
    expect_error(tml, "256 as uchar", "a", &file, TML_ERROR_FILE_FORMAT, "number 1 is \"256\"");
    nrrd_start(&file, "type: uchar\ndimension: 1\nsizes: 3\nencoding: txt\n\n1 2   ");
    expect_error(tml, "too few numbers", "a", &file, TML_ERROR_FILE_FORMAT, "needs 3");
    nrrd_start(&file, "type: schar\ndimension: 1\nsizes: 3\nencoding: hex\n\n");
    expect_error(tml, "no such type", "a", &file, TML_ERROR_FILE_FORMAT, "type is \"schar\"");
    nrrd_start(&file, "type: char\ndimension: 1\nsizes: 3\nencoding: hex\n\n");
    expect_error(tml, "char has no sign", "a", &file, TML_ERROR_FILE_FORMAT, "type");
    nrrd_start(&file, "type: uchar\ndimension: 1\nsizes: 3\nencoding: hex\n\n0001\n 0g");
    expect_error(tml, "no hex", "a", &file, TML_ERROR_FILE_FORMAT, "no hexadecimal digit");
    file.data[file.size - 1] = ' ';
    expect_error(tml, "half a byte", "a", &file, TML_ERROR_FILE_FORMAT, "needs 3");
    nrrd_start(&file, "type: uchar\ndimension: 1\nsizes: 3\nencoding: xz\n\n");
    expect_error(tml, "xz", "a", &file, TML_ERROR_UNSUPPORTED, "unu save");
    nrrd_start(&file, "type: short\ndimension: 3\nsizes: 4 3 2\nencoding: hex\nendian: big\n\n");
    for (uint64_t i = 0; i < 24; i++) {
        char digits[16];
        snprintf(digits, sizeof digits, i % 5 ? "%04x" : "%02X\r\n%02X ",
                 pattern(i) >> (i % 5 ? 0 : 8), pattern(i) & 255);
        add_text(&file, digits);
    }
    expect(tml, "hex", "a", &file, 0, 0, 1);
    nrrd_start(&file, "type: block\nblock size: 7\ndimension: 1\nsizes: 3\nencoding: raw\n\n");
    expect_error(tml, "block", "a", &file, TML_ERROR_UNSUPPORTED, "block");
    nrrd_start(&file, "type: short\ndimension: 1\nsizes: 3\nencoding: raw\n\n123456");
    expect_error(tml, "no endian", "a", &file, TML_ERROR_FILE_FORMAT, "endian");
    nrrd_start(&file, "type: ascii\ndimension: 1\nsizes: 3\n\n");
    file.data[7] = '6';
    expect_error(tml, "version 6", "a", &file, TML_ERROR_FILE_FORMAT, "NRRD0006");

    nrrd_start(&file, "type: uchar\ndimension: 2\nsizes: 5 3\nencoding: raw\nline skip: 2\n"
                      "byte skip: 3\nkey:=value: with colon\nbyte skip:= 99\n\n"
                      "first line\nsecond line\nabc");
    add_samples(&file, TML_U8, 0, 15, false);
    expect(tml, "line and byte skip", "a", &file, 0, 0, 1);
    nrrd_start(&file, "type: uchar\ndimension: 2\nsizes: 5 3\nencoding: raw\nbyte skip: -1\n\n"
                      "anything at all");
    add_samples(&file, TML_U8, 0, 15, false);
    expect(tml, "byte skip -1", "a", &file, 0, 0, 1);
    nrrd_start(&file, "type: uchar\ndimension: 2\nsizes: 5 3\nencoding: gzip\nbyte skip: -1\n\n");
    expect_error(tml, "byte skip -1 of gzip", "a", &file, TML_ERROR_FILE_FORMAT, "byte skip");
    nrrd_start(&file, "type: uchar\ndimension: 2\nsizes: 5 3\nencoding: raw\nline skip: 9\n\nx\n");
    expect_error(tml, "too few lines", "a", &file, TML_ERROR_FILE_FORMAT, "lines");
    tml_close(tml);
}

/* gzip of the samples, with n more or fewer bytes than they are. */
static void add_gzip(bytes *to, const uint8_t *data, size_t size)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)size};
    CHECK(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    z.next_out = to->data + to->size;
    z.avail_out = (uInt)(sizeof to->data - to->size);
    CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
    to->size += z.total_out;
    deflateEnd(&z);
}

TEST(nrrd_gzip_must_hold_just_what_the_header_says)
{
    tml_context *tml = open_plain();
    static bytes file, samples;
    static const char fields[] = "type: ushort\ndimension: 3\nsizes: 9 8 7\nendian: little\n"
                                 "encoding: gz\nbyte skip: 2\n\n";
    samples.size = 0;
    add_text(&samples, "ab"); /* skipped after inflating */
    add_samples(&samples, TML_U16, 0, 9 * 8 * 7 + 1, false);
    const size_t whole = samples.size - 2;

    nrrd_start(&file, fields);
    add_gzip(&file, samples.data, whole);
    expect(tml, "exact", "a", &file, 0, 0, 1);
    size_t good = file.size;
    add(&file, "\0\0\0\0\0\0", 6);
    expect(tml, "padded", "a", &file, 0, 0, 1);
    file.size = good - 5;
    expect_error(tml, "cut in the checksum", "a", &file, TML_ERROR_FILE_FORMAT, "cut short");
    file.size = good - 40;
    expect_error(tml, "cut in the data", "a", &file, TML_ERROR_FILE_FORMAT, "cut short");
    file.size = good;
    file.data[good - 7] ^= 1;
    expect_error(tml, "wrong checksum", "a", &file, TML_ERROR_FILE_FORMAT, "damaged");

    nrrd_start(&file, fields);
    add_gzip(&file, samples.data, whole - 1);
    expect_error(tml, "one byte less", "a", &file, TML_ERROR_FILE_FORMAT,
                 "1 bytes before its samples do");
    nrrd_start(&file, fields);
    add_gzip(&file, samples.data, whole + 1);
    expect(tml, "one byte more", "a", &file, 0, 0, 1);
    file.data[file.size - 7] ^= 1;
    expect_error(tml, "wrong checksum behind more", "a", &file, TML_ERROR_FILE_FORMAT, "damaged");

    nrrd_start(&file, fields); /* members one after another, an empty one among them */
    add_gzip(&file, samples.data, 100);
    add_gzip(&file, samples.data, 0);
    add_gzip(&file, samples.data + 100, whole - 100);
    expect(tml, "members", "a", &file, 0, 0, 1);
    tml_close(tml);
}

#ifdef TML_BZIP2
static void add_bzip2(bytes *to, const uint8_t *data, size_t size)
{
    unsigned room = (unsigned)(sizeof to->data - to->size);
    CHECK(BZ2_bzBuffToBuffCompress((char *)to->data + to->size, &room, (char *)(uintptr_t)data,
                                   (unsigned)size, 1, 0, 0) == BZ_OK);
    to->size += room;
}

TEST(nrrd_bzip2_must_hold_just_what_the_header_says)
{
    memory_watch watch;
    tml_context *tml = open_watched(&watch);
    static bytes file, samples;
    static const char fields[] = "type: ushort\ndimension: 3\nsizes: 9 8 7\nendian: little\n"
                                 "encoding: bzip2\nbyte skip: 2\n\n";
    samples.size = 0;
    add_text(&samples, "ab");
    add_samples(&samples, TML_U16, 0, 9 * 8 * 7, false);
    nrrd_start(&file, fields);
    add_bzip2(&file, samples.data, samples.size);
    expect(tml, "exact", "a", &file, 0, 0, 1);
    size_t whole = file.size;
    for (size_t cut = strlen(fields) + 40; cut < whole; cut++) {
        file.size = cut;
        expect_error(tml, "cut", "a", &file, TML_ERROR_FILE_FORMAT, "bzip2 data are cut short");
    }
    file.size = whole;
    file.data[whole - 30] ^= 1;
    expect_error(tml, "changed", "a", &file, TML_ERROR_FILE_FORMAT, "damaged");
    nrrd_start(&file, fields);
    add_bzip2(&file, samples.data, samples.size - 1);
    expect_error(tml, "one byte less", "a", &file, TML_ERROR_FILE_FORMAT,
                 "1 bytes before its samples do");
    nrrd_start(&file, fields); /* streams one after another */
    add_bzip2(&file, samples.data, 100);
    add_bzip2(&file, samples.data + 100, samples.size - 100);
    add_text(&file, "padding");
    expect(tml, "two streams", "a", &file, 0, 0, 1);
    nrrd_start(&file, "type: uchar\ndimension: 3\nsizes: 99999 99999 99\nencoding: bz2\n\n");
    add_bzip2(&file, samples.data, samples.size);
    expect_error(tml, "a lie", "a", &file, TML_ERROR_FILE_FORMAT, "cannot make");
    for (uint64_t fail = 1; fail < 12; fail++) { /* each request for memory may get none */
        tml_volume volume;
        nrrd_start(&file, fields);
        add_bzip2(&file, samples.data, samples.size);
        watch.fail_at = watch.count + fail;
        tml_status status = load(tml, "a", &file, NULL, &volume);
        CHECK(status == TML_OK || status == TML_ERROR_OUT_OF_MEMORY);
        tml_volume_free(tml, &volume);
    }
    tml_close(tml);
    CHECK_EQ_U64(watch.live, 0);
}
#endif

TEST(nrrd_data_files_beside_the_header)
{
    tml_context *tml = open_plain();
    static bytes part, header;
    for (int i = 0; i < 4; i++) { /* four slices of 6 x 5, each after a line and 2 bytes */
        char name[32];
        part.size = 0;
        add_text(&part, "slice\n..");
        add_samples(&part, TML_I16, 30 * (uint64_t)i, 30, true);
        snprintf(name, sizeof name, "slice%03d.bin", 10 - 2 * i);
        write_file(name, part.data, part.size);
        part.size = 0;
        add_samples(&part, TML_I16, 0, 120, true);
        write_file("whole volume.raw", part.data, part.size);
    }
    static const char start[] = "NRRD0002\ntype: short\ndimension: 3\nsizes: 6 5 4\nendian: big\n";
    static const struct {
        const char *fields;
        tml_status status;
    } cases[] = {
        {"encoding: raw\ndata file: whole volume.raw\n", TML_OK},
        {"encoding: raw\ndatafile: ./whole volume.raw", TML_OK},
        {"encoding: raw\nbyteskip: -1\ndata file: whole volume.raw\n\n", TML_OK},
        {"encoding: raw\nline skip: 1\nbyte skip: 2\ndata file: slice%03d.bin 10 4 -2\n", TML_OK},
        {"encoding: raw\nlineskip: 1\nbyte skip: 2\ndata file: slice%03d.bin 10 4 -2 2\n", TML_OK},
        {"encoding: raw\nline skip: 1\nbyte skip: 2\ndata file: slice%03d.bin 10 4 -2 3\n", TML_OK},
        {"encoding: raw\nbyte skip: -1\ndata file: slice%03d.bin 10 4 -2\n", TML_OK},
        {"encoding: raw\nbyte skip: -1\ndata file: LIST\nslice010.bin\nslice008.bin\n"
         "\nslice006.bin\n slice004.bin \n",
         TML_OK},
        {"encoding: raw\nbyte skip: -1\ndata file: LIST 2\nslice010.bin\nslice008.bin\n"
         "slice006.bin\nslice004.bin",
         TML_OK},
        {"encoding: raw\nbyte skip: -1\ndata file: LIST 2\nslice010.bin\nslice008.bin\n",
         TML_ERROR_FILE_FORMAT},
        {"encoding: raw\ndata file: slice%03d.bin 10 2 -2\n", TML_ERROR_FILE_FORMAT},
        {"encoding: raw\ndata file: slice%03d.bin 10 4 2\n", TML_ERROR_FILE_FORMAT},
        {"encoding: raw\ndata file: slice%03d.bin 10 4 0\n", TML_ERROR_FILE_FORMAT},
        {"encoding: raw\ndata file: slice%03d.bin 1 4 1\n", TML_ERROR_FILE_ACCESS},
        {"encoding: raw\ndata file: slice%n.bin 10 4 -2\n", TML_ERROR_FILE_ACCESS},
        {"encoding: raw\ndata file: none.raw\n", TML_ERROR_FILE_ACCESS},
        {"encoding: raw\ndata file: ../none.raw\n", TML_ERROR_UNSUPPORTED},
        {"encoding: raw\ndata file: a/../../none.raw\n", TML_ERROR_UNSUPPORTED},
        {"encoding: raw\ndata file: /etc/passwd\n", TML_ERROR_UNSUPPORTED},
        {"encoding: raw\ndata file: LIST\n/etc/passwd\na\nb\nc\n", TML_ERROR_UNSUPPORTED},
        {"encoding: raw\ndata file: slice010.bin\n", TML_ERROR_FILE_FORMAT},
        {"encoding: raw\ndata file: .\n", TML_ERROR_FILE_ACCESS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        header.size = 0;
        add_text(&header, start);
        add_text(&header, cases[i].fields);
        write_file("a.nhdr", header.data, header.size);
        tml_volume volume;
        tml_status status = tml_volume_load(tml, in_folder("a.nhdr"), NULL, &volume);
        if (status != cases[i].status || (status == TML_OK && !samples_are(&volume, 0, 1)))
            test_fail(__FILE__, __LINE__, "%s: %s %s", cases[i].fields, tml_status_name(status),
                      status ? tml_last_error(tml) : "");
        tml_volume_free(tml, &volume);
    }
    remove_files();
    tml_close(tml);
}

TEST(nrrd_axes_of_space_and_others)
{
    tml_context *tml = open_plain();
    static bytes file;
    /* Which samples does a frame take? first + i * step, for 24 voxels among 72 samples. */
    static const struct {
        const char *fields;
        uint32_t frame;
        uint64_t first, step, dims[3];
    } cases[] = {
        {"dimension: 4\nsizes: 4 3 2 3\n", 2, 48, 1, {4, 3, 2}},
        {"dimension: 4\nsizes: 3 4 3 2\nkinds: vector domain domain domain\n", 1, 1, 3, {4, 3, 2}},
        {"dimension: 4\nsizes: 4 3 2 3\nkinds: space space space list\n", 1, 24, 1, {4, 3, 2}},
        {"dimension: 4\nsizes: 3 4 3 2\nspace: RAS\n"
         "space directions: none (1,0,0) (0,1,0) (0,0,1)\n",
         2,
         2,
         3,
         {4, 3, 2}},
        {"dimension: 3\nsizes: 3 6 4\nkinds: RGB-color domain domain\n", 0, 0, 3, {6, 4, 1}},
        {"dimension: 5\nsizes: 4 3 2 1 3\n", 1, 24, 1, {4, 3, 2}},
        {"dimension: 5\nsizes: 4 3 2 1 3\nkinds: domain domain domain domain time\n",
         1,
         24,
         1,
         {4, 3, 2}},
        {"dimension: 1\nsizes: 72\n", 0, 0, 1, {72, 1, 1}},
        {"dimension: 2\nsizes: 12 6\n", 0, 0, 1, {12, 6, 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nrrd_start(&file, "type: uchar\nencoding: raw\n");
        add_text(&file, cases[i].fields);
        add_text(&file, "\n");
        add_samples(&file, TML_U8, 0, 72, false);
        tml_volume volume;
        tml_load_desc desc = {.frame = cases[i].frame};
        if (CHECK_OK(tml, load(tml, "a", &file, &desc, &volume))) {
            const uint64_t *d = cases[i].dims;
            if (!dims_are(&volume, d[0], d[1], d[2]) ||
                volume.frame_count != 72 / (d[0] * d[1] * d[2]) ||
                !samples_are(&volume, cases[i].first, cases[i].step))
                test_fail(__FILE__, __LINE__, "%s", cases[i].fields);
        }
        tml_volume_free(tml, &volume);
    }
    /* The components between two axes of space: runs of 12, 24 apart. */
    nrrd_start(&file, "type: uchar\nencoding: raw\ndimension: 4\nsizes: 4 3 2 3\n"
                      "kinds: domain domain list domain\n\n");
    add_samples(&file, TML_U8, 0, 72, false);
    tml_volume volume;
    if (CHECK_OK(tml, load(tml, "a", &file, &(tml_load_desc){.frame = 1}, &volume)))
        for (uint64_t k = 0; k < 3; k++)
            CHECK(sample_is(&volume, 12 * k, 24 * k + 12) &&
                  sample_is(&volume, 12 * k + 11, 24 * k + 23));
    tml_volume_free(tml, &volume);
    CHECK_STATUS(load(tml, "a", &file, &(tml_load_desc){.frame = 2}, &volume),
                 TML_ERROR_INVALID_ARGUMENT);
    nrrd_start(&file, "type: uchar\nencoding: raw\ndimension: 5\nsizes: 2 3 2 3 2\n\n");
    add_samples(&file, TML_U8, 0, 72, false);
    expect_error(tml, "five axes", "a", &file, TML_ERROR_UNSUPPORTED, "spatial axes");
    nrrd_start(&file, "type: uchar\nencoding: raw\ndimension: 5\nsizes: 2 3 2 3 2\n"
                      "kinds: list domain list domain domain\n\n");
    add_samples(&file, TML_U8, 0, 72, false);
    expect_error(tml, "two places", "a", &file, TML_ERROR_UNSUPPORTED, "unu permute");
    tml_close(tml);
}

TEST(nrrd_geometry)
{
    tml_context *tml = open_plain();
    static bytes file;
    tml_volume volume;
    nrrd_start(&file, "type: uchar\nencoding: raw\ndimension: 3\nsizes: 2 2 2\nspace: LAS\n"
                      "space directions: (0, 2, 0) (-3,0,0)   (0,0,0.5)\n"
                      "space origin: ( 1e1 ,-20,.5)\ncontent: a head\n\n");
    add_samples(&file, TML_U8, 0, 8, false);
    if (CHECK_OK(tml, load(tml, "a", &file, NULL, &volume))) {
        CHECK(near3(volume.grid.spacing, 2, 3, 0.5) && near3(volume.grid.origin, 10, -20, 0.5));
        CHECK(axis_is(&volume, 0, 0, 1, 0) && axis_is(&volume, 1, -1, 0, 0) &&
              axis_is(&volume, 2, 0, 0, 1));
        CHECK_STR(volume.space, "left-anterior-superior");
        CHECK_STR(volume.comment, "a head");
    }
    tml_volume_free(tml, &volume);
    if (CHECK_OK(tml, load(tml, "a", &file, &(tml_load_desc){.spacing = {0, 9, 0}}, &volume)))
        CHECK(near3(volume.grid.spacing, 2, 9, 0.5) && axis_is(&volume, 1, -1, 0, 0));
    tml_volume_free(tml, &volume);

    nrrd_start(&file, "type: uchar\nencoding: raw\ndimension: 2\nsizes: 4 2\nspace dimension: 3\n"
                      "space directions: (0,2,0) (0,0,4)\nspace origin: (7,8,9)\n\n");
    add_samples(&file, TML_U8, 0, 8, false);
    if (CHECK_OK(tml, load(tml, "a", &file, NULL, &volume)))
        CHECK(dims_are(&volume, 4, 2, 1) && axis_is(&volume, 2, 1, 0, 0) &&
              near3(volume.grid.spacing, 2, 4, 1));
    tml_volume_free(tml, &volume);

    nrrd_start(&file, "type: uchar\nencoding: raw\ndimension: 2\nsizes: 4 2\nspace dimension: 2\n"
                      "space directions: (2,0) (0,4)\nspace origin: (7,8)\n\n");
    add_samples(&file, TML_U8, 0, 8, false);
    if (CHECK_OK(tml, load(tml, "a", &file, NULL, &volume)))
        CHECK(near3(volume.grid.spacing, 2, 4, 1) && near3(volume.grid.origin, 7, 8, 0));
    tml_volume_free(tml, &volume);

    static const char *const bad[] = {
        "spacings: 1 nan 1\n",
        "spacings: 1 0 1\n",
        "spacings: 1 1\n",
        "spacings: 1 1 inf\n",
        "space: RAS\nspace directions: (1,0,0) (0,0,0) (0,0,1)\n",
        "space: RAS\nspace directions: (1,0,0) (0,1,0) (1,1,0)\n",
        "space: RAS\nspace directions: (1,0,0) (0,nan,0) (0,0,1)\n",
        "space: RAS\nspace directions: (1,0,0) (0,1,0)\n",
        "space: RAS\nspace directions: (1,0,0) (0,1,0) (0,0\n",
        "space: RAS\nspace directions: (1,0,0) (0,1,0) (0,0,1,2)\n",
        "space: RAS\nspace origin: (0,0,inf)\n",
        "space dimension: 4\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        nrrd_start(&file, "type: uchar\nencoding: raw\ndimension: 3\nsizes: 2 2 2\n");
        add_text(&file, bad[i]);
        add_text(&file, "\n12345678");
        expect_error(tml, bad[i], "a", &file, TML_ERROR_FILE_FORMAT, "a:");
    }
    nrrd_start(&file, "type: uchar\nencoding: raw\ndimension: 3\nsizes: 2 2 2\n"
                      "spacings: nan 1 1\n\n12345678");
    CHECK_OK(tml, load(tml, "a", &file, &(tml_load_desc){.spacing = {3, 0, 0}}, &volume));
    CHECK(near3(volume.grid.spacing, 3, 1, 1));
    tml_volume_free(tml, &volume);
    CHECK_STATUS(load(tml, "a", &file, &(tml_load_desc){.spacing = {-3, 0, 0}}, &volume),
                 TML_ERROR_INVALID_ARGUMENT);
    tml_close(tml);
}

TEST(nrrd_units_bounds_and_other_fields)
{
    static const struct {
        const char *fields;
        double spacing[3], origin[3];
        const char *unit, *warning;
    } cases[] = {
        {"space: LPS\nspace directions: (1,0,0) (0,2,0) (0,0,3)\nspace units: \"mm\" \"mm\" "
         "\"mm\"\n",
         {1, 2, 3},
         {0, 0, 0},
         "mm",
         NULL},
        {"space: LPS\nspace directions: (1,0,0) (0,2,0) (0,0,3)\nspace units: \"microns\" "
         "\"microns\" \"mm\"\n"
         "space origin: (5,6,7)\n",
         {1, 2, 3000},
         {5, 6, 7000},
         "\u00b5m",
         NULL},
        {"spacings: 1 2 3\nunits: \"nm\" \"nm\" \"\u00b5m\"\n",
         {1, 2, 3000},
         {0, 0, 0},
         "nm",
         NULL},
        {"SPACINGS: 1 2 3  \nUnits: mm mm mm\r\n", {1, 2, 3}, {0, 0, 0}, "mm", NULL},
        {"spacings: 1 2 3\nunits: \"mm\" \"mm\" \"s\"\n",
         {1, 2, 3},
         {0, 0, 0},
         "",
         "units \"mm\" and \"s\""},
        {"spacings: 1 2 3\nunits: \"\" \"\" \"\"\n", {1, 2, 3}, {0, 0, 0}, "", NULL},
        {"axis mins: 0 10 -3\naxis maxs: 4 14 3\ncenters: cell cell cell\n",
         {2, 2, 3},
         {1, 11, -1.5},
         "",
         NULL},
        {"axismins: 0 10 -3\naxismaxs: 4 14 3\ncenterings: node node cell\n",
         {4, 4, 3},
         {0, 10, -1.5},
         "",
         NULL},
        {"axis mins: 0 10 -3\naxis maxs: 4 14 3\n", {2, 2, 3}, {1, 11, -1.5}, "", "taken as cells"},
        {"spacings: 1 2 3\naxis mins: 0 10 -3\naxis maxs: 4 14 3\n",
         {1, 2, 3},
         {0, 0, 0},
         "",
         NULL},
        {"spacings: 1 2 3\nold min: -1\nold max: 4\n",
         {1, 2, 3},
         {0, 0, 0},
         "",
         "values were quantized"},
        {"space: RAS\nspacings: 1 2 3\nspace origin: none\n",
         {1, 2, 3},
         {0, 0, 0},
         "",
         "origin has no numbers"},
        {"space: RAS\nspacings: 1 2 3\nspace origin: (nan,nan,nan)\n",
         {1, 2, 3},
         {0, 0, 0},
         "",
         "taken as 0"},
        {"spacings: 1 2 3\nspacings: 1 2 3\n", {1, 2, 3}, {0, 0, 0}, "", NULL},
    };
    tml_context *tml = open_listening();
    static bytes file;
    tml_volume volume;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nrrd_start(&file, "type: uchar\nencoding: raw\ndimension: 3\nsizes: 2 2 2\n");
        add_text(&file, cases[i].fields);
        add_text(&file, "\n12345678");
        warned[0] = '\0';
        const double *s = cases[i].spacing, *o = cases[i].origin;
        if (CHECK_OK(tml, load(tml, "a", &file, NULL, &volume))) {
            if (!near3(volume.grid.spacing, s[0], s[1], s[2]) ||
                !near3(volume.grid.origin, o[0], o[1], o[2]))
                test_fail(__FILE__, __LINE__, "%s: spacing %g %g %g, origin %g %g %g",
                          cases[i].fields, volume.grid.spacing[0], volume.grid.spacing[1],
                          volume.grid.spacing[2], volume.grid.origin[0], volume.grid.origin[1],
                          volume.grid.origin[2]);
            CHECK_STR(volume.unit, cases[i].unit);
        }
        tml_volume_free(tml, &volume);
        CHECK_WARNED(cases[i].warning);
    }
    /* pynrrd has written "none" as a vector of no numbers. */
    nrrd_start(&file, "type: uchar\nencoding: raw\ndimension: 4\nsizes: 3 2 2 2\nspace: LPS\n"
                      "space directions: (nan,nan,nan) (1,0,0) (0,1,0) (0,0,1)\n\n");
    add_samples(&file, TML_U8, 0, 24, false);
    expect(tml, "nan vector", "a", &file, 2, 2, 3);
    nrrd_start(&file, "type: uchar\nencoding: raw\ndimension: 3\nsizes: 2 2 2\nspacings: 1 1 "
                      "1\nspacings: 1 1 2\n\n12345678");
    expect_error(tml, "twice", "a", &file, TML_ERROR_FILE_FORMAT,
                 "two fields \"spacings\" with different");
    tml_close(tml);
}

/* ---- NIfTI ----------------------------------------------------------------------------------- */

typedef struct nifti_case {
    int version;
    bool big, pair;
    int type, qform, sform, units;
    int64_t dims[8];
    double slope, intercept, pixdim[4], quatern[3], shift[3], srow[12];
    size_t offset; /* 0: at the least */
} nifti_case;

static void make_nifti(bytes *file, const nifti_case *c)
{
    bool big = c->big;
    memset(file, 0, sizeof *file);
    size_t least = c->version == 1 ? 352 : 544;
    size_t offset = c->pair ? 0 : c->offset ? c->offset : least;
    if (c->version == 1) {
        put_i32(file, 0, 348, big);
        for (size_t i = 0; i < 8; i++)
            put_i16(file, 40 + 2 * i, (int)c->dims[i], big);
        put_i16(file, 70, c->type, big);
        for (size_t i = 0; i < 4; i++)
            put_f32(file, 76 + 4 * i, c->pixdim[i], big);
        put_f32(file, 108, (double)offset, big);
        put_f32(file, 112, c->slope, big);
        put_f32(file, 116, c->intercept, big);
        file->data[123] = (uint8_t)c->units;
        put_i16(file, 252, c->qform, big);
        put_i16(file, 254, c->sform, big);
        for (size_t i = 0; i < 3; i++) {
            put_f32(file, 256 + 4 * i, c->quatern[i], big);
            put_f32(file, 268 + 4 * i, c->shift[i], big);
        }
        for (size_t i = 0; i < 12; i++)
            put_f32(file, 280 + 4 * i, c->srow[i], big);
        memcpy(file->data + 344, c->pair ? "ni1" : "n+1", 4);
        file->size = 348;
    } else {
        put_i32(file, 0, 540, big);
        memcpy(file->data + 4, c->pair ? "ni2\0\r\n\032\n" : "n+2\0\r\n\032\n", 8);
        put_i16(file, 12, c->type, big);
        for (size_t i = 0; i < 8; i++)
            put_i64(file, 16 + 8 * i, c->dims[i], big);
        for (size_t i = 0; i < 4; i++)
            put_f64(file, 104 + 8 * i, c->pixdim[i], big);
        put_i64(file, 168, (int64_t)offset, big);
        put_f64(file, 176, c->slope, big);
        put_f64(file, 184, c->intercept, big);
        put_i32(file, 344, c->qform, big);
        put_i32(file, 348, c->sform, big);
        for (size_t i = 0; i < 3; i++) {
            put_f64(file, 352 + 8 * i, c->quatern[i], big);
            put_f64(file, 376 + 8 * i, c->shift[i], big);
        }
        for (size_t i = 0; i < 12; i++)
            put_f64(file, 400 + 8 * i, c->srow[i], big);
        put_i32(file, 500, c->units, big);
        file->size = 540;
    }
    if (!c->pair)
        file->size = offset;
}

static const struct {
    int code;
    tml_type type;
} nifti_types[] = {{2, TML_U8},  {256, TML_I8},   {512, TML_U16},  {4, TML_I16},  {768, TML_U32},
                   {8, TML_I32}, {1280, TML_U64}, {1024, TML_I64}, {16, TML_F32}, {64, TML_F64}};

TEST(nifti_types_versions_and_orders)
{
    tml_context *tml = open_plain();
    static bytes file;
    for (int version = 1; version <= 2; version++)
        for (int big = 0; big < 2; big++) {
            for (size_t i = 0; i < sizeof nifti_types / sizeof nifti_types[0]; i++) {
                nifti_case c = {version,
                                big,
                                .type = nifti_types[i].code,
                                .dims = {4, 5, 4, 3, 2},
                                .pixdim = {1, 2, 3, 4},
                                .slope = 0.5,
                                .intercept = -7,
                                .offset = i % 2 ? 576 : 0};
                make_nifti(&file, &c);
                add_samples(&file, nifti_types[i].type, 0, 120, big);
                tml_volume volume;
                if (!CHECK_OK(tml,
                              load(tml, "a.nii", &file, &(tml_load_desc){.frame = 1}, &volume)))
                    continue;
                CHECK_STR(volume.format, version == 1 ? "NIfTI-1" : "NIfTI-2");
                CHECK(volume.type == nifti_types[i].type && dims_are(&volume, 5, 4, 3));
                CHECK(volume.frame_count == 2);
                CHECK(samples_are(&volume, 60, 1) && near3(volume.grid.spacing, 2, 3, 4));
                CHECK(volume.slope == 0.5 && volume.intercept == -7 && volume.space[0] == '\0');
                tml_volume_free(tml, &volume);
            }
            static const int unsupported[] = {0, 1, 32, 128, 1536, 1792, 2048, 2304, 77};
            for (size_t i = 0; i < sizeof unsupported / sizeof unsupported[0]; i++) {
                nifti_case c = {version, big, .type = unsupported[i], .dims = {1, 2},
                                .pixdim = {1, 1}};
                make_nifti(&file, &c);
                add_samples(&file, TML_F64, 0, 8, big);
                expect_error(tml, "type", "a.nii", &file, TML_ERROR_UNSUPPORTED, "datatype is");
            }
        }
    tml_close(tml);
}

TEST(nifti_geometry)
{
    tml_context *tml = open_plain();
    static bytes file;
    tml_volume volume;
    /* A quarter turn about z: x goes to y, y to -x. With qfac -1, z goes to -z. */
    nifti_case c = {1,
                    .type = 2,
                    .qform = 1,
                    .dims = {3, 2, 2, 2},
                    .pixdim = {-1, 2, 3, 4},
                    .quatern = {0, 0, sqrt(0.5)},
                    .shift = {10, 20, 30},
                    .slope = 0,
                    .intercept = 5};
    for (int version = 1; version <= 2; version++) {
        c.version = version;
        make_nifti(&file, &c);
        add_samples(&file, TML_U8, 0, 8, false);
        if (CHECK_OK(tml, load(tml, "a.nii", &file, NULL, &volume))) {
            CHECK(near3(volume.grid.spacing, 2, 3, 4) && near3(volume.grid.origin, 10, 20, 30));
            CHECK(axis_is(&volume, 0, 0, 1, 0) && axis_is(&volume, 1, -1, 0, 0) &&
                  axis_is(&volume, 2, 0, 0, -1));
            CHECK(volume.slope == 1 && volume.intercept == 0); /* slope 0: none */
            CHECK_STR(volume.space, RAS);
        }
        tml_volume_free(tml, &volume);
    }
    /* A general turn: by 2 acos(0.5) = 120 degrees about (1,1,1), x to y to z to x. */
    c.pixdim[0] = 1;
    for (int i = 0; i < 3; i++)
        c.quatern[i] = 0.5;
    make_nifti(&file, &c);
    add_samples(&file, TML_U8, 0, 8, false);
    if (CHECK_OK(tml, load(tml, "a.nii", &file, NULL, &volume)))
        CHECK(axis_is(&volume, 0, 0, 1, 0) && axis_is(&volume, 1, 0, 0, 1) &&
              axis_is(&volume, 2, 1, 0, 0));
    tml_volume_free(tml, &volume);
    /* The sform comes first. */
    c.sform = 2;
    memcpy(c.srow, (const double[]){0, 0, -5, 1, 6, 0, 0, 2, 0, 7, 0, 3}, sizeof c.srow);
    make_nifti(&file, &c);
    add_samples(&file, TML_U8, 0, 8, false);
    if (CHECK_OK(tml, load(tml, "a.nii", &file, NULL, &volume))) {
        CHECK(near3(volume.grid.spacing, 6, 7, 5) && near3(volume.grid.origin, 1, 2, 3));
        CHECK(axis_is(&volume, 0, 0, 1, 0) && axis_is(&volume, 1, 0, 0, 1) &&
              axis_is(&volume, 2, -1, 0, 0));
    }
    tml_volume_free(tml, &volume);
    tml_close(tml);
}

/* What other readers take, too: axes of size 0, which are not in use, transforms without axes,
 * spacings that are none. Each thing that is assumed is told, and refused where strict. */
TEST(nifti_headers_with_holes)
{
    static const struct {
        nifti_case c;
        double spacing[3];
        uint64_t frames;
        const char *warning, *unit;
        double slope, intercept;
    } cases[] = {
        {{.dims = {4, 3, 2, 2, 0, 1, 1, 1}, .pixdim = {1, 2, 3, 4}}, {2, 3, 4}, 1, NULL, "", 1, 0},
        {{.dims = {7, 3, 2, 2, 0, 0, 0, 0}, .pixdim = {1, 2, 3, 4}}, {2, 3, 4}, 1, NULL, "", 1, 0},
        {{.dims = {5, 3, 2, 1, 0, 2, 0, 0}, .pixdim = {1, 2, 3, 0}}, {2, 3, 1}, 2, NULL, "", 1, 0},
        {{.dims = {4, 3, 4, 0, 0}, .pixdim = {1, 2, 3, 0}},
         {2, 3, 1},
         1,
         "dim[3] is 0; taken as 1",
         "",
         1,
         0},
        {{.dims = {3, 3, 2, 2}, .pixdim = {1, 2, 3, 4}, .units = 1}, {2, 3, 4}, 1, NULL, "m", 1, 0},
        {{.dims = {3, 3, 2, 2}, .pixdim = {1, 2, 3, 4}, .units = 10},
         {2, 3, 4},
         1,
         NULL,
         "mm",
         1,
         0},
        {{.dims = {3, 3, 2, 2}, .pixdim = {1, 2, 3, 4}, .units = 3},
         {2, 3, 4},
         1,
         NULL,
         "\u00b5m",
         1,
         0},
        {{.dims = {3, 3, 2, 2}, .pixdim = {1, 2, 3, 4}, .units = 8}, {2, 3, 4}, 1, NULL, "", 1, 0},
        {{.dims = {3, 3, 2, 2}, .pixdim = {1, 2, 3, 4}, .sform = 1},
         {2, 3, 4},
         1,
         "taken from pixdim alone",
         "",
         1,
         0},
        {{.dims = {3, 3, 2, 2},
          .pixdim = {1, 2, 3, 4},
          .sform = 2,
          .srow = {5, 0, 0, 9, 0, 5, 0, 9, 0, 0, 0, 9}},
         {2, 3, 4},
         1,
         "its sform has no three axes",
         "",
         1,
         0},
        {{.dims = {3, 3, 2, 2},
          .pixdim = {1, 2, 3, 4},
          .sform = 1,
          .qform = 1,
          .quatern = {0, 0, 1}},
         {2, 3, 4},
         1,
         "taken from the qform",
         "",
         1,
         0},
        {{.dims = {3, 3, 2, 2}, .pixdim = {1, 2, 3, 4}, .qform = 1, .quatern = {NAN, 0, 1}},
         {2, 3, 4},
         1,
         "its qform has numbers that are not finite",
         "",
         1,
         0},
        {{.dims = {3, 3, 2, 2}, .pixdim = {1, 2, 0, 4}}, {2, 1, 4}, 1, "pixdim[2] is 0", "", 1, 0},
        {{.dims = {3, 3, 2, 2}, .pixdim = {1, 2, -3, 4}},
         {2, 3, 4},
         1,
         "pixdim[2] is -3",
         "",
         1,
         0},
        {{.dims = {3, 3, 2, 2}, .pixdim = {1, NAN, 3, 4}},
         {1, 3, 4},
         1,
         "pixdim[1] is nan",
         "",
         1,
         0},
        {{.dims = {3, 3, 2, 2}, .pixdim = {1, 2, 3, 4}, .slope = 2, .intercept = NAN},
         {2, 3, 4},
         1,
         "scl_inter is nan; taken as 0",
         "",
         2,
         0},
        {{.dims = {3, 3, 2, 2}, .pixdim = {1, 2, 3, 4}, .slope = INFINITY, .intercept = 3},
         {2, 3, 4},
         1,
         "scl_slope is inf",
         "",
         1,
         0},
        {{.dims = {3, 3, 2, 2}, .pixdim = {1, 2, 3, 4}, .slope = NAN, .intercept = NAN},
         {2, 3, 4},
         1,
         NULL,
         "",
         1,
         0},
    };
    tml_context *tml = open_listening();
    static bytes file;
    const tml_load_desc strict = {.strict = true}, given = {.spacing = {7, 8, 9}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int version = 1; version <= 2; version++) {
            nifti_case c = cases[i].c;
            tml_volume volume;
            c.version = version;
            c.type = 2;
            make_nifti(&file, &c);
            add_samples(&file, TML_U8, 0, 12, false);
            warned[0] = '\0';
            const double *s = cases[i].spacing;
            if (CHECK_OK(tml, load(tml, "a.nii", &file, NULL, &volume))) {
                CHECK(near3(volume.grid.spacing, s[0], s[1], s[2]));
                CHECK_EQ_U64(volume.frame_count, cases[i].frames);
                CHECK_STR(volume.unit, cases[i].unit);
                CHECK(volume.slope == cases[i].slope && volume.intercept == cases[i].intercept);
            } else {
                printf("  (case %zu)\n", i);
            }
            tml_volume_free(tml, &volume);
            CHECK_WARNED(cases[i].warning);
            bool is_refused = load(tml, "a.nii", &file, &strict, &volume) == TML_ERROR_FILE_FORMAT;
            CHECK(is_refused == (cases[i].warning != NULL));
            tml_volume_free(tml, &volume);
            if (CHECK_OK(tml, load(tml, "a.nii", &file, &given, &volume)))
                CHECK(near3(volume.grid.spacing, 7, 8, 9));
            tml_volume_free(tml, &volume);
        }
    /* The header's size left out, and a single file that calls itself one of a pair. */
    for (int k = 0; k < 3; k++) {
        nifti_case c = {1,         .big = k == 1,        .pair = k == 2,
                        .type = 2, .dims = {3, 3, 2, 2}, .pixdim = {1, 2, 3, 4}};
        tml_volume volume;
        make_nifti(&file, &c);
        file.size = 352;
        if (k < 2)
            put_i32(&file, 0, 0, false);
        add_samples(&file, TML_U8, 0, 12, false);
        warned[0] = '\0';
        if (CHECK_OK(tml, load(tml, "a.nii", &file, NULL, &volume)))
            CHECK(samples_are(&volume, 0, 1) && near3(volume.grid.spacing, 2, 3, 4));
        tml_volume_free(tml, &volume);
        CHECK_WARNED(k == 2 ? "taken as a file that has both" : NULL);
    }
    /* An axis that is in use still needs a size, and numbers below 0 are refused. */
    static const int64_t bad[][8] = {{3, 0, 2, 2}, {3, 2, 0, 2}, {4, 2, 2, 2, -1}};
    for (size_t i = 0; i < 3; i++) {
        nifti_case c = {1, .type = 2, .pixdim = {1, 1, 1, 1}};
        memcpy(c.dims, bad[i], sizeof c.dims);
        make_nifti(&file, &c);
        add_samples(&file, TML_U8, 0, 12, false);
        expect_error(tml, "dim", "a.nii", &file, TML_ERROR_FILE_FORMAT, "needs 1 or more");
    }
    static const char *const reports[] = {"reports/nifti_dim4_0.nii", "reports/nifti_sform_0.nii"};
    const tml_load_desc spacing = {.spacing = {1, 2, 3}};
    for (size_t i = 0; i < 2 && test_full_data(reports[i]); i++) {
        tml_volume volume;
        if (CHECK_OK(tml, tml_volume_load(tml, test_full_data(reports[i]), i ? &spacing : NULL,
                                          &volume)))
            CHECK(dims_are(&volume, 6, 5, 4) && near3(volume.grid.spacing, 1, 2, 3) &&
                  ((uint8_t *)volume.data)[119] == 83);
        tml_volume_free(tml, &volume);
    }
    tml_close(tml);
}

TEST(nifti_pairs)
{
    tml_context *tml = open_plain();
    static bytes header, samples, packed;
    nifti_case c = {1, .pair = true, .type = 4, .dims = {3, 5, 4, 3}, .pixdim = {1, 1, 1, 1}};
    make_nifti(&header, &c);
    samples.size = packed.size = 0;
    add_samples(&samples, TML_I16, 0, 60, false);
    add_gzip(&packed, samples.data, samples.size);
    write_file("a.hdr", header.data, header.size);
    write_file("b.hdr", header.data, header.size);
    write_file("c.hdr", header.data, header.size);
    write_file("a.img", samples.data, samples.size);
    write_file("b.img.gz", packed.data, packed.size);
    static const char *const names[] = {"a.hdr", "a.img", "b.hdr", "b.img.gz"};
    for (size_t i = 0; i < 4; i++) {
        tml_volume volume;
        if (CHECK_OK(tml, tml_volume_load(tml, in_folder(names[i]), NULL, &volume)))
            CHECK(samples_are(&volume, 0, 1) && dims_are(&volume, 5, 4, 3));
        tml_volume_free(tml, &volume);
    }
    tml_volume volume;
    CHECK_STATUS(tml_volume_load(tml, in_folder("c.hdr"), NULL, &volume), TML_ERROR_FILE_ACCESS);
    CHECK(strstr(tml_last_error(tml), ".img") != NULL);
    remove_files();
    tml_close(tml);
}

/* ---- MetaImage ------------------------------------------------------------------------------- */

TEST(metaimage_fields)
{
    tml_context *tml = open_plain();
    static bytes file;
    tml_volume volume;
    static const struct {
        const char *name;
        tml_type type;
    } types[] = {{"MET_CHAR", TML_I8},         {"MET_UCHAR", TML_U8},  {"MET_SHORT", TML_I16},
                 {"MET_USHORT", TML_U16},      {"MET_INT", TML_I32},   {"MET_UINT", TML_U32},
                 {"MET_LONG", TML_I32},        {"MET_ULONG", TML_U32}, {"MET_LONG_LONG", TML_I64},
                 {"MET_ULONG_LONG", TML_U64},  {"MET_FLOAT", TML_F32}, {"MET_DOUBLE", TML_F64},
                 {"MET_USHORT_ARRAY", TML_U16}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        for (int big = 0; big < 2; big++) {
            char fields[256];
            snprintf(fields, sizeof fields,
                     "NDims=3\r\nDimSize = 4 3 2\n%s = %s\nElementType = %s\n"
                     "ElementDataFile = LOCAL\n",
                     i % 2 ? "ElementByteOrderMSB" : "BinaryDataByteOrderMSB",
                     big ? "True" : "False", types[i].name);
            file.size = 0;
            add_text(&file, fields);
            add_samples(&file, types[i].type, 0, 24, big);
            expect(tml, types[i].name, "a", &file, 0, 0, 1);
        }

    /* The matrix lists the directions of x, y and z one after another. */
    file.size = 0;
    add_text(&file, "ObjectType = Image\nNDims = 3\nComment = by hand\nDimSize = 4 3 2\n"
                    "TransformMatrix = 0 1 0 0 0 1 1 0 0\nPosition = 1 -2.5 3e1\n"
                    "ElementSize = 9 9 9\nElementSpacing = 2 3 4\nElementType = MET_UCHAR\n"
                    "ElementDataFile = LOCAL\n");
    add_samples(&file, TML_U8, 0, 24, false);
    if (CHECK_OK(tml, load(tml, "a", &file, NULL, &volume))) {
        CHECK(axis_is(&volume, 0, 0, 1, 0) && axis_is(&volume, 1, 0, 0, 1) &&
              axis_is(&volume, 2, 1, 0, 0));
        CHECK(near3(volume.grid.spacing, 2, 3, 4) && near3(volume.grid.origin, 1, -2.5, 30));
        CHECK_STR(volume.space, LPS);
        CHECK_STR(volume.comment, "by hand");
    }
    tml_volume_free(tml, &volume);

    /* Channels lie innermost, the fourth axis outermost. */
    file.size = 0;
    add_text(&file, "ObjectType = Image\nNDims = 4\nDimSize = 4 3 2 2\nElementSize = 2 2 2 7\n"
                    "ElementNumberOfChannels = 3\nElementType = MET_SHORT\n"
                    "Rotation = 1 0 0 0 0 1 0 0 0 0 -1 0 0 0 0 1\nElementDataFile = LOCAL\n");
    add_samples(&file, TML_I16, 0, 144, false);
    expect(tml, "channel 2", "a", &file, 2, 2, 3);
    expect(tml, "channel 1 of volume 1", "a", &file, 4, 73, 3);
    if (CHECK_OK(tml, load(tml, "a", &file, NULL, &volume)))
        CHECK(axis_is(&volume, 2, 0, 0, -1) && near3(volume.grid.spacing, 2, 2, 2));
    tml_volume_free(tml, &volume);
    CHECK_STATUS(load(tml, "a", &file, &(tml_load_desc){.frame = 6}, &volume),
                 TML_ERROR_INVALID_ARGUMENT);

    file.size = 0;
    add_text(&file, "ObjectType = Image\nNDims = 2\nDimSize = 3 2\nBinaryData = False\n"
                    "ElementType = MET_FLOAT\nElementDataFile = LOCAL\n0 7\n14 21 28 35\n");
    expect(tml, "text", "a", &file, 0, 0, 1);

    static const struct {
        const char *fields, *word;
    } bad[] = {
        {"NDims = 5\n", "NDims is \"5\""},
        {"NDims = -3\n", "NDims"},
        {"DimSize = 2 2 2\nNDims = 3\n", "DimSize"},
        {"NDims = 3\nDimSize = 2 2\n", "DimSize"},
        {"NDims = 3\nDimSize = 2 2 -2\n", "DimSize"},
        {"NDims = 3\nDimSize = 2 0 2\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n", "0"},
        {"NDims = 3\nDimSize = 2 2 2\nElementType = MET_STRING\n", "ElementType"},
        {"NDims = 3\nDimSize = 2 2 2\nElementType = MET_UCHAR\n", "no field ElementDataFile"},
        {"NDims = 3\nDimSize = 2 2 2\nElementDataFile = LOCAL\n", "no field ElementType"},
        {"NDims = 3\nDimSize = 2 2 2\nElementSpacing = 1 nan 1\nElementType = MET_UCHAR\n"
         "ElementDataFile = LOCAL\n12345678",
         "step along axis 1"},
        {"NDims = 3\nDimSize = 2 2 2\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n1234567",
         "needs 8"},
        {"NDims = 3\nDimSize = 2 2 2\nElementType = MET_UCHAR\nHeaderSize = 999\n"
         "ElementDataFile = LOCAL\n12345678",
         "holds"},
        {"NDims = 3\nDimSize = 2 2 2\nElementType = MET_UCHAR\nCompressedData = True\n"
         "ElementDataFile = LOCAL\n12345678",
         "damaged"},
        {"NDims = 3\nDimSize = 2 2 2\nElementNumberOfChannels = 0\nElementType = MET_UCHAR\n"
         "ElementDataFile = LOCAL\n12345678",
         "0"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        file.size = 0;
        add_text(&file, "ObjectType = Image\n");
        add_text(&file, bad[i].fields);
        expect_error(tml, bad[i].fields, "a.mha", &file, TML_ERROR_FILE_FORMAT, bad[i].word);
    }
    tml_close(tml);
}

TEST(metaimage_fields_as_other_programs_write_them)
{
    static const struct {
        const char *fields, *unit, *warning;
    } cases[] = {
        {"NDims = 3\nDimSize = 2 2 2\nElementSpacing = 1 2 3\nElementType = MET_UCHAR\n", "", NULL},
        {"ndims = 3 \r\nDIMSIZE = 2 2 2\r\nelementspacing = 1 2 3\r\nElementType = met_uchar\r\n",
         "", NULL},
        {"NDims : 3\nDimSize: 2 2 2\nElementSpacing = 1 2 3\nElementType = MET_UCHAR\n", "", NULL},
        {"NDims = 3\nDimSize = 2 2 2\nElementSpacing = 1 2 3\nDistanceUnits = um\nElementType = "
         "MET_UCHAR\n",
         "\u00b5m", NULL},
        {"NDims = 3\nDimSize = 2 2 2\nElementSpacing = 1 2 3\nDistanceUnits = "
         "?\nBinaryDataByteOrderMSB = F\n"
         "ElementType = MET_UCHAR\n",
         "", NULL},
        {"NDims = 4\nDimSize = 2 2 2 0\nElementSpacing = 1 2 3 1\nElementType = MET_UCHAR\n", "",
         NULL},
        {"NDims = 3\nDimSize = 2 2 2\nElementSpacing = 1 2 3\nAnatomicalOrientation = "
         "RAI\nElementType = MET_UCHAR\n",
         "", NULL},
        {"NDims = 3\nDimSize = 2 2 2\na stray line\nElementSpacing = 1 2 3\nElementType = "
         "MET_UCHAR\n",
         "", "are left out: 1"},
        {"NDims = 3\nDimSize = 2 2 2\nElementSpacing = 1 2 3\nAnatomicalOrientation = "
         "LAS\nElementType = MET_UCHAR\n",
         "", "AnatomicalOrientation LAS without TransformMatrix"},
    };
    tml_context *tml = open_listening();
    static bytes file;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        file.size = 0;
        add_text(&file, "ObjectType = Image\n");
        add_text(&file, cases[i].fields);
        add_text(&file, "ElementDataFile = LOCAL\n");
        add_samples(&file, TML_U8, 0, 8, false);
        tml_volume volume;
        warned[0] = '\0';
        if (CHECK_OK(tml, load(tml, "a.mha", &file, NULL, &volume))) {
            CHECK(near3(volume.grid.spacing, 1, 2, 3) && samples_are(&volume, 0, 1));
            CHECK_STR(volume.unit, cases[i].unit);
        }
        tml_volume_free(tml, &volume);
        CHECK_WARNED(cases[i].warning);
    }
    tml_close(tml);
}

TEST(metaimage_data_files)
{
    tml_context *tml = open_plain();
    static bytes part, header, packed;
    for (uint64_t i = 0; i < 3; i++) {
        char name[32];
        part.size = 0;
        add_text(&part, "head");
        add_samples(&part, TML_U16, 20 * i, 20, true);
        snprintf(name, sizeof name, "s-%d.raw", (int)(4 + 2 * i));
        write_file(name, part.data, part.size);
    }
    part.size = packed.size = 0;
    add_samples(&part, TML_U16, 0, 60, true);
    uLongf size = sizeof packed.data;
    CHECK(compress(packed.data, &size, part.data, part.size) == Z_OK); /* zlib, not gzip */
    write_file("all.zraw", packed.data, size);
    write_file("all.raw", part.data, part.size);
    static const struct {
        const char *fields;
        tml_status status;
    } cases[] = {
        {"ElementDataFile = all.raw\n", TML_OK},
        {"HeaderSize = 0\nElementDataFile = all.raw", TML_OK},
        {"CompressedData = True\nElementDataFile = all.zraw\n", TML_OK},
        {"HeaderSize = 4\nElementDataFile = s-%d.raw 4 8 2\n", TML_OK},
        {"HeaderSize = -1\nElementDataFile = s-%d.raw 4 8 2\n", TML_OK},
        {"HeaderSize = -1\nElementDataFile = LIST\ns-4.raw\ns-6.raw\ns-8.raw\n", TML_OK},
        {"HeaderSize = -1\nElementDataFile = LIST 2D\ns-4.raw\ns-6.raw\ns-8.raw\n", TML_OK},
        {"HeaderSize = -1\nElementDataFile = LIST 3\nall.raw\n", TML_OK},
        {"HeaderSize = -1\nElementDataFile = LIST\ns-4.raw\ns-6.raw\n", TML_ERROR_FILE_FORMAT},
        {"HeaderSize = -1\nElementDataFile = LIST 9\nall.raw\n", TML_ERROR_FILE_FORMAT},
        {"HeaderSize = -2\nElementDataFile = all.raw\n", TML_ERROR_FILE_FORMAT},
        {"ElementDataFile = s-%d.raw 4 8 0\n", TML_ERROR_FILE_FORMAT},
        {"ElementDataFile = s-%d.raw 4 9000000000 1\n", TML_ERROR_FILE_FORMAT},
        {"ElementDataFile = s-%d.raw 5 7 1\n", TML_ERROR_FILE_ACCESS},
        {"ElementDataFile = ../all.raw\n", TML_ERROR_UNSUPPORTED},
        {"ElementDataFile = /dev/zero\n", TML_ERROR_UNSUPPORTED},
        {"CompressedData = True\nHeaderSize = -1\nElementDataFile = all.zraw\n",
         TML_ERROR_UNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        header.size = 0;
        add_text(&header, "NDims = 3\nDimSize = 5 4 3\nElementType = MET_USHORT\n"
                          "BinaryDataByteOrderMSB = True\n");
        add_text(&header, cases[i].fields);
        write_file("a.mhd", header.data, header.size);
        tml_volume volume;
        tml_status status = tml_volume_load(tml, in_folder("a.mhd"), NULL, &volume);
        if (status != cases[i].status || (status == TML_OK && !samples_are(&volume, 0, 1)))
            test_fail(__FILE__, __LINE__, "%s: %s %s", cases[i].fields, tml_status_name(status),
                      status ? tml_last_error(tml) : "");
        tml_volume_free(tml, &volume);
    }
    remove_files();
    tml_close(tml);
}

/* ---- MRC ------------------------------------------------------------------------------------- */

typedef struct mrc_case {
    int mode;
    bool big, no_stamp;
    int32_t size[3], start[3], sampling[3], axes[3], extended, group;
    double cell[3], angles[3], origin[3];
} mrc_case;

static void make_mrc(bytes *file, const mrc_case *c)
{
    memset(file, 0, sizeof *file);
    put_i32(file, 12, c->mode, c->big);
    for (size_t i = 0; i < 3; i++) {
        put_i32(file, 4 * i, c->size[i], c->big);
        put_i32(file, 16 + 4 * i, c->start[i], c->big);
        put_i32(file, 28 + 4 * i, c->sampling[i], c->big);
        put_f32(file, 40 + 4 * i, c->cell[i], c->big);
        put_f32(file, 52 + 4 * i, c->angles[i], c->big);
        put_i32(file, 64 + 4 * i, c->axes[i], c->big);
        put_f32(file, 196 + 4 * i, c->origin[i], c->big);
    }
    put_i32(file, 88, c->group, c->big);
    put_i32(file, 92, c->extended, c->big);
    memcpy(file->data + 208, "MAP ", 4);
    if (!c->no_stamp)
        memcpy(file->data + 212, c->big ? "\x11\x11" : "\x44\x44", 2);
    file->size = 1024 + (size_t)(c->extended > 0 ? c->extended : 0);
}

TEST(mrc_modes_orders_and_extended_headers)
{
    static const struct {
        int mode;
        tml_type type;
    } modes[] = {{0, TML_I8}, {1, TML_I16}, {2, TML_F32}, {6, TML_U16}, {12, TML_F16}};
    tml_context *tml = open_plain();
    static bytes file;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        for (int k = 0; k < 4; k++) {
            mrc_case c = {modes[i].mode,        .big = k & 1,           .no_stamp = k & 2,
                          .size = {5, 4, 3},    .sampling = {5, 4, 3},  .axes = {1, 2, 3},
                          .cell = {10, 12, 15}, .angles = {90, 90, 90}, .extended = k * 80};
            make_mrc(&file, &c);
            add_samples(&file, modes[i].type, 0, 60, c.big);
            tml_volume volume;
            if (CHECK_OK(tml, load(tml, "a.mrc", &file, NULL, &volume)))
                CHECK(volume.type == modes[i].type && samples_are(&volume, 0, 1) &&
                      near3(volume.grid.spacing, 2, 3, 5));
            tml_volume_free(tml, &volume);
        }
    mrc_case c = {0, .size = {2, 2, 2}, .axes = {1, 2, 3}};
    make_mrc(&file, &c);
    put_i32(&file, 152, 1146047817, false); /* IMOD's stamp without its flag: bytes have no sign */
    file.size = 1024;
    add_samples(&file, TML_U8, 0, 8, false);
    tml_volume volume;
    if (CHECK_OK(tml, load(tml, "a", &file, NULL, &volume)))
        CHECK(volume.type == TML_U8 && near3(volume.grid.spacing, 1, 1, 1));
    tml_volume_free(tml, &volume);
    static const int unsupported[] = {3, 4, 5, 16, 101, -1, 1000};
    for (size_t i = 0; i < sizeof unsupported / sizeof unsupported[0]; i++) {
        c.mode = unsupported[i];
        make_mrc(&file, &c);
        add_samples(&file, TML_F64, 0, 8, false);
        expect_error(tml, "mode", "a", &file, TML_ERROR_UNSUPPORTED, "mode is");
    }
    tml_close(tml);
}

TEST(mrc_axes_origin_cell_and_stacks)
{
    static const int32_t orders[6][3] = {{1, 2, 3}, {1, 3, 2}, {2, 1, 3},
                                         {2, 3, 1}, {3, 1, 2}, {3, 2, 1}};
    tml_context *tml = open_plain();
    static bytes file;
    tml_volume volume;
    for (int i = 0; i < 6; i++) {
        const int32_t *axes = orders[i];
        const int32_t dims[3] = {5, 4, 3}; /* of x, y, z */
        mrc_case c = {1, .sampling = {10, 8, 6}, .cell = {20, 24, 30}};
        for (int k = 0; k < 3; k++) {
            c.axes[k] = axes[k];
            c.size[k] = dims[axes[k] - 1];
            c.start[k] = 10 * axes[k];
        }
        make_mrc(&file, &c);
        add_samples(&file, TML_I16, 0, 60, false);
        if (!CHECK_OK(tml, load(tml, "a", &file, NULL, &volume)))
            continue;
        CHECK(dims_are(&volume, 5, 4, 3) && near3(volume.grid.spacing, 2, 3, 5));
        CHECK(near3(volume.grid.origin, 20, 60, 150));
        uint64_t at[3]; /* x, y, z */
        for (at[2] = 0; at[2] < 3; at[2]++)
            for (at[1] = 0; at[1] < 4; at[1]++)
                for (at[0] = 0; at[0] < 5; at[0]++) {
                    uint64_t in_file =
                        at[axes[0] - 1] +
                        (uint64_t)c.size[0] *
                            (at[axes[1] - 1] + (uint64_t)c.size[1] * at[axes[2] - 1]);
                    CHECK(sample_is(&volume, at[0] + 5 * (at[1] + 4 * at[2]), in_file));
                }
        tml_volume_free(tml, &volume);
    }
    /* A cell with gamma = 120: y leans by half of x; the origin's words go before the start. */
    mrc_case c = {0,
                  .size = {2, 2, 2},
                  .sampling = {2, 2, 2},
                  .axes = {1, 2, 3},
                  .cell = {2, 2, 2},
                  .angles = {90, 90, 120},
                  .start = {9, 9, 9},
                  .origin = {1, 0, -2}};
    make_mrc(&file, &c);
    add_samples(&file, TML_I8, 0, 8, false);
    if (CHECK_OK(tml, load(tml, "a", &file, NULL, &volume)))
        CHECK(axis_is(&volume, 1, -0.5, sqrt(0.75), 0) && axis_is(&volume, 2, 0, 0, 1) &&
              near3(volume.grid.origin, 1, 0, -2));
    tml_volume_free(tml, &volume);
    c.angles[2] = 180;
    make_mrc(&file, &c);
    add_samples(&file, TML_I8, 0, 8, false);
    expect_error(tml, "flat cell", "a", &file, TML_ERROR_FILE_FORMAT, "angles");

    mrc_case stack = {0, .size = {2, 2, 6}, .sampling = {2, 2, 2}, .axes = {1, 2, 3}, .group = 401};
    make_mrc(&file, &stack);
    add_samples(&file, TML_I8, 0, 24, false);
    expect(tml, "stack", "a", &file, 2, 16, 1);

    static const struct {
        size_t at;
        int32_t value;
    } bad[] = {{0, 0},   {4, -5},       {8, 100},         {64, 2},          {68, 7},
               {92, -1}, {92, 1 << 30}, {40, 0x7fc00000}, {52, 0x7fc00000}, {196, 0x7f800000}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        mrc_case good = {0, .size = {2, 2, 2}, .sampling = {2, 2, 2}, .axes = {1, 2, 3},
                         .cell = {2, 2, 2}};
        make_mrc(&file, &good);
        put_i32(&file, bad[i].at, bad[i].value, false);
        file.size = 1024;
        add_samples(&file, TML_I8, 0, 8, false);
        expect_error(tml, "bad word", "a", &file, TML_ERROR_FILE_FORMAT, "a:");
    }
    tml_close(tml);
}

TEST(mrc_tells_what_it_assumes)
{
    static const struct {
        mrc_case c;
        int32_t version;
        const char *unit, *warning;
        double z;
    } cases[] = {
        {{1, .cell = {4, 4, 4}}, 0, "\u00c5", NULL, 2},
        {{1, .cell = {0, 0, 0}}, 0, "", "has no cell size; its spacing is taken as 1", 1},
        {{0, .cell = {4, 4, 4}}, 0, "\u00c5", "does not say whether they have a sign", 2},
        {{0, .cell = {4, 4, 4}}, 20140, "\u00c5", NULL, 2},
        {{1, .cell = {4, 4, 0}, .size = {2, 2, 1}}, 0, "\u00c5", NULL, 1},
    };
    tml_context *tml = open_listening();
    static bytes file;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mrc_case c = cases[i].c;
        memcpy(c.axes, (const int32_t[]){1, 2, 3}, sizeof c.axes);
        if (!c.size[0])
            memcpy(c.size, (const int32_t[]){2, 2, 2}, sizeof c.size);
        make_mrc(&file, &c);
        put_i32(&file, 108, cases[i].version, false);
        file.size = 1024;
        add_samples(&file, c.mode ? TML_I16 : TML_I8, 0, 8, false);
        tml_volume volume;
        warned[0] = '\0';
        if (CHECK_OK(tml, load(tml, "a.mrc", &file, NULL, &volume))) {
            CHECK_STR(volume.unit, cases[i].unit);
            CHECK_NEAR(volume.grid.spacing[2], cases[i].z, 1e-6);
        }
        tml_volume_free(tml, &volume);
        CHECK_WARNED(cases[i].warning);
    }
    tml_close(tml);
}

/* ---- NPY ------------------------------------------------------------------------------------- */

static void make_npy(bytes *file, int version, const char *descr, bool fortran, const char *shape)
{
    char header[256];
    int length =
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n",
                 descr, fortran ? "True" : "False", shape);
    file->size = 0;
    add(file, "\x93NUMPY", 6);
    add(file, (const uint8_t[]){(uint8_t)version, 0}, 2);
    add(file, (const uint8_t[]){(uint8_t)length, 0, 0, 0}, version == 1 ? 2 : 4);
    add(file, header, (size_t)length);
}

TEST(npy_volumes)
{
    static const struct {
        const char *code;
        tml_type type;
    } codes[] = {{"u1", TML_U8},  {"i1", TML_I8},  {"u2", TML_U16}, {"i2", TML_I16},
                 {"u4", TML_U32}, {"i4", TML_I32}, {"u8", TML_U64}, {"i8", TML_I64},
                 {"f2", TML_F16}, {"f4", TML_F32}, {"f8", TML_F64}, {"b1", TML_U8}};
    tml_context *tml = open_plain();
    static bytes file;
    tml_volume volume;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        for (int k = 0; k < 4; k++) {
            char descr[8];
            snprintf(descr, sizeof descr, "%c%s", k & 1 ? '>' : i < 2 ? '|' : '<', codes[i].code);
            make_npy(&file, 1 + (int)i % 3, descr, k & 2, "(3, 4, 5)");
            add_samples(&file, codes[i].type, 0, 60, k & 1);
            if (!CHECK_OK(tml, load(tml, "a", &file, NULL, &volume)))
                continue;
            CHECK(volume.type == codes[i].type && dims_are(&volume, 5, 4, 3));
            if (!(k & 2)) {
                CHECK(samples_are(&volume, 0, 1));
            } else { /* index [z, y, x] lies at z + 3 (y + 4 x) */
                bool good = true;
                for (uint64_t n = 0; n < 60; n++)
                    good &= sample_is(&volume, n, n / 20 + 3 * (n / 5 % 4 + 4 * (n % 5)));
                CHECK(good);
            }
            tml_volume_free(tml, &volume);
        }
    static const struct {
        const char *shape;
        uint64_t dims[3];
    } shapes[] = {{"(60,)", {60, 1, 1}},   {"(60)", {60, 1, 1}},      {"(12, 5)", {5, 12, 1}},
                  {"(2,6,5,)", {5, 6, 2}}, {"(12L, 5L)", {5, 12, 1}}, {"( 3 ,4,5 )", {5, 4, 3}}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        make_npy(&file, 1, "<i2", false, shapes[i].shape);
        add_samples(&file, TML_I16, 0, 60, false);
        if (CHECK_OK(tml, load(tml, "a", &file, NULL, &volume))) {
            const uint64_t *d = shapes[i].dims;
            CHECK(dims_are(&volume, d[0], d[1], d[2]) && samples_are(&volume, 0, 1));
        }
        tml_volume_free(tml, &volume);
    }
    make_npy(&file, 1, "<i2", true, "(4, 15)");
    add_samples(&file, TML_I16, 0, 60, false);
    if (CHECK_OK(tml, load(tml, "a", &file, NULL, &volume)))
        CHECK(dims_are(&volume, 15, 4, 1) && sample_is(&volume, 1, 4) && sample_is(&volume, 15, 1));
    tml_volume_free(tml, &volume);
    make_npy(&file, 1, "<i2", false, "(2, 2, 3, 5)");
    add_samples(&file, TML_I16, 0, 60, false);
    expect(tml, "frame", "a", &file, 1, 30, 1);
    make_npy(&file, 1, "<i2", true, "(2, 1, 1, 30)");
    add_samples(&file, TML_I16, 0, 60, false);
    expect(tml, "fortran frame", "a", &file, 1, 1, 2);

    static const struct {
        const char *descr, *shape;
        tml_status status;
    } bad[] = {{"<c8", "(2, 2)", TML_ERROR_UNSUPPORTED},
               {"<f16", "(2, 2)", TML_ERROR_UNSUPPORTED},
               {"|O", "(2, 2)", TML_ERROR_UNSUPPORTED},
               {"<i2", "()", TML_ERROR_UNSUPPORTED},
               {"<i2", "(1,1,1,1,2)", TML_ERROR_UNSUPPORTED},
               {"<i2", "(0, 2)", TML_ERROR_FILE_FORMAT},
               {"<i2", "(-1, 2)", TML_ERROR_FILE_FORMAT},
               {"<i2", "(2, 2", TML_ERROR_FILE_FORMAT},
               {"<i2", "(4294967296, 4294967296)", TML_ERROR_FILE_FORMAT},
               {"<i2", "(4611686018427387904,)", TML_ERROR_FILE_FORMAT},
               {"<i2", "(99999999999999999999,)", TML_ERROR_FILE_FORMAT},
               {"<i2", "(1000000000000,)", TML_ERROR_FILE_FORMAT}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        make_npy(&file, 1, bad[i].descr, false, bad[i].shape);
        add_samples(&file, TML_I64, 0, 8, false);
        expect_error(tml, bad[i].shape, "a", &file, bad[i].status, "a:");
    }
    tml_close(tml);
}

TEST(npy_arrays)
{
    tml_context *tml = open_plain();
    static bytes file;
    tml_array array;
    static const struct {
        const char *shape;
        bool fortran;
        tml_type type;
        uint64_t count;
    } cases[] = {
        {"()", false, TML_F32, 1},
        {"(24,)", false, TML_F32, 24},
        {"(0,)", false, TML_F32, 0},
        {"(8, 3)", false, TML_VEC(TML_F32, 3), 8},
        {"(12, 2)", false, TML_VEC(TML_F32, 2), 12},
        {"(4, 6)", false, TML_F32, 24},
        {"(2,)", false, TML_F32, 2},
        {"(2, 3, 4)", false, TML_VEC(TML_F32, 4), 6},
        {"(24, 1)", false, TML_F32, 24},
        {"(0, 3)", true, TML_VEC(TML_F32, 3), 0},
        {"(24,)", true, TML_F32, 24},
        {"(1,2,1,2,1,2,3)", false, TML_VEC(TML_F32, 3), 8},
        {"(8, 3)", true, TML_VEC(TML_F32, 3), 8},
        {"(2, 3, 4)", true, TML_VEC(TML_F32, 4), 6},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        make_npy(&file, 1, ">f4", cases[i].fortran, cases[i].shape);
        uint64_t scalars = cases[i].count * tml_type_components(cases[i].type);
        add_samples(&file, TML_F32, 0, scalars, true);
        if (!CHECK_OK(tml, tml_array_load_memory(tml, "a", file.data, file.size, &array)))
            continue;
        CHECK(array.type == cases[i].type && array.count == cases[i].count);
        CHECK_EQ_U64(array.size, scalars * 4);
        const float *values = array.data;
        if (!cases[i].fortran || scalars == 0) {
            for (uint64_t n = 0; n < scalars; n++)
                CHECK(values[n] == (float)pattern(n));
        } else if (strcmp(cases[i].shape, "(8, 3)") == 0) {
            for (uint64_t n = 0; n < 24; n++)
                CHECK(values[n] == (float)pattern(n / 3 + 8 * (n % 3)));
        } else if (strcmp(cases[i].shape, "(2, 3, 4)") == 0) {
            for (uint64_t n = 0; n < 24; n++)
                CHECK(values[n] == (float)pattern(n / 12 + 2 * (n / 4 % 3) + 6 * (n % 4)));
        }
        tml_array_free(tml, &array);
    }
    static bytes packed;
    make_npy(&file, 1, "<f4", false, "(24,)");
    add_samples(&file, TML_F32, 0, 24, false);
    packed.size = 0;
    add_gzip(&packed, file.data, file.size);
    if (CHECK_OK(tml, tml_array_load_memory(tml, "a.gz", packed.data, packed.size, &array)))
        CHECK(array.count == 24 && ((const float *)array.data)[23] == (float)pattern(23));
    tml_array_free(tml, &array);
    static const char record[] =
        "\x93NUMPY\1\0\x2d\0{'descr': [('a', '<f4')], 'shape': (1,), }    \n";
    CHECK_STATUS(tml_array_load_memory(tml, "a", record, sizeof record - 1, &array),
                 TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), "records") != NULL);
    make_npy(&file, 1, "<f4", false, "(24,)");
    add_samples(&file, TML_F32, 0, 23, false);
    CHECK_STATUS(tml_array_load_memory(tml, "a", file.data, file.size, &array),
                 TML_ERROR_FILE_FORMAT);
    CHECK_STATUS(tml_array_load_memory(tml, "a", "nonsense", 8, &array), TML_ERROR_FILE_FORMAT);
    CHECK_STATUS(tml_array_load_memory(tml, "a", NULL, 0, &array), TML_ERROR_FILE_FORMAT);
    CHECK_STATUS(tml_array_load(tml, in_folder("none.npy"), 0, UINT64_MAX, &array),
                 TML_ERROR_FILE_ACCESS);

    /* Round trips of every scalar and vector type. */
    for (size_t i = 0; i < TYPE_COUNT; i++)
        for (uint32_t n = 1; n <= 4; n++) {
            file.size = 0;
            add_samples(&file, all_types[i], 0, 7 * n, false);
            tml_type type = n == 1 ? all_types[i] : TML_VEC(all_types[i], n);
            tml_array before = {.data = file.data, .size = file.size, .type = type, .count = 7},
                      after;
            CHECK_OK(tml, tml_array_save(tml, in_folder("a.npy"), &before));
            if (CHECK_OK(tml, tml_array_load(tml, in_folder("a.npy"), 0, UINT64_MAX, &after)))
                CHECK(after.type == type && after.count == 7 && after.size == before.size &&
                      memcmp(after.data, before.data, before.size) == 0);
            tml_array_free(tml, &after);
        }
    struct stat info;
    CHECK(stat(in_folder("a.npy"), &info) == 0 && info.st_size == 128 + 7 * 4 * 8);
    CHECK_STATUS(
        tml_array_save(
            tml, in_folder("a.npy"),
            &(tml_array){.data = file.data, .size = 16, .type = TML_RECORD(16), .count = 1}),
        TML_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(
        tml_array_save(tml, in_folder("a.npy"),
                       &(tml_array){.data = file.data, .size = 16, .type = TML_F32, .count = 5}),
        TML_ERROR_INVALID_ARGUMENT);
    CHECK_OK(tml, tml_array_save(tml, in_folder("e.npy"), &(tml_array){.type = TML_F32}));
    if (CHECK_OK(tml, tml_array_load(tml, in_folder("e.npy"), 0, UINT64_MAX, &array)))
        CHECK(array.count == 0 && array.data == NULL);
    remove_files();
    tml_close(tml);
}

/* ---- raw ------------------------------------------------------------------------------------- */

TEST(raw_files)
{
    tml_context *tml = open_plain();
    static bytes file, packed;
    tml_volume volume;
    for (size_t i = 0; i < TYPE_COUNT; i++)
        for (int big = 0; big < 2; big++) {
            tml_load_desc desc = {.dims = {4, 3, 2},
                                  .type = all_types[i],
                                  .big_endian = big,
                                  .skip = 5,
                                  .spacing = {1, 2, 0},
                                  .frame = 1};
            file.size = 0;
            add_text(&file, "12345");
            add_samples(&file, all_types[i], 0, 48, big);
            if (CHECK_OK(tml, load(tml, "a", &file, &desc, &volume)))
                CHECK(samples_are(&volume, 24, 1) && near3(volume.grid.spacing, 1, 2, 1));
            tml_volume_free(tml, &volume);
            packed.size = 0;
            add_gzip(&packed, file.data, 5 + 24 * tml_type_size(all_types[i]));
            desc.frame = 0;
            if (CHECK_OK(tml, load(tml, "a.gz", &packed, &desc, &volume)))
                CHECK(samples_are(&volume, 0, 1));
            tml_volume_free(tml, &volume);
            desc.frame = 1;
            CHECK_STATUS(load(tml, "a.gz", &packed, &desc, &volume), TML_ERROR_UNSUPPORTED);
        }
    file.size = 0;
    add_samples(&file, TML_U8, 0, 24, false);
    static const struct {
        tml_load_desc desc;
        tml_status status;
    } bad[] = {
        {{.dims = {4, 3, 3}, .type = TML_U8}, TML_ERROR_FILE_FORMAT},
        {{.dims = {4, 3, 2}, .type = TML_U16}, TML_ERROR_FILE_FORMAT},
        {{.dims = {5, 3, 1}, .type = TML_U8}, TML_ERROR_FILE_FORMAT},
        {{.dims = {4, 3, 2}, .type = TML_U8, .skip = 1}, TML_ERROR_FILE_FORMAT},
        {{.dims = {4, 3, 2}, .type = TML_U8, .skip = 24}, TML_ERROR_FILE_FORMAT},
        {{.dims = {4, 3, 2}, .type = TML_U8, .skip = UINT64_MAX}, TML_ERROR_FILE_FORMAT},
        {{.dims = {4, 3, 2}, .type = TML_U8, .frame = 1}, TML_ERROR_INVALID_ARGUMENT},
        {{.dims = {4, 3}, .type = TML_U8}, TML_ERROR_INVALID_ARGUMENT},
        {{.dims = {4, 3, 2}}, TML_ERROR_INVALID_ARGUMENT},
        {{.type = TML_U8}, TML_ERROR_INVALID_ARGUMENT},
        {{.dims = {4, 3, 2}, .type = TML_VEC(TML_U8, 3)}, TML_ERROR_INVALID_ARGUMENT},
        {{.dims = {4, 3, 2}, .type = 999999}, TML_ERROR_INVALID_ARGUMENT},
        {{.dims = {1u << 31, 1u << 31, 1u << 31}, .type = TML_F64}, TML_ERROR_FILE_FORMAT},
        {{.dims = {UINT64_MAX, 1, 1}, .type = TML_U8}, TML_ERROR_FILE_FORMAT},
        {{.dims = {1000000, 1000000, 1000000}, .type = TML_U8}, TML_ERROR_FILE_FORMAT},
        {{.dims = {4, 3, 2}, .type = TML_U8, .memory_limit = 23}, TML_ERROR_OUT_OF_MEMORY},
        {{.dims = {4, 3, 2}, .type = TML_U8, .memory_limit = 24}, TML_OK},
        {{.dims = {0}}, TML_ERROR_FILE_FORMAT},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tml_status status = load(tml, "a.raw", &file, &bad[i].desc, &volume);
        if (status != bad[i].status)
            test_fail(__FILE__, __LINE__, "case %zu: %s", i, tml_status_name(status));
        tml_volume_free(tml, &volume);
    }
    static const char *const names[] = {"/tmp/x/a_4x3x2_uint8.raw", "4x3x2_uint8.raw",
                                        "a_b_uint8_4x3x2.raw", "a.4x3x2.uint8.raw"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        expect(tml, names[i], names[i], &file, 0, 0, 1);
    static const char *const not_names[] = {"a_4x3_uint8.raw",     "a_4x3x2_uint9.raw",
                                            "a_4x3x2x1_uint8.raw", "a_4x3x_uint8.raw",
                                            "a_4x3x2_uint8.bin",   "a.raw"};
    for (size_t i = 0; i < sizeof not_names / sizeof not_names[0]; i++)
        expect_error(tml, not_names[i], not_names[i], &file, TML_ERROR_FILE_FORMAT,
                     "give desc.dims");
    nrrd_start(&file, "type: uchar\nencoding: raw\ndimension: 3\nsizes: 2 2 2\n\n12345678");
    tml_load_desc desc = {.dims = {4, 3, 2}, .type = TML_U8};
    CHECK_STATUS(load(tml, "a", &file, &desc, &volume), TML_ERROR_INVALID_ARGUMENT);
    tml_close(tml);
}

TEST(gzip_around_any_single_file)
{
    tml_context *tml = open_plain();
    static bytes file, packed;
    nrrd_start(&file, "type: uchar\nencoding: raw\ndimension: 2\nsizes: 6 4\nbyte skip: 3\n\nabc");
    add_samples(&file, TML_U8, 0, 24, false);
    packed.size = 0;
    add_gzip(&packed, file.data, file.size);
    expect(tml, "nrrd.gz", "a.nrrd.gz", &packed, 0, 0, 1);
    make_npy(&file, 1, "<i2", true, "(6, 1, 1, 4)");
    add_samples(&file, TML_I16, 0, 24, false);
    packed.size = 0;
    add_gzip(&packed, file.data, file.size);
    expect(tml, "npy.gz", "a.npy.gz", &packed, 5, 5, 6);
    mrc_case c = {0, .size = {2, 3, 4}, .axes = {1, 2, 3}};
    make_mrc(&file, &c);
    add_samples(&file, TML_I8, 0, 24, false);
    packed.size = 0;
    add_gzip(&packed, file.data, file.size);
    expect(tml, "map.gz", "a.map.gz", &packed, 0, 0, 1);
    nrrd_start(&file, "type: uchar\nencoding: gzip\ndimension: 2\nsizes: 6 4\n\nabc");
    packed.size = 0;
    add_gzip(&packed, file.data, file.size);
    expect_error(tml, "twice", "a.nrrd.gz", &packed, TML_ERROR_UNSUPPORTED, "gunzip it first");
    tml_close(tml);
}

/* What follows the samples does not matter where a header says how many there are. */
TEST(bytes_behind_the_samples)
{
    static const char header[] = "type: uchar\nencoding: raw\ndimension: 2\nsizes: 6 4\n\n";
    tml_context *tml = open_plain();
    tml_volume volume;
    static bytes file, packed;
    nrrd_start(&file, header);
    add_samples(&file, TML_U8, 0, 24, false);
    add(&file, "ten bytes.", 10);
    expect(tml, "raw", "a.nrrd", &file, 0, 0, 1);
    packed.size = 0;
    add_gzip(&packed, file.data, file.size);
    expect(tml, "gzipped", "a.nrrd.gz", &packed, 0, 0, 1);
    add_gzip(&packed, file.data, file.size); /* another member */
    expect(tml, "gzipped twice", "a.nrrd.gz", &packed, 0, 0, 1);
    packed.data[packed.size - 7] ^= 1;
    expect_error(tml, "damaged behind", "a.nrrd.gz", &packed, TML_ERROR_FILE_FORMAT, "damaged");

    file.size = packed.size = 0;
    add_samples(&file, TML_U8, 0, 25, false);
    add_gzip(&packed, file.data, file.size);
    const tml_load_desc headerless = {.dims = {6, 4, 1}, .type = TML_U8};
    CHECK_STATUS(load(tml, "a.gz", &packed, &headerless, &volume), TML_ERROR_FILE_FORMAT);
    CHECK(strstr(tml_last_error(tml), "go on after the last sample; check desc.dims") != NULL);
    tml_close(tml);
}

TEST(a_header_in_memory_has_no_files_beside_it)
{
    static const char meta[] = "ObjectType = Image\nNDims = 3\nDimSize = 4 4 4\n"
                               "ElementType = MET_UCHAR\nElementDataFile = a.raw\n";
    static const char *const nrrds[] = {
        "type: uchar\nencoding: raw\ndimension: 2\nsizes: 4 4\ndata file: a.raw\n\n",
        "type: uchar\nencoding: raw\ndimension: 2\nsizes: 4 4\ndata file: a%d.raw 1 4 1\n\n",
        "type: uchar\nencoding: raw\ndimension: 2\nsizes: 4 4\ndata file: LIST\na.raw\nb\nc\nd\n"};
    static const char *const names[] = {"\"a.raw\"", "\"a1.raw\"", "\"a.raw\""};
    tml_context *tml = open_plain();
    static bytes file;
    for (int i = 0; i < 3; i++) {
        nrrd_start(&file, nrrds[i]);
        expect_error(tml, "NRRD", "a.nhdr", &file, TML_ERROR_FILE_ACCESS, names[i]);
        CHECK(strstr(tml_last_error(tml), "give that too") != NULL);
    }
    file.size = 0;
    add(&file, meta, sizeof meta - 1);
    expect_error(tml, "MetaImage", "a.mhd", &file, TML_ERROR_FILE_ACCESS,
                 "its data lie in \"a.raw\"");
    tml_close(tml);
}

/* Which format a file has is known although it is damaged; the loader then says how. */
TEST(formats_are_known_of_damaged_files)
{
    tml_context *tml = open_plain();
    tml_volume volume;
    static bytes file, packed;
    nrrd_start(&file, "type: uchar\nencoding: raw\ndimension: 2\nsizes: 200 100\n\n");
    add_samples(&file, TML_U8, 0, 200 * 100, false);
    packed.size = 0;
    add_gzip(&packed, file.data, file.size);
    const struct {
        const char *name, *format;
        const uint8_t *data;
        size_t size;
        const char *message;
    } cases[] = {
        {"whole.nrrd", "NRRD", file.data, file.size, NULL},
        {"whole.nrrd.gz", "NRRD", packed.data, packed.size, NULL},
        {"short.nrrd", "NRRD", file.data, file.size - 9, "cut short"},
        {"short.nrrd.gz", "gzip", packed.data, packed.size - 9, "cut short"},
        {"shorter.nrrd.gz", "gzip", packed.data, 12, "cut short"},
        {"a_2x2x1_uint8.raw", "raw", file.data, 3, "holds 3 bytes"},
        {"text.txt", NULL, (const uint8_t *)"1 2 3\n", 6, "is none of the volume formats"},
        {"empty.bin", NULL, file.data, 0, "the file is empty"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_file(cases[i].name, cases[i].data, cases[i].size);
        const char *path = in_folder(cases[i].name),
                   *format = tml_file_format(tml, path, TML_FILE_VOLUME, NULL);
        CHECK(cases[i].format ? format && strcmp(format, cases[i].format) == 0 : !format);
        tml_status status = tml_volume_load(tml, path, NULL, &volume);
        CHECK((status == TML_OK) == !cases[i].message);
        CHECK(!cases[i].message || strstr(tml_last_error(tml), cases[i].message));
        tml_volume_free(tml, &volume);
        remove(path);
    }
    CHECK(tml_file_format(tml, in_folder("missing"), TML_FILE_VOLUME, NULL) == NULL);
    tml_close(tml);
}

TEST(gzip_members_that_meet_where_a_read_ends)
{
    /* Stored members of such sizes that the first ends 0 to 4 bytes before 256 KiB, which is read
     * at once: the next member's magic number then lies across two reads. */
    enum { READ = 256 << 10, ROOM = 300 << 10, SECOND = 1000 };
    tml_context *tml = open_plain();
    uint8_t *data = malloc(ROOM), *packed = malloc(2 * ROOM);
    for (uint64_t i = 0; i < ROOM; i++)
        data[i] = (uint8_t)pattern(i);
    int met = 0;
    for (size_t first = READ - 60; first < READ - 30; first++) {
        size_t size = 0, sizes[2] = {first, SECOND};
        size_t ends = 0;
        for (int member = 0; member < 2; member++) {
            z_stream z = {.next_in = data + (member ? first : 0), .avail_in = (uInt)sizes[member]};
            CHECK(deflateInit2(&z, 0, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
            z.next_out = packed + size;
            z.avail_out = (uInt)(2 * ROOM - size);
            CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
            size += z.total_out;
            ends = member ? ends : size;
            deflateEnd(&z);
        }
        if (ends > READ || ends + 4 < READ)
            continue;
        met++;
        tml_volume volume;
        tml_load_desc desc = {.dims = {first + SECOND, 1, 1}, .type = TML_U8};
        if (CHECK_OK(tml, tml_volume_load_memory(tml, "a.gz", packed, size, &desc, &volume)))
            CHECK(memcmp(volume.data, data, first + SECOND) == 0);
        tml_volume_free(tml, &volume);
    }
    CHECK(met == 5);
    free(data);
    free(packed);
    tml_close(tml);
}

TEST(components_far_apart)
{
    /* Runs of 153,600 bytes, one in three: too far apart to be read together. */
    static const char header[] = "NRRD0004\ntype: uint8\ndimension: 4\nsizes: 512 300 3 4\n"
                                 "kinds: domain domain list domain\nencoding: raw\n\n";
    enum { RUN = 512 * 300, START = sizeof header - 1, SIZE = START + 12 * RUN };
    tml_context *tml = open_plain();
    uint8_t *data = malloc(SIZE);
    memcpy(data, header, START);
    for (uint64_t i = START; i < SIZE; i++)
        data[i] = (uint8_t)pattern(i);
    tml_volume volume;
    tml_load_desc desc = {.frame = 1};
    if (CHECK_OK(tml, tml_volume_load_memory(tml, "a", data, SIZE, &desc, &volume)))
        for (size_t z = 0; z < 4; z++)
            CHECK(memcmp((uint8_t *)volume.data + z * RUN, data + START + (3 * z + 1) * RUN, RUN) ==
                  0);
    tml_volume_free(tml, &volume);
    free(data);
    tml_close(tml);
}

/* ---- bricks ---------------------------------------------------------------------------------- */

/* Ranges of all types, against samples that agree, and one in every place that does not. */
TEST(bricks_hold_their_volume_and_no_other)
{
    enum { X = 66, Y = 5, Z = 6, COUNT = X * Y * Z, BRICKS = 2 * 2 * 2 };
    static const tml_type types[] = {TML_U8,  TML_I8,  TML_U16, TML_I16, TML_U32, TML_I32,
                                     TML_U64, TML_I64, TML_F16, TML_F32, TML_F64};
    static uint8_t samples[8 * COUNT];
    float ranges[2 * BRICKS];
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        size_t size = tml_type_size(types[t]);
        tml_volume_index bricks = {
            .dims = {X, Y, Z}, .type = types[t], .ranges = ranges, .count = BRICKS};
        for (int b = 0; b < BRICKS; b++) {
            ranges[2 * b] = (float)(10 * b);
            ranges[2 * b + 1] = (float)(10 * b + 9);
        }
        for (int i = 0; i < COUNT; i++) {
            int b = i % X / 64 + 2 * (i / X % Y / 4) + 4 * (i / (X * Y) / 4);
            encode(types[t], 10 * b + i % 10, samples + (size_t)i * size);
        }
        CHECK(tml_volume_index_holds(&bricks, samples, 0, Z, 1));
        CHECK(tml_volume_index_holds(&bricks, samples + 3 * X * Y * size, 3, Z - 3, 1));
        CHECK(!tml_volume_index_holds(&bricks, samples, 1, Z - 1, 1)); /* as if a layer higher */
        CHECK(!tml_volume_index_holds(&bricks, samples, 0, Z + 1, 1));
        CHECK(!tml_volume_index_holds(&bricks, samples, 0, Z, 0));
        for (int i = 0; i < COUNT; i++) {
            uint8_t kept[8];
            memcpy(kept, samples + (size_t)i * size, size);
            encode(types[t], 99, samples + (size_t)i * size);
            CHECK(!tml_volume_index_holds(&bricks, samples, 0, Z, 1));
            CHECK(tml_volume_index_holds(&bricks, samples, 0, Z, 7) == (i / X % 7 != 0));
            memcpy(samples + (size_t)i * size, kept, size);
        }
        if (tml_type_is_float(types[t])) { /* NaN belongs into a brick without bounds */
            memset(samples, 0xff, size);
            CHECK(!tml_volume_index_holds(&bricks, samples, 0, Z, 1));
            ranges[0] = -INFINITY;
            ranges[1] = INFINITY;
            CHECK(tml_volume_index_holds(&bricks, samples, 0, Z, 1));
        }
    }
}

/* ---- lies, cuts and failures ----------------------------------------------------------------- */

TEST(lying_headers_allocate_nothing)
{
    memory_watch watch;
    tml_context *tml = open_watched(&watch);
    static bytes file;
    static const char *const nrrd_sizes[] = {"1000000 1000000 1000000",
                                             "4294967296 4294967296 1",
                                             "18446744073709551615 1 1",
                                             "9223372036854775807 2 1",
                                             "0 1 1",
                                             "-1 2 2",
                                             "3 3",
                                             "3 3 3 3",
                                             "99999999999999999999 1 1",
                                             "2 2 3000000000",
                                             "1e3 1 1",
                                             "0x10 1 1",
                                             ""};
    static const char *const encodings[] = {"raw", "gzip", "ascii"};
    for (size_t i = 0; i < sizeof nrrd_sizes / sizeof nrrd_sizes[0]; i++)
        for (int k = 0; k < 3; k++) {
            char fields[256];
            snprintf(fields, sizeof fields,
                     "type: double\nendian: little\nencoding: %s\ndimension: 3\nsizes: %s\n\n0123",
                     encodings[k], nrrd_sizes[i]);
            nrrd_start(&file, fields);
            expect_error(tml, fields, "a", &file, TML_ERROR_FILE_FORMAT, "a:");
        }
    /* A few compressed bytes that promise more than deflate can make of them. */
    nrrd_start(&file, "type: uchar\nencoding: gzip\ndimension: 3\nsizes: 100000 1000 1\n\n");
    add_gzip(&file, (const uint8_t[64]){0}, 64);
    expect_error(tml, "deflate ratio", "a", &file, TML_ERROR_FILE_FORMAT, "cannot make");
    nrrd_start(&file, "type: uchar\nencoding: raw\ndimension: 1\nsizes: 4\n"
                      "byte skip: 9223372036854775807\n\n");
    expect_error(tml, "long skip", "a", &file, TML_ERROR_FILE_FORMAT, "a:");
    nrrd_start(&file, "type: uchar\nencoding: ascii\ndimension: 1\nsizes: 1\n"
                      "byte skip: 9223372036854775807\n\n1");
    expect_error(tml, "long skip", "a", &file, TML_ERROR_FILE_FORMAT, "a:");

    for (int version = 1; version <= 2; version++) {
        nifti_case c = {version, .type = 64,
                        .dims = {7, 32767, 32767, 32767, 32767, 32767, 32767, 32767},
                        .pixdim = {1, 1, 1, 1}};
        make_nifti(&file, &c);
        expect_error(tml, "nifti", "a", &file, TML_ERROR_FILE_FORMAT, "a:");
        c.dims[0] = 3;
        make_nifti(&file, &c);
        expect_error(tml, "nifti", "a", &file, TML_ERROR_FILE_FORMAT, "a:");
        c.dims[2] = -3;
        make_nifti(&file, &c);
        expect_error(tml, "nifti", "a", &file, TML_ERROR_FILE_FORMAT, "dim[2] is -3");
        c.dims[0] = 8;
        make_nifti(&file, &c);
        expect_error(tml, "nifti", "a", &file, TML_ERROR_FILE_FORMAT, "dim[0] is 8");
    }
    nifti_case c = {2, .type = 64, .dims = {3, INT64_MAX, INT64_MAX, 4}, .pixdim = {1, 1, 1, 1}};
    make_nifti(&file, &c);
    expect_error(tml, "nifti-2", "a", &file, TML_ERROR_FILE_FORMAT, "address space");
    nifti_case offset = {1, .type = 2, .dims = {3, 2, 2, 2}, .pixdim = {1, 1, 1, 1}};
    static const double offsets[] = {-1, 100, 352.5, 1e30, INFINITY, NAN, 4e9};
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        make_nifti(&file, &offset);
        put_f32(&file, 108, offsets[i], false);
        add_samples(&file, TML_U8, 0, 8, false);
        expect_error(tml, "offset", "a", &file, TML_ERROR_FILE_FORMAT, "a:");
    }
    mrc_case mrc = {2, .size = {16777216, 16777216, 16777216}, .axes = {1, 2, 3}};
    make_mrc(&file, &mrc);
    expect_error(tml, "mrc", "a", &file, TML_ERROR_FILE_FORMAT, "a:");
    CHECK(watch.largest <= 2 << 20);
    tml_close(tml);
    CHECK_EQ_U64(watch.live, 0);
}

/* Every start of a file, and the file with each byte of its header changed: an error or a volume,
 * never a fault (a sanitizer build says so), never much memory. */
static void cut_and_change(tml_context *tml, const char *name, const bytes *file, size_t header)
{
    static bytes changed;
    tml_volume volume;
    for (size_t size = 0; size < file->size; size++) {
        memcpy(changed.data, file->data, size);
        changed.size = size;
        tml_status status = load(tml, name, &changed, NULL, &volume);
        if (status == TML_OK && size >= header) /* a cut header may by chance be one still */
            test_fail(__FILE__, __LINE__, "%s loads from its first %zu bytes", name, size);
        tml_volume_free(tml, &volume);
    }
    for (size_t at = 0; at < header; at++)
        for (int i = 0; i < 4; i++) {
            static const uint8_t values[] = {0, 0xff, 0x7f, '9'};
            changed = *file;
            changed.data[at] = values[i];
            if (load(tml, name, &changed, NULL, &volume) == TML_OK)
                tml_volume_free(tml, &volume);
        }
}

TEST(cut_and_changed_files)
{
    memory_watch watch;
    tml_context *tml = open_watched(&watch);
    static bytes file;
    nrrd_start(&file, "type: short\nencoding: raw\ndimension: 4\nsizes: 2 3 2 2\nspace: RAS\n"
                      "space directions: none (1,0,0) (0,1,0) (0,0,1)\nendian: big\n\n");
    size_t header = file.size;
    add_samples(&file, TML_I16, 0, 24, true);
    cut_and_change(tml, "a.nrrd", &file, header);
    nrrd_start(&file, "type: short\nencoding: gzip\ndimension: 3\nsizes: 4 3 2\nendian: big\n\n");
    header = file.size;
    static bytes samples;
    samples.size = 0;
    add_samples(&samples, TML_I16, 0, 24, true);
    add_gzip(&file, samples.data, samples.size);
    cut_and_change(tml, "a.nrrd", &file, file.size);
    for (int version = 1; version <= 2; version++) {
        nifti_case c = {version, .type = 4, .dims = {3, 4, 3, 2}, .pixdim = {1, 1, 1, 1},
                        .qform = 1};
        make_nifti(&file, &c);
        add_samples(&file, TML_I16, 0, 24, false);
        cut_and_change(tml, "a.nii", &file, file.size);
    }
    file.size = 0;
    add_text(&file, "ObjectType = Image\nNDims = 3\nDimSize = 4 3 2\nElementType = MET_SHORT\n"
                    "ElementSpacing = 1 1 1\nElementDataFile = LOCAL\n");
    add_samples(&file, TML_I16, 0, 24, false);
    cut_and_change(tml, "a.mha", &file, file.size - 48);
    mrc_case mrc = {1, .size = {4, 3, 2}, .axes = {3, 2, 1}, .cell = {4, 3, 2},
                    .sampling = {4, 3, 2}};
    make_mrc(&file, &mrc);
    add_samples(&file, TML_I16, 0, 24, false);
    cut_and_change(tml, "a.mrc", &file, 256);
    make_npy(&file, 1, "<i2", true, "(2, 3, 4)");
    header = file.size;
    add_samples(&file, TML_I16, 0, 24, false);
    cut_and_change(tml, "a.npy", &file, header);
    CHECK(watch.largest <= 2 << 20);
    tml_close(tml);
    CHECK_EQ_U64(watch.live, 0);
}

TEST(every_allocation_may_fail)
{
    memory_watch watch;
    tml_context *tml = open_watched(&watch);
    static const char *const names[] = {"volumes/ball30_gz.nrrd", "volumes/EMD-3197.map",
                                        "volumes/fuel_crop.nii.gz", "volumes/ct_lung_small.mha"};
    size_t live = watch.live;
    tml_volume volume;
    for (size_t i = 0; i < 4; i++) {
        tml_status status = TML_ERROR_OUT_OF_MEMORY;
        for (uint64_t n = 1; status != TML_OK && n < 50; n++) {
            watch.count = 0;
            watch.fail_at = n;
            status = tml_volume_load(tml, test_data(names[i]), NULL, &volume);
            CHECK(status == TML_OK || status == TML_ERROR_OUT_OF_MEMORY);
            tml_volume_free(tml, &volume);
            CHECK_EQ_U64(watch.live, live);
        }
        CHECK(status == TML_OK);
        watch.fail_at = 0;
    }
    watch.count = 0;
    watch.fail_at = 1;
    static uint8_t pixel[4] = {1, 2, 3, 4};
    CHECK_STATUS(tml_picture_save(tml, in_folder("a.png"),
                                  &(tml_picture){.data = pixel,
                                                 .type = TML_U8,
                                                 .width = 1,
                                                 .height = 1,
                                                 .channels = 4,
                                                 .srgb = true}),
                 TML_ERROR_OUT_OF_MEMORY);
    CHECK_EQ_U64(file_count(), 0);
    watch.fail_at = 0;
    tml_close(tml);
    CHECK_EQ_U64(watch.live, 0);
}

/* Counts calls and cancels at one of them. */
typedef struct progress_watch {
    int calls, cancel_at;
    double last;
} progress_watch;

static bool watch_progress(void *user, const char *stage, double fraction)
{
    progress_watch *watch = user;
    CHECK(stage && fraction >= watch->last && fraction <= 1);
    watch->last = fraction;
    return ++watch->calls != watch->cancel_at;
}

TEST(reading_and_writing_report_and_can_be_cancelled)
{
    progress_watch watch = {0};
    tml_context *tml = NULL;
    tml_open_desc desc = {.engine = TML_ENGINE_CPU,
                          .threads = 1,
                          .progress = watch_progress,
                          .progress_user = &watch};
    if (!CHECK_OK(tml, tml_open(&desc, &tml)))
        return;
    tml_volume volume;
    const char *engine = test_data("engine_256x256x128_uint8.raw.gz");
    if (!CHECK_OK(tml, tml_volume_load(tml, engine, NULL, &volume)))
        return;
    CHECK(watch.calls > 1 && watch.calls <= 200 && watch.last == 1);
    watch = (progress_watch){0};
    CHECK_OK(tml, tml_volume_save(tml, in_folder("a.nrrd"), &volume));
    CHECK(watch.calls > 1 && watch.calls <= 200);

    tml_volume other;
    for (int i = 0; i < 3; i++) {
        watch = (progress_watch){.cancel_at = 2};
        tml_status status = i == 0   ? tml_volume_load(tml, engine, NULL, &other)
                            : i == 1 ? tml_volume_load(tml, in_folder("a.nrrd"), NULL, &other)
                                     : tml_volume_save(tml, in_folder("b.nrrd"), &volume);
        CHECK(status == TML_ERROR_CANCELLED);
        CHECK(watch.calls == 2);
        tml_cancel_clear(tml);
    }
    CHECK_EQ_U64(file_count(), 1); /* a.nrrd alone: nothing of the cancelled one */
    tml_volume_free(tml, &volume);
    remove_files();
    tml_close(tml);
}

/* ---- saving ---------------------------------------------------------------------------------- */

TEST(saved_volumes_come_back_bit_for_bit)
{
    tml_context *tml = open_plain();
    static bytes file;
    static const char *const endings[] = {"a.nrrd", "a.npy", "a.raw", "a.mha"};
    for (size_t i = 0; i < TYPE_COUNT; i++)
        for (int k = 0; k < 4; k++) {
            const bool has_grid = k == 0 || k == 3;
            file.size = 0;
            add_samples(&file, all_types[i], 0, 5 * 7 * 3, false);
            for (size_t n = 0; n < file.size; n += 3)
                file.data[n] ^= (uint8_t)(n * 37); /* NaN and all */
            tml_volume before = {.data = file.data,
                                 .size = file.size,
                                 .type = all_types[i],
                                 .grid = {.dims = {5, 7, 3},
                                          .spacing = {0.1, 1.0 / 3, 7e-9},
                                          .origin = {-1e9, 0.7, 3},
                                          .direction = {0, -1, 0, 1, 0, 0, 0, 0, 1}},
                                 .slope = 0.1,
                                 .intercept = -3,
                                 .space = LPS,
                                 .comment = "two words"};
            const char *path = in_folder(endings[k]);
            if (has_grid && all_types[i] == TML_F16) {
                CHECK_STATUS(tml_volume_save(tml, path, &before), TML_ERROR_UNSUPPORTED);
                continue;
            }
            CHECK_OK(tml, tml_volume_save(tml, path, &before));
            tml_volume after;
            tml_load_desc raw = {.dims = {5, 7, 3}, .type = all_types[i]};
            if (!CHECK_OK(tml, tml_volume_load(tml, path, k == 2 ? &raw : NULL, &after)))
                continue;
            CHECK(after.type == all_types[i] && dims_are(&after, 5, 7, 3) &&
                  after.size == file.size && memcmp(after.data, file.data, file.size) == 0);
            if (k == 0) {
                CHECK_STR(after.comment, "two words");
                CHECK(after.slope == 0.1 && after.intercept == -3);
            }
            if (has_grid) {
                CHECK_STR(after.space, LPS);
                for (int n = 0; n < 3; n++) {
                    CHECK_NEAR(after.grid.spacing[n] / before.grid.spacing[n], 1, 1e-15);
                    CHECK(after.grid.origin[n] == before.grid.origin[n]);
                }
                CHECK(memcmp(after.grid.direction, before.grid.direction, sizeof identity) == 0);
            }
            tml_volume_free(tml, &after);
        }
    tml_volume plain = {.data = file.data, .size = 8, .type = TML_U8, .grid = {.dims = {2, 2, 2}}};
    tml_volume after;
    CHECK_OK(tml, tml_volume_save(tml, in_folder("p.nrrd"), &plain));
    if (CHECK_OK(tml, tml_volume_load(tml, in_folder("p.nrrd"), NULL, &after)))
        CHECK(near3(after.grid.spacing, 1, 1, 1) && after.slope == 1 && after.intercept == 0 &&
              memcmp(after.grid.direction, identity, sizeof identity) == 0);
    tml_volume_free(tml, &after);
    /* MetaImage is LPS: what was RAS comes back with x and y the other way. */
    snprintf(plain.space, sizeof plain.space, "right-anterior-superior");
    memcpy(plain.grid.origin, (double[3]){1, 2, 3}, sizeof plain.grid.origin);
    memcpy(plain.grid.direction, (double[9]){0, 1, 0, 1, 0, 0, 0, 0, 1}, 9 * sizeof(double));
    CHECK_OK(tml, tml_volume_save(tml, in_folder("p.mha"), &plain));
    if (CHECK_OK(tml, tml_volume_load(tml, in_folder("p.mha"), NULL, &after))) {
        static const double turned[9] = {0, -1, 0, -1, 0, 0, 0, 0, 1};
        CHECK(near3(after.grid.origin, -1, -2, 3) && near3(after.grid.spacing, 1, 1, 1));
        for (int n = 0; n < 9; n++)
            CHECK(after.grid.direction[n] == turned[n]);
    }
    tml_volume_free(tml, &after);

    CHECK_STATUS(tml_volume_save(tml, in_folder("a.tif"), &plain), TML_ERROR_UNSUPPORTED);
    CHECK_STATUS(tml_volume_save(tml, in_folder("a.nrrd.gz"), &plain), TML_ERROR_UNSUPPORTED);
    CHECK_STATUS(tml_volume_save(tml, NULL, &plain), TML_ERROR_UNSUPPORTED);
    CHECK_STATUS(tml_volume_save(tml, in_folder("no/folder/a.nrrd"), &plain),
                 TML_ERROR_FILE_ACCESS);
    plain.size = 9;
    CHECK_STATUS(tml_volume_save(tml, in_folder("a.nrrd"), &plain), TML_ERROR_INVALID_ARGUMENT);
    remove_files();
    tml_close(tml);
}

/* What a format does not hold is told, and the unit comes back where it is held. */
TEST(what_a_format_cannot_hold_is_told)
{
    static uint8_t samples[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const struct {
        const char *name, *unit;
        double slope;
        bool is_placed;
        const char *warning[3];
    } cases[] = {
        {"a.nrrd", "\u00b5m", 2, true, {NULL}},
        {"a.mha", "\u00b5m", 1, true, {NULL}},
        {"a.mha", "mm", 2, true, {"values are 2 x sample"}},
        {"a.mha", "nm", 1, true, {"does not hold the unit of lengths, nm"}},
        {"a.npy",
         "mm",
         2,
         true,
         {"values are 2 x", "unit of lengths, mm", "does not hold spacing"}},
        {"a.raw", "", 1, true, {"does not hold spacing"}},
        {"a.npy", "", 1, false, {NULL}},
    };
    tml_context *tml = open_listening();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tml_volume before = {.data = samples,
                             .size = 8,
                             .type = TML_U8,
                             .slope = cases[i].slope,
                             .grid = {.dims = {2, 2, 2}}};
        snprintf(before.unit, sizeof before.unit, "%s", cases[i].unit);
        before.grid.spacing[1] = cases[i].is_placed ? 3 : 0;
        warned[0] = '\0';
        CHECK_OK(tml, tml_volume_save(tml, in_folder(cases[i].name), &before));
        for (int k = 0; k < 3 && cases[i].warning[k]; k++)
            CHECK_WARNED(cases[i].warning[k]);
        if (!cases[i].warning[0])
            CHECK_WARNED(NULL);
        tml_volume after;
        bool is_held = strstr(cases[i].name, "npy") == NULL && strstr(cases[i].name, "raw") == NULL;
        if (is_held &&
            CHECK_OK(tml, tml_volume_load(tml, in_folder(cases[i].name), NULL, &after))) {
            CHECK_STR(after.unit, strcmp(cases[i].unit, "nm") == 0 ? "" : cases[i].unit);
            CHECK(near3(after.grid.spacing, 1, 3, 1));
            tml_volume_free(tml, &after);
        }
    }
    /* A space that is left, anterior, superior differs from MetaImage's in y alone. */
    tml_volume las = {.data = samples,
                      .size = 8,
                      .type = TML_U8,
                      .grid = {.dims = {2, 2, 2}, .origin = {1, 2, 3}},
                      .space = "left-anterior-superior"},
               after;
    CHECK_OK(tml, tml_volume_save(tml, in_folder("a.mha"), &las));
    if (CHECK_OK(tml, tml_volume_load(tml, in_folder("a.mha"), NULL, &after)))
        CHECK(near3(after.grid.origin, 1, -2, 3) && axis_is(&after, 1, 0, -1, 0) &&
              axis_is(&after, 0, 1, 0, 0));
    tml_volume_free(tml, &after);
    remove_files();
    tml_close(tml);
}

/* Files that stand in for a volume are named as what they are, whatever their name, from disk
 * and from memory. */
TEST(files_that_stand_in_for_others)
{
    static const struct {
        const char *text, *word;
    } cases[] = {
        {"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 4743512\n",
         "pointer of Git LFS"},
        {"/annex/objects/SHA256E-s12--00.nii.gz\n", "pointer of git-annex"},
        {"<!DOCTYPE html>\n<html lang=\"en\">", "web page (HTML)"},
        {"\xef\xbb\xbf\r\n <!doctype HTML>", "web page (HTML)"},
        {"<HTML><body>", "web page (HTML)"},
        {"404: Not Found", "a download failed"},
        {"<?xml version=\"1.0\"?>\n<Error><Code>AccessDenied</Code></Error>", "a download failed"},
    };
    static const char *const names[] = {"a.nii.gz", "a.nrrd", "a.tif",    "a.mha", "a.mrc",
                                        "a.vti",    "a.dcm",  "a.raw.gz", "a.npy"};
    tml_context *tml = open_plain();
    tml_volume volume;
    static bytes file;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            file.size = 0;
            add_text(&file, cases[i].text);
            write_file(names[k], file.data, file.size);
            CHECK_STATUS(tml_volume_load(tml, in_folder(names[k]), NULL, &volume),
                         TML_ERROR_UNSUPPORTED);
            if (!strstr(tml_last_error(tml), cases[i].word))
                test_fail(__FILE__, __LINE__, "%s: %s", names[k], tml_last_error(tml));
            CHECK(tml_file_format(tml, in_folder(names[k]), TML_FILE_VOLUME, NULL) == NULL);
            expect_error(tml, names[k], names[k], &file, TML_ERROR_UNSUPPORTED, cases[i].word);
            tml_points points;
            tml_mesh_file mesh;
            tml_array array;
            tml_picture picture;
            CHECK_STATUS(tml_points_load(tml, in_folder(names[k]), NULL, &points),
                         TML_ERROR_UNSUPPORTED);
            CHECK(strstr(tml_last_error(tml), cases[i].word));
            CHECK_STATUS(tml_mesh_load(tml, in_folder(names[k]), NULL, &mesh),
                         TML_ERROR_UNSUPPORTED);
            CHECK(strstr(tml_last_error(tml), cases[i].word));
            CHECK_STATUS(tml_array_load(tml, in_folder(names[k]), 0, UINT64_MAX, &array),
                         TML_ERROR_UNSUPPORTED);
            CHECK(strstr(tml_last_error(tml), cases[i].word));
            CHECK_STATUS(tml_picture_load(tml, in_folder(names[k]), NULL, &picture),
                         TML_ERROR_UNSUPPORTED);
            CHECK(strstr(tml_last_error(tml), cases[i].word));
            remove_files();
        }
    /* The samples beside a header, and the slices of a folder. */
    write_file("s.raw", cases[0].text, strlen(cases[0].text));
    static const char header[] =
        "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 2 2 2\nencoding: raw\ndata file: s.raw\n";
    write_file("a.nhdr", header, sizeof header - 1);
    CHECK_STATUS(tml_volume_load(tml, in_folder("a.nhdr"), NULL, &volume), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), "s.raw: is a pointer of Git LFS"));
    write_file("s1.tif", cases[0].text, strlen(cases[0].text));
    CHECK_STATUS(tml_volume_load(tml, folder, NULL, &volume), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), "s1.tif: is a pointer of Git LFS"));
    remove_files();
    if (test_full_data("reports/pointer.nii.gz")) {
        CHECK_STATUS(tml_volume_load(tml, test_full_data("reports/pointer.nii.gz"), NULL, &volume),
                     TML_ERROR_UNSUPPORTED);
        CHECK(strstr(tml_last_error(tml), "pointer of Git LFS") &&
              !strstr(tml_last_error(tml), "gzip"));
    }
    tml_close(tml);
}

/* ---- remedies -------------------------------------------------------------------------------- */

#define CUBE    "type: uchar\nencoding: raw\ndimension: 3\nsizes: 2 2 2\n"
#define META    "ObjectType = Image\nNDims = 3\nDimSize = 2 2 2\nElementType = MET_UCHAR\n"
#define VTK_TOP "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_POINTS\n"
#define VTI_TOP "<VTKFile type=\"ImageData\"><ImageData WholeExtent=\"0 1 0 1 0 1\" "
#define VTI_END                                                                                    \
    "><Piece Extent=\"0 1 0 1 0 1\"><PointData><DataArray type=\"UInt8\" format=\"ascii\">1 2 3 "  \
    "4 5 6 7 8"                                                                                    \
    "</DataArray></PointData></Piece></ImageData></VTKFile>"

/* Each message that says how to mend something is followed here: the input as it is refused, the
 * words, and the input or the desc as they tell to change it, which must then be read. */
TEST(each_remedy_works)
{
    static const tml_load_desc spacing = {.spacing = {7, 8, 9}},
                               cube = {.dims = {2, 2, 2}, .type = TML_U8},
                               second = {.dims = {2, 2, 2}, .type = TML_U8, .frame = 1},
                               skip = {.dims = {2, 2, 2}, .type = TML_U8, .skip = 3},
                               negative = {.spacing = {-1, 0, 0}}, frame = {.frame = 1}, none = {0};
    enum { AS_IS, GZIP, GZIP_TWICE };
    static const struct {
        const char *name, *text;
        int packed;
        const tml_load_desc *desc;
        const char *word;       /* of the remedy */
        const char *text_after; /* NULL: as before */
        int packed_after;
        const tml_load_desc *desc_after;
    } cases[] = {
        {"a", "NRRD0004\n" CUBE "spacings: 1 0 1\n\n12345678", 0, &none, "give desc.spacing", NULL,
         0, &spacing},
        {"a", "NRRD0004\n" CUBE "spacings: 1 nan 1\n\n12345678", 0, &none, "give desc.spacing",
         NULL, 0, &spacing},
        {"a", "NRRD0004\n" CUBE "space: RAS\nspace directions: (1,0,0) (0,0,0) (0,0,1)\n\n12345678",
         0, &none, "give desc.spacing", NULL, 0, &spacing},
        {"a", "NRRD0004\n" CUBE "space: RAS\nspace directions: (0,0,0) (0,0,0) (0,0,0)\n\n12345678",
         0, &none, "give desc.spacing", NULL, 0, &spacing},
        {"a",
         "NRRD0004\n" CUBE "space: RAS\nspace directions: (1,0,0) (0,nan,1) (0,0,1)\n\n12345678", 0,
         &none, "give desc.spacing", NULL, 0, &spacing},
        {"a", "NRRD0004\n" CUBE "\n12345678", 0, &negative, "needs a length above 0, or 0", NULL, 0,
         &none},
        {"a", "NRRD0004\n" CUBE "\n12345678", 0, &cube, "leave them 0", NULL, 0, &none},
        {"a", "NRRD0004\n" CUBE "\n12345678", 0, &frame, "needs less than 1", NULL, 0, &none},
        {"a", "NRRD0004\n" CUBE "spacings: 1 1 1\nspacings: 2 2 2\n\n12345678", 0, &none,
         "remove one", "NRRD0004\n" CUBE "spacings: 1 1 1\n\n12345678", 0, &none},
        {"a", "NRRD0004\n" CUBE "spacings: 1 2\n\n12345678", 0, &none, "give desc.spacing", NULL, 0,
         &spacing},
        {"a", "NRRD0004\ntype: ushort\nencoding: raw\ndimension: 1\nsizes: 4\n\n12345678", 0, &none,
         "add \"endian: little\"",
         "NRRD0004 \ntype: ushort\nencoding: raw\ndimension: 1\nsizes: 4\nendian: "
         "little\n\n12345678",
         0, &none},
        {"a.mha", META "ElementSpacing = 1 2\nElementDataFile = LOCAL\n12345678", 0, &none,
         "give desc.spacing", NULL, 0, &spacing},
        {"a.mha", META "ElementSpacing = 1 0 1\nElementDataFile = LOCAL\n12345678", 0, &none,
         "give desc.spacing", NULL, 0, &spacing},
        {"a.mha", META "TransformMatrix = 1 0 0 0 0 0 0 0 1\nElementDataFile = LOCAL\n12345678", 0,
         &none, "give desc.spacing", NULL, 0, &spacing},
        {"a",
         VTK_TOP "DIMENSIONS 2 2 2\nSPACING 1 0 1\nPOINT_DATA 8\nSCALARS s "
                 "unsigned_char\nLOOKUP_TABLE default\n"
                 "1 2 3 4 5 6 7 8\n",
         0, &none, "give desc.spacing", NULL, 0, &spacing},
        {"a",
         VTK_TOP "DIMENSIONS 2 2 2\nPOINT_DATA 8\nSCALARS s unsigned_char\nLOOKUP_TABLE default\n"
                 "1 2 3 4 5 6 7 8\n",
         GZIP, &none, "gunzip it first", NULL, AS_IS, &none},
#ifdef TML_XML
        {"a.vti", VTI_TOP "Spacing=\"1 0 1\"" VTI_END, 0, &none, "give desc.spacing", NULL, 0,
         &spacing},
        {"a.vti", VTI_TOP "Direction=\"1 0 0 0 0 0 0 0 1\"" VTI_END, 0, &none, "give desc.spacing",
         NULL, 0, &spacing},
        {"a.vti", VTI_TOP VTI_END, GZIP, &none, "gunzip it first", NULL, AS_IS, &none},
        {"a.vti", "<!DOCTYPE x []>" VTI_TOP VTI_END, 0, &none, "remove it", VTI_TOP VTI_END, 0,
         &none},
#endif
        {"a.raw", "12345678", 0, &none, "give desc.dims and desc.type", NULL, 0, &cube},
        {"a.raw.gz", "12345678", GZIP, &none, "give desc.dims and desc.type, which unzips", NULL,
         GZIP, &cube},
        {"a.gz", "12345678", GZIP, &none, "give desc.dims and desc.type, which unzips", NULL, GZIP,
         &cube},
        {"a.raw.gz", "1234567812345678", GZIP, &second, "gunzip it first", NULL, AS_IS, &second},
        {"a.raw", "HHH12345678", 0, &cube, "check desc.dims, desc.type and desc.skip", NULL, 0,
         &skip},
        {"a.raw.gz", "HHH12345678", GZIP, &cube, "check desc.dims, desc.type and desc.skip", NULL,
         GZIP, &skip},
        {"a.nrrd.gz", "NRRD0004\n" CUBE "\n12345678", GZIP_TWICE, &none, "gunzip it once", NULL,
         GZIP, &none},
        {"a.npz", "PK\3\4 and so on", 0, &none, "unzip it and name one of the files",
         "NRRD0004\n" CUBE "\n12345678", 0, &none},
    };
    tml_context *tml = open_plain();
    static bytes plain, file, twice;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int after = 0; after < 2; after++) {
            const char *text = after && cases[i].text_after ? cases[i].text_after : cases[i].text;
            int packed = after ? cases[i].packed_after : cases[i].packed;
            plain.size = file.size = twice.size = 0;
            add_text(&plain, text);
            add_gzip(&file, plain.data, plain.size);
            add_gzip(&twice, file.data, file.size);
            tml_volume volume;
            tml_status status = load(tml, cases[i].name,
                                     packed == AS_IS  ? &plain
                                     : packed == GZIP ? &file
                                                      : &twice,
                                     after ? cases[i].desc_after : cases[i].desc, &volume);
            if (after ? status != TML_OK
                      : status == TML_OK || !strstr(tml_last_error(tml), cases[i].word))
                test_fail(__FILE__, __LINE__, "case %zu, %s: %s", i,
                          after ? "with its remedy" : cases[i].word,
                          status ? tml_last_error(tml) : "is read");
            if (status == TML_OK && cases[i].desc_after == &spacing)
                CHECK(near3(volume.grid.spacing, 7, 8, 9));
            tml_volume_free(tml, &volume);
        }
    tml_close(tml);
}

TEST(a_failed_write_leaves_the_old_file)
{
    tml_context *tml = open_plain();
    uint8_t samples[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    tml_volume volume = {.data = samples, .size = 8, .type = TML_U8, .grid = {.dims = {2, 2, 2}}};
    io_writer writer;
    write_file("old.raw", "old", 3);
    CHECK(chmod(in_folder("old.raw"), 0640) == 0);

    CHECK_OK(tml, tml_io_create(tml, "test", in_folder("old.raw"), 0, &writer));
    CHECK_EQ_U64(file_count(), 2); /* the old and the new */
    tml_io_print(&writer, "%s", "new");
    CHECK(tml_io_finish(&writer, TML_ERROR_CANCELLED) == TML_ERROR_CANCELLED);
    CHECK_EQ_U64(file_count(), 1);
    struct stat info;
    CHECK(stat(in_folder("old.raw"), &info) == 0 && info.st_size == 3);
    CHECK_STATUS(tml_volume_save(tml, folder, &volume), TML_ERROR_UNSUPPORTED);
    CHECK_STATUS(tml_io_create(tml, "test", folder, 0, &writer), TML_ERROR_FILE_ACCESS);

#ifndef _WIN32
    /* Through a link: the link stays, what it points to is replaced, with its permissions. */
    CHECK(symlink("old.raw", in_folder("link.raw")) == 0);
    CHECK_OK(tml, tml_volume_save(tml, in_folder("link.raw"), &volume));
    CHECK(lstat(in_folder("link.raw"), &info) == 0 && S_ISLNK(info.st_mode));
    CHECK(stat(in_folder("old.raw"), &info) == 0 && info.st_size == 8 &&
          (info.st_mode & 0777) == 0640);

    /* A device is written directly, not replaced. */
    if (access("/dev/full", W_OK) == 0) {
        CHECK(symlink("/dev/full", in_folder("full.raw")) == 0);
        CHECK_STATUS(tml_volume_save(tml, in_folder("full.raw"), &volume), TML_ERROR_FILE_ACCESS);
        CHECK(strstr(tml_last_error(tml), "disk is full") &&
              strstr(tml_last_error(tml), "full.raw"));
        CHECK(stat("/dev/full", &info) == 0 && S_ISCHR(info.st_mode));
    }
#endif
    remove_files();
    tml_close(tml);
}

TEST(large_and_small_writes_mix)
{
    tml_context *tml = open_plain();
    io_writer writer;
    size_t size = 3u << 20, at = 0;
    uint8_t *data = malloc(size);
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)(i * 2654435761u >> 13);
    CHECK_OK(tml, tml_io_create(tml, "test", in_folder("a"), size, &writer));
    static const size_t pieces[] = {1, IO_WRITER_BUFFER - 1, 1, IO_WRITER_BUFFER,
                                    7, IO_WRITER_BUFFER - 8};
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; at += pieces[i++])
        CHECK(tml_io_write(&writer, data + at, pieces[i]));
    CHECK_EQ_U64(at, size);
    CHECK_OK(tml, tml_io_finish(&writer, TML_OK));
    io_file file;
    io_block block = {0};
    CHECK_OK(tml, tml_io_open(tml, "test", in_folder("a"), &file));
    CHECK_OK(tml, tml_io_read_all(&file, &block));
    CHECK(block.size == size && memcmp(block.data, data, size) == 0);
    tml_io_block_free(&file, &block);
    tml_io_close(&file);
    free(data);
    remove_files();
    tml_close(tml);
}

TEST(unreadable_files_get_an_error)
{
    tml_context *tml = open_plain();
    tml_volume volume;
    CHECK_STATUS(tml_volume_load(tml, in_folder("none.nrrd"), NULL, &volume),
                 TML_ERROR_FILE_ACCESS);
    CHECK(strstr(tml_last_error(tml), "none.nrrd") && strstr(tml_last_error(tml), "No such file"));
    CHECK_STATUS(tml_volume_load(tml, folder, NULL, &volume), TML_ERROR_FILE_ACCESS);
    CHECK_STATUS(tml_volume_load(tml, NULL, NULL, &volume), TML_ERROR_FILE_ACCESS);
#ifndef _WIN32
    CHECK_STATUS(tml_volume_load(tml, "/dev/zero", NULL, &volume), TML_ERROR_FILE_ACCESS);
    CHECK(mkfifo(in_folder("pipe"), 0600) == 0);
    CHECK_STATUS(tml_volume_load(tml, in_folder("pipe"), NULL, &volume), TML_ERROR_FILE_ACCESS);
#endif
    static char path[5000];
    memset(path, 'a', sizeof path - 1);
    CHECK_STATUS(tml_volume_load(tml, path, NULL, &volume), TML_ERROR_FILE_ACCESS);
    write_file("empty.nrrd", "", 0);
    CHECK_STATUS(tml_volume_load(tml, in_folder("empty.nrrd"), NULL, &volume),
                 TML_ERROR_FILE_FORMAT);
    remove_files();
    tml_close(tml);
}

/* ---- text ------------------------------------------------------------------------------------ */

static io_span span_of(const char *text)
{
    return (io_span){text, strlen(text)};
}

TEST(numbers_in_text)
{
    static const char *const good[] = {"0",
                                       "-0",
                                       "1",
                                       "+7",
                                       ".5",
                                       "5.",
                                       "1e3",
                                       "1E+3",
                                       "-2.5e-3",
                                       "1e22",
                                       "1e23",
                                       "123456789012345678",
                                       "9007199254740993",
                                       "0.1",
                                       "1e-22",
                                       "4.9e-324",
                                       "2.2250738585072014e-308",
                                       "1.7976931348623157e308",
                                       "1e-400",
                                       "000000000000000000000000.5",
                                       "0.000000000000000000000000000000000000012345",
                                       "12345678901234567890123456789",
                                       "3.14159265358979323846264338327950288",
                                       "8.98846567431158e307",
                                       "6.02214076e23",
                                       "0e999999",
                                       "1e-30",
                                       "179769313486231570000e288"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        double value = -1;
        CHECK(tml_io_parse_f64(span_of(good[i]), &value));
        if (value != strtod(good[i], NULL))
            test_fail(__FILE__, __LINE__, "%s: %.17g", good[i], value);
    }
    static const char *const bad[] = {"",      "-",    "+",    ".",     "e5",
                                      "1e",    "1e+",  "1 ",   " 1",    "1,5",
                                      "0x1",   "1e5x", "--1",  "+-1",   "1..2",
                                      "infin", "nanx", ".inf", "1e999", "1e99999999999999999999",
                                      "1d5"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double value = 5;
        if (tml_io_parse_f64(span_of(bad[i]), &value) || value != 5)
            test_fail(__FILE__, __LINE__, "\"%s\" is read as %g", bad[i], value);
    }
    double value;
    CHECK(tml_io_parse_f64(span_of("-InFinity"), &value) && value == -INFINITY);
    CHECK(tml_io_parse_f64(span_of("NaN"), &value) && value != value);
    CHECK(tml_io_parse_f64(span_of("-0"), &value) && value == 0 && signbit(value));

    uint64_t random = 1;
    for (int i = 0; i < 20000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint64_t bits = random ^ random >> 29;
        double before, after = 0;
        char text[IO_NUMBER_SIZE];
        memcpy(&before, &bits, sizeof before);
        if (!isfinite(before))
            continue;
        size_t length = tml_io_format_f64(text, before);
        if (!tml_io_parse_f64((io_span){text, length}, &after) || after != before)
            test_fail(__FILE__, __LINE__, "%s: %.17g != %.17g", text, after, before);
        snprintf(text, sizeof text, "%.*f", i % 7,
                 before * 0x1p-1000 * 0 + (double)(int32_t)bits / 1024);
        if (!tml_io_parse_f64(span_of(text), &after) || after != strtod(text, NULL))
            test_fail(__FILE__, __LINE__, "%s: %.17g", text, after);
    }

    uint64_t natural = 0;
    int64_t integer = 0;
    CHECK(tml_io_parse_u64(span_of("18446744073709551615"), &natural) && natural == UINT64_MAX);
    CHECK(!tml_io_parse_u64(span_of("18446744073709551616"), &natural));
    CHECK(!tml_io_parse_u64(span_of("-1"), &natural) && !tml_io_parse_u64(span_of("+"), &natural));
    CHECK(tml_io_parse_i64(span_of("-9223372036854775808"), &integer) && integer == INT64_MIN);
    CHECK(!tml_io_parse_i64(span_of("9223372036854775808"), &integer));
    CHECK(!tml_io_parse_i64(span_of("-9223372036854775809"), &integer));
    CHECK(!tml_io_parse_i64(span_of("-+1"), &integer) &&
          !tml_io_parse_i64(span_of("1.0"), &integer));

    io_text text = io_text_of(span_of(" a\r\n\nbc \t d"));
    io_span span;
    CHECK(tml_io_line(&text, &span) && tml_io_is(span, " a"));
    CHECK(tml_io_line(&text, &span) && span.size == 0 && text.line == 3);
    CHECK(tml_io_word(&text, &span) && tml_io_is_any_case(span, "BC"));
    CHECK(tml_io_word(&text, &span) && tml_io_starts_with(span, "d"));
    CHECK(!tml_io_word(&text, &span) && !tml_io_line(&text, &span));
}

/* ---- pictures -------------------------------------------------------------------------------- */

#ifdef TML_PNG
TEST(png_comes_back)
{
    tml_context *tml = open_plain();
    enum { WIDTH = 67, HEIGHT = 31 };
    static uint8_t pixels[HEIGHT * WIDTH * 4], back[sizeof pixels];
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)pattern(i * i);
    CHECK_OK(tml, tml_picture_save(tml, in_folder("a.png"),
                                   &(tml_picture){.data = pixels,
                                                  .type = TML_U8,
                                                  .width = WIDTH,
                                                  .height = HEIGHT,
                                                  .channels = 4,
                                                  .srgb = true}));
    png_image png = {.version = PNG_IMAGE_VERSION};
    CHECK(png_image_begin_read_from_file(&png, in_folder("a.png")));
    CHECK(png.width == WIDTH && png.height == HEIGHT && png.format == PNG_FORMAT_RGBA);
    CHECK(png_image_finish_read(&png, NULL, back, 0, NULL));
    CHECK(memcmp(pixels, back, sizeof back) == 0);
    png_image_free(&png);
    CHECK_STATUS(tml_picture_save(tml, in_folder("b.png"),
                                  &(tml_picture){.data = pixels,
                                                 .type = TML_U8,
                                                 .width = 0,
                                                 .height = HEIGHT,
                                                 .channels = 4,
                                                 .srgb = true}),
                 TML_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(tml_picture_save(tml, in_folder("b.png"),
                                  &(tml_picture){.data = NULL,
                                                 .type = TML_U8,
                                                 .width = 1,
                                                 .height = 1,
                                                 .channels = 4,
                                                 .srgb = true}),
                 TML_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(tml_picture_save(tml, in_folder("b.png"),
                                  &(tml_picture){.data = pixels,
                                                 .type = TML_U8,
                                                 .width = 1u << 31,
                                                 .height = 1,
                                                 .channels = 4,
                                                 .srgb = true}),
                 TML_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(tml_picture_save(tml, in_folder("no/b.png"),
                                  &(tml_picture){.data = pixels,
                                                 .type = TML_U8,
                                                 .width = 1,
                                                 .height = 1,
                                                 .channels = 4,
                                                 .srgb = true}),
                 TML_ERROR_FILE_ACCESS);
    CHECK_EQ_U64(file_count(), 1);
    remove_files();
    tml_close(tml);
}
#endif

int main(int argc, char **argv)
{
    return test_main_in_folder("volumes", argc, argv);
}
