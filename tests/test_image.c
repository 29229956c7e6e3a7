/* Images on every device: exact weights at every size, policies, masks, types, equality of integers
 * bit for bit; percentiles, exposure over time, tone curves and mip chains against references in
 * double. */
#include <float.h>

#include <trommel/image.h>

#include "core/simd.h"
#include "test.h"

#include "contexts.h"

#include "kernels/kernel.h"

#include "kernels/image.k.h"

#include "kernels/image_mips.k.h"

#include "kernels/kernel_end.h"

/* ---- devices and pictures -------------------------------------------------------------------- */

/* Uniform in [0, 1); the same on every machine. */
static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* Number 0 is the CPU with one thread; then come the devices of other engines. NULL: no such
 * device. */
enum { MAX_DEVICES = 8 };
static tml_context *contexts[MAX_DEVICES];
static tml_context *context(uint32_t number)
{
    tml_device_info infos[MAX_DEVICES];
    uint32_t count = tml_devices(infos, MAX_DEVICES), found = 0;
    if (contexts[number])
        return contexts[number];
    if (number == 0)
        CHECK_OK(NULL,
                 tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = 1}, &contexts[0]));
    for (uint32_t d = 0; number > 0 && d < count && d < MAX_DEVICES; d++) {
        char name[8];
        snprintf(name, sizeof name, "%u", d);
        if (infos[d].engine != TML_ENGINE_CPU && ++found == number)
            CHECK_OK(NULL, tml_open(&(tml_open_desc){.device = name}, &contexts[number]));
    }
    return contexts[number];
}
/* Software drivers, whose pipelines take half a second each to make, get a part of what has
 * many. */
static bool is_slow(const tml_context *tml)
{
    tml_device_info info;
    tml_context_describe(tml, &info);
    return info.is_software;
}
static bool is_whole; /* --all: with what takes minutes */
#define EACH_DEVICE(tml)                                                                           \
    for (uint32_t device = 0; device < MAX_DEVICES; device++)                                      \
        for (tml_context *tml = context(device); tml; tml = NULL)

/* A picture in host memory. */
typedef struct picture {
    const void *data;
    uint64_t scalars;
    tml_type type;
    tml_image image; /* but for the buffer */
} picture;

static picture floats_of(const float *data, uint32_t width, uint32_t height, uint32_t channels)
{
    return (picture){.data = data,
                     .scalars = (uint64_t)width * height * channels,
                     .type = TML_F32,
                     .image = {.width = width, .height = height, .channels = channels}};
}

/* Measures; the raw words too, if wanted. False where the engine cannot (no other failure is let
 * pass). */
static bool measure(tml_context *tml, const picture *of, tml_image_measure_desc desc,
                    const uint8_t *mask, tml_image_stats *stats,
                    uint32_t words[TML_IMAGE_STATS_WORDS])
{
    desc.image = of->image;
    desc.image.buffer = buffer_of(tml, of->type, of->scalars, of->data);
    desc.stats = buffer_of(tml, TML_U32, TML_IMAGE_STATS_WORDS, NULL);
    if (mask)
        desc.mask = buffer_of(tml, TML_U8, (uint64_t)desc.mask_width * desc.mask_height, mask);
    tml_status status = tml_image_measure(tml, &desc);
    bool done = status == TML_OK;
    if (status != TML_ERROR_UNSUPPORTED && CHECK_OK(tml, status)) {
        CHECK_OK(tml, tml_image_stats_read(tml, desc.stats, stats));
        if (words)
            CHECK_OK(tml, tml_buffer_read(tml, desc.stats, words));
    }
    tml_buffer_destroy(tml, desc.image.buffer);
    tml_buffer_destroy(tml, desc.stats);
    tml_buffer_destroy(tml, desc.mask);
    return done;
}

static const tml_image_measure_desc everything = {.what = 0};

enum { MOST_PIXELS = 300 * 200 };
static float pixels[4 * MOST_PIXELS];

/* Random colours over some 20 stops. */
static void random_pixels(uint64_t count, uint64_t seed)
{
    for (uint64_t i = 0; i < count; i++)
        pixels[i] = (float)exp2(20.0 * uniform(&seed) - 10.0);
}

/* ---- approximations -------------------------------------------------------------------------- */

TEST(logarithms_are_near_for_every_mantissa)
{
    double worst = 0.0;
    int32_t before = -1;
    bool rises = true;
    for (uint32_t mantissa = 0; mantissa < 1u << 23; mantissa++) {
        float x = tml_bits_float(0x3f800000u | mantissa);
        int32_t stops = image_log2_fixed(x);
        worst = fmax(worst, fabs(stops * 0x1p-24 - log2((double)x)));
        rises = rises && stops >= before;
        before = stops;
    }
    printf("  log2: error 2^%.2f stops at most\n", log2(worst));
    CHECK(worst <= 0x1p-23);
    CHECK(rises);
    CHECK(before <= 1 << 24);
    for (int e = -126; e < 128; e++) {
        CHECK_EQ_I64(image_log2_fixed(ldexpf(1.0f, e)), (int64_t)e * (1 << 24));
        CHECK(image_log2_whole(image_log2_fixed(nextafterf(ldexpf(1.0f, e), 0.0f))) <= e);
    }
    CHECK(image_log2_fixed(0x1.fffffep127f) > 0);
}

TEST(powers_of_two_are_near)
{
    double worst = 0.0;
    for (double x = -126.0; x < 127.9; x += 0.000713) {
        double exact = exp2((double)(float)x);
        worst = fmax(worst, fabs((double)image_exp2((float)x) - exact) / exact);
    }
    printf("  exp2: relative error 2^%.2f at most\n", log2(worst));
    CHECK(worst <= 0x1p-22);
    for (int e = -126; e < 128; e++)
        CHECK(image_exp2((float)e) == ldexpf(1.0f, e));
}

static double srgb_to_linear(double code)
{
    return code <= 0.04045 ? code / 12.92 : pow((code + 0.055) / 1.055, 2.4);
}

TEST(codes_survive_the_way_to_linear_and_back)
{
    double worst = 0.0;
    for (uint32_t code = 0; code < 65536; code++) {
        double exact = srgb_to_linear(code / 65535.0);
        float x = image_from_u16(code, true);
        worst = fmax(worst, exact > 0 ? fabs((double)x - exact) / exact : (double)x);
        CHECK_EQ_U64(image_to_integer(x, 65535.0f, true), code);
        CHECK_EQ_U64(image_to_integer(image_from_u16(code, false), 65535.0f, false), code);
        if (code < 256) {
            CHECK_EQ_U64(image_to_integer(image_from_u8(code, true), 255.0f, true), code);
            CHECK_EQ_U64(image_to_integer(image_from_u8(code, false), 255.0f, false), code);
        }
    }
    printf("  sRGB: relative error 2^%.2f at most\n", log2(worst));
    CHECK(worst <= 0x1p-20);
    CHECK(image_from_u8(255, true) == 1.0f && image_from_u8(255, false) == 1.0f);
    CHECK(image_from_u16(65535, true) == 1.0f && image_from_u16(65535, false) == 1.0f);
    CHECK_EQ_U64(image_to_integer(NAN, 255.0f, true), 0);
    CHECK_EQ_U64(image_to_integer(-1.0f, 255.0f, false), 0);
    CHECK_EQ_U64(image_to_integer(INFINITY, 65535.0f, false), 65535);
}

TEST(halves_are_exact_and_rounded_to_even)
{
    for (uint32_t half = 0; half < 65536; half++) {
        float exact = tml_half_to_float(half), x = tml_half_to_float(half);
        bool is_a_nan = (half & 0x7fff) > 0x7c00;
        CHECK(is_a_nan ? isnan(x) : tml_float_bits(x) == tml_float_bits(exact));
        CHECK_EQ_U64(tml_float_to_half(x) & (is_a_nan ? 0x7c00 : 0xffff),
                     half & (is_a_nan ? 0x7c00 : 0xffff));
        /* Between this one and the next: nearest, and in the middle the even one. */
        if ((half & 0x7fff) < 0x7bff) {
            float middle = 0.5f * (exact + tml_half_to_float(half + 1));
            CHECK_EQ_U64(tml_float_to_half(middle), half + (half & 1));
            CHECK_EQ_U64(tml_float_to_half(nextafterf(middle, exact)), half);
            CHECK_EQ_U64(tml_float_to_half(nextafterf(middle, tml_half_to_float(half + 1))),
                         half + 1);
        }
    }
    CHECK_EQ_U64(tml_float_to_half(65519.0f), 0x7bff);
    CHECK_EQ_U64(tml_float_to_half(65520.0f), 0x7c00);
    CHECK_EQ_U64(tml_float_to_half(1e-40f), 0);
}

/* ---- exact weights --------------------------------------------------------------------------- */

static const uint32_t sizes[][2] = {{1, 1},    {2, 1},     {1, 7},    {16, 16},  {31, 33},
                                    {64, 64},  {65, 63},   {127, 3},  {1, 1031}, {997, 1},
                                    {128, 96}, {300, 200}, {257, 129}};

TEST(constants_give_themselves)
{
    static const float values[] = {1.0f,   0.18f,  0.1f,       1.0f / 3.0f, 1e-20f,  3e30f,
                                   0.999f, 255.0f, 1.0000001f, 0x1p-100f,   0x1p127f};
    EACH_DEVICE(tml)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            uint32_t width = sizes[s][0], height = sizes[s][1];
            uint64_t count = (uint64_t)width * height;
            if (device > 0 && v > 2)
                continue;
            for (uint64_t i = 0; i < 3 * count; i++)
                pixels[i] = values[v];
            picture of = floats_of(pixels, width, height, 3);
            tml_image_stats stats;
            if (!measure(tml, &of, everything, NULL, &stats, NULL))
                continue;
            CHECK_EQ_U64(stats.pixels, count);
            CHECK_EQ_U64(stats.positive, count);
            CHECK(stats.geometric_mean == (double)values[v]);
            CHECK(stats.mean == (double)values[v]);
            CHECK(stats.deviation == 0.0);
            CHECK(stats.min == (double)values[v] && stats.max == (double)values[v]);
        }
}

/* Every size to 70 x 70, but on other devices than the CPU every width and every height. */
TEST(constants_give_themselves_at_every_size)
{
    static const float values[] = {0.1f, 3e30f};
    EACH_DEVICE(tml)
    for (size_t v = 0; v < (device ? 1 : 2); v++) {
        for (uint32_t i = 0; i < 3 * 70 * 70; i++)
            pixels[i] = values[v];
        for (uint32_t size = 0; size < 70 * 70; size++) {
            uint32_t width = size % 70 + 1, height = size / 70 + 1;
            picture of = floats_of(pixels, width, height, 3);
            tml_image_stats stats;
            if (device && !is_whole && height != width * 37 % 70 + 1)
                continue;
            if (measure(tml, &of, everything, NULL, &stats, NULL) &&
                !CHECK(stats.geometric_mean == (double)values[v] &&
                       stats.mean == (double)values[v] && stats.deviation == 0.0 &&
                       stats.positive == (uint64_t)width * height))
                printf("    %u x %u on device %u\n", width, height, device);
        }
    }
}

/* A pixel of 2^8 among ones is 8 in the sum of logarithms, wherever it lies. */
TEST(one_bright_pixel_weighs_one_of_n)
{
    EACH_DEVICE(tml)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        uint32_t width = sizes[s][0], height = sizes[s][1];
        uint64_t count = (uint64_t)width * height;
        const uint64_t places[] = {0,         width - 1,       count - width, count - 1,
                                   count / 2, count * 15 / 16, count * 3 / 4};
        for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
            for (uint64_t i = 0; i < count; i++)
                pixels[i] = 1.0f;
            pixels[places[p]] = 256.0f;
            picture of = floats_of(pixels, width, height, 1);
            tml_image_stats stats;
            if (!measure(tml, &of, everything, NULL, &stats, NULL))
                continue;
            double n = (double)count, mean = (n - 1.0 + 256.0) / n;
            CHECK(stats.log2_mean == 8.0 / n);
            CHECK(fabs(stats.mean - mean) <= mean * (log2(n) + 32.0) * 0x1p-24);
            CHECK_EQ_U64(stats.histogram[(16 + 8) * 8], 1);
            CHECK_EQ_U64(stats.histogram[16 * 8], count - 1);
        }
    }
}

TEST(no_place_weighs_more_than_another)
{
    enum { WIDTH = 67, HEIGHT = 31, COUNT = WIDTH * HEIGHT };
    for (uint32_t i = 0; i < COUNT; i++)
        pixels[i] = 1.0f;
    EACH_DEVICE(tml)
    for (uint32_t place = 0; place < COUNT; place += device && !is_whole ? 97 : 1) {
        pixels[place] = 0x1p-7f;
        picture of = floats_of(pixels, WIDTH, HEIGHT, 1);
        tml_image_stats stats;
        if (measure(tml, &of, everything, NULL, &stats, NULL) &&
            !CHECK(stats.log2_mean == -7.0 / COUNT && stats.histogram[(16 - 7) * 8] == 1 &&
                   stats.histogram[16 * 8] == COUNT - 1 && stats.min == 0x1p-7))
            printf("    at %u on device %u\n", place, device);
        pixels[place] = 1.0f;
    }
}

/* What the library promises, from doubles. */
static void check_against_reference(const picture *of, const tml_image_stats *stats, bool is_cpu)
{
    double n = (double)of->image.width * of->image.height, sum = 0.0, logs = 0.0, squares = 0.0;
    const float *data = of->data;
    for (uint64_t i = 0; i < of->scalars; i += 3) {
        double value =
            0.2126 * (double)data[i] + 0.7152 * (double)data[i + 1] + 0.0722 * (double)data[i + 2];
        sum += value;
        logs += log2(value);
        squares += value * value;
    }
    double mean = sum / n, deviation = sqrt(fmax(squares / n - mean * mean, 0.0));
    double bound = is_cpu ? 0x1p-22 : (log2(n) + 32.0) * 0x1p-24;
    CHECK_EQ_U64(stats->pixels, (uint64_t)n);
    CHECK(fabs(stats->log2_mean - logs / n) <= 0x1p-20);
    CHECK(fabs(stats->mean - mean) <= mean * bound);
    CHECK(fabs(stats->deviation - deviation) <= 1e-4 * mean);
}

TEST(all_sizes_agree_with_double)
{
    random_pixels(3 * 70 * 70, 3);
    EACH_DEVICE(tml)
    for (uint32_t size = 0; size < 70 * 70; size += device && !is_whole ? 211 : 1) {
        picture of = floats_of(pixels, size % 70 + 1, size / 70 + 1, 3);
        tml_image_stats stats;
        if (measure(tml, &of, everything, NULL, &stats, NULL))
            check_against_reference(&of, &stats, device == 0);
    }
}

/* Without the last row, the first one, the first column or the last one: what is missing is what
 * that has. */
TEST(a_row_less_is_a_row_less)
{
    enum { WIDTH = 131, HEIGHT = 77 };
    static const tml_image_measure_desc parts[][2] = {
        {{.region = {0, 0, 0, HEIGHT - 1}}, {.region = {0, HEIGHT - 1, 0, 0}}},
        {{.region = {0, 1, 0, 0}}, {.region = {0, 0, 0, 1}}},
        {{.region = {1, 0, 0, 0}}, {.region = {0, 0, 1, 0}}},
        {{.region = {0, 0, WIDTH - 1, 0}}, {.region = {WIDTH - 1, 0, 0, 0}}},
    };
    random_pixels(3 * WIDTH * HEIGHT, 9);
    picture of = floats_of(pixels, WIDTH, HEIGHT, 3);
    EACH_DEVICE(tml)
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        static uint32_t words[3][TML_IMAGE_STATS_WORDS];
        tml_image_stats all, less, row;
        if (!measure(tml, &of, everything, NULL, &all, words[0]) ||
            !measure(tml, &of, parts[p][0], NULL, &less, words[1]) ||
            !measure(tml, &of, parts[p][1], NULL, &row, words[2]))
            continue;
        for (uint32_t word = 0; word < TML_IMAGE_STATS_WORDS; word += 2) {
            uint64_t sum[3];
            if (word >= TML_STATS_MIN && word < TML_STATS_HISTOGRAM)
                continue;
            for (int k = 0; k < 3; k++)
                sum[k] = (uint64_t)words[k][word + 1] << 32 | words[k][word];
            CHECK_EQ_U64(sum[0], sum[1] + sum[2]);
        }
        double n = WIDTH * HEIGHT, left = (double)less.pixels, gone = (double)row.pixels;
        CHECK_NEAR(all.mean, (less.mean * left + row.mean * gone) / n,
                   2.0 * (log2(n) + 32.0) * 0x1p-24 * all.mean);
    }
}

/* ---- policies -------------------------------------------------------------------------------- */

TEST(every_kind_of_pixel_is_counted)
{
    const float big = 3e38f;
    const float data[][3] = {{1, 1, 1},           {4, 4, 4},          {NAN, 1, 1},
                             {1, INFINITY, 1},    {INFINITY, NAN, 0}, {-INFINITY, 0, 0},
                             {0, 0, 0},           {-0.0f, 0, 0},      {1e-40f, 1e-40f, 1e-40f},
                             {-1, -1, -1},        {0, 0, -0.5f},      {big, -big, big},
                             {1e-31f, -1e-31f, 0}};
    enum { COUNT = sizeof data / sizeof *data };
    EACH_DEVICE(tml)
    {
        picture of = floats_of(&data[0][0], COUNT, 1, 3);
        tml_image_stats stats;
        if (!measure(tml, &of, everything, NULL, &stats, NULL))
            continue;
        CHECK_EQ_U64(stats.pixels, COUNT);
        CHECK_EQ_U64(stats.positive, 2);
        CHECK_EQ_U64(stats.nan, 2);
        CHECK_EQ_U64(stats.infinite, 3);
        CHECK_EQ_U64(stats.zero, 4);
        CHECK_EQ_U64(stats.negative, 2);
        CHECK_EQ_U64(stats.weight, 8);
        CHECK_EQ_U64(stats.log_weight, 2);
        CHECK(stats.log2_mean == 1.0);
        CHECK(stats.geometric_mean == 2.0);
        CHECK(stats.min == -1.0 && stats.max == 4.0);
        CHECK(fabs(stats.mean - (4.0 - 0.0361) / 8.0) < 1e-6);

        tml_image_measure_desc floored = {.luminance.floor = 0.25f};
        if (!measure(tml, &of, floored, NULL, &stats, NULL))
            continue;
        CHECK_EQ_U64(stats.log_weight, 8);
        CHECK(stats.log2_mean == (2.0 + 6.0 * -2.0) / 8.0);
        CHECK_EQ_U64(stats.histogram[14 * 8], 6);
        CHECK(stats.min == -1.0);
    }
}

TEST(luminances_are_those_of_their_names)
{
    static const struct {
        tml_luminance luminance;
        const char *name;
        float weights[3];
        double shares[3];
    } cases[] = {
        {TML_LUMINANCE_REC709, "rec709", {0, 0, 0}, {0.2126, 0.7152, 0.0722}},
        {TML_LUMINANCE_REC2020, "rec2020", {0, 0, 0}, {0.2627, 0.6780, 0.0593}},
        {TML_LUMINANCE_ACESCG, "acescg", {0, 0, 0}, {0.2722287, 0.6740818, 0.0536895}},
        {TML_LUMINANCE_MAX_RGB, "max-rgb", {0, 0, 0}, {1, 1, 1}},
        {TML_LUMINANCE_CUSTOM, "custom", {3, 0, 1}, {0.75, 0, 0.25}},
    };
    EACH_DEVICE(tml)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_STR(tml_luminance_name(cases[i].luminance), cases[i].name);
        for (int c = 0; c < 3; c++) {
            float rgb[3] = {0, 0, 0};
            rgb[c] = 2;
            picture of = floats_of(rgb, 1, 1, 3);
            tml_image_measure_desc desc = {.luminance.kind = cases[i].luminance};
            memcpy(desc.luminance.weights, cases[i].weights, sizeof desc.luminance.weights);
            tml_image_stats stats;
            if (measure(tml, &of, desc, NULL, &stats, NULL))
                CHECK_NEAR(stats.max, 2 * cases[i].shares[c], 1e-6);
        }
    }
    CHECK(tml_luminance_name((tml_luminance)99) != NULL);
}

TEST(nothing_is_no_number)
{
    const float data[] = {NAN, INFINITY, NAN, NAN};
    EACH_DEVICE(tml)
    {
        picture of = floats_of(data, 4, 1, 1);
        tml_image_stats stats;
        if (!measure(tml, &of, everything, NULL, &stats, NULL))
            continue;
        CHECK_EQ_U64(stats.weight, 0);
        CHECK(isnan(stats.mean) && isnan(stats.min) && isnan(stats.geometric_mean));
        CHECK(isnan(tml_image_percentile(&stats, 50.0)));
    }
}

TEST(masks_weigh)
{
    enum { WIDTH = 67, HEIGHT = 45, COLUMNS = 5, ROWS = 4 };
    static const uint8_t mask[COLUMNS * ROWS] = {0,  1, 255, 7, 9,  100, 0, 3, 200, 1,
                                                 50, 0, 0,   2, 31, 8,   8, 8, 255, 254};
    random_pixels(WIDTH * HEIGHT, 21);
    pixels[5] = NAN;
    pixels[700] = 0.0f;
    pixels[1800] = -3.0f;
    uint64_t counted = 0, weight = 0, log_weight = 0;
    double sum = 0.0, logs = 0.0;
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        uint64_t own = mask[i / WIDTH * ROWS / HEIGHT * COLUMNS + i % WIDTH * COLUMNS / WIDTH];
        counted += own > 0;
        if (isnan(pixels[i]))
            continue;
        weight += own;
        sum += (double)own * (double)pixels[i];
        if (pixels[i] > 0) {
            log_weight += own;
            logs += (double)own * log2((double)pixels[i]);
        }
    }
    EACH_DEVICE(tml)
    {
        picture of = floats_of(pixels, WIDTH, HEIGHT, 1);
        tml_image_stats stats;
        tml_image_measure_desc desc = {.mask_width = COLUMNS, .mask_height = ROWS};
        if (!measure(tml, &of, desc, mask, &stats, NULL))
            continue;
        uint64_t total = 0;
        for (int bin = 0; bin < TML_HISTOGRAM_BINS; bin++)
            total += stats.histogram[bin];
        CHECK_EQ_U64(stats.pixels, counted);
        CHECK_EQ_U64(stats.weight, weight);
        CHECK_EQ_U64(stats.log_weight, log_weight);
        CHECK_EQ_U64(total, log_weight);
        CHECK(fabs(stats.mean - sum / (double)weight) <= 1e-5 * stats.mean);
        CHECK(fabs(stats.log2_mean - logs / (double)log_weight) <= 0x1p-20);
    }
}

TEST(meters_are_heavier_in_the_middle)
{
    for (int meter = 0; meter <= TML_METER_MATRIX; meter++) {
        static uint8_t mask[65 * 65];
        CHECK_EQ_I64(tml_meter_weights((tml_meter)meter, 1920, 1080, 65, 65, mask), TML_OK);
        CHECK_EQ_U64(mask[32 * 65 + 32], 255);
        bool is_flat = meter == TML_METER_AVERAGE;
        CHECK((mask[0] == 255) == is_flat);
        for (int i = 0; i < 65 * 65; i++)
            CHECK_EQ_U64(mask[i], mask[65 * 65 - 1 - i]);
        if (meter == TML_METER_SPOT) {
            /* A disc of a tenth of the diagonal, as a share of the picture. */
            double sum = 0.0, radius = 0.05 * hypot(1920, 1080);
            for (int i = 0; i < 65 * 65; i++)
                sum += mask[i] / 255.0;
            CHECK(fabs(sum / (65 * 65) - 3.14159265 * radius * radius / (1920.0 * 1080)) < 1e-3);
        }
        if (meter == TML_METER_CENTRE)
            CHECK(abs((int)mask[32 * 65] - 16) <= 2);
    }
    uint8_t one;
    CHECK_EQ_I64(tml_meter_weights(TML_METER_SPOT, 100, 100, 1, 1, &one), TML_OK);
    CHECK(one > 0);
    CHECK_EQ_I64(tml_meter_weights(TML_METER_SPOT, 0, 1, 1, 1, &one), TML_ERROR_INVALID_ARGUMENT);
}

/* ---- types, regions, strides ----------------------------------------------------------------- */

/* The same picture in each type and number of channels, padded rows, a region of it; and what is
 * around it is poison. */
TEST(regions_of_every_type_and_stride)
{
    enum { WIDTH = 21, HEIGHT = 13, STRIDE = 4 * WIDTH + 7, FIRST = 3 };
    static uint8_t bytes[FIRST + STRIDE * HEIGHT];
    static uint16_t shorts[FIRST + STRIDE * HEIGHT], halves[FIRST + STRIDE * HEIGHT];
    static float floats[FIRST + STRIDE * HEIGHT];
    static const struct {
        tml_type type;
        bool srgb;
    } kinds[] = {{TML_U8, false}, {TML_U8, true},   {TML_U16, false},
                 {TML_U16, true}, {TML_F16, false}, {TML_F32, false}};
    EACH_DEVICE(tml)
    for (uint32_t channels = 1; channels <= 4; channels++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            uint64_t seed = 5;
            double sum = 0.0;
            const tml_image_measure_desc desc = {.region = {4, 3, 11, 8}};
            if (is_slow(tml) && (k + channels) % 4 != 0) /* still every type, every channels */
                continue;
            for (uint32_t i = 0; i < FIRST + STRIDE * HEIGHT; i++) {
                uint32_t code = (uint32_t)(uniform(&seed) * 256.0);
                bytes[i] = (uint8_t)code;
                shorts[i] = (uint16_t)(code * 257);
                halves[i] = (uint16_t)(0x2000 + code * 16);
                floats[i] = tml_half_to_float(halves[i]);
            }
            for (uint32_t y = 3; y < 11; y++)
                for (uint32_t x = 4; x < 15; x++) {
                    double c[3] = {0, 0, 0};
                    for (uint32_t j = 0; j < 3; j++) {
                        uint32_t at = FIRST + y * STRIDE + x * channels + (channels < 3 ? 0 : j);
                        double code = kinds[k].type == TML_U8    ? bytes[at] / 255.0
                                      : kinds[k].type == TML_U16 ? shorts[at] / 65535.0
                                                                 : (double)floats[at];
                        c[j] = kinds[k].srgb ? srgb_to_linear(code) : code;
                    }
                    sum += 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
                }
            for (uint32_t i = 0; i < FIRST + STRIDE * HEIGHT; i++) { /* outside of the region */
                uint32_t y = i < FIRST ? 99 : (i - FIRST) / STRIDE;
                uint32_t x = i < FIRST ? 99 : (i - FIRST) % STRIDE / channels;
                if (y < 3 || y >= 11 || x < 4 || x >= 15) {
                    floats[i] = NAN;
                    halves[i] = 0x7e00;
                }
            }
            const void *data = kinds[k].type == TML_U8    ? (const void *)bytes
                               : kinds[k].type == TML_U16 ? (const void *)shorts
                               : kinds[k].type == TML_F16 ? (const void *)halves
                                                          : (const void *)floats;
            picture of = {.data = data,
                          .scalars = FIRST + STRIDE * HEIGHT,
                          .type = kinds[k].type,
                          .image = {.width = WIDTH,
                                    .height = HEIGHT,
                                    .channels = channels,
                                    .srgb = kinds[k].srgb,
                                    .first = FIRST,
                                    .row_stride = STRIDE}};
            tml_image_stats stats;
            if (!measure(tml, &of, desc, NULL, &stats, NULL))
                continue;
            CHECK_EQ_U64(stats.pixels, 88);
            CHECK_EQ_U64(stats.nan, 0);
            CHECK(fabs(stats.mean - sum / 88.0) <= 4e-6 * stats.mean);
        }
}

/* ---- the same bits everywhere ---------------------------------------------------------------- */

static bool is_exact(uint32_t word)
{
    return word < TML_STATS_MEAN || word >= TML_STATS_HISTOGRAM_LOW;
}

static void check_same_words(const uint32_t *words, const uint32_t *expected, bool all)
{
    for (uint32_t word = 0; word < TML_IMAGE_STATS_WORDS; word++)
        if ((all || is_exact(word)) && !CHECK_EQ_U64(words[word], expected[word]))
            printf("    word %u\n", word);
}

/* Colours of any bits, so nearly of any size, among them NaN, infinity and what is next to zero. */
static void wild_pixels(uint64_t count, uint64_t seed)
{
    for (uint64_t i = 0; i < count; i++) {
        uint32_t bits = (uint32_t)(uniform(&seed) * 4294967296.0);
        pixels[i] = tml_bits_float(i % 3 == 0 ? bits : (bits & 0x00ffffffu) + 0x3e000000u);
        if (i % 101 == 0)
            pixels[i] = tml_bits_float(bits >> 9);
        if (i % 211 == 0)
            pixels[i] = i % 2 ? NAN : INFINITY;
    }
}

TEST(integers_are_equal_on_every_engine_thread_and_level)
{
    enum { WIDTH = 300, HEIGHT = 200 };
    static const tml_image_measure_desc descs[] = {
        {.what = 0},
        {.what = 0, .luminance.kind = TML_LUMINANCE_MAX_RGB, .bin_log2 = 6, .histogram_low = -1},
        {.what = 0,
         .luminance = {.kind = TML_LUMINANCE_REC2020, .floor = 1e-6f},
         .region = {3, 5, 211, 150}},
        {.what = 0, .luminance = {.kind = TML_LUMINANCE_CUSTOM, .weights = {1e-9f, 3, 0}}},
        {.what = 0, .mask_width = 13, .mask_height = 7, .histogram_low = -100},
    };
    uint8_t mask[13 * 7];
    for (int i = 0; i < 13 * 7; i++)
        mask[i] = (uint8_t)(37 * i);
    wild_pixels(4 * WIDTH * HEIGHT, 77);
    picture of = floats_of(pixels, WIDTH, HEIGHT, 4);
    tml_context *tml2 = NULL;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = 3}, &tml2));
    for (size_t d = 0; d < sizeof descs / sizeof *descs; d++) {
        static uint32_t expected[TML_IMAGE_STATS_WORDS], words[TML_IMAGE_STATS_WORDS];
        tml_image_stats stats;
        const uint8_t *weights = descs[d].mask_width ? mask : NULL;
        CHECK(measure(context(0), &of, descs[d], weights, &stats, expected));
        CHECK(stats.nan > 0 && stats.infinite > 0 && stats.positive > 0);
        CHECK(stats.negative > 0 || descs[d].luminance.kind == TML_LUMINANCE_MAX_RGB);
        EACH_DEVICE(tml)
        if (measure(tml, &of, descs[d], weights, &stats, words))
            check_same_words(words, expected, device == 0);
        for (int level = TML_SIMD_BASE; level < TML_SIMD_LEVELS; level++) {
            tml_simd_force((tml_simd)level);
            CHECK(measure(tml2, &of, descs[d], weights, &stats, words));
            check_same_words(words, expected, true);
        }
        tml_simd_force(TML_SIMD_LEVELS);
    }
    tml_close(tml2);
}

TEST(every_half_is_measured_alike_on_every_level)
{
    enum { SIDE = 256 };
    static uint16_t halves[SIDE * SIDE];
    static uint32_t expected[TML_IMAGE_STATS_WORDS], words[TML_IMAGE_STATS_WORDS];
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++)
        halves[i] = (uint16_t)i;
    picture of = {.data = halves,
                  .scalars = SIDE * SIDE,
                  .type = TML_F16,
                  .image = {.width = SIDE - 1, .height = SIDE, .channels = 1, .row_stride = SIDE}};
    for (int level = TML_SIMD_BASE; level < TML_SIMD_LEVELS; level++) {
        tml_image_stats stats;
        tml_simd_force((tml_simd)level);
        CHECK(measure(context(0), &of, everything, NULL, &stats, level ? words : expected));
        CHECK_EQ_U64(stats.nan, 2 * 1023 - 8); /* column 255 is left out */
        CHECK_EQ_U64(stats.infinite, 2);
        if (level)
            check_same_words(words, expected, true);
    }
    tml_simd_force(TML_SIMD_LEVELS);
}

/* ---- past 32 bits ---------------------------------------------------------------------------- */

/* Zeros that take no memory until they are written to; NULL where addresses are short. */
static void *sparse_bytes(uint64_t size)
{
    return size <= PTRDIFF_MAX ? calloc((size_t)size, 1) : NULL;
}

/* Every sum of weights, of logarithms and a bin of the histogram. */
TEST(sums_of_weights_pass_32_bits)
{
    enum { SIDE = 4112, CODE = 25 };
    const uint64_t count = (uint64_t)SIDE * SIDE, weight = 255 * count;
    const uint8_t heaviest = 255;
    int32_t stops = image_log2_fixed(image_from_u8(CODE, false));
    uint8_t *codes = malloc(count);
    if (!CHECK(codes != NULL))
        return;
    memset(codes, CODE, count);
    CHECK(weight > UINT32_MAX);
    picture of = {.data = codes,
                  .scalars = count,
                  .type = TML_U8,
                  .image = {.width = SIDE, .height = SIDE, .channels = 1}};
    const tml_image_measure_desc desc = {.mask_width = 1, .mask_height = 1};
    EACH_DEVICE(tml)
    {
        tml_image_stats stats;
        uint32_t words[TML_IMAGE_STATS_WORDS];
        if (is_slow(tml) || !measure(tml, &of, desc, &heaviest, &stats, words))
            continue;
        uint64_t whole =
            (uint64_t)words[TML_STATS_LOG_WHOLE + 1] << 32 | words[TML_STATS_LOG_WHOLE];
        uint64_t fraction =
            (uint64_t)words[TML_STATS_LOG_FRACTION + 1] << 32 | words[TML_STATS_LOG_FRACTION];
        CHECK_EQ_U64(stats.pixels, count);
        CHECK_EQ_U64(stats.weight, weight);
        CHECK_EQ_U64(stats.log_weight, weight);
        CHECK_EQ_I64((int64_t)whole, (int64_t)weight * image_log2_whole(stops));
        CHECK_EQ_U64(fraction, weight * image_log2_fraction(stops));
        CHECK_EQ_U64(stats.histogram[(16 - 4) * 8 + 5], weight); /* log2(25 / 255) is -3.35 */
        CHECK(stats.geometric_mean == (double)image_from_u8(CODE, false));
    }
    free(codes);
}

/* Rows that lie 8 GiB apart. */
TEST(rows_lie_past_32_bits)
{
    enum { WIDTH = 40, HEIGHT = 3 };
    const uint64_t stride = (uint64_t)1 << 31, scalars = (HEIGHT - 1) * stride + WIDTH;
    tml_context *tml = context(0);
    float *rows = sparse_bytes(scalars * sizeof *rows);
    if (!rows)
        SKIP("no room for 16 GiB of addresses");
    for (uint64_t y = 0; y < HEIGHT; y++)
        for (uint64_t x = 0; x < WIDTH; x++)
            rows[y * stride + x] = (float)(1 << 4 * y);
    tml_buffer stats = buffer_of(tml, TML_U32, TML_IMAGE_STATS_WORDS, NULL), in = {0, 0};
    CHECK_OK(tml,
             tml_buffer_create(
                 tml, &(tml_buffer_desc){.type = TML_F32, .count = scalars, .host = rows}, &in));
    tml_image_stats measured = {0};
    CHECK_OK(tml, tml_image_measure(tml, &(tml_image_measure_desc){.image = {.buffer = in,
                                                                             .width = WIDTH,
                                                                             .height = HEIGHT,
                                                                             .channels = 1,
                                                                             .row_stride = stride},
                                                                   .stats = stats}));
    CHECK_OK(tml, tml_image_stats_read(tml, stats, &measured));
    CHECK_EQ_U64(measured.positive, WIDTH * HEIGHT);
    CHECK(measured.log2_mean == 4.0 && measured.mean == 91.0 && measured.max == 256.0);
    tml_buffer_destroy(tml, in);
    tml_buffer_destroy(tml, stats);
    free(rows);
}

/* 65,537 x 65,537 pixels, of which five are not black. */
TEST(pixels_pass_32_bits)
{
    enum { SIDE = 65537 };
    const uint64_t count = (uint64_t)SIDE * SIDE;
    const uint64_t places[] = {0, UINT32_MAX, (uint64_t)1 << 32, count - 1, count / 2};
    if (!is_whole)
        SKIP("takes long; --all runs it");
    tml_context *tml = NULL;
    uint8_t *codes = sparse_bytes(count);
    if (!codes || !CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU}, &tml)))
        SKIP("no room for 4 GiB of addresses");
    for (int i = 0; i < 5; i++)
        codes[places[i]] = 255;
    tml_buffer stats = buffer_of(tml, TML_U32, TML_IMAGE_STATS_WORDS, NULL), in = {0, 0};
    CHECK_OK(tml, tml_buffer_create(
                      tml, &(tml_buffer_desc){.type = TML_U8, .count = count, .host = codes}, &in));
    tml_image_stats measured = {0};
    CHECK_OK(tml,
             tml_image_measure(
                 tml, &(tml_image_measure_desc){
                          .image = {.buffer = in, .width = SIDE, .height = SIDE, .channels = 1},
                          .luminance.floor = 0.25f,
                          .stats = stats}));
    CHECK_OK(tml, tml_image_stats_read(tml, stats, &measured));
    CHECK_EQ_U64(measured.pixels, count);
    CHECK_EQ_U64(measured.positive, 5);
    CHECK_EQ_U64(measured.zero, count - 5);
    CHECK_EQ_U64(measured.weight, count);
    CHECK_EQ_U64(measured.log_weight, count);
    CHECK_EQ_U64(measured.histogram[14 * 8], count - 5);
    CHECK_NEAR(measured.log2_mean, -2.0 + 2.0 * 5 / (double)count, 1e-15);
    CHECK_NEAR(measured.mean, 5 / (double)count, 1e-20);
    tml_buffer_destroy(tml, in);
    tml_buffer_destroy(tml, stats);
    tml_close(tml);
    free(codes);
}

/* ---- percentiles ----------------------------------------------------------------------------- */

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

TEST(percentiles_are_those_of_sorted_data)
{
    enum { COUNT = 40000 };
    random_pixels(COUNT, 31);
    picture of = floats_of(pixels, COUNT, 1, 1);
    tml_image_stats stats;
    CHECK(measure(context(0), &of, everything, NULL, &stats, NULL));
    qsort(pixels, COUNT, sizeof *pixels, compare_floats);
    for (double percent = 1.0; percent < 100.0; percent += 1.0) {
        double exact = log2((double)pixels[(int)(percent / 100.0 * COUNT)]);
        CHECK(fabs(tml_image_percentile(&stats, percent) - exact) <= 0.02);
    }
    CHECK(tml_image_percentile(&stats, 0.0) <= log2((double)pixels[0]));
    CHECK(tml_image_percentile(&stats, 100.0) >= log2((double)pixels[COUNT - 1]));
    CHECK(isnan(tml_image_percentile(&stats, 101.0)));
}

/* ---- exposure -------------------------------------------------------------------------------- */

typedef struct metered {
    tml_context *tml;
    tml_buffer image, stats, state;
    uint32_t count;
} metered;

static bool metered_open(tml_context *tml, const float *data, uint32_t count, metered *out)
{
    *out = (metered){.tml = tml,
                     .image = buffer_of(tml, TML_F32, count, data),
                     .stats = buffer_of(tml, TML_U32, TML_IMAGE_STATS_WORDS, NULL),
                     .state = buffer_of(tml, TML_F32, TML_EXPOSURE_WORDS, NULL),
                     .count = count};
    tml_status status = tml_image_measure(
        tml, &(tml_image_measure_desc){
                 .image = {.buffer = out->image, .width = count, .height = 1, .channels = 1},
                 .stats = out->stats});
    return status != TML_ERROR_UNSUPPORTED && CHECK_OK(tml, status);
}
static void metered_close(metered *m)
{
    tml_buffer_destroy(m->tml, m->image);
    tml_buffer_destroy(m->tml, m->stats);
    tml_buffer_destroy(m->tml, m->state);
}
static void expose(const metered *m, tml_image_expose_desc desc, float out[TML_EXPOSURE_WORDS])
{
    desc.stats = m->stats;
    desc.state = m->state;
    CHECK_OK(m->tml, tml_image_expose(m->tml, &desc));
    CHECK_OK(m->tml, tml_buffer_read(m->tml, m->state, out));
}
#define NEAR(a, b, bound) CHECK(fabs((double)(a) - (double)(b)) <= (bound))

TEST(exposure_follows_the_average)
{
    /* A quarter each of 2^-6, 2^-2, 1 and 2^10; the mean is 2^0.5. */
    const float data[] = {0x1p-6f, 0.25f, 1.0f, 1024.0f};
    float e[TML_EXPOSURE_WORDS];
    EACH_DEVICE(tml)
    {
        metered m;
        if (!metered_open(tml, data, 4, &m)) {
            metered_close(&m);
            continue;
        }
        expose(&m, (tml_image_expose_desc){.reset = true}, e);
        NEAR(e[TML_EXPOSURE_AVERAGE], 0.5, 1e-4);
        NEAR(e[TML_EXPOSURE_TARGET], 0.5, 1e-4);
        NEAR(e[TML_EXPOSURE_EV100], 3.5, 1e-4);
        NEAR(e[TML_EXPOSURE_SCALE], 0.18 / exp2(0.5), 1e-4);
        expose(&m, (tml_image_expose_desc){.reset = true, .bias = 2.0f, .key = 0.5f}, e);
        NEAR(e[TML_EXPOSURE_SCALE], 2.0 / exp2(0.5), 1e-3);
        /* What is between a quarter and three quarters: 2^-2 and 1, at the middles of their
         * bins. */
        expose(&m, (tml_image_expose_desc){.reset = true, .clip_low = 25.0f, .clip_high = 75.0f},
               e);
        NEAR(e[TML_EXPOSURE_AVERAGE], -1.0 + 1.0 / 16.0, 1e-4);
        expose(&m, (tml_image_expose_desc){.reset = true, .by = TML_EXPOSE_MEDIAN}, e);
        NEAR(e[TML_EXPOSURE_AVERAGE], -2.0 + 1.0 / 8.0, 1e-4);
        expose(&m,
               (tml_image_expose_desc){
                   .reset = true, .by = TML_EXPOSE_PERCENTILE, .percentile = 100.0f},
               e);
        NEAR(e[TML_EXPOSURE_AVERAGE], 10.0 + 1.0 / 8.0, 1e-4);
        expose(&m, (tml_image_expose_desc){.reset = true, .ev_min = 5.0f, .ev_max = 9.0f}, e);
        NEAR(e[TML_EXPOSURE_EV100], 5.0, 1e-5);
        NEAR(e[TML_EXPOSURE_TARGET], 0.5, 1e-4);
        expose(&m, (tml_image_expose_desc){.reset = true, .by = TML_EXPOSE_MANUAL, .ev100 = 12.0f},
               e);
        NEAR(e[TML_EXPOSURE_EV100], 12.0, 1e-5);
        metered_close(&m);
    }
}

/* However a second and a half is cut into frames, the average ends at the same place: 4 stops away,
 * at 2 stops a second, is 3 straight in 1.5 s; and on with exp(-t). */
TEST(adaptation_does_not_depend_on_the_frame_rate)
{
    const float one = 1.0f, bright = 16.0f;
    float e[TML_EXPOSURE_WORDS];
    EACH_DEVICE(tml)
    for (int up = 0; up < 2; up++)
        for (int frames = 1; frames <= (device ? 30 : 120); frames *= 3) {
            metered from, to;
            bool can = metered_open(tml, up ? &one : &bright, 1, &from);
            can = metered_open(tml, up ? &bright : &one, 1, &to) && can;
            for (double seconds = 1.0; can && seconds < 3.0; seconds += 1.0) {
                expose(&from, (tml_image_expose_desc){.reset = true}, e);
                CHECK_OK(tml, tml_buffer_write(tml, to.state, 0, TML_EXPOSURE_WORDS, e));
                for (int frame = 0; frame < frames; frame++)
                    expose(&to,
                           (tml_image_expose_desc){.seconds = (float)(seconds / frames),
                                                   .speed_up = 2.0f,
                                                   .speed_down = 2.0f},
                           e);
                double away = seconds <= 1.5 ? 4.0 - 2.0 * seconds : exp(-2.0 * (seconds - 1.5));
                NEAR(e[TML_EXPOSURE_AVERAGE], up ? 4.0 - away : away, 1e-4);
            }
            if (can) { /* a cut */
                expose(&to, (tml_image_expose_desc){.reset = true}, e);
                NEAR(e[TML_EXPOSURE_AVERAGE], up ? 4.0 : 0.0, 1e-5);
            }
            metered_close(&from);
            metered_close(&to);
        }
}

TEST(darkness_leaves_the_exposure_where_it_was)
{
    const float data[] = {1.0f}, dark[] = {0.0f};
    float e[TML_EXPOSURE_WORDS];
    EACH_DEVICE(tml)
    {
        metered m, black;
        bool can = metered_open(tml, data, 1, &m);
        can = metered_open(tml, dark, 1, &black) && can;
        if (can) {
            expose(&m, (tml_image_expose_desc){.reset = true}, e);
            CHECK_OK(tml, tml_buffer_write(tml, black.state, 0, TML_EXPOSURE_WORDS, e));
            expose(&black, (tml_image_expose_desc){.seconds = 1.0f}, e);
            NEAR(e[TML_EXPOSURE_AVERAGE], 0.0, 1e-6);
            expose(&black, (tml_image_expose_desc){.reset = true, .bias = 1.0f}, e);
            NEAR(e[TML_EXPOSURE_SCALE], 2.0, 1e-5);
            CHECK(e[TML_EXPOSURE_COUNTED] == 0.0f);
            expose(&black, (tml_image_expose_desc){.reset = true, .by = TML_EXPOSE_MANUAL}, e);
            CHECK(e[TML_EXPOSURE_COUNTED] == 1.0f);
            for (int i = 0; i < TML_EXPOSURE_WORDS; i++)
                e[i] = NAN; /* a state that was never set */
            CHECK_OK(tml, tml_buffer_write(tml, m.state, 0, TML_EXPOSURE_WORDS, e));
            expose(&m, (tml_image_expose_desc){.seconds = 1.0f}, e);
            NEAR(e[TML_EXPOSURE_AVERAGE], 0.0, 1e-6);
            CHECK(e[TML_EXPOSURE_COUNTED] == 1.0f);
        }
        metered_close(&m);
        metered_close(&black);
    }
}

/* ---- tone curves ----------------------------------------------------------------------------- */

static void multiply(const double m[3][3], const double in[3], double out[3])
{
    for (int r = 0; r < 3; r++)
        out[r] = m[r][0] * in[0] + m[r][1] * in[1] + m[r][2] * in[2];
}

/* The curves again, in double and from their papers. */
static void reference_tone(tml_tone tone, const double in[3], double white, double out[3])
{
    static const double aces_in[3][3] = {
        {0.59719, 0.35458, 0.04823}, {0.07600, 0.90834, 0.01566}, {0.02840, 0.13383, 0.83777}};
    static const double aces_out[3][3] = {{1.60475, -0.53108, -0.07367},
                                          {-0.10208, 1.10813, -0.00605},
                                          {-0.00327, -0.07276, 1.07602}};
    static const double agx_in[3][3] = {{0.842479062253094, 0.0784335999999992, 0.0792237451477643},
                                        {0.0423282422610123, 0.878468636469772, 0.0791661274605434},
                                        {0.0423756549057051, 0.0784336, 0.879142973793104}};
    static const double agx_out[3][3] = {
        {1.19687900512017, -0.0980208811401368, -0.0990297440797205},
        {-0.0528968517574562, 1.15190312990417, -0.0989611768448433},
        {-0.0529716355144438, -0.0980434501171241, 1.15107367264116}};
    static const double agx_curve[7] = {-0.00232, 0.1191, 0.4298, -6.868, 31.96, -40.14, 15.5};
    double luminance = 0.2126 * in[0] + 0.7152 * in[1] + 0.0722 * in[2], v[3], w[3];
    for (int c = 0; c < 3; c++)
        v[c] = in[c];
    if (tone == TML_TONE_REINHARD || tone == TML_TONE_REINHARD_EXTENDED) {
        double mapped = luminance / (1.0 + luminance);
        if (tone == TML_TONE_REINHARD_EXTENDED)
            mapped *= 1.0 + luminance / (white * white);
        for (int c = 0; c < 3; c++)
            v[c] = luminance > 0 ? in[c] * mapped / luminance : 0.0;
    } else if (tone == TML_TONE_HABLE) {
        for (int c = 0; c < 4; c++) {
            double x = c < 3 ? 2.0 * in[c] : 11.2;
            double y = (x * (0.15 * x + 0.10 * 0.50) + 0.20 * 0.02) /
                           (x * (0.15 * x + 0.50) + 0.20 * 0.30) -
                       0.02 / 0.30;
            if (c < 3)
                v[c] = y;
            else
                v[0] /= y, v[1] /= y, v[2] /= y;
        }
    } else if (tone == TML_TONE_ACES_FIT) {
        multiply(aces_in, in, w);
        for (int c = 0; c < 3; c++)
            w[c] = (w[c] * (w[c] + 0.0245786) - 0.000090537) /
                   (w[c] * (0.983729 * w[c] + 0.4329510) + 0.238081);
        multiply(aces_out, w, v);
    } else if (tone == TML_TONE_AGX) {
        multiply(agx_in, in, w);
        for (int c = 0; c < 3; c++) {
            double t = (fmin(fmax(log2(w[c]), -12.47393), 4.026069) + 12.47393) / 16.499999;
            w[c] = 0.0;
            for (int k = 6; k >= 0; k--)
                w[c] = w[c] * t + agx_curve[k];
        }
        multiply(agx_out, w, v);
        for (int c = 0; c < 3; c++)
            v[c] = pow(fmax(v[c], 0.0), 2.2);
    } else if (tone == TML_TONE_NEUTRAL) {
        double x = fmin(in[0], fmin(in[1], in[2]));
        double offset = x < 0.08 ? x - 6.25 * x * x : 0.04;
        double peak = fmax(in[0], fmax(in[1], in[2])) - offset;
        for (int c = 0; c < 3; c++) {
            v[c] -= offset;
            if (peak >= 0.76) {
                double new_peak = 1.0 - 0.24 * 0.24 / (peak + 0.24 - 0.76);
                double g = 1.0 - 1.0 / (0.15 * (peak - new_peak) + 1.0);
                v[c] = v[c] * new_peak / peak * (1.0 - g) + new_peak * g;
            }
        }
    }
    for (int c = 0; c < 3; c++)
        out[c] = fmin(fmax(v[c], 0.0), 1.0);
}

TEST(tone_curves_are_those_of_their_papers)
{
    enum { WIDTH = 61, HEIGHT = 5, COUNT = WIDTH * HEIGHT };
    static float out[4 * COUNT];
    uint64_t seed = 8;
    for (int i = 0; i < COUNT; i++)
        for (int c = 0; c < 4; c++)
            pixels[4 * i + c] = c == 3  ? (float)uniform(&seed)
                                : i < 3 ? (float)(i * 0.18)
                                        : (float)exp2(24.0 * uniform(&seed) - 14.0);
    EACH_DEVICE(tml)
    for (int tone = 0; tone <= TML_TONE_NEUTRAL; tone++) {
        double bound = tone == TML_TONE_AGX ? 0x1p-14 : 0x1p-16, worst = 0.0;
        tml_image_tonemap_desc desc = {.in = {.buffer = buffer_of(tml, TML_F32, 4 * COUNT, pixels),
                                              .width = WIDTH,
                                              .height = HEIGHT,
                                              .channels = 4},
                                       .scale = 2.0f,
                                       .tone = (tml_tone)tone};
        desc.out = desc.in;
        desc.out.buffer = buffer_of(tml, TML_F32, 4 * COUNT, NULL);
        tml_status status = tml_image_tonemap(tml, &desc);
        if (status != TML_ERROR_UNSUPPORTED && CHECK_OK(tml, status)) {
            CHECK_OK(tml, tml_buffer_read(tml, desc.out.buffer, out));
            for (int i = 0; i < COUNT; i++) {
                double in[3], expected[3];
                for (int c = 0; c < 3; c++)
                    in[c] = 2.0 * (double)pixels[4 * i + c];
                reference_tone((tml_tone)tone, in, 4.0, expected);
                for (int c = 0; c < 3; c++)
                    worst = fmax(worst, fabs((double)out[4 * i + c] - expected[c]));
                CHECK(out[4 * i + 3] == pixels[4 * i + 3]);
            }
            if (!CHECK(worst <= bound))
                printf("    %s on device %u: 2^%.2f\n", tml_tone_name((tml_tone)tone), device,
                       log2(worst));
        }
        tml_buffer_destroy(tml, desc.in.buffer);
        tml_buffer_destroy(tml, desc.out.buffer);
    }
}

TEST(tone_mapping_writes_every_type_and_in_place)
{
    static const float in[] = {0.5f, NAN, INFINITY, -1.0f, 0.0f, 2.0f};
    EACH_DEVICE(tml)
    {
        uint8_t bytes[6];
        uint16_t shorts[6];
        float floats[6];
        tml_image_tonemap_desc desc = {
            .in = {
                .buffer = buffer_of(tml, TML_F32, 6, in), .width = 2, .height = 1, .channels = 3}};
        desc.out = desc.in;
        desc.out.srgb = true;
        desc.out.buffer = buffer_of(tml, TML_U8, 6, NULL);
        tml_status status = tml_image_tonemap(tml, &desc);
        if (status == TML_ERROR_UNSUPPORTED)
            continue;
        CHECK_OK(tml, status);
        CHECK_OK(tml, tml_buffer_read(tml, desc.out.buffer, bytes));
        const uint8_t expected[6] = {188, 0, 255, 0, 0, 255};
        for (int i = 0; i < 6; i++)
            CHECK_EQ_U64(bytes[i], expected[i]);
        tml_buffer_destroy(tml, desc.out.buffer);
        desc.out.srgb = false;
        desc.out.buffer = buffer_of(tml, TML_F16, 6, NULL);
        CHECK_OK(tml, tml_image_tonemap(tml, &desc));
        CHECK_OK(tml, tml_buffer_read(tml, desc.out.buffer, shorts));
        CHECK_EQ_U64(shorts[0], 0x3800);
        CHECK_EQ_U64(shorts[2], 0x3c00);
        tml_buffer_destroy(tml, desc.out.buffer);
        desc.out.buffer = desc.in.buffer;
        CHECK_OK(tml, tml_image_tonemap(tml, &desc));
        CHECK_OK(tml, tml_buffer_read(tml, desc.in.buffer, floats));
        CHECK(floats[0] == 0.5f && floats[1] == 0.0f && floats[2] == 1.0f && floats[5] == 1.0f);
        tml_buffer_destroy(tml, desc.in.buffer);
    }
}

TEST(tone_mapping_is_equal_on_every_thread_and_level)
{
    enum { WIDTH = 613, HEIGHT = 3, MOST = 4 * WIDTH * HEIGHT };
    static const struct {
        tml_type type;
        uint32_t channels;
        bool srgb;
    } kinds[] = {{TML_U8, 4, true}, {TML_U8, 3, true},   {TML_U8, 1, false}, {TML_U16, 4, true},
                 {TML_F16, 3, 0},   {TML_U16, 3, false}, {TML_F32, 4, 0},    {TML_F32, 3, 0}};
    static unsigned char expected[4 * MOST], out[4 * MOST];
    wild_pixels(MOST, 5);
    tml_context *tml = NULL;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = 2}, &tml));
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (uint32_t tone = 0; tone <= TML_TONE_NEUTRAL; tone++) {
            uint32_t channels = 1 + (tone + (uint32_t)kind) % 4;
            uint64_t scalars = (uint64_t)WIDTH * HEIGHT * kinds[kind].channels;
            size_t size = scalars * tml_type_size(kinds[kind].type);
            tml_image_tonemap_desc desc = {
                .in = {.buffer = buffer_of(tml, TML_F32, WIDTH * HEIGHT * channels, pixels),
                       .width = WIDTH,
                       .height = HEIGHT,
                       .channels = channels},
                .out = {.buffer = buffer_of(tml, kinds[kind].type, scalars, NULL),
                        .width = WIDTH,
                        .height = HEIGHT,
                        .channels = kinds[kind].channels,
                        .srgb = kinds[kind].srgb},
                .tone = (tml_tone)tone};
            for (int level = TML_SIMD_BASE; level < TML_SIMD_LEVELS; level++) {
                tml_simd_force((tml_simd)level);
                CHECK_OK(tml, tml_image_tonemap(tml, &desc));
                CHECK_OK(tml, tml_buffer_read(tml, desc.out.buffer, level ? out : expected));
                if (level && !CHECK(memcmp(out, expected, size) == 0))
                    printf("    %s, %u to %u channels, level %d\n", tml_tone_name(desc.tone),
                           channels, kinds[kind].channels, level);
            }
            tml_simd_force(TML_SIMD_LEVELS);
            tml_buffer_destroy(tml, desc.in.buffer);
            tml_buffer_destroy(tml, desc.out.buffer);
        }
    tml_close(tml);
}

/* ---- mip chains ------------------------------------------------------------------------------ */

TEST(levels_follow_one_another)
{
    CHECK_EQ_U64(tml_mip_level(1, 1, 0, NULL, NULL, NULL), 1);
    CHECK_EQ_U64(tml_mip_level(1920, 1080, 0, NULL, NULL, NULL), 11);
    CHECK_EQ_U64(tml_mip_level(4096, 1, 0, NULL, NULL, NULL), 13);
    uint32_t width, height;
    uint64_t first;
    tml_mip_level(1920, 1080, 0, &width, &height, &first);
    CHECK(width == 1920 && height == 1080 && first == 0);
    tml_mip_level(1920, 1080, 2, &width, &height, &first);
    CHECK(width == 480 && height == 270 && first == 960 * 540);
    tml_mip_level(5, 1, 2, &width, &height, &first);
    CHECK(width == 1 && height == 1 && first == 2);
    tml_mip_level(5, 1, UINT32_MAX, &width, &height,
                  &first); /* the end, without counting up to it */
    CHECK(width == 1 && height == 1 && first == 3);
}

enum { MIP_FLOATS = 4 * 2 * 4096 };
static bool make_mips(tml_context *tml, uint32_t width, uint32_t height, uint32_t channels,
                      tml_mip_filter filter, float *out)
{
    uint64_t texels;
    tml_mip_level(width, height, tml_mip_level(width, height, 0, NULL, NULL, NULL), NULL, NULL,
                  &texels);
    tml_image_mips_desc desc = {
        .in = {.buffer = buffer_of(tml, TML_F32, (uint64_t)width * height * channels, pixels),
               .width = width,
               .height = height,
               .channels = channels},
        .filter = filter,
        .out = buffer_of(tml, TML_F32, texels * channels, NULL)};
    tml_status status = tml_image_mips(tml, &desc);
    bool done = status != TML_ERROR_UNSUPPORTED && CHECK_OK(tml, status);
    if (done)
        CHECK_OK(tml, tml_buffer_read(tml, desc.out, out));
    tml_buffer_destroy(tml, desc.in.buffer);
    tml_buffer_destroy(tml, desc.out);
    return done;
}

static const uint32_t mip_sizes[][2] = {{2, 2},   {3, 3},  {5, 7},   {1, 9},   {13, 1},  {64, 64},
                                        {63, 65}, {37, 2}, {31, 17}, {2, 127}, {100, 70}};

TEST(every_level_of_areas_keeps_the_mean)
{
    static float out[MIP_FLOATS];
    EACH_DEVICE(tml)
    for (size_t s = 0; s < sizeof mip_sizes / sizeof *mip_sizes; s++)
        for (uint32_t channels = 1; channels <= 4; channels += 3) {
            uint32_t width = mip_sizes[s][0], height = mip_sizes[s][1];
            uint64_t count = (uint64_t)width * height;
            if (is_slow(tml) && channels == 1) /* the next test's */
                continue;
            random_pixels(count * channels, s + 1);
            if (!make_mips(tml, width, height, channels, TML_MIP_AREA, out))
                continue;
            for (uint32_t c = 0; c < channels; c++) {
                double mean = 0.0;
                for (uint64_t i = 0; i < count; i++)
                    mean += (double)pixels[i * channels + c] / (double)count;
                for (uint32_t level = 1; level < tml_mip_level(width, height, 0, NULL, NULL, NULL);
                     level++) {
                    uint32_t w, h;
                    uint64_t first;
                    double own = 0.0;
                    tml_mip_level(width, height, level, &w, &h, &first);
                    for (uint64_t i = first; i < first + (uint64_t)w * h; i++)
                        own += (double)out[i * channels + c] / (double)((uint64_t)w * h);
                    NEAR(own, mean, 4e-6 * mean);
                }
            }
        }
}

TEST(one_bright_texel_weighs_one_of_n_at_the_top)
{
    static float out[MIP_FLOATS];
    EACH_DEVICE(tml)
    for (size_t s = 0; s < sizeof mip_sizes / sizeof *mip_sizes; s++) {
        uint32_t width = mip_sizes[s][0], height = mip_sizes[s][1];
        uint64_t count = (uint64_t)width * height, texels;
        tml_mip_level(width, height, tml_mip_level(width, height, 0, NULL, NULL, NULL), NULL, NULL,
                      &texels);
        const uint64_t places[] = {0, width - 1, count - width, count - 1, count / 2};
        for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
            memset(pixels, 0, count * sizeof *pixels);
            pixels[places[p]] = 1.0f;
            if (make_mips(tml, width, height, 1, TML_MIP_AREA, out))
                NEAR(out[texels - 1] * (float)count, 1.0, 1e-5);
        }
        for (uint64_t i = 0; i < count; i++)
            pixels[i] = 0.1f; /* equal texels stay themselves bit for bit */
        if (make_mips(tml, width, height, 1, TML_MIP_AREA, out))
            for (uint64_t i = 0; i < texels; i++)
                CHECK(out[i] == 0.1f);
        if (make_mips(tml, width, height, 1, TML_MIP_KAISER, out))
            for (uint64_t i = 0; i < texels; i++)
                NEAR(out[i], 0.1, 2e-7);
    }
}

static double bessel(double x)
{
    double sum = 1.0, term = 1.0;
    for (int k = 1; k < 40; k++)
        sum += term *= x * x / 4.0 / (k * k);
    return sum;
}

/* What texel j of a level weighs in texel i of the next, along one axis, and in double: the part of
 * it that is covered, or the window's and the sinc's value there. */
static double mip_weight(tml_mip_filter filter, uint32_t i, uint32_t new_size, uint32_t j,
                         uint32_t size)
{
    double unit = (double)size / new_size, x = (j + 0.5) / unit - (i + 0.5);
    if (filter == TML_MIP_AREA)
        return fmax(0.0, fmin(j + 1, (i + 1) * unit) - fmax(j, i * unit));
    if (fabs(x) >= 3.0)
        return 0.0;
    double angle = 3.14159265358979 * x;
    return (x == 0.0 ? 1.0 : sin(angle) / angle) * bessel(4.0 * sqrt(1.0 - x * x / 9.0)) /
           bessel(4.0);
}

/* The weights of texel i; returns the first texel that has one. */
enum { MOST_TAPS = 20 };
static uint32_t mip_weights(tml_mip_filter filter, uint32_t i, uint32_t new_size, uint32_t size,
                            double weights[MOST_TAPS])
{
    uint32_t first = 2 * i > 8 ? 2 * i - 8 : 0;
    double total = 0.0;
    for (uint32_t k = 0; k < MOST_TAPS; k++) {
        weights[k] = first + k < size ? mip_weight(filter, i, new_size, first + k, size) : 0.0;
        total += weights[k];
    }
    for (uint32_t k = 0; k < MOST_TAPS; k++)
        weights[k] /= total;
    return first;
}

/* The next level, in double. */
static void next_level(tml_mip_filter filter, const double *in, uint32_t width, uint32_t height,
                       uint32_t channels, double *out)
{
    uint32_t w = width > 1 ? width / 2 : 1, h = height > 1 ? height / 2 : 1;
    for (uint32_t y = 0; y < h; y++) {
        double down[MOST_TAPS], across[MOST_TAPS];
        uint32_t top = mip_weights(filter, y, h, height, down);
        for (uint32_t x = 0; x < w; x++) {
            uint32_t left = mip_weights(filter, x, w, width, across);
            double *texel = out + ((uint64_t)y * w + x) * channels;
            memset(texel, 0, channels * sizeof *texel);
            for (uint32_t j = 0; j < MOST_TAPS; j++)
                for (uint32_t i = 0; down[j] != 0.0 && i < MOST_TAPS; i++) {
                    uint64_t at = ((uint64_t)(top + j) * width + left + i) * channels;
                    for (uint32_t c = 0; across[i] != 0.0 && c < channels; c++)
                        texel[c] += down[j] * across[i] * in[at + c];
                }
        }
    }
}

/* Sizes that take tiles of 64 x 64, some at the edge, parts of tiles, and neither. */
static const uint32_t chain_sizes[][2] = {{256, 64}, {132, 200}, {66, 130}, {20, 12}, {27, 18}};
static const struct {
    tml_type type;
    bool srgb;
} chain_kinds[] = {
    {TML_U8, false}, {TML_U8, true}, {TML_U16, false}, {TML_F16, false}, {TML_F32, false}};

static double linear_to_srgb(double x)
{
    return x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055;
}

/* How far what was stored lies from what should have been: in steps of an integer, or as a part of
 * size. */
static double chain_error(const void *out, tml_type type, bool srgb, uint64_t i, double expected,
                          double size)
{
    double inside = fmin(fmax(expected, 0.0), 1.0);
    double code = srgb ? linear_to_srgb(inside) : inside;
    if (type == TML_U8)
        return fabs(((const uint8_t *)out)[i] - 255.0 * code);
    if (type == TML_U16)
        return fabs(((const uint16_t *)out)[i] - 65535.0 * code);
    double value = type == TML_F16 ? (double)tml_half_to_float(((const uint16_t *)out)[i])
                                   : (double)((const float *)out)[i];
    return fabs(value - expected) / size;
}

static void check_chain(tml_context *tml, tml_mip_filter filter, uint32_t number, uint32_t size,
                        uint32_t channels)
{
    enum { MOST = 3 + (4 * 256 + 5) * 200 };
    static uint8_t bytes[MOST];
    static uint16_t shorts[MOST], halves[MOST];
    static float floats[MOST], out[MOST];
    static double levels[2][4 * MOST_PIXELS];
    tml_type type = chain_kinds[number].type;
    bool srgb = chain_kinds[number].srgb;
    uint32_t width = chain_sizes[size][0], height = chain_sizes[size][1];
    /* With gaps between rows, and without. */
    uint32_t gap = number % 2 ? 5 : 0, first = gap ? 3 : 0, stride = width * channels + gap;
    uint64_t seed = 9, texels, scalars = first + (uint64_t)stride * height;
    for (uint64_t i = 0; i < scalars; i++) {
        uint32_t code = (uint32_t)(uniform(&seed) * 256.0);
        bytes[i] = (uint8_t)code;
        shorts[i] = (uint16_t)(code * 257);
        halves[i] =
            (uint16_t)(i % 16 == 0 ? 1 + code : 0x2000 + code * 16); /* subnormal ones too */
        floats[i] = tml_half_to_float(halves[i]);
    }
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t i = 0; i < width * channels; i++) {
            uint64_t at = first + (uint64_t)y * stride + i;
            double code = type == TML_U8    ? bytes[at] / 255.0
                          : type == TML_U16 ? shorts[at] / 65535.0
                                            : (double)floats[at];
            bool is_alpha = channels % 2 == 0 && i % channels == channels - 1;
            levels[0][(uint64_t)y * width * channels + i] =
                srgb && !is_alpha ? srgb_to_linear(code) : code;
        }
    const void *data = type == TML_U8    ? (const void *)bytes
                       : type == TML_U16 ? (const void *)shorts
                       : type == TML_F16 ? (const void *)halves
                                         : (const void *)floats;
    uint32_t count = tml_mip_level(width, height, 0, NULL, NULL, NULL);
    tml_mip_level(width, height, count, NULL, NULL, &texels);
    tml_image_mips_desc desc = {.in = {.buffer = buffer_of(tml, type, scalars, data),
                                       .width = width,
                                       .height = height,
                                       .channels = channels,
                                       .srgb = srgb,
                                       .first = first,
                                       .row_stride = stride},
                                .filter = filter,
                                .out = buffer_of(tml, type, texels * channels, NULL)};
    tml_status status = tml_image_mips(tml, &desc);
    if (status != TML_ERROR_UNSUPPORTED && CHECK_OK(tml, status)) {
        /* Half a step and the floats' error; for halves and floats, their rounding. */
        double allowed = type == TML_F32 ? 1e-5 : type == TML_F16 ? 0x1p-11 + 1e-5 : 0.5;
        allowed += type == TML_U8 ? 0.005 : type == TML_U16 ? 0.15 : 0.0;
        double worst = 0.0;
        CHECK_OK(tml, tml_buffer_read(tml, desc.out, out));
        for (uint32_t level = 1; level < count; level++) {
            uint32_t w, h, old_w, old_h;
            uint64_t begin;
            tml_mip_level(width, height, level - 1, &old_w, &old_h, NULL);
            tml_mip_level(width, height, level, &w, &h, &begin);
            const double *in = levels[(level - 1) % 2];
            next_level(filter, in, old_w, old_h, channels, levels[level % 2]);
            for (uint64_t i = 0; i < (uint64_t)w * h * channels; i++) {
                bool is_coded = srgb && !(channels % 2 == 0 && i % channels == channels - 1);
                double expected = levels[level % 2][i];
                double part_of = filter == TML_MIP_KAISER ? 0.125 : expected;
                worst = fmax(worst, chain_error(out, type, is_coded, begin * channels + i, expected,
                                                part_of));
            }
        }
        NEAR(worst, 0.0, allowed);
    }
    tml_buffer_destroy(tml, desc.in.buffer);
    tml_buffer_destroy(tml, desc.out);
}

static const tml_mip_filter chain_filters[] = {TML_MIP_AREA, TML_MIP_KAISER};
TEST(chains_of_every_type_and_stride)
{
    EACH_DEVICE(tml)
    for (uint32_t f = 0; f < 2; f++)
        for (uint32_t k = 0; k < sizeof chain_kinds / sizeof *chain_kinds; k++)
            for (uint32_t channels = 1; channels <= 4; channels++)
                for (uint32_t s = 0; s < sizeof chain_sizes / sizeof *chain_sizes; s++) {
                    bool is_few = k == f && k + channels == 4 && s == 1; /* a pipeline each */
                    if (is_few || (!is_slow(tml) && (f == 0 || (k + channels + s) % 3 == 0)))
                        check_chain(tml, chain_filters[f], k, s, channels);
                }
}

/* ---- logarithms, and levels alone ---- */

/* Pixels and kinds of luminance of which chains of logarithms are made. */
static const struct {
    tml_type type, out;
    bool srgb;
    uint32_t channels;
    tml_luminance luminance;
    float floor;
} log_kinds[] = {{TML_F32, TML_F32, false, 3, TML_LUMINANCE_REC709, 0.0f},
                 {TML_F16, TML_F32, false, 4, TML_LUMINANCE_MAX_RGB, 0x1p-3f},
                 {TML_U8, TML_F16, true, 3, TML_LUMINANCE_CUSTOM, 0.0f},
                 {TML_F32, TML_F32, false, 1, TML_LUMINANCE_REC2020, 0x1p-100f},
                 {TML_U16, TML_F32, false, 2, TML_LUMINANCE_MAX_RGB, 0.0f}};
static const float log_weights[3] = {1.0f, 0.0f, 3.0f};

/* The logarithm of one decoded pixel, in double. */
static double log_of(const double *pixel, uint32_t kind)
{
    static const double known[][3] = {[TML_LUMINANCE_REC709] = {0.2126, 0.7152, 0.0722},
                                      [TML_LUMINANCE_REC2020] = {0.2627, 0.6780, 0.0593},
                                      [TML_LUMINANCE_CUSTOM] = {0.25, 0.0, 0.75}};
    double sum = 0.0, most = -INFINITY;
    tml_luminance by = log_kinds[kind].luminance;
    for (uint32_t c = 0; c < 3; c++) {
        double colour = pixel[log_kinds[kind].channels < 3 ? 0 : c];
        colour = isnan(colour) ? 0.0 : fmin(fmax(colour, -(double)FLT_MAX), (double)FLT_MAX);
        sum += by == TML_LUMINANCE_MAX_RGB ? 0.0 : known[by][c] * colour;
        most = fmax(most, colour);
    }
    double floor = log_kinds[kind].floor > 0.0f ? (double)log_kinds[kind].floor : 0x1p-16;
    return log2(fmin(fmax(by == TML_LUMINANCE_MAX_RGB ? most : sum, floor), (double)FLT_MAX));
}

/* Fills a picture of a kind, with what has no logarithm, and the logarithms that are expected. */
static tml_image log_picture(tml_context *tml, uint32_t kind, uint32_t width, uint32_t height,
                             double *logs)
{
    static const float odd[] = {0.0f, -1.0f, 1e-38f, INFINITY, NAN, 3e38f};
    static uint8_t bytes[4 * MOST_PIXELS];
    static uint16_t shorts[4 * MOST_PIXELS];
    static float floats[4 * MOST_PIXELS];
    uint32_t channels = log_kinds[kind].channels;
    tml_type type = log_kinds[kind].type;
    uint64_t seed = 5, count = (uint64_t)width * height;
    for (uint64_t p = 0; p < count; p++) {
        double pixel[4];
        for (uint32_t c = 0; c < channels; c++) {
            uint64_t i = p * channels + c;
            float value = (float)exp2(20.0 * uniform(&seed) - 10.0);
            if (type == TML_F32 && p % 37 == 0)
                value = odd[p / 37 % 6];
            bytes[i] = (uint8_t)(i * 7 + i / 11);
            shorts[i] = type == TML_F16 ? tml_float_to_half(value) : (uint16_t)(i * 1009);
            floats[i] = value;
            bool is_alpha = channels % 2 == 0 && c == channels - 1;
            pixel[c] = type == TML_U8    ? bytes[i] / 255.0
                       : type == TML_U16 ? shorts[i] / 65535.0
                       : type == TML_F16 ? (double)tml_half_to_float(shorts[i])
                                         : (double)value;
            pixel[c] = log_kinds[kind].srgb && !is_alpha ? srgb_to_linear(pixel[c]) : pixel[c];
        }
        logs[p] = log_of(pixel, kind);
    }
    const void *data = type == TML_U8    ? (const void *)bytes
                       : type == TML_F32 ? (const void *)floats
                                         : (const void *)shorts;
    return (tml_image){.buffer = buffer_of(tml, type, count * channels, data),
                       .width = width,
                       .height = height,
                       .channels = channels,
                       .srgb = log_kinds[kind].srgb};
}

/* Is the level alone the chain's, bit for bit, and nothing after it written? */
static void check_alone(tml_context *tml, tml_image_mips_desc desc, tml_type type, uint32_t level,
                        uint32_t channels, const unsigned char *chain)
{
    enum { GUARD = 8 };
    static unsigned char out[16 * MOST_PIXELS], before[16 * MOST_PIXELS];
    uint32_t width, height;
    uint64_t first;
    tml_mip_level(desc.in.width, desc.in.height, level, &width, &height, &first);
    size_t size = tml_type_size(type), texels = (size_t)width * height * channels;
    memset(before, 0xa5, sizeof before);
    desc.out = buffer_of(tml, type, texels + GUARD, before);
    desc.levels = level + 1;
    desc.output = TML_MIP_LAST;
    if (CHECK_OK(tml, tml_image_mips(tml, &desc))) {
        CHECK_OK(tml, tml_buffer_read(tml, desc.out, out));
        CHECK(memcmp(out, chain + first * channels * size, texels * size) == 0);
        CHECK(memcmp(out + texels * size, before, GUARD * size) == 0);
    }
    tml_buffer_destroy(tml, desc.out);
}

static void check_logs(tml_context *tml, tml_mip_filter filter, uint32_t kind, uint32_t size)
{
    static double levels[2][MOST_PIXELS];
    static unsigned char out[4 * MOST_PIXELS];
    uint32_t width = chain_sizes[size][0], height = chain_sizes[size][1];
    uint32_t count = tml_mip_level(width, height, 0, NULL, NULL, NULL);
    uint64_t texels;
    tml_mip_level(width, height, count, NULL, NULL, &texels);
    tml_image_mips_desc desc = {
        .in = log_picture(tml, kind, width, height, levels[0]),
        .filter = filter,
        .log_luminance = true,
        .luminance = {.kind = log_kinds[kind].luminance, .floor = log_kinds[kind].floor},
        .out = buffer_of(tml, log_kinds[kind].out, texels, NULL)};
    memcpy(desc.luminance.weights, log_weights, sizeof log_weights);
    tml_status status = tml_image_mips(tml, &desc);
    if (status != TML_ERROR_UNSUPPORTED && CHECK_OK(tml, status)) {
        /* Luminance and logarithm to 2^-20, sums of floats of up to 128; halves' rounding. */
        double allowed = 1e-4 + (log_kinds[kind].out == TML_F16 ? 16 * 0x1p-11 : 0.0), worst = 0.0;
        CHECK_OK(tml, tml_buffer_read(tml, desc.out, out));
        for (uint32_t level = 1; level < count; level++) {
            uint32_t w, h, old_w, old_h;
            uint64_t begin;
            tml_mip_level(width, height, level - 1, &old_w, &old_h, NULL);
            tml_mip_level(width, height, level, &w, &h, &begin);
            next_level(filter, levels[(level - 1) % 2], old_w, old_h, 1, levels[level % 2]);
            for (uint64_t i = 0; i < (uint64_t)w * h; i++)
                worst = fmax(worst, chain_error(out, log_kinds[kind].out, false, begin + i,
                                                levels[level % 2][i], 1.0));
            if (level == 1 || level + 2 >= count || level == 3)
                check_alone(tml, desc, log_kinds[kind].out, level, 1, out);
        }
        NEAR(worst, 0.0, allowed);
    }
    tml_buffer_destroy(tml, desc.in.buffer);
    tml_buffer_destroy(tml, desc.out);
}

TEST(chains_of_logarithms)
{
    EACH_DEVICE(tml)
    for (uint32_t f = 0; f < 2; f++)
        for (uint32_t k = 0; k < sizeof log_kinds / sizeof *log_kinds; k++)
            for (uint32_t s = 0; s < sizeof chain_sizes / sizeof *chain_sizes; s++)
                if (!is_slow(tml) || is_whole || (k == f && s == 1) || (f == 0 && s == 4 && k >= 2))
                    check_logs(tml, chain_filters[f], k, s);
}

TEST(a_level_alone_is_the_chains)
{
    static unsigned char out[16 * MOST_PIXELS];
    EACH_DEVICE(tml)
    for (uint32_t k = 0; k < 3; k++)
        for (uint32_t s = 0; s < sizeof chain_sizes / sizeof *chain_sizes; s++) {
            static double logs[MOST_PIXELS];
            uint32_t width = chain_sizes[s][0], height = chain_sizes[s][1];
            uint64_t texels;
            tml_mip_level(width, height, tml_mip_level(width, height, 0, NULL, NULL, NULL), NULL,
                          NULL, &texels);
            tml_image_mips_desc desc = {.in = log_picture(tml, k, width, height, logs)};
            uint32_t channels = desc.in.channels;
            desc.out = buffer_of(tml, log_kinds[k].type, texels * channels, NULL);
            tml_status status =
                is_slow(tml) && s != k ? TML_ERROR_UNSUPPORTED : tml_image_mips(tml, &desc);
            if (status != TML_ERROR_UNSUPPORTED && CHECK_OK(tml, status)) {
                CHECK_OK(tml, tml_buffer_read(tml, desc.out, out));
                for (uint32_t level = 1; level < tml_mip_level(width, height, 0, NULL, NULL, NULL);
                     level++)
                    check_alone(tml, desc, log_kinds[k].type, level, channels, out);
            }
            tml_buffer_destroy(tml, desc.in.buffer);
            tml_buffer_destroy(tml, desc.out);
        }
}

/* A level of tapped texels from the one above, texel by texel. */
static void tapped_level(const float *above, uint32_t old_width, uint32_t old_height,
                         uint32_t channels, float *out)
{
    uint32_t width = old_width > 1 ? old_width / 2 : 1,
             height = old_height > 1 ? old_height / 2 : 1;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            for (uint32_t c = 0; c < channels; c++) {
                image_taps down = image_taps_of(y, old_height);
                image_taps across = image_taps_of(x, old_width);
                const uint32_t columns[3] = {across.first, across.middle, across.last};
                const uint32_t rows[3] = {down.first, down.middle, down.last};
                float joined[3], texels[3];
                for (int i = 0; i < 3; i++) {
                    for (int j = 0; j < 3; j++)
                        texels[j] =
                            above[((size_t)rows[j] * old_width + columns[i]) * channels + c];
                    joined[i] = image_tapped(down, texels[0], texels[1], texels[2]);
                }
                *out++ = image_tapped(across, joined[0], joined[1], joined[2]);
            }
}

/* An axis in a Kaiser window: lines of `inner` floats. */
static void kaiser_axis(const float *above, uint32_t outer, uint32_t old_size, uint32_t inner,
                        double *sums, float *out)
{
    uint32_t size = old_size > 1 ? old_size / 2 : 1;
    for (uint32_t o = 0; o < outer; o++)
        for (uint32_t i = 0; i < size; i++) {
            double total = 0.0;
            memset(sums, 0, inner * sizeof *sums);
            for (uint32_t j = 2 * i > 20 ? 2 * i - 20 : 0; j < old_size && j < 2 * i + 20; j++) {
                double weight = (double)image_kaiser(i, j, old_size);
                total += weight;
                for (uint32_t k = 0; k < inner; k++)
                    sums[k] += weight * (double)above[((size_t)o * old_size + j) * inner + k];
            }
            for (uint32_t k = 0; k < inner; k++)
                *out++ = (float)(sums[k] / total);
        }
}

/* Engines leave out the taps that have weight 0 in levels of every size. */
TEST(kaiser_weights_lie_within_their_taps)
{
    static const uint32_t large[] = {511, 513, 4095, 4096, 4097, 65535, 65536, 65537};
    for (uint32_t k = 1; k < 300 + sizeof large / sizeof large[0]; k++) {
        uint32_t old_size = k < 300 ? k : large[k - 300], size = old_size > 1 ? old_size / 2 : 1;
        uint32_t outside = 0, first = IMAGE_KAISER_TAPS, end = 0;
        for (uint32_t i = 0; i < size; i++)
            for (uint32_t tap = 0; tap < IMAGE_KAISER_TAPS; tap++) {
                uint32_t j = 2 * i + tap - IMAGE_KAISER_BEFORE;
                if (j >= old_size || image_kaiser(i, j, old_size) == 0.0f)
                    continue;
                outside += tap < IMAGE_KAISER_FIRST || tap >= IMAGE_KAISER_END;
                first = tap < first ? tap : first;
                end = tap + 1 > end ? tap + 1 : end;
            }
        CHECK_EQ_U64(outside, 0);
        if (old_size > 100) /* and no more are left out than could be */
            CHECK(first == IMAGE_KAISER_FIRST && end == IMAGE_KAISER_END - (old_size % 2 == 0));
    }
}

/* More rows than a worker takes at a time and longer ones than are made in one go. */
TEST(large_mips_are_made_of_the_same_texels_as_small_ones)
{
    static const uint32_t cases[][3] = {{701, 300, 1}, {1031, 41, 4}, {67, 1025, 3}, {256, 256, 2}};
    static float out[4 * MOST_PIXELS], expected[4 * MOST_PIXELS], half[4 * MOST_PIXELS];
    static double sums[4 * 1031];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int filter = TML_MIP_AREA; filter <= TML_MIP_KAISER; filter++) {
            uint32_t width = cases[k][0], height = cases[k][1], channels = cases[k][2];
            random_pixels((uint64_t)width * height * channels, k);
            if (!CHECK(make_mips(context(0), width, height, channels, (tml_mip_filter)filter, out)))
                continue;
            const float *above = pixels;
            for (uint32_t level = 1;
                 level < tml_mip_level(cases[k][0], cases[k][1], 0, NULL, NULL, NULL); level++) {
                uint32_t new_width, new_height, wrong = 0;
                uint64_t first;
                tml_mip_level(cases[k][0], cases[k][1], level, &new_width, &new_height, &first);
                const float *own = out + first * channels;
                if (filter == TML_MIP_KAISER) {
                    kaiser_axis(above, 1, height, width * channels, sums, half);
                    kaiser_axis(half, new_height, width, channels, sums, expected);
                } else {
                    tapped_level(above, width, height, channels, expected);
                }
                for (size_t i = 0; i < (size_t)new_width * new_height * channels; i++)
                    wrong += filter == TML_MIP_KAISER
                                 ? fabs((double)own[i] - (double)expected[i]) > 1e-2
                                 : own[i] != expected[i];
                if (!CHECK_EQ_U64(wrong, 0))
                    printf("    filter %d, level %u of %u x %u\n", filter, level, cases[k][0],
                           cases[k][1]);
                above = own;
                width = new_width;
                height = new_height;
            }
        }
}

TEST(mips_are_equal_on_every_thread_and_level)
{
    static const struct {
        tml_type type;
        uint32_t channels;
        bool srgb;
    } kinds[] = {{TML_U8, 4, true}, {TML_U8, 2, true},  {TML_U8, 3, false}, {TML_U16, 4, true},
                 {TML_U16, 1, 0},   {TML_U16, 2, true}, {TML_F16, 3, 0},    {TML_F32, 4, 0}};
    enum { WIDTH = 301, HEIGHT = 150, MOST = 4 * WIDTH * HEIGHT };
    static unsigned char expected[4 * MOST], out[4 * MOST];
    static uint16_t halves[2 * MOST]; /* also as bytes and floats: no NaN, whose bits may be any */
    random_pixels(MOST, 3);
    memcpy(halves, pixels, sizeof halves);
    for (size_t i = 0; i < 2 * MOST; i++)
        halves[i] &= 0xbfff;
    tml_context *tml = NULL;
    CHECK_OK(NULL, tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = 3}, &tml));
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (int filter = TML_MIP_AREA; filter <= TML_MIP_KAISER; filter++) {
            uint32_t channels = kinds[kind].channels;
            uint64_t texels;
            tml_mip_level(WIDTH, HEIGHT, tml_mip_level(WIDTH, HEIGHT, 0, NULL, NULL, NULL), NULL,
                          NULL, &texels);
            size_t size = texels * channels * tml_type_size(kinds[kind].type);
            tml_image_mips_desc desc = {
                .in = {.buffer =
                           buffer_of(tml, kinds[kind].type, WIDTH * HEIGHT * channels, halves),
                       .width = WIDTH,
                       .height = HEIGHT,
                       .channels = channels,
                       .srgb = kinds[kind].srgb},
                .filter = (tml_mip_filter)filter,
                .out = buffer_of(tml, kinds[kind].type, texels * channels, NULL)};
            for (int level = TML_SIMD_BASE; level < TML_SIMD_LEVELS; level++) {
                tml_simd_force((tml_simd)level);
                CHECK_OK(tml, tml_image_mips(tml, &desc));
                CHECK_OK(tml, tml_buffer_read(tml, desc.out, level ? out : expected));
                if (level && !CHECK(memcmp(out, expected, size) == 0))
                    printf("    filter %d, %u channels of %s, level %d\n", filter, channels,
                           tml_type_name(kinds[kind].type), level);
            }
            tml_simd_force(TML_SIMD_LEVELS);
            tml_buffer_destroy(tml, desc.in.buffer);
            tml_buffer_destroy(tml, desc.out);
        }
    tml_close(tml);
}

TEST(mips_of_codes_average_light)
{
    const uint8_t codes[] = {0, 0, 0, 10, 255, 255, 255, 20, 0, 0, 0, 30, 255, 255, 255, 40};
    EACH_DEVICE(tml)
    {
        uint8_t out[4];
        tml_image_mips_desc desc = {.in = {.buffer = buffer_of(tml, TML_U8, 16, codes),
                                           .width = 2,
                                           .height = 2,
                                           .channels = 4,
                                           .srgb = true},
                                    .out = buffer_of(tml, TML_U8, 4, NULL)};
        tml_status status = tml_image_mips(tml, &desc);
        if (status == TML_ERROR_UNSUPPORTED)
            continue;
        CHECK_OK(tml, status);
        CHECK_OK(tml, tml_buffer_read(tml, desc.out, out));
        CHECK_EQ_U64(out[0], 188); /* half the light, not half the code */
        CHECK_EQ_U64(out[3], 25);  /* alpha is not coded */
        tml_buffer_destroy(tml, desc.in.buffer);
        tml_buffer_destroy(tml, desc.out);
    }
}

/* ---- refusals -------------------------------------------------------------------------------- */

/* ---- pictures of logarithms ------------------------------------------------------------------ */

enum { LOG_WIDTH = 37, LOG_HEIGHT = 29, LOG_PIXELS = LOG_WIDTH * LOG_HEIGHT, LOG_LEVELS = 6 };

/* What calls made of a picture. */
typedef struct log_results {
    tml_image_stats stats;
    float exposure[TML_EXPOSURE_WORDS];
    uint8_t toned[3 * LOG_PIXELS];
    float mips[4 * LOG_PIXELS], log_mips[LOG_PIXELS];
} log_results;

static bool results_of(tml_context *tml, const picture *of, log_results *out)
{
    uint32_t channels = of->image.channels;
    uint64_t texels;
    tml_mip_level(LOG_WIDTH, LOG_HEIGHT, LOG_LEVELS, NULL, NULL, &texels);
    tml_image in = of->image;
    in.buffer = buffer_of(tml, of->type, of->scalars, of->data);
    tml_buffer stats = buffer_of(tml, TML_U32, TML_IMAGE_STATS_WORDS, NULL);
    tml_buffer state = buffer_of(tml, TML_F32, TML_EXPOSURE_WORDS, NULL);
    tml_buffer toned = buffer_of(tml, TML_U8, 3 * LOG_PIXELS, NULL);
    tml_buffer mips = buffer_of(tml, TML_F32, channels * texels, NULL);
    tml_buffer logs = buffer_of(tml, TML_F32, texels, NULL);
    tml_image shown = {.buffer = toned, .width = LOG_WIDTH, .height = LOG_HEIGHT, .channels = 3};
    tml_status status =
        tml_image_measure(tml, &(tml_image_measure_desc){.image = in, .stats = stats});
    bool done = status != TML_ERROR_UNSUPPORTED;
    if (done && CHECK_OK(tml, status)) {
        CHECK_OK(tml, tml_image_stats_read(tml, stats, &out->stats));
        CHECK_OK(tml, tml_image_expose(tml, &(tml_image_expose_desc){
                                                .stats = stats, .state = state, .reset = true}));
        CHECK_OK(tml, tml_buffer_read(tml, state, out->exposure));
        CHECK_OK(tml, tml_image_tonemap(
                          tml, &(tml_image_tonemap_desc){.in = in, .out = shown, .state = state}));
        CHECK_OK(tml, tml_buffer_read(tml, toned, out->toned));
        CHECK_OK(tml, tml_image_mips(tml, &(tml_image_mips_desc){
                                              .in = in, .levels = LOG_LEVELS, .out = mips}));
        CHECK_OK(tml, tml_buffer_read(tml, mips, out->mips));
        CHECK_OK(tml, tml_image_mips(tml, &(tml_image_mips_desc){.in = in,
                                                                 .levels = LOG_LEVELS,
                                                                 .log_luminance = true,
                                                                 .out = logs}));
        CHECK_OK(tml, tml_buffer_read(tml, logs, out->log_mips));
    }
    const tml_buffer all[] = {in.buffer, stats, state, toned, mips, logs};
    for (size_t b = 0; b < sizeof all / sizeof *all; b++)
        tml_buffer_destroy(tml, all[b]);
    return done;
}

/* The same picture twice: as logarithms of f16 or f32, and linear. */
static void check_log_picture(tml_context *tml, tml_image_values values, tml_type type,
                              uint32_t channels, bool is_wild)
{
    static float linear[4 * LOG_PIXELS], logs[4 * LOG_PIXELS];
    static uint16_t halves[4 * LOG_PIXELS];
    static log_results got, expected;
    static const double base[] = {1.0, 2.0, 2.718281828459045, 10.0};
    static const float wild[] = {NAN, -INFINITY, INFINITY, -1000.0f, 1000.0f, -101.0f};
    uint64_t seed = 7 + channels;
    for (uint64_t i = 0; i < (uint64_t)LOG_PIXELS * channels; i++) {
        bool is_alpha = channels % 2 == 0 && i % channels == channels - 1;
        float value = (float)((16.0 * uniform(&seed) - 10.0) / log2(base[values]));
        if (is_wild && uniform(&seed) < 0.1)
            value = wild[i % 6];
        if (is_alpha)
            value = (float)uniform(&seed);
        halves[i] = (uint16_t)tml_float_to_half(value);
        logs[i] = type == TML_F16 ? tml_half_to_float(halves[i]) : value;
        linear[i] = is_alpha ? logs[i] : image_of_log(logs[i], values);
        if (!is_wild && !is_alpha)
            CHECK(fabs((double)linear[i] / pow(base[values], (double)logs[i]) - 1.0) < 0x1p-20);
    }
    picture plain = floats_of(linear, LOG_WIDTH, LOG_HEIGHT, channels);
    picture coded = floats_of(logs, LOG_WIDTH, LOG_HEIGHT, channels);
    coded.image.values = values;
    if (type == TML_F16) {
        coded.data = halves;
        coded.type = TML_F16;
    }
    if (!results_of(tml, &plain, &expected) || !results_of(tml, &coded, &got))
        return;
    const tml_image_stats *a = &got.stats, *b = &expected.stats;
    CHECK(a->positive == b->positive && a->zero == b->zero && a->negative == 0 &&
          a->nan == b->nan && a->infinite == b->infinite && a->log_weight == b->log_weight);
    /* A GPU may contract the formula's products and sums: a unit or two of a float's last place. */
    NEAR(a->log2_mean, b->log2_mean, 1e-6 * fabs(b->log2_mean) + 1e-9);
    NEAR(a->min, b->min, 0x1p-21 * fabs((double)b->min));
    NEAR(a->max, b->max, 0x1p-21 * fabs((double)b->max));
    CHECK(memcmp(a->histogram, b->histogram, sizeof a->histogram) == 0);
    CHECK(a->positive > LOG_PIXELS / 2 && fabs(a->log2_mean) < 12.0);
    NEAR(a->mean, b->mean, 1e-4 * fabs(b->mean));
    CHECK(memcmp(got.exposure, expected.exposure, sizeof got.exposure) == 0);
    CHECK(got.exposure[TML_EXPOSURE_COUNTED] == 1.0f);
    CHECK(memcmp(got.toned, expected.toned, sizeof got.toned) == 0);
    uint64_t texels;
    tml_mip_level(LOG_WIDTH, LOG_HEIGHT, LOG_LEVELS, NULL, NULL, &texels);
    double worst = 0.0;
    for (uint64_t i = 0; i < texels; i++)
        worst = fmax(worst, fabs((double)got.log_mips[i] - (double)expected.log_mips[i]));
    for (uint64_t i = 0; !is_wild && i < texels * channels; i++)
        worst = fmax(worst, fabs((double)got.mips[i] / (double)expected.mips[i] - 1.0));
    NEAR(worst, 0.0, 1e-5);
}

TEST(pictures_of_logarithms_are_as_the_linear_ones)
{
    EACH_DEVICE(tml)
    for (uint32_t v = TML_IMAGE_LOG2; v <= TML_IMAGE_LOG10; v++)
        for (uint32_t channels = 1; channels <= 4; channels++)
            for (int k = 0; k < 4; k++)
                if (!is_slow(tml) || is_whole || (channels + (uint32_t)k) % 3 == v % 3)
                    check_log_picture(tml, v, k & 1 ? TML_F16 : TML_F32, channels, k & 2);
}

/* What a pass leaves that writes log2 of the luminance: metered as if it were linear, and as what
 * it is. */
TEST(a_target_of_log_luminance_is_exposed)
{
    const float data[] = {-6.0f, -4.5f, -3.0f}; /* the geometric mean is 2^-4.5 */
    float e[TML_EXPOSURE_WORDS];
    EACH_DEVICE(tml)
    {
        metered m;
        if (metered_open(tml, data, 3, &m)) {
            expose(&m, (tml_image_expose_desc){.reset = true}, e);
            CHECK(e[TML_EXPOSURE_COUNTED] == 0.0f);
            CHECK_OK(tml, tml_image_measure(
                              tml, &(tml_image_measure_desc){.image = {.buffer = m.image,
                                                                       .width = 3,
                                                                       .height = 1,
                                                                       .channels = 1,
                                                                       .values = TML_IMAGE_LOG2},
                                                             .stats = m.stats}));
            expose(&m, (tml_image_expose_desc){.reset = true}, e);
            NEAR(e[TML_EXPOSURE_SCALE], 0.18 * exp2(4.5), 1e-5);
            CHECK(e[TML_EXPOSURE_COUNTED] == 1.0f);
        }
        metered_close(&m);
    }
    CHECK(strcmp(tml_image_values_name(TML_IMAGE_LOG10), "log10") == 0);
    CHECK(strcmp(tml_image_values_name((tml_image_values)9), "unknown") == 0);
}

TEST(nonsense_is_refused)
{
    tml_context *tml = context(0);
    tml_buffer image = buffer_of(tml, TML_F32, 48, NULL);
    tml_buffer stats = buffer_of(tml, TML_U32, TML_IMAGE_STATS_WORDS, NULL);
    tml_buffer few = buffer_of(tml, TML_U32, TML_IMAGE_STATS_WORDS - 1, NULL);
    tml_buffer mask = buffer_of(tml, TML_U8, 16, NULL);
    const tml_image good = {.buffer = image, .width = 4, .height = 4, .channels = 3};
    const struct {
        const char *field;
        tml_image_measure_desc desc;
    } cases[] = {
        {"desc.image.buffer",
         {.image = {.buffer = stats, .width = 4, .height = 4, .channels = 3}, .stats = stats}},
        {"desc.image is 0",
         {.image = {.buffer = image, .width = 0, .height = 4, .channels = 3}, .stats = stats}},
        {"channels",
         {.image = {.buffer = image, .width = 4, .height = 4, .channels = 5}, .stats = stats}},
        {"srgb",
         {.image = {.buffer = image, .width = 4, .height = 4, .channels = 3, .srgb = true},
          .stats = stats}},
        {"values", {.image = {image, 4, 4, 3, .values = (tml_image_values)4}, .stats = stats}},
        {"which hold 0 to 1", {.image = {mask, 2, 2, 3, .values = TML_IMAGE_LOG2}, .stats = stats}},
        {"one or the other",
         {.image = {mask, 2, 2, 3, .srgb = true, .values = TML_IMAGE_LN}, .stats = stats}},
        {"too few",
         {.image = {.buffer = image, .width = 4, .height = 5, .channels = 3}, .stats = stats}},
        {"too few",
         {.image = {.buffer = image, .width = 4, .height = 4, .channels = 3, .first = UINT64_MAX},
          .stats = stats}},
        {"too few",
         {.image = {.buffer = image,
                    .width = 4,
                    .height = 4,
                    .channels = 3,
                    .row_stride = UINT64_MAX / 2},
          .stats = stats}},
        {"row_stride",
         {.image = {.buffer = image, .width = 4, .height = 4, .channels = 3, .row_stride = 11},
          .stats = stats}},
        {"region", {.image = good, .region = {4, 0, 0, 0}, .stats = stats}},
        {"region", {.image = good, .region = {1, 0, 4, 0}, .stats = stats}},
        {"luminance", {.image = good, .luminance.kind = (tml_luminance)9, .stats = stats}},
        {"weights", {.image = good, .luminance.kind = TML_LUMINANCE_CUSTOM, .stats = stats}},
        {"what", {.image = good, .what = (tml_measure)8, .stats = stats}},
        {"floor", {.image = good, .luminance.floor = -1.0f, .stats = stats}},
        {"floor", {.image = good, .luminance.floor = NAN, .stats = stats}},
        {"bin_log2", {.image = good, .bin_log2 = 7, .stats = stats}},
        {"stats", {.image = good, .stats = few}},
        {"mask", {.image = good, .mask = mask, .mask_width = 5, .mask_height = 1, .stats = stats}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tml_status status = tml_image_measure(tml, &cases[i].desc);
        CHECK_EQ_I64(status, TML_ERROR_INVALID_ARGUMENT);
        if (!CHECK(strstr(tml_last_error(tml), cases[i].field) != NULL))
            printf("    case %zu: %s\n", i, tml_last_error(tml));
    }
    tml_buffer state = buffer_of(tml, TML_F32, TML_EXPOSURE_WORDS, NULL);
    CHECK_EQ_I64(tml_image_expose(tml, &(tml_image_expose_desc){.stats = stats,
                                                                .state = state,
                                                                .clip_low = 60.0f,
                                                                .clip_high = 40.0f}),
                 TML_ERROR_INVALID_ARGUMENT);
    CHECK_EQ_I64(
        tml_image_expose(
            tml, &(tml_image_expose_desc){.stats = stats, .state = state, .seconds = -1.0f}),
        TML_ERROR_INVALID_ARGUMENT);
    tml_image shifted = {.buffer = image, .width = 4, .height = 2, .channels = 3, .first = 3};
    tml_image whole = {.buffer = image, .width = 4, .height = 2, .channels = 3};
    tml_image logs_out = whole;
    logs_out.values = TML_IMAGE_LOG2;
    CHECK_EQ_I64(tml_image_tonemap(tml, &(tml_image_tonemap_desc){.in = whole, .out = logs_out}),
                 TML_ERROR_INVALID_ARGUMENT);
    CHECK_EQ_I64(tml_image_tonemap(tml, &(tml_image_tonemap_desc){.in = whole, .out = shifted}),
                 TML_ERROR_INVALID_ARGUMENT);
    CHECK_EQ_I64(tml_image_mips(tml, &(tml_image_mips_desc){.in = good, .levels = 4, .out = state}),
                 TML_ERROR_INVALID_ARGUMENT);
    CHECK_EQ_I64(tml_image_mips(tml, &(tml_image_mips_desc){.in = good, .out = state}),
                 TML_ERROR_INVALID_ARGUMENT);
    tml_buffer logs = buffer_of(tml, TML_F32, 64, NULL), codes = buffer_of(tml, TML_U8, 64, NULL);
    const tml_image_mips_desc bad_logs[] = {
        {.in = good, .out = codes, .log_luminance = true},
        {.in = good, .out = logs, .log_luminance = true, .luminance.floor = 1e-38f},
        {.in = good, .out = logs, .log_luminance = true, .luminance.floor = -1.0f},
        {.in = good, .out = logs, .log_luminance = true, .luminance.kind = TML_LUMINANCE_CUSTOM},
        {.in = good, .out = logs, .log_luminance = true, .luminance.kind = (tml_luminance)9},
        {.in = good, .out = logs, .levels = 1, .output = TML_MIP_LAST},
    };
    for (size_t i = 0; i < sizeof bad_logs / sizeof *bad_logs; i++)
        CHECK_EQ_I64(tml_image_mips(tml, &bad_logs[i]), TML_ERROR_INVALID_ARGUMENT);
    tml_buffer scratch = buffer_of(tml, TML_U8, 8, NULL);
    CHECK_EQ_I64(
        tml_image_measure(
            tml, &(tml_image_measure_desc){.image = good, .stats = stats, .scratch = scratch}),
        TML_ERROR_SCRATCH_TOO_SMALL);
}

int main(int argc, char **argv)
{
    int kept = 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--all") == 0)
            is_whole = true;
        else
            argv[kept++] = argv[i];
    }
    int status = test_main(kept, argv);
    for (uint32_t number = 0; number < MAX_DEVICES; number++)
        tml_close(contexts[number]);
    return status;
}
