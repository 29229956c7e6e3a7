/* Descs of pictures: measured, exposed, tone-mapped, and their mip chains. */
#include "fuzz/desc.h"

#include <math.h>

static tml_type take_pixel_type(void)
{
    static const tml_type types[] = {TML_U8, TML_U16, TML_F16, TML_F32};
    return types[below(4)];
}

typedef struct picture {
    tml_image image;
    uint32_t width, height; /* meant, as image has them unless it is wild */
} picture;

static picture take_picture(bool is_output)
{
    picture p = {.width = 1 + (uint32_t)below(40), .height = 1 + (uint32_t)below(30)};
    tml_type type = take_pixel_type();
    uint32_t channels = 1 + (uint32_t)below(4);
    uint64_t row = (uint64_t)p.width * channels;
    uint64_t first = take() >= 192 ? below(9) : 0, stride = take() >= 192 ? row + below(9) : 0;
    uint64_t count = first + (stride ? stride : row) * p.height;
    p.image = (tml_image){.buffer = is_output ? make_out(type, count)
                                              : make(type, count, CONTENTS_ANY, 0),
                          .width = (uint32_t)mostly(p.width),
                          .height = (uint32_t)mostly(p.height),
                          .channels = (uint32_t)mostly(channels),
                          .srgb = take() >= 192,
                          .first = mostly(first),
                          .row_stride = mostly(stride)};
    static const struct nothing {
        uint64_t words[4];
    } texture;
    if (seldom()) /* refused, and not looked at: the engine has none */
        p.image.vulkan = (const struct tml_vulkan_texture *)(const void *)&texture;
    return p;
}

static void check_stats(const tml_image_stats *stats)
{
    DEMAND(stats->positive + stats->zero + stats->negative + stats->nan + stats->infinite ==
           stats->pixels);
    DEMAND(stats->log_weight <= stats->weight);
    DEMAND(!(stats->geometric_mean < 0) && !(stats->deviation < 0) && !(stats->min > stats->max));
    double before = -INFINITY;
    for (int percent = 0; percent <= 100; percent += 20) {
        double at = tml_image_percentile(stats, percent);
        DEMAND(!(at < before));
        before = at;
    }
    (void)tml_image_percentile(stats, wild_float());
}

static tml_image_measure_desc take_measure(const picture *p)
{
    tml_image_measure_desc desc = {.image = p->image};
    if (take() >= 160) {
        uint32_t x = (uint32_t)below(p->width), y = (uint32_t)below(p->height);
        desc.region.x = (uint32_t)mostly(x);
        desc.region.y = (uint32_t)mostly(y);
        desc.region.width = (uint32_t)mostly(below(p->width - x + 1));
        desc.region.height = (uint32_t)mostly(below(p->height - y + 1));
    }
    desc.luminance.kind = (tml_luminance)mostly(below(TML_LUMINANCE_CUSTOM + 1));
    for (int i = 0; i < 3; i++)
        desc.luminance.weights[i] = (float)mostly_float(take());
    desc.what = (tml_measure)mostly(below(8));
    desc.luminance.floor = (float)mostly_float(0);
    if (take_bool()) {
        desc.histogram_low = (int8_t)take();
        desc.bin_log2 = (uint32_t)mostly(below(7));
    }
    if (take() >= 160) {
        uint32_t width = 1 + (uint32_t)below(p->width), height = 1 + (uint32_t)below(p->height);
        desc.mask = make(TML_U8, (uint64_t)width * height, CONTENTS_ANY, 0);
        desc.mask_width = (uint32_t)mostly(width);
        desc.mask_height = (uint32_t)mostly(height);
    }
    return desc;
}

static tml_image_expose_desc take_expose(tml_buffer stats)
{
    tml_image_expose_desc desc = {.stats = stats,
                                  .by = (tml_expose_by)mostly(below(TML_EXPOSE_MANUAL + 1)),
                                  .clip_low = (float)mostly_float((double)below(50)),
                                  .clip_high = (float)mostly_float(51 + (double)below(50)),
                                  .percentile = (float)mostly_float(50),
                                  .ev100 = (float)mostly_float(10),
                                  .key = (float)mostly_float(0),
                                  .bias = (float)mostly_float(0),
                                  .ev_min = (float)mostly_float(0),
                                  .ev_max = (float)mostly_float(0),
                                  .speed_up = (float)mostly_float(0),
                                  .speed_down = (float)mostly_float(0),
                                  .seconds = (float)mostly_float(0),
                                  .reset = !take_bool()};
    desc.state = make_out(TML_F32, TML_EXPOSURE_WORDS);
    return desc;
}

/* Of whole numbers of our own, which are zeros and small, or of what tml_image_measure wrote. */
void desc_measure(void)
{
    picture in = take_picture(false);
    tml_image_measure_desc desc = take_measure(&in);
    desc.stats = make_out(TML_U32, TML_IMAGE_STATS_WORDS);
    desc.scratch = make_scratch(SCRATCH_OF(tml, tml_image_measure(tml, &desc)));
    size_t size = SCRATCH_OF(tml, tml_image_measure(tml, &desc));
    tml_status status = tml_image_measure(tml, &desc);
    DEMAND(status != TML_ERROR_SCRATCH_TOO_SMALL || count_of(desc.scratch) < size);
    tml_image_stats stats;
    if (ended_well("tml_image_measure", status)) {
        if (CALL(tml_image_stats_read, tml, desc.stats, &stats))
            check_stats(&stats);
    } else if (take_bool() && CALL(tml_image_stats_read, tml, desc.stats, &stats)) {
        (void)tml_image_percentile(&stats, wild_float());
    }
    tml_image_expose_desc expose = take_expose(desc.stats);
    (void)CALL(tml_image_expose, tml, &expose);
    tml_image_tonemap_desc tonemap = {.in = in.image,
                                      .scale = (float)mostly_float(0),
                                      .tone = (tml_tone)mostly(below(TML_TONE_NEUTRAL + 1)),
                                      .white = (float)mostly_float(0)};
    if (take_bool())
        tonemap.state = expose.state;
    if (take() >= 192) {
        tonemap.out = in.image;
        (void)as_out(in.image.buffer);
    } else if (seldom()) {
        tonemap.out = take_picture(true).image;
    } else {
        static const uint32_t channels[] = {1, 3, 4};
        uint32_t n = channels[below(3)];
        tonemap.out =
            (tml_image){.buffer = make_out(take_pixel_type(), (uint64_t)in.width * in.height * n),
                        .width = in.image.width,
                        .height = in.image.height,
                        .channels = n,
                        .srgb = take_bool()};
    }
    (void)CALL(tml_image_tonemap, tml, &tonemap);
}

/* Patterns and mip sizes are formulas of sizes alone. */
static void check_formulas(void)
{
    uint32_t width = (uint32_t)mostly(100), height = (uint32_t)mostly(80), w, h;
    uint64_t first, end = 0;
    for (uint32_t level = 1, count = tml_mip_level(width, height, 0, NULL, NULL, NULL);
         level < count; level++) {
        tml_mip_level(width, height, level, &w, &h, &first);
        DEMAND(first == end && w > 0 && h > 0);
        end = first + (uint64_t)w * h;
    }
    tml_mip_level(width, height, (uint32_t)wild(), &w, &h, &first);
    uint8_t mask[64 * 64];
    uint32_t mask_width = (uint32_t)below(65), mask_height = (uint32_t)below(65);
    tml_status status = tml_meter_weights((tml_meter)mostly(below(4)), width, height, mask_width,
                                          mask_height, mask);
    DEMAND(status == TML_OK || status == TML_ERROR_INVALID_ARGUMENT);
    if (status == TML_OK)
        note(mask, (size_t)mask_width * mask_height);
}

void desc_mips(void)
{
    picture in = take_picture(false);
    tml_image_mips_desc desc = {.in = in.image, .filter = (tml_mip_filter)mostly(below(2))};
    uint32_t levels = tml_mip_level(in.width, in.height, 0, NULL, NULL, NULL), width, height;
    uint64_t first;
    desc.levels = (uint32_t)mostly(below(levels + 1));
    desc.output = below(4) == 0 ? TML_MIP_LAST : TML_MIP_CHAIN;
    desc.log_luminance = below(3) == 0;
    desc.luminance.kind = (tml_luminance)mostly(below(5));
    for (int c = 0; c < 3; c++)
        desc.luminance.weights[c] = (float)mostly_float(below(3));
    desc.luminance.floor = (float)mostly_float(0);
    tml_mip_level(in.width, in.height, levels - 1, &width, &height, &first);
    uint64_t channels = in.image.channels <= 4 ? in.image.channels : 4;
    desc.out =
        seldom() ? as_out(in.image.buffer) : make_out(take_pixel_type(), (first + 1) * channels);
    desc.scratch = make_scratch(SCRATCH_OF(tml, tml_image_mips(tml, &desc)));
    size_t size = SCRATCH_OF(tml, tml_image_mips(tml, &desc)), reserved = test_reserved(tml);
    tml_status status = tml_image_mips(tml, &desc);
    DEMAND(status != TML_ERROR_SCRATCH_TOO_SMALL || count_of(desc.scratch) < size);
    DEMAND(status != TML_OK || test_reserved(tml) <= (size > reserved ? size : reserved));
    (void)ended_well("tml_image_mips", status);
    check_formulas();
}
