/* trommel scan: writes an array's running sums, minima or maxima. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "arrays.h"
#include "cli.h"
#include "ranks.h"
#include "report/fields.h"
#include "report/progress.h"
#include "report/text.h"

typedef struct scan_args {
    cli_common common;
    uint32_t fold;     /* tml_fold */
    opt_numbers start; /* one number, or none */
    bool inclusive;
    const char *output;
} scan_args;

static const opt scan_options[] = {
    {OPT_SECTION, .help = "Scan"},
    {OPT_CHOICE, "fold", .choices = "sum|min|max", .brief = "sums, or the least or largest so far",
     .help = "what of the elements so far: their sum, the least or the largest; the latter two "
             "pass over NaN",
     .fallback = "sum", .offset = offsetof(scan_args, fold)},
    {OPT_NUMBERS, "start", .argument = "V", .brief = "a number before the first element",
     .help = "a number that comes before the first element (default: of sums 0, else the type's "
             "largest or smallest)",
     .count_most = 1, .offset = offsetof(scan_args, start)},
    {OPT_FLAG, "inclusive", .brief = "let each result include its own element",
     .help = "let each result include its own element (default: exclude it)",
     .offset = offsetof(scan_args, inclusive)},
    {OPT_OUTPUT, "output", 'o', "FILE.npy", .brief = "", .help = "where to write",
     .offset = offsetof(scan_args, output), .endings = ".npy"},
    {0},
};

static tml_type scan_type(const scan_args *args, tml_type type)
{
    if (args->fold == TML_FOLD_SUM)
        return array_sum_type(type);
    if (tml_type_size(type) >= 4)
        return type;
    return tml_type_is_float(type) ? TML_F32 : tml_type_is_signed(type) ? TML_I32 : TML_U32;
}

static void tell_scan(const scan_args *args, const char *path, const array_input *in,
                      double seconds)
{
    static const char *const what[] = {"sums", "minima", "maxima"};
    field_heading("%s", text_file_name(path));
    array_tell(path, in);
    field_text("output_type", what[args->fold], "of %s",
               tml_type_name(scan_type(args, in->array.type)));
    array_tell_run(in, seconds, args->output);
}

/* The result so far: an integer, for sums modulo 2^64, or a double for floats. */
typedef array_number running;

static running element_of(tml_type type, running r)
{
    if (type == TML_F32) {
        const float narrow = (float)r.real;
        memcpy(&r, &narrow, sizeof narrow);
    } else if (tml_type_size(type) == sizeof(uint32_t)) {
        const uint32_t narrow = (uint32_t)r.whole;
        memcpy(&r, &narrow, sizeof narrow);
    }
    return r;
}

/* Sets out to the value before the first element. */
static int scan_start(const scan_args *args, tml_type type, running *out)
{
    const unsigned bits = 8 * (unsigned)tml_type_size(type);
    const bool is_signed = tml_type_is_signed(type), is_min = args->fold == TML_FOLD_MIN;
    const uint64_t largest = UINT64_MAX >> (64 - bits + is_signed);
    const uint64_t least = is_signed ? ~largest : 0;
    *out = (running){.whole = 0};
    if (args->start.count == 0) {
        if (tml_type_is_float(type) && args->fold != TML_FOLD_SUM)
            out->real = is_min ? INFINITY : -INFINITY;
        else if (args->fold != TML_FOLD_SUM)
            out->whole = is_min ? largest : least;
        return CLI_OK;
    }
    const double value = args->start.values[0];
    if (tml_type_is_float(type)) {
        out->real = type == TML_F32 ? (float)value : value;
        return CLI_OK;
    }
    const double end = ldexp(1, (int)bits - is_signed);
    if (!(value < end && value >= (is_signed ? -end : 0)) || value != floor(value))
        return cli_error("--start %g: the results are %s, needs a whole number of that type", value,
                         tml_type_name(type));
    out->whole = value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
    return CLI_OK;
}

/* Whether a orders before b: -0 before 0. NaN is before nothing. */
static bool running_less(tml_type type, running a, running b)
{
    if (tml_type_is_float(type))
        return a.real < b.real || (a.real == b.real && signbit(a.real) && !signbit(b.real));
    return tml_type_is_signed(type) ? (int64_t)a.whole < (int64_t)b.whole : a.whole < b.whole;
}

static void running_add(const scan_args *args, tml_type type, running *sum, running more)
{
    if (args->fold != TML_FOLD_SUM) {
        if (args->fold == TML_FOLD_MIN ? running_less(type, more, *sum)
                                       : running_less(type, *sum, more))
            *sum = more;
    } else if (tml_type_is_float(type)) {
        sum->real += more.real;
    } else {
        sum->whole += more.whole;
    }
}

static void add_to_all(tml_type type, void *data, uint64_t count, running sum)
{
    for (uint64_t i = 0; i < count && type == TML_F32; i++)
        ((float *)data)[i] = (float)((double)((float *)data)[i] + sum.real);
    for (uint64_t i = 0; i < count && type == TML_F64; i++)
        ((double *)data)[i] += sum.real;
    for (uint64_t i = 0; i < count && !tml_type_is_float(type); i++)
        ((uint64_t *)data)[i] += sum.whole;
}

/* Scans in into out. start: the value before the first element; NULL: the fold's neutral element.
 * all: receives the result over all elements; NULL for sums. */
static tml_status scan(tml_context *tml, const scan_args *args, tml_buffer in, tml_buffer out,
                       const running *start, running *all)
{
    tml_type type;
    tml_buffer first = {0}, total = {0};
    tml_buffer_describe(tml, out, &type, NULL);
    const running element = start ? element_of(type, *start) : (running){.whole = 0};
    tml_status status = start ? cli_make_buffer(tml, type, 1, &element, "start", &first) : TML_OK;
    if (status == TML_OK && all)
        status = cli_make_buffer(tml, type, 1, &element, "start", &total);
    TML_THEN(status, tml_scan(tml, &(tml_scan_desc){.in = in,
                                                    .inclusive = args->inclusive,
                                                    .out = out,
                                                    .total = total,
                                                    .fold = (tml_fold)args->fold,
                                                    .start = first}));
    running last = {.whole = 0};
    if (status == TML_OK && all) {
        status = tml_buffer_read(tml, total, &last);
        *all = array_number_of(type, &last);
    }
    tml_buffer_destroy(tml, first);
    tml_buffer_destroy(tml, total);
    return status;
}

/* Adds a piece's sum; for floats, in double. */
static tml_status add_piece(tml_context *tml, const scan_args *args, const array_input *in,
                            tml_type type, running *sum)
{
    tml_buffer total = {0};
    running added = {.whole = 0};
    tml_status status =
        cli_make_buffer(tml, tml_type_is_float(type) ? TML_F64 : type, 1, NULL, "sum", &total);
    TML_THEN(status, tml_reduce(tml, &(tml_reduce_desc){.in = in->buffer,
                                                        .folds = {{TML_FOLD_SUM, total}}}));
    TML_THEN(status, tml_buffer_read(tml, total, &added));
    running_add(args, type, sum, added);
    tml_buffer_destroy(tml, total);
    return status;
}

/* Continues from *sum with piece k. to: receives the results; NULL: only update *sum. */
static tml_status scan_piece(const array_parts *p, const scan_args *args, uint64_t k,
                             tml_array_stream *to, running *sum)
{
    array_input in;
    tml_buffer out = {0};
    tml_type type = scan_type(args, p->all.array.type);
    const bool is_sum = args->fold == TML_FOLD_SUM;
    const running before = *sum;
    uint64_t at;
    tml_status status = array_parts_load(p, k, true, &in, &at);
    if (status == TML_OK && (to || !is_sum))
        status = array_output(p->tml, type, in.array.count, &out);
    if (status == TML_OK && is_sum)
        status = add_piece(p->tml, args, &in, type, sum);
    if (status == TML_OK && (to || !is_sum))
        status = scan(p->tml, args, in.buffer, out, is_sum ? NULL : &before, is_sum ? NULL : sum);
    void *data = NULL;
    if (status == TML_OK && to && is_sum)
        status = tml_buffer_map(p->tml, out, &data);
    if (data) {
        add_to_all(type, data, in.array.count, before);
        tml_buffer_unmap(p->tml, out);
    }
    if (status == TML_OK && to)
        status = array_parts_save(p, to, out, at, in.array.count);
    tml_buffer_destroy(p->tml, out);
    array_unload(p->tml, &in);
    return status;
}

/* Sets *sum to what comes before this share: start and all earlier shares. */
static tml_status scan_ranks(const array_parts *p, const scan_args *args, running start,
                             running *sum)
{
    uint64_t size = ranks_count() * sizeof *sum;
    running *all = tml_alloc(p->tml, size), before = start;
    if (!all)
        return tml_error(p->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for %" PRIu64 " bytes", size);
    tml_status status = ranks_gather(p->tml, &sum->whole, 1, &all->whole);
    for (uint32_t r = 0; r < ranks_mine() && status == TML_OK; r++)
        running_add(args, scan_type(args, p->all.array.type), &before, all[r]);
    *sum = before;
    tml_free(p->tml, all, size);
    return status;
}

static int scan_parts(const array_parts *p, const scan_args *args)
{
    const tml_type type = scan_type(args, p->all.array.type);
    running first, sum;
    int code = scan_start(args, type, &first);
    if (code != CLI_OK)
        return code;
    scan_args rest = *args; /* each share begins with the neutral element */
    rest.start.count = 0;
    (void)scan_start(&rest, type, &sum);
    tml_array_stream *to = NULL;
    tml_status status = TML_OK;
    double start = cli_now();
    for (uint64_t k = 0; k < p->rounds && ranks_team() && status == TML_OK; k++)
        status = scan_piece(p, args, k, NULL, &sum);
    TML_THEN(status, scan_ranks(p, args, first, &sum));
    TML_THEN(status, tml_array_stream_open(p->tml, args->output, type, p->all.array.count,
                                           ranks_team(), &to));
    for (uint64_t k = 0; k < p->rounds && status == TML_OK; k++)
        status = scan_piece(p, args, k, to, &sum);
    if (to)
        status = tml_array_stream_finish(to, status);
    progress_clear();
    if (status == TML_OK)
        tell_scan(args, p->path, &p->all, cli_now() - start);
    return cli_fail(p->tml, status);
}

static int scan_run(tml_context *tml, const void *all_args, char **operands)
{
    const scan_args *args = all_args;
    const char *path = operands[0];
    array_input in;
    tml_buffer out = {0};
    running first;
    array_parts p;
    int code;
    if (array_parts_open(tml, path, args->common.memory, &p, &code))
        return code == CLI_OK ? scan_parts(&p, args) : code;
    code = array_load(tml, path, args->common.memory, &in);
    const tml_type type = scan_type(args, in.array.type);
    CLI_THEN(code, scan_start(args, type, &first));
    if (code != CLI_OK) {
        array_unload(tml, &in);
        return code;
    }
    tml_status status = array_widen(tml, &in);
    TML_THEN(status, array_output(tml, type, in.array.count, &out));
    double start = cli_now();
    TML_THEN(status, scan(tml, args, in.buffer, out, args->start.count ? &first : NULL, NULL));
    double seconds = cli_now() - start;
    TML_THEN(status, array_save(tml, args->output, out, in.array.count));
    code = cli_fail(tml, status);
    progress_clear();
    if (code == CLI_OK)
        tell_scan(args, path, &in, seconds);
    tml_buffer_destroy(tml, out);
    array_unload(tml, &in);
    return code;
}

const cli_command cmd_scan = {
    .options = {.name = "scan",
                .operands = "IN.npy",
                .endings = ".npy",
                .summary = "Writes the running sums of an array, or its least or largest so far",
                .about = "Sums of integers are written as u64 or i64, sums of floats in the "
                         "input's type (f16 as f32), extremes in the input's type (of at least 32 "
                         "bits).",
                .examples = "  trommel scan counts.npy -o offsets.npy\n"
                            "  trommel scan heights.npy --fold max --inclusive -o horizon.npy\n",
                .options = scan_options,
                .needs = "output"},
    .args_size = sizeof(scan_args),
    .run_on = scan_run,
    .takes_ranks = true,
};
