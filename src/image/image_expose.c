/* tml_image_expose: checks, defaults and the call of the engine. */
#include <math.h>

#include "core/call.h"
#include "image/image_internal.h"
#include "stream/stream_internal.h"

static const tml_type state_types[] = {TML_F32, TML_TYPE_NONE};

/* An exposure limit, in stops, that no luminance reaches. */
static const float no_limit = 1024.0f;

tml_status image_check_state(tml_context *tml, const char *call, tml_buffer state)
{
    return tml_check_buffer(tml, call, "desc.state", state, state_types, TML_EXPOSURE_WORDS);
}

static tml_status check_number(tml_context *tml, const char *field, float value, float low,
                               float high)
{
    if (value >= low && value <= high)
        return TML_OK;
    return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                     "tml_image_expose: desc.%s is %g, needs %g to %g", field, (double)value,
                     (double)low, (double)high);
}

static tml_status check_numbers(tml_context *tml, const tml_image_expose_desc *desc)
{
    const struct {
        const char *name;
        float value, low, high;
    } numbers[] = {
        {"clip_low", desc->clip_low, 0.0f, 100.0f},
        {"clip_high", desc->clip_high, 0.0f, 100.0f},
        {"percentile", desc->percentile, 0.0f, 100.0f},
        {"ev100", desc->ev100, -256.0f, 256.0f},
        {"key", desc->key, 0.0f, 1e6f},
        {"bias", desc->bias, -256.0f, 256.0f},
        {"ev_min", desc->ev_min, -256.0f, 256.0f},
        {"ev_max", desc->ev_max, -256.0f, 256.0f},
        {"speed_up", desc->speed_up, 0.0f, 1e6f},
        {"speed_down", desc->speed_down, 0.0f, 1e6f},
        {"seconds", desc->seconds, 0.0f, 1e9f},
    };
    tml_status status = TML_OK;
    for (size_t i = 0; i < TML_ARRAY_SIZE(numbers) && status == TML_OK; i++)
        status =
            check_number(tml, numbers[i].name, numbers[i].value, numbers[i].low, numbers[i].high);
    if (status != TML_OK)
        return status;
    if ((unsigned)desc->by > TML_EXPOSE_MANUAL)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_image_expose: desc.by is %d, needs one of tml_expose_by",
                         (int)desc->by);
    if (desc->clip_low > 0.0f && desc->clip_high == 0.0f)
        return tml_error(
            tml, TML_ERROR_INVALID_ARGUMENT,
            "tml_image_expose: desc.clip_low is %g and clip_high 0; give both, 100 for "
            "no clip above",
            (double)desc->clip_low);
    if (desc->clip_high > 0.0f && !(desc->clip_low < desc->clip_high))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_image_expose: desc.clip_low is %g and clip_high %g, needs less below "
                         "than above",
                         (double)desc->clip_low, (double)desc->clip_high);
    if (desc->ev_min > desc->ev_max)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_image_expose: desc.ev_min is %g, more than ev_max, %g",
                         (double)desc->ev_min, (double)desc->ev_max);
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
    static const char call[] = "tml_image_expose";
    tml_status status = check_numbers(tml, desc);
    bool is_manual = desc->by == TML_EXPOSE_MANUAL;
    if (status == TML_OK && !is_manual)
        status = tml_check_buffer(tml, call, "desc.stats", desc->stats, stream_mask_types,
                                  TML_IMAGE_STATS_WORDS);
    TML_THEN(status, image_check_state(tml, call, desc->state));
    if (status == TML_OK && !is_manual)
        status = stream_check_apart(tml, call, "desc.state", desc->state, "desc.stats", desc->stats,
                                    false);
    if (status != TML_OK)
        return status;
    image_expose_plan plan = {.settings = settings_of(desc), .state = desc->state};
    if (!is_manual)
        plan.stats = desc->stats;
    return stream_run_op(tml, call, image_parts_of[tml->engine->part].expose, "no exposure", &plan,
                         (tml_buffer){0, 0});
}

tml_status tml_image_expose(tml_context *tml, const tml_image_expose_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, expose(tml, desc));
}
