/* trommel-bench streams: operations on streams, as fractions of a copy's speed. */
#include "bench_beside.h"
#include "bench_commands.h"
#include "bench_data.h"

#include <math.h>
#include <string.h>
#include <trommel/files.h>

typedef struct streams_args {
    bench_args bench;
    const char *input;
    uint64_t count;
    uint32_t type; /* position in types; 0: u32 */
    opt_numbers keep, bins;
} streams_args;

static const tml_type types[] = {TML_TYPE_NONE, TML_U8,  TML_U16, TML_U32,
                                 TML_U64,       TML_F32, TML_F64};

static const opt streams_options[] = {
    {OPT_SECTION, .help = "Input"},
    {OPT_INPUT, "input", .argument = "FILE", .offset = offsetof(streams_args, input),
     .help = "an NPY array instead of generated numbers"},
    {OPT_CHOICE, "type", .choices = "auto|u8|u16|u32|u64|f32|f64", .fallback = "auto",
     .excludes = "input", .offset = offsetof(streams_args, type),
     .help = "element type of scan, reduce, histogram, sort and top_k; auto: u32"},
    {OPT_BYTES, "count", .brief = "elements", .argument = "N", .fallback = "16M",
     .excludes = "input", .offset = offsetof(streams_args, count),
     .help = "elements; K, M, G are powers of 1024"},
    {OPT_NUMBERS, "keep", .brief = "percent of elements to keep", .argument = "P[,P...]",
     .offset = offsetof(streams_args, keep),
     .help = "percent of elements to keep; for unique and segments: to begin a run (default: "
             "1,10,50,90)"},
    {OPT_NUMBERS, "bins", .argument = "N[,N...]", .offset = offsetof(streams_args, bins),
     .help = "bins of histogram, of u32; each number also with all elements in one bin (default: "
             "256)"},
    BENCH_OPTIONS(streams_args),
    BENCH_PEERS_OPTION(streams_args),
    {0},
};

#define OPERATIONS                                                                                 \
    "copy, compact, flags, partition, unique, scan, segments, reduce, histogram, sort, pairs, "    \
    "segment_sort, segment_keys, top_k or expand"

static const bench_column columns[] = {
    BENCH_COPY_COLUMNS,
    BENCH_PEER_COLUMNS,
    BENCH_COLUMN("result_count", "elements", 0),
    BENCH_COLUMN("elements_per_second", "M/s", 1e-6),
    {0},
};

/* Checks an operation, times it next to the copy and adds the row. */
static void measure(bench_session *session, const bench_desc *desc, const char *name,
                    double percent)
{
    bench_op op;
    bench_beside times = {.peer_s = 0};
    double values[BENCH_MAX_COLUMNS], peer = NAN;
    if (!bench_begins(&session->pace, name))
        return;
    tml_status status = bench_op_beside_copy(session, desc, name, &op, &times);
    if (!status && desc->type == TML_U32)
        peer = bench_peer_seconds(session, bench_kind_name(desc->kind), desc->count, percent);
    if (!(peer > 0))
        peer = NAN;
    bench_copy_values(&times, op.bytes, values);
    values[BENCH_COPY_COLUMN_COUNT] = peer;
    values[BENCH_COPY_COLUMN_COUNT + 1] = times.time.median_s / peer;
    values[BENCH_COPY_COLUMN_COUNT + 2] = op.result_count ? (double)op.result_count : NAN;
    values[BENCH_COPY_COLUMN_COUNT + 3] = (double)desc->count / times.time.median_s;
    bench_row(session, name, status, values);
    bench_op_destroy(&op);
}

/* The value below which percent of the array lies, to one part in 65536 of the range of u32. */
static uint32_t threshold_of(const uint32_t *data, uint64_t count, double percent)
{
    static uint64_t bins[1 << 16];
    uint64_t below = 0;
    memset(bins, 0, sizeof bins);
    for (uint64_t i = 0; i < count; i++)
        bins[data[i] >> 16]++;
    for (uint32_t bin = 0; bin < 1 << 16; bin++) {
        if ((double)below >= percent / 100 * (double)count)
            return bin << 16;
        below += bins[bin];
    }
    return UINT32_MAX;
}

/* A sort's rows: of the array and of shorter arrays, since the speed of a sort depends on the
 * length. */
static void measure_lengths(bench_session *session, const bench_desc *desc)
{
    for (uint64_t count = 64 << 10; count < desc->count; count *= 16) {
        bench_desc shorter = *desc;
        char name[64];
        shorter.count = count;
        snprintf(name, sizeof name, "%s, %u K", bench_kind_name(desc->kind),
                 (unsigned)(count >> 10));
        measure(session, &shorter, name, 0);
    }
    measure(session, desc, bench_kind_name(desc->kind), 0);
}

/* The rows of a sort of segments, whose speed depends on the segments' lengths. */
static void measure_segments(bench_session *session, const bench_desc *desc)
{
    static const uint32_t lengths[] = {8, 64, 1024, 65536};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        bench_desc one = *desc;
        char name[64];
        one.keep_below = lengths[i];
        snprintf(name, sizeof name, "%s, %u", bench_kind_name(desc->kind), lengths[i]);
        measure(session, &one, name, 0);
    }
}

/* The rows of top_k: of some k, up to an eighth of the array. */
static void measure_ranks(bench_session *session, bench_desc desc)
{
    for (desc.k = 1 << 10; desc.k <= desc.count / 8 && desc.k <= 1 << 20; desc.k *= 32) {
        char name[64];
        snprintf(name, sizeof name, "top_k, %u K", (unsigned)(desc.k >> 10));
        measure(session, &desc, name, 0);
    }
}

/* A histogram's rows: two for each number of bins, with elements spread over all bins, and with all
 * elements in one bin. In a peer's line, the percentage is the number of bins, negative for all in
 * one. */
static void measure_bins(bench_session *session, const streams_args *args, const bench_desc *desc)
{
    for (uint32_t i = 0; i < 2 * args->bins.count; i++) {
        bench_desc binned = *desc;
        char name[64];
        binned.bins = (uint32_t)args->bins.values[i / 2];
        binned.is_one_bin = i % 2;
        snprintf(name, sizeof name, "%s, %s%u bins", bench_kind_name(desc->kind),
                 i % 2 ? "one of " : "", binned.bins);
        measure(session, &binned, name, i % 2 ? -(double)binned.bins : binned.bins);
    }
}

/* An operation's rows: one, or one for each percentage or length. */
static void measure_kind(bench_session *session, const streams_args *args, bench_kind kind,
                         const tml_array *array)
{
    bench_desc desc = {
        .kind = kind, .type = array->type, .data = array->data, .count = array->count};
    if (kind == BENCH_SORT || kind == BENCH_PAIRS) {
        measure_lengths(session, &desc);
        return;
    }
    if (kind == BENCH_SEGMENT_SORT || kind == BENCH_SEGMENT_KEYS) {
        measure_segments(session, &desc);
        return;
    }
    if (kind == BENCH_TOP_K) {
        measure_ranks(session, desc);
        return;
    }
    if (kind == BENCH_HISTOGRAM && array->type == TML_U32 && args->bins.count) {
        measure_bins(session, args, &desc);
        return;
    }
    if (!bench_kind_has_limit(kind)) {
        measure(session, &desc, bench_kind_name(kind), 0);
        return;
    }
    static const double usual[] = {1, 10, 50, 90};
    uint32_t rows = args->keep.count ? args->keep.count : 4;
    for (uint32_t i = 0; i < rows; i++) {
        double percent = args->keep.count ? args->keep.values[i] : usual[i];
        char name[64];
        desc.keep_below = args->input ? threshold_of(array->data, array->count, percent)
                                      : bench_stream_threshold(percent);
        snprintf(name, sizeof name, "%s, %g %%", bench_kind_name(kind), percent);
        measure(session, &desc, name, percent);
    }
}

/* Hashed words; floats become the words' values in [0, 1). */
static void fill_array(tml_context *tml, tml_array *array)
{
    bench_stream_fill(tml, array->size / 4, array->data);
    if (array->type == TML_F32)
        for (uint64_t i = 0; i < array->count; i++)
            ((float *)array->data)[i] = (float)(((uint32_t *)array->data)[i] >> 8) * 0x1p-24f;
    if (array->type == TML_F64)
        for (uint64_t i = 0; i < array->count; i++)
            ((double *)array->data)[i] = (double)(((uint64_t *)array->data)[i] >> 11) * 0x1p-53;
}

static tml_status load_array(tml_context *tml, const streams_args *args, tml_array *array)
{
    if (args->input)
        return tml_array_load(tml, args->input, 0, UINT64_MAX, array);
    *array = (tml_array){.type = args->type ? types[args->type] : TML_U32};
    array->count = args->count & ~UINT64_C(3); /* words of four bytes are filled */
    array->size = array->count * tml_type_size(array->type);
    array->data = tml_alloc(tml, array->size);
    if (!array->data)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "the array needs %zu bytes", array->size);
    fill_array(tml, array);
    return TML_OK;
}

static void free_array(tml_context *tml, const streams_args *args, tml_array *array)
{
    if (args->input)
        tml_array_free(tml, array);
    else
        tml_free(tml, array->data, array->size);
}

/* Is the type one that the operation's check knows? */
static bool is_measured(bench_kind kind, tml_type type)
{
    switch (kind) {
    case BENCH_SCAN:
        return type != TML_U8 && type != TML_U16;
    case BENCH_REDUCE:
    case BENCH_SORT:
    case BENCH_TOP_K:
        return true;
    case BENCH_HISTOGRAM:
        return type == TML_U8 || type == TML_U16 || type == TML_U32;
    default:
        return type == TML_U32;
    }
}

static bool is_known(tml_type type)
{
    for (size_t i = 1; i < sizeof types / sizeof types[0]; i++)
        if (types[i] == type)
            return true;
    return false;
}

/* The operations that the operands name; all if there are no operands. */
static int find_kinds(const streams_args *args, char **operands, uint32_t count,
                      bool is_wanted[BENCH_KIND_COUNT])
{
    bool has_limit = count == 0;
    for (int kind = 0; kind < BENCH_SURFACE; kind++)
        is_wanted[kind] = count == 0;
    for (uint32_t i = 0; i < count; i++) {
        int kind = 0;
        while (kind < BENCH_SURFACE && strcmp(operands[i], bench_kind_name(kind)) != 0)
            kind++;
        if (kind == BENCH_SURFACE)
            return cli_usage("%s is no operation (expected " OPERATIONS ")", operands[i]);
        is_wanted[kind] = true;
        has_limit |= bench_kind_has_limit(kind);
        if (args->type && !is_measured(kind, types[args->type]))
            return cli_usage("--type %s is not measured of %s", tml_type_name(types[args->type]),
                             operands[i]);
    }
    for (uint32_t i = 0; i < args->keep.count; i++)
        if (!(args->keep.values[i] >= 0 && args->keep.values[i] <= 100))
            return cli_usage("--keep %g is no percentage", args->keep.values[i]);
    for (uint32_t i = 0; i < args->bins.count; i++)
        if (!(args->bins.values[i] >= 1 && args->bins.values[i] <= 1 << 30))
            return cli_usage("--bins %g is not from 1 to 2^30", args->bins.values[i]);
    if (args->bins.count && !is_wanted[BENCH_HISTOGRAM])
        return cli_usage("--bins is for histogram");
    if (args->keep.count && !has_limit)
        return cli_usage("--keep is for compact, flags, partition, unique and segments");
    if (args->input && args->type)
        return cli_usage("--type is for generated numbers; %s has a type", args->input);
    return CLI_OK;
}

static int run_streams(void *user, char **operands, uint32_t operand_count)
{
    const streams_args *args = user;
    static bench_session session;
    bool is_wanted[BENCH_KIND_COUNT];
    tml_array array = {.count = 0};
    int code = find_kinds(args, operands, operand_count, is_wanted);
    if (code != CLI_OK)
        return code;
    if (!bench_open(&session, &args->bench, "streams", columns))
        return session.code;
    tml_status status = load_array(session.tml, args, &array);
    if (!status && !is_known(array.type))
        status = tml_error(session.tml, TML_ERROR_UNSUPPORTED, "%s: no operation on %s is measured",
                           args->input, tml_type_name(array.type));
    bench_fail(&session, status);
    if (!status) {
        bench_title(&session, "%s%s%llu %s", args->input ? args->input : "",
                    args->input ? ", " : "", (unsigned long long)array.count,
                    tml_type_name(array.type));
        for (int kind = 0; kind < BENCH_SURFACE; kind++)
            if (is_wanted[kind] && is_measured(kind, array.type))
                measure_kind(&session, args, kind, &array);
    }
    free_array(session.tml, args, &array);
    return bench_close(&session);
}

const cli_command bench_cmd_streams = {
    {"streams", "[OPERATION...]", "Measures operations on streams as shares of a copy's speed",
     "OPERATION is " OPERATIONS "; all of them where none is named.\n\n"
     "Checks the result against a plain loop, then runs the operation and a copy that moves as "
     "many "
     "bytes in turn (memcpy, or the device's copy). GB/s counts each input byte once and each "
     "output byte once; the share of a copy is the copy's median time over the operation's. On a "
     "GPU the device's clock counts, inputs lie in its memory, and small operations take turns on "
     "enough of them that no cache holds them.",
     "trommel-bench streams compact --count 128M\n"
     "  compact 2^27 numbers, keeping 1, 10, 50 and 90 percent\n"
     "trommel-bench streams histogram --bins 256,65536,1048576 --count 256M\n"
     "  histograms of random numbers, and of numbers that are all equal\n"
     "trommel-bench streams --backend vulkan --count 256M --peers cub.txt\n"
     "  everything on a GPU, beside times that peers_cub printed\n",
     streams_options, .without = OPT_MEMORY},
    .args_size = sizeof(streams_args),
    .run = run_streams};
