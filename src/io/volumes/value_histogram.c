/* Computes a histogram of samples, and Otsu's threshold from it. */
#include <math.h>
#include <string.h>

#include <trommel/extend.h>
#include <trommel/volumes.h>

#include "kernels/kernel.h"
#include "kernels/kernel_end.h"

/* PARTS is fixed, so that the rounding of the mean does not depend on the number of threads. */
enum { PARTS = 16, FINE_BINS = 4096 };

typedef struct part_range {
    double lower, upper, sum;
    uint64_t nans, infinities;
} part_range;

typedef struct histogram_job {
    const void *data;
    tml_type type;
    uint64_t count;
    tml_value_histogram *h;
    uint64_t *bins; /* PARTS rows of bin_count */
    part_range ranges[PARTS];
} histogram_job;

static uint64_t part_start(uint64_t count, uint32_t part)
{
    uint64_t rest = count % PARTS;
    return count / PARTS * part + (part < rest ? part : rest);
}

/* X(name, C type, conversion of a sample to double) for each scalar type. */
#define AS_IS(x) (double)(x)
#define WIDEN(x) (double)tml_half_to_float(x)
#define LOOP_TYPES(X)                                                                              \
    X(U8, uint8_t, AS_IS)                                                                          \
    X(I8, int8_t, AS_IS)                                                                           \
    X(U16, uint16_t, AS_IS)                                                                        \
    X(I16, int16_t, AS_IS)                                                                         \
    X(U32, uint32_t, AS_IS)                                                                        \
    X(I32, int32_t, AS_IS)                                                                         \
    X(U64, uint64_t, AS_IS)                                                                        \
    X(I64, int64_t, AS_IS)                                                                         \
    X(F16, uint16_t, WIDEN)                                                                        \
    X(F32, float, AS_IS)                                                                           \
    X(F64, double, AS_IS)

#define RANGE_LOOP(name, ctype, read)                                                              \
    static void range_##name(const void *data, uint64_t first, uint64_t last, part_range *out)     \
    {                                                                                              \
        const ctype *samples = data;                                                               \
        part_range r = {INFINITY, -INFINITY, 0, 0, 0};                                             \
        for (uint64_t i = first; i < last; i++) {                                                  \
            double value = read(samples[i]);                                                       \
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

#define BIN_LOOP(name, ctype, read)                                                                \
    static void bin_##name(const void *data, uint64_t first, uint64_t last,                        \
                           const tml_value_histogram *h, uint64_t *bins)                           \
    {                                                                                              \
        const ctype *samples = data;                                                               \
        double scale = h->step > 0 ? 1 / h->step : 0, most = h->bin_count - 1;                     \
        for (uint64_t i = first; i < last; i++) {                                                  \
            double value = read(samples[i]);                                                       \
            if (!isfinite(value))                                                                  \
                continue;                                                                          \
            double bin = (value - h->first) * scale + 0.5;                                         \
            bins[(uint32_t)(bin < 0 ? 0 : bin > most ? most : bin)]++;                             \
        }                                                                                          \
    }
LOOP_TYPES(BIN_LOOP)
#undef BIN_LOOP

#define RANGE_ENTRY(name, ctype, read) [TML_##name] = range_##name,
#define BIN_ENTRY(name, ctype, read)   [TML_##name] = bin_##name,
static void (*const range_loops[TML_SCALAR_END])(const void *, uint64_t, uint64_t,
                                                 part_range *) = {LOOP_TYPES(RANGE_ENTRY)};
static void (*const bin_loops[TML_SCALAR_END])(const void *, uint64_t, uint64_t,
                                               const tml_value_histogram *,
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

static void merge_ranges(const histogram_job *job, tml_value_histogram *h)
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

/* Otsu's threshold: the greatest variance between two classes. */
static double divide_best(const tml_value_histogram *h)
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
        if (variance == best) /* empty bins do not change it: their middle is the threshold */
            best_last = i;
    }
    if (best == 0)
        return h->lower;
    return h->first + h->step * (((double)best_first + (double)best_last) / 2 + 0.5);
}

tml_status tml_value_histogram_make(tml_context *tml, const void *data, tml_type type,
                                    uint64_t count, tml_value_histogram *out)
{
    if (!out || (!data && count > 0))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "tml_value_histogram_make: %s is NULL",
                         out ? "data" : "out");
    memset(out, 0, sizeof *out);
    if (type <= TML_TYPE_NONE || type >= TML_SCALAR_END || !range_loops[type])
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_value_histogram_make: type is %s, needs a scalar type",
                         tml_type_name(type));
    histogram_job job = {.data = data, .type = type, .count = count, .h = out};
    tml_parallel_for(tml, PARTS, find_part_range, &job);
    merge_ranges(&job, out);

    bool is_small = tml_type_size(type) <= 2 && type != TML_F16;
    double range = out->upper - out->lower;
    out->first = out->lower;
    out->bin_count = !(range > 0) ? 1 : is_small ? (uint32_t)range + 1 : FINE_BINS;
    out->step = out->bin_count == 1 ? 0 : is_small ? 1 : range / (FINE_BINS - 1);
    if (!isfinite(out->step)) { /* upper - lower overflows: a single bin */
        out->bin_count = 1;
        out->step = 0;
    }
    size_t size = (size_t)out->bin_count * sizeof *out->bins;
    out->bins = tml_alloc(tml, size);
    job.bins = tml_alloc(tml, PARTS * size);
    if (!out->bins || !job.bins) {
        tml_free(tml, job.bins, PARTS * size);
        tml_value_histogram_free(tml, out);
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                         "tml_value_histogram_make: no memory for %zu bytes", PARTS * size);
    }
    memset(job.bins, 0, PARTS * size);
    memset(out->bins, 0, size);
    tml_parallel_for(tml, PARTS, fill_part_bins, &job);
    for (size_t i = 0; i < (size_t)PARTS * out->bin_count; i++)
        out->bins[i % out->bin_count] += job.bins[i];
    tml_free(tml, job.bins, PARTS * size);
    out->otsu = divide_best(out);
    return TML_OK;
}

void tml_value_histogram_free(tml_context *tml, tml_value_histogram *h)
{
    tml_free(tml, h->bins, (size_t)h->bin_count * sizeof *h->bins);
    memset(h, 0, sizeof *h);
}
