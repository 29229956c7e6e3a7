/* Computes an exposure from a stats buffer, in float, in one invocation with about 600 loads.
 * Engines round divisions and conversions differently; their results differ by less than 2^-14
 * stops.
 *
 * trommel/image.h lists the words of stats and state. */
#define IMAGE_STATS_LOG_WEIGHT    14u
#define IMAGE_STATS_LOG_WHOLE     16u
#define IMAGE_STATS_LOG_FRACTION  18u
#define IMAGE_STATS_HISTOGRAM_LOW 26u
#define IMAGE_STATS_BIN_LOG2      27u
#define IMAGE_STATS_HISTOGRAM     30u
#define IMAGE_STATS_BINS          256u

/* How the average is measured. */
#define IMAGE_BY_SUMS   0u /* the mean of all logarithms */
#define IMAGE_BY_SHARES 1u /* the histogram's mean between quantiles low and high */
#define IMAGE_BY_POINT  2u /* the histogram's quantile low */
#define IMAGE_BY_MANUAL 3u

STRUCT_BEGIN(image_expose_settings)
uint by;
float low; /* quantiles, 0 to 1 */
float high;
float manual; /* log2 */
float log2_key;
float bias;
float limit_low; /* of the average, log2 */
float limit_high;
float speed_up; /* stops a second */
float speed_down;
float seconds;
uint reset;
STRUCT_END(image_expose_settings)

/* The words of a state buffer, in order, without the last, which is 0. */
STRUCT_BEGIN(image_exposure)
float scale;
float average;
float target;
float ev100;
float low;
float high;
float counted; /* 1, or 0 if no pixel counted */
STRUCT_END(image_exposure)

/* EV100 minus log2 luminance: log2(100 / K), with K = 12.5 (ISO 2720). */
#define IMAGE_EV100 3.0f

FUNCTION(float) image_number(uint low, uint high)
{
    return F(low) + F(high) * (65536.0f * 65536.0f);
}
FUNCTION(float) image_stats_number(ADDRESS stats, uint word)
{
    return image_number(LOAD_U32(stats, word), LOAD_U32(stats, word + 1u));
}
FUNCTION(float) image_stats_signed(ADDRESS stats, uint word)
{
    uint low = LOAD_U32(stats, word);
    uint high = LOAD_U32(stats, word + 1u);
    bool negative = (high & 0x80000000u) != 0u;
    float size =
        negative ? image_number(0u - low, ~high + (low == 0u ? 1u : 0u)) : image_number(low, high);
    return negative ? -size : size;
}
FUNCTION(float) image_bin_weight(ADDRESS stats, uint bin)
{
    return image_stats_number(stats, IMAGE_STATS_HISTOGRAM + 2u * bin);
}

/* log2 luminance at a position in the histogram, in bins. */
FUNCTION(float) image_place_log2(ADDRESS stats, float place)
{
    uint width = (127u - LOAD_U32(stats, IMAGE_STATS_BIN_LOG2)) << 23;
    return F(LOAD_I32(stats, IMAGE_STATS_HISTOGRAM_LOW)) + place * uintBitsToFloat(width);
}

/* Two quantiles of the histogram and the mean of the values between them, as positions in bins; and
 * the total weight. A total weight of 0 means an empty histogram. */
STRUCT_BEGIN(image_range)
float weight;
float low;
float high;
float mean;
STRUCT_END(image_range)

FUNCTION(image_range) image_range_between(ADDRESS stats, float low, float high)
{
    image_range range;
    float total = 0.0f;
    for (uint bin = 0u; bin < IMAGE_STATS_BINS; bin++)
        total += image_bin_weight(stats, bin);
    float from = low * total;
    float to = high * total;
    float below = 0.0f;
    float sum = 0.0f;
    float taken = 0.0f;
    range.weight = total;
    range.low = -1.0f;
    range.high = -1.0f;
    for (uint bin = 0u; bin < IMAGE_STATS_BINS; bin++) {
        float weight = image_bin_weight(stats, bin);
        float end = below + weight;
        if (weight > 0.0f) {
            float first = clamp((from - below) / weight, 0.0f, 1.0f);
            float last = clamp((to - below) / weight, 0.0f, 1.0f);
            if (range.low < 0.0f && end >= from)
                range.low = F(bin) + first;
            if (range.high < 0.0f && end >= to)
                range.high = F(bin) + last;
            float part = weight * (last - first);
            taken += part;
            sum += part * (F(bin) + 0.5f * (first + last));
        }
        below = end;
    }
    range.mean = taken > 0.0f ? sum / taken : range.low;
    return range;
}

/* Moves average toward target over a time in seconds: at `speed` stops per second down to a
 * distance of one stop, then by exponential decay that begins at the same speed. */
FUNCTION(float)
image_adapted(float average, float target, float speed_up, float speed_down, float seconds)
{
    bool rises = target > average;
    float away = rises ? target - average : average - target;
    float path = (rises ? speed_up : speed_down) * seconds;
    float straight = max(away - 1.0f, 0.0f);
    float left = path <= straight ? away - path
                                  : min(away, 1.0f) * image_exp2((straight - path) * 1.442695f);
    return rises ? target - left : target + left;
}

/* before: the state's previous average, log2. */
FUNCTION(image_exposure) image_expose(ADDRESS stats, float before, image_expose_settings settings)
{
    image_exposure exposure;
    bool is_measured = true;
    float target = settings.manual;
    exposure.low = target;
    exposure.high = target;
    if (settings.by != IMAGE_BY_MANUAL) {
        image_range range = image_range_between(stats, settings.low, settings.high);
        float log_weight = image_stats_number(stats, IMAGE_STATS_LOG_WEIGHT);
        bool by_sums = settings.by == IMAGE_BY_SUMS;
        is_measured = (by_sums ? log_weight : range.weight) > 0.0f;
        float place = settings.by == IMAGE_BY_SHARES ? range.mean : range.low;
        target = image_place_log2(stats, place);
        if (by_sums && is_measured)
            target = image_stats_signed(stats, IMAGE_STATS_LOG_WHOLE) / log_weight +
                     image_stats_number(stats, IMAGE_STATS_LOG_FRACTION) / log_weight / 16777216.0f;
        exposure.low = range.weight > 0.0f ? image_place_log2(stats, range.low) : 0.0f;
        exposure.high = range.weight > 0.0f ? image_place_log2(stats, range.high) : 0.0f;
    }
    /* An out-of-range or NaN average in the state restarts the adaptation. */
    bool is_new = settings.reset != 0u || !(before >= -1024.0f && before <= 1024.0f);
    if (!is_measured)
        target = is_new ? settings.log2_key : before;
    float wanted = clamp(target, settings.limit_low, settings.limit_high);
    float average = is_new ? wanted
                           : image_adapted(before, wanted, settings.speed_up, settings.speed_down,
                                           settings.seconds);
    average = clamp(average, settings.limit_low, settings.limit_high);
    exposure.counted = is_measured ? 1.0f : 0.0f;
    exposure.target = target;
    exposure.average = average;
    exposure.ev100 = average + IMAGE_EV100;
    exposure.scale = image_exp2(settings.log2_key - average + settings.bias);
    return exposure;
}

/* Vulkan passes settings as arguments of a dispatch, member by member. GL has a uniform of the
 * struct. */
ARGS_BEGIN(image_expose_args)
ARG_ADDRESS(stats)
ARG_ADDRESS(state)
ARG_UINT(by)
ARG_FLOAT(low)
ARG_FLOAT(high)
ARG_FLOAT(manual)
ARG_FLOAT(log2_key)
ARG_FLOAT(bias)
ARG_FLOAT(limit_low)
ARG_FLOAT(limit_high)
ARG_FLOAT(speed_up)
ARG_FLOAT(speed_down)
ARG_FLOAT(seconds)
ARG_UINT(reset)
ARGS_END(image_expose_args)
