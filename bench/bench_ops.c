/* Benchmarks of operations, and the plain loops that check the results. */
#include "bench_ops.h"

#include <math.h>
#include <string.h>

#include <trommel/kernel_begin.h>
TML_KERNEL(bool, is_below, (uint x, tml_params p), { return x < p.u[0]; })
TML_KERNEL(uint, same_bits, (uint x), { return x; })
#include <trommel/kernel_end.h>

const tml_kernel *bench_is_below(void)
{
    return TML_USE(is_below);
}

/* Total bytes of the sets of a small operation: more than caches hold. */
static const uint64_t uncached_bytes = (uint64_t)256 << 20;

/* The types that the loops know. */
#define LOOP_TYPES(X)                                                                              \
    X(TML_U8, uint8_t)                                                                             \
    X(TML_I8, int8_t)                                                                              \
    X(TML_U16, uint16_t)                                                                           \
    X(TML_I16, int16_t)                                                                            \
    X(TML_U32, uint32_t)                                                                           \
    X(TML_U64, uint64_t)                                                                           \
    X(TML_F32, float)                                                                              \
    X(TML_F64, double)

static tml_status wrong(const bench_op *op, const char *what)
{
    return tml_error(op->tml, TML_ERROR_INTERNAL, "%s: %s differs from a plain loop's",
                     bench_kind_name(op->desc.kind), what);
}

/* ---- inputs that are made from the data ------------------------------------------------------ */

static void *derive(bench_op *op, uint64_t count, size_t element_size)
{
    op->derived_count = count;
    op->derived_size = count * element_size;
    op->derived = tml_alloc(op->tml, op->derived_size);
    if (!op->derived)
        op->derived_size = 0;
    return op->derived;
}

static bool derive_flags(bench_op *op)
{
    const uint32_t *data = op->desc.data;
    uint8_t *flags = derive(op, op->desc.count, sizeof *flags);
    for (uint64_t i = 0; flags && i < op->desc.count; i++)
        flags[i] = data[i] < op->desc.keep_below;
    return flags;
}

/* Does a run or segment begin at i? */
static bool begins(const bench_op *op, uint64_t i)
{
    return i == 0 || ((const uint32_t *)op->desc.data)[i] < op->desc.keep_below;
}

/* Each element is its run's number. */
static bool derive_runs(bench_op *op)
{
    uint32_t *runs = derive(op, op->desc.count, sizeof *runs), run = 0;
    for (uint64_t i = 0; runs && i < op->desc.count; i++)
        runs[i] = run += begins(op, i) && i > 0;
    return runs;
}

static bool derive_offsets(bench_op *op)
{
    uint64_t segments = 0, at = 0;
    for (uint64_t i = 0; i < op->desc.count; i++)
        segments += begins(op, i);
    uint32_t *offsets = derive(op, segments + 1, sizeof *offsets);
    for (uint64_t i = 0; offsets && i < op->desc.count; i++)
        if (begins(op, i))
            offsets[at++] = (uint32_t)i;
    if (offsets)
        offsets[at] = (uint32_t)op->desc.count;
    return offsets;
}

/* For u32, bins are derived; u8 and u16 elements are bins themselves. */
static uint32_t bin_count(const bench_op *op)
{
    return op->desc.type == TML_U16 ? 1 << 16 : op->desc.bins ? op->desc.bins : 256;
}

/* The bin of a u32 element is the upper word of the element times the number of bins. */
static bool derive_bins(bench_op *op)
{
    const uint64_t count = bin_count(op);
    const uint8_t *data = op->desc.data;
    const size_t size = tml_type_size(op->desc.type);
    uint8_t *bins = derive(op, op->desc.count, size);
    if (!bins)
        return false;
    if (op->desc.type != TML_U32)
        memcpy(bins, data, op->derived_size);
    for (uint64_t i = 0; op->desc.type == TML_U32 && i < op->desc.count; i++)
        ((uint32_t *)(void *)bins)[i] =
            op->desc.is_one_bin
                ? (uint32_t)count / 2
                : (uint32_t)(((const uint32_t *)(const void *)data)[i] * count >> 32);
    return true;
}

static bool derive_counts(bench_op *op)
{
    static const uint8_t of_hash[16] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 7};
    const uint32_t *data = op->desc.data;
    uint32_t *counts = derive(op, op->desc.count, sizeof *counts);
    op->result_count = 0;
    for (uint64_t i = 0; counts && i < op->desc.count; i++)
        op->result_count += counts[i] = of_hash[data[i] >> 28];
    return counts;
}

static bool derive_numbers(bench_op *op)
{
    uint32_t *numbers = derive(op, op->desc.count, sizeof *numbers);
    for (uint64_t i = 0; numbers && i < op->desc.count; i++)
        numbers[i] = (uint32_t)i;
    return numbers;
}

/* Segments of keep_below elements each. */
static bool derive_segments(bench_op *op)
{
    uint64_t each = op->desc.keep_below, segments = (op->desc.count + each - 1) / each;
    uint32_t *offsets = derive(op, segments + 1, sizeof *offsets);
    for (uint64_t s = 0; offsets && s <= segments; s++)
        offsets[s] = (uint32_t)(s < segments ? s * each : op->desc.count);
    return offsets;
}

static bool derive_segment_keys(bench_op *op)
{
    const uint32_t *data = op->desc.data;
    uint64_t *keys = derive(op, op->desc.count, sizeof *keys);
    for (uint64_t i = 0; keys && i < op->desc.count; i++)
        keys[i] = i / op->desc.keep_below << 32 | data[i];
    return keys;
}

/* ---- the operations -------------------------------------------------------------------------- */

static tml_status enqueue_copy(bench_op *op, const bench_set *set)
{
    return tml_map(
        op->tml, &(tml_map_desc){.kernel = TML_USE(same_bits), .in = {set->in}, .out = {set->out}});
}

static tml_status enqueue_compact(bench_op *op, const bench_set *set)
{
    return tml_compact(op->tml, &(tml_compact_desc){.keep = {.kernel = TML_USE(is_below),
                                                             .params.u = {op->desc.keep_below}},
                                                    .payloads = {{.in = set->in, .out = set->out}},
                                                    .count = op->total});
}

static tml_status enqueue_flags(bench_op *op, const bench_set *set)
{
    return tml_compact(op->tml, &(tml_compact_desc){.keep.flags = set->aux,
                                                    .payloads = {{.in = set->in, .out = set->out}},
                                                    .count = op->total});
}

static tml_status enqueue_partition(bench_op *op, const bench_set *set)
{
    return tml_compact(op->tml, &(tml_compact_desc){.keep.flags = set->aux,
                                                    .payloads = {{.in = set->in, .out = set->out}},
                                                    .partition = true,
                                                    .count = op->total});
}

static tml_status enqueue_unique(bench_op *op, const bench_set *set)
{
    return tml_unique(op->tml,
                      &(tml_unique_desc){.in = set->in, .values = set->out, .count = op->total});
}

static tml_status enqueue_scan(bench_op *op, const bench_set *set)
{
    return tml_scan(op->tml, &(tml_scan_desc){.in = set->in, .out = set->out});
}

static tml_status enqueue_segments(bench_op *op, const bench_set *set)
{
    return tml_scan(op->tml,
                    &(tml_scan_desc){.in = set->in, .segments.offsets = set->aux, .out = set->out});
}

static tml_status enqueue_reduce(bench_op *op, const bench_set *set)
{
    return tml_reduce(op->tml,
                      &(tml_reduce_desc){.in = set->in, .folds = {{TML_FOLD_SUM, set->out}}});
}

static tml_status enqueue_histogram(bench_op *op, const bench_set *set)
{
    return tml_histogram(op->tml, &(tml_histogram_desc){.in = {set->in}, .out = set->out});
}

static tml_status enqueue_sort(bench_op *op, const bench_set *set)
{
    return tml_sort(op->tml, &(tml_sort_desc){.keys = set->in,
                                              .sorted = set->out,
                                              .payloads = {{.in = set->aux, .out = set->out2}}});
}

static tml_status enqueue_segment_sort(bench_op *op, const bench_set *set)
{
    return tml_sort(
        op->tml,
        &(tml_sort_desc){.keys = set->in, .segments.offsets = set->aux, .sorted = set->out});
}

static tml_status enqueue_segment_keys(bench_op *op, const bench_set *set)
{
    uint32_t bits = 32;
    while (bits < 64 && (op->desc.count - 1) / op->desc.keep_below >> (bits - 32))
        bits++;
    return tml_sort(op->tml,
                    &(tml_sort_desc){.keys = set->in, .bit_count = bits, .sorted = set->out});
}

static tml_status enqueue_top_k(bench_op *op, const bench_set *set)
{
    return tml_top_k(op->tml,
                     &(tml_top_k_desc){.keys = set->in, .values = set->out, .indices = set->out2});
}

static tml_status enqueue_expand(bench_op *op, const bench_set *set)
{
    return tml_expand(
        op->tml, &(tml_expand_desc){
                     .counts = set->in, .source = set->out, .rank = set->out2, .total = op->total});
}

/* ---- their checks ---------------------------------------------------------------------------- */

static bool copy_is_right(bench_op *op, const void *out, const void *out2)
{
    (void)out2;
    return memcmp(op->desc.data, out, op->desc.count * sizeof(uint32_t)) == 0;
}

static bool compact_is_right(bench_op *op, const void *out, const void *out2)
{
    const uint32_t *in = op->desc.data, *kept = out;
    bool is_equal = true;
    (void)out2;
    for (uint64_t i = 0; i < op->desc.count; i++)
        if (in[i] < op->desc.keep_below)
            is_equal &= kept[op->result_count++] == in[i];
    return is_equal;
}

static bool partition_is_right(bench_op *op, const void *out, const void *out2)
{
    const uint32_t *in = op->desc.data, *rejected = out;
    bool is_equal = compact_is_right(op, out, out2);
    rejected += op->result_count;
    for (uint64_t i = 0; i < op->desc.count; i++)
        if (in[i] >= op->desc.keep_below)
            is_equal &= *rejected++ == in[i];
    return is_equal;
}

static bool unique_is_right(bench_op *op, const void *out, const void *out2)
{
    const uint32_t *runs = op->derived, *values = out;
    bool is_equal = true;
    (void)out2;
    op->result_count = op->desc.count ? (uint64_t)runs[op->desc.count - 1] + 1 : 0;
    for (uint64_t i = 0; i < op->result_count; i++)
        is_equal &= values[i] == i;
    return is_equal;
}

/* Integers are compared exactly; floats with sums in double, up to a few roundings of the largest
 * sum so far. */
#define DEFINE_SCAN_CHECK(T)                                                                       \
    static bool scan_is_right_##T(const T *in, const T *out, uint64_t count)                       \
    {                                                                                              \
        T sum = 0;                                                                                 \
        double real = 0, largest = 0;                                                              \
        bool is_right = true, is_real = (T)0.5 != 0;                                               \
        for (uint64_t i = 0; i < count; i++) {                                                     \
            is_right &= is_real ? fabs((double)out[i] - real) <= 1e-6 * largest : out[i] == sum;   \
            sum = (T)(sum + in[i]);                                                                \
            real += (double)in[i];                                                                 \
            largest = fmax(largest, fabs(real));                                                   \
        }                                                                                          \
        return is_right;                                                                           \
    }
DEFINE_SCAN_CHECK(uint32_t)
DEFINE_SCAN_CHECK(uint64_t)
DEFINE_SCAN_CHECK(float)
DEFINE_SCAN_CHECK(double)

static bool scan_is_right(bench_op *op, const void *out, const void *out2)
{
    (void)out2;
    switch (op->desc.type) {
    case TML_U32:
        return scan_is_right_uint32_t(op->desc.data, out, op->desc.count);
    case TML_U64:
        return scan_is_right_uint64_t(op->desc.data, out, op->desc.count);
    case TML_F32:
        return scan_is_right_float(op->desc.data, out, op->desc.count);
    default:
        return scan_is_right_double(op->desc.data, out, op->desc.count);
    }
}

static bool segments_are_right(bench_op *op, const void *out, const void *out2)
{
    const uint32_t *in = op->desc.data, *sums = out;
    uint32_t sum = 0;
    bool is_equal = true;
    (void)out2;
    for (uint64_t i = 0; i < op->desc.count; i++) {
        sum = begins(op, i) ? 0 : sum + in[i - 1];
        is_equal &= sums[i] == sum;
    }
    return is_equal;
}

/* Floats are compared within the bound that the header promises for GPU engines, the looser one. */
static bool reduce_is_right(bench_op *op, const void *out, const void *out2)
{
    uint64_t whole = 0;
    long double real = 0;
    (void)out2;
    switch (op->desc.type) {
#define SUM_LOOP(type, T)                                                                          \
    case type:                                                                                     \
        for (uint64_t i = 0; i < op->desc.count; i++) {                                            \
            whole += (uint64_t)((const T *)op->desc.data)[i];                                      \
            real += ((const T *)op->desc.data)[i];                                                 \
        }                                                                                          \
        break;
        LOOP_TYPES(SUM_LOOP)
#undef SUM_LOOP
    default:
        break;
    }
    if (!tml_type_is_float(op->desc.type))
        return *(const uint64_t *)out == whole;
    double bound = (log2((double)op->desc.count + 1) + 8) * 0x1p-24;
    return fabsl(*(const double *)out - real) <= (long double)bound * fabsl(real);
}

static bool histogram_is_right(bench_op *op, const void *out, const void *out2)
{
    uint32_t *bins = tml_alloc(op->tml, bin_count(op) * sizeof *bins);
    (void)out2;
    if (!bins)
        return false;
    memset(bins, 0, bin_count(op) * sizeof *bins);
    for (uint64_t i = 0; i < op->desc.count; i++)
        switch (op->desc.type) {
        case TML_U8:
            bins[((const uint8_t *)op->derived)[i]]++;
            break;
        case TML_U16:
            bins[((const uint16_t *)op->derived)[i]]++;
            break;
        default:
            bins[((const uint32_t *)op->derived)[i]]++;
        }
    bool is_right = memcmp(bins, out, bin_count(op) * sizeof *bins) == 0;
    tml_free(op->tml, bins, bin_count(op) * sizeof *bins);
    return is_right;
}

/* Checks that the result ascends, and has the same checksums as the source. */
static bool sort_is_right(bench_op *op, const void *out, const void *out2)
{
    bool is_right = true;
    double sums[2] = {0};
    (void)out2;
    switch (op->desc.type) {
#define ORDER_LOOP(type, T)                                                                        \
    case type:                                                                                     \
        for (uint64_t i = 0; i < op->desc.count; i++) {                                            \
            T before = ((const T *)out)[i ? i - 1 : 0], x = ((const T *)out)[i];                   \
            is_right &= !(before > x);                                                             \
            sums[0] += (double)x;                                                                  \
            sums[1] += (double)((const T *)op->desc.data)[i];                                      \
        }                                                                                          \
        break;
        LOOP_TYPES(ORDER_LOOP)
#undef ORDER_LOOP
    default:
        break;
    }
    return is_right && !(fabs(sums[0] - sums[1]) > 1e-9 * fabs(sums[1]));
}

/* Checks that keys descend, that of equal keys the earlier comes first, that each key is the one at
 * its index, and that as many of the source's keys are above the last key as of the results. */
static bool top_k_is_right(bench_op *op, const void *out, const void *out2)
{
    const uint32_t *at = out2;
    uint64_t count = op->desc.count, k = op->desc.k, above = 0, before = 0;
    bool is_right = true;
    switch (op->desc.type) {
#define TOP_LOOP(type, T)                                                                          \
    case type:                                                                                     \
        for (uint64_t i = 0; i < k && is_right; i++) {                                             \
            const T *x = (const T *)out + i, *in = op->desc.data, last = ((const T *)out)[k - 1];  \
            is_right = at[i] < count && !(in[at[i]] < *x) && !(in[at[i]] > *x);                    \
            is_right &= i == 0 || x[-1] > *x || (!(x[-1] < *x) && at[i - 1] < at[i]);              \
            before += *x > last;                                                                   \
        }                                                                                          \
        for (uint64_t i = 0; i < count; i++)                                                       \
            above += ((const T *)op->desc.data)[i] > ((const T *)out)[k - 1];                      \
        break;
        LOOP_TYPES(TOP_LOOP)
#undef TOP_LOOP
    default:
        break;
    }
    return is_right && above == before;
}

/* Checks that each payload is the index of an element with its key, ascending among equal keys. */
static bool pairs_are_right(bench_op *op, const void *out, const void *out2)
{
    const uint32_t *in = op->desc.data, *keys = out, *numbers = out2;
    bool is_right = true;
    for (uint64_t i = 0; i < op->desc.count && is_right; i++) {
        is_right = numbers[i] < op->desc.count && in[numbers[i]] == keys[i];
        if (i > 0)
            is_right &=
                keys[i - 1] < keys[i] || (keys[i - 1] == keys[i] && numbers[i - 1] < numbers[i]);
    }
    return is_right;
}

/* Checks that each segment ascends, and has the same checksums as its source. */
static bool segment_sort_is_right(bench_op *op, const void *out, const void *out2)
{
    const uint32_t *in = op->desc.data;
    bool is_right = true;
    (void)out2;
    for (uint64_t i = 0; i < op->desc.count;) {
        uint64_t end = i + op->desc.keep_below, sums[2] = {0}, last = 0;
        for (; i < end && i < op->desc.count; i++) {
            uint64_t x = op->desc.kind == BENCH_SEGMENT_SORT ? ((const uint32_t *)out)[i]
                                                             : (uint32_t)((const uint64_t *)out)[i];
            is_right &= last <= x;
            last = x;
            sums[0] += x;
            sums[1] += in[i];
        }
        is_right &= sums[0] == sums[1];
    }
    return is_right;
}

static bool expand_is_right(bench_op *op, const void *out, const void *out2)
{
    const uint32_t *counts = op->derived, *source = out, *rank = out2;
    bool is_equal = true;
    for (uint64_t i = 0, at = 0; i < op->desc.count; i++)
        for (uint32_t k = 0; k < counts[i]; k++, at++)
            is_equal &= source[at] == i && rank[at] == k;
    return is_equal;
}

/* ---- the table ------------------------------------------------------------------------------- */

typedef struct kind_entry {
    const char *name;
    bool has_limit;
    bool has_total;
    bool is_derived; /* the input is the derived array; otherwise that is aux */
    bool (*derive)(bench_op *op);
    tml_status (*enqueue)(bench_op *op, const bench_set *set);
    bool (*is_right)(bench_op *op, const void *out, const void *out2);
} kind_entry;

static const kind_entry kinds[BENCH_KIND_COUNT] = {
    [BENCH_COPY] = {"copy", false, false, false, NULL, enqueue_copy, copy_is_right},
    [BENCH_COMPACT] = {"compact", true, true, false, NULL, enqueue_compact, compact_is_right},
    [BENCH_FLAGS] = {"flags", true, true, false, derive_flags, enqueue_flags, compact_is_right},
    [BENCH_PARTITION] = {"partition", true, true, false, derive_flags, enqueue_partition,
                         partition_is_right},
    [BENCH_UNIQUE] = {"unique", true, true, true, derive_runs, enqueue_unique, unique_is_right},
    [BENCH_SCAN] = {"scan", false, false, false, NULL, enqueue_scan, scan_is_right},
    [BENCH_SEGMENTS] = {"segments", true, false, false, derive_offsets, enqueue_segments,
                        segments_are_right},
    [BENCH_REDUCE] = {"reduce", false, false, false, NULL, enqueue_reduce, reduce_is_right},
    [BENCH_HISTOGRAM] = {"histogram", false, false, true, derive_bins, enqueue_histogram,
                         histogram_is_right},
    [BENCH_SORT] = {"sort", false, false, false, NULL, enqueue_sort, sort_is_right},
    [BENCH_PAIRS] = {"pairs", false, false, false, derive_numbers, enqueue_sort, pairs_are_right},
    [BENCH_SEGMENT_SORT] = {"segment_sort", false, false, false, derive_segments,
                            enqueue_segment_sort, segment_sort_is_right},
    [BENCH_SEGMENT_KEYS] = {"segment_keys", false, false, true, derive_segment_keys,
                            enqueue_segment_keys, segment_sort_is_right},
    [BENCH_TOP_K] = {"top_k", false, false, false, NULL, enqueue_top_k, top_k_is_right},
    [BENCH_EXPAND] = {"expand", false, true, true, derive_counts, enqueue_expand, expand_is_right},
    [BENCH_SURFACE] = {"surface", false, false, false, NULL, NULL, NULL},
    [BENCH_DENSITIES] = {"densities", false, false, false, NULL, NULL, NULL},
    [BENCH_LABELS] = {"labels", false, false, false, NULL, NULL, NULL},
};

const char *bench_kind_name(bench_kind kind)
{
    return kinds[kind].name;
}

bool bench_kind_has_limit(bench_kind kind)
{
    return kinds[kind].has_limit;
}

/* ---- streams --------------------------------------------------------------------------------- */

/* The bytes that the operation must at least read and write. */
static uint64_t bytes_of(const bench_op *op)
{
    uint64_t in = op->desc.count * tml_type_size(op->desc.type);
    switch (op->desc.kind) {
    case BENCH_COMPACT:
    case BENCH_UNIQUE:
        return in + op->result_count * sizeof(uint32_t);
    case BENCH_FLAGS:
        return in + op->derived_size + op->result_count * sizeof(uint32_t);
    case BENCH_REDUCE:
    case BENCH_HISTOGRAM:
    case BENCH_TOP_K:
        return in;
    case BENCH_EXPAND:
        return in + op->result_count * 2 * sizeof(uint32_t);
    case BENCH_PARTITION:
    case BENCH_SEGMENTS:
    case BENCH_SEGMENT_SORT:
        return 2 * in + op->derived_size;
    case BENCH_SEGMENT_KEYS:
        return 2 * op->derived_size;
    case BENCH_PAIRS:
        return 2 * (in + op->derived_size);
    default:
        return 2 * in;
    }
}

static bool is_cpu(const tml_context *tml)
{
    tml_device_info device;
    tml_context_describe(tml, &device);
    return device.engine == TML_ENGINE_CPU;
}

/* Creates an input, over the caller's memory if the engine works in host memory. */
static tml_status wrap(const bench_op *op, tml_type type, uint64_t count, const void *data,
                       tml_buffer *out)
{
    tml_buffer_desc desc = {.type = type, .count = count, .data = data};
    if (is_cpu(op->tml))
        desc.host = (void *)(uintptr_t)data, desc.data = NULL;
    return tml_buffer_create(op->tml, &desc, out);
}

static tml_status room(const bench_op *op, tml_type type, uint64_t count, tml_buffer *out)
{
    return tml_buffer_create(op->tml, &(tml_buffer_desc){.type = type, .count = count}, out);
}

static tml_status create_set(const bench_op *op, bench_set *set)
{
    const bench_desc *desc = &op->desc;
    const kind_entry *kind = &kinds[desc->kind];
    tml_type type = desc->kind == BENCH_SEGMENT_KEYS ? TML_U64 : desc->type;
    tml_status status =
        wrap(op, type, desc->count, kind->is_derived ? op->derived : desc->data, &set->in);
    if (!status && op->derived && !kind->is_derived)
        status = wrap(op, op->derived_size > op->derived_count ? TML_U32 : TML_U8,
                      op->derived_count, op->derived, &set->aux);
    if (status)
        return status;
    if (desc->kind == BENCH_REDUCE)
        return room(op, tml_type_is_float(desc->type) ? TML_F64 : TML_U64, 1, &set->out);
    if (desc->kind == BENCH_HISTOGRAM)
        return room(op, TML_U32, bin_count(op), &set->out);
    if (desc->kind == BENCH_TOP_K) {
        status = room(op, TML_U32, desc->k, &set->out2);
        return status ? status : room(op, desc->type, desc->k, &set->out);
    }
    if (desc->kind == BENCH_PAIRS)
        status = room(op, TML_U32, desc->count, &set->out2);
    if (desc->kind != BENCH_EXPAND)
        return status ? status : room(op, type, desc->count, &set->out);
    status = room(op, TML_U32, op->result_count, &set->out);
    return status ? status : room(op, TML_U32, op->result_count, &set->out2);
}

static tml_status create_stream(bench_op *op)
{
    const kind_entry *kind = &kinds[op->desc.kind];
    if (kind->derive && !kind->derive(op))
        return tml_error(op->tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for its input",
                         kind->name);
    tml_status status = room(op, TML_U64, 1, &op->total);
    uint64_t fewest = is_cpu(op->tml) ? 1 : uncached_bytes / (bytes_of(op) + 1) + 1;
    while (!status && op->set_count < fewest && op->set_count < BENCH_SETS)
        status = create_set(op, &op->sets[op->set_count++]);
    return status;
}

static tml_status check_stream(bench_op *op)
{
    const kind_entry *kind = &kinds[op->desc.kind];
    const bench_set *set = &op->sets[0];
    void *out = NULL, *out2 = NULL;
    uint64_t total = 0;
    tml_status status = kind->enqueue(op, set);
    if (!status && kind->has_total)
        status = tml_buffer_read_count(op->tml, op->total, &total);
    if (!status)
        status = tml_buffer_map(op->tml, set->out, &out);
    if (!status && !tml_buffer_is_none(set->out2))
        status = tml_buffer_map(op->tml, set->out2, &out2);
    if (status)
        return status;
    if (op->desc.kind != BENCH_EXPAND)
        op->result_count = 0;
    bool is_right = kind->is_right(op, out, out2);
    tml_buffer_unmap(op->tml, set->out);
    if (out2)
        tml_buffer_unmap(op->tml, set->out2);
    op->bytes = bytes_of(op);
    is_right &= !kind->has_total || total == op->result_count;
    return is_right ? TML_OK : wrong(op, "the result");
}

/* ---- surface --------------------------------------------------------------------------------- */

static tml_status find_densities(bench_op *op)
{
    tml_field_prepare_desc desc = {.field = op->field, .densities = true};
    tml_field_prepared made;
    for (int a = 0; a < 3; a++) /* no grid is looked for, which densities do not need */
        desc.field.grid.dims[a] = 1;
    tml_status status = tml_field_prepare(op->tml, &desc, &made);
    if (status)
        return status;
    tml_buffer_destroy(op->tml, op->densities); /* of the run before */
    op->densities = made.field.densities;
    return status;
}

static bool run_densities(bench_op *op)
{
    return find_densities(op) == TML_OK;
}

/* Some of them, against sums over all particles. */
static tml_status check_densities(bench_op *op)
{
    enum { CHECKED = 16 };
    const float *at = op->desc.data;
    const uint64_t count = op->desc.count, step = count / CHECKED + 1;
    const double reach = op->field.radius;
    void *densities = NULL;
    tml_status status = find_densities(op);
    if (!status)
        status = tml_buffer_map(op->tml, op->densities, &densities);
    for (uint64_t i = 0; i < count && !status; i += step) {
        double sum = 0;
        for (uint64_t k = 0; k < count; k++) {
            const double x = at[3 * i] - at[3 * k], y = at[3 * i + 1] - at[3 * k + 1],
                         z = at[3 * i + 2] - at[3 * k + 2], q = sqrt(x * x + y * y + z * z) / reach;
            sum += q < 0.5 ? 1 - 6 * q * q * (1 - q) : q < 1 ? 2 * (1 - q) * (1 - q) * (1 - q) : 0;
        }
        if (!(fabs(((float *)densities)[i] - sum) < 1e-4 * sum))
            status = wrong(op, "a density");
    }
    if (densities)
        tml_buffer_unmap(op->tml, op->densities);
    op->bytes = 16 * count;
    return status;
}

/* The field of a fluid's particles, with the reach and cells that are usual for films. */
static tml_status create_fluid(bench_op *op)
{
    op->field.kernel = TML_FIELD_CUBIC_SPLINE;
    if (op->desc.kind == BENCH_DENSITIES)
        return TML_OK;
    tml_status status = find_densities(op);
    op->field.densities = op->densities;
    for (int a = 0; a < 3; a++)
        op->field.grid.spacing[a] = 0.375 * op->field.radius;
    tml_field_prepared made = {.iso = 0};
    if (!status)
        status = tml_field_prepare(op->tml, &(tml_field_prepare_desc){.field = op->field}, &made);
    op->field = made.field;
    op->surface.iso = made.iso;
    op->surface.grid = op->desc.grid = op->field.grid;
    op->desc.iso = op->surface.iso;
    return status;
}

static tml_status create_surface(bench_op *op)
{
    const bench_desc *desc = &op->desc;
    bench_set *set = &op->sets[op->set_count++];
    tml_type type = desc->radius > 0 ? TML_VEC(TML_F32, 3) : desc->type;
    tml_status status = wrap(op, type, desc->count, desc->data, &set->in);
    if (!status && desc->sweep)
        status = tml_surface_index(
            op->tml, &(tml_surface_desc){.volume = set->in, .grid = desc->grid}, &op->index);
    op->surface = (tml_surface_desc){.volume = set->in,
                                     .grid = desc->grid,
                                     .iso = desc->iso,
                                     .normals = desc->normals,
                                     .topology = desc->topology,
                                     .soup = desc->soup,
                                     .index = op->index};
    if (desc->radius > 0) {
        op->field = (tml_field_desc){.points = set->in, .radius = desc->radius, .grid = desc->grid};
        op->surface.field = &op->field;
        op->surface.volume = (tml_buffer){0, 0};
        if (!status && desc->is_fluid)
            status = create_fluid(op);
    }
    return status;
}

/* Does not wait for a device's counts, except with the topology for which only tml_surface is
 * available on devices. */
static bool enqueues_surface(const bench_op *op)
{
    return !is_cpu(op->tml) && op->desc.topology == TML_TOPOLOGY_SEPARATED && !op->desc.waits;
}

static tml_status smooth_surface(const bench_op *op)
{
    const bench_set *set = &op->sets[0];
    return tml_mesh_smooth(
        op->tml, &(tml_mesh_smooth_desc){.mesh = {.positions = set->out, .indices = set->out2},
                                         .iterations = op->desc.smooth,
                                         .out = set->aux});
}

/* The surface is written to buffers that the check has created. */
static bool run_surface(bench_op *op)
{
    tml_surface_desc desc = op->surface;
    if (op->desc.smooth)
        return smooth_surface(op) == TML_OK;
    if (op->desc.sweep)
        desc.iso = op->desc.sweep[op->runs++ % op->desc.sweep_count];
    if (enqueues_surface(op))
        return tml_surface_enqueue(op->tml, &desc) == TML_OK;
    tml_surface_result result;
    if (tml_surface(op->tml, &desc, &result))
        return false;
    tml_surface_free(op->tml, &result);
    return true;
}

/* Checks that every grid edge between an inside and an outside sample has exactly one vertex. */
static uint64_t count_crossings(const bench_op *op, const void *samples, double iso)
{
    const tml_grid *grid = &op->desc.grid;
    const uint64_t nx = grid->dims[0], ny = grid->dims[1], nz = grid->dims[2];
    uint64_t crossings = 0;
    switch (op->desc.type) {
#define CROSSING_LOOP(type, T)                                                                     \
    case type: {                                                                                   \
        const T *v = samples;                                                                      \
        for (uint64_t z = 0; z < nz; z++)                                                          \
            for (uint64_t y = 0; y < ny; y++)                                                      \
                for (uint64_t x = 0; x < nx; x++) {                                                \
                    uint64_t i = (z * ny + y) * nx + x;                                            \
                    bool inside = (double)v[i] >= iso;                                             \
                    crossings += x + 1 < nx && ((double)v[i + 1] >= iso) != inside;                \
                    crossings += y + 1 < ny && ((double)v[i + nx] >= iso) != inside;               \
                    crossings += z + 1 < nz && ((double)v[i + nx * ny] >= iso) != inside;          \
                }                                                                                  \
        break;                                                                                     \
    }
        LOOP_TYPES(CROSSING_LOOP)
#undef CROSSING_LOOP
    default:
        break;
    }
    return crossings;
}

/* Does the enqueued surface have the same size? It is written to the result's buffers, which have
 * room for exactly that. */
static tml_status check_enqueued(bench_op *op, const tml_surface_result *result)
{
    tml_surface_desc desc = op->surface;
    desc.mesh = result->mesh;
    desc.counts = op->total;
    uint64_t counts[2];
    tml_status status = tml_surface_enqueue(op->tml, &desc);
    if (!status)
        status = tml_buffer_read(op->tml, op->total, counts);
    if (!status && (counts[0] != result->vertex_count || counts[1] != result->triangle_count))
        status = wrong(op, "the size of the enqueued surface");
    return status;
}

/* Checks the surface of a field. A field of gigabytes is not stored; its surface is accepted if the
 * mesh is closed. */
static tml_status count_in_field(const bench_op *op, double iso, const tml_surface_result *result,
                                 uint64_t *out)
{
    const uint64_t *dims = op->desc.grid.dims;
    if (dims[0] * dims[1] * dims[2] > (uint64_t)1 << 28) {
        tml_mesh_stats stats;
        tml_status status = tml_mesh_examine(op->tml, &result->mesh, false, &stats);
        *out = status || stats.boundary_edges || stats.nonmanifold_edges ? 0 : result->vertex_count;
        return status;
    }
    tml_buffer samples = {0, 0};
    void *memory = NULL;
    tml_status status = room(op, TML_F32, dims[0] * dims[1] * dims[2], &samples);
    if (!status)
        status = tml_field(op->tml, &op->field, samples);
    if (!status)
        status = tml_buffer_map(op->tml, samples, &memory);
    if (!status) {
        *out = count_crossings(op, memory, iso);
        tml_buffer_unmap(op->tml, samples);
    }
    tml_buffer_destroy(op->tml, samples);
    return status;
}

/* A soup has three vertices per triangle. */
static tml_status count_vertices(const bench_op *op, double iso, const tml_surface_result *result,
                                 uint64_t *out)
{
    if (op->desc.radius > 0 && !op->desc.soup)
        return count_in_field(op, iso, result, out);
    *out = op->desc.soup ? 3 * result->triangle_count : count_crossings(op, op->desc.data, iso);
    return TML_OK;
}

/* The largest mesh of the isovalues stays, as room for the runs. */
static tml_status check_surface(bench_op *op)
{
    const bench_desc *desc = &op->desc;
    bench_set *set = &op->sets[0];
    uint64_t vertices = 0, triangles = 0;
    bool enqueues = enqueues_surface(op);
    tml_status status = enqueues ? room(op, TML_U64, 2, &op->total) : TML_OK;
    for (uint32_t i = 0; i < (desc->sweep ? desc->sweep_count : 1) && !status; i++) {
        tml_surface_result result;
        double iso = op->surface.iso = desc->sweep ? desc->sweep[i] : desc->iso;
        status = tml_surface(op->tml, &op->surface, &result);
        if (status)
            return status;
        uint64_t counted = 0;
        status = count_vertices(op, iso, &result, &counted);
        /* With the interpolant's topology, cells have vertices, too. */
        const bool has_own = op->surface.topology == TML_TOPOLOGY_TRILINEAR;
        if (!status && (has_own ? result.vertex_count < counted : result.vertex_count != counted))
            status = wrong(op, "the number of vertices");
        else if (!status && enqueues)
            status = check_enqueued(op, &result);
        vertices = result.vertex_count > vertices ? result.vertex_count : vertices;
        triangles = result.triangle_count > triangles ? result.triangle_count : triangles;
        tml_surface_free(op->tml, &result);
    }
    op->vertex_count = vertices;
    op->result_count = triangles;
    op->bytes = desc->count * (desc->radius > 0 ? 12 : tml_type_size(desc->type)) + 12 * vertices;
    if (!desc->soup)
        op->bytes += 12 * triangles;
    if (desc->normals)
        op->bytes += 12 * vertices;
    if (!status)
        status = room(op, TML_VEC(TML_F32, 3), vertices, &set->out);
    if (!status && !desc->soup)
        status = room(op, TML_VEC(TML_U32, 3), triangles, &set->out2);
    if (!status && desc->normals)
        status = room(op, TML_VEC(TML_F32, 3), vertices, &set->aux);
    op->surface.mesh.normals = set->aux;
    op->surface.mesh.positions = set->out;
    op->surface.mesh.indices = set->out2;
    return status;
}

static double sum_of_edges(const float (*vertices)[3], const uint32_t (*indices)[3], uint64_t count)
{
    double sum = 0;
    for (uint64_t i = 0; i < 3 * count; i++) {
        const float *a = vertices[indices[i / 3][i % 3]];
        const float *b = vertices[indices[i / 3][(i + 1) % 3]];
        for (int c = 0; c < 3; c++)
            sum += ((double)b[c] - a[c]) * ((double)b[c] - a[c]);
    }
    return sum;
}

/* A smooth mesh has shorter edges: the sums of their squares. */
static tml_status check_smooth(bench_op *op)
{
    bench_set *set = &op->sets[0];
    tml_surface_result made;
    void *before = NULL, *indices = NULL, *after = NULL;
    tml_status status = tml_surface(op->tml, &op->surface, &made);
    if (status)
        return status;
    set->out = made.mesh.positions;
    set->out2 = made.mesh.indices;
    made.owned = 0; /* by the caller */
    op->vertex_count = made.vertex_count;
    op->result_count = made.triangle_count;
    op->bytes = 24 * made.vertex_count + 12 * made.triangle_count;
    tml_surface_free(op->tml, &made);
    status = room(op, TML_VEC(TML_F32, 3), op->vertex_count, &set->aux);
    if (!status)
        status = smooth_surface(op);
    if (!status && !(status = tml_buffer_map(op->tml, set->out, &before)) &&
        !(status = tml_buffer_map(op->tml, set->out2, &indices)) &&
        !(status = tml_buffer_map(op->tml, set->aux, &after)) &&
        !(sum_of_edges(after, indices, op->result_count) <
          sum_of_edges(before, indices, op->result_count)))
        status = wrong(op, "the smoothed mesh");
    if (before)
        tml_buffer_unmap(op->tml, set->out);
    if (indices)
        tml_buffer_unmap(op->tml, set->out2);
    if (after)
        tml_buffer_unmap(op->tml, set->aux);
    return status;
}

/* ---- labels ---------------------------------------------------------------------------------- */

static tml_surface_labels_desc labels_of(const bench_op *op)
{
    const bench_set *set = &op->sets[0];
    return (tml_surface_labels_desc){.volume = set->in,
                                     .grid = op->desc.grid,
                                     .smooth = op->desc.smooth,
                                     .mesh = {.positions = set->out, .indices = set->out2},
                                     .face_labels = set->aux};
}

/* On the CPU, each run makes a new mesh, as peers do. */
static bool run_labels(bench_op *op)
{
    const tml_surface_labels_desc desc = labels_of(op);
    tml_surface_result result;
    if (tml_surface_labels(op->tml, &desc, &result))
        return false;
    tml_surface_free(op->tml, &result);
    return true;
}

/* Counts two triangles for each edge between different samples that four cells surround. */
static uint64_t count_unlike(const bench_op *op)
{
    const uint32_t *v = op->desc.data;
    const uint64_t *n = op->desc.grid.dims, steps[3] = {1, n[0], n[0] * n[1]};
    uint64_t count = 0;
    for (uint64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
        const uint64_t at[3] = {i % n[0], i / n[0] % n[1], i / steps[2]};
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            if (at[a] + 1 < n[a] && at[b] > 0 && at[b] + 1 < n[b] && at[c] > 0 && at[c] + 1 < n[c])
                count += v[i] != v[i + steps[a]];
        }
    }
    return 2 * count;
}

static tml_status check_labels(bench_op *op)
{
    const tml_surface_labels_desc desc = labels_of(op);
    tml_surface_result result;
    tml_status status = tml_surface_labels(op->tml, &desc, &result);
    if (status)
        return status;
    if (result.triangle_count != count_unlike(op))
        status = wrong(op, "the number of triangles");
    op->vertex_count = result.vertex_count;
    op->result_count = result.triangle_count;
    op->bytes =
        op->desc.count * sizeof(uint32_t) + 12 * result.vertex_count + 20 * result.triangle_count;
    if (is_cpu(op->tml) || status) {
        tml_surface_free(op->tml, &result);
        return status;
    }
    op->sets[0].out = result.mesh.positions; /* room for the runs */
    op->sets[0].out2 = result.mesh.indices;
    op->sets[0].aux = result.face_labels;
    return status;
}

/* ---- all of them ----------------------------------------------------------------------------- */

tml_status bench_op_create(tml_context *tml, const bench_desc *desc, bench_op *out)
{
    *out = (bench_op){.tml = tml, .desc = *desc};
    tml_status status =
        desc->kind == BENCH_SURFACE || desc->kind == BENCH_DENSITIES ? create_surface(out)
        : desc->kind == BENCH_LABELS
            ? wrap(out, desc->type, desc->count, desc->data, &out->sets[out->set_count++].in)
            : create_stream(out);
    if (status)
        bench_op_destroy(out);
    return status;
}

bool bench_op_run(void *user)
{
    bench_op *op = user;
    if (op->desc.kind == BENCH_SURFACE)
        return run_surface(op);
    if (op->desc.kind == BENCH_DENSITIES)
        return run_densities(op);
    if (op->desc.kind == BENCH_LABELS)
        return run_labels(op);
    return kinds[op->desc.kind].enqueue(op, &op->sets[op->runs++ % op->set_count]) == TML_OK;
}

tml_status bench_op_check(bench_op *op)
{
    if (op->desc.kind == BENCH_SURFACE)
        return op->desc.smooth ? check_smooth(op) : check_surface(op);
    return op->desc.kind == BENCH_DENSITIES ? check_densities(op)
           : op->desc.kind == BENCH_LABELS  ? check_labels(op)
                                            : check_stream(op);
}

void bench_op_destroy(bench_op *op)
{
    for (uint32_t i = 0; i < op->set_count; i++) {
        tml_buffer_destroy(op->tml, op->sets[i].in);
        tml_buffer_destroy(op->tml, op->sets[i].aux);
        tml_buffer_destroy(op->tml, op->sets[i].out);
        tml_buffer_destroy(op->tml, op->sets[i].out2);
    }
    if (op->tml) {
        tml_buffer_destroy(op->tml, op->total);
        tml_buffer_destroy(op->tml, op->index);
        tml_buffer_destroy(op->tml, op->densities);
        tml_free(op->tml, op->derived, op->derived_size);
    }
    *op = (bench_op){0};
}
