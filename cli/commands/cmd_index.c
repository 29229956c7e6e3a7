/* trommel index: writes the least and the largest sample of each brick of a volume to a file, so
 * that surfaces read only the bricks that they cross. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <trommel/surface.h>

#include "file_advice.h"
#include "input.h"
#include "report/fields.h"
#include "report/progress.h"
#include "report/report.h"
#include "report/text.h"

enum { BRICK_LAYERS = 4, SLAB_SIZE = 64 << 20 };

typedef struct index_args {
    cli_common common;
    input_options input;
    const char *output;
} index_args;

/* An opt_names_fn. */
static bool output_name(const void *args, char **operands, uint32_t number, char *out, size_t size)
{
    const index_args *a = args;
    int length = a->output ? snprintf(out, size, "%s", a->output)
                           : snprintf(out, size, "%s.tmx", operands[0]);
    return number == 0 && length >= 0 && (size_t)length < size;
}

static const opt index_options[] = {
    {OPT_SECTION, .help = "Output"},
    {OPT_OUTPUT, "output", 'o', .brief = "the index; default: IN with .tmx after it",
     .argument = "FILE", .offset = offsetof(index_args, output), .endings = ".tmx",
     .names = output_name,
     .help = "the index, for 'surface --index': .tmx (default: IN with .tmx after it)"},
    INPUT_OPTIONS(index_args),
    {0},
};

typedef struct run {
    tml_context *tml;
    const index_args *args;
    input in;
    tml_volume_stream *stream;
    tml_volume_index bricks;
    void *layers; /* a slab's layers, layers_size bytes */
    size_t layers_size;
    double lower, upper; /* range of samples; lower > upper: none */
    uint64_t open_count; /* number of bricks with a NaN */
    double seconds;
    report report;
} run;

/* Computes the bricks of layers [first, first + count). first: a multiple of BRICK_LAYERS. */
static tml_status index_slab(run *r, uint64_t first, uint64_t count)
{
    const uint64_t *dims = r->in.volume.grid.dims;
    const uint64_t layer[3] = {dims[0], dims[1], 1};
    tml_surface_desc desc = {.grid = {.dims = {dims[0], dims[1], count}}};
    tml_buffer found = {0, 0};
    tml_status status = tml_volume_stream_read(r->stream, first, count, r->layers);
    TML_THEN(status, cli_lend(r->tml, r->in.volume.type, dims[0] * dims[1] * count, r->layers,
                              "slab", &desc.volume));
    TML_THEN(status, tml_surface_index(r->tml, &desc, &found));
    TML_THEN(status, tml_buffer_read(r->tml, found,
                                     r->bricks.ranges + 2 * tml_volume_index_count(layer) *
                                                            (first / BRICK_LAYERS)));
    tml_buffer_destroy(r->tml, desc.volume);
    tml_buffer_destroy(r->tml, found);
    return status;
}

static int make_bricks(run *r)
{
    const tml_volume *v = &r->in.volume;
    const uint64_t *dims = v->grid.dims;
    uint64_t layer = dims[0] * dims[1] * tml_type_size(v->type);
    uint64_t layers = SLAB_SIZE / layer / BRICK_LAYERS * BRICK_LAYERS;
    layers = layers ? layers : BRICK_LAYERS;
    layers = layers < dims[2] ? layers : dims[2];
    r->bricks = (tml_volume_index){.type = v->type, .count = tml_volume_index_count(dims)};
    memcpy(r->bricks.dims, dims, sizeof r->bricks.dims);
    r->layers_size = layers * layer;
    r->bricks.ranges = tml_alloc_array(r->tml, r->bricks.count, 2 * sizeof(float));
    r->layers = tml_alloc_array(r->tml, layers, layer);
    if (!r->bricks.ranges || !r->layers)
        return cli_error("no memory for %" PRIu64 " bricks and %" PRIu64 " layers", r->bricks.count,
                         layers);
    double start = cli_now();
    tml_status status = TML_OK;
    for (uint64_t z = 0; z < dims[2] && status == TML_OK; z += layers)
        status = index_slab(r, z, dims[2] - z < layers ? dims[2] - z : layers);
    r->seconds = cli_now() - start;
    report_add_stage(&r->report, "bricks", r->seconds);
    return cli_fail(r->tml, status);
}

static void find_range(run *r)
{
    r->lower = (double)INFINITY;
    r->upper = -(double)INFINITY;
    for (uint64_t i = 0; i < r->bricks.count; i++) {
        double low = (double)r->bricks.ranges[2 * i], high = (double)r->bricks.ranges[2 * i + 1];
        if (isinf(low) && low < 0 && isinf(high)) {
            r->open_count++;
            continue;
        }
        r->lower = fmin(r->lower, low);
        r->upper = fmax(r->upper, high);
    }
}

static void tell(const run *r)
{
    const tml_volume *v = &r->in.volume;
    field_heading("%s", text_file_name(r->in.path));
    input_tell(&r->in, &v->grid, 0);
    field_count("bricks", "bricks", "%s of 64 x 4 x 4 samples", r->bricks.count);
    field_count("open_bricks", NULL, "?, %s with samples that are NaN", r->open_count);
    if (r->lower <= r->upper) {
        field_number("lower", "samples", "%.9g", r->lower);
        field_number("upper", NULL, " to %.9g", r->upper);
        if (v->slope != 1 || v->intercept != 0)
            field_line(NULL, ", physical values are %g times that plus %g", v->slope, v->intercept);
    }
    report_tell(&r->report, (double)input_sample_count(v) * (double)tml_type_size(v->type),
                r->seconds);
}

static int index_run(tml_context *tml, const void *args, char **operands)
{
    const index_args *a = args;
    char output[4096];
    if (!output_name(a, operands, 0, output, sizeof output))
        return cli_usage("the output's name is too long");
    run r = {.args = a, .tml = tml};
    const tml_load_desc desc = input_volume_desc(&a->input, &a->common);
    input_name(operands[0], &r.in);
    r.in.frame = a->input.frame;
    int code = advice_fail(
        r.tml, tml_volume_stream_open(r.tml, operands[0], &desc, &r.in.volume, &r.stream),
        operands[0], TML_FILE_VOLUME);
    CLI_THEN(code, input_check_options(r.tml, operands[0], &a->input, NULL));
    CLI_THEN(code, make_bricks(&r));
    if (code == CLI_OK) {
        find_range(&r);
        code = cli_fail(r.tml, tml_volume_index_save(r.tml, output, &r.bricks));
        report_add_output(&r.report, output);
    }
    progress_clear();
    if (code == CLI_OK)
        tell(&r);
    tml_free(r.tml, r.layers, r.layers_size);
    tml_volume_index_free(r.tml, &r.bricks);
    tml_volume_stream_close(r.stream);
    return code;
}

const cli_command cmd_index = {
    .options =
        {.name = "index",
         .operands = "IN",
         .endings = CLI_VOLUMES,
         .summary = "Finds the range of each brick of a volume, for surfaces of large files",
         .about =
             "IN is a volume. Its bricks' least and largest samples go into a file of 1/128 of its "
             "samples' number in bytes. With it, '" CLI_PROGRAM
             " surface --index' looks only at bricks that the surface crosses, and of raw "
             "samples in one file reads no others, but for 512 rows (up to 16 MiB all) by which "
             "the index of another volume is known.",
         .examples = "  trommel index big.nhdr -o big.tmx\n"
                     "  trommel surface big.nhdr --index big.tmx --iso 120 -o big.ply\n",
         .options = index_options,
         .without = OPT_MEMORY},
    .args_size = sizeof(index_args),
    .run_on = index_run,
};
