/* trommel bench: how fast an operation runs on this machine, as a share of its memcpy.
 *
 * Results are checked against plain loops before anything is timed. A row's runs alternate with
 * those of a memcpy that moves as many bytes as the operation must (each input byte read once, each
 * output byte written once) on as many threads. */
#include "bench_data.h"
#include "bench_ops.h"
#include "cli.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>
#include <trommel/io.h>

typedef struct bench_args {
    cli_common common;
    const char *input;
    uint32_t field;
    uint64_t size;
    uint32_t type; /* position in type_names; 0: the operation's usual type */
    opt_numbers iso;
    uint64_t count;
    opt_numbers keep;
    uint64_t repeats;
} bench_args;

static const tml_type types[] = {TML_TYPE_NONE, TML_U8,  TML_I8,  TML_U16, TML_I16,
                                 TML_U32,       TML_U64, TML_F32, TML_F64};

static const opt bench_options[] = {
    {OPT_SECTION, .help = "Input"},
    {OPT_FILE, "input", .argument = "FILE", .offset = offsetof(bench_args, input),
     .help = "a volume (surface) or an NPY array, instead of a generated one"},
    {OPT_CHOICE, "type", .choices = "auto|u8|i8|u16|i16|u32|u64|f32|f64", .fallback = "auto",
     .offset = offsetof(bench_args, type),
     .help = "element type; auto: f32 for surface, u32 for streams"},
    {OPT_CHOICE, "field", .choices = BENCH_FIELD_CHOICES, .fallback = "gyroid",
     .offset = offsetof(bench_args, field), .help = "surface: the volume's formula"},
    {OPT_COUNT, "size", .argument = "N", .least = 2, .most = 4096, .fallback = "512",
     .offset = offsetof(bench_args, size), .help = "surface: samples along each side"},
    {OPT_NUMBERS, "iso", .argument = "V", .count_least = 1, .count_most = 1,
     .offset = offsetof(bench_args, iso),
     .help = "surface: isovalue (default: the field's; a file needs one)"},
    {OPT_BYTES, "count", .argument = "N", .fallback = "16M", .offset = offsetof(bench_args, count),
     .help = "streams: elements; K, M, G are powers of 1024"},
    {OPT_NUMBERS, "keep", .argument = "P[,P...]", .fallback = "1,10,50,90",
     .offset = offsetof(bench_args, keep), .help = "compact: percent of elements to keep"},
    {OPT_SECTION, .help = "Measuring"},
    {OPT_COUNT, "repeats", .argument = "N", .most = 1000, .fallback = "0",
     .offset = offsetof(bench_args, repeats),
     .help = "runs of each row; 0: as many as take a second"},
    {0},
};

/* A measured row. */
typedef struct bench_row {
    char name[64];
    uint64_t bytes, result_count, vertex_count;
    bench_time time, copy_time;
} bench_row;

enum { MAX_ROWS = OPT_MAX_NUMBERS };

typedef struct bench_report {
    const char *op;
    char input[160]; /* "gyroid, 512 x 512 x 512 f32, iso 0.1" */
    uint32_t row_count;
    bench_row rows[MAX_ROWS];
} bench_report;

/* ---- rows ----------------------------------------------------------------------------------- */

/* Times a checked operation beside memcpy and adds the row. */
static tml_status measure(bench_report *report, bench_op *op, bool (*run)(void *), const char *name,
                          uint64_t repeats)
{
    bench_copy copy;
    if (!bench_copy_create(op->tml, op->bytes, &copy))
        return tml_error(op->tml, TML_OUT_OF_MEMORY, "no memory for two blocks of %llu bytes",
                         (unsigned long long)op->bytes / 2);
    bench_job jobs[] = {{.name = name, .run = run, .user = op},
                        {.name = "memcpy", .run = bench_copy_run, .user = &copy}};
    bool passed = bench_run(jobs, 2, (uint32_t)repeats);
    bench_copy_destroy(&copy);
    if (!passed)
        return tml_is_cancelled(op->tml) ? TML_CANCELLED : TML_INTERNAL;
    bench_row *row = &report->rows[report->row_count++];
    *row = (bench_row){.bytes = op->bytes,
                       .result_count = op->result_count,
                       .vertex_count = op->vertex_count,
                       .time = jobs[0].time,
                       .copy_time = jobs[1].time};
    snprintf(row->name, sizeof row->name, "%s", name);
    return TML_OK;
}

static tml_status measure_surface(tml_context *tml, const bench_args *args,
                                  const tml_volume *volume, double iso, bench_report *report)
{
    bench_op op;
    tml_status status =
        bench_surface_create(tml, volume->type, volume->data, &volume->grid, iso, &op);
    if (!status)
        status = bench_surface_check(&op);
    if (!status)
        status = measure(report, &op, bench_surface_run, "surface", args->repeats);
    bench_op_destroy(&op);
    return status;
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

static tml_status measure_compact(tml_context *tml, const bench_args *args, const tml_array *array,
                                  bench_report *report)
{
    tml_status status = TML_OK;
    for (uint32_t i = 0; !status && i < args->keep.count; i++) {
        double percent = args->keep.values[i];
        uint32_t limit = args->input ? threshold_of(array->data, array->count, percent)
                                     : bench_stream_threshold(percent);
        bench_op op;
        char name[64];
        snprintf(name, sizeof name, "compact, %g %% kept", percent);
        status = bench_compact_create(tml, array->data, array->count, limit, &op);
        if (!status)
            status = bench_compact_check(&op);
        if (!status)
            status = measure(report, &op, bench_compact_run, name, args->repeats);
        bench_op_destroy(&op);
    }
    return status;
}

static tml_status measure_scan(tml_context *tml, const bench_args *args, const tml_array *array,
                               bench_report *report)
{
    bench_op op;
    tml_status status = bench_scan_create(tml, array->type, array->data, array->count, &op);
    if (!status)
        status = bench_scan_check(&op);
    if (!status)
        status = measure(report, &op, bench_scan_run, "exclusive scan", args->repeats);
    bench_op_destroy(&op);
    return status;
}

static tml_status measure_reduce(tml_context *tml, const bench_args *args, const tml_array *array,
                                 bench_report *report)
{
    bench_op op;
    tml_status status = bench_reduce_create(tml, array->type, array->data, array->count, &op);
    if (!status)
        status = bench_reduce_check(&op);
    if (!status)
        status = measure(report, &op, bench_reduce_run, "sum", args->repeats);
    bench_op_destroy(&op);
    return status;
}

/* ---- inputs --------------------------------------------------------------------------------- */

static tml_status run_surface(tml_context *tml, const bench_args *args, bench_report *report)
{
    tml_volume volume = {.type = args->type ? types[args->type] : TML_F32,
                         .grid.dims = {args->size, args->size, args->size}};
    tml_status status = TML_OK;
    double iso = bench_field_iso(args->field, volume.type);
    const char *name = bench_field_name(args->field);
    if (args->input) {
        if ((status = tml_volume_load(tml, args->input, NULL, &volume)))
            return status;
        name = args->input;
    } else {
        volume.size = args->size * args->size * args->size * tml_type_size(volume.type);
        volume.data = tml_alloc(tml, volume.size);
        if (!volume.data)
            return tml_error(tml, TML_OUT_OF_MEMORY, "the volume needs %zu bytes", volume.size);
        if (!bench_field_fill(tml, args->field, volume.type, args->size, volume.data))
            status = tml_error(tml, TML_UNSUPPORTED,
                               "--type %s is not for fields (expected u8, i8, u16, i16, f32, f64)",
                               tml_type_name(volume.type));
    }
    if (args->iso.count)
        iso = args->iso.values[0];
    snprintf(report->input, sizeof report->input, "%s, %llu x %llu x %llu %s, iso %g", name,
             (unsigned long long)volume.grid.dims[0], (unsigned long long)volume.grid.dims[1],
             (unsigned long long)volume.grid.dims[2], tml_type_name(volume.type), iso);
    if (!status)
        status = measure_surface(tml, args, &volume, iso, report);
    if (args->input)
        tml_volume_free(tml, &volume);
    else
        tml_free(tml, volume.data, volume.size);
    return status;
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

typedef tml_status (*stream_measure)(tml_context *tml, const bench_args *args,
                                     const tml_array *array, bench_report *report);

/* accepted: the types that the operation's check knows, TML_TYPE_NONE last. */
static tml_status run_stream(tml_context *tml, const bench_args *args, const tml_type *accepted,
                             stream_measure measure_stream, bench_report *report)
{
    tml_array array = {.type = args->type ? types[args->type] : TML_U32, .count = args->count};
    tml_status status = TML_OK;
    if (args->input && (status = tml_array_load(tml, args->input, &array)))
        return status;
    const tml_type *type = accepted;
    while (*type != array.type && *type != TML_TYPE_NONE)
        type++;
    if (*type == TML_TYPE_NONE) {
        status = tml_error(tml, TML_UNSUPPORTED, "%s measures no %s elements", report->op,
                           tml_type_name(array.type));
    } else if (!args->input) {
        array.size = array.count * tml_type_size(array.type);
        array.data = tml_alloc(tml, array.size);
        if (array.data)
            fill_array(tml, &array);
        else
            status = tml_error(tml, TML_OUT_OF_MEMORY, "the array needs %zu bytes", array.size);
    }
    snprintf(report->input, sizeof report->input, "%s%s%llu %s", args->input ? args->input : "",
             args->input ? ", " : "", (unsigned long long)array.count, tml_type_name(array.type));
    if (!status)
        status = measure_stream(tml, args, &array, report);
    if (args->input)
        tml_array_free(tml, &array);
    else
        tml_free(tml, array.data, array.size);
    return status;
}

static tml_status run_op(tml_context *tml, const bench_args *args, bench_report *report)
{
    static const tml_type compact_types[] = {TML_U32, TML_TYPE_NONE};
    static const tml_type scan_types[] = {TML_U32, TML_U64, TML_F32, TML_F64, TML_TYPE_NONE};
    static const tml_type reduce_types[] = {TML_U8,  TML_U16, TML_U32,      TML_U64,
                                            TML_F32, TML_F64, TML_TYPE_NONE};
    if (strcmp(report->op, "surface") == 0)
        return run_surface(tml, args, report);
    if (strcmp(report->op, "compact") == 0)
        return run_stream(tml, args, compact_types, measure_compact, report);
    if (strcmp(report->op, "scan") == 0)
        return run_stream(tml, args, scan_types, measure_scan, report);
    return run_stream(tml, args, reduce_types, measure_reduce, report);
}

/* ---- report --------------------------------------------------------------------------------- */

static double copy_share(const bench_row *row)
{
    return row->copy_time.median_s / row->time.median_s;
}

static void print_json(const bench_report *report, const tml_device_info *device, uint32_t threads)
{
    json j = {.out = stdout};
    json_open(&j, NULL, '{');
    json_text(&j, "op", report->op);
    json_text(&j, "input", report->input);
    json_text(&j, "device", device->name);
    json_text(&j, "features", device->features);
    json_count(&j, "threads", threads);
    json_open(&j, "rows", '[');
    for (uint32_t i = 0; i < report->row_count; i++) {
        const bench_row *row = &report->rows[i];
        json_open(&j, NULL, '{');
        json_text(&j, "name", row->name);
        json_number(&j, "min_s", row->time.min_s);
        json_number(&j, "median_s", row->time.median_s);
        json_count(&j, "runs", row->time.runs);
        json_count(&j, "bytes", row->bytes);
        json_number(&j, "copy_s", row->copy_time.median_s);
        json_number(&j, "copy_share", copy_share(row));
        json_count(&j, "result_count", row->result_count);
        json_close(&j, '{');
    }
    json_close(&j, '[');
    json_close(&j, '{');
    putchar('\n');
}

static void print_table(const bench_report *report, const tml_device_info *device, uint32_t threads)
{
    printf("%s: %s\n%s (%s); %u at once\n\n", report->op, report->input, device->name,
           device->features, threads);
    printf("%-24s %10s %10s %8s %10s  %s\n", "", "min ms", "median ms", "GB/s", "of memcpy",
           "result");
    for (uint32_t i = 0; i < report->row_count; i++) {
        const bench_row *row = &report->rows[i];
        printf("%-24s %10.2f %10.2f %8.1f %8.0f %%", row->name, row->time.min_s * 1e3,
               row->time.median_s * 1e3, (double)row->bytes / row->time.median_s * 1e-9,
               copy_share(row) * 100);
        if (row->vertex_count)
            printf("  %llu vertices, %llu triangles", (unsigned long long)row->vertex_count,
                   (unsigned long long)row->result_count);
        else if (row->result_count)
            printf("  %llu elements", (unsigned long long)row->result_count);
        putchar('\n');
    }
}

static int bench_run_command(void *user, char **operands, uint32_t operand_count)
{
    static const char *const ops[] = {"surface", "compact", "scan", "reduce"};
    const bench_args *args = user;
    static bench_report report;
    (void)operand_count;
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (strcmp(operands[0], ops[i]) == 0)
            report.op = ops[i];
    if (!report.op)
        return cli_usage("bench", "%s is no operation (expected surface, compact, scan or reduce)",
                         operands[0]);
    if (args->input && !args->iso.count && strcmp(report.op, "surface") == 0)
        return cli_usage("bench", "a volume from a file needs --iso");
    tml_context *tml = cli_open("bench", &args->common);
    if (!tml)
        return CLI_FAILED;
    int code = cli_fail("bench", tml, run_op(tml, args, &report));
    if (code == CLI_OK) {
        tml_device_info device;
        tml_context_device(tml, &device);
        (args->common.json ? print_json : print_table)(&report, &device, tml_concurrency(tml));
    }
    cli_close(tml);
    return code;
}

const cli_command cmd_bench = {{"bench", "surface|compact|scan|reduce",
                                "Measures an operation as a share of memcpy's speed",
                                "Checks the result against a plain loop, then runs the operation "
                                "and a memcpy that moves as many "
                                "bytes in turn. GB/s counts each input byte once and each output "
                                "byte once; \"of memcpy\" is the "
                                "copy's median time over the operation's.",
                                "trommel bench compact --count 128M\n"
                                "  compact 2^27 numbers, keeping 1, 10, 50 and 90 percent\n"
                                "trommel bench surface --field noise --size 256 --threads 1\n"
                                "  a dense surface on one thread",
                                bench_options, cli_shared_options, 1, 1},
                               sizeof(bench_args),
                               bench_run_command};
