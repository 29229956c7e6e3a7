/* trommel-papers: the tables of the papers, measured on this machine.
 *
 *   filter   ways to filter a stream on every engine (Horn: GPU Gems 2, table 36-1), with the
 *            variants of HistoPyramids
 *   surface  marching cubes by HistoPyramids of floats compared with the library's surface, on
 *            OpenGL ES
 *   averages the weights of pixels in averages by halving; for a picture, the error in stops
 *   floats   floats in bytes by logarithms: how many are wrong
 *   boxes    collision by axis-aligned boxes, slabs and oriented boxes
 *   images   pairs of triangles that collision by depth buffers misses
 *   selves   subdivision of triangles that carry their neighbours, compared with the library's
 *   picture  a picture of the HistoPyramid of a filtered stream */
#include "bench_data.h"
#include "bench_ops.h"
#include "bench_run.h"
#include "papers.h"
#include "papers_averages.h"
#include "papers_boxes.h"
#include "papers_check.h"
#include "papers_floats.h"
#include "papers_meshes.h"
#include "papers_table.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trommel/gl.h>
#include <trommel/pictures.h>
#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
extern const tml_vulkan_kernel bench_kernels[]; /* made by trommel_add_kernels() */
#endif

static const char usage[] =
    "usage: trommel-papers filter|surface|averages|floats|boxes|images|selves [OPTION]...\n"
    "       trommel-papers picture FILE.png [OPTION]...\n"
    "       trommel-papers TABLE|picture --check\n"
    "  --check                 checks what the table measures, on every engine; measures nothing\n"
    "  --engine cpu|vulkan|gl  filter, floats, selves: that one alone\n"
    "  --count N               filter, picture: records at most (default: 4194304)\n"
    "  --keep P                filter, picture: percent of records kept (default: 10)\n"
    "  --field NAME            surface: " BENCH_FIELD_CHOICES " (default: gyroid)\n"
    "  --side N                surface: samples along each side (default: 128)\n"
    "  --repeats N             runs of each row; 0: as many as take a second\n"
    "  --step N                floats: every N-th bit pattern (default: 61; 1: all)\n"
    "  --triangles N           boxes, images: of a torus, about (default: 200000)\n"
    "  --data FOLDER           boxes: with meshes/spot.obj, suzanne.obj and fandisk.obj\n"
    "  --input FILE            averages: a picture of floats (.hdr, .pfm)\n"
    "  --sweep FIRST:LAST      averages: means of its middle by width, drawn to --output\n"
    "  --output FILE.svg       averages: the drawing\n"
    "  --sheet FILE.png        averages: the input's mip levels, by blits and by area\n";

typedef struct papers_args {
    const char *file, *input, *output, *sheet, *data;
    bool check;
    unsigned sweep[2];
    tml_engine_kind engine;
    bench_field field;
    uint64_t count, size, triangles, repeats, step;
    double keep;
} papers_args;

/* ---- contexts -------------------------------------------------------------------------------- */

static void log_message(void *user, tml_log_level level, const char *message)
{
    (void)user;
    if (level == TML_LOG_WARNING) /* finish prints errors */
        fprintf(stderr, "trommel-papers: %s\n", message);
}

static tml_status open_engine(tml_engine_kind engine, bool exact, tml_context **tml)
{
    const tml_open_desc desc = {.engine = engine,
                                .log = log_message,
#ifdef TML_VULKAN
                                .vulkan = &(tml_vulkan_desc){.kernels = bench_kernels},
#endif
                                .gl = &(tml_gl_desc){.exact_counts = exact}};
    return tml_open(&desc, tml);
}

enum { EXIT_SKIPPED = 77 }; /* what the table measures is not on this machine */

/* If status is an error, prints the context's message. Closes the context. Returns the exit
 * code. */
static int finish(tml_context *tml, tml_status status)
{
    if (status)
        fprintf(stderr, "trommel-papers: %s\n",
                tml ? tml_last_error(tml) : tml_status_text(status));
    tml_close(tml);
    return !status                                                            ? EXIT_SUCCESS
           : status == TML_ERROR_NO_DEVICE || status == TML_ERROR_UNSUPPORTED ? EXIT_SKIPPED
                                                                              : EXIT_FAILURE;
}

/* ---- filter ---------------------------------------------------------------------------------- */

/* The time of the sort divided by that of scan and search, on each engine, compared with the
 * chapter's law. */
static void print_ratios(const filter_table *filter)
{
    printf("\nbitonic sort / scan and search: measured, and the chapter's law\n%-40s",
           "0.5 log2 n");
    for (uint32_t c = 0; c < filter->count_count; c++)
        printf(" %9.1f", 0.5 * log2((double)filter->counts[c]));
    putchar('\n');
    for (uint32_t r = 0; r < filter->row_count; r++)
        for (uint32_t s = 0; s < filter->row_count; s++) {
            const table_row *sort = &filter->rows[r], *scan = &filter->rows[s];
            if (strcmp(sort->method, "bitonic sort") != 0 ||
                strcmp(scan->method, "scan and search") != 0 ||
                strcmp(sort->engine, scan->engine) != 0 || strcmp(sort->mode, scan->mode) != 0)
                continue;
            char name[64];
            snprintf(name, sizeof name, "%s%s%s", sort->engine, *sort->mode ? ", " : "",
                     sort->mode);
            printf("%-40s", name);
            for (uint32_t c = 0; c < filter->count_count; c++)
                if (sort->ns[c] > 0 && scan->ns[c] > 0)
                    printf(" %9.1f", sort->ns[c] / scan->ns[c]);
                else
                    printf(" %9s", "-");
            putchar('\n');
        }
}

static void print_filter(const filter_table *filter, double percent)
{
    printf("filter: u32, %g %% kept; nanoseconds a record\n\n%-40s", percent, "");
    for (uint32_t c = 0; c < filter->count_count; c++) {
        unsigned long long count = filter->counts[c];
        printf(count % 1024 ? " %9llu" : " %8lluk", count % 1024 ? count : count / 1024);
    }
    putchar('\n');
    for (uint32_t r = 0; r < filter->row_count; r++) {
        const table_row *row = &filter->rows[r];
        char name[64];
        snprintf(name, sizeof name, "%s, %s%s%s", row->engine, row->method, *row->mode ? ", " : "",
                 row->mode);
        printf("%-40s", name);
        for (uint32_t c = 0; c < filter->count_count; c++)
            if (row->ns[c] > 0)
                printf(" %9.3g", row->ns[c]);
            else
                printf(" %9s", "-");
        putchar('\n');
    }
    print_ratios(filter);
}

/* Engines that this machine lacks add no rows. OpenGL ES has one context per mode; the last mode
 * has exact counts. */
static int run_filter(const papers_args *args)
{
    static const tml_engine_kind engines[] = {TML_ENGINE_GL, TML_ENGINE_VULKAN, TML_ENGINE_CPU};
    static const int modes[] = {TABLE_MODES, 1, 1};
    static filter_table filter;
    int code = EXIT_SUCCESS;
    filter_table_start(&filter, args->count);
    for (size_t e = 0; e < sizeof engines / sizeof engines[0] && code == EXIT_SUCCESS; e++)
        for (int mode = 0; mode < modes[e] && code == EXIT_SUCCESS; mode++) {
            tml_context *tml = NULL;
            if (args->engine != TML_ENGINE_AUTO && args->engine != engines[e])
                continue;
            tml_status status = open_engine(engines[e], mode == TABLE_EXACT, &tml);
            if (status && args->engine == TML_ENGINE_AUTO)
                continue;
            if (!status)
                status = filter_table_add(&filter, tml, (table_mode)mode, args->keep,
                                          (uint32_t)args->repeats);
            code = finish(tml, status);
        }
    if (code == EXIT_SUCCESS)
        print_filter(&filter, args->keep);
    return code;
}

/* ---- surface --------------------------------------------------------------------------------- */

typedef struct surface_row {
    const char *name;
    bool is_classic, soup; /* soup: of the library's */
    tml_normals ours;
    struct {
        bool one_fetch, scattered;
        papers_normals normals;
    } classic;
} surface_row;

static const surface_row surface_rows[] = {
    {.name = "surface"},
    {.name = "surface, forward normals", .ours = TML_NORMALS_FORWARD},
    {.name = "surface, Sobel normals", .ours = TML_NORMALS_SOBEL},
    {.name = "surface, as soup", .soup = true},
    {.name = "classic soup, three fetches", .is_classic = true},
    {.name = "classic soup, one fetch", .is_classic = true, .classic = {.one_fetch = true}},
    {.name = "... forward normals",
     .is_classic = true,
     .classic = {.one_fetch = true, .normals = PAPERS_NORMALS_FORWARD}},
    {.name = "... Prewitt normals",
     .is_classic = true,
     .classic = {.one_fetch = true, .normals = PAPERS_NORMALS_PREWITT}},
    {.name = "scattered, no pyramid", .is_classic = true, .classic = {.scattered = true}},
};
enum { SURFACE_ROWS = sizeof surface_rows / sizeof surface_rows[0], SURFACES = 4 };

/* Surfaces of one volume: the library's come first. */
typedef struct surface_table {
    tml_context *tml;
    bench_op ours[SURFACES];
    struct classic_job {
        tml_context *tml;
        papers_surface_desc desc;
    } classic[SURFACE_ROWS];
} surface_table;

static bool run_classic(void *user)
{
    const struct classic_job *job = user;
    return papers_surface(job->tml, &job->desc) == TML_OK;
}

/* Checks that the soup has as many vertices as the library's surface has corners. */
static tml_status check_classic(struct classic_job *job)
{
    const tml_buffer_desc one = {.type = TML_U32, .count = 1};
    uint32_t vertices = 0;
    tml_status status = tml_buffer_create(job->tml, &one, &job->desc.count);
    if (!status)
        status = papers_surface(job->tml, &job->desc);
    if (!status)
        status = tml_buffer_read(job->tml, job->desc.count, &vertices);
    if (!status && vertices != job->desc.room)
        status = tml_error(job->tml, TML_ERROR_INTERNAL, "the classic soup has %u vertices of %llu",
                           (unsigned)vertices, (unsigned long long)job->desc.room);
    tml_buffer_destroy(job->tml, job->desc.count);
    job->desc.count = (tml_buffer){0, 0};
    return status;
}

static tml_status make_row(surface_table *table, uint32_t r, const papers_args *args,
                           const float *volume, bench_job *out)
{
    const surface_row *row = &surface_rows[r];
    const uint64_t n = args->size;
    bench_op *first = &table->ours[0];
    *out = (bench_job){.name = row->name, .run = bench_op_run, .device = table->tml};
    if (!row->is_classic) {
        const bench_desc desc = {.kind = BENCH_SURFACE,
                                 .type = TML_F32,
                                 .data = volume,
                                 .count = n * n * n,
                                 .grid = {.dims = {n, n, n}},
                                 .normals = row->ours,
                                 .soup = row->soup,
                                 .iso = bench_field_iso(args->field, TML_F32)};
        bench_op *op = out->user = &table->ours[r];
        tml_status status = bench_op_create(table->tml, &desc, op);
        return status ? status : bench_op_check(op);
    }
    struct classic_job *job = out->user = &table->classic[r];
    *job = (struct classic_job){
        .tml = table->tml,
        .desc = {.volume = first->sets[0].in,
                 .dims = {n, n, n},
                 .iso = (float)first->desc.iso,
                 .one_fetch = row->classic.one_fetch,
                 .scattered = row->classic.scattered,
                 .normals = row->classic.normals,
                 .room = row->classic.scattered ? 15 * n * n * n : 3 * first->result_count}};
    out->run = run_classic;
    return row->classic.scattered ? TML_OK : check_classic(job);
}

static tml_status measure_surface(tml_context *tml, const papers_args *args, const float *volume)
{
    static surface_table table;
    bench_job jobs[SURFACE_ROWS];
    const unsigned long long n = args->size;
    tml_status status = TML_OK;
    table = (surface_table){.tml = tml};
    for (uint32_t r = 0; r < SURFACE_ROWS && !status; r++)
        status = make_row(&table, r, args, volume, &jobs[r]);
    if (!status &&
        !bench_run(jobs, SURFACE_ROWS,
                   &(bench_pace){.goes_on = papers_tell_row, .repeats = (uint32_t)args->repeats}))
        status = TML_ERROR_INTERNAL;
    if (!status)
        printf("surface: %s, %llu^3 f32, %llu triangles; milliseconds\n\n",
               bench_field_name(args->field), n, (unsigned long long)table.ours[0].result_count);
    for (uint32_t r = 0; r < SURFACE_ROWS && !status; r++)
        printf("%-40s %9.3g\n", jobs[r].name, 1e3 * jobs[r].time.median_s);
    for (uint32_t r = 0; r < SURFACES; r++)
        bench_op_destroy(&table.ours[r]);
    return status;
}

static int run_surface(const papers_args *args)
{
    tml_context *tml = NULL;
    const uint64_t samples = args->size * args->size * args->size;
    tml_status status = open_engine(TML_ENGINE_GL, false, &tml);
    float *volume = malloc(samples * sizeof *volume);
    if (!status && (!volume || !bench_field_fill(tml, args->field, TML_F32, args->size, volume)))
        status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a volume");
    if (!status)
        status = measure_surface(tml, args, volume);
    free(volume);
    return finish(tml, status);
}

/* ---- picture --------------------------------------------------------------------------------- */

static tml_status paint(tml_context *tml, const papers_args *args, uint32_t *records)
{
    uint32_t width, height;
    tml_buffer in;
    papers_picture_size(args->count, &width, &height);
    uint8_t *rgba = malloc((size_t)width * height * 4);
    if (!rgba || !records)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for a picture");
    bench_stream_fill(tml, args->count, records);
    tml_status status = tml_buffer_create(
        tml, &(tml_buffer_desc){.type = TML_U32, .count = args->count, .data = records}, &in);
    papers_picture_desc desc = {
        .keep = {.kernel = bench_is_below(), .params.u = {bench_stream_threshold(args->keep)}},
        .length = args->count,
        .rgba = rgba};
    desc.keep.in[0] = in;
    if (!status)
        status = papers_picture(tml, &desc);
    if (!status)
        status = tml_picture_save(tml, args->file,
                                  &(tml_picture){.data = rgba,
                                                 .type = TML_U8,
                                                 .width = width,
                                                 .height = height,
                                                 .channels = 4,
                                                 .srgb = true});
    free(rgba);
    return status;
}

static int run_picture(const papers_args *args)
{
    tml_context *tml = NULL;
    tml_status status = open_engine(TML_ENGINE_GL, false, &tml);
    uint32_t *records = malloc(args->count * sizeof *records);
    if (!status)
        status = paint(tml, args, records);
    free(records);
    return finish(tml, status);
}

/* ---- averages -------------------------------------------------------------------------------- */

static int run_averages(const papers_args *args)
{
    tml_context *tml = NULL;
    tml_status status = open_engine(TML_ENGINE_CPU, false, &tml);
    if (!status && args->sheet)
        status = averages_draw_sheet(tml, args->input, args->sheet);
    else if (!status)
        status = args->output  ? averages_draw_sweep(tml, args->input, args->sweep[0],
                                                     args->sweep[1], args->output)
                 : args->input ? averages_print_picture(tml, args->input)
                               : averages_print_weights(tml);
    return finish(tml, status);
}

/* ---- tables that are printed elsewhere ------------------------------------------------------- */

static tml_status print_floats(tml_context *tml, const papers_args *args)
{
    return floats_print(tml, (uint32_t)args->step, (uint32_t)args->repeats);
}

static tml_status print_selves(tml_context *tml, const papers_args *args)
{
    return selves_print(tml, (uint32_t)args->repeats);
}

/* One table per available engine. */
static int run_engines(const papers_args *args,
                       tml_status (*print)(tml_context *tml, const papers_args *args))
{
    int code = EXIT_SUCCESS;
    for (int e = TML_ENGINE_CPU; e <= TML_ENGINE_GL && code == EXIT_SUCCESS; e++) {
        tml_context *tml = NULL;
        if (args->engine != TML_ENGINE_AUTO && args->engine != (tml_engine_kind)e)
            continue;
        tml_status status = open_engine((tml_engine_kind)e, false, &tml);
        if (status && args->engine == TML_ENGINE_AUTO)
            continue;
        if (!status)
            printf("%s: ", table_engines[e]);
        code = finish(tml, status ? status : print(tml, args));
        putchar('\n');
    }
    return code;
}

static int run_floats(const papers_args *args)
{
    return run_engines(args, print_floats);
}

static int run_selves(const papers_args *args)
{
    return run_engines(args, print_selves);
}

/* Collision is measured on one thread. */
static tml_status open_thread(tml_context **tml)
{
    return tml_open(&(tml_open_desc){.engine = TML_ENGINE_CPU, .threads = 1, .log = log_message},
                    tml);
}

static int run_boxes(const papers_args *args)
{
    tml_context *tml = NULL;
    tml_status status = open_thread(&tml);
    return finish(tml,
                  status ? status
                         : boxes_print(tml, args->triangles, args->data, (uint32_t)args->repeats));
}

static int run_images(const papers_args *args)
{
    tml_context *tml = NULL;
    tml_status status = open_thread(&tml);
    return finish(tml,
                  status ? status : images_print(tml, args->triangles, (uint32_t)args->repeats));
}

/* ---- the command line ------------------------------------------------------------------------ */

enum {
    FILTER = 1,
    SURFACE = 2,
    AVERAGES = 4,
    FLOATS = 8,
    BOXES = 16,
    IMAGES = 32,
    SELVES = 64,
    PICTURE = 128,
    REPEATED = FILTER | SURFACE | FLOATS | BOXES | IMAGES | SELVES,
};

typedef struct command {
    const char *name;
    unsigned bit;
    int (*run)(const papers_args *args);
} command;

static const command commands[] = {
    {"filter", FILTER, run_filter},       {"surface", SURFACE, run_surface},
    {"averages", AVERAGES, run_averages}, {"floats", FLOATS, run_floats},
    {"boxes", BOXES, run_boxes},          {"images", IMAGES, run_images},
    {"selves", SELVES, run_selves},       {"picture", PICTURE, run_picture},
};

static bool parse_engine(papers_args *args, const char *text)
{
    for (int e = TML_ENGINE_CPU; e <= TML_ENGINE_GL; e++)
        if (strcmp(text, table_engines[e]) == 0)
            args->engine = (tml_engine_kind)e;
    return args->engine != TML_ENGINE_AUTO;
}

static bool parse_field(papers_args *args, const char *text)
{
    args->field = 0;
    while (args->field < BENCH_FIELD_COUNT && strcmp(text, bench_field_name(args->field)) != 0)
        args->field++;
    return args->field < BENCH_FIELD_COUNT;
}

static bool parse_sweep(papers_args *args, const char *text)
{
    char end;
    return sscanf(text, "%u:%u%c", &args->sweep[0], &args->sweep[1], &end) == 2 &&
           args->sweep[0] > 0 && args->sweep[0] <= args->sweep[1];
}

static bool parse_keep(papers_args *args, const char *text)
{
    char *end;
    args->keep = strtod(text, &end);
    return end != text && *end == '\0' && args->keep >= 0 && args->keep <= 100;
}

/* An option's value: a file's name, a whole number, or what parse takes. */
static const struct option {
    const char *name;
    unsigned of; /* commands */
    bool (*parse)(papers_args *args, const char *text);
    size_t file, number; /* offsets; exactly one is not 0 if parse is NULL */
    uint64_t least, most;
    const char *ending;
} options[] = {
    {"--engine", FILTER | FLOATS | SELVES, .parse = parse_engine},
    {"--field", SURFACE, .parse = parse_field},
    {"--sweep", AVERAGES, .parse = parse_sweep},
    {"--keep", FILTER | PICTURE, .parse = parse_keep},
    {"--input", AVERAGES, .file = offsetof(papers_args, input)},
    {"--sheet", AVERAGES, .file = offsetof(papers_args, sheet), .ending = ".png"},
    {"--output", AVERAGES, .file = offsetof(papers_args, output), .ending = ".svg"},
    {"--data", BOXES, .file = offsetof(papers_args, data)},
    {"--count", FILTER | PICTURE, .number = offsetof(papers_args, count), .least = 1,
     .most = UINT64_C(1) << 30},
    {"--side", SURFACE, .number = offsetof(papers_args, size), .least = 2, .most = 1024},
    {"--triangles", BOXES | IMAGES, .number = offsetof(papers_args, triangles), .least = 8,
     .most = 100000000},
    {"--step", FLOATS, .number = offsetof(papers_args, step), .least = 1, .most = UINT32_MAX},
    {"--repeats", REPEATED, .number = offsetof(papers_args, repeats), .least = 0,
     .most = UINT32_MAX},
};

static bool refuse(const char *what, const char *value, const char *why)
{
    fprintf(stderr, "trommel-papers: %s%s%s%s\n", what, value ? " " : "", value ? value : "", why);
    return false;
}

static bool ends_in(const char *name, const char *ending)
{
    size_t length = strlen(name), end = strlen(ending);
    return length > end && strcmp(name + length - end, ending) == 0;
}

static bool parse_value(const struct option *o, papers_args *args, const char *text)
{
    char *end;
    if (o->parse)
        return o->parse(args, text);
    if (o->file) {
        memcpy((char *)args + o->file, &text, sizeof text);
        return !o->ending || ends_in(text, o->ending);
    }
    uint64_t number = strtoull(text, &end, 10);
    memcpy((char *)args + o->number, &number, sizeof number);
    return *text >= '0' && *text <= '9' && *end == '\0' && number >= o->least && number <= o->most;
}

static bool parse_option(const command *c, papers_args *args, const char *name, const char *value)
{
    for (size_t o = 0; o < sizeof options / sizeof options[0]; o++) {
        if (strcmp(name, options[o].name) != 0)
            continue;
        if (!(options[o].of & c->bit))
            return refuse(name, NULL, " is not for this table");
        if (!value)
            return refuse(name, NULL, " lacks its value");
        return parse_value(&options[o], args, value) ||
               refuse(name, value, " is no value that it takes");
    }
    return refuse(name, NULL, " is no option");
}

/* Checks which options belong together, and names that would overwrite each other. */
static bool check(const command *c, const papers_args *args)
{
    const char *out = args->output ? args->output : args->sheet;
    if (c->bit == PICTURE && (!args->file || !ends_in(args->file, ".png")))
        return refuse("picture", args->file, " needs the name of a file that ends in .png");
    if (!args->output != !args->sweep[1])
        return refuse("--sweep and --output", NULL, " need each other");
    if (args->output && args->sheet)
        return refuse("--sheet and --output", NULL, " exclude each other");
    if (out && !args->input)
        return refuse(args->output ? "--output" : "--sheet", NULL, " needs --input");
    if (out && strcmp(out, args->input) == 0)
        return refuse(out, NULL, " would overwrite the input");
    return true;
}

static const command *parse(int argc, char **argv, papers_args *args)
{
    const command *c = NULL;
    int i = 2;
    *args = (papers_args){.field = BENCH_GYROID,
                          .count = 1 << 22,
                          .size = 128,
                          .triangles = 200000,
                          .keep = 10,
                          .step = 61};
    for (size_t k = 0; k < sizeof commands / sizeof commands[0] && argc > 1; k++)
        if (strcmp(argv[1], commands[k].name) == 0)
            c = &commands[k];
    args->check = c && argc == 3 && strcmp(argv[2], "--check") == 0;
    if (!c || args->check)
        return c;
    if (c->bit == PICTURE && i < argc)
        args->file = argv[i++];
    for (; i < argc; i += 2)
        if (!parse_option(c, args, argv[i], i + 1 < argc ? argv[i + 1] : NULL))
            return NULL;
    return check(c, args) ? c : NULL;
}

int main(int argc, char **argv)
{
    papers_args args;
    const command *c = parse(argc, argv, &args);
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(usage, stdout);
        return EXIT_SUCCESS;
    }
    if (!c) {
        fputs(usage, stderr);
        return 2;
    }
    return args.check ? papers_check(c->name) : c->run(&args);
}
