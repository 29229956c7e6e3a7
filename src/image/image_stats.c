/* Reads statistics back, and computes percentiles from them. */
#include <math.h>
#include <string.h>

#include "core/call.h"
#include "image/image_internal.h"
#include "stream/stream_internal.h"

static uint64_t number_at(const uint32_t *words, uint32_t word)
{
    return (uint64_t)words[word + 1] << 32 | words[word];
}

static double float_at(const uint32_t *words, uint32_t word)
{
    float value;
    memcpy(&value, words + word, sizeof value);
    return (double)value;
}

static double pair_at(const uint32_t *words, uint32_t word)
{
    return float_at(words, word) + float_at(words, word + 1);
}

static tml_status stats_read(tml_context *tml, tml_buffer stats, tml_image_stats *out)
{
    uint32_t words[TML_IMAGE_STATS_WORDS];
    tml_status status = tml_check_buffer(tml, "tml_image_stats_read", "stats", stats,
                                         stream_u32_types, TML_IMAGE_STATS_WORDS);
    TML_THEN(status, tml_buffer_read_range(tml, stats, 0, TML_IMAGE_STATS_WORDS, words));
    if (status != TML_OK)
        return status;
    *out = (tml_image_stats){.pixels = number_at(words, TML_STATS_PIXELS),
                             .positive = number_at(words, TML_STATS_POSITIVE),
                             .zero = number_at(words, TML_STATS_ZERO),
                             .negative = number_at(words, TML_STATS_NEGATIVE),
                             .nan = number_at(words, TML_STATS_NAN),
                             .infinite = number_at(words, TML_STATS_INFINITE),
                             .weight = number_at(words, TML_STATS_WEIGHT),
                             .log_weight = number_at(words, TML_STATS_LOG_WEIGHT),
                             .min = float_at(words, TML_STATS_MIN),
                             .max = float_at(words, TML_STATS_MAX),
                             .mean = NAN,
                             .deviation = NAN,
                             .log2_mean = NAN,
                             .geometric_mean = NAN,
                             .histogram_low = (double)(int32_t)words[TML_STATS_HISTOGRAM_LOW],
                             .bin_width = exp2(-(double)words[TML_STATS_BIN_LOG2])};
    for (uint32_t bin = 0; bin < TML_HISTOGRAM_BINS; bin++)
        out->histogram[bin] = number_at(words, TML_STATS_HISTOGRAM + 2 * bin);
    double floor_value = float_at(words, TML_STATS_FLOOR);
    bool has_limits = out->min <= out->max;
    if (out->log_weight > 0) {
        double weight = (double)out->log_weight;
        double whole = (double)(int64_t)number_at(words, TML_STATS_LOG_WHOLE);
        double fraction = (double)number_at(words, TML_STATS_LOG_FRACTION);
        out->log2_mean = whole / weight + fraction * 0x1p-24 / weight;
        out->geometric_mean = exp2(out->log2_mean);
        if (has_limits)
            out->geometric_mean = fmin(fmax(out->geometric_mean, fmax(out->min, floor_value)),
                                       fmax(out->max, floor_value));
    }
    if (!has_limits)
        out->min = out->max = NAN;
    if (out->weight > 0 && (words[TML_STATS_WHAT] & TML_MEASURE_MEAN)) {
        out->mean = pair_at(words, TML_STATS_MEAN);
        out->deviation = sqrt(fmax(pair_at(words, TML_STATS_DEVIATION), 0.0));
    }
    return TML_OK;
}

tml_status tml_image_stats_read(tml_context *tml, tml_buffer stats, tml_image_stats *out)
{
    tml_status status = TML_ENTER(tml, out);
    return status ? status : tml_leave(tml, stats_read(tml, stats, out));
}

double tml_image_percentile(const tml_image_stats *stats, double percent)
{
    double total = 0.0, below = 0.0;
    if (!stats)
        return NAN;
    for (uint32_t bin = 0; bin < TML_HISTOGRAM_BINS; bin++)
        total += (double)stats->histogram[bin];
    if (!(total > 0.0) || !(percent >= 0.0 && percent <= 100.0))
        return NAN;
    double wanted = total * (percent / 100.0), place = 0.0;
    for (uint32_t bin = 0; bin < TML_HISTOGRAM_BINS; bin++) {
        double weight = (double)stats->histogram[bin];
        if (weight > 0.0) {
            place = bin + fmin(fmax((wanted - below) / weight, 0.0), 1.0);
            below += weight;
            if (below >= wanted)
                break;
        }
    }
    return stats->histogram_low + place * stats->bin_width;
}
