/* trommel bench: how fast an operation runs on this machine, as a share of a copy's speed.
 *
 * Results are checked against plain loops before anything is timed. A row's runs alternate with
 * those of a copy that moves as many bytes as the operation must (each input byte read once, each
 * output byte written once): a memcpy on as many threads, or the device's own. On a GPU the device's
 * clock counts, inputs lie in its memory, and small operations take turns on enough of them that no
 * cache holds them. */
#include "bench_collide.h"
#include "bench_data.h"
#include "bench_image.h"
#include "bench_ops.h"
#include "bench_subdivide.h"
#include "cli.h"
#include "fields.h"

#include <math.h>
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
    bool sweep;
    uint32_t normals; /* tml_normals */
    opt_numbers picture;
    uint64_t count;
    opt_numbers keep;
    uint64_t triangles;
    uint64_t levels;
    uint64_t repeats;
    const char *peers;
} bench_args;

static const tml_type types[] = {TML_TYPE_NONE, TML_U8,  TML_I8,  TML_U16, TML_I16,
                                 TML_U32,       TML_U64, TML_F32, TML_F64, TML_F16};

static const opt bench_options[] = {
    {OPT_SECTION, .help = "Input"},
    {OPT_INPUT, "input", .argument = "FILE", .offset = offsetof(bench_args, input),
     .help = "a volume (surface) or an NPY array, instead of a generated one"},
    {OPT_CHOICE, "type", .choices = "auto|u8|i8|u16|i16|u32|u64|f32|f64|f16", .fallback = "auto",
     .offset = offsetof(bench_args, type),
     .help = "element type; auto: f32 for surface, u32 for streams, f16 and f32 for image"},
    {OPT_CHOICE, "field", .choices = BENCH_FIELD_CHOICES, .fallback = "gyroid",
     .offset = offsetof(bench_args, field), .help = "surface: the volume's formula"},
    {OPT_COUNT, "size", .brief = "surface: samples along each side", .argument = "N", .least = 2,
     .most = 4096, .fallback = "512", .offset = offsetof(bench_args, size),
     .help = "surface: samples along each side"},
    {OPT_NUMBERS, "iso", .argument = "V", .count_least = 1, .count_most = 1,
     .offset = offsetof(bench_args, iso),
     .help = "surface: isovalue (default: the field's; a file needs one)"},
    {OPT_CHOICE, "normals", .choices = "none|forward|central|sobel", .fallback = "central",
     .offset = offsetof(bench_args, normals),
     .help = "surface: normals to make; a second row has none"},
    {OPT_FLAG, "sweep", .offset = offsetof(bench_args, sweep),
     .help = "surface: also isovalues around that one in turn, with the volume's index"},
    {OPT_NUMBERS, "picture", .argument = "W,H", .count_least = 2, .count_most = 2,
     .offset = offsetof(bench_args, picture),
     .help = "image: width and height (default: 3840,2160 and 7680,4320; mip chains: 4096,4096)"},
    {OPT_BYTES, "count", .brief = "streams: elements", .argument = "N", .fallback = "16M",
     .offset = offsetof(bench_args, count),
     .help = "streams: elements; K, M, G are powers of 1024"},
    {OPT_NUMBERS, "keep", .brief = "percent of elements to keep", .argument = "P[,P...]",
     .offset = offsetof(bench_args, keep),
     .help = "percent of elements to keep; for unique and segments: to begin a run (default: "
             "1,10,50,90)"},
    {OPT_COUNT, "triangles", .argument = "N", .least = 100, .most = 100000000, .fallback = "200000",
     .offset = offsetof(bench_args, triangles), .help = "collide: of each torus, about"},
    {OPT_COUNT, "levels", .argument = "N", .most = 8, .fallback = "0",
     .offset = offsetof(bench_args, levels),
     .help = "subdivide: of a torus of 4096 triangles; 0: 5 on the CPU and 6 on a GPU"},
    {OPT_SECTION, .help = "Measuring"},
    {OPT_COUNT, "repeats", .brief = "runs of each row; 0: about a second", .argument = "N",
     .most = 1000, .fallback = "0", .offset = offsetof(bench_args, repeats),
     .help = "runs of each row; 0: as many as take a second"},
    {OPT_INPUT, "peers", .argument = "FILE", .offset = offsetof(bench_args, peers),
     .help = "a peer's times (lines of operation, count, percent, milliseconds) to show beside"},
    {0},
};

/* A measured row. */
typedef struct bench_row {
    char name[64];
    bench_kind kind;
    tml_type type;
    uint64_t count;
    double percent; /* 0: none */
    uint64_t bytes, result_count, vertex_count;
    bench_time time, copy_time;
    double peer_s; /* 0: unknown */
} bench_row;

#define OPERATIONS                                                                                 \
    "copy|compact|flags|partition|unique|scan|segments|reduce|expand|surface|image|collide|"       \
    "subdivide|all"

enum { MAX_ROWS = 5 * OPT_MAX_NUMBERS + BENCH_KIND_COUNT };

typedef struct bench_report {
    const char *op;
    char input[160]; /* "gyroid, 512 x 512 x 512 f32, iso 0.1" */
    uint32_t row_count;
    bench_row rows[MAX_ROWS];
} bench_report;

/* ---- rows ----------------------------------------------------------------------------------- */

/* What moves as many bytes as an operation: memcpy, or the device's copy. */
typedef struct copy_job {
    bool is_host;
    bench_copy host;
    bench_op device;
} copy_job;

static tml_status create_copy(tml_context *tml, uint64_t bytes, copy_job *out, bench_job *job)
{
    tml_device_info device;
    tml_context_describe(tml, &device);
    *out = (copy_job){.is_host = device.engine == TML_ENGINE_CPU};
    if (out->is_host) {
        *job = (bench_job){.name = "memcpy", .run = bench_copy_run, .user = &out->host};
        if (bench_copy_create(tml, bytes, &out->host))
            return TML_OK;
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for two blocks of %llu bytes",
                         (unsigned long long)bytes / 2);
    }
    *job = (bench_job){.name = "copy", .run = bench_op_run, .user = &out->device, .device = tml};
    const bench_desc desc = {
        .kind = BENCH_COPY, .type = TML_U32, .count = bytes / (2 * sizeof(uint32_t)) + 1};
    return bench_op_create(tml, &desc, &out->device);
}

static void destroy_copy(copy_job *copy)
{
    if (copy->is_host)
        bench_copy_destroy(&copy->host);
    else
        bench_op_destroy(&copy->device);
}

/* Times a job beside the copy of as many bytes; the job is on the host's clock where the copy is. There a
 * peer, if any, takes its turn too. */
static tml_status time_beside_copy(tml_context *tml, const bench_args *args, bench_job job,
                                   const bench_job *peer, uint64_t bytes, bench_row *row)
{
    copy_job copy = {.is_host = false};
    bench_job jobs[3] = {job};
    tml_status status = create_copy(tml, bytes, &copy, &jobs[1]);
    uint32_t count = 2;
    jobs[0].device = jobs[1].device;
    if (peer && copy.is_host)
        jobs[count++] = *peer;
    if (!status && !bench_run(jobs, count, (uint32_t)args->repeats))
        status = tml_is_cancelled(tml) ? TML_ERROR_CANCELLED : TML_ERROR_INTERNAL;
    row->bytes = bytes;
    row->time = jobs[0].time;
    row->copy_time = jobs[1].time;
    row->peer_s = jobs[2].time.median_s;
    destroy_copy(&copy);
    return status;
}

/* Checks an operation, times it beside the copy and adds the row. */
static tml_status measure(tml_context *tml, const bench_args *args, const bench_desc *desc,
                          const char *name, double percent, bench_report *report)
{
    bench_op op;
    tml_status status = bench_op_create(tml, desc, &op);
    if (!status)
        status = bench_op_check(&op);
    bench_row row = {.kind = desc->kind,
                     .type = desc->type,
                     .count = desc->count,
                     .percent = percent,
                     .result_count = op.result_count,
                     .vertex_count = op.vertex_count};
    snprintf(row.name, sizeof row.name, "%s", name);
    if (!status)
        status =
            time_beside_copy(tml, args, (bench_job){.name = name, .run = bench_op_run, .user = &op},
                             NULL, op.bytes, &row);
    if (!status)
        report->rows[report->row_count++] = row;
    bench_op_destroy(&op);
    return status;
}

/* ---- images --------------------------------------------------------------------------------- */

static tml_status measure_image(tml_context *tml, const bench_args *args,
                                const bench_image_desc *desc, bench_report *report)
{
    bench_image image;
    bench_row row = {.type = desc->type, .count = (uint64_t)desc->width * desc->height};
    tml_status status = bench_image_create(tml, desc, &image);
    if (!status)
        status = bench_image_check(&image);
    snprintf(row.name, sizeof row.name, "%s, %u x %u %s", bench_image_name(desc->kind), desc->width,
             desc->height, tml_type_name(desc->type));
    const bench_job own = {.name = row.name, .run = bench_image_run, .user = &image};
    const bench_job plain = {.name = "plain loop", .run = bench_image_run_plain, .user = &image};
    if (!status)
        status = time_beside_copy(tml, args, own, bench_image_has_plain(desc) ? &plain : NULL,
                                  image.bytes, &row);
    if (!status)
        report->rows[report->row_count++] = row;
    bench_image_destroy(&image);
    if (status != TML_ERROR_UNSUPPORTED)
        return status;
    cli_error("%s is left out: %s", row.name, cli_last_error(tml));
    return TML_OK;
}

/* Measuring and tone-mapping halves and floats, and mip chains of bytes, beside reading them. */
static tml_status run_image(tml_context *tml, const bench_args *args, bench_report *report)
{
    static const uint32_t usual[][2] = {{3840, 2160}, {7680, 4320}};
    static const tml_type usual_types[] = {TML_F16, TML_F32};
    uint32_t sides[2] = {(uint32_t)args->picture.values[0], (uint32_t)args->picture.values[1]};
    bool is_given = args->picture.count > 0;
    tml_status status = TML_OK;
    snprintf(report->input, sizeof report->input, "random pictures of four channels");
    for (int s = 0; s < (is_given ? 1 : 2); s++)
        for (int t = 0; t < 2; t++)
            for (bench_image_kind kind = 0; !status && kind <= BENCH_IMAGE_READ; kind++) {
                const uint32_t *size = is_given ? sides : usual[s];
                bool is_wanted = args->type == 0 || types[args->type] == usual_types[t];
                if (is_wanted)
                    status = measure_image(
                        tml, args, &(bench_image_desc){kind, usual_types[t], size[0], size[1]},
                        report);
            }
    uint32_t width = is_given ? sides[0] : 4096, height = is_given ? sides[1] : 4096;
    static const bench_image_kind of_bytes[] = {BENCH_IMAGE_MIPS, BENCH_IMAGE_KAISER,
                                                BENCH_IMAGE_READ};
    for (int k = 0; !status && k < 3; k++)
        status = measure_image(tml, args, &(bench_image_desc){of_bytes[k], TML_U8, width, height},
                               report);
    return status;
}

/* ---- streams -------------------------------------------------------------------------------- */

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

/* A stream operation's rows: one, or one for each percentage. */
static tml_status measure_stream(tml_context *tml, const bench_args *args, bench_kind kind,
                                 const tml_array *array, bench_report *report)
{
    bench_desc desc = {
        .kind = kind, .type = array->type, .data = array->data, .count = array->count};
    if (!bench_kind_has_limit(kind))
        return measure(tml, args, &desc, bench_kind_name(kind), 0, report);
    tml_status status = TML_OK;
    static const double usual[] = {1, 10, 50, 90};
    uint32_t rows = args->keep.count ? args->keep.count : 4;
    for (uint32_t i = 0; !status && i < rows; i++) {
        double percent = args->keep.count ? args->keep.values[i] : usual[i];
        char name[64];
        desc.keep_below = args->input ? threshold_of(array->data, array->count, percent)
                                      : bench_stream_threshold(percent);
        snprintf(name, sizeof name, "%s, %g %%", bench_kind_name(kind), percent);
        status = measure(tml, args, &desc, name, percent, report);
    }
    return status;
}

static tml_status measure_surface(tml_context *tml, const bench_args *args,
                                  const tml_volume *volume, double iso, bench_report *report)
{
    enum { SWEEP = 16 };
    double sweep[SWEEP], low, high;
    const uint64_t *dims = volume->grid.dims;
    bench_desc desc = {.kind = BENCH_SURFACE,
                       .type = volume->type,
                       .data = volume->data,
                       .count = dims[0] * dims[1] * dims[2],
                       .grid = volume->grid,
                       .iso = iso};
    tml_status status = TML_OK;
    if (args->normals != TML_NORMALS_NONE) {
        static const char *const names[] = {"", "surface, forward normals",
                                            "surface, central normals", "surface, Sobel normals"};
        desc.normals = (tml_normals)args->normals;
        status = measure(tml, args, &desc, names[args->normals], 0, report);
        desc.normals = TML_NORMALS_NONE;
    }
    if (!status)
        status = measure(tml, args, &desc, "surface, no normals", 0, report);
    if (status || !args->sweep)
        return status;
    /* A tenth of the field's range around the isovalue; a file's range is not known. */
    bench_field_range(args->field, volume->type, &low, &high);
    double span = args->input ? 0 : 0.1 * (high - low);
    for (int i = 0; i < SWEEP; i++)
        sweep[i] = iso + span * ((double)i / (SWEEP - 1) - 0.5);
    desc.sweep = sweep;
    desc.sweep_count = SWEEP;
    return measure(tml, args, &desc, "next isovalue, index", 0, report);
}

/* ---- peers ---------------------------------------------------------------------------------- */

typedef struct peer_line {
    char op[64];
    unsigned long long count;
    double percent, seconds;
} peer_line;

/* Hands on each line of operation, count, percent and milliseconds; others are passed by. */
static bool read_peers(const char *path, void (*take)(void *user, const peer_line *line),
                       void *user)
{
    FILE *file = fopen(path, "r");
    char text[256];
    peer_line line;
    if (!file)
        return false;
    while (fgets(text, sizeof text, file))
        if (sscanf(text, "%63s %llu %lf %lf", line.op, &line.count, &line.percent, &line.seconds) ==
            4) {
            line.seconds *= 1e-3;
            take(user, &line);
        }
    fclose(file);
    return true;
}

/* A stream's, on u32. */
static void take_stream_peer(void *user, const peer_line *line)
{
    bench_report *report = user;
    for (uint32_t i = 0; i < report->row_count; i++) {
        bench_row *row = &report->rows[i];
        if (strcmp(line->op, bench_kind_name(row->kind)) == 0 && row->type == TML_U32 &&
            line->count == row->count && line->percent == row->percent)
            row->peer_s = line->seconds;
    }
}

/* ---- collisions ----------------------------------------------------------------------------- */

static void print_collide(const bench_collide_row *rows, uint32_t count, uint64_t triangles,
                          const tml_device_info *device, uint32_t threads)
{
    printf("collide: two tori of about %llu triangles\n%s (%s); %u at once\n\n",
           (unsigned long long)triangles, device->name, device->features, threads);
    printf("%-28s %10s %10s %12s %10s\n", "", "min ms", "median ms", "ms a pose", "pairs");
    for (uint32_t i = 0; i < count; i++) {
        printf("%-28s %10.4g %10.4g", rows[i].name, rows[i].time.min_s * 1e3,
               rows[i].time.median_s * 1e3);
        if (rows[i].poses)
            printf(" %12.4g %10llu", rows[i].time.median_s * 1e3 / rows[i].poses,
                   (unsigned long long)rows[i].pairs);
        putchar('\n');
    }
}

static void print_collide_json(const bench_collide_row *rows, uint32_t count, uint64_t triangles,
                               const tml_device_info *device)
{
    json *j = fields_json();
    json_text(j, "op", "collide");
    json_text(j, "device", device->name);
    json_count(j, "triangles", triangles);
    json_open(j, "rows", '[');
    for (uint32_t i = 0; i < count; i++) {
        json_open(j, NULL, '{');
        json_text(j, "name", rows[i].name);
        json_count(j, "poses", rows[i].poses);
        json_count(j, "pairs", rows[i].pairs);
        json_number(j, "min_s", rows[i].time.min_s);
        json_number(j, "median_s", rows[i].time.median_s);
        json_close(j, '{');
    }
    json_close(j, '[');
    json_close(j, '{');
    putchar('\n');
}

static int run_collide(const bench_args *args)
{
    bench_collide_row rows[BENCH_COLLIDE_ROWS];
    uint32_t count;
    tml_context *tml = cli_open(&args->common, &(cli_work){.cpu_seconds = HUGE_VAL});
    if (!tml)
        return CLI_FAILED;
    int code =
        cli_fail(tml, bench_collide(tml, args->triangles, (uint32_t)args->repeats, rows, &count));
    if (code == CLI_OK) {
        tml_device_info device;
        tml_context_describe(tml, &device);
        if (args->common.json)
            print_collide_json(rows, count, args->triangles, &device);
        else
            print_collide(rows, count, args->triangles, &device, tml_concurrency(tml));
    }
    cli_close(tml);
    return code;
}

/* ---- subdivision ---------------------------------------------------------------------------- */

static void print_subdivide(const bench_subdivide_row *rows, uint32_t count, uint32_t levels,
                            const tml_device_info *device, uint32_t threads)
{
    bool has_peers = false;
    for (uint32_t i = 0; i < count; i++)
        has_peers |= rows[i].peer_s > 0;
    printf("subdivide: a torus of 4096 triangles to level %u, one of 98304 for 3840 x 2160 "
           "pixels\n%s (%s); %u at once\n\n",
           levels, device->name, device->features, threads);
    printf("%-28s %10s %10s %12s %14s%s\n", "", "min ms", "median ms", "triangles", "G triangles/s",
           has_peers ? "    peer ms  of peer" : "");
    for (uint32_t i = 0; i < count; i++) {
        double median = rows[i].time.median_s;
        printf("%-28s %10.4g %10.4g %12llu %14.4g", rows[i].name, rows[i].time.min_s * 1e3,
               median * 1e3, (unsigned long long)rows[i].triangles,
               (double)rows[i].triangles / median * 1e-9);
        if (rows[i].peer_s > 0)
            printf(" %10.4g %8.2f", rows[i].peer_s * 1e3, median / rows[i].peer_s);
        putchar('\n');
    }
}

static void print_subdivide_json(const bench_subdivide_row *rows, uint32_t count, uint32_t levels,
                                 const tml_device_info *device)
{
    json *j = fields_json();
    json_text(j, "op", "subdivide");
    json_text(j, "device", device->name);
    json_count(j, "levels", levels);
    json_open(j, "rows", '[');
    for (uint32_t i = 0; i < count; i++) {
        json_open(j, NULL, '{');
        json_text(j, "name", rows[i].name);
        json_count(j, "triangles", rows[i].triangles);
        json_number(j, "min_s", rows[i].time.min_s);
        json_number(j, "median_s", rows[i].time.median_s);
        if (rows[i].peer_s > 0)
            json_number(j, "peer_s", rows[i].peer_s);
        json_close(j, '{');
    }
    json_close(j, '[');
    json_close(j, '{');
    putchar('\n');
}

/* A peer's time belongs to a row of as many triangles. */
typedef struct subdivide_rows {
    bench_subdivide_row rows[BENCH_SUBDIVIDE_ROWS];
    uint32_t count;
} subdivide_rows;

static void take_subdivide_peer(void *user, const peer_line *line)
{
    subdivide_rows *all = user;
    for (uint32_t i = 0; i < all->count; i++)
        if (strncmp(line->op, "subdivide-", 10) == 0 &&
            strcmp(line->op + 10, all->rows[i].key) == 0 && line->count == all->rows[i].triangles)
            all->rows[i].peer_s = line->seconds;
}

static int run_subdivide(const bench_args *args)
{
    subdivide_rows all = {.count = 0};
    tml_context *tml = cli_open(&args->common, &(cli_work){.cpu_seconds = HUGE_VAL});
    if (!tml)
        return CLI_FAILED;
    tml_device_info device;
    tml_context_describe(tml, &device);
    uint32_t usual = device.engine == TML_ENGINE_CPU ? 5 : 6;
    uint32_t levels = args->levels ? (uint32_t)args->levels : usual;
    int code =
        cli_fail(tml, bench_subdivide(tml, levels, (uint32_t)args->repeats, all.rows, &all.count));
    if (code == CLI_OK && args->peers && !read_peers(args->peers, take_subdivide_peer, &all))
        code = cli_error("%s cannot be read", args->peers);
    if (code == CLI_OK && args->common.json)
        print_subdivide_json(all.rows, all.count, levels, &device);
    else if (code == CLI_OK)
        print_subdivide(all.rows, all.count, levels, &device, tml_concurrency(tml));
    cli_close(tml);
    return code;
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
            return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "the volume needs %zu bytes",
                             volume.size);
        if (!bench_field_fill(tml, args->field, volume.type, args->size, volume.data))
            status = tml_error(tml, TML_ERROR_UNSUPPORTED,
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

/* Is the type one that the operation's check knows? */
static bool is_measured(bench_kind kind, tml_type type)
{
    bool is_scanned = type == TML_U32 || type == TML_U64 || type == TML_F32 || type == TML_F64;
    return type == TML_U32 || (kind == BENCH_SCAN && is_scanned) ||
           (kind == BENCH_REDUCE && (is_scanned || type == TML_U8 || type == TML_U16));
}

/* The operations from first to last on one array. */
static tml_status run_streams(tml_context *tml, const bench_args *args, bench_kind first,
                              bench_kind last, bench_report *report)
{
    tml_array array = {.type = args->type ? types[args->type] : TML_U32, .count = args->count};
    tml_status status = TML_OK;
    if (args->input && (status = tml_array_load(tml, args->input, &array)))
        return status;
    bool is_known = is_measured(first, array.type);
    if (!is_known) {
        status = tml_error(tml, TML_ERROR_UNSUPPORTED, "%s measures no %s elements", report->op,
                           tml_type_name(array.type));
    } else if (!args->input) {
        array.size = array.count * tml_type_size(array.type);
        array.data = tml_alloc(tml, array.size);
        if (array.data)
            fill_array(tml, &array);
        else
            status =
                tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "the array needs %zu bytes", array.size);
    }
    snprintf(report->input, sizeof report->input, "%s%s%llu %s", args->input ? args->input : "",
             args->input ? ", " : "", (unsigned long long)array.count, tml_type_name(array.type));
    for (bench_kind kind = first; !status && kind <= last; kind++) {
        status = measure_stream(tml, args, kind, &array, report);
        if (status == TML_ERROR_UNSUPPORTED && first < last) {
            cli_error("%s is left out: %s", bench_kind_name(kind), cli_last_error(tml));
            status = TML_OK;
        }
    }
    if (args->input)
        tml_array_free(tml, &array);
    else
        tml_free(tml, array.data, array.size);
    return status;
}

/* ---- report --------------------------------------------------------------------------------- */

static double copy_share(const bench_row *row)
{
    return row->copy_time.median_s / row->time.median_s;
}

static void print_json(const bench_report *report, const tml_device_info *device, uint32_t threads)
{
    json *j = fields_json();
    json_text(j, "op", report->op);
    json_text(j, "input", report->input);
    json_text(j, "device", device->name);
    json_text(j, "features", device->features);
    json_count(j, "threads", threads);
    json_open(j, "rows", '[');
    for (uint32_t i = 0; i < report->row_count; i++) {
        const bench_row *row = &report->rows[i];
        json_open(j, NULL, '{');
        json_text(j, "name", row->name);
        json_number(j, "min_s", row->time.min_s);
        json_number(j, "median_s", row->time.median_s);
        json_count(j, "runs", row->time.runs);
        json_count(j, "bytes", row->bytes);
        json_number(j, "copy_s", row->copy_time.median_s);
        json_number(j, "copy_share", copy_share(row));
        if (row->peer_s > 0)
            json_number(j, "peer_s", row->peer_s);
        json_count(j, "result_count", row->result_count);
        json_close(j, '{');
    }
    json_close(j, '[');
    json_close(j, '{');
    putchar('\n');
}

static void print_table(const bench_report *report, const tml_device_info *device, uint32_t threads)
{
    bool has_peers = false;
    for (uint32_t i = 0; i < report->row_count; i++)
        has_peers |= report->rows[i].peer_s > 0;
    printf("%s: %s\n%s (%s); %u at once\n\n", report->op, report->input, device->name,
           device->features, threads);
    printf("%-28s %10s %10s %8s %10s%s  %s\n", "", "min ms", "median ms", "GB/s", "of a copy",
           has_peers ? "    peer ms  of peer" : "", "result");
    for (uint32_t i = 0; i < report->row_count; i++) {
        const bench_row *row = &report->rows[i];
        double median = row->time.median_s;
        printf("%-28s %10.4g %10.4g %8.1f %8.0f %%", row->name, row->time.min_s * 1e3, median * 1e3,
               (double)row->bytes / median * 1e-9, copy_share(row) * 100);
        if (has_peers && row->peer_s > 0)
            printf(" %10.4g %8.2f", row->peer_s * 1e3, median / row->peer_s);
        else if (has_peers)
            printf(" %10s %8s", "-", "-");
        if (row->vertex_count)
            printf("  %llu vertices, %llu triangles", (unsigned long long)row->vertex_count,
                   (unsigned long long)row->result_count);
        else if (row->result_count)
            printf("  %llu elements", (unsigned long long)row->result_count);
        putchar('\n');
    }
}

/* The operations that an operand names; false if none. */
static bool find_kinds(const char *name, bench_kind *first, bench_kind *last)
{
    *first = BENCH_COPY;
    *last = BENCH_SURFACE - 1;
    if (strcmp(name, "all") == 0)
        return true;
    for (*first = 0; *first < BENCH_KIND_COUNT; ++*first)
        if (strcmp(name, bench_kind_name(*first)) == 0) {
            *last = *first;
            return true;
        }
    return false;
}

static int bench_run_command(void *user, char **operands, uint32_t operand_count)
{
    const bench_args *args = user;
    static bench_report report;
    bench_kind first, last;
    (void)operand_count;
    report.op = operands[0];
    if (strcmp(operands[0], "collide") == 0)
        return run_collide(args);
    if (strcmp(operands[0], "subdivide") == 0)
        return run_subdivide(args);
    bool is_image = strcmp(operands[0], "image") == 0;
    if (!find_kinds(operands[0], &first, &last) && !is_image)
        return cli_usage("%s is no operation (expected " OPERATIONS ")", operands[0]);
    if (args->input && !args->iso.count && first == BENCH_SURFACE)
        return cli_usage("a volume from a file needs --iso");
    for (uint32_t i = 0; i < args->picture.count; i++)
        if (!(args->picture.values[i] >= 1 && args->picture.values[i] <= 32768))
            return cli_usage("--picture needs sides of 1 to 32768");
    tml_context *tml = cli_open(&args->common, &(cli_work){.cpu_seconds = HUGE_VAL});
    if (!tml)
        return CLI_FAILED;
    int code =
        cli_fail(tml, is_image                 ? run_image(tml, args, &report)
                      : first == BENCH_SURFACE ? run_surface(tml, args, &report)
                                               : run_streams(tml, args, first, last, &report));
    if (code == CLI_OK && args->peers && !read_peers(args->peers, take_stream_peer, &report))
        code = cli_error("%s cannot be read", args->peers);
    if (code == CLI_OK) {
        tml_device_info device;
        tml_context_describe(tml, &device);
        if (args->common.json)
            print_json(&report, &device, tml_concurrency(tml));
        else
            print_table(&report, &device, tml_concurrency(tml));
    }
    cli_close(tml);
    return code;
}

const cli_command cmd_bench = {
    {"bench", "OPERATION", "Measures an operation as a share of a copy's speed",
     "OPERATION is copy, compact, flags, partition, unique, scan, segments, "
     "reduce, expand, surface, image (measuring, tone-mapping and mip "
     "chains), all (of those on streams), collide (trees, and what meets of two tori, in "
     "milliseconds), or subdivide (a torus to a level, and one for a camera).\n\n"
     "Checks the result against a plain loop, then runs the operation "
     "and a copy that moves as many bytes in turn (memcpy, or the "
     "device's copy). GB/s counts each input byte once and each output "
     "byte once; \"of a copy\" is the copy's median time over the "
     "operation's. A picture's means have a peer on the CPU: what the compiler makes of a plain "
     "loop "
     "with -ffast-math (gcc: with glibc's vector log2f).",
     "trommel bench compact --count 128M\n"
     "  compact 2^27 numbers, keeping 1, 10, 50 and 90 percent\n"
     "trommel bench surface --field noise --size 256 --threads 1\n"
     "  a dense surface on one thread\n"
     "trommel bench image --backend vulkan\n"
     "  what a frame that meters itself costs on a GPU\n"
     "trommel bench all --backend vulkan --count 256M --peers cub.txt\n"
     "  everything on a GPU, beside times that peers_cub printed",
     bench_options, cli_shared_options, 1, 1, NULL, 0},
    sizeof(bench_args),
    bench_run_command,
    false};
