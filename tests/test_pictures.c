/* Picture files: real ones against values that another reader gave, small ones of every kind that a
 * format has, cut-off, changed and lying ones, round trips.
 *
 * The means of real files are OpenImageIO's, with which every sample was compared. The small files
 * are the fuzz targets' seeds: a picture of 24 x 14 by the formula of gradient() below, as Pillow,
 * OpenImageIO and a script wrote it. */
#include <dirent.h>
#include <zlib.h>

#include "io/pictures/picture_internal.h"
#include "test.h"

#include "memory_watch.h"

#define SEEDS TML_SOURCE_ROOT "/fuzz/seeds/picture"

enum { WIDTH = 24, HEIGHT = 14, ROOM = 1 << 16 };

/* What the small files show: 0 to 4, and as bytes. */
static double gradient(int x, int y, int c)
{
    return c == 0 ? (double)((float)x / WIDTH * 4) : c == 1 ? (double)y / HEIGHT : x * y % 7 / 7.0;
}

static int gradient_byte(int x, int y, int c)
{
    double value = gradient(x, y, c) * 255 / 4;
    return (int)(value > 255 ? 255 : value);
}

/* ---- contexts, files ------------------------------------------------------------------------- */

typedef struct bytes {
    uint8_t data[ROOM];
    size_t size;
} bytes;

static bool slurp(const char *path, bytes *out)
{
    FILE *file = fopen(path, "rb");
    out->size = file ? fread(out->data, 1, sizeof out->data, file) : 0;
    if (file)
        fclose(file);
    return CHECK(out->size > 0 && out->size < sizeof out->data);
}

static void add(bytes *file, const void *data, size_t size)
{
    memcpy(file->data + file->size, data, size);
    file->size += size;
}

static void add_text(bytes *file, const char *text)
{
    add(file, text, strlen(text));
}

/* Loads from a block that ends where the file does, so that a sanitizer sees the byte past it. */
static tml_status load_bytes(tml_context *tml, const bytes *file, tml_picture *out)
{
    uint8_t *copy = malloc(file->size ? file->size : 1);
    memcpy(copy, file->data, file->size);
    tml_status status = tml_picture_load_memory(tml, "a", copy, file->size, 0, out);
    free(copy);
    return status;
}

static const char *seed(const char *name)
{
    return test_path(SEEDS, name);
}

#ifdef TML_PNG
enum { HAS_PNG = 1 };
#else
enum { HAS_PNG = 0 };
#endif

/* False where the library was built without the format's library. */
static bool has_format(tml_context *tml, const char *name)
{
    tml_picture picture;
    tml_status status = tml_picture_load(tml, seed(name), NULL, &picture);
    tml_picture_free(tml, &picture);
    return status != TML_ERROR_UNSUPPORTED || !strstr(tml_last_error(tml), "built without");
}

static double sample(const tml_picture *p, uint32_t x, uint32_t y, uint32_t c)
{
    size_t i = ((size_t)y * p->width + x) * p->channels + c;
    uint16_t word;
    float value;
    switch (p->type) {
    case TML_U8:
        return ((const uint8_t *)p->data)[i];
    case TML_U16:
        memcpy(&word, (const uint8_t *)p->data + 2 * i, 2);
        return word;
    case TML_F16: {
        memcpy(&word, (const uint8_t *)p->data + 2 * i, 2);
        int exponent = word >> 10 & 31, mantissa = word & 1023;
        double size = exponent == 31 ? (mantissa ? NAN : INFINITY)
                      : exponent     ? ldexp(1024 + mantissa, exponent - 25)
                                     : ldexp(mantissa, -24);
        return word >> 15 ? -size : size;
    }
    default:
        memcpy(&value, (const uint8_t *)p->data + 4 * i, 4);
        return (double)value;
    }
}

static bool has_shape(const tml_picture *p, tml_type type, uint32_t width, uint32_t height,
                      uint32_t channels)
{
    return CHECK(p->type == type) && CHECK_EQ_U64(p->width, width) &&
           CHECK_EQ_U64(p->height, height) && CHECK_EQ_U64(p->channels, channels) &&
           CHECK_EQ_U64(p->size, (uint64_t)width * height * channels * tml_type_size(type));
}

/* Does the small picture show the gradient? scale: what one of gradient_byte's steps is. */
static void expect_gradient(const char *name, const tml_picture *p, double scale, double tolerance)
{
    double worst = 0;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (uint32_t c = 0; c < (p->channels < 3 ? 0 : 3); c++) {
                double wanted = gradient_byte(x, y, (int)c) * scale;
                worst = fmax(worst, fabs(sample(p, (uint32_t)x, (uint32_t)y, c) - wanted));
            }
    if (!(worst <= tolerance))
        test_fail(__FILE__, __LINE__, "%s is off by %g, allowed %g", name, worst, tolerance);
}

/* ---- real files ------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    uint32_t width, height, channels;
    tml_type type;
    double mean, most; /* of the finite samples, alpha with them */
} files[] = {
    {"AllHalfValues.exr", 256, 256, 3, TML_F16, 0.0, 65504.0},
    {"datawindow_t08.exr", 400, 300, 3, TML_F16, 0.25224722222222223, 2.0},
    {"image1_128x85.hdr", 128, 85, 3, TML_F32, 0.43896925907302187, 1.5625},
    {"overexposed_gradient_20x12.exr", 20, 12, 4, TML_F32, 0.9426545048810946, 3.445266008377075},
    {"overexposed_gradient_20x12.hdr", 20, 12, 3, TML_F32, 0.9197102864583333, 3.4375},
    {"old-rle_551x276.hdr", 551, 276, 3, TML_F32, 0.25, 0.375},
    {"WideFloatRange.exr", 500, 500, 1, TML_F32, -7.737125245533626e+19, 1.7014118346046923e+38},
    {"asakusa_660x440.exr", 660, 440, 4, TML_F16, 0.5845328955610921, 1.0},
    {"comp_none_587x675.exr", 587, 675, 4, TML_F16, 5.771293481462227, 501.0},
    {"comp_zip_587x675.exr", 587, 675, 4, TML_F16, 5.771293481462227, 501.0},
    {"dresden_square_1k.hdr", 1024, 512, 3, TML_F32, 1.3868569222589333, 59.0},
    {"env3_1500x750.hdr", 1500, 750, 3, TML_F32, 0.7636021500244141, 504.0},
};

enum { FILE_COUNT = sizeof files / sizeof files[0], SHIPPED_COUNT = 6 };

static void check_real(tml_context *tml, size_t i, const char *path)
{
    tml_picture p;
    if (strstr(files[i].name, ".exr") && !has_format(tml, "half_none.exr"))
        return;
    if (!CHECK_OK(tml, tml_picture_load(tml, path, NULL, &p)))
        return;
    if (has_shape(&p, files[i].type, files[i].width, files[i].height, files[i].channels)) {
        double sum = 0, most = -INFINITY;
        uint64_t count = 0;
        for (uint32_t y = 0; y < p.height; y++)
            for (uint32_t x = 0; x < p.width * p.channels; x++) {
                double value = sample(&p, x / p.channels, y, x % p.channels);
                if (isfinite(value)) {
                    sum += value;
                    most = fmax(most, value);
                    count++;
                }
            }
        if (!CHECK_NEAR(sum / (double)count, files[i].mean, 1e-14 * files[i].most) ||
            !CHECK(most == files[i].most))
            printf("  in %s\n", files[i].name);
    }
    tml_picture_free(tml, &p);
}

TEST(real_files)
{
    tml_context *tml = open_plain();
    char name[128];
    for (size_t i = 0; i < SHIPPED_COUNT; i++) {
        snprintf(name, sizeof name, "pictures/%s", files[i].name);
        check_real(tml, i, test_data(name));
    }
    tml_close(tml);
}

TEST(the_whole_collection)
{
    if (!test_full_data("hdr"))
        SKIP("TML_DATA names no collection");
    tml_context *tml = open_plain();
    char name[128];
    for (size_t i = 0; i < FILE_COUNT; i++) {
        snprintf(name, sizeof name, "hdr/%s", files[i].name);
        const char *path = test_full_data(name);
        if (CHECK(path != NULL))
            check_real(tml, i, path);
    }
    tml_close(tml);
}

/* Every bit pattern of a half, in order. */
TEST(all_halves_of_openexr)
{
    tml_context *tml = open_plain();
    tml_picture p;
    if (has_format(tml, "half_none.exr") &&
        CHECK_OK(tml, tml_picture_load(tml, test_data("pictures/AllHalfValues.exr"), NULL, &p))) {
        const uint16_t *halves = p.data;
        uint32_t wrong = 0;
        for (uint32_t i = 0; i < 3 * 65536; i++)
            wrong += halves[i] != i / 3;
        CHECK_EQ_U64(wrong, 0);
        tml_picture_free(tml, &p);
    }
    tml_close(tml);
}

TEST(windows_of_openexr)
{
    tml_context *tml = open_plain();
    tml_picture p, whole;
    if (!has_format(tml, "half_none.exr")) {
        tml_close(tml);
        SKIP("built without OpenEXR");
    }
    if (CHECK_OK(tml, tml_picture_load(tml, test_data("pictures/datawindow_t08.exr"), NULL, &p))) {
        CHECK(p.x == 30 && p.y == 40 && p.full_width == 501 && p.full_height == 401);
        tml_picture_free(tml, &p);
    }
    if (CHECK_OK(tml, tml_picture_load(tml, seed("window.exr"), NULL, &p)) &&
        CHECK_OK(tml, tml_picture_load(tml, seed("half_zip.exr"), NULL, &whole)) &&
        has_shape(&p, TML_F16, 20, 10, 3)) {
        CHECK(p.x == 3 && p.y == 2 && p.full_width == WIDTH && p.full_height == HEIGHT);
        for (uint32_t y = 0; y < 10; y++)
            for (uint32_t x = 0; x < 20; x++)
                CHECK(sample(&p, x, y, 1) == sample(&whole, x + 3, y + 2, 1));
    }
    tml_picture_free(tml, &p);
    tml_picture_free(tml, &whole);
    tml_close(tml);
}

TEST(malformed_files)
{
    tml_context *tml = open_plain();
    const char *folder = test_data("malformed");
    char root[512];
    snprintf(root, sizeof root, "%s", folder);
    const char *full = test_full_data("malformed");
    if (full)
        snprintf(root, sizeof root, "%s", full);
    DIR *files_there = opendir(root);
    int seen = 0;
    for (struct dirent *entry; files_there && (entry = readdir(files_there));) {
        tml_picture p;
        if (entry->d_name[0] == '.')
            continue;
        tml_status status = tml_picture_load(tml, test_path(root, entry->d_name), NULL, &p);
        if (status != TML_ERROR_FILE_FORMAT && status != TML_ERROR_UNSUPPORTED)
            test_fail(__FILE__, __LINE__, "%s: %s", entry->d_name, tml_status_name(status));
        CHECK(!p.data && strstr(tml_last_error(tml), entry->d_name));
        seen++;
    }
    if (files_there)
        closedir(files_there);
    CHECK(seen >= 14);
    tml_close(tml);
}

/* ---- Radiance -------------------------------------------------------------------------------- */

TEST(radiance_in_all_orientations)
{
    tml_context *tml = open_plain();
    static const char *const axes[] = {"-Y", "+Y", "-X", "+X"};
    static bytes file;
    for (int slow = 0; slow < 4; slow++)
        for (int fast = 0; fast < 4; fast++) {
            if (slow / 2 == fast / 2)
                continue;
            /* 3 wide, 2 high: the pixel in column x and row y is x + 1, y + 1, 0. */
            int rows = slow < 2 ? 2 : 3, columns = slow < 2 ? 3 : 2;
            char header[128];
            snprintf(header, sizeof header, "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n%s %d %s %d\n",
                     axes[slow], rows, axes[fast], columns);
            file.size = 0;
            add_text(&file, header);
            for (int r = 0; r < rows; r++)
                for (int c = 0; c < columns; c++) {
                    int along[2]; /* steps along x from the left, y from the top */
                    bool is_row_back = slow == 1 || slow == 2,
                         is_column_back = fast == 1 || fast == 2;
                    int i = is_row_back ? rows - 1 - r : r,
                        k = is_column_back ? columns - 1 - c : c;
                    along[0] = slow < 2 ? k : i;
                    along[1] = slow < 2 ? i : k;
                    const uint8_t pixel[] = {(uint8_t)(along[0] + 1), (uint8_t)(along[1] + 1), 0,
                                             136};
                    add(&file, pixel, sizeof pixel);
                }
            tml_picture p;
            if (!CHECK_OK(tml, load_bytes(tml, &file, &p)))
                continue;
            bool is_right = has_shape(&p, TML_F32, 3, 2, 3);
            for (uint32_t y = 0; is_right && y < 2; y++)
                for (uint32_t x = 0; x < 3; x++)
                    is_right =
                        is_right && sample(&p, x, y, 0) == x + 1 && sample(&p, x, y, 1) == y + 1;
            if (!is_right)
                test_fail(__FILE__, __LINE__, "%s %s is turned wrongly", axes[slow], axes[fast]);
            CHECK(p.full_width == p.width && p.full_height == p.height);
            tml_picture_free(tml, &p);
        }
    tml_close(tml);
}

TEST(radiance_forms)
{
    tml_context *tml = open_plain();
    tml_picture p;
    /* Components, with exposures 2 * 0.25 and a correction of 1, 2, 0.5. */
    if (CHECK_OK(tml, tml_picture_load(tml, seed("components.hdr"), NULL, &p)) &&
        has_shape(&p, TML_F32, WIDTH, HEIGHT, 3)) {
        static const double factor[] = {0.5, 1, 0.25};
        double worst = 0;
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                for (int c = 0; c < 3; c++) {
                    double most =
                        fmax(gradient(x, y, 0), fmax(gradient(x, y, 1), gradient(x, y, 2)));
                    double read = sample(&p, (uint32_t)x, (uint32_t)y, (uint32_t)c) * factor[c];
                    worst = fmax(worst, fabs(read - gradient(x, y, c)) / (most + 1e-30));
                }
        CHECK(worst <= 1 / 128.0); /* a mantissa's step, cut off */
        CHECK_STR(p.comment, "exposure 0.5, 1, 0.25 divided out");
    }
    tml_picture_free(tml, &p);
    /* A pixel repeated 87 times and 2 * 256 times, from the right. */
    if (CHECK_OK(tml, tml_picture_load(tml, seed("pixels.hdr"), NULL, &p)) &&
        has_shape(&p, TML_F32, 600, 2, 3))
        CHECK(sample(&p, 0, 0, 0) == 100 / 128.0 && sample(&p, 599, 1, 2) == 80 / 128.0);
    tml_picture_free(tml, &p);
    tml_close(tml);
}

static void expect_error(tml_context *tml, const bytes *file, tml_status expected,
                         const char *message)
{
    tml_picture p;
    tml_status status = load_bytes(tml, file, &p);
    if (status != expected || !strstr(tml_last_error(tml), message))
        test_fail(__FILE__, __LINE__, "%s, not %s: \"%s\", not \"...%s...\"",
                  tml_status_name(status), tml_status_name(expected), tml_last_error(tml), message);
    tml_picture_free(tml, &p);
}

static void radiance(bytes *file, const char *lines, const void *data, size_t size)
{
    file->size = 0;
    add_text(file, "#?RADIANCE\n");
    add_text(file, lines);
    add(file, data, size);
}

TEST(radiance_errors)
{
    tml_context *tml = open_plain();
    static bytes file;
    static const uint8_t begins[] = {1, 1, 1, 1}, long_run[] = {9, 9, 9, 130, 1, 1, 1, 3};
    static const uint8_t width[] = {2, 2, 0, 9}, empty[] = {2, 2, 0, 8, 0, 0, 0, 0};
    static const uint8_t past[] = {2, 2, 0, 8, 128 + 9, 0, 0, 0};
    radiance(&file, "FORMAT=32-bit_rle_xyze\n\n-Y 1 +X 1\n", begins, 4);
    expect_error(tml, &file, TML_ERROR_UNSUPPORTED, "ra_xyze -r");
    radiance(&file, "FORMAT=64-bit\n\n-Y 1 +X 1\n", begins, 4);
    expect_error(tml, &file, TML_ERROR_FILE_FORMAT, "line 2 is \"FORMAT=64-bit\"");
    radiance(&file, "EXPOSURE=0\n\n-Y 1 +X 1\n", begins, 4);
    expect_error(tml, &file, TML_ERROR_FILE_FORMAT, "one number above 0");
    radiance(&file, "EXPOSURE=nan\n\n-Y 1 +X 1\n", begins, 4);
    expect_error(tml, &file, TML_ERROR_FILE_FORMAT, "one number above 0");
    radiance(&file, "COLORCORR=1 2\n\n-Y 1 +X 1\n", begins, 4);
    expect_error(tml, &file, TML_ERROR_FILE_FORMAT, "three numbers above 0");
    radiance(&file, "FORMAT=32-bit_rle_rgbe\n", begins, 4);
    expect_error(tml, &file, TML_ERROR_FILE_FORMAT, "before the empty line");
    static const char *const resolutions[] = {"-Y 1 -Y 1",   "-Y 1", "Y 1 X 1",  "-Y -1 +X 1",
                                              "-Y 1 +X 1 2", "1 1",  "-Z 1 +X 1"};
    for (size_t i = 0; i < sizeof resolutions / sizeof resolutions[0]; i++) {
        char lines[64];
        snprintf(lines, sizeof lines, "\n%s\n", resolutions[i]);
        radiance(&file, lines, begins, 4);
        expect_error(tml, &file, TML_ERROR_FILE_FORMAT, "needs a resolution such as");
    }
    radiance(&file, "\n-Y 0 +X 1\n", begins, 4);
    expect_error(tml, &file, TML_ERROR_FILE_FORMAT, "1 x 0 pixels");
    radiance(&file, "\n-Y 1 +X 1\n", begins, 4);
    expect_error(tml, &file, TML_ERROR_FILE_FORMAT, "begins with a repetition");
    radiance(&file, "\n-Y 1 +X 3\n", long_run, 8);
    expect_error(tml, &file, TML_ERROR_FILE_FORMAT, "scan line 1 of 1: a run is longer");
    radiance(&file, "\n-Y 1 +X 8\n", width, 4);
    expect_error(tml, &file, TML_ERROR_FILE_FORMAT, "its own width differs");
    radiance(&file, "\n-Y 1 +X 8\n", empty, 8);
    expect_error(tml, &file, TML_ERROR_FILE_FORMAT, "or empty");
    radiance(&file, "\n-Y 1 +X 8\n", past, 8);
    expect_error(tml, &file, TML_ERROR_FILE_FORMAT, "a run is longer");
    radiance(&file, "\n-Y 1 +X 9\n", long_run, 4);
    expect_error(tml, &file, TML_ERROR_FILE_FORMAT, "the file ends within it");
    tml_close(tml);
}

/* ---- PFM, PNG, JPEG, OpenEXR ----------------------------------------------------------------- */

TEST(pfm_forms)
{
    tml_context *tml = open_plain();
    tml_picture p;
    if (CHECK_OK(tml, tml_picture_load(tml, seed("color.pfm"), NULL, &p)) &&
        has_shape(&p, TML_F32, 7, 5, 3))
        for (int y = 0; y < 5; y++)
            for (int x = 0; x < 7; x++)
                for (int c = 0; c < 3; c++)
                    CHECK(sample(&p, (uint32_t)x, (uint32_t)y, (uint32_t)c) ==
                          (double)(float)gradient(x, y, c));
    tml_picture_free(tml, &p);
    if (CHECK_OK(tml, tml_picture_load(tml, seed("grey.pfm"), NULL, &p)) &&
        has_shape(&p, TML_F32, 9, 3, 1))
        CHECK(sample(&p, 8, 2, 0) == (double)(float)gradient(8, 2, 0));
    tml_picture_free(tml, &p);
    static bytes file;
    static const char *const headers[] = {"PF\n0 1\n-1\n",  "PF\n1 1\n0\n", "PF\n1\n-1\n",
                                          "PF\n1 1\nnan\n", "PF 1 1 -1",    "PF\n-1 1\n-1\n"};
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        file.size = 0;
        add_text(&file, headers[i]);
        if (i != 4)
            add(&file, "0123456789ab", 12);
        expect_error(tml, &file, TML_ERROR_FILE_FORMAT, "a: ");
    }
    tml_close(tml);
}

TEST(png_forms)
{
    if (!HAS_PNG)
        SKIP("built without libpng");
    tml_context *tml = open_plain();
    static const struct {
        const char *name;
        tml_type type;
        uint32_t channels;
        bool is_exact, srgb;
    } forms[] = {{"rgb.png", TML_U8, 3, true, true},       {"rgba.png", TML_U8, 4, true, true},
                 {"trns.png", TML_U8, 4, true, true},      {"grey.png", TML_U8, 1, false, true},
                 {"la.png", TML_U8, 2, false, true},       {"bits.png", TML_U8, 1, false, true},
                 {"greytrns.png", TML_U8, 2, false, true}, {"palette.png", TML_U8, 4, false, true},
                 {"grey16.png", TML_U16, 1, false, true}};
    tml_picture p;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (CHECK_OK(tml, tml_picture_load(tml, seed(forms[i].name), NULL, &p)) &&
            has_shape(&p, forms[i].type, WIDTH, HEIGHT, forms[i].channels)) {
            if (forms[i].is_exact)
                expect_gradient(forms[i].name, &p, 1, 0);
            CHECK(p.srgb == forms[i].srgb);
            CHECK_STR(p.format, "PNG");
        }
        if (strcmp(forms[i].name, "trns.png") == 0 && p.data) /* black is transparent */
            CHECK(sample(&p, 0, 0, 3) == 0 && sample(&p, 5, 3, 3) == 255);
        if (strcmp(forms[i].name, "grey16.png") == 0 && p.data)
            CHECK(sample(&p, 23, 0, 0) == floor(gradient(23, 0, 0) * 16000));
        if (strcmp(forms[i].name, "bits.png") == 0 && p.data)
            CHECK(sample(&p, 0, 0, 0) == 0 || sample(&p, 0, 0, 0) == 255);
        tml_picture_free(tml, &p);
    }
    if (CHECK_OK(tml, tml_picture_load(tml, seed("interlaced16.png"), NULL, &p)) &&
        has_shape(&p, TML_U16, 11, 9, 3)) {
        CHECK(!p.srgb); /* it says that its gamma is 1 */
        for (int y = 0; y < 9; y++)
            for (int x = 0; x < 11; x++)
                for (int c = 0; c < 3; c++)
                    CHECK_NEAR(sample(&p, (uint32_t)x, (uint32_t)y, (uint32_t)c),
                               floor(gradient(x, y, c) * 16000), 1);
    }
    tml_picture_free(tml, &p);
    /* PngSuite: grey from black to white and back, in 16 bits. */
    if (CHECK_OK(tml, tml_picture_load(tml, test_data("pictures/basn0g16.png"), NULL, &p)) &&
        has_shape(&p, TML_U16, 32, 32, 1))
        CHECK(!p.srgb && sample(&p, 0, 0, 0) == 0);
    tml_picture_free(tml, &p);
    tml_close(tml);
}

/* A chunk that is put behind the header, with its checksum or another; then the picture of rgb.png
 * is loaded. */
static tml_status load_with_chunks(tml_context *tml, const char *chunks[][2], uint32_t crc_flip,
                                   tml_picture *out)
{
    enum { BEHIND_HEADER = 33 };
    static bytes whole, changed;
    memset(out, 0, sizeof *out);
    if (!slurp(seed("rgb.png"), &whole))
        return TML_ERROR_INTERNAL;
    changed.size = 0;
    add(&changed, whole.data, BEHIND_HEADER);
    for (int i = 0; chunks[i][0]; i++) {
        uint32_t size = (uint32_t)strlen(chunks[i][1]), length = io_load_u32(&size, true);
        size_t name = changed.size + sizeof length;
        add(&changed, &length, sizeof length);
        add_text(&changed, chunks[i][0]);
        add_text(&changed, chunks[i][1]);
        uint32_t crc = (uint32_t)crc32_z(0, changed.data + name, 4 + (size_t)size) ^ crc_flip;
        crc = io_load_u32(&crc, true);
        add(&changed, &crc, sizeof crc);
    }
    add(&changed, whole.data + BEHIND_HEADER, whole.size - BEHIND_HEADER);
    return load_bytes(tml, &changed, out);
}

/* What says how the colours are coded, also where it says it twice; checksums of all chunks and of
 * the pixels. */
TEST(png_chunks)
{
    if (!HAS_PNG)
        SKIP("built without libpng");
    tml_context *tml = open_plain();
    tml_picture p;
    const char *text[][2] = {{"tEXt", "Title"}, {NULL, NULL}};
    const char *sharp[][2] = {{"gAMA", "\x7f\x7f\x7f\x7f"}, {NULL, NULL}};
    const char *both[][2] = {{"gAMA", "\x7f\x7f\x7f\x7f"}, {"sRGB", "\1"}, {NULL, NULL}};
    const char *lone[][2] = {{"gAMA", "\1\2"}, {NULL, NULL}};
    const char *strange[][2] = {{"CRIT", "x"}, {NULL, NULL}};
    CHECK_OK(tml, load_with_chunks(tml, text, 0, &p));
    CHECK(p.srgb && p.comment[0] == '\0');
    tml_picture_free(tml, &p);
    CHECK_OK(tml, load_with_chunks(tml, sharp, 0, &p));
    CHECK(p.srgb && strstr(p.comment, "its gamma is 21"));
    tml_picture_free(tml, &p);
    CHECK_OK(tml, load_with_chunks(tml, both, 0, &p));
    CHECK(p.srgb && p.comment[0] == '\0');
    tml_picture_free(tml, &p);
    CHECK_STATUS(load_with_chunks(tml, lone, 0, &p), TML_ERROR_FILE_FORMAT);
    CHECK(strstr(tml_last_error(tml), "its gAMA chunk is not four bytes"));
    CHECK_STATUS(load_with_chunks(tml, strange, 0, &p), TML_ERROR_FILE_FORMAT);
    CHECK_STATUS(load_with_chunks(tml, text, 1, &p), TML_ERROR_FILE_FORMAT);
    CHECK(strstr(tml_last_error(tml), "CRC"));
    static bytes file;
    if (slurp(seed("rgb.png"),
              &file)) { /* the last of the pixels' own checksum; then the chunk's */
        uint8_t *idat = memmem(file.data, file.size, "IDAT", 4);
        uint32_t size = io_load_u32(idat - 4, true);
        idat[4 + size - 1] ^= 1;
        uint32_t crc = (uint32_t)crc32_z(0, idat, 4 + (size_t)size);
        crc = io_load_u32(&crc, true);
        memcpy(idat + 4 + size, &crc, sizeof crc);
        CHECK_STATUS(load_bytes(tml, &file, &p), TML_ERROR_FILE_FORMAT);
        CHECK(strstr(tml_last_error(tml), "incorrect data check"));
    }
    tml_close(tml);
}

TEST(jpeg_forms)
{
    tml_context *tml = open_plain();
    tml_picture p, turned;
    if (!has_format(tml, "base.jpg")) {
        tml_close(tml);
        SKIP("built without libjpeg");
    }
    /* Lossy: the blue is a texture from pixel to pixel, which subsampling smears. */
    if (CHECK_OK(tml, tml_picture_load(tml, seed("turned.jpg"), NULL, &turned)) &&
        has_shape(&turned, TML_U8, HEIGHT, WIDTH, 3)) {
        /* Orientation 6: what is stored as the top row is the right column. */
        double worst = 0;
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                for (int c = 0; c < 3; c++)
                    worst = fmax(worst, fabs(sample(&turned, (uint32_t)(HEIGHT - 1 - y),
                                                    (uint32_t)x, (uint32_t)c) -
                                             gradient_byte(x, y, c)));
        CHECK(worst <= 16);
        CHECK(turned.srgb && turned.full_width == HEIGHT);
    }
    tml_picture_free(tml, &turned);
    static const char *const names[] = {"base.jpg", "progressive.jpg"};
    for (int i = 0; i < 2; i++) {
        if (CHECK_OK(tml, tml_picture_load(tml, seed(names[i]), NULL, &p)) &&
            has_shape(&p, TML_U8, WIDTH, HEIGHT, 3))
            expect_gradient(names[i], &p, 1, 48);
        tml_picture_free(tml, &p);
    }
    if (CHECK_OK(tml, tml_picture_load(tml, seed("grey.jpg"), NULL, &p)))
        has_shape(&p, TML_U8, WIDTH, HEIGHT, 1);
    tml_picture_free(tml, &p);
    CHECK_STATUS(tml_picture_load(tml, seed("cmyk.jpg"), NULL, &p), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), "CMYK") != NULL);
    tml_close(tml);
}

TEST(openexr_forms)
{
    tml_context *tml = open_plain();
    tml_picture p;
    if (!has_format(tml, "half_none.exr")) {
        tml_close(tml);
        SKIP("built without OpenEXR");
    }
    static const char *const names[] = {
        "half_none.exr",  "half_rle.exr",  "half_zips.exr", "half_zip.exr",    "half_piz.exr",
        "half_pxr24.exr", "float_zip.exr", "depth.exr",     "float_pxr24.exr", "tiled.exr"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        bool is_half = strncmp(names[i], "half", 4) == 0 || strcmp(names[i], "tiled.exr") == 0;
        if (CHECK_OK(tml, tml_picture_load(tml, seed(names[i]), NULL, &p)) &&
            has_shape(&p, is_half ? TML_F16 : TML_F32, WIDTH, HEIGHT, 3)) {
            expect_gradient(names[i], &p, 1 / 255.0, is_half ? 0x1p-12 : 0x1p-16);
            CHECK_STR(p.comment, strcmp(names[i], "depth.exr") == 0 ? "channels left out: Z" : "");
        }
        tml_picture_free(tml, &p);
    }
    if (CHECK_OK(tml, tml_picture_load(tml, seed("uint_piz.exr"), NULL, &p)))
        has_shape(&p, TML_F32, WIDTH, HEIGHT, 1);
    tml_picture_free(tml, &p);
    CHECK_STATUS(tml_picture_load(tml, seed("dwaa.exr"), NULL, &p), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), "--compression zip") != NULL);
    tml_close(tml);
}

/* A real picture in scan lines, in tiles, and in tiles of several levels: the same pixels. Then
 * tiles of other sizes than the file's, and of a mode that there is not. */
TEST(openexr_tiles)
{
    tml_context *tml = open_plain();
    static bytes file;
    tml_picture lines, p;
    if (!has_format(tml, "half_none.exr")) {
        tml_close(tml);
        SKIP("built without OpenEXR");
    }
    static const char *const names[] = {"pictures/tiled_one_level_zip.exr",
                                        "pictures/tiled_mipmap_piz.exr"};
    CHECK_OK(tml, tml_picture_load(tml, test_data("pictures/f16_zip.exr"), NULL, &lines));
    for (int i = 0; i < 2; i++)
        if (CHECK_OK(tml, tml_picture_load(tml, test_data(names[i]), NULL, &p))) {
            has_shape(&p, TML_F16, 109, 65, 4);
            CHECK(p.size == lines.size && memcmp(p.data, lines.data, p.size) == 0);
            tml_picture_free(tml, &p);
        }
    tml_picture_free(tml, &lines);
    static const uint32_t wrong[][2] = {{0, 24},   {32, 0},          {1, 1},
                                        {31, 24},  {64, 24},         {32, 48},
                                        {109, 65}, {0x7fffffff, 24}, {UINT32_MAX, UINT32_MAX}};
    static const char name[] = "tiles\0tiledesc";
    for (size_t i = 0; i <= sizeof wrong / sizeof wrong[0] && slurp(test_data(names[0]), &file);
         i++) {
        uint8_t *at = memmem(file.data, file.size, name, sizeof name);
        if (!CHECK(at != NULL))
            break;
        at += sizeof name + 4;
        for (int b = 0; b < 8 && i < sizeof wrong / sizeof wrong[0]; b++)
            at[b] = (uint8_t)(wrong[i][b / 4] >> (8 * (b % 4)));
        if (i == sizeof wrong / sizeof wrong[0])
            at[8] = 7;
        expect_error(tml, &file, TML_ERROR_FILE_FORMAT, "a: ");
    }
    tml_close(tml);
}

/* ---- cuts and lies --------------------------------------------------------------------------- */

/* Every small file, cut after each byte: an error with a message, no picture, nothing left. */
TEST(cut_files)
{
    memory_watch watch;
    tml_context *tml = open_watched(&watch);
    size_t live = watch.live;
    static bytes file, cut;
    DIR *folder = opendir(SEEDS);
    CHECK(folder != NULL);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        tml_picture p;
        if (entry->d_name[0] == '.' || !slurp(seed(entry->d_name), &file))
            continue;
        tml_status whole = load_bytes(tml, &file, &p);
        tml_picture_free(tml, &p);
        for (size_t size = 0; whole == TML_OK && size < file.size; size++) {
            memcpy(cut.data, file.data, size);
            cut.size = size;
            tml_status status = load_bytes(tml, &cut, &p);
            if (status != TML_ERROR_FILE_FORMAT || p.data || !tml_last_error(tml)[0])
                test_fail(__FILE__, __LINE__, "%s: %s from its first %zu bytes", entry->d_name,
                          tml_status_name(status), size);
            tml_picture_free(tml, &p);
        }
    }
    if (folder)
        closedir(folder);
    CHECK_EQ_U64(watch.live, live);
    CHECK(watch.largest <= 4 << 20);
    tml_close(tml);
    CHECK_EQ_U64(watch.live, 0);
}

/* Headers of small files with other sizes: 32 bits in a place, or text. */
TEST(lying_sizes_allocate_little)
{
    memory_watch watch;
    tml_context *tml = open_watched(&watch);
    static bytes file;
    static const struct {
        const char *name;
        size_t at;
        bool is_big_endian, is_16_bit;
    } places[] = {{"rgb.png", 16, true, false},          {"rgb.png", 20, true, false},
                  {"interlaced16.png", 16, true, false}, {"interlaced16.png", 20, true, false},
                  {"base.jpg", 163, true, true},         {"progressive.jpg", 163, true, true}};
    static const uint32_t sizes[] = {0x7fffffff, 0xffffffff, 0x10000, 0xffff, 0};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            tml_picture p;
            if (!slurp(seed(places[i].name), &file))
                continue;
            for (int b = 0; b < (places[i].is_16_bit ? 2 : 4); b++)
                file.data[places[i].at + (size_t)b] =
                    (uint8_t)(sizes[k] >> (places[i].is_16_bit ? 8 - 8 * b : 24 - 8 * b));
            if (load_bytes(tml, &file, &p) == TML_OK)
                test_fail(__FILE__, __LINE__, "%s with a size of %u loads", places[i].name,
                          sizes[k]);
            tml_picture_free(tml, &p);
        }
    static const char *const texts[] = {"#?RADIANCE\n\n-Y 4294967295 +X 4294967295\n",
                                        "#?RADIANCE\n\n-Y 1 +X 1000000000\n",
                                        "#?RADIANCE\n\n-Y 18446744073709551615 +X 1\n",
                                        "#?RADIANCE\n\n+X 1 -Y 4294967296\n",
                                        "PF\n4294967295 4294967295\n-1\n",
                                        "PF\n4611686018427387904 4\n-1\n",
                                        "Pf\n1000000 1000000\n1\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        file.size = 0;
        add_text(&file, texts[i]);
        add(&file, "\x09\x09\x09\x82\x09\x09\x09\x82", 8);
        expect_error(tml, &file, TML_ERROR_FILE_FORMAT, "a: ");
    }
    /* The data window follows "dataWindow\0box2i\0" and a size of 16. */
    for (int side = 0; side < 4 && has_format(tml, "half_piz.exr"); side++)
        for (size_t k = 0; k < 4; k++) {
            tml_picture p;
            static const char name[] = "dataWindow\0box2i";
            if (!slurp(seed("half_piz.exr"), &file))
                continue;
            uint8_t *at = memmem(file.data, file.size, name, sizeof name);
            if (!CHECK(at != NULL))
                continue;
            for (int b = 0; b < 4; b++)
                at[sizeof name + 4 + 4 * (size_t)side + (size_t)b] = (uint8_t)(sizes[k] >> (8 * b));
            if (load_bytes(tml, &file, &p) == TML_OK && p.size > 1 << 20)
                test_fail(__FILE__, __LINE__, "a window of %zu bytes loads", p.size);
            tml_picture_free(tml, &p);
        }
    CHECK(watch.largest <= 17 << 20);
    tml_close(tml);
    CHECK_EQ_U64(watch.live, 0);
}

TEST(limits_and_failing_memory)
{
    memory_watch watch;
    tml_context *tml = open_watched(&watch);
    size_t live = watch.live;
    tml_picture p;
    const char *path = test_data("pictures/image1_128x85.hdr");
    CHECK_STATUS(tml_picture_load(tml, path, &(tml_load_desc){.memory_limit = 130559}, &p),
                 TML_ERROR_OUT_OF_MEMORY);
    CHECK(strstr(tml_last_error(tml), "the limit is 130559") != NULL);
    if (CHECK_OK(tml, tml_picture_load(tml, path, &(tml_load_desc){.memory_limit = 130560}, &p)))
        tml_picture_free(tml, &p);
    static const char *const names[] = {"components.hdr", "flat.hdr",   "color.pfm",
                                        "palette.png",    "turned.jpg", "half_piz.exr"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        tml_status status = TML_ERROR_OUT_OF_MEMORY;
        for (uint64_t n = 1; status == TML_ERROR_OUT_OF_MEMORY && n < 50; n++) {
            watch.count = 0;
            watch.fail_at = n;
            status = tml_picture_load(tml, seed(names[i]), NULL, &p);
            CHECK(status == TML_OK || p.data == NULL);
            tml_picture_free(tml, &p);
            CHECK_EQ_U64(watch.live, live);
        }
        CHECK(status == TML_OK || status == TML_ERROR_UNSUPPORTED);
        watch.fail_at = 0;
    }
    tml_close(tml);
    CHECK_EQ_U64(watch.live, 0);
}

/* ---- writing --------------------------------------------------------------------------------- */

static char folder[] = "/tmp/trommel-pictures-XXXXXX";

static const char *in_folder(const char *name)
{
    return test_path(folder, name);
}

static void expect_same(const char *what, const tml_picture *a, const tml_picture *b)
{
    if (a->type != b->type || a->width != b->width || a->height != b->height ||
        a->channels != b->channels || a->srgb != b->srgb || a->size != b->size ||
        memcmp(a->data, b->data, a->size) != 0)
        test_fail(__FILE__, __LINE__, "%s changed on its way through a file", what);
}

TEST(png_round_trips)
{
    if (!HAS_PNG)
        SKIP("built without libpng");
    tml_context *tml = open_plain();
    static uint8_t data[13 * 7 * 4 * 2];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 2654435761u >> 13);
    for (uint32_t channels = 1; channels <= 4; channels++)
        for (int wide = 0; wide < 2; wide++) {
            tml_type type = wide ? TML_U16 : TML_U8;
            tml_picture back, p = {.data = data,
                                   .size = 13 * 7 * channels * tml_type_size(type),
                                   .type = type,
                                   .width = 13,
                                   .height = 7,
                                   .channels = channels,
                                   .srgb = channels % 2 == 0};
            char name[64];
            snprintf(name, sizeof name, "%u x %s", channels, tml_type_name(type));
            if (CHECK_OK(tml, tml_picture_save(tml, in_folder("a.png"), &p)) &&
                CHECK_OK(tml, tml_picture_load(tml, in_folder("a.png"), NULL, &back))) {
                expect_same(name, &p, &back);
                tml_picture_free(tml, &back);
            }
        }
    tml_close(tml);
}

/* Every pattern of bits, NaN among them, in blocks of 16 rows and what is left of one. */
TEST(exr_round_trips)
{
    tml_context *tml = open_plain();
    if (!has_format(tml, "half_piz.exr")) {
        tml_close(tml);
        SKIP("built without OpenEXR");
    }
    static const uint32_t sizes[][2] = {{1, 1}, {13, 15}, {1, 16}, {64, 17}, {7, 33}};
    static uint8_t data[64 * 33 * 4 * 4];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 2654435761u >> 13);
    for (uint32_t i = 0; i < 5; i++)
        for (uint32_t channels = 1; channels <= 4; channels++)
            for (int wide = 0; wide < 2; wide++) {
                tml_type type = wide ? TML_F32 : TML_F16;
                tml_picture back,
                    p = {.data = data,
                         .size = (size_t)sizes[i][0] * sizes[i][1] * channels * tml_type_size(type),
                         .type = type,
                         .width = sizes[i][0],
                         .height = sizes[i][1],
                         .channels = channels};
                char name[64];
                snprintf(name, sizeof name, "%u x %u, %u x %s", p.width, p.height, channels,
                         tml_type_name(type));
                if (CHECK_OK(tml, tml_picture_save(tml, in_folder("a.exr"), &p)) &&
                    CHECK_OK(tml, tml_picture_load(tml, in_folder("a.exr"), NULL, &back))) {
                    expect_same(name, &p, &back);
                    tml_picture_free(tml, &back);
                }
            }
    tml_close(tml);
}

/* ---- files by stripes ------------------------------------------------------------------------ */

typedef enum striped_kind {
    STRIPED_FLAT,
    STRIPED_WAVES,
    STRIPED_NOISE,
    STRIPED_MIXED
} striped_kind;

static void fill_striped(striped_kind kind, uint8_t *data, size_t size, size_t row)
{
    uint32_t random = 99;
    for (size_t i = 0; i < size; i++) {
        random = random * 1664525 + 1013904223;
        uint8_t wave = (uint8_t)(i % row / 7 * (i / row) / 31);
        bool is_noise = kind == STRIPED_NOISE || (kind == STRIPED_MIXED && i / 100000 % 2);
        data[i] = is_noise ? (uint8_t)(random >> 24) : kind == STRIPED_FLAT ? 7 : wave;
    }
}

/* The file's bytes; NULL and size 0 when there is none. */
static uint8_t *file_bytes(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    *size = 0;
    if (file && fseek(file, 0, SEEK_END) == 0 && (data = malloc((size_t)ftell(file) + 1))) {
        size_t length = (size_t)ftell(file);
        rewind(file);
        *size = fread(data, 1, length, file);
    }
    if (file)
        fclose(file);
    return data;
}

/* Saves with one thread and with several: files of the same bytes, of at most size_most, of which
 * libpng (PNG) or the reader (Radiance) checks all. */
static void save_by_threads(const char *name, const tml_picture *p, size_t size_most, bool is_exact)
{
    uint8_t *files_of[3];
    size_t sizes[3];
    static const uint32_t threads[] = {1, 2, 5};
    for (int i = 0; i < 3; i++) {
        tml_context *tml = NULL;
        tml_picture back;
        CHECK_OK(NULL, tml_open(&(tml_open_desc){.threads = threads[i]}, &tml));
        CHECK_OK(tml, tml_picture_save(tml, in_folder(name), p));
        if (i == 0 && CHECK_OK(tml, tml_picture_load(tml, in_folder(name), NULL, &back))) {
            if (is_exact)
                expect_same(name, p, &back);
            tml_picture_free(tml, &back);
        }
        files_of[i] = file_bytes(in_folder(name), &sizes[i]);
        tml_close(tml);
    }
    CHECK(sizes[0] > 0 && sizes[0] <= size_most);
    for (int i = 1; i < 3; i++)
        CHECK(sizes[i] == sizes[0] && memcmp(files_of[i], files_of[0], sizes[0]) == 0);
    for (int i = 0; i < 3; i++)
        free(files_of[i]);
}

/* Rows that fill a stripe of 512 KiB, one less and one more; a row that is longer than one; more
 * than the 64 stripes that are held at a time; data that repeat across stripes, and data that do
 * not. */
TEST(png_by_stripes)
{
    if (!HAS_PNG)
        SKIP("built without libpng");
    static const struct {
        uint32_t width, height, channels;
        tml_type type;
        striped_kind kind;
        double share; /* of the pixels' bytes that the file may have */
    } cases[] = {
        {1, 1, 1, TML_U8, STRIPED_NOISE, 100},        {1023, 511, 1, TML_U8, STRIPED_WAVES, 0.5},
        {1023, 512, 1, TML_U8, STRIPED_MIXED, 1},     {1023, 513, 1, TML_U8, STRIPED_NOISE, 1.01},
        {600000, 3, 1, TML_U8, STRIPED_MIXED, 1},     {70000, 9, 4, TML_U16, STRIPED_MIXED, 1},
        {1, 300000, 3, TML_U8, STRIPED_NOISE, 1.4},   {2047, 129, 2, TML_U16, STRIPED_WAVES, 0.7},
        {3000, 3800, 3, TML_U8, STRIPED_FLAT, 0.003}, {3000, 3800, 3, TML_U8, STRIPED_NOISE, 1.001},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t row = (size_t)cases[i].width * cases[i].channels * tml_type_size(cases[i].type);
        tml_picture p = {.size = row * cases[i].height,
                         .type = cases[i].type,
                         .width = cases[i].width,
                         .height = cases[i].height,
                         .channels = cases[i].channels,
                         .srgb = true};
        p.data = malloc(p.size);
        fill_striped(cases[i].kind, p.data, p.size, row);
        save_by_threads("striped.png", &p, (size_t)(cases[i].share * (double)p.size), true);
        free(p.data);
    }
}

TEST(float_round_trips)
{
    tml_context *tml = open_plain();
    tml_picture p, back;
    static const char *const endings[] = {"a.pfm", "a.hdr"};
    /* Radiance is read and written without a loss, since its pixels are what they can hold. */
    static const char *const names[] = {"pictures/image1_128x85.hdr",
                                        "pictures/old-rle_551x276.hdr",
                                        "pictures/overexposed_gradient_20x12.hdr"};
    for (int i = 0; i < 6; i++) {
        if (!CHECK_OK(tml, tml_picture_load(tml, test_data(names[i / 2]), NULL, &p)))
            continue;
        if (CHECK_OK(tml, tml_picture_save(tml, in_folder(endings[i % 2]), &p)) &&
            CHECK_OK(tml, tml_picture_load(tml, in_folder(endings[i % 2]), NULL, &back))) {
            expect_same(names[i / 2], &p, &back);
            tml_picture_free(tml, &back);
        }
        tml_picture_free(tml, &p);
    }
    /* Halves of one channel become floats; grey becomes three colours. */
    static uint16_t halves[] = {0x3c00, 0x0001, 0x7bff, 0xbc00, 0x7e00, 0x7c00};
    tml_picture grey = {.data = halves,
                        .size = sizeof halves,
                        .type = TML_F16,
                        .width = 3,
                        .height = 2,
                        .channels = 1};
    if (CHECK_OK(tml, tml_picture_save(tml, in_folder("a.pfm"), &grey)) &&
        CHECK_OK(tml, tml_picture_load(tml, in_folder("a.pfm"), NULL, &back)) &&
        has_shape(&back, TML_F32, 3, 2, 1)) {
        CHECK(sample(&back, 0, 0, 0) == 1 && sample(&back, 1, 0, 0) == 0x1p-24);
        CHECK(sample(&back, 2, 0, 0) == 65504 && sample(&back, 0, 1, 0) == -1);
        CHECK(isnan(sample(&back, 1, 1, 0)) && isinf(sample(&back, 2, 1, 0)));
        tml_picture_free(tml, &back);
    }
    if (CHECK_OK(tml, tml_picture_save(tml, in_folder("a.hdr"), &grey)) &&
        CHECK_OK(tml, tml_picture_load(tml, in_folder("a.hdr"), NULL, &back)) &&
        has_shape(&back, TML_F32, 3, 2, 3)) {
        CHECK(sample(&back, 0, 0, 0) == 1 && sample(&back, 0, 0, 2) == 1);
        CHECK(sample(&back, 0, 1, 0) == 0 && sample(&back, 1, 1, 0) == 0);
        CHECK(sample(&back, 2, 1, 0) == 255 * 0x1p119); /* the brightest there is */
        CHECK(sample(&back, 2, 0, 1) == 65536);         /* to nearest */
        tml_picture_free(tml, &back);
    }
    tml_close(tml);
}

/* Runs of every length, flat widths, and colours over the whole range: within half a mantissa's
 * step. */
TEST(radiance_rounds_to_nearest)
{
    tml_context *tml = open_plain();
    static float data[3 * 40000];
    static const uint32_t widths[] = {1, 7, 8, 127, 128, 129, 130, 257, 1000, 32767, 32768, 40000};
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        uint32_t width = widths[w], random = 12345;
        for (uint32_t i = 0; i < 3 * width; i++) {
            random = random * 1664525 + 1013904223;
            /* Runs end now and then. */
            data[i] = i >= 3 && random >> 28 < 12
                          ? data[i - 3]
                          : ldexpf((float)(random >> 8), (int)(i / 3 % 200) - 120);
        }
        tml_picture back, p = {.data = data,
                               .size = 12 * (size_t)width,
                               .type = TML_F32,
                               .width = width,
                               .height = 1,
                               .channels = 3};
        if (!CHECK_OK(tml, tml_picture_save(tml, in_folder("b.hdr"), &p)) ||
            !CHECK_OK(tml, tml_picture_load(tml, in_folder("b.hdr"), NULL, &back)))
            continue;
        double worst = 0;
        for (uint32_t x = 0; x < width && back.width == width; x++) {
            double most =
                fmax((double)data[3 * x], fmax((double)data[3 * x + 1], (double)data[3 * x + 2]));
            for (uint32_t c = 0; c < 3 && most > 0x1p-120; c++)
                worst = fmax(worst, fabs(sample(&back, x, 0, c) - (double)data[3 * x + c]) / most);
        }
        CHECK(back.width == width && worst <= 0x1p-8 && worst > 0);
        tml_picture_free(tml, &back);
    }
    tml_close(tml);
}

/* Tasks of 16 rows, 64 at a time: one less and one more; lines that are flat; a line that is a
 * batch of its own. */
TEST(radiance_by_rows)
{
    static const struct {
        uint32_t width, height, channels;
    } cases[] = {{9, 15, 3}, {9, 16, 1},    {9, 17, 3},     {129, 1025, 3},
                 {7, 33, 3}, {40000, 3, 3}, {1000000, 2, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tml_picture p = {.type = TML_F32,
                         .width = cases[i].width,
                         .height = cases[i].height,
                         .channels = cases[i].channels};
        size_t count = (size_t)p.width * p.height * p.channels;
        float *data = malloc(count * sizeof *data);
        uint32_t random = 5;
        for (size_t s = 0; s < count; s++) {
            random = random * 1664525 + 1013904223;
            data[s] = random >> 28 < 9 && s ? data[s - 1] : (float)(random >> 12);
        }
        p.data = data;
        p.size = count * sizeof *data;
        save_by_threads("rows.hdr", &p, (size_t)p.width * p.height * 5 + 200, false);
        free(data);
    }
}

/* The encoder's bytes against the definition, for the floats around every power of two and special
 * ones. */
TEST(radiance_encodes_as_defined)
{
    enum { WIDTH_OF = 7, EXPONENTS = 280, ROWS = EXPONENTS + 1 };
    static float data[ROWS][WIDTH_OF];
    tml_context *tml = open_plain();
    for (int e = 0; e < EXPONENTS; e++) {
        float power = ldexpf(1, e - 150);
        const float row[WIDTH_OF] = {
            power,        nextafterf(power, 0),  power * (1 - 0x1p-9f), power * 0.998f,
            power * 1.5f, power * (1 + 0x1p-8f), power * (1 + 0x3p-8f)};
        memcpy(data[e], row, sizeof row);
    }
    const float special[WIDTH_OF] = {NAN, -1, INFINITY, -INFINITY, 0, -0.0f, 0x1.fffffep127f};
    memcpy(data[EXPONENTS], special, sizeof special);
    tml_picture p = {.data = data,
                     .size = sizeof data,
                     .type = TML_F32,
                     .width = WIDTH_OF,
                     .height = ROWS,
                     .channels = 1};
    size_t size = 0;
    CHECK_OK(tml, tml_picture_save(tml, in_folder("e.hdr"), &p));
    uint8_t *file = file_bytes(in_folder("e.hdr"), &size);
    const size_t pixels = (size_t)WIDTH_OF * ROWS;
    CHECK(size > 4 * pixels);
    for (size_t i = 0; size > 4 * pixels && i < pixels; i++) { /* too narrow to be coded: flat */
        double value = (double)data[i / WIDTH_OF][i % WIDTH_OF];
        value = value > 0 ? fmin(value, 255 * 0x1p119) : 0;
        int exponent;
        (void)frexp(value, &exponent);
        exponent += value > 0 && rint(ldexp(value, 8 - exponent)) > 255;
        bool is_black = value == 0 || exponent < -127;
        const uint8_t *found = file + size - 4 * pixels + 4 * i;
        CHECK_EQ_U64(found[0], is_black ? 0 : (uint64_t)rint(ldexp(value, 8 - exponent)));
        CHECK_EQ_U64(found[3], is_black ? 0 : (uint64_t)(exponent + 128));
        CHECK(found[1] == found[0] && found[2] == found[0]);
    }
    free(file);
    tml_close(tml);
}

TEST(refused_pictures)
{
    tml_context *tml = open_plain();
    float pixel[4] = {1, 2, 3, 4};
    tml_picture p = {
        .data = pixel, .size = 16, .type = TML_F32, .width = 1, .height = 1, .channels = 4};
    CHECK_STATUS(tml_picture_save(tml, in_folder("c.pfm"), &p), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), "no alpha") != NULL);
    CHECK_STATUS(tml_picture_save(tml, in_folder("c.png"), &p), TML_ERROR_UNSUPPORTED);
    CHECK(strstr(tml_last_error(tml), "tone-map") != NULL);
    CHECK_STATUS(tml_picture_save(tml, in_folder("c.jpg"), &p), TML_ERROR_UNSUPPORTED);
    CHECK_STATUS(tml_picture_save(tml, in_folder("none/c.png"), &p), TML_ERROR_UNSUPPORTED);
    p.channels = 3;
    CHECK_STATUS(tml_picture_save(tml, in_folder("none/c.pfm"), &p), TML_ERROR_FILE_ACCESS);
    p.width = 2;
    CHECK_STATUS(tml_picture_save(tml, in_folder("c.pfm"), &p), TML_ERROR_INVALID_ARGUMENT);
    p.width = 0;
    CHECK_STATUS(tml_picture_save(tml, in_folder("c.pfm"), &p), TML_ERROR_INVALID_ARGUMENT);
    CHECK(access(in_folder("c.pfm"), F_OK) != 0 && access(in_folder("c.png"), F_OK) != 0);
    CHECK_STR(tml_file_format(tml, seed("rgb.png"), TML_FILE_PICTURE, NULL), "PNG");
    CHECK_STR(tml_file_format(tml, seed("flat.hdr"), TML_FILE_PICTURE, NULL), "Radiance");
    CHECK(tml_file_format(tml, test_data("points/bunny397.pcd"), TML_FILE_PICTURE, NULL) == NULL);
    CHECK(tml_file_format(tml, in_folder("missing"), TML_FILE_PICTURE, NULL) == NULL);
    tml_close(tml);
}

int main(int argc, char **argv)
{
    if (!mkdtemp(folder))
        return 1;
    int code = test_main(argc, argv);
    DIR *files_there = opendir(folder);
    for (struct dirent *entry; files_there && (entry = readdir(files_there));)
        unlink(test_path(folder, entry->d_name));
    if (files_there)
        closedir(files_there);
    rmdir(folder);
    return code;
}
