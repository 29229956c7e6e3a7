/* trommel compact, scan, reduce: the stream operations on NPY arrays, from a shell. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <trommel/io.h>

#ifdef TML_GL
#    include <trommel/gl.h>
#endif

#include "cli.h"
#include "json.h"
#include "progress.h"
#include "stream_kernels.h"
#include "text.h"

/* ---- shared ---------------------------------------------------------------------------------- */

/* An array from a file as a buffer; the buffer uses the array's memory. */
typedef struct loaded {
    tml_array array;
    tml_buffer buffer;
    double seconds; /* that loading took */
} loaded;

static int load(const char *command, tml_context *tml, const char *path, uint64_t memory,
                loaded *out)
{
    memset(out, 0, sizeof *out);
    double start = cli_now();
    tml_status status = tml_array_load(tml, path, &out->array);
    if (status != TML_OK)
        return cli_fail(command, tml, status);
    if (memory && out->array.size > memory)
        return cli_error(command, "%s: has %zu bytes, --memory allows %" PRIu64, path,
                         out->array.size, memory);
    if (tml_type_components(out->array.type) != 1)
        return cli_error(command,
                         "%s: elements are %s, needs scalars; give the array one dimension", path,
                         tml_type_name(out->array.type));
    status =
        cli_lend(tml, out->array.type, out->array.count, out->array.data, "input", &out->buffer);
    out->seconds = cli_now() - start;
    return cli_fail(command, tml, status);
}

static void unload(tml_context *tml, loaded *in)
{
    tml_buffer_destroy(tml, in->buffer);
    tml_array_free(tml, &in->array);
}

/* Replaces the input by its widened form where the operation has no form for its type. */
static tml_status widen(tml_context *tml, loaded *in)
{
    tml_buffer wide;
    tml_type type;
    const tml_kernel *kernel = stream_widen(in->array.type, &type);
    if (!kernel)
        return TML_OK;
    tml_buffer_desc desc = {.type = type, .count = in->array.count, .label = "widened input"};
    tml_status status = tml_buffer_create(tml, &desc, &wide);
    if (status != TML_OK)
        return status;
    tml_map_desc map = {.kernel = kernel, .in = {in->buffer}, .out = wide};
    status = tml_map_stream(tml, &map);
    if (status != TML_OK) {
        tml_buffer_destroy(tml, wide);
        return status;
    }
    tml_buffer_destroy(tml, in->buffer);
    in->buffer = wide;
    return TML_OK;
}

/* Writes the first count elements of buffer. */
static tml_status save(tml_context *tml, const char *path, tml_buffer buffer, uint64_t count)
{
    tml_array array = {.count = count};
    tml_buffer_info(tml, buffer, &array.type, NULL);
    array.size = count * tml_type_size(array.type);
    tml_status status = tml_map(tml, buffer, &array.data);
    if (status != TML_OK)
        return status;
    status = tml_array_save(tml, path, &array);
    tml_unmap(tml, buffer);
    return status;
}

/* What all three commands report about their run. */
static void report(const cli_common *common, json *j, const char *what, const loaded *in,
                   double seconds, const char *out_path)
{
    char text[TEXT_SIZE], rate[TEXT_SIZE];
    double bytes_a_second = seconds > 0 ? (double)in->array.size / seconds : 0;
    if (common->json) {
        json_count(j, "count_in", in->array.count);
        json_text(j, "type", tml_type_name(in->array.type));
        json_number(j, "load_seconds", in->seconds);
        json_number(j, "seconds", seconds);
        json_number(j, "input_bytes_per_second", bytes_a_second);
        json_text(j, "output", out_path);
    } else {
        printf("%s of %s %s", what, text_count(text, in->array.count),
               tml_type_name(in->array.type));
        printf(" in %s, %s/s\n", text_seconds(text, seconds),
               text_bytes(rate, (uint64_t)bytes_a_second));
    }
}

/* ---- compact --------------------------------------------------------------------------------- */

typedef struct compact_args {
    cli_common common;
    opt_numbers min, max; /* one number, or none */
    bool nonzero, indices;
    const char *output;
    uint32_t method; /* tml_method */
    const char *debug_pyramid;
} compact_args;

static const opt compact_options[] = {
    {OPT_SECTION, .help = "Which elements to keep"},
    {OPT_NUMBERS, "min", .argument = "A", .help = "those not below A",
     .offset = offsetof(compact_args, min), .count_most = 1},
    {OPT_NUMBERS, "max", .argument = "B", .help = "those not above B",
     .offset = offsetof(compact_args, max), .count_most = 1},
    {OPT_FLAG, "nonzero", .help = "those that are not 0 (NaN is not 0)",
     .offset = offsetof(compact_args, nonzero)},
    {OPT_SECTION, .help = "Output"},
    {OPT_FILE, "output", 'o', "FILE.npy", .help = "where to write",
     .offset = offsetof(compact_args, output)},
    {OPT_FLAG, "indices",
     .help = "write the positions of the kept elements (u64), not the elements",
     .offset = offsetof(compact_args, indices)},
    {OPT_CHOICE, "method",
     .choices = "auto|look-back|reduce-then-scan|histopyramid|scan-search|bitonic",
     .help = "how counts become positions; the result is the same", .fallback = "auto",
     .offset = offsetof(compact_args, method)},
#ifdef TML_GL
    {OPT_FILE, "debug-pyramid", .argument = "FILE.png",
     .help = "with --backend gl: a picture of the HistoPyramid, each node coloured by the share "
             "that it keeps",
     .offset = offsetof(compact_args, debug_pyramid)},
#endif
    {0},
};

/* The compaction, or with --debug-pyramid its picture, too. */
static tml_status compact_or_paint(tml_context *tml, const compact_args *args,
                                   const tml_compact_desc *desc, uint64_t count)
{
#ifdef TML_GL
    if (args->debug_pyramid) {
        uint32_t width, height;
        tml_gl_pyramid_picture_size(count, &width, &height);
        size_t size = (size_t)width * height * 4;
        uint8_t *rgba = tml_alloc(tml, size);
        if (!rgba)
            return tml_error(tml, TML_OUT_OF_MEMORY, "the picture needs %zu bytes", size);
        tml_status status = tml_gl_pyramid_picture(tml, desc, rgba);
        if (status == TML_OK)
            status = tml_png_save(tml, args->debug_pyramid, rgba, width, height);
        tml_free(tml, rgba, size);
        return status;
    }
#endif
    (void)args;
    (void)count;
    return tml_compact(tml, desc);
}

/* Compacts in into out. The output has room for all; *kept is how many there are. */
static tml_status compact(tml_context *tml, const compact_args *args, const loaded *in,
                          tml_buffer out, uint64_t *kept)
{
    tml_buffer count;
    tml_compact_desc desc = {.method = (tml_method)args->method, .keep = {.in = {in->buffer}}};
    double lower = args->min.count ? args->min.values[0] : -INFINITY;
    double upper = args->max.count ? args->max.values[0] : INFINITY;
    bool none = false;

    desc.keep.kernel = args->nonzero
                           ? stream_nonzero(in->array.type)
                           : stream_between(in->array.type, lower, upper, &desc.keep.params, &none);
    *kept = 0;
    if (none || in->array.count == 0)
        return TML_OK;
    if (args->indices)
        desc.indices = out;
    else
        desc.payloads[0] = (tml_payload){in->buffer, out};
    tml_status status =
        tml_buffer_create(tml, &(tml_buffer_desc){.type = TML_U64, .count = 1}, &count);
    if (status != TML_OK)
        return status;
    desc.count = count;
    status = compact_or_paint(tml, args, &desc, in->array.count);
    if (status == TML_OK)
        status = tml_read_count(tml, count, kept);
    tml_buffer_destroy(tml, count);
    return status;
}

static int run_compact(tml_context *tml, const compact_args *args, const char *path)
{
    loaded in;
    tml_buffer out = {0};
    uint64_t kept = 0;
    int code = load("compact", tml, path, args->common.memory, &in);
    if (code != CLI_OK) {
        unload(tml, &in);
        return code;
    }
    tml_buffer_desc desc = {.type = args->indices ? TML_U64 : in.array.type,
                            .count = in.array.count,
                            .label = "output"};
    tml_status status = tml_buffer_create(tml, &desc, &out);
    double start = cli_now();
    if (status == TML_OK)
        status = compact(tml, args, &in, out, &kept);
    double seconds = cli_now() - start;
    if (status == TML_OK)
        status = save(tml, args->output, out, kept);
    code = cli_fail("compact", tml, status);
    progress_clear();
    if (code == CLI_OK && args->common.json) {
        json j = {.out = stdout};
        json_open(&j, NULL, '{');
        report(&args->common, &j, "compact", &in, seconds, args->output);
        json_count(&j, "count_out", kept);
        json_close(&j, '{');
    } else if (code == CLI_OK && !args->common.quiet) {
        char text[TEXT_SIZE];
        report(&args->common, NULL, "compact", &in, seconds, args->output);
        printf("%s kept (%.3g %%), written to %s\n", text_count(text, kept),
               in.array.count ? 100.0 * (double)kept / (double)in.array.count : 0, args->output);
    }
    tml_buffer_destroy(tml, out);
    unload(tml, &in);
    return code;
}

static int compact_run(void *args, char **operands, uint32_t operand_count)
{
    const compact_args *a = args;
    (void)operand_count;
    bool bounded = a->min.count || a->max.count;
    if (bounded == a->nonzero)
        return cli_usage("compact", a->nonzero ? "--nonzero excludes --min and --max; choose one"
                                               : "nothing says what to keep; give --min, --max "
                                                 "or --nonzero");
    if (!a->output)
        return cli_usage("compact", "--output is missing");
    tml_context *tml = cli_open("compact", &a->common);
    if (!tml)
        return CLI_FAILED;
    int code = run_compact(tml, a, operands[0]);
    cli_close(tml);
    return code;
}

const cli_command cmd_compact = {
    .options = {.name = "compact",
                .operands = "IN.npy",
                .summary = "Keeps the elements of an array that lie in a range or are not zero",
                .about = "The elements stay in their order. Bounds are included; for integers a "
                         "fractional bound counts inwards.",
                .examples = "  trommel compact in.npy --min 0.5 -o out.npy\n"
                            "  trommel compact labels.npy --nonzero --indices -o where.npy\n",
                .options = compact_options,
                .shared = cli_shared_options,
                .least_operands = 1,
                .most_operands = 1},
    .args_size = sizeof(compact_args),
    .run = compact_run,
};

/* ---- scan ------------------------------------------------------------------------------------ */

typedef struct scan_args {
    cli_common common;
    bool inclusive;
    const char *output;
} scan_args;

static const opt scan_options[] = {
    {OPT_SECTION, .help = "Scan"},
    {OPT_FLAG, "inclusive", .help = "let each sum include its own element (default: exclude it)",
     .offset = offsetof(scan_args, inclusive)},
    {OPT_FILE, "output", 'o', "FILE.npy", .help = "where to write",
     .offset = offsetof(scan_args, output)},
    {0},
};

/* Integers are summed in 64 bits, so that no shell user meets a sum modulo 2^32. */
static tml_type sum_type(tml_type type)
{
    if (type == TML_F64)
        return TML_F64;
    return tml_type_is_float(type) ? TML_F32 : tml_type_is_signed(type) ? TML_I64 : TML_U64;
}

static int run_scan(tml_context *tml, const scan_args *args, const char *path)
{
    loaded in;
    tml_buffer out = {0};
    int code = load("scan", tml, path, args->common.memory, &in);
    if (code != CLI_OK) {
        unload(tml, &in);
        return code;
    }
    tml_status status = widen(tml, &in);
    tml_buffer_desc desc = {
        .type = sum_type(in.array.type), .count = in.array.count, .label = "output"};
    if (status == TML_OK)
        status = tml_buffer_create(tml, &desc, &out);
    double start = cli_now();
    if (status == TML_OK)
        status = tml_scan(
            tml, &(tml_scan_desc){.in = in.buffer, .inclusive = args->inclusive, .out = out});
    double seconds = cli_now() - start;
    if (status == TML_OK)
        status = save(tml, args->output, out, in.array.count);
    code = cli_fail("scan", tml, status);
    progress_clear();
    if (code == CLI_OK && args->common.json) {
        json j = {.out = stdout};
        json_open(&j, NULL, '{');
        report(&args->common, &j, "scan", &in, seconds, args->output);
        json_text(&j, "output_type", tml_type_name(desc.type));
        json_close(&j, '{');
    } else if (code == CLI_OK && !args->common.quiet) {
        report(&args->common, NULL, "scan", &in, seconds, args->output);
        printf("sums written to %s as %s\n", args->output, tml_type_name(desc.type));
    }
    tml_buffer_destroy(tml, out);
    unload(tml, &in);
    return code;
}

static int scan_run(void *args, char **operands, uint32_t operand_count)
{
    const scan_args *a = args;
    (void)operand_count;
    if (!a->output)
        return cli_usage("scan", "--output is missing");
    tml_context *tml = cli_open("scan", &a->common);
    if (!tml)
        return CLI_FAILED;
    int code = run_scan(tml, a, operands[0]);
    cli_close(tml);
    return code;
}

const cli_command cmd_scan = {
    .options = {.name = "scan",
                .operands = "IN.npy",
                .summary = "Writes the running sums of an array",
                .about = "Sums of integers are written as u64 or i64, sums of floats in the "
                         "input's type (f16 as f32).",
                .examples = "  trommel scan counts.npy -o offsets.npy\n",
                .options = scan_options,
                .shared = cli_shared_options,
                .least_operands = 1,
                .most_operands = 1},
    .args_size = sizeof(scan_args),
    .run = scan_run,
};

/* ---- reduce ---------------------------------------------------------------------------------- */

enum { FOLD_COUNT = TML_MEAN + 1 };

typedef struct reduce_args {
    cli_common common;
    bool folds[FOLD_COUNT]; /* by tml_fold; none: all */
} reduce_args;

static const char *const fold_names[FOLD_COUNT] = {
    [TML_SUM] = "sum",       [TML_MIN] = "min",       [TML_MAX] = "max",
    [TML_ARGMIN] = "argmin", [TML_ARGMAX] = "argmax", [TML_MEAN] = "mean",
};

#define FOLD_OPTION(fold, name, text)                                                              \
    {                                                                                              \
        OPT_FLAG, name, .help = text, .offset = offsetof(reduce_args, folds) + (fold)              \
    }
static const opt reduce_options[] = {
    {OPT_SECTION, .help = "What to compute (default: all)"},
    FOLD_OPTION(TML_SUM, "sum", "the sum: exact for integers, in double for floats"),
    FOLD_OPTION(TML_MEAN, "mean", "the mean"),
    FOLD_OPTION(TML_MIN, "min", "the least element; NaN is ignored"),
    FOLD_OPTION(TML_MAX, "max", "the greatest element; NaN is ignored"),
    FOLD_OPTION(TML_ARGMIN, "argmin", "the position of the first least element"),
    FOLD_OPTION(TML_ARGMAX, "argmax", "the position of the first greatest element"),
    {0},
};

static tml_type fold_type(tml_fold fold, tml_type type)
{
    switch (fold) {
    case TML_SUM:
        return tml_type_is_float(type) ? TML_F64 : sum_type(type);
    case TML_MEAN:
        return TML_F64;
    case TML_ARGMIN:
    case TML_ARGMAX:
        return TML_U64;
    default:
        return type;
    }
}

/* The one element of buffer as text that is a JSON number as well, or "nan", "inf", "-inf". */
static tml_status element_text(tml_context *tml, tml_buffer buffer, char *text)
{
    union {
        uint8_t u8;
        int8_t i8;
        uint16_t u16;
        int16_t i16;
        uint32_t u32;
        int32_t i32;
        uint64_t u64;
        int64_t i64;
        float f32;
        double f64;
    } value;
    tml_type type = TML_TYPE_NONE;
    tml_buffer_info(tml, buffer, &type, NULL);
    tml_status status = tml_read(tml, buffer, &value);
    if (status != TML_OK)
        return status;
    uint64_t count = type == TML_U8    ? value.u8
                     : type == TML_U16 ? value.u16
                     : type == TML_U32 ? value.u32
                                       : value.u64;
    int64_t number = type == TML_I8    ? value.i8
                     : type == TML_I16 ? value.i16
                     : type == TML_I32 ? value.i32
                                       : value.i64;
    if (type == TML_F32)
        text_float(text, value.f32);
    else if (type == TML_F64)
        text_number(text, value.f64);
    else if (tml_type_is_signed(type))
        snprintf(text, TEXT_SIZE, "%" PRId64, number);
    else
        snprintf(text, TEXT_SIZE, "%" PRIu64, count);
    return TML_OK;
}

static tml_status reduce(tml_context *tml, tml_fold fold, tml_buffer in, char *text)
{
    tml_type type = TML_TYPE_NONE;
    tml_buffer out;
    tml_buffer_info(tml, in, &type, NULL);
    tml_buffer_desc desc = {.type = fold_type(fold, type), .count = 1, .label = "result"};
    tml_status status = tml_buffer_create(tml, &desc, &out);
    if (status != TML_OK)
        return status;
    status = tml_reduce(tml, &(tml_reduce_desc){.fold = fold, .in = in, .out = out});
    if (status == TML_OK)
        status = element_text(tml, out, text);
    tml_buffer_destroy(tml, out);
    return status;
}

static int run_reduce(tml_context *tml, const reduce_args *args, const char *path)
{
    loaded in;
    char texts[FOLD_COUNT][TEXT_SIZE];
    bool all = true;
    int code = load("reduce", tml, path, args->common.memory, &in);
    if (code != CLI_OK) {
        unload(tml, &in);
        return code;
    }
    for (int f = 0; f < FOLD_COUNT; f++)
        all = all && !args->folds[f];
    /* Only so that halves can be printed: every fold takes every type. */
    tml_status status = in.array.type == TML_F16 ? widen(tml, &in) : TML_OK;
    double start = cli_now();
    for (int f = 0; f < FOLD_COUNT && status == TML_OK; f++)
        if (all || args->folds[f])
            status = reduce(tml, (tml_fold)f, in.buffer, texts[f]);
    double seconds = cli_now() - start;
    code = cli_fail("reduce", tml, status);
    progress_clear();

    json j = {.out = stdout};
    if (code == CLI_OK && args->common.json) {
        json_open(&j, NULL, '{');
        report(&args->common, &j, "reduce", &in, seconds, NULL);
    }
    for (int f = 0; f < FOLD_COUNT && code == CLI_OK; f++) {
        if (!all && !args->folds[f])
            continue;
        if (args->common.json)
            json_literal(&j, fold_names[f], texts[f]);
        else
            printf("%-6s %s\n", fold_names[f], texts[f]);
    }
    if (code == CLI_OK && args->common.json)
        json_close(&j, '{');
    unload(tml, &in);
    return code;
}

static int reduce_run(void *args, char **operands, uint32_t operand_count)
{
    const reduce_args *a = args;
    (void)operand_count;
    tml_context *tml = cli_open("reduce", &a->common);
    if (!tml)
        return CLI_FAILED;
    int code = run_reduce(tml, a, operands[0]);
    cli_close(tml);
    return code;
}

const cli_command cmd_reduce = {
    .options = {.name = "reduce",
                .operands = "IN.npy",
                .summary = "Prints sum, mean, extremes and their positions in an array",
                .about = "Sums of integers are exact modulo 2^64. NaN makes sum and mean NaN.",
                .examples = "  trommel reduce in.npy --sum\n",
                .options = reduce_options,
                .shared = cli_shared_options,
                .least_operands = 1,
                .most_operands = 1},
    .args_size = sizeof(reduce_args),
    .run = reduce_run,
};
