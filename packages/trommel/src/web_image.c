/* Pictures for JavaScript. */
#include "web.h"

/* The picture that is read from, and the one that is written to, of the same size. */
static tml_image image_of(const web_request *r)
{
    static tml_gl_image colours; /* read by the call that follows */
    colours = colours_of(r);
    return (tml_image){.gl = colours.texture ? &colours : NULL,
                       .buffer = buffer_of(r->in0),
                       .width = (uint32_t)r->width,
                       .height = (uint32_t)r->height,
                       .channels = (uint32_t)r->channels,
                       .srgb = r->srgb != 0.0,
                       .values = (tml_image_values)r->picture_values};
}

/* Elements of a stats buffer, and of a state. */
EMSCRIPTEN_KEEPALIVE int web_image_sizes(tml_context *tml)
{
    (void)tml;
    reply.count = TML_IMAGE_STATS_WORDS;
    reply.size = TML_EXPOSURE_WORDS;
    return TML_OK;
}

static tml_image_luminance luminance_of(const web_request *r)
{
    return (tml_image_luminance){
        .kind = (tml_luminance)r->luminance,
        .weights = {(float)r->weight0, (float)r->weight1, (float)r->weight2},
        .floor = (float)r->floor};
}

EMSCRIPTEN_KEEPALIVE int web_image_measure(tml_context *tml)
{
    const web_request *r = &request;
    tml_image_measure_desc desc = {.image = image_of(r),
                                   .region = {(uint32_t)r->region0, (uint32_t)r->region1,
                                              (uint32_t)r->region2, (uint32_t)r->region3},
                                   .luminance = luminance_of(r),
                                   .what = (tml_measure)r->what,
                                   .histogram_low = (int32_t)r->histogram_low,
                                   .bin_log2 = (uint32_t)r->bin_log2,
                                   .mask = buffer_of(r->mask),
                                   .mask_width = (uint32_t)r->mask_width,
                                   .mask_height = (uint32_t)r->mask_height,
                                   .stats = buffer_of(r->stats)};
    return tml_image_measure(tml, &desc);
}

EMSCRIPTEN_KEEPALIVE int web_meter_weights(tml_context *tml)
{
    const web_request *r = &request;
    (void)tml;
    return tml_meter_weights((tml_meter)r->meter, (uint32_t)r->width, (uint32_t)r->height,
                             (uint32_t)r->mask_width, (uint32_t)r->mask_height, pointer(r->data));
}

EMSCRIPTEN_KEEPALIVE int web_mip_level(tml_context *tml)
{
    const web_request *r = &request;
    uint32_t width, height;
    uint64_t first;
    (void)tml;
    reply.count = tml_mip_level((uint32_t)r->width, (uint32_t)r->height, (uint32_t)r->level, &width,
                                &height, &first);
    reply.width = width;
    reply.height = height;
    reply.first = (double)first;
    return TML_OK;
}

EMSCRIPTEN_KEEPALIVE int web_image_mips(tml_context *tml)
{
    const web_request *r = &request;
    tml_image_mips_desc desc = {.in = image_of(r),
                                .filter = (tml_mip_filter)r->filter,
                                .levels = (uint32_t)r->levels,
                                .output = r->last != 0.0 ? TML_MIP_LAST : TML_MIP_CHAIN,
                                .log_luminance = r->log_luminance != 0.0,
                                .luminance = luminance_of(r),
                                .out = buffer_of(r->out)};
    return tml_image_mips(tml, &desc);
}

/* Percentiles are of the latest that were read. */
static tml_image_stats image_stats;
static double image_histogram[TML_HISTOGRAM_BINS];

EMSCRIPTEN_KEEPALIVE int web_image_stats(tml_context *tml)
{
    tml_image_stats *s = &image_stats;
    tml_status status = tml_image_stats_read(tml, buffer_of(request.stats), s);
    if (status != TML_OK)
        return status;
    reply.pixels = (double)s->pixels;
    reply.positive = (double)s->positive;
    reply.zero = (double)s->zero;
    reply.negative = (double)s->negative;
    reply.nan = (double)s->nan;
    reply.infinite = (double)s->infinite;
    reply.weight = (double)s->weight;
    reply.min = s->min;
    reply.max = s->max;
    reply.mean = s->mean;
    reply.deviation = s->deviation;
    reply.log2_mean = s->log2_mean;
    reply.geometric_mean = s->geometric_mean;
    reply.histogram_low = s->histogram_low;
    reply.bin_width = s->bin_width;
    for (int i = 0; i < TML_HISTOGRAM_BINS; i++)
        image_histogram[i] = (double)s->histogram[i];
    reply.histogram = address(image_histogram);
    return TML_OK;
}

EMSCRIPTEN_KEEPALIVE int web_image_percentile(tml_context *tml)
{
    (void)tml;
    reply.percentile = tml_image_percentile(&image_stats, request.percentile);
    return TML_OK;
}

EMSCRIPTEN_KEEPALIVE int web_image_expose(tml_context *tml)
{
    const web_request *r = &request;
    tml_image_expose_desc desc = {.stats = buffer_of(r->stats),
                                  .by = (tml_expose_by)r->by,
                                  .clip_low = (float)r->clip_low,
                                  .clip_high = (float)r->clip_high,
                                  .percentile = (float)r->percentile,
                                  .ev100 = (float)r->ev100,
                                  .key = (float)r->key,
                                  .bias = (float)r->bias,
                                  .ev_min = (float)r->ev_min,
                                  .ev_max = (float)r->ev_max,
                                  .speed_up = (float)r->speed_up,
                                  .speed_down = (float)r->speed_down,
                                  .seconds = (float)r->seconds,
                                  .reset = r->reset != 0.0,
                                  .state = buffer_of(r->state)};
    return tml_image_expose(tml, &desc);
}

EMSCRIPTEN_KEEPALIVE int web_image_tonemap(tml_context *tml)
{
    const web_request *r = &request;
    tml_image_tonemap_desc desc = {.in = image_of(r),
                                   .out = image_of(r),
                                   .state = buffer_of(r->state),
                                   .scale = (float)r->scale,
                                   .tone = (tml_tone)r->tone,
                                   .white = (float)r->white};
    desc.out.buffer = buffer_of(r->to);
    desc.out.channels = (uint32_t)r->to_channels;
    desc.out.srgb = r->to_srgb != 0.0;
    desc.out.values = TML_IMAGE_LINEAR;
    return tml_image_tonemap(tml, &desc);
}
