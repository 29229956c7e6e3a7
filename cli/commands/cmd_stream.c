/* trommel compact, scan, sort, reduce: the stream operations on NPY arrays, from a shell. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <trommel/io.h>

#include "cli.h"
#include "compact_volume.h"
#include "file_advice.h"
#include "ranks.h"
#include "report/fields.h"
#include "report/progress.h"
#include "report/report.h"
#include "report/text.h"
#include "shares.h"
#include "stream_kernels.h"

/* ---- shared ---------------------------------------------------------------------------------- */

/* An array from a file as a buffer; the buffer uses the array's memory. */
typedef struct loaded {
    tml_array array;
    tml_buffer buffer;
    double seconds; /* that loading took */
} loaded;

static int load_any(tml_context *tml, const char *path, uint64_t memory, loaded *out)
{
    memset(out, 0, sizeof *out);
    double start = cli_now();
    tml_status status = tml_array_load(tml, path, &out->array);
    if (status != TML_OK)
        return advice_fail(tml, status, path, INPUT_NONE);
    if (memory && out->array.size > memory)
        return cli_error("%s: has %zu bytes, --memory allows %" PRIu64, path, out->array.size,
                         memory);
    status =
        cli_lend(tml, out->array.type, out->array.count, out->array.data, "input", &out->buffer);
    out->seconds = cli_now() - start;
    return cli_fail(tml, status);
}

/* The same of scalars. */
static int load(tml_context *tml, const char *path, uint64_t memory, loaded *out)
{
    int code = load_any(tml, path, memory, out);
    if (code == CLI_OK && tml_type_components(out->array.type) != 1)
        return cli_error("%s: elements are %s, needs scalars; give the array one dimension", path,
                         tml_type_name(out->array.type));
    return code;
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
    status = tml_map(tml, &map);
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
    tml_buffer_describe(tml, buffer, &array.type, NULL);
    array.size = count * tml_type_size(array.type);
    tml_status status = tml_buffer_map(tml, buffer, &array.data);
    if (status != TML_OK)
        return status;
    status = tml_array_save(tml, path, &array);
    tml_buffer_unmap(tml, buffer);
    return status;
}

/* What all commands report about their run, but for what they found. */
static void tell_input(const char *path, const loaded *in)
{
    field_open("input", '{');
    field_text("file", NULL, NULL, path);
    field_count("file_bytes", NULL, NULL, (uint64_t)cli_file_size(path));
    field_text("kind", NULL, NULL, "array");
    field_text("format", NULL, NULL, "NPY");
    field_count("elements", "input", "%s", in->array.count);
    field_text("type", NULL, " of %s", tml_type_name(in->array.type));
    field_close('{');
}

static void tell_run(const loaded *in, double seconds, const char *output)
{
    report r = {0};
    if (in->seconds > 0)
        report_add_stage(&r, "load", in->seconds);
    report_add_stage(&r, cli_name(), seconds);
    if (output)
        report_add_output(&r, output);
    report_tell(&r, (double)in->array.size, seconds);
}

/* ---- in parts -------------------------------------------------------------------------------- */

/* Arrays that go through memory piece by piece: a share for each process (ranks.h), of which all
 * have the same number of pieces, the last ones perhaps empty. */
typedef struct parts {
    tml_context *tml;
    const char *path;
    loaded all;            /* type and count of the whole array, no data */
    uint64_t first, count; /* of this share */
    uint64_t piece;        /* elements of a piece */
    uint64_t rounds;       /* pieces */
} parts;

enum { PIECE_SIZE = 32 << 20, PIECES_IN_MEMORY = 8 };

/* Is the array one to take in parts: by several processes, or because it needs more memory than
 * allowed? Then code is CLI_OK and *out is ready. */
static bool parts_open(tml_context *tml, const char *path, uint64_t memory, parts *out, int *code)
{
    tml_array array;
    uint64_t total, ranks = ranks_count(), mine = ranks_mine();
    *code = CLI_OK;
    tml_status status = tml_array_load_part(tml, path, 0, 0, &array, &total);
    if (status != TML_OK) {
        *code = ranks > 1 ? cli_fail(tml, status) : CLI_OK;
        return ranks > 1; /* else loaded whole, with what there is to say about it */
    }
    uint64_t size = tml_type_size(array.type), bytes = total * size;
    if (ranks == 1 && (!memory || bytes <= memory))
        return false;
    uint64_t room = memory ? memory / PIECES_IN_MEMORY : PIECE_SIZE;
    room = room < PIECE_SIZE ? room : PIECE_SIZE;
    *out = (parts){.tml = tml, .path = path};
    out->all.array = (tml_array){.type = array.type, .count = total, .size = (size_t)bytes};
    out->first = share_begin(total, mine, ranks);
    out->count = share_begin(total, mine + 1, ranks) - out->first;
    out->piece = room / size ? room / size : 1;
    out->rounds = ((total + ranks - 1) / ranks + out->piece - 1) / out->piece;
    return true;
}

/* Loads piece k, perhaps of no elements; tells its place in the array. */
static tml_status parts_load(const parts *p, uint64_t k, bool is_wide, loaded *out, uint64_t *at)
{
    uint64_t done = k * p->piece < p->count ? k * p->piece : p->count, total;
    uint64_t count = p->count - done < p->piece ? p->count - done : p->piece;
    memset(out, 0, sizeof *out);
    *at = p->first + done;
    tml_status status = tml_array_load_part(p->tml, p->path, *at, count, &out->array, &total);
    out->array.count = count; /* of nothing, too */
    TML_THEN(status,
             cli_lend(p->tml, out->array.type, count, out->array.data, "piece", &out->buffer));
    if (status == TML_OK && is_wide)
        status = widen(p->tml, out);
    if (status == TML_OK && !tml_progress(p->tml, cli_name(), (double)k / (double)p->rounds))
        status = tml_error(p->tml, TML_ERROR_CANCELLED, "cancelled");
    return status;
}

/* Writes the buffer's first count elements to where they belong in the file. */
static tml_status parts_save(const parts *p, tml_array_stream *to, tml_buffer from, uint64_t at,
                             uint64_t count)
{
    void *data;
    tml_status status = tml_buffer_map(p->tml, from, &data);
    if (status != TML_OK)
        return status;
    status = tml_array_stream_write(to, at, count, data);
    tml_buffer_unmap(p->tml, from);
    return status;
}

/* ---- compact --------------------------------------------------------------------------------- */

typedef struct compact_args {
    cli_common common;
    opt_numbers min, max; /* one number, or none */
    opt_numbers crossed;  /* likewise */
    bool nonzero, indices, xyz;
    const char *output, *values;
    uint32_t method; /* tml_method */
} compact_args;

static const opt compact_options[] = {
    {OPT_SECTION, .help = "Which elements to keep"},
    {OPT_NUMBERS, "at-least", .brief = "keep those not below A", .argument = "A",
     .help = "those not below A", .offset = offsetof(compact_args, min), .count_most = 1},
    {OPT_NUMBERS, "at-most", .brief = "keep those not above B", .argument = "B",
     .help = "those not above B", .offset = offsetof(compact_args, max), .count_most = 1},
    {OPT_FLAG, "nonzero", .excludes = "at-least|at-most", .brief = "keep those that are not 0",
     .help = "those that are not 0 (NaN is not 0)", .offset = offsetof(compact_args, nonzero)},
    {OPT_NUMBERS, "crossed", .argument = "V", .excludes = "at-least|at-most|nonzero",
     .help = "of a volume's cells, those that the isovalue V crosses, each by its lowest sample",
     .offset = offsetof(compact_args, crossed), .count_most = 1},
    {OPT_SECTION, .help = "Output"},
    {OPT_OUTPUT, "output", 'o', "FILE.npy", .brief = "", .help = "where to write",
     .offset = offsetof(compact_args, output), .endings = ".npy"},
    {OPT_FLAG, "xyz", .excludes = "indices",
     .help = "write the x, y, z of the kept samples of a volume (u32, a row each), x along a row "
             "of samples, as the "
             "columns of numpy's argwhere from the last one on",
     .offset = offsetof(compact_args, xyz)},
    {OPT_OUTPUT, "values", .argument = "FILE.npy", .needs = "xyz", .endings = ".npy",
     .help = "write the kept samples themselves, too", .offset = offsetof(compact_args, values)},
    {OPT_FLAG, "indices", .brief = "write positions instead of elements",
     .help = "write the positions of the kept elements (u64), not the elements",
     .offset = offsetof(compact_args, indices)},
    {OPT_CHOICE, "method", .choices = "auto|look-back|reduce-then-scan|histopyramid",
     .help = "how counts become positions; the result is the same", .fallback = "auto",
     .offset = offsetof(compact_args, method)},
    {0},
};

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
    status = tml_compact(tml, &desc);
    TML_THEN(status, tml_buffer_read_count(tml, count, kept));
    tml_buffer_destroy(tml, count);
    return status;
}

static void tell_compact(const compact_args *args, const char *path, const loaded *in,
                         uint64_t kept, double seconds)
{
    field_heading("%s", text_file_name(path));
    tell_input(path, in);
    field_count("kept", "kept", "%s", kept);
    field_line(NULL, " (%.3g %%)",
               in->array.count ? 100.0 * (double)kept / (double)in->array.count : 0);
    tell_run(in, seconds, args->output);
}

/* Compacts a piece; to: where the kept elements go, after kept others of this share; NULL: they are
 * only counted. */
static tml_status compact_piece(const parts *p, const compact_args *args, uint64_t k,
                                tml_array_stream *to, uint64_t base, uint64_t *kept)
{
    loaded in;
    tml_buffer out = {0};
    uint64_t at, count = 0;
    tml_status status = parts_load(p, k, false, &in, &at);
    const tml_buffer_desc desc = {.type = args->indices ? TML_U64 : in.array.type,
                                  .count = in.array.count,
                                  .label = "output"};
    TML_THEN(status, tml_buffer_create(p->tml, &desc, &out));
    TML_THEN(status, compact(p->tml, args, &in, out, &count));
    uint64_t *numbers = NULL;
    if (status == TML_OK && to && args->indices)
        status = tml_buffer_map(p->tml, out, (void **)&numbers);
    for (uint64_t i = 0; numbers && i < count; i++)
        numbers[i] += at;
    if (numbers)
        tml_buffer_unmap(p->tml, out);
    if (status == TML_OK && to)
        status = parts_save(p, to, out, base + *kept, count);
    *kept += count;
    tml_buffer_destroy(p->tml, out);
    unload(p->tml, &in);
    return status;
}

/* Counts in one reading and writes in a second, so that no more than a piece is ever held. */
static int compact_parts(const parts *p, const compact_args *args)
{
    uint64_t kept = 0, before = 0, all = 0;
    const tml_team *team = ranks_team();
    tml_array_stream *to = NULL;
    tml_status status = TML_OK;
    double start = cli_now();
    for (uint64_t k = 0; k < p->rounds && status == TML_OK; k++)
        status = compact_piece(p, args, k, NULL, 0, &kept);
    all = kept;
    if (status == TML_OK && team)
        status = team->scan(team->user, p->tml, 1, &kept, &before, &all);
    TML_THEN(status,
             tml_array_stream_open(p->tml, args->output,
                                   args->indices ? TML_U64 : p->all.array.type, all, team, &to));
    kept = 0;
    for (uint64_t k = 0; k < p->rounds && status == TML_OK; k++)
        status = compact_piece(p, args, k, to, before, &kept);
    if (to)
        status = tml_array_stream_finish(to, status);
    progress_clear();
    if (status == TML_OK)
        tell_compact(args, p->path, &p->all, all, cli_now() - start);
    return cli_fail(p->tml, status);
}

static int compact_run(tml_context *tml, const void *all_args, char **operands)
{
    const compact_args *args = all_args;
    const char *path = operands[0];
    if ((args->xyz || args->crossed.count) && ranks_count() > 1)
        return cli_error("--xyz and --crossed are for one process");
    if (args->xyz || args->crossed.count)
        return compact_volume(tml, &(compact_volume_args){
                                       .common = &args->common,
                                       .path = path,
                                       .output = args->output,
                                       .values = args->values,
                                       .is_crossed = args->crossed.count,
                                       .crossed = args->crossed.count ? args->crossed.values[0] : 0,
                                       .nonzero = args->nonzero,
                                       .lower = args->min.count ? args->min.values[0] : -INFINITY,
                                       .upper = args->max.count ? args->max.values[0] : INFINITY,
                                       .xyz = args->xyz,
                                       .indices = args->indices,
                                       .method = (tml_method)args->method});
    loaded in;
    tml_buffer out = {0};
    uint64_t kept = 0;
    parts p;
    int code;
    if (parts_open(tml, path, args->common.memory, &p, &code))
        return code == CLI_OK ? compact_parts(&p, args) : code;
    code = load(tml, path, args->common.memory, &in);
    if (code != CLI_OK) {
        unload(tml, &in);
        return code;
    }
    tml_buffer_desc desc = {.type = args->indices ? TML_U64 : in.array.type,
                            .count = in.array.count,
                            .label = "output"};
    tml_status status = tml_buffer_create(tml, &desc, &out);
    double start = cli_now();
    TML_THEN(status, compact(tml, args, &in, out, &kept));
    double seconds = cli_now() - start;
    TML_THEN(status, save(tml, args->output, out, kept));
    code = cli_fail(tml, status);
    progress_clear();
    if (code == CLI_OK)
        tell_compact(args, path, &in, kept, seconds);
    tml_buffer_destroy(tml, out);
    unload(tml, &in);
    return code;
}

const cli_command cmd_compact = {
    .options = {.name = "compact",
                .operands = "IN",
                .summary = "Keeps the elements of an array that lie in a range or are not zero",
                .about =
                    "The elements stay in their order. Bounds are included; for integers a "
                    "fractional bound counts inwards. Arrays are NPY; with --xyz and --crossed the "
                    "input is a volume in any format that surface takes.",
                .examples = "  trommel compact in.npy --at-least 0.5 -o out.npy\n"
                            "  trommel compact scan.nii.gz --crossed 300 --xyz -o cells.npy\n"
                            "  trommel compact labels.npy --nonzero --indices -o where.npy\n",
                .options = compact_options,
                .needs = "output at-least|at-most|nonzero|crossed"},
    .args_size = sizeof(compact_args),
    .run_on = compact_run,
    .takes_ranks = true,
};

/* ---- scan ------------------------------------------------------------------------------------ */

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

/* Integers are summed in 64 bits, so that no shell user meets a sum modulo 2^32. */
static tml_type sum_type(tml_type type)
{
    if (type == TML_F64)
        return TML_F64;
    return tml_type_is_float(type) ? TML_F32 : tml_type_is_signed(type) ? TML_I64 : TML_U64;
}

static tml_type scan_type(const scan_args *args, tml_type type)
{
    if (args->fold == TML_FOLD_SUM)
        return sum_type(type);
    if (tml_type_size(type) >= 4)
        return type;
    return tml_type_is_float(type) ? TML_F32 : tml_type_is_signed(type) ? TML_I32 : TML_U32;
}

static void tell_scan(const scan_args *args, const char *path, const loaded *in, double seconds)
{
    static const char *const what[] = {"sums", "minima", "maxima"};
    field_heading("%s", text_file_name(path));
    tell_input(path, in);
    field_text("output_type", what[args->fold], "of %s",
               tml_type_name(scan_type(args, in->array.type)));
    tell_run(in, seconds, args->output);
}

/* The result so far: of integers, sums modulo 2^64 among them, and of floats in double. */
typedef union running {
    uint64_t whole;
    double real;
} running;

/* From and to an element of a scan's type. */
static running running_of(tml_type type, const void *element)
{
    running r = {.whole = 0};
    if (type == TML_F32)
        r.real = *(const float *)element;
    else if (type == TML_U32)
        r.whole = *(const uint32_t *)element;
    else if (type == TML_I32)
        r.whole = (uint64_t)(int64_t) * (const int32_t *)element;
    else
        r = *(const running *)element;
    return r;
}
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

/* What comes before the first element. */
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

/* Is a before b? -0 is before 0, and NaN is before nothing. */
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

/* Scans in into out from start on, or from nothing; gives the result of all where that is no
 * sum. */
static tml_status scan(tml_context *tml, const scan_args *args, tml_buffer in, tml_buffer out,
                       const running *start, running *all)
{
    tml_type type;
    tml_buffer first = {0}, total = {0};
    tml_buffer_describe(tml, out, &type, NULL);
    const running element = start ? element_of(type, *start) : (running){.whole = 0};
    tml_buffer_desc desc = {.type = type, .count = 1, .data = &element, .label = "start"};
    tml_status status = start ? tml_buffer_create(tml, &desc, &first) : TML_OK;
    if (status == TML_OK && all)
        status = tml_buffer_create(tml, &desc, &total);
    TML_THEN(status, tml_scan(tml, &(tml_scan_desc){.in = in,
                                                    .inclusive = args->inclusive,
                                                    .out = out,
                                                    .total = total,
                                                    .fold = (tml_fold)args->fold,
                                                    .start = first}));
    running last = {.whole = 0};
    if (status == TML_OK && all) {
        status = tml_buffer_read(tml, total, &last);
        *all = running_of(type, &last);
    }
    tml_buffer_destroy(tml, first);
    tml_buffer_destroy(tml, total);
    return status;
}

/* Adds the sum of a piece, in double of floats. */
static tml_status add_piece(tml_context *tml, const scan_args *args, const loaded *in,
                            tml_type type, running *sum)
{
    tml_buffer total = {0};
    running added = {.whole = 0};
    tml_buffer_desc desc = {
        .type = tml_type_is_float(type) ? TML_F64 : type, .count = 1, .label = "sum"};
    tml_status status = tml_buffer_create(tml, &desc, &total);
    TML_THEN(status, tml_reduce(tml, &(tml_reduce_desc){
                                         .fold = TML_FOLD_SUM, .in = in->buffer, .out = total}));
    TML_THEN(status, tml_buffer_read(tml, total, &added));
    running_add(args, type, sum, added);
    tml_buffer_destroy(tml, total);
    return status;
}

/* Goes on from *sum with a piece; to: where its results go. */
static tml_status scan_piece(const parts *p, const scan_args *args, uint64_t k,
                             tml_array_stream *to, running *sum)
{
    loaded in;
    tml_buffer out = {0};
    tml_type type = scan_type(args, p->all.array.type);
    const bool is_sum = args->fold == TML_FOLD_SUM;
    const running before = *sum;
    uint64_t at;
    tml_status status = parts_load(p, k, true, &in, &at);
    tml_buffer_desc desc = {.type = type, .count = in.array.count, .label = "output"};
    if (status == TML_OK && (to || !is_sum))
        status = tml_buffer_create(p->tml, &desc, &out);
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
        status = parts_save(p, to, out, at, in.array.count);
    tml_buffer_destroy(p->tml, out);
    unload(p->tml, &in);
    return status;
}

/* What comes before this share: start and the shares before it. */
static tml_status scan_ranks(const parts *p, const scan_args *args, running start, running *sum)
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

static int scan_parts(const parts *p, const scan_args *args)
{
    const tml_type type = scan_type(args, p->all.array.type);
    running first, sum;
    int code = scan_start(args, type, &first);
    if (code != CLI_OK)
        return code;
    scan_args rest = *args; /* the shares begin with nothing */
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
    loaded in;
    tml_buffer out = {0};
    running first;
    parts p;
    int code;
    if (parts_open(tml, path, args->common.memory, &p, &code))
        return code == CLI_OK ? scan_parts(&p, args) : code;
    code = load(tml, path, args->common.memory, &in);
    tml_buffer_desc desc = {
        .type = scan_type(args, in.array.type), .count = in.array.count, .label = "output"};
    if (code == CLI_OK)
        code = scan_start(args, desc.type, &first);
    if (code != CLI_OK) {
        unload(tml, &in);
        return code;
    }
    tml_status status = widen(tml, &in);
    TML_THEN(status, tml_buffer_create(tml, &desc, &out));
    double start = cli_now();
    TML_THEN(status, scan(tml, args, in.buffer, out, args->start.count ? &first : NULL, NULL));
    double seconds = cli_now() - start;
    TML_THEN(status, save(tml, args->output, out, in.array.count));
    code = cli_fail(tml, status);
    progress_clear();
    if (code == CLI_OK)
        tell_scan(args, path, &in, seconds);
    tml_buffer_destroy(tml, out);
    unload(tml, &in);
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

/* ---- sort ------------------------------------------------------------------------------------ */

typedef struct sort_args {
    cli_common common;
    bool descending, indices;
    uint64_t top;
    const char *output, *payload, *payload_output;
} sort_args;

static const opt sort_options[] = {
    {OPT_SECTION, .help = "Sort"},
    {OPT_FLAG, "descending", .brief = "the largest first",
     .help = "the largest first; equal elements keep their order all the same",
     .offset = offsetof(sort_args, descending)},
    {OPT_COUNT, "top", .argument = "K", .brief = "only the first K", .least = 0, .most = UINT32_MAX,
     .fallback = "0", .offset = offsetof(sort_args, top),
     .help = "only the first so many, which takes less time than sorting all; 0: all"},
    {OPT_INPUT, "payload", .argument = "FILE.npy", .brief = "an array to move alike",
     .help = "an array, of any elements, that is moved as the input is", .endings = ".npy",
     .needs = "payload-output", .offset = offsetof(sort_args, payload)},
    {OPT_SECTION, .help = "Output"},
    {OPT_OUTPUT, "output", 'o', "FILE.npy", .brief = "where to write", .help = "where to write",
     .offset = offsetof(sort_args, output), .endings = ".npy"},
    {OPT_FLAG, "indices", .needs = "output", .brief = "write positions instead of elements",
     .help = "write where the elements were in the input (u64), not the elements",
     .offset = offsetof(sort_args, indices)},
    {OPT_OUTPUT, "payload-output", .argument = "FILE.npy", .needs = "payload",
     .brief = "where to write the payload", .help = "where to write the payload",
     .offset = offsetof(sort_args, payload_output), .endings = ".npy"},
    {0},
};

static tml_status output_for(tml_context *tml, tml_type type, uint64_t count, tml_buffer *out)
{
    return tml_buffer_create(
        tml, &(tml_buffer_desc){.type = type, .count = count, .label = "output"}, out);
}

/* Sorts in, with payload if that is not empty, and writes what args ask for. */
static tml_status sort(tml_context *tml, const sort_args *args, const loaded *in,
                       const loaded *payload, double *seconds)
{
    tml_buffer out = {0}, moved = {0};
    uint64_t count = in->array.count;
    if (args->top && args->top < count)
        count = args->top;
    tml_status status = TML_OK;
    if (args->output)
        status = output_for(tml, args->indices ? TML_U64 : in->array.type, count, &out);
    if (status == TML_OK && args->payload)
        status = output_for(tml, payload->array.type, count, &moved);
    tml_sort_desc desc = {.keys = in->buffer, .descending = args->descending};
    tml_top_k_desc top = {
        .keys = in->buffer, .k = tml_length_of(count), .smallest = !args->descending};
    *(args->indices ? &desc.indices : &desc.sorted) = out;
    *(args->indices ? &top.indices : &top.values) = out;
    desc.payloads[0] = top.payloads[0] = (tml_payload){payload->buffer, moved};
    double start = cli_now();
    TML_THEN(status, args->top ? tml_top_k(tml, &top) : tml_sort(tml, &desc));
    TML_THEN(status, tml_sync(tml));
    *seconds = cli_now() - start;
    if (status == TML_OK && args->output)
        status = save(tml, args->output, out, count);
    if (status == TML_OK && args->payload)
        status = save(tml, args->payload_output, moved, count);
    tml_buffer_destroy(tml, out);
    tml_buffer_destroy(tml, moved);
    return status;
}

static void tell_sort(const sort_args *args, const char *path, const loaded *in,
                      const loaded *payload, double seconds)
{
    report r = {0};
    field_heading("%s", text_file_name(path));
    tell_input(path, in);
    if (args->payload)
        field_text("payload_type", "payload", "of %s", tml_type_name(payload->array.type));
    report_add_stage(&r, "load", in->seconds + payload->seconds);
    report_add_stage(&r, cli_name(), seconds);
    if (args->output)
        report_add_output(&r, args->output);
    if (args->payload)
        report_add_output(&r, args->payload_output);
    report_tell(&r, (double)(in->array.size + payload->array.size), seconds);
}

static int sort_run(tml_context *tml, const void *all_args, char **operands)
{
    const sort_args *args = all_args;
    const char *path = operands[0];
    loaded in, payload = {.seconds = 0};
    double seconds = 0;
    int code = load(tml, path, args->common.memory, &in);
    if (code == CLI_OK && args->payload)
        code = load_any(tml, args->payload, args->common.memory, &payload);
    if (code == CLI_OK && args->payload && payload.array.count != in.array.count)
        code = cli_error("%s: has %" PRIu64 " elements, needs %" PRIu64 " as %s", args->payload,
                         payload.array.count, in.array.count, path);
    if (code == CLI_OK)
        code = cli_fail(tml, sort(tml, args, &in, &payload, &seconds));
    progress_clear();
    if (code == CLI_OK)
        tell_sort(args, path, &in, &payload, seconds);
    unload(tml, &payload);
    unload(tml, &in);
    return code;
}

const cli_command cmd_sort = {
    .options = {.name = "sort",
                .operands = "IN.npy",
                .endings = ".npy",
                .summary = "Sorts an array, and another one with it",
                .about =
                    "Equal elements keep their order. Floats have one total order: NaN with its "
                    "sign set, -inf, numbers (-0 before 0), inf, NaN.",
                .examples = "  trommel sort in.npy -o sorted.npy\n"
                            "  trommel sort depth.npy --descending --indices -o order.npy\n"
                            "  trommel sort depth.npy --descending --top 100 -o largest.npy\n"
                            "  trommel sort depth.npy --payload colors.npy --payload-output "
                            "sorted.npy\n",
                .options = sort_options,
                .needs = "output|payload-output"},
    .args_size = sizeof(sort_args),
    .run_on = sort_run,
};

/* ---- reduce ---------------------------------------------------------------------------------- */

enum { FOLD_COUNT = TML_FOLD_MEAN + 1 };

typedef struct reduce_args {
    cli_common common;
    bool folds[FOLD_COUNT]; /* by tml_fold; none: all */
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

/* Is the fold asked for, or nothing in particular? */
static bool wants(const reduce_args *args, int fold)
{
    static const bool none[FOLD_COUNT];
    return args->folds[fold] || memcmp(args->folds, none, sizeof none) == 0;
}

static tml_type fold_type(tml_fold fold, tml_type type)
{
    switch (fold) {
    case TML_FOLD_SUM:
        return tml_type_is_float(type) ? TML_F64 : sum_type(type);
    case TML_FOLD_MEAN:
        return TML_F64;
    case TML_FOLD_ARGMIN:
    case TML_FOLD_ARGMAX:
        return TML_U64;
    default:
        return type;
    }
}

/* A scalar of any type but f16. */
typedef union fold_value {
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
} fold_value;

static uint64_t whole_of(tml_type type, fold_value value)
{
    switch (type) {
    case TML_U8:
        return value.u8;
    case TML_U16:
        return value.u16;
    case TML_U32:
        return value.u32;
    case TML_I8:
        return (uint64_t)(int64_t)value.i8;
    case TML_I16:
        return (uint64_t)(int64_t)value.i16;
    case TML_I32:
        return (uint64_t)(int64_t)value.i32;
    default:
        return value.u64;
    }
}

static double real_of(tml_type type, fold_value value)
{
    return type == TML_F32 ? (double)value.f32 : value.f64;
}

/* A value as text that is a JSON number as well, or "nan", "inf", "-inf". */
static void value_text(tml_type type, fold_value value, char *text)
{
    if (type == TML_F32)
        text_float(text, value.f32);
    else if (type == TML_F64)
        text_number(text, value.f64);
    else if (tml_type_is_signed(type))
        snprintf(text, TEXT_SIZE, "%" PRId64, (int64_t)whole_of(type, value));
    else
        snprintf(text, TEXT_SIZE, "%" PRIu64, whole_of(type, value));
}

static tml_status reduce(tml_context *tml, tml_fold fold, tml_buffer in, fold_value *out_value)
{
    tml_type type = TML_TYPE_NONE;
    tml_buffer out;
    tml_buffer_describe(tml, in, &type, NULL);
    tml_buffer_desc desc = {.type = fold_type(fold, type), .count = 1, .label = "result"};
    tml_status status = tml_buffer_create(tml, &desc, &out);
    if (status != TML_OK)
        return status;
    status = tml_reduce(tml, &(tml_reduce_desc){.fold = fold, .in = in, .out = out});
    TML_THEN(status, tml_buffer_read(tml, out, out_value));
    tml_buffer_destroy(tml, out);
    return status;
}

/* values: of the folds that are wanted, of elements of this type. */
static void tell_reduce(const reduce_args *args, const char *path, const loaded *in, tml_type type,
                        const fold_value *values, double seconds)
{
    char text[TEXT_SIZE];
    if (!fields_are_text()) /* people asked for the values alone */
        tell_input(path, in);
    for (int f = 0; f < FOLD_COUNT; f++) {
        if (!wants(args, f))
            continue;
        value_text(fold_type((tml_fold)f, type), values[f], text);
        field_heading("%-6s %s", fold_names[f], text);
        field_literal(fold_names[f], NULL, NULL, text);
    }
    if (!fields_are_text())
        tell_run(in, seconds, NULL);
}

/* What the folds of some elements are, for joining them with those of later ones. */
typedef struct partial {
    uint64_t count; /* elements */
    fold_value values[FOLD_COUNT];
} partial;

/* Is a of this type less than b? NaN is neither less nor greater, and never wins against a
 * number. */
static bool is_less(tml_type type, fold_value a, fold_value b)
{
    if (!tml_type_is_float(type))
        return tml_type_is_signed(type) ? (int64_t)whole_of(type, a) < (int64_t)whole_of(type, b)
                                        : whole_of(type, a) < whole_of(type, b);
    double x = real_of(type, a), y = real_of(type, b);
    return x < y || (isnan(y) && !isnan(x));
}

static bool is_greater(tml_type type, fold_value a, fold_value b)
{
    return tml_type_is_float(type) && isnan(real_of(type, b))   ? !isnan(real_of(type, a))
           : tml_type_is_float(type) && isnan(real_of(type, a)) ? false
                                                                : is_less(type, b, a);
}

/* to becomes the folds of its elements and, behind them, more's. */
static void join(tml_type type, partial *to, const partial *more)
{
    fold_value *a = to->values;
    const fold_value *b = more->values;
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
        a[TML_FOLD_SUM].f64 += b[TML_FOLD_SUM].f64;
    else
        a[TML_FOLD_SUM].u64 += b[TML_FOLD_SUM].u64;
    double n = (double)to->count, m = (double)more->count;
    if (tml_type_is_float(type))
        a[TML_FOLD_MEAN].f64 = a[TML_FOLD_SUM].f64 / (n + m);
    else if (tml_type_size(type) == sizeof(uint64_t)) /* whose sum may be one modulo 2^64 */
        a[TML_FOLD_MEAN].f64 =
            a[TML_FOLD_MEAN].f64 * (n / (n + m)) + b[TML_FOLD_MEAN].f64 * (m / (n + m));
    else
        a[TML_FOLD_MEAN].f64 =
            (tml_type_is_signed(type) ? (double)a[TML_FOLD_SUM].i64 : (double)a[TML_FOLD_SUM].u64) /
            (n + m);
    to->count += more->count;
}

/* Joining needs least and greatest elements where only their places are asked for, so all are
 * made. */
static tml_status reduce_piece(const parts *p, uint64_t k, partial *out)
{
    loaded in;
    uint64_t at;
    tml_status status = parts_load(p, k, p->all.array.type == TML_F16, &in, &at);
    *out = (partial){.count = in.array.count};
    for (int f = 0; f < FOLD_COUNT && in.array.count && status == TML_OK; f++)
        status = reduce(p->tml, (tml_fold)f, in.buffer, &out->values[f]);
    for (int f = TML_FOLD_ARGMIN; f <= TML_FOLD_ARGMAX; f++)
        if (out->values[f].u64 != UINT64_MAX) /* all NaN: nowhere */
            out->values[f].u64 += at;
    unload(p->tml, &in);
    return status;
}

static int reduce_parts(const parts *p, const reduce_args *args)
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
    loaded nothing = {.array = {.type = p->all.array.type}}; /* has folds, too */
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
    loaded in;
    fold_value values[FOLD_COUNT] = {0};
    parts p;
    int code;
    if (parts_open(tml, path, args->common.memory, &p, &code))
        return code == CLI_OK ? reduce_parts(&p, args) : code;
    code = load(tml, path, args->common.memory, &in);
    if (code != CLI_OK) {
        unload(tml, &in);
        return code;
    }
    /* Only so that halves can be printed: every fold takes every type. */
    tml_status status = in.array.type == TML_F16 ? widen(tml, &in) : TML_OK;
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
    unload(tml, &in);
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
