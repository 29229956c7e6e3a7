/* Histogram of a volume's samples, and Otsu's threshold in it. */
#include <math.h>
#include <string.h>

#include <trommel/kernel_begin.h>
#include <trommel/stream.h>

#include "cli.h"
#include "histogram.h"

TML_KERNEL(float, histogram_widen, (float x), { return x; })

#include <trommel/kernel_end.h>

/* Parts are fixed, not one for each thread, so that the mean's rounding is always the same. */
enum { PARTS = 16, FINE_BINS = 4096 };

typedef struct part_range {
    double lower, upper, sum;
    uint64_t nans, infinities;
} part_range;

typedef struct histogram_job {
    const void *data;
    tml_type type;
    uint64_t count;
    histogram *h;
    uint64_t *bins; /* PARTS rows of bin_count */
    part_range ranges[PARTS];
} histogram_job;

static uint64_t part_start(uint64_t count, uint32_t part)
{
    uint64_t rest = count % PARTS;
    return count / PARTS * part + (part < rest ? part : rest);
}

/* X(name, C type) for each type with its own loops; f16 is widened before. */
#define LOOP_TYPES(X)                                                                              \
    X(U8, uint8_t)                                                                                 \
    X(I8, int8_t)                                                                                  \
    X(U16, uint16_t)                                                                               \
    X(I16, int16_t)                                                                                \
    X(U32, uint32_t)                                                                               \
    X(I32, int32_t)                                                                                \
    X(U64, uint64_t)                                                                               \
    X(I64, int64_t)                                                                                \
    X(F32, float)                                                                                  \
    X(F64, double)

#define RANGE_LOOP(name, ctype)                                                                    \
    static void range_##name(const void *data, uint64_t first, uint64_t last, part_range *out)     \
    {                                                                                              \
        const ctype *samples = data;                                                               \
        part_range r = {INFINITY, -INFINITY, 0, 0, 0};                                             \
        for (uint64_t i = first; i < last; i++) {                                                  \
            double value = (double)samples[i];                                                     \
            if (isfinite(value)) {                                                                 \
                r.lower = value < r.lower ? value : r.lower;                                       \
                r.upper = value > r.upper ? value : r.upper;                                       \
                r.sum += value;                                                                    \
            } else if (isnan(value)) {                                                             \
                r.nans++;                                                                          \
            } else {                                                                               \
                r.infinities++;                                                                    \
            }                                                                                      \
        }                                                                                          \
        *out = r;                                                                                  \
    }
LOOP_TYPES(RANGE_LOOP)
#undef RANGE_LOOP

#define BIN_LOOP(name, ctype)                                                                      \
    static void bin_##name(const void *data, uint64_t first, uint64_t last, const histogram *h,    \
                           uint64_t *bins)                                                         \
    {                                                                                              \
        const ctype *samples = data;                                                               \
        double scale = h->step > 0 ? 1 / h->step : 0, most = h->bin_count - 1;                     \
        for (uint64_t i = first; i < last; i++) {                                                  \
            double value = (double)samples[i];                                                     \
            if (!isfinite(value))                                                                  \
                continue;                                                                          \
            double bin = (value - h->first) * scale + 0.5;                                         \
            bins[(uint32_t)(bin < 0 ? 0 : bin > most ? most : bin)]++;                             \
        }                                                                                          \
    }
LOOP_TYPES(BIN_LOOP)
#undef BIN_LOOP

#define RANGE_ENTRY(name, ctype) [TML_##name] = range_##name,
#define BIN_ENTRY(name, ctype)   [TML_##name] = bin_##name,
static void (*const range_loops[TML_SCALAR_END])(const void *, uint64_t, uint64_t,
                                                 part_range *) = {LOOP_TYPES(RANGE_ENTRY)};
static void (*const bin_loops[TML_SCALAR_END])(const void *, uint64_t, uint64_t, const histogram *,
                                               uint64_t *) = {LOOP_TYPES(BIN_ENTRY)};

static void find_part_range(void *argument, uint32_t part)
{
    histogram_job *job = argument;
    uint64_t first = part_start(job->count, part), last = part_start(job->count, part + 1);
    range_loops[job->type](job->data, first, last, &job->ranges[part]);
}

static void fill_part_bins(void *argument, uint32_t part)
{
    histogram_job *job = argument;
    uint64_t first = part_start(job->count, part), last = part_start(job->count, part + 1);
    bin_loops[job->type](job->data, first, last, job->h,
                         job->bins + (size_t)part * job->h->bin_count);
}

static void merge_ranges(const histogram_job *job, histogram *h)
{
    double sum = 0;
    h->lower = INFINITY;
    h->upper = -INFINITY;
    for (int p = 0; p < PARTS; p++) {
        h->lower = fmin(h->lower, job->ranges[p].lower);
        h->upper = fmax(h->upper, job->ranges[p].upper);
        h->nans += job->ranges[p].nans;
        h->infinities += job->ranges[p].infinities;
        sum += job->ranges[p].sum;
    }
    h->mean = sum / (double)(job->count - h->nans - h->infinities);
}

static tml_status make(tml_context *tml, const void *data, tml_type type, uint64_t count,
                       histogram *out)
{
    histogram_job job = {.data = data, .type = type, .count = count, .h = out};
    memset(out, 0, sizeof *out);
    tml_parallel_for(tml, PARTS, find_part_range, &job);
    merge_ranges(&job, out);

    bool is_small = tml_type_size(type) <= 2;
    double range = out->upper - out->lower;
    out->first = out->lower;
    out->bin_count = !(range > 0) ? 1 : is_small ? (uint32_t)range + 1 : FINE_BINS;
    out->step = out->bin_count == 1 ? 0 : is_small ? 1 : range / (FINE_BINS - 1);
    if (!isfinite(out->step)) { /* a range wider than a double's: all in one bin */
        out->bin_count = 1;
        out->step = 0;
    }
    size_t size = (size_t)out->bin_count * sizeof *out->bins;
    out->bins = tml_alloc(tml, size);
    job.bins = tml_alloc(tml, PARTS * size);
    if (!out->bins || !job.bins) {
        tml_free(tml, job.bins, PARTS * size);
        histogram_free(tml, out);
        return tml_error(tml, TML_OUT_OF_MEMORY, "histogram: no memory for %zu bytes",
                         PARTS * size);
    }
    memset(job.bins, 0, PARTS * size);
    memset(out->bins, 0, size);
    tml_parallel_for(tml, PARTS, fill_part_bins, &job);
    for (size_t i = 0; i < (size_t)PARTS * out->bin_count; i++)
        out->bins[i % out->bin_count] += job.bins[i];
    tml_free(tml, job.bins, PARTS * size);
    return TML_OK;
}

tml_status histogram_make(tml_context *tml, const void *data, tml_type type, uint64_t count,
                          histogram *out)
{
    if (type != TML_F16)
        return make(tml, data, type, count, out);

    size_t size = count * sizeof(float);
    float *wide = tml_alloc(tml, size);
    if (!wide && size)
        return tml_error(tml, TML_OUT_OF_MEMORY, "histogram: no memory for %zu bytes", size);
    tml_status status = cli_map(tml, TML_USE(histogram_widen), TML_F16, count, data, TML_F32, wide);
    if (status == TML_OK)
        status = make(tml, wide, TML_F32, count, out);
    tml_free(tml, wide, size);
    return status;
}

void histogram_free(tml_context *tml, histogram *h)
{
    tml_free(tml, h->bins, (size_t)h->bin_count * sizeof *h->bins);
    memset(h, 0, sizeof *h);
}

double histogram_otsu(const histogram *h)
{
    double total = 0, moment = 0, below = 0, below_moment = 0, best = 0;
    uint32_t best_first = 0, best_last = 0;
    for (uint32_t i = 0; i < h->bin_count; i++) {
        total += (double)h->bins[i];
        moment += (double)i * (double)h->bins[i];
    }
    for (uint32_t i = 0; i + 1 < h->bin_count; i++) {
        below += (double)h->bins[i];
        below_moment += (double)i * (double)h->bins[i];
        double above = total - below;
        if (below == 0 || above == 0)
            continue;
        double apart = below_moment / below - (moment - below_moment) / above;
        double variance = below * above * apart * apart;
        if (variance > best) {
            best = variance;
            best_first = i;
        }
        if (variance == best) /* empty bins change nothing: the classes lie this far apart */
            best_last = i;
    }
    if (best == 0)
        return h->lower;
    return h->first + h->step * (((double)best_first + (double)best_last) / 2 + 0.5);
}

void histogram_sparkline(const histogram *h, uint32_t columns, bool ascii, char *out)
{
    static const char *const blocks[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                         "\u2585", "\u2586", "\u2587", "\u2588"};
    static const char *const letters[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
    double heights[256] = {0}, most = 0;
    columns = columns < 256 ? columns : 256;
    for (uint32_t i = 0; i < h->bin_count; i++)
        heights[(uint64_t)i * columns / h->bin_count] += (double)h->bins[i];
    for (uint32_t c = 0; c < columns; c++) {
        heights[c] = log1p(heights[c]);
        most = fmax(most, heights[c]);
    }
    for (uint32_t c = 0; c < columns; c++) {
        int level = heights[c] > 0 ? 1 + (int)(7.999 * heights[c] / most) : 0;
        const char *mark = (ascii ? letters : blocks)[level];
        size_t length = strlen(mark);
        memcpy(out, mark, length);
        out += length;
    }
    *out = '\0';
}
