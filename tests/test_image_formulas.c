/* Images on every engine, against the formulas compiled as C: all types and numbers of channels,
 * rows with gaps, regions, masks, pixels that lie across words, flat and tall pictures, words
 * shared by levels and pictures. And what is OpenGL ES's own: rows of few texels. What pictures
 * mean (exact weights, policies, equal bits) is test_image's. */
#include "core/testing.h"
#include <trommel/gl.h>
#include <trommel/trommel.h>

#include "test.h"

#include "contexts.h"
#include "low_bytes.h"

#include "kernels/kernel.h"

#include "kernels/image.k.h"

#include "kernels/image_mips.k.h"

#include "kernels/image_tone.k.h"

#include "kernels/kernel_end.h"

/* ---- pictures -------------------------------------------------------------------------------- */

typedef struct picture {
    const char *name;
    tml_type type;
    uint32_t channels, width, height;
    uint32_t first, row_stride; /* scalars; 0: no gap */
    bool srgb;
    uint32_t mask_width, mask_height; /* 0: none */
    tml_luminance luminance;
    float floor;
    uint32_t what;
    uint32_t region[4]; /* x, y, width, height; width 0: all */
} picture;

static uint32_t random_state;
static uint32_t next_random(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}

static uint64_t stride_of(const picture *p)
{
    return p->row_stride ? p->row_stride : (uint64_t)p->width * p->channels;
}
static uint64_t scalars_of(const picture *p)
{
    return p->first + (p->height - 1) * stride_of(p) + (uint64_t)p->width * p->channels;
}

static uint32_t float_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static float bits_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Values of any size, and some that are zero, negative, infinite, NaN or subnormal. */
static uint32_t random_scalar(tml_type type)
{
    uint32_t r = next_random();
    if (type == TML_U8)
        return r & 0xff;
    if (type == TML_U16)
        return r & 0xffff;
    static const uint32_t specials[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
                                        0x7f7fffff, 0xbf800000, 0x00000123, 0x80000123, 0x0d7fffff};
    static const uint32_t half_specials[] = {0,      0x8000, 0x7c00, 0xfc00, 0x7e00,
                                             0x7bff, 0xbc00, 0x0001, 0x8001, 0x03ff};
    if (r % 64 == 0)
        return type == TML_F32 ? specials[r / 64 % 10] : half_specials[r / 64 % 10];
    return type == TML_F32
               ? float_bits(ldexpf(1.0f + (float)(r & 0xffff) / 65536.0f, (int)(r >> 16) % 24 - 12))
               : 0x1000 + r % 0x5800;
}

static size_t size_of(tml_type type)
{
    return type == TML_U8 ? 1 : type == TML_F32 ? 4 : 2;
}

static uint8_t *fill(const picture *p)
{
    uint64_t count = scalars_of(p);
    uint8_t *data = malloc(count * size_of(p->type) + 4);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t x = random_scalar(p->type);
        memcpy(data + i * size_of(p->type), &x, size_of(p->type));
    }
    return data;
}

static float scalar_at(const picture *p, const uint8_t *data, uint64_t i, bool srgb)
{
    uint32_t x = 0;
    memcpy(&x, data + i * size_of(p->type), size_of(p->type));
    return p->type == TML_U8    ? image_from_u8(x, srgb)
           : p->type == TML_U16 ? image_from_u16(x, srgb)
           : p->type == TML_F16 ? tml_half_to_float(x)
                                : bits_float(x);
}

static float colour_at(const picture *p, const uint8_t *data, uint32_t x, uint32_t y, uint32_t c)
{
    c = p->channels < 3 ? 0 : c;
    return scalar_at(p, data, p->first + y * stride_of(p) + (uint64_t)x * p->channels + c, p->srgb);
}

static tml_image image_of(const picture *p, tml_buffer buffer)
{
    return (tml_image){.buffer = buffer,
                       .width = p->width,
                       .height = p->height,
                       .channels = p->channels,
                       .srgb = p->srgb,
                       .first = p->first,
                       .row_stride = p->row_stride};
}

/* The region, as a picture of its own. */
static picture part_of(const picture *p)
{
    picture part = *p;
    if (p->region[2] == 0)
        return part;
    part.first += p->region[1] * (uint32_t)stride_of(p) + p->region[0] * p->channels;
    part.row_stride = (uint32_t)stride_of(p);
    part.width = p->region[2];
    part.height = p->region[3];
    return part;
}

/* ---- what is expected ------------------------------------------------------------------------ */

typedef struct measured {
    uint64_t counts[10]; /* stats words 0 to 19 */
    float min, max;
    double mean, magnitude, deviation;
    uint64_t histogram[TML_HISTOGRAM_BINS];
} measured;

static float luminance_of(const picture *p, const uint8_t *data, uint32_t x, uint32_t y,
                          uint32_t *kind)
{
    float rgb[3], value;
    uint32_t largest = 0;
    for (uint32_t c = 0; c < 3; c++) {
        float raw = colour_at(p, data, x, y, c);
        uint32_t size = image_magnitude(raw);
        largest = size > largest ? size : largest;
        rgb[c] = image_colour(raw);
    }
    if (p->channels < 3)
        value = rgb[0];
    else if (p->luminance == TML_LUMINANCE_MAX_RGB)
        value = image_luminance_max(rgb[0], rgb[1], rgb[2]);
    else
        value =
            image_luminance(rgb[0], rgb[1], rgb[2], (float)(0.2126 / (0.2126 + 0.7152 + 0.0722)),
                            (float)(0.0722 / (0.2126 + 0.7152 + 0.0722)));
    *kind = image_kind(largest, value);
    return value;
}

static void measure(const picture *p, const uint8_t *data, const uint8_t *mask, measured *m)
{
    *m = (measured){.min = INFINITY, .max = -INFINITY};
    double sum = 0, squares = 0, magnitudes = 0;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t y = 0; y < p->height; y++)
            for (uint32_t x = 0; x < p->width; x++) {
                uint32_t kind, weight = 1;
                float value = luminance_of(p, data, x, y, &kind);
                if (mask)
                    weight = mask[image_mask_at(x, p->mask_width, p->width) +
                                  image_mask_at(y, p->mask_height, p->height) * p->mask_width];
                if (weight == 0)
                    continue;
                if (pass == 1) {
                    double away = (double)value - m->mean;
                    squares += kind < IMAGE_NAN ? weight * away * away : 0;
                    continue;
                }
                m->counts[0]++;
                m->counts[1 + kind]++;
                if (kind >= IMAGE_NAN)
                    continue;
                m->counts[6] += weight;
                sum += weight * (double)value;
                magnitudes += weight * fabs((double)value);
                m->mean = sum / (double)m->counts[6];
                m->magnitude = magnitudes / (double)m->counts[6];
                m->min = fminf(m->min, value);
                m->max = fmaxf(m->max, value);
                float seen = fmaxf(value, p->floor);
                if (!(seen > 0))
                    continue;
                int stops = image_log2_fixed(seen);
                m->counts[7] += weight;
                m->counts[8] += (uint64_t)((int64_t)weight * image_log2_whole(stops));
                m->counts[9] += (uint64_t)weight * image_log2_fraction(stops);
                m->histogram[image_bin(stops, -16, 3)] += weight;
            }
    m->deviation = squares / (double)m->counts[6];
}

static uint64_t pair(const uint32_t *words)
{
    return words[0] | (uint64_t)words[1] << 32;
}

static bool check_measured(const picture *p, const uint32_t *stats, const measured *m)
{
    uint32_t what = p->what ? p->what : 7;
    bool good = true;
    for (int i = 0; i < 10; i++)
        good = CHECK_EQ_U64(pair(stats + 2 * i),
                            i >= 7 && !(what & TML_MEASURE_LOG) ? 0 : m->counts[i]) &&
               good;
    good = CHECK_EQ_U64(stats[TML_STATS_MIN], float_bits(m->min)) && good;
    good = CHECK_EQ_U64(stats[TML_STATS_MAX], float_bits(m->max)) && good;
    double n = (double)m->counts[6];
    double mean =
        (double)bits_float(stats[TML_STATS_MEAN]) + (double)bits_float(stats[TML_STATS_MEAN + 1]);
    double deviation = (double)bits_float(stats[TML_STATS_DEVIATION]) +
                       (double)bits_float(stats[TML_STATS_DEVIATION + 1]);
    /* Beside the largest float sums have no bound. */
    if ((what & TML_MEASURE_MEAN) && m->magnitude < 1e30 && n > 0) {
        good = CHECK_NEAR(mean, m->mean, (log2(n) + 32) * 0x1p-24 * m->magnitude) && good;
        good = CHECK_NEAR(deviation, m->deviation, 1e-5 * m->deviation) && good;
    }
    if (!(what & TML_MEASURE_MEAN))
        good = CHECK(mean == 0 && deviation == 0) && good;
    for (int b = 0; b < TML_HISTOGRAM_BINS && good; b++)
        good = CHECK_EQ_U64(pair(stats + TML_STATS_HISTOGRAM + 2 * b),
                            what & TML_MEASURE_HISTOGRAM ? m->histogram[b] : 0);
    good = CHECK_EQ_U64(stats[TML_STATS_WHAT], what) && good;
    good = CHECK_EQ_U64(stats[TML_STATS_FLOOR], float_bits(p->floor)) && good;
    good = CHECK_EQ_I64((int32_t)stats[TML_STATS_HISTOGRAM_LOW], -16) && good;
    return CHECK_EQ_U64(stats[TML_STATS_BIN_LOG2], 3) && good;
}

/* ---- measuring ------------------------------------------------------------------------------- */

static tml_context *open_gl(uint32_t row_log2, bool exact_counts)
{
    tml_context *tml;
    const tml_gl_desc gl = {.path = TML_GL_PATH_INTEGER, .exact_counts = exact_counts};
    const tml_open_desc desc = {.engine = TML_ENGINE_GL, .gl = &gl};
    const tml_testing testing = {.gl_row_log2 = row_log2};
    return tml_open_testing(&desc, &testing, &tml) == TML_OK ? tml : NULL;
}

enum { ENGINES = 3 };
static const char *const engine_names[ENGINES] = {"CPU", "Vulkan", "OpenGL ES"};

/* NULL where there is none; there always is a CPU. */
static tml_context *open_engine(int engine)
{
    tml_context *tml;
    if (engine == 0)
        return open_cpu(0);
    if (engine == 2)
        return open_gl(0, false);
    return tml_open(&(tml_open_desc){.engine = TML_ENGINE_VULKAN}, &tml) == TML_OK ? tml : NULL;
}
#define EACH_ENGINE(tml)                                                                           \
    for (int engine = 0; engine < ENGINES; engine++)                                               \
        for (tml_context *tml = open_engine(engine); tml; tml_close(tml), tml = NULL)

/* Software drivers of Vulkan take a second for each pipeline, of which every case here has its
 * own. */
static bool is_slow(const tml_context *tml)
{
    tml_device_info info;
    tml_context_describe(tml, &info);
    return info.engine == TML_ENGINE_VULKAN && info.is_software;
}

static void measure_picture(tml_context *tml, const char *engine, const picture *p)
{
    random_state = p->width * 31 + p->height;
    uint8_t *data = fill(p);
    uint64_t weights = (uint64_t)p->mask_width * p->mask_height;
    uint8_t *mask = weights ? malloc(weights) : NULL;
    for (uint64_t i = 0; i < weights; i++)
        mask[i] = (uint8_t)(next_random() % 3 == 0 ? 0 : next_random() & 0xff);
    tml_buffer in = buffer_of(tml, p->type, scalars_of(p), data);
    tml_buffer stats = buffer_of(tml, TML_U32, TML_IMAGE_STATS_WORDS, NULL);
    tml_image_measure_desc desc = {
        .image = image_of(p, in),
        .region = {p->region[0], p->region[1], p->region[2], p->region[3]},
        .luminance = {.kind = p->luminance, .floor = p->floor},
        .what = (tml_measure)p->what,
        .mask_width = p->mask_width,
        .mask_height = p->mask_height,
        .stats = stats};
    if (mask)
        desc.mask = buffer_of(tml, TML_U8, weights, mask);
    static uint32_t words[TML_IMAGE_STATS_WORDS];
    static measured expected;
    const picture part = part_of(p);
    measure(&part, data, mask, &expected);
    if (!CHECK_OK(tml, tml_image_measure(tml, &desc)) ||
        !CHECK_OK(tml, tml_buffer_read(tml, stats, words)) || !check_measured(p, words, &expected))
        test_fail(__FILE__, __LINE__, "of %s on %s", p->name, engine);
    tml_buffer_destroy(tml, in);
    tml_buffer_destroy(tml, stats);
    tml_buffer_destroy(tml, desc.mask);
    free(data);
    free(mask);
}

static const picture pictures[] = {
    {"tall f32x4", TML_F32, 4, 61, 131, .floor = 0},
    {"flat f32x3", TML_F32, 3, 2111, 3, .floor = 0.01f},
    {"f32x1 with gaps", TML_F32, 1, 45, 77, .first = 5, .row_stride = 49},
    {"f16x3", TML_F16, 3, 53, 67, .first = 1, .row_stride = 163},
    {"u8x3 sRGB", TML_U8, 3, 101, 97, .first = 3, .row_stride = 307, .srgb = true},
    {"u8x2", TML_U8, 2, 33, 1, .floor = 0},
    {"u16x4", TML_U16, 4, 17, 300, .luminance = TML_LUMINANCE_MAX_RGB},
    {"f32x3 with a mask", TML_F32, 3, 150, 90, .mask_width = 7, .mask_height = 5},
    {"f16x1 with a mask, flat", TML_F16, 1, 999, 7, .mask_width = 999, .mask_height = 7},
    {"logarithms alone", TML_F32, 3, 64, 64, .what = TML_MEASURE_LOG},
    {"mean alone", TML_F32, 3, 64, 64, .what = TML_MEASURE_MEAN},
    {"histogram alone", TML_F32, 3, 64, 64, .what = TML_MEASURE_HISTOGRAM},
    {"one pixel", TML_F32, 3, 1, 1, .floor = 0},
    {"one column", TML_U16, 1, 1, 1031, .first = 1, .row_stride = 3, .srgb = true},
    {"one row", TML_F16, 4, 997, 1, .floor = 1e-3f},
    {"u16x3 with gaps, a region, a mask", TML_U16, 3, 71, 43, .first = 5, .row_stride = 217,
     .mask_width = 9, .mask_height = 11, .region = {7, 3, 53, 37}},
    {"f16x1 with gaps, a region", TML_F16, 1, 89, 31, .first = 1, .row_stride = 91,
     .region = {0, 1, 67, 29}},
    {"u16x1 sRGB, a region, a mask", TML_U16, 1, 47, 59, .first = 2, .row_stride = 51, .srgb = true,
     .mask_width = 1, .mask_height = 59, .region = {46, 0, 1, 59}},
    {"f16x4, a region of one row, a mask", TML_F16, 4, 131, 7, .luminance = TML_LUMINANCE_MAX_RGB,
     .mask_width = 97, .mask_height = 1, .region = {30, 6, 97, 1}},
};

TEST(measures_are_those_of_the_formulas)
{
    /* Where it is slow, one: others like it are test_vulkan_image's. */
    EACH_ENGINE(tml)
    for (size_t i = 0; i < sizeof pictures / sizeof pictures[0]; i++)
        if (!is_slow(tml) || pictures[i].region[2] == 1)
            measure_picture(tml, engine_names[engine], &pictures[i]);
}

TEST(measures_do_not_depend_on_rows_of_textures)
{
    static const uint32_t rows[] = {10, 4};
    for (int r = 0; r < 2; r++) {
        tml_context *tml = open_gl(rows[r], r == 0);
        if (!tml)
            SKIP("no OpenGL ES with integer textures");
        static const int some[] = {0, 3, 7, 15};
        for (int i = 0; i < 4; i++)
            measure_picture(tml, "OpenGL ES by rows", &pictures[some[i]]);
        tml_close(tml);
    }
}

/* ---- exposure -------------------------------------------------------------------------------- */

/* Of a histogram and sums that the CPU measured. */
TEST(exposures_are_those_of_the_cpu)
{
    static uint32_t words[TML_IMAGE_STATS_WORDS];
    static const tml_image_expose_desc frames[] = {
        {.by = TML_EXPOSE_MEAN, .reset = true},
        {.by = TML_EXPOSE_MEAN, .clip_low = 40, .clip_high = 90, .seconds = 0.1f, .bias = 1},
        {.by = TML_EXPOSE_MEDIAN, .seconds = 2, .key = 0.5f},
        {.by = TML_EXPOSE_PERCENTILE, .percentile = 99, .seconds = 0.3f, .ev_min = -2, .ev_max = 3},
        {.by = TML_EXPOSE_MANUAL, .ev100 = 9, .seconds = 0.2f},
        {.by = TML_EXPOSE_MEAN, .clip_low = 99.5f, .clip_high = 100, .reset = true, .bias = -40},
    };
    enum { FRAMES = sizeof frames / sizeof frames[0] };
    float expected[FRAMES][TML_EXPOSURE_WORDS], got[TML_EXPOSURE_WORDS];
    random_state = 99;
    uint8_t *data = fill(&pictures[0]);
    EACH_ENGINE(tml)
    {
        tml_buffer stats = buffer_of(tml, TML_U32, TML_IMAGE_STATS_WORDS, engine ? words : NULL);
        tml_buffer state = buffer_of(tml, TML_F32, TML_EXPOSURE_WORDS, NULL);
        if (engine == 0) {
            tml_buffer in = buffer_of(tml, TML_F32, scalars_of(&pictures[0]), data);
            CHECK_OK(tml, tml_image_measure(
                              tml, &(tml_image_measure_desc){.image = image_of(&pictures[0], in),
                                                             .stats = stats}));
            CHECK_OK(tml, tml_buffer_read(tml, stats, words));
        }
        for (size_t f = 0; f < FRAMES; f++) {
            tml_image_expose_desc desc = frames[f];
            desc.stats = stats;
            desc.state = state;
            CHECK_OK(tml, tml_image_expose(tml, &desc));
            CHECK_OK(tml, tml_buffer_read(tml, state, engine ? got : expected[f]));
            for (int w = 0; engine && w < TML_EXPOSURE_WORDS; w++) {
                float unit = w == TML_EXPOSURE_SCALE ? expected[f][w] : 1;
                if (!CHECK_NEAR(got[w], expected[f][w], 0x1p-13 * unit))
                    printf("  word %d of frame %zu on %s\n", w, f, engine_names[engine]);
            }
        }
    }
    free(data);
}

/* ---- writing pictures ------------------------------------------------------------------------ */

static uint32_t code_of(tml_type type, float x, bool srgb)
{
    return type == TML_U8    ? image_to_integer(x, 255, srgb)
           : type == TML_U16 ? image_to_integer(x, 65535, srgb)
           : type == TML_F16 ? tml_float_to_half(x)
                             : float_bits(x);
}

/* Is a scalar what it should be: integers within a step, f16 likewise, f32 within a bound of its
 * size? */
static bool is_near(tml_type type, const uint8_t *bytes, uint64_t i, float expected, bool srgb,
                    double bound)
{
    uint32_t code = code_of(type, expected, srgb);
    uint32_t got = (uint32_t)get_low(bytes + i * size_of(type), size_of(type));
    if (type == TML_F32)
        return (isnan(bits_float(got)) && isnan(expected)) || got == code ||
               fabs((double)bits_float(got) - (double)expected) <= bound;
    return labs((long)got - (long)code) <= 1;
}

enum { GUARD = 0xa5 };

static void tonemap_picture(tml_context *tml, const char *engine, const picture *from,
                            const picture *to, tml_tone tone)
{
    random_state = 5;
    uint8_t *data = fill(from);
    uint64_t size = (scalars_of(to) + 5) * size_of(to->type);
    uint8_t *out = malloc(size), *written = calloc(size, 1);
    memset(out, GUARD, size);
    bool in_place = to == from;
    const float state[TML_EXPOSURE_WORDS] = {0.5f};
    tml_buffer in = buffer_of(tml, from->type, scalars_of(from), data);
    tml_buffer target = in_place ? in : buffer_of(tml, to->type, scalars_of(to) + 5, out);
    tml_buffer exposure = buffer_of(tml, TML_F32, TML_EXPOSURE_WORDS, state);
    CHECK_OK(tml, tml_image_tonemap(tml, &(tml_image_tonemap_desc){.in = image_of(from, in),
                                                                   .out = image_of(to, target),
                                                                   .state = exposure,
                                                                   .scale = 0.25f,
                                                                   .tone = tone}));
    CHECK_OK(tml, tml_buffer_read(tml, target, out));
    bool good = true;
    double bound = tone == TML_TONE_AGX ? 0x1p-14 : 0x1p-16;
    for (uint32_t y = 0; y < to->height; y++)
        for (uint32_t x = 0; x < to->width; x++) {
            float c[3];
            for (uint32_t k = 0; k < 3; k++)
                c[k] = image_exposed(colour_at(from, data, x, y, k), 0.125f);
            tml_vec3 v = image_tone(tone, (tml_vec3){c[0], c[1], c[2]}, 4);
            float values[4] = {v.x, v.y, v.z, 1};
            if (to->channels == 1)
                values[0] = image_tone_luminance(v);
            if (from->channels % 2 == 0)
                values[3] = scalar_at(from, data,
                                      from->first + y * stride_of(from) +
                                          (uint64_t)(x + 1) * from->channels - 1,
                                      false);
            for (uint32_t k = 0; k < to->channels; k++) {
                uint64_t i = to->first + y * stride_of(to) + (uint64_t)x * to->channels + k;
                good = good && is_near(to->type, out, i, values[k], to->srgb && k < 3, bound);
                memset(written + i * size_of(to->type), 1, size_of(to->type));
            }
        }
    for (uint64_t i = 0; i < size && !in_place; i++)
        good = good && (written[i] || out[i] == GUARD);
    if (!good)
        test_fail(__FILE__, __LINE__, "%s to %s by %s on %s", from->name, to->name,
                  tml_tone_name(tone), engine);
    tml_buffer_destroy(tml, in);
    if (!in_place)
        tml_buffer_destroy(tml, target);
    tml_buffer_destroy(tml, exposure);
    free(data);
    free(out);
    free(written);
}

TEST(tone_curves_are_those_of_the_formulas)
{
    static const picture from[] = {
        {"f32x4", TML_F32, 4, 37, 23, .floor = 0},
        {"f16x1 with gaps", TML_F16, 1, 37, 23, .first = 3, .row_stride = 41},
        {"u8x3 sRGB", TML_U8, 3, 37, 23, .srgb = true},
    };
    static const picture to[] = {
        {"u8x4 sRGB", TML_U8, 4, 37, 23, .srgb = true},
        {"u8x3 with gaps", TML_U8, 3, 37, 23, .first = 2, .row_stride = 115},
        {"u8x1", TML_U8, 1, 37, 23, .first = 3},
        {"u16x4", TML_U16, 4, 37, 23, .first = 1},
        {"f16x3", TML_F16, 3, 37, 23, .first = 1},
        {"f32x4", TML_F32, 4, 37, 23, .row_stride = 150},
        {"f32x1", TML_F32, 1, 37, 23, .floor = 0},
    };
    enum { MORE = ENGINES + 1 }; /* OpenGL ES with short rows */
    for (int e = 0; e < MORE; e++) {
        const char *name = engine_names[e < ENGINES ? e : ENGINES - 1];
        tml_context *tml = e < ENGINES ? open_engine(e) : open_gl(4, false);
        if (!tml)
            continue;
        bool is_part = is_slow(tml);
        for (size_t t = is_part; t < sizeof to / sizeof to[0]; t += is_part ? 3 : 1)
            tonemap_picture(tml, name, &from[t % 3], &to[t], (tml_tone)t);
        if (!is_part)
            tonemap_picture(tml, name, &from[2], &from[2], TML_TONE_NEUTRAL);
        tonemap_picture(tml, name, &to[5], &to[5], TML_TONE_REINHARD);
        tml_close(tml);
    }
}

/* ---- mip chains ------------------------------------------------------------------------------ */

typedef struct reference_level {
    uint32_t width, height;
    double *values;
} reference_level;

static double *make_along_x(const double *in, uint32_t width, uint32_t height, uint32_t channels,
                            tml_mip_filter filter)
{
    uint32_t half = width > 1 ? width / 2 : 1;
    double *out = malloc((size_t)half * height * channels * sizeof *out);
    for (uint32_t i = 0; i < half; i++) {
        double weights[32], sum = 0;
        uint32_t at[32];
        int taps = 0;
        if (filter == TML_MIP_KAISER) {
            for (int k = 0; k < IMAGE_KAISER_TAPS; k++) {
                int64_t j = 2 * (int64_t)i - IMAGE_KAISER_BEFORE + k;
                if (j < 0 || j >= width)
                    continue;
                at[taps] = (uint32_t)j;
                weights[taps++] = (double)image_kaiser(i, (uint32_t)j, width);
            }
        } else {
            image_taps t = image_taps_of(i, width);
            at[0] = t.first, at[1] = t.middle, at[2] = t.last;
            weights[0] = (double)t.first_part;
            weights[1] = 1 - (double)t.first_part - (double)t.last_part;
            weights[2] = (double)t.last_part;
            taps = 3;
        }
        for (int k = 0; k < taps; k++)
            sum += weights[k];
        for (size_t l = 0; l < (size_t)height * channels; l++) {
            size_t y = l / channels, c = l % channels;
            double value = 0;
            for (int k = 0; k < taps; k++)
                value += weights[k] * in[(y * width + at[k]) * channels + c];
            out[(y * half + i) * channels + c] = value / sum;
        }
    }
    return out;
}

static double *transposed(double *in, uint32_t width, uint32_t height, uint32_t channels)
{
    double *out = malloc((size_t)width * height * channels * sizeof *out);
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            memcpy(out + (x * height + y) * channels, in + (y * width + x) * channels,
                   channels * sizeof *out);
    free(in);
    return out;
}

static void mips_of(tml_context *tml, const char *engine, const picture *p, tml_type type,
                    tml_mip_filter filter)
{
    random_state = 3;
    uint8_t *data = fill(p);
    uint32_t channels = p->channels, width = p->width, height = p->height;
    uint64_t texels;
    uint32_t levels = tml_mip_level(width, height, 0, NULL, NULL, NULL);
    tml_mip_level(width, height, levels, NULL, NULL, &texels);
    uint64_t scalars = texels * channels + 7, size = scalars * size_of(type);
    uint8_t *out = malloc(size);
    memset(out, GUARD, size);
    double *above = malloc((size_t)width * height * channels * sizeof *above);
    for (size_t i = 0; i < (size_t)width * height * channels; i++) {
        size_t at = p->first + i / (width * channels) * stride_of(p) + i % (width * channels);
        bool is_alpha = channels % 2 == 0 && i % channels == channels - 1;
        /* One that is not finite would be all of the last levels. */
        float x = scalar_at(p, data, at, p->srgb && !is_alpha);
        if (!(fabsf(x) < 1e4f)) {
            memset(data + at * size_of(p->type), 0, size_of(p->type));
            x = 0;
        }
        above[i] = (double)x;
    }
    tml_buffer in = buffer_of(tml, p->type, scalars_of(p), data);
    tml_buffer chain = buffer_of(tml, type, scalars, out);
    CHECK_OK(tml, tml_image_mips(tml, &(tml_image_mips_desc){
                                          .in = image_of(p, in), .filter = filter, .out = chain}));
    CHECK_OK(tml, tml_buffer_read(tml, chain, out));
    bool good = true;
    for (uint32_t level = 1; level < levels; level++) {
        double *next = make_along_x(above, width, height, channels, filter);
        free(above);
        width = width > 1 ? width / 2 : 1;
        next = transposed(next, width, height, channels);
        above = make_along_x(next, height, width, channels, filter);
        free(next);
        height = height > 1 ? height / 2 : 1;
        above = transposed(above, height, width, channels);
        uint64_t first;
        tml_mip_level(p->width, p->height, level, NULL, NULL, &first);
        bool is_coded = p->srgb && type != TML_F16 && type != TML_F32;
        for (size_t i = 0; i < (size_t)width * height * channels; i++) {
            bool is_alpha = channels % 2 == 0 && i % channels == channels - 1;
            good =
                good && is_near(type, out, first * channels + i, (float)above[i],
                                is_coded && !is_alpha, 1e-2 * (filter == TML_MIP_KAISER ? 2 : 1));
        }
    }
    for (uint64_t i = texels * channels * size_of(type); i < size; i++)
        good = good && out[i] == GUARD;
    if (!good)
        test_fail(__FILE__, __LINE__, "%s to %s by filter %d on %s", p->name, tml_type_name(type),
                  filter, engine);
    free(above);
    free(data);
    free(out);
    tml_buffer_destroy(tml, in);
    tml_buffer_destroy(tml, chain);
}

TEST(mip_chains_are_those_of_the_weights)
{
    static const picture from[] = {
        {"f32x4", TML_F32, 4, 61, 34, .floor = 0},
        {"u8x3 sRGB with gaps", TML_U8, 3, 37, 53, .first = 1, .row_stride = 120, .srgb = true},
        {"f16x1", TML_F16, 1, 127, 3, .floor = 0},
        {"u8x2", TML_U8, 2, 31, 33, .floor = 0},
    };
    static const tml_type types[] = {TML_F32, TML_U8, TML_F16, TML_U16};
    EACH_ENGINE(tml)
    for (int i = 0; i < 4; i++)
        for (int filter = TML_MIP_AREA; filter <= TML_MIP_KAISER; filter++)
            if (!is_slow(tml) || filter == (int)(i + 1) % 2)
                mips_of(tml, engine_names[engine], &from[i], types[i], (tml_mip_filter)filter);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
