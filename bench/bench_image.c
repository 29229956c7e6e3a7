/* Benchmarks of images, and the plain loops that check the results. */
#include "bench_image.h"

#include "bench_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernel.h"

#include "kernels/image.k.h"

#include "kernels/image_mips.k.h"

#include "kernels/image_tone.k.h"

#include "kernels/kernel_end.h"

enum { CHANNELS = 4 };

/* Total bytes of the sets of a small picture: more than caches hold. */
static const uint64_t uncached_bytes = (uint64_t)256 << 20;

const char *bench_image_name(bench_image_kind kind)
{
    static const char *const names[BENCH_IMAGE_KIND_COUNT] = {
        "log mean", "mean",    "histogram", "all three",   "tone-map",
        "AgX",      "reading", "mip chain", "Kaiser mips", "log mean of an image"};
    return names[kind];
}

static uint64_t elements_of(const bench_image *image)
{
    return (uint64_t)image->desc.width * image->desc.height * CHANNELS;
}

/* ---- pictures -------------------------------------------------------------------------------- */

static bool measures(bench_image_kind kind)
{
    return kind <= BENCH_IMAGE_ALL || kind == BENCH_IMAGE_TEXTURE;
}
static bool maps_tones(bench_image_kind kind)
{
    return kind == BENCH_IMAGE_TONEMAP || kind == BENCH_IMAGE_AGX;
}
static bool makes_mips(bench_image_kind kind)
{
    return kind == BENCH_IMAGE_MIPS || kind == BENCH_IMAGE_KAISER;
}

/* A lamp of 2^13, or white, off the centre: it exposes averages that do not include all pixels. */
static void add_lamp(bench_image *image)
{
    uint32_t width = image->desc.width, height = image->desc.height;
    for (uint32_t y = height / 4; y <= height / 4 + height / 24; y++)
        for (uint32_t x = width / 4; x <= width / 4 + width / 24; x++)
            for (uint64_t c = 0; c < CHANNELS; c++) {
                uint64_t i = ((uint64_t)y * width + x) * CHANNELS + c;
                if (image->desc.type == TML_F16)
                    ((uint16_t *)image->data)[i] = (13 + 15) << 10;
                else
                    ((uint8_t *)image->data)[i] = 255;
            }
}

/* Hashed bytes, or numbers from 2^-8 to 2^8 with evenly distributed logarithms. For mip chains,
 * with a lamp. */
static tml_status fill(bench_image *image)
{
    uint64_t count = elements_of(image), words = (count + 1) & ~(uint64_t)1;
    image->size = words * sizeof(uint32_t);
    image->data = tml_alloc(image->tml, image->size);
    if (!image->data)
        return tml_error(image->tml, TML_ERROR_OUT_OF_MEMORY, "the picture needs %zu bytes",
                         image->size);
    uint32_t *hashes = image->data;
    bench_stream_fill(image->tml, count, hashes);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t hash = hashes[i], exponent = hash >> 28;
        if (image->desc.type == TML_F32)
            hashes[i] = (119 + exponent) << 23 | (hash & 0x7fffff);
        else if (image->desc.type == TML_F16) /* never past the hash that comes next */
            ((uint16_t *)image->data)[i] = (uint16_t)((7 + exponent) << 10 | (hash & 0x3ff));
        else
            ((uint8_t *)image->data)[i] = (uint8_t)(hash >> 24);
    }
    if (image->desc.kind == BENCH_IMAGE_MIPS)
        add_lamp(image);
    return TML_OK;
}

static float element_of(tml_type type, const void *data, uint64_t i)
{
    if (type == TML_F32)
        return ((const float *)data)[i];
    if (type == TML_F16)
        return tml_half_to_float(((const uint16_t *)data)[i]);
    return image_from_u8(((const uint8_t *)data)[i], false);
}

static float element(const bench_image *image, uint64_t i)
{
    return element_of(image->desc.type, image->data, i);
}

static tml_image picture_of(const bench_image *image, tml_buffer buffer)
{
    return (tml_image){.buffer = buffer,
                       .width = image->desc.width,
                       .height = image->desc.height,
                       .channels = CHANNELS};
}

/* ---- create and run -------------------------------------------------------------------------- */

static tml_engine_kind engine_of(const tml_context *tml)
{
    tml_device_info device;
    tml_context_describe(tml, &device);
    return device.engine;
}
static bool is_cpu(const tml_context *tml)
{
    return engine_of(tml) == TML_ENGINE_CPU;
}

bool bench_image_has_driver(const bench_image *image)
{
    return image->desc.kind == BENCH_IMAGE_MIPS && !is_cpu(image->tml);
}

/* The set's picture as a texture of the device, if the job requires one. */
static tml_status create_texture(bench_image *image, uint32_t set)
{
    const bench_image_desc *desc = &image->desc;
    bool has_driver = bench_image_has_driver(image);
    if (desc->kind != BENCH_IMAGE_TEXTURE && !has_driver)
        return TML_OK;
    uint32_t levels =
        has_driver ? tml_mip_level(desc->width, desc->height, 0, NULL, NULL, NULL) : 1;
    return engine_of(image->tml) == TML_ENGINE_GL
               ? bench_drawn_create(image->tml, image->data, desc, &image->sets[set].drawn)
               : bench_texture_create(image->tml, image->sets[set].in, desc, levels,
                                      &image->sets[set].texture);
}

static tml_status create_set(bench_image *image)
{
    tml_context *tml = image->tml;
    bool is_read = image->desc.kind == BENCH_IMAGE_READ;
    uint64_t count = elements_of(image), texels, size = count * tml_type_size(image->desc.type);
    tml_buffer_desc in = {.type = is_read ? TML_U32 : image->desc.type,
                          .count = is_read ? size / sizeof(uint32_t) : count,
                          .data = image->data};
    if (is_cpu(tml))
        in.host = image->data, in.data = NULL;
    uint32_t set = image->set_count++;
    tml_status status = tml_buffer_create(tml, &in, &image->sets[set].in);
    if (!status)
        status = create_texture(image, set);
    if (status || measures(image->desc.kind))
        return status;
    tml_buffer_desc out = {.type = TML_U8, .count = count};
    if (makes_mips(image->desc.kind)) {
        uint32_t levels = tml_mip_level(image->desc.width, image->desc.height, 0, NULL, NULL, NULL);
        tml_mip_level(image->desc.width, image->desc.height, levels, NULL, NULL, &texels);
        out = (tml_buffer_desc){.type = image->desc.type, .count = texels * CHANNELS};
    } else if (is_read) {
        out = (tml_buffer_desc){.type = TML_U64, .count = 1};
    }
    return tml_buffer_create(tml, &out, &image->sets[set].out);
}

tml_status bench_image_create(tml_context *tml, const bench_image_desc *desc, bench_image *out)
{
    *out = (bench_image){.tml = tml, .desc = *desc, .stops_off = NAN, .driver_stops_off = NAN};
    uint64_t in = (uint64_t)desc->width * desc->height * CHANNELS * tml_type_size(desc->type);
    tml_status status = fill(out);
    out->sums = calloc(BENCH_IMAGE_SHARES, sizeof *out->sums);
    if (!status && !out->sums)
        status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a plain loop's sums");
    out->bytes = in;
    if (maps_tones(desc->kind))
        out->bytes += elements_of(out);
    uint64_t texels;
    tml_mip_level(desc->width, desc->height,
                  tml_mip_level(desc->width, desc->height, 0, NULL, NULL, NULL), NULL, NULL,
                  &texels);
    if (makes_mips(desc->kind))
        out->bytes += texels * CHANNELS * tml_type_size(desc->type);
    if (!status)
        status = tml_buffer_create(
            tml, &(tml_buffer_desc){.type = TML_U32, .count = TML_IMAGE_STATS_WORDS}, &out->stats);
    uint64_t fewest = is_cpu(tml) ? 1 : uncached_bytes / in + 1;
    while (!status && out->set_count < fewest && out->set_count < BENCH_IMAGE_SETS)
        status = create_set(out);
    if (status)
        bench_image_destroy(out);
    return status;
}

static tml_status enqueue(bench_image *image, uint32_t set)
{
    static const tml_measure whats[BENCH_IMAGE_KIND_COUNT] = {
        [BENCH_IMAGE_LOG] = TML_MEASURE_LOG,
        [BENCH_IMAGE_MEAN] = TML_MEASURE_MEAN,
        [BENCH_IMAGE_HISTOGRAM] = TML_MEASURE_HISTOGRAM,
        [BENCH_IMAGE_TEXTURE] = TML_MEASURE_LOG};
    tml_context *tml = image->tml;
    tml_image in = picture_of(image, image->sets[set].in);
    tml_buffer out = image->sets[set].out;
    if (image->desc.kind == BENCH_IMAGE_TEXTURE) {
        in.buffer = (tml_buffer){0};
        in.vulkan = bench_texture_lent(image->sets[set].texture);
    }
    if (measures(image->desc.kind))
        return tml_image_measure(tml, &(tml_image_measure_desc){.image = in,
                                                                .what = whats[image->desc.kind],
                                                                .stats = image->stats});
    if (image->desc.kind == BENCH_IMAGE_READ)
        return tml_reduce(
            tml, &(tml_reduce_desc){.in = image->sets[set].in, .folds = {{TML_FOLD_SUM, out}}});
    bool is_kaiser = image->desc.kind == BENCH_IMAGE_KAISER;
    tml_mip_filter filter = is_kaiser ? TML_MIP_KAISER : TML_MIP_AREA;
    if (makes_mips(image->desc.kind))
        return tml_image_mips(tml, &(tml_image_mips_desc){.in = in, .filter = filter, .out = out});
    tml_image shown = picture_of(image, out);
    shown.srgb = true;
    tml_tone tone = image->desc.kind == BENCH_IMAGE_AGX ? TML_TONE_AGX : TML_TONE_REINHARD;
    return tml_image_tonemap(tml, &(tml_image_tonemap_desc){.in = in, .out = shown, .tone = tone});
}

bool bench_image_run(void *user)
{
    bench_image *image = user;
    return enqueue(image, image->runs++ % image->set_count) == TML_OK;
}

static tml_status enqueue_driver(bench_image *image, uint32_t set)
{
    return image->sets[set].drawn ? bench_drawn_mips(image->sets[set].drawn)
                                  : bench_texture_mips(image->sets[set].texture);
}

bool bench_image_run_driver(void *user)
{
    bench_image *image = user;
    return enqueue_driver(image, image->driver_runs++ % image->set_count) == TML_OK;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static double luminance_of(const double c[3])
{
    return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
}

static void pixel_of(const bench_image *image, uint64_t pixel, double c[3])
{
    for (int i = 0; i < 3; i++)
        c[i] = (double)element(image, pixel * CHANNELS + (uint64_t)i);
}

static bool measure_is_right(const bench_image *image, const tml_image_stats *stats)
{
    uint64_t pixels = elements_of(image) / CHANNELS, black = 0, weight = 0;
    double log_sum = 0.0, sum = 0.0, c[3];
    for (uint64_t i = 0; i < pixels; i++) {
        pixel_of(image, i, c);
        double luminance = luminance_of(c);
        black += luminance == 0.0;
        sum += luminance;
        log_sum += luminance > 0.0 ? log2(luminance) : 0.0;
    }
    for (int bin = 0; bin < TML_HISTOGRAM_BINS; bin++)
        weight += stats->histogram[bin];
    double n = (double)pixels, mean = sum / n;
    bool is_right = stats->pixels == pixels && stats->zero == black;
    if (image->desc.kind == BENCH_IMAGE_LOG || image->desc.kind == BENCH_IMAGE_ALL ||
        image->desc.kind == BENCH_IMAGE_TEXTURE)
        is_right &= fabs(stats->log2_mean - log_sum / (double)(pixels - black)) <= 0x1p-20;
    if (image->desc.kind == BENCH_IMAGE_MEAN || image->desc.kind == BENCH_IMAGE_ALL)
        is_right &= fabs(stats->mean - mean) <= (log2(n) + 32) * 0x1p-24 * mean;
    if (image->desc.kind == BENCH_IMAGE_HISTOGRAM || image->desc.kind == BENCH_IMAGE_ALL)
        is_right &= weight == pixels - black;
    return is_right;
}

/* Floats added in any order: nearly the same mean. */
static bool plain_is_right(bench_image *image, const tml_image_stats *stats)
{
    double mean = image->desc.kind == BENCH_IMAGE_LOG ? stats->log2_mean : stats->mean;
    return !bench_image_has_plain(&image->desc) ||
           (bench_image_run_plain(image) && fabs(image->plain - mean) <= 1e-3 * fmax(1.0, mean));
}

/* Every colour within a step of the formula's. */
static bool tonemap_is_right(const bench_image *image, const uint8_t *out)
{
    uint64_t pixels = elements_of(image) / CHANNELS;
    bool is_right = true;
    double c[3];
    for (uint64_t i = 0; i < pixels; i++) {
        pixel_of(image, i, c);
        double luminance = luminance_of(c);
        tml_vec3 agx = tml_make3((float)c[0], (float)c[1], (float)c[2]);
        if (image->desc.kind == BENCH_IMAGE_AGX)
            agx = image_tone(IMAGE_TONE_AGX, agx, 0.0f);
        const float by_agx[3] = {agx.x, agx.y, agx.z};
        for (int k = 0; k < 3; k++) {
            double x = image->desc.kind == BENCH_IMAGE_AGX ? (double)by_agx[k]
                                                           : fmin(c[k] / (1.0 + luminance), 1.0);
            double code = x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055;
            is_right &= fabs(255.0 * code - out[i * CHANNELS + (uint64_t)k]) <= 1.5;
        }
    }
    return is_right;
}

static void exact_mean(const bench_image *image, double mean[CHANNELS])
{
    uint64_t count = elements_of(image);
    for (uint32_t k = 0; k < CHANNELS; k++)
        mean[k] = 0.0;
    for (uint64_t i = 0; i < count; i++)
        mean[i % CHANNELS] += (double)element(image, i) * CHANNELS / (double)count;
}

/* The difference between the last level's luminance, at an element of out, and the mean's. */
static double stops_off(const bench_image *image, const void *out, uint64_t at,
                        const double mean[CHANNELS])
{
    double last[CHANNELS];
    for (uint32_t k = 0; k < CHANNELS; k++)
        last[k] = (double)element_of(image->desc.type, out, at + k);
    return log2(luminance_of(last) / luminance_of(mean));
}

/* Checks that the last level, at an element of out, is the mean of all pixels, except for the
 * levels' roundings. */
static bool mips_are_right(bench_image *image, const void *out, uint64_t last)
{
    bool is_right = true;
    double mean[CHANNELS];
    exact_mean(image, mean);
    for (uint32_t k = 0; k < CHANNELS; k++) {
        double most = image->desc.type == TML_U8 ? 1.0 / 255 : mean[k] * 0.01;
        is_right &= fabs(mean[k] - (double)element_of(image->desc.type, out, last + k)) <= most;
    }
    image->stops_off = stops_off(image, out, last, mean);
    return is_right;
}

/* The last level of the driver's chain, which need not be exact. */
static tml_status look_at_driver(bench_image *image)
{
    double mean[CHANNELS];
    uint16_t texel[CHANNELS];
    tml_buffer out;
    tml_status status = tml_buffer_create(
        image->tml, &(tml_buffer_desc){.type = image->desc.type, .count = CHANNELS}, &out);
    if (status)
        return status;
    status = enqueue_driver(image, 0);
    if (!status)
        status = image->sets[0].drawn ? bench_drawn_last(image->sets[0].drawn, out)
                                      : bench_texture_last(image->sets[0].texture, out);
    if (!status)
        status = tml_buffer_read(image->tml, out, texel);
    exact_mean(image, mean);
    if (!status)
        image->driver_stops_off = stops_off(image, texel, 0, mean);
    tml_buffer_destroy(image->tml, out);
    return status;
}

/* Checks that some texels of the first level are the correct weighted means (u8). */
static bool kaiser_is_right(const bench_image *image, const uint8_t *first)
{
    uint32_t width = image->desc.width, height = image->desc.height, new_width, new_height;
    tml_mip_level(width, height, 1, &new_width, &new_height, NULL);
    bool is_right = true;
    for (uint32_t place = 0; place < 9; place++) {
        uint32_t x = (new_width - 1) / 2 * (place % 3), y = (new_height - 1) / 2 * (place / 3);
        double sum = 0.0, total = 0.0;
        for (uint32_t j = 0; j < IMAGE_KAISER_TAPS * IMAGE_KAISER_TAPS; j++) {
            uint32_t column = 2 * x + j % IMAGE_KAISER_TAPS - IMAGE_KAISER_BEFORE;
            uint32_t row = 2 * y + j / IMAGE_KAISER_TAPS - IMAGE_KAISER_BEFORE;
            if (column >= width || row >= height)
                continue;
            double weight =
                (double)image_kaiser(x, column, width) * (double)image_kaiser(y, row, height);
            const uint8_t *pixel =
                (const uint8_t *)image->data + ((uint64_t)row * width + column) * CHANNELS;
            total += weight;
            sum += weight * (double)*pixel;
        }
        double code = fmin(fmax(sum / total, 0.0), 255.0);
        is_right &= fabs(code - first[((uint64_t)y * new_width + x) * CHANNELS]) <= 1.0;
    }
    return is_right;
}

tml_status bench_image_check(bench_image *image)
{
    bool is_right = false;
    tml_status status = enqueue(image, 0);
    if (!status && measures(image->desc.kind)) {
        static tml_image_stats stats;
        status = tml_image_stats_read(image->tml, image->stats, &stats);
        is_right = !status && measure_is_right(image, &stats) && plain_is_right(image, &stats);
    } else if (!status) {
        void *out = NULL;
        status = tml_buffer_map(image->tml, image->sets[0].out, &out);
        uint32_t width = image->desc.width, height = image->desc.height;
        uint64_t last, sum = 0;
        tml_mip_level(width, height, tml_mip_level(width, height, 0, NULL, NULL, NULL) - 1, NULL,
                      NULL, &last);
        if (status) {
            is_right = false;
        } else if (maps_tones(image->desc.kind)) {
            is_right = tonemap_is_right(image, out);
        } else if (image->desc.kind == BENCH_IMAGE_MIPS) {
            is_right = mips_are_right(image, out, last * CHANNELS);
        } else if (image->desc.kind == BENCH_IMAGE_KAISER) {
            is_right = kaiser_is_right(image, out);
        } else {
            uint64_t size = elements_of(image) * tml_type_size(image->desc.type);
            for (uint64_t i = 0; i < size / sizeof(uint32_t); i++)
                sum += ((const uint32_t *)image->data)[i];
            is_right = sum == *(const uint64_t *)out;
        }
        if (!status)
            tml_buffer_unmap(image->tml, image->sets[0].out);
    }
    if (!status && !is_right)
        status =
            tml_error(image->tml, TML_ERROR_INTERNAL, "%s: the result differs from a plain loop's",
                      bench_image_name(image->desc.kind));
    return !status && bench_image_has_driver(image) ? look_at_driver(image) : status;
}

void bench_image_destroy(bench_image *image)
{
    for (uint32_t i = 0; i < image->set_count; i++) {
        bench_texture_destroy(image->sets[i].texture);
        bench_drawn_destroy(image->sets[i].drawn);
        tml_buffer_destroy(image->tml, image->sets[i].in);
        tml_buffer_destroy(image->tml, image->sets[i].out);
    }
    if (image->tml) {
        tml_buffer_destroy(image->tml, image->stats);
        tml_free(image->tml, image->data, image->size);
    }
    free(image->sums);
    *image = (bench_image){0};
}
