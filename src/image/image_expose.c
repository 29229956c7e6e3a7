/* tml_image_expose: checks, defaults and the call of the engine. */
#include <math.h>

#include "core/call.h"
#include "image/image_internal.h"
#include "stream/desc.h"

static const char call[] = "tml_image_expose";

/* An exposure limit, in stops, that no luminance reaches. */
static const float no_limit = 1024.0f;

#define NUMBER_ROW(field, low, high, words)                                                        \
    DESC_ROW(tml_image_expose_desc, field, DESC_F32, .range = &(const desc_range){low, high, words})
enum { STATE_WORDS = DESC_LENGTH, STATS_WORDS = DESC_SECOND }; /* numbers of elements */
static const desc_row rows[] = {
    NUMBER_ROW(clip_low, 0, 100, "0 to 100"), NUMBER_ROW(clip_high, 0, 100, "0 to 100"),
    NUMBER_ROW(percentile, 0, 100, "0 to 100"), NUMBER_ROW(ev100, -256, 256, "-256 to 256"),
    NUMBER_ROW(key, 0, 1e6, "0 to 1e6"), NUMBER_ROW(bias, -256, 256, "-256 to 256"),
    NUMBER_ROW(ev_min, -256, 256, "-256 to 256"), NUMBER_ROW(ev_max, -256, 256, "-256 to 256"),
    NUMBER_ROW(speed_up, 0, 1e6, "0 to 1e6"), NUMBER_ROW(speed_down, 0, 1e6, "0 to 1e6"),
    NUMBER_ROW(seconds, 0, 1e9, "0 to 1e9"),
    DESC_ROW(tml_image_expose_desc, by, DESC_ENUM, .of = "tml_expose_by",
             .most = TML_EXPOSE_MANUAL),
    DESC_ROW(tml_image_expose_desc, state, DESC_OUT, .types = stream_f32_types,
             .count = STATE_WORDS),
    /* The last row, which MANUAL does not use. */
    DESC_ROW(tml_image_expose_desc, stats, DESC_IN, .types = stream_u32_types,
             .count = STATS_WORDS)};

static tml_status check_limits(tml_context *tml, const tml_image_expose_desc *desc)
{
    if (desc->clip_low > 0.0f && desc->clip_high == 0.0f)
        return tml_error(
            tml, TML_ERROR_INVALID_ARGUMENT,
            "%s: desc.clip_low is %g and clip_high 0; give both, 100 for no clip above", call,
            (double)desc->clip_low);
    if (desc->clip_high > 0.0f && !(desc->clip_low < desc->clip_high))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.clip_low is %g and clip_high %g, needs less below than above",
                         call, (double)desc->clip_low, (double)desc->clip_high);
    if (desc->ev_min > desc->ev_max)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.ev_min is %g, more than ev_max, %g", call, (double)desc->ev_min,
                         (double)desc->ev_max);
    return TML_OK;
}

static image_expose_settings settings_of(const tml_image_expose_desc *desc)
{
    bool is_limited = desc->ev_min != 0.0f || desc->ev_max != 0.0f;
    image_expose_settings settings = {
        .low = desc->clip_low / 100.0f,
        .high = 1.0f,
        .manual = desc->ev100 - IMAGE_EV100,
        .log2_key = log2f(desc->key > 0.0f ? desc->key : 0.18f),
        .bias = desc->bias,
        .limit_low = is_limited ? desc->ev_min - IMAGE_EV100 : -no_limit,
        .limit_high = is_limited ? desc->ev_max - IMAGE_EV100 : no_limit,
        .speed_up = desc->speed_up > 0.0f ? desc->speed_up : 3.0f,
        .speed_down = desc->speed_down > 0.0f ? desc->speed_down : 1.0f,
        .seconds = desc->seconds,
        .reset = desc->reset,
    };
    switch (desc->by) {
    case TML_EXPOSE_MEAN:
        settings.by = desc->clip_high > 0.0f ? IMAGE_BY_SHARES : IMAGE_BY_SUMS;
        settings.high = desc->clip_high > 0.0f ? desc->clip_high / 100.0f : 1.0f;
        break;
    case TML_EXPOSE_MEDIAN:
    case TML_EXPOSE_PERCENTILE:
        settings.by = IMAGE_BY_POINT;
        settings.low = desc->by == TML_EXPOSE_MEDIAN ? 0.5f : desc->percentile / 100.0f;
        settings.high = settings.low;
        break;
    default:
        settings.by = IMAGE_BY_MANUAL;
    }
    return settings;
}

static tml_status expose(tml_context *tml, const tml_image_expose_desc *desc)
{
    tml_image_expose_desc d = *desc;
    const bool is_manual = d.by == TML_EXPOSE_MANUAL;
    const desc_table table = {rows, TML_ARRAY_SIZE(rows) - is_manual};
    desc_numbers numbers = {
        .of = {[STATE_WORDS] = TML_EXPOSURE_WORDS, [STATS_WORDS] = TML_IMAGE_STATS_WORDS}};
    tml_status status = desc_check(tml, call, &table, &d, &numbers);
    TML_THEN(status, check_limits(tml, &d));
    if (status != TML_OK)
        return status;
    image_expose_plan plan = {.settings = settings_of(&d), .state = d.state};
    if (!is_manual)
        plan.stats = d.stats;
    return stream_run_op(tml, call, image_parts_of[tml->engine->part].expose, "no exposure", &plan,
                         (tml_buffer){0, 0});
}

tml_status tml_image_expose(tml_context *tml, const tml_image_expose_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, expose(tml, desc));
}
