/* What a picture's file says of its samples reaches the picture: PNG's cICP, iCCP, sRGB, gAMA and
 * cHRM in the order of its third edition, PFM's line ends, primaries, and the size of OpenEXR's
 * blocks. All files are made here. */
#include <math.h>
#include <stdlib.h>

#include "test.h"

#include "made_files.h"
#include "warned.h"

#include "io/pictures/picture_internal.h"

static uint8_t bytes[8192];
static size_t size;

static void put(const void *data, size_t count)
{
    memcpy(bytes + size, data, count);
    size += count;
}

static tml_status load(tml_context *tml, tml_picture *out)
{
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    warned[0] = '\0';
    tml_status status = tml_picture_load_memory(tml, "a", copy, size, 0, out);
    free(copy);
    return status;
}

/* ---- PNG ------------------------------------------------------------------------------------- */

#ifdef TML_PNG

static void put_big(uint32_t value)
{
    put((uint8_t[]){(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                    (uint8_t)value},
        4);
}

static void put_chunk(const char *name, const void *data, size_t count)
{
    put_big((uint32_t)count);
    size_t at = size;
    put(name, 4);
    put(data, count);
    put_big((uint32_t)crc32_z(0, bytes + at, count + 4));
}

typedef struct png_chunk {
    const char *name, *data;
    size_t size;
} png_chunk;
#    define CHUNK(name, data)                                                                      \
        {                                                                                          \
            name, data, sizeof data - 1                                                            \
        }

enum { COLUMNS = 8 };

/* A row of grey and alpha of 16 bits, or of grey of 8: column x is x / 7 of the largest. */
static void make_png(bool is_wide, const png_chunk *chunks, int count)
{
    uint8_t row[1 + 4 * COLUMNS] = {0}, packed[128];
    uLongf length = sizeof packed;
    size_t used = 1;
    for (uint32_t x = 0; x < COLUMNS; x++) {
        uint32_t value = (is_wide ? 65535u : 255u) * x / 7;
        if (is_wide)
            row[used++] = (uint8_t)(value >> 8);
        row[used++] = (uint8_t)value;
        if (is_wide) { /* alpha */
            row[used++] = 0x80;
            row[used++] = 0;
        }
    }
    CHECK(compress(packed, &length, row, used) == Z_OK);
    size = 0;
    put("\x89PNG\r\n\x1a\n", 8);
    put_chunk("IHDR",
              (uint8_t[]){0, 0, 0, COLUMNS, 0, 0, 0, 1, is_wide ? 16 : 8, is_wide ? 4 : 0, 0, 0, 0},
              13);
    for (int i = 0; i < count; i++)
        put_chunk(chunks[i].name, chunks[i].data, chunks[i].size);
    put_chunk("IDAT", packed, length);
    put_chunk("IEND", "", 0);
}

static double pq(double e)
{
    double p = pow(e, 32 / 2523.0);
    return pow(fmax(p - 0.8359375, 0) / (18.8515625 - 18.6875 * p), 16384 / 2610.0);
}

static double hlg(double e)
{
    return e <= 0.5 ? e * e / 3 : (exp((e - 0.55991073) / 0.17883277) + 0.28466892) / 12;
}

static double bt709(double e)
{
    return e < 0.0812428583 ? e / 4.5 : pow((e + 0.0992968268) / 1.0992968268, 1 / 0.45);
}

static double srgb(double e)
{
    return e <= 0.04045 ? e / 12.92 : pow((e + 0.055) / 1.055, 2.4);
}

static double square(double e)
{
    return e * e;
}

static double none(double e)
{
    return e;
}

#    define PQ         CHUNK("cICP", "\1\20\0\1")
#    define SRGB       CHUNK("sRGB", "\0")
#    define GAMMA_HALF CHUNK("gAMA", "\0\0\303\120") /* 0.5 */
#    define GAMMA_ONE  CHUNK("gAMA", "\0\1\206\240") /* 1 */
#    define GAMMA_22   CHUNK("gAMA", "\0\0\261\217") /* 0.45455 */

TEST(png_light_is_that_which_the_file_says)
{
    static const struct {
        png_chunk chunks[3];
        int count;
        double (*light)(double); /* NULL: integers, coded as sRGB */
        double scale;            /* of it */
        const char *warning;
    } cases[] = {
        {{PQ}, 1, pq, 10000 / 203.0, NULL},
        {{CHUNK("cICP", "\11\20\0\1")}, 1, pq, 10000 / 203.0, "not those of sRGB"},
        {{CHUNK("cICP", "\11\22\0\1")}, 1, hlg, 1 / 0.26496256, "not those of sRGB"},
        {{CHUNK("cICP", "\1\10\0\1")}, 1, none, 1, NULL},
        {{CHUNK("cICP", "\1\15\0\1")}, 1, NULL, 1, NULL},
        {{CHUNK("cICP", "\14\15\0\1")}, 1, NULL, 1, "not those of sRGB"},
        {{CHUNK("cICP", "\1\1\0\1")}, 1, bt709, 1, NULL},
        {{CHUNK("cICP", "\1\2\0\1")}, 1, NULL, 1, "transfer function 2"},
        {{CHUNK("cICP", "\1\15\1\1")}, 1, NULL, 1, "matrix 1"},
        {{CHUNK("cICP", "\143\15\0\1")}, 1, NULL, 1, "primaries 99"},
        {{GAMMA_ONE}, 1, none, 1, NULL},
        {{GAMMA_HALF}, 1, square, 1, NULL},
        {{GAMMA_22}, 1, NULL, 1, NULL},
        {{SRGB}, 1, NULL, 1, NULL},
        {{CHUNK("iCCP", "sRGB IEC61966-2.1\0\0x")}, 1, NULL, 1, NULL},
        {{CHUNK("iCCP", "Camera RGB\0\0x")}, 1, NULL, 1, "ICC profile"},
        {{CHUNK("cHRM", "\0\0\172\46\0\0\200\204\0\0\372\0\0\0\200\350\0\0\165\60\0\0\352\140\0\0"
                        "\72\230\0\0\27\160")},
         1,
         NULL,
         1,
         NULL},
        {{CHUNK("cHRM", "\0\0\172\46\0\0\200\204\0\0\372\0\0\0\200\350\0\0\122\10\0\1\25\130\0\0\72"
                        "\230\0\0\27\160")},
         1,
         NULL,
         1,
         "(0.21, 0.71)"},
        /* Who comes first. */
        {{PQ, SRGB, GAMMA_ONE}, 3, pq, 10000 / 203.0, NULL},
        {{GAMMA_HALF, SRGB, PQ}, 3, pq, 10000 / 203.0, NULL},
        {{GAMMA_HALF, SRGB}, 2, NULL, 1, NULL},
        {{GAMMA_ONE, CHUNK("iCCP", "sRGB\0\0x")}, 2, NULL, 1, NULL},
        {{PQ, CHUNK("iCCP", "Camera RGB\0\0x")}, 2, pq, 10000 / 203.0, NULL},
    };
    tml_context *tml = open_listening();
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        bool is_wide = i % 2, good;
        tml_picture p;
        size_t k = i / 2;
        make_png(is_wide, cases[k].chunks, cases[k].count);
        if (!CHECK_OK(tml, load(tml, &p))) {
            printf("  (case %zu)\n", k);
            continue;
        }
        bool is_linear = cases[k].light == none;
        good = CHECK(p.srgb == !cases[k].light);
        good &= CHECK(p.type == (cases[k].light && !is_linear ? TML_F32
                                 : is_wide                    ? TML_U16
                                                              : TML_U8));
        for (uint32_t x = 0; x < COLUMNS && good && p.type == TML_F32; x++) {
            const float *at = (const float *)p.data + x * p.channels;
            double stored = is_wide ? 65535 * x / 7 / 65535.0 : 255 * x / 7 / 255.0;
            double expected = cases[k].scale * cases[k].light(stored);
            good &= CHECK(fabs(at[0] - expected) <= 2e-4 * expected + 1e-5);
            good &= CHECK(!is_wide || fabsf(at[1] - 32768 / 65535.0f) < 1e-6f);
        }
        good &= CHECK(cases[k].warning ? strstr(warned, cases[k].warning) != NULL : !*warned);
        if (!good)
            printf("  (case %zu: %s)\n", k, warned);
        tml_picture_free(tml, &p);
    }
    /* Video's levels: 16 is black, 235 white. */
    tml_picture p;
    make_png(false, &(png_chunk)CHUNK("cICP", "\1\15\0\0"), 1);
    if (CHECK_OK(tml, load(tml, &p)) && CHECK(p.type == TML_F32 && !p.srgb))
        for (uint32_t x = 0; x < COLUMNS; x++) {
            double signal = fmin(fmax((255 * x / 7 - 16.0) / 219, 0), 1);
            CHECK(fabs(((const float *)p.data)[x] - srgb(signal)) < 1e-5);
        }
    tml_picture_free(tml, &p);
    make_png(false, &(png_chunk)CHUNK("cICP", "\1\15\0"), 1);
    CHECK_STATUS(load(tml, &p), TML_ERROR_FILE_FORMAT);
    tml_close(tml);
}

TEST(reported_png)
{
    const char *path = test_full_data("reports/cicp_pq.png");
    if (!path)
        SKIP("TML_DATA is not set");
    tml_context *tml = open_listening();
    tml_picture p;
    if (CHECK_OK(tml, tml_picture_load(tml, path, NULL, &p)) &&
        CHECK(p.type == TML_F32 && !p.srgb)) {
        const float *row = p.data;
        CHECK(fabsf(row[9] / row[21] - 0.0044f) < 5e-5f);
    }
    tml_picture_free(tml, &p);
    tml_close(tml);
}

#endif

/* ---- PFM ------------------------------------------------------------------------------------- */

TEST(pfm_headers_end_in_many_ways)
{
    static const struct {
        const char *header;
        size_t behind; /* bytes after the samples */
        bool is_told;
    } cases[] = {{"Pf\n2 2\n-1.0\n", 0, false},
                 {"Pf\r\n2 2\r\n-1.0\r\n", 0, false},
                 {"Pf\r2 2\r-1.0\r", 0, false},
                 {"Pf\r\n2\r\n2\r\n-1.0\r\n", 0, false},
                 {"Pf 2 2 -1 ", 0, false},
                 {"Pf\n2 2 \n-1.0 \n", 0, false},
                 {"Pf\n# made by a program 9 9\n2 2\n#\n-1.0\n", 0, false},
                 {"Pf\r\n# 9\r\n2 2\r\n-1.0\r\n", 0, false},
                 {"Pf\n2 2\n-1.000000\n", 1, true},
                 {"Pf\r\n2 2\r\n-1.0\r\n", 5, true},
                 {"Pf\n2 2\n-1.0\n", 400, true}};
    /* The second begins with what looks like a line end. */
    static const uint8_t samples[2][16] = {
        {0, 0, 0, 0x3f, 0, 0, 0x40, 0x3f, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40},
        {'\n', 0, 0, 0x3f, '\n', 0, 0x40, 0x3f, ' ', 0, 0x80, 0x3f, 0, 0, 0, 0x40}};
    tml_context *tml = open_listening();
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        size_t k = i / 2;
        tml_picture p;
        size = 0;
        put(cases[k].header, strlen(cases[k].header));
        put(samples[i % 2], sizeof samples[0]);
        memset(bytes + size, '7', cases[k].behind);
        size += cases[k].behind;
        if (!CHECK_OK(tml, load(tml, &p))) {
            printf("  (case %zu)\n", k);
            continue;
        }
        /* Rows begin at the bottom. */
        bool good = CHECK(memcmp(p.data, samples[i % 2] + 8, 8) == 0);
        good &= CHECK(memcmp((uint8_t *)p.data + 8, samples[i % 2], 8) == 0);
        good &= CHECK((strstr(warned, "behind its samples") != NULL) == cases[k].is_told);
        if (!good)
            printf("  (case %zu: %s)\n", i, warned);
        tml_picture_free(tml, &p);
        size -= cases[k].behind + 1;
        CHECK_STATUS(load(tml, &p), TML_ERROR_FILE_FORMAT);
    }
    const char *path = test_full_data("reports/crlf.pfm");
    tml_picture p;
    if (path && CHECK_OK(tml, tml_picture_load(tml, path, NULL, &p))) {
        for (uint32_t x = 0; x < 4; x++)
            CHECK(((const float *)p.data)[3 * x] == (float)x / 4);
        tml_picture_free(tml, &p);
    }
    tml_close(tml);
}

/* ---- Radiance -------------------------------------------------------------------------------- */

TEST(radiance_primaries_are_told)
{
    static const struct {
        const char *line;
        bool is_told;
    } cases[] = {{"EXPOSURE=1", false},
                 {"PRIMARIES=0.640 0.330 0.290 0.600 0.150 0.060 0.333 0.333", false},
                 {"PRIMARIES=0.64 0.33 0.30 0.60 0.15 0.06 0.3127 0.3290", false},
                 {"PRIMARIES=0.708 0.292 0.170 0.797 0.131 0.046 0.3127 0.3290", true}};
    tml_context *tml = open_listening();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tml_picture p;
        size = 0;
        put("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n", 34);
        put(cases[i].line, strlen(cases[i].line));
        put("\n\n-Y 1 +X 1\n\200\200\200\200", 16);
        if (CHECK_OK(tml, load(tml, &p)))
            CHECK((strstr(warned, "primaries") != NULL) == cases[i].is_told);
        tml_picture_free(tml, &p);
    }
    tml_close(tml);
}

/* ---- OpenEXR --------------------------------------------------------------------------------- */

#ifdef TML_EXR

TEST(exr_blocks_have_the_size_of_their_samples)
{
    static const uint8_t row[16] = {0, 0x3c, 0, 0x3c, 0, 0x3c, 0, 0x3c};
    tml_context *tml = open_listening();
    tml_picture p;
    for (uint32_t row_size = 1; row_size <= 12; row_size++) {
        size = made_exr(bytes, 0, row, row_size, 0.6f);
        tml_status status = load(tml, &p);
        CHECK_STATUS(status, row_size == 8 ? TML_OK : TML_ERROR_FILE_FORMAT);
        for (int i = 0; i < 8 && status == TML_OK; i++)
            CHECK(((const uint16_t *)p.data)[i] == 0x3c00);
        tml_picture_free(tml, &p);
    }
    /* ZIPS: rows of zeros that are too short, right and too long; stored as they are where that is
     * shorter. */
    for (uint32_t count = 500; count <= 1500; count += 500) {
        static const uint8_t zeros[1500];
        uint8_t packed[64];
        uLongf length = sizeof packed;
        CHECK(compress(packed, &length, zeros, count) == Z_OK);
        size = made_exr(bytes, 2, packed, (uint32_t)length, 0.6f);
        CHECK_STATUS(load(tml, &p), TML_ERROR_FILE_FORMAT);
    }
    size = made_exr(bytes, 0, row, 8, 0.8f);
    if (CHECK_OK(tml, load(tml, &p)))
        CHECK(strstr(warned, "primaries") != NULL && strstr(p.comment, "1 is 80 cd/m2") != NULL);
    tml_picture_free(tml, &p);
    const char *path = test_full_data("reports/exr_uncompressed_row_of_1_byte.exr");
    if (path)
        CHECK_STATUS(tml_picture_load(tml, path, NULL, &p), TML_ERROR_FILE_FORMAT);
    tml_close(tml);
}

#endif

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
