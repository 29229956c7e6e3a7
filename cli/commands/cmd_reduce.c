/* trommel reduce: prints an array's sum, mean, extremes and their positions. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "arrays.h"
#include "cli.h"
#include "ranks.h"
#include "report/fields.h"
#include "report/progress.h"
#include "report/text.h"

enum { FOLD_COUNT = TML_FOLD_MEAN + 1 };

typedef struct reduce_args {
    cli_common common;
    bool folds[FOLD_COUNT]; /* [tml_fold]; if none is set: all */
} reduce_args;

static const char *const fold_names[FOLD_COUNT] = {
    [TML_FOLD_SUM] = "sum",       [TML_FOLD_MIN] = "min",       [TML_FOLD_MAX] = "max",
    [TML_FOLD_ARGMIN] = "argmin", [TML_FOLD_ARGMAX] = "argmax", [TML_FOLD_MEAN] = "mean",
};

#define FOLD_OPTION(fold, name, text)                                                              \
    {                                                                                              \
        OPT_FLAG, name, .brief = "", .help = text, .offset = offsetof(reduce_args, folds) + (fold) \
    }
static const opt reduce_options[] = {
    {OPT_SECTION, .help = "What to compute (default: all)"},
    FOLD_OPTION(TML_FOLD_SUM, "sum", "the sum: exact for integers, in double for floats"),
    FOLD_OPTION(TML_FOLD_MEAN, "mean", "the mean"),
    FOLD_OPTION(TML_FOLD_MIN, "min", "the least element; NaN is ignored"),
    FOLD_OPTION(TML_FOLD_MAX, "max", "the greatest element; NaN is ignored"),
    FOLD_OPTION(TML_FOLD_ARGMIN, "argmin", "the position of the first least element"),
    FOLD_OPTION(TML_FOLD_ARGMAX, "argmax", "the position of the first greatest element"),
    {0},
};

/* Whether the fold is requested, or no fold is. */
static bool wants(const reduce_args *args, int fold)
{
    static const bool none[FOLD_COUNT];
    return args->folds[fold] || memcmp(args->folds, none, sizeof none) == 0;
}

static tml_type fold_type(tml_fold fold, tml_type type)
{
    switch (fold) {
    case TML_FOLD_SUM:
        return tml_type_is_float(type) ? TML_F64 : array_sum_type(type);
    case TML_FOLD_MEAN:
        return TML_F64;
    case TML_FOLD_ARGMIN:
    case TML_FOLD_ARGMAX:
        return TML_U64;
    default:
        return type;
    }
}

/* Writes a value as text that is also a JSON number, or as "nan", "inf", "-inf". */
static void value_text(tml_type type, array_number value, char *text)
{
    if (type == TML_F32)
        text_float(text, (float)value.real);
    else if (type == TML_F64)
        text_number(text, value.real);
    else
        snprintf(text, TEXT_SIZE, tml_type_is_signed(type) ? "%" PRId64 : "%" PRIu64, value.whole);
}

static tml_status reduce(tml_context *tml, tml_fold fold, tml_buffer in, array_number *out_value)
{
    tml_type type = TML_TYPE_NONE;
    tml_buffer out;
    uint64_t element = 0;
    tml_buffer_describe(tml, in, &type, NULL);
    const tml_type out_type = fold_type(fold, type);
    tml_status status = cli_make_buffer(tml, out_type, 1, NULL, "result", &out);
    if (status != TML_OK)
        return status;
    status = tml_reduce(tml, &(tml_reduce_desc){.in = in, .folds = {{fold, out}}});
    TML_THEN(status, tml_buffer_read(tml, out, &element));
    *out_value = array_number_of(out_type, &element);
    tml_buffer_destroy(tml, out);
    return status;
}

/* values: [tml_fold], for elements of this type; set where the fold is wanted. */
static void tell_reduce(const reduce_args *args, const char *path, const array_input *in,
                        tml_type type, const array_number *values, double seconds)
{
    char text[TEXT_SIZE];
    if (!fields_are_text()) /* people get only the values */
        array_tell(path, in);
    for (int f = 0; f < FOLD_COUNT; f++) {
        if (!wants(args, f))
            continue;
        value_text(fold_type((tml_fold)f, type), values[f], text);
        field_heading("%-6s %s", fold_names[f], text);
        field_literal(fold_names[f], NULL, NULL, text);
    }
    if (!fields_are_text())
        array_tell_run(in, seconds, NULL);
}

/* The folds of some elements, to be joined with those of later elements. */
typedef struct partial {
    uint64_t count; /* number of elements */
    array_number values[FOLD_COUNT];
} partial;

/* Whether a is less than b. Any number counts as less than NaN, and in is_greater as greater, so
 * NaN never wins against a number. */
static bool is_less(tml_type type, array_number a, array_number b)
{
    if (!tml_type_is_float(type))
        return tml_type_is_signed(type) ? (int64_t)a.whole < (int64_t)b.whole : a.whole < b.whole;
    return a.real < b.real || (isnan(b.real) && !isnan(a.real));
}

static bool is_greater(tml_type type, array_number a, array_number b)
{
    return tml_type_is_float(type) && isnan(b.real)   ? !isnan(a.real)
           : tml_type_is_float(type) && isnan(a.real) ? false
                                                      : is_less(type, b, a);
}

/* Joins the folds of `more`, whose elements come later, to those of `to`. */
static void join(tml_type type, partial *to, const partial *more)
{
    array_number *a = to->values;
    const array_number *b = more->values;
    if (more->count == 0)
        return;
    if (to->count == 0) {
        *to = *more;
        return;
    }
    if (is_less(type, b[TML_FOLD_MIN], a[TML_FOLD_MIN])) {
        a[TML_FOLD_MIN] = b[TML_FOLD_MIN];
        a[TML_FOLD_ARGMIN] = b[TML_FOLD_ARGMIN];
    }
    if (is_greater(type, b[TML_FOLD_MAX], a[TML_FOLD_MAX])) {
        a[TML_FOLD_MAX] = b[TML_FOLD_MAX];
        a[TML_FOLD_ARGMAX] = b[TML_FOLD_ARGMAX];
    }
    if (tml_type_is_float(type))
        a[TML_FOLD_SUM].real += b[TML_FOLD_SUM].real;
    else
        a[TML_FOLD_SUM].whole += b[TML_FOLD_SUM].whole;
    double n = (double)to->count, m = (double)more->count;
    if (tml_type_is_float(type))
        a[TML_FOLD_MEAN].real = a[TML_FOLD_SUM].real / (n + m);
    else if (tml_type_size(type) == sizeof(uint64_t)) /* its sum may have overflowed 2^64 */
        a[TML_FOLD_MEAN].real =
            a[TML_FOLD_MEAN].real * (n / (n + m)) + b[TML_FOLD_MEAN].real * (m / (n + m));
    else
        a[TML_FOLD_MEAN].real = (tml_type_is_signed(type) ? (double)(int64_t)a[TML_FOLD_SUM].whole
                                                          : (double)a[TML_FOLD_SUM].whole) /
                                (n + m);
    to->count += more->count;
}

/* Computes all folds, even if only positions are wanted, since joining needs the extremes. */
static tml_status reduce_piece(const array_parts *p, uint64_t k, partial *out)
{
    array_input in;
    uint64_t at;
    tml_status status = array_parts_load(p, k, p->all.array.type == TML_F16, &in, &at);
    *out = (partial){.count = in.array.count};
    for (int f = 0; f < FOLD_COUNT && in.array.count && status == TML_OK; f++)
        status = reduce(p->tml, (tml_fold)f, in.buffer, &out->values[f]);
    for (int f = TML_FOLD_ARGMIN; f <= TML_FOLD_ARGMAX; f++)
        if (out->values[f].whole != UINT64_MAX) /* UINT64_MAX: all are NaN, no position */
            out->values[f].whole += at;
    array_unload(p->tml, &in);
    return status;
}

static int reduce_parts(const array_parts *p, const reduce_args *args)
{
    enum { NUMBERS = sizeof(partial) / sizeof(uint64_t) };
    tml_type type = p->all.array.type == TML_F16 ? TML_F32 : p->all.array.type;
    partial mine = {0}, piece, whole = {0};
    double start = cli_now();
    tml_status status = TML_OK;
    for (uint64_t k = 0; k < p->rounds && status == TML_OK; k++) {
        status = reduce_piece(p, k, &piece);
        join(type, &mine, &piece);
    }
    uint64_t size = ranks_count() * sizeof mine;
    partial *all = status == TML_OK ? tml_alloc(p->tml, size) : NULL;
    if (status == TML_OK && !all)
        status =
            tml_error(p->tml, TML_ERROR_OUT_OF_MEMORY, "no memory for %" PRIu64 " bytes", size);
    TML_THEN(status, ranks_gather(p->tml, (const uint64_t *)(const void *)&mine, NUMBERS,
                                  (uint64_t *)(void *)all));
    for (uint32_t r = 0; r < ranks_count() && status == TML_OK; r++)
        join(type, &whole, &all[r]);
    tml_free(p->tml, all, size);
    array_input nothing = {.array = {.type = p->all.array.type}}; /* empty arrays have folds */
    if (status == TML_OK && whole.count == 0)
        status = cli_lend(p->tml, type, 0, NULL, "nothing", &nothing.buffer);
    for (int f = 0; f < FOLD_COUNT && whole.count == 0 && status == TML_OK; f++)
        status = reduce(p->tml, (tml_fold)f, nothing.buffer, &whole.values[f]);
    tml_buffer_destroy(p->tml, nothing.buffer);
    progress_clear();
    if (status == TML_OK)
        tell_reduce(args, p->path, &p->all, type, whole.values, cli_now() - start);
    return cli_fail(p->tml, status);
}

static int reduce_run(tml_context *tml, const void *all_args, char **operands)
{
    const reduce_args *args = all_args;
    const char *path = operands[0];
    array_input in;
    array_number values[FOLD_COUNT] = {0};
    array_parts p;
    int code;
    if (array_parts_open(tml, path, args->common.memory, &p, &code))
        return code == CLI_OK ? reduce_parts(&p, args) : code;
    code = array_load(tml, path, args->common.memory, &in);
    if (code != CLI_OK) {
        array_unload(tml, &in);
        return code;
    }
    /* Only for printing: folds support every type. */
    tml_status status = in.array.type == TML_F16 ? array_widen(tml, &in) : TML_OK;
    double start = cli_now();
    for (int f = 0; f < FOLD_COUNT && status == TML_OK; f++)
        if (wants(args, f))
            status = reduce(tml, (tml_fold)f, in.buffer, &values[f]);
    double seconds = cli_now() - start;
    code = cli_fail(tml, status);
    progress_clear();
    if (code == CLI_OK)
        tell_reduce(args, path, &in, in.array.type == TML_F16 ? TML_F32 : in.array.type, values,
                    seconds);
    array_unload(tml, &in);
    return code;
}

const cli_command cmd_reduce = {
    .options = {.name = "reduce",
                .operands = "IN.npy",
                .endings = ".npy",
                .summary = "Prints sum, mean, extremes and their positions in an array",
                .about = "Sums of integers are exact modulo 2^64. NaN makes sum and mean NaN.",
                .examples = "  trommel reduce in.npy --sum\n",
                .options = reduce_options,
                .without = OPT_QUIET},
    .args_size = sizeof(reduce_args),
    .run_on = reduce_run,
    .takes_ranks = true,
};
