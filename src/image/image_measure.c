/* tml_image_measure: checks, defaults and the call of the engine. Also the metering patterns. */
#include <math.h>
#include <stdlib.h>

#include "core/call.h"
#include "image/image_internal.h"
#include "stream/desc.h"

_Static_assert(TML_STATS_POSITIVE == 2 + 2 * IMAGE_POSITIVE &&
                   TML_STATS_ZERO == 2 + 2 * IMAGE_ZERO &&
                   TML_STATS_NEGATIVE == 2 + 2 * IMAGE_NEGATIVE &&
                   TML_STATS_NAN == 2 + 2 * IMAGE_NAN &&
                   TML_STATS_INFINITE == 2 + 2 * IMAGE_NOT_FINITE,
               "image.k.h counts kinds in this order");
_Static_assert(TML_STATS_LOG_WEIGHT == IMAGE_STATS_LOG_WEIGHT &&
                   TML_STATS_LOG_WHOLE == IMAGE_STATS_LOG_WHOLE &&
                   TML_STATS_LOG_FRACTION == IMAGE_STATS_LOG_FRACTION &&
                   TML_STATS_HISTOGRAM_LOW == IMAGE_STATS_HISTOGRAM_LOW &&
                   TML_STATS_BIN_LOG2 == IMAGE_STATS_BIN_LOG2 &&
                   TML_STATS_HISTOGRAM == IMAGE_STATS_HISTOGRAM &&
                   TML_HISTOGRAM_BINS == IMAGE_STATS_BINS,
               "image_expose.k.h reads these words");

enum {
    EVERYTHING = TML_MEASURE_LOG | TML_MEASURE_MEAN | TML_MEASURE_HISTOGRAM,
    DEFAULT_LOW = -16,
    DEFAULT_BIN_LOG2 = 3,
    MAX_BIN_LOG2 = 6,
    MASKED_SIDE_MAX = 65535, /* so that image_mask_at multiplies in 32 bits */
};
/* Most pixels: the sum of 2^40 fractions below 2^24 is below 2^64. With a mask, whose weights are
 * at most 255, there are fewer than 2^32 pixels. */
static const uint64_t max_pixels = (uint64_t)1 << 40;

static const char call[] = "tml_image_measure";

enum { STATS_WORDS = DESC_LENGTH, MASK_WEIGHTS = DESC_SECOND }; /* numbers of elements */
static const desc_row rows[] = {
    DESC_ROW(tml_image_measure_desc, image.buffer, DESC_IN, .is_optional = true),
    IMAGE_LUMINANCE_ROWS(tml_image_measure_desc, "none"),
    DESC_ROW(tml_image_measure_desc, stats, DESC_OUT, .types = stream_u32_types,
             .count = STATS_WORDS),
    DESC_ROW(tml_image_measure_desc, mask, DESC_IN, .is_optional = true, .types = stream_u8_types,
             .count = MASK_WEIGHTS),
    DESC_SCRATCH(tml_image_measure_desc)};

/* Makes view the region that is measured. */
static tml_status take_region(tml_context *tml, const tml_image_measure_desc *desc,
                              image_view *view)
{
    uint32_t x = desc->region.x, y = desc->region.y;
    uint32_t width = desc->region.width, height = desc->region.height;
    if (x < view->width && width == 0)
        width = view->width - x;
    if (y < view->height && height == 0)
        height = view->height - y;
    if (x >= view->width || y >= view->height || width > view->width - x ||
        height > view->height - y)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.region is %u x %u pixels at (%u, %u), needs to lie within the "
                         "picture's %u x %u; width or height 0: to its end",
                         call, width, height, x, y, view->width, view->height);
    view->x = x;
    view->y = y;
    view->first += y * view->row_stride + (uint64_t)x * view->channels;
    view->width = width;
    view->height = height;
    if (view->texture)
        view->row_stride = (uint64_t)width * view->channels;
    if ((uint64_t)width * height > max_pixels)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %u x %u pixels are more than 2^40; measure parts of them", call,
                         width, height);
    return TML_OK;
}

static tml_status take_what(tml_context *tml, const tml_image_measure_desc *desc,
                            image_measure_plan *plan)
{
    plan->what = desc->what ? desc->what : EVERYTHING;
    if (plan->what & ~(uint32_t)EVERYTHING)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.what is 0x%x, needs TML_MEASURE_LOG, _MEAN and _HISTOGRAM or a "
                         "part of them",
                         call, (unsigned)desc->what);
    plan->floor = desc->luminance.floor;
    plan->histogram_low = desc->histogram_low;
    plan->bin_log2 = desc->bin_log2;
    if (desc->histogram_low == 0 && desc->bin_log2 == 0) {
        plan->histogram_low = DEFAULT_LOW;
        plan->bin_log2 = DEFAULT_BIN_LOG2;
    }
    if (plan->histogram_low < -128 || plan->histogram_low > 127 || plan->bin_log2 > MAX_BIN_LOG2)
        return tml_error(
            tml, TML_ERROR_INVALID_ARGUMENT,
            "%s: desc.histogram_low is %d and bin_log2 %u, need -128 to 127 and 0 to %d", call,
            (int)plan->histogram_low, plan->bin_log2, MAX_BIN_LOG2);
    return TML_OK;
}

static tml_status take_mask(tml_context *tml, const tml_image_measure_desc *desc,
                            image_measure_plan *plan)
{
    if (tml_buffer_is_none(desc->mask))
        return TML_OK;
    const image_view *in = &plan->in;
    if (desc->mask_width == 0 || desc->mask_height == 0 || desc->mask_width > in->width ||
        desc->mask_height > in->height || in->width > MASKED_SIDE_MAX ||
        in->height > MASKED_SIDE_MAX)
        return tml_error(
            tml, TML_ERROR_INVALID_ARGUMENT,
            "%s: desc.mask is %u x %u weights over %u x %u pixels; needs at least 1 x 1 "
            "and at most as many as pixels, whose sides may be %d at most",
            call, desc->mask_width, desc->mask_height, in->width, in->height, MASKED_SIDE_MAX);
    plan->mask = desc->mask;
    plan->mask_width = desc->mask_width;
    plan->mask_height = desc->mask_height;
    return TML_OK;
}

static tml_status image_measure_resolve(tml_context *tml, tml_image_measure_desc *desc,
                                        image_measure_plan *plan)
{
    desc_numbers numbers = {
        .of = {[STATS_WORDS] = TML_IMAGE_STATS_WORDS,
               [MASK_WEIGHTS] = (uint64_t)desc->mask_width * desc->mask_height}};
    *plan = (image_measure_plan){.stats = desc->stats};
    tml_status status = desc_check(tml, call, &DESC_TABLE(rows), desc, &numbers);
    TML_THEN(status, image_check_source(tml, call, "desc.image", &desc->image, &plan->in));
    TML_THEN(status, take_region(tml, desc, &plan->in));
    TML_THEN(status, image_check_luminance(tml, call, &desc->luminance, &plan->max_rgb,
                                           &plan->weight_r, &plan->weight_b));
    TML_THEN(status, take_what(tml, desc, plan));
    return status ? status : take_mask(tml, desc, plan);
}

static tml_status measure(tml_context *tml, const tml_image_measure_desc *desc)
{
    tml_image_measure_desc d = *desc;
    image_measure_plan plan;
    tml_status status = image_measure_resolve(tml, &d, &plan);
    return status ? status
                  : stream_run_op(tml, call, image_parts_of[tml->engine->part].measure,
                                  "no measures of pictures", &plan, d.scratch);
}

tml_status tml_image_measure(tml_context *tml, const tml_image_measure_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, measure(tml, desc));
}

/* ---- metering patterns ----------------------------------------------------------------------- */

/* The share of a mask field that lies in the spot, from 16 x 16 samples. The spot is a disc around
 * the centre, whose diameter is a tenth of the picture's diagonal. low, high: the field's corners;
 * the picture spans -1 to 1 along each axis. */
static double share_in_spot(const double low[2], const double high[2], const double size[2])
{
    enum { SAMPLES = 16 };
    double radius = 0.1 * hypot(size[0], size[1]); /* the picture is 2 * size wide in these units */
    int inside = 0;
    for (int i = 0; i < SAMPLES * SAMPLES; i++) {
        double x = low[0] + (high[0] - low[0]) * ((i % SAMPLES + 0.5) / SAMPLES);
        double y = low[1] + (high[1] - low[1]) * ((double)(i / SAMPLES) + 0.5) / SAMPLES;
        inside += hypot(x * size[0], y * size[1]) <= radius;
    }
    return inside / (double)(SAMPLES * SAMPLES);
}

static double matrix_weight(double x, double y)
{
    /* The middle field weighs four times as much as a corner field. */
    int column = (int)fmin(floor((x + 1.0) * 2.5), 4.0),
        row = (int)fmin(floor((y + 1.0) * 2.5), 4.0);
    int away = abs(column - 2) + abs(row - 2);
    return 1.0 - 0.1875 * away;
}

tml_status tml_meter_weights(tml_meter meter, uint32_t width, uint32_t height, uint32_t mask_width,
                             uint32_t mask_height, uint8_t *mask)
{
    if ((unsigned)meter > TML_METER_MATRIX || width == 0 || height == 0 || mask_width == 0 ||
        mask_height == 0 || !mask)
        return TML_ERROR_INVALID_ARGUMENT;
    const double size[2] = {width, height};
    for (uint32_t j = 0; j < mask_height; j++)
        for (uint32_t i = 0; i < mask_width; i++) {
            double low[2] = {2.0 * i / mask_width - 1.0, 2.0 * j / mask_height - 1.0};
            double high[2] = {2.0 * (i + 1.0) / mask_width - 1.0,
                              2.0 * (j + 1.0) / mask_height - 1.0};
            double x = 0.5 * (low[0] + high[0]), y = 0.5 * (low[1] + high[1]);
            double weight = 1.0;
            if (meter == TML_METER_CENTRE)
                weight = exp2(-4.0 * (x * x + y * y));
            else if (meter == TML_METER_MATRIX)
                weight = matrix_weight(x, y);
            else if (meter == TML_METER_SPOT)
                weight = share_in_spot(low, high, size);
            /* Rounds up, so that a spot within one coarse field still counts. */
            mask[(size_t)j * mask_width + i] = (uint8_t)ceil(255.0 * weight);
        }
    return TML_OK;
}
