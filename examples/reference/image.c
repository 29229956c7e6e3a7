/* Image: what a picture's luminances are, how to expose it, tone curves and mip chains. */
#include "reference.h"

/* A grey picture of 2 x 2 pixels; its geometric mean is 2, its mean 3.75. */
static tml_image grey_picture(tml_context *tml)
{
    return (tml_image){.buffer = buffer_of(tml, TML_F32, 4, (float[]){0.5f, 2, 8, 4.5f}),
                       .width = 2,
                       .height = 2,
                       .channels = 1};
}

/* Every pixel weighs the same; those without a logarithm are counted, and left out. */
static void measure(tml_context *tml)
{
    const tml_buffer colours = buffer_of(tml, TML_F32, 9, (float[]){1, 1, 1, 4, 4, 4, 0, 0, 0});
    const tml_image picture = {.buffer = colours, .width = 3, .height = 1, .channels = 3};
    const tml_buffer stats = buffer_of(tml, TML_U32, TML_IMAGE_STATS_WORDS, NULL);
    tml_image_stats read;
    MUST(tml_image_measure(tml, &(tml_image_measure_desc){.image = picture,
                                                          .luminance.kind = TML_LUMINANCE_REC709,
                                                          .stats = stats}));
    MUST(tml_image_stats_read(tml, stats, &read));
    CHECK(read.pixels == 3 && read.zero == 1 && read.max == 4);
    CHECK(read.geometric_mean == 2 && !strcmp(tml_luminance_name(TML_LUMINANCE_REC709), "rec709"));
}

/* The luminance below which a share of the pixels lies, from the histogram of stops. */
static void percentile(tml_context *tml)
{
    const tml_buffer stats = buffer_of(tml, TML_U32, TML_IMAGE_STATS_WORDS, NULL);
    const tml_image_measure_desc desc = {
        .image = grey_picture(tml), .what = TML_MEASURE_HISTOGRAM, .stats = stats};
    tml_image_stats read;
    uint64_t weight = 0;
    MUST(tml_reserve(tml, SCRATCH_OF(tml, tml_image_measure(tml, &desc))));
    MUST(tml_image_measure(tml, &desc));
    MUST(tml_image_stats_read(tml, stats, &read));
    for (int bin = 0; bin < TML_HISTOGRAM_BINS; bin++)
        weight += read.histogram[bin];
    CHECK(weight == 4 && tml_image_percentile(&read, 100) > 3); /* 2^3 is the brightest */
}

/* Stats as the device keeps them: words of a buffer, for a shader or a kernel of yours. */
static void stats_words(tml_context *tml)
{
    const tml_buffer stats = buffer_of(tml, TML_U32, TML_IMAGE_STATS_WORDS, NULL);
    uint32_t words[TML_IMAGE_STATS_WORDS];
    float largest;
    MUST(tml_image_measure(tml,
                           &(tml_image_measure_desc){.image = grey_picture(tml), .stats = stats}));
    MUST(tml_buffer_read(tml, stats, words));
    memcpy(&largest, &words[TML_STATS_MAX], sizeof largest);
    CHECK(words[TML_STATS_PIXELS] == 4 && words[TML_STATS_POSITIVE] == 4 && largest == 8);
}

/* A metering pattern as a mask of weights. */
static void meter(tml_context *tml)
{
    uint8_t weights[5 * 5];
    MUST(tml_meter_weights(TML_METER_CENTRE, 1920, 1080, 5, 5, weights));
    CHECK(weights[12] == 255 && weights[0] < weights[12]);
    CHECK(!strcmp(tml_meter_name(TML_METER_CENTRE), "centre"));
}

/* From what was measured to a factor: the mean becomes middle grey. */
static void expose(tml_context *tml)
{
    const tml_buffer stats = buffer_of(tml, TML_U32, TML_IMAGE_STATS_WORDS, NULL);
    const tml_buffer state = buffer_of(tml, TML_F32, TML_EXPOSURE_WORDS, NULL);
    const tml_buffer pixels = buffer_of(tml, TML_F32, 2, (float[]){1, 4});
    const tml_image picture = {.buffer = pixels, .width = 2, .height = 1, .channels = 1};
    float exposure[TML_EXPOSURE_WORDS];
    MUST(tml_image_measure(tml, &(tml_image_measure_desc){.image = picture, .stats = stats}));
    MUST(tml_image_expose(
        tml, &(tml_image_expose_desc){
                 .stats = stats, .by = TML_EXPOSE_MEAN, .reset = true, .state = state}));
    MUST(tml_buffer_read(tml, state, exposure));
    CHECK(exposure[TML_EXPOSURE_AVERAGE] == 1); /* log2 of 2 */
    CHECK(fabsf(exposure[TML_EXPOSURE_SCALE] - 0.18f / 2) < 1e-6f);
}

/* A target into which a pass wrote log2 of luminance; and what says that no pixel counted. */
static void expose_logarithms(tml_context *tml)
{
    const tml_buffer stats = buffer_of(tml, TML_U32, TML_IMAGE_STATS_WORDS, NULL);
    const tml_buffer state = buffer_of(tml, TML_F32, TML_EXPOSURE_WORDS, NULL);
    tml_image target = {.buffer = buffer_of(tml, TML_F32, 2, (float[]){-5, -4}),
                        .width = 2,
                        .height = 1,
                        .channels = 1};
    float exposure[TML_EXPOSURE_WORDS];
    for (int is_told = 0; is_told < 2; is_told++) {
        target.values = is_told ? TML_IMAGE_LOG2 : TML_IMAGE_LINEAR;
        MUST(tml_image_measure(tml, &(tml_image_measure_desc){.image = target, .stats = stats}));
        MUST(tml_image_expose(
            tml, &(tml_image_expose_desc){.stats = stats, .reset = true, .state = state}));
        MUST(tml_buffer_read(tml, state, exposure));
        CHECK(exposure[TML_EXPOSURE_COUNTED] == (float)is_told);
    }
    CHECK(exposure[TML_EXPOSURE_AVERAGE] == -4.5f);
    CHECK(!strcmp(tml_image_values_name(target.values), "log2"));
}

/* A tone curve, from linear floats to the bytes of a screen. */
static void tonemap(tml_context *tml)
{
    const tml_image in = grey_picture(tml);
    const tml_image out = {.buffer = buffer_of(tml, TML_U8, 4, NULL),
                           .width = 2,
                           .height = 2,
                           .channels = 1,
                           .srgb = true};
    uint8_t bytes[4];
    MUST(tml_image_tonemap(
        tml, &(tml_image_tonemap_desc){.in = in, .out = out, .tone = TML_TONE_REINHARD}));
    MUST(tml_buffer_read(tml, out.buffer, bytes));
    CHECK(bytes[0] < bytes[1] && bytes[1] < bytes[3] && bytes[3] < bytes[2]);
    CHECK(!strcmp(tml_tone_name(TML_TONE_REINHARD), "reinhard"));
}

/* All levels below a picture, one after another in a buffer. */
static void mips(tml_context *tml)
{
    uint32_t width, height;
    uint64_t first, size;
    float mean;
    const uint32_t levels = tml_mip_level(2, 2, 0, NULL, NULL, NULL);
    tml_mip_level(2, 2, levels - 1, &width, &height, &first);
    tml_mip_level(2, 2, levels, &(uint32_t){0}, &(uint32_t){0}, &size); /* where the chain ends */
    CHECK(levels == 2 && width == 1 && height == 1 && size == 1);
    const tml_buffer chain = buffer_of(tml, TML_F32, size, NULL);
    const tml_image_mips_desc desc = {
        .in = grey_picture(tml), .filter = TML_MIP_AREA, .out = chain};
    MUST(tml_reserve(tml, SCRATCH_OF(tml, tml_image_mips(tml, &desc))));
    MUST(tml_image_mips(tml, &desc));
    MUST(tml_buffer_read_range(tml, chain, first, 1, &mean));
    CHECK(mean == 3.75f);
}

/* One level alone, of the logarithms of luminance: how bright the surroundings of a pixel are, for
 * local exposure. */
static void log_level(tml_context *tml)
{
    float stops;
    const tml_buffer level = buffer_of(tml, TML_F32, 1, NULL);
    const tml_image_luminance luminance = {.kind = TML_LUMINANCE_REC709, .floor = 0x1p-10f};
    const tml_image_mips_desc desc = {.in = grey_picture(tml),
                                      .levels = 2,
                                      .output = TML_MIP_LAST,
                                      .log_luminance = true,
                                      .luminance = luminance,
                                      .out = level};
    MUST(tml_image_mips(tml, &desc));
    MUST(tml_buffer_read(tml, level, &stops));
    CHECK(stops > 1.29248f && stops < 1.29249f); /* the mean of -1, 1, 3 and log2 4.5 */
}

int main(void)
{
    return run_examples(&(tml_open_desc){.engine = TML_ENGINE_CPU},
                        (example *const[]){measure, percentile, stats_words, meter, expose,
                                           expose_logarithms, tonemap, mips, log_level, NULL});
}
