/* trommel-bench paths: the cost of each way of storing values in textures on OpenGL ES. */
#include "bench_commands.h"
#include "bench_data.h"
#include "bench_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <trommel/gl.h>
#include <trommel/stream.h>
#include <trommel/surface.h>

#include <trommel/kernel_begin.h>

TML_KERNEL(float, paths_double, (float x), { return 2.0f * x + 1.0f; })
TML_KERNEL(bool, paths_is_low, (float x), { return x < 0.5f; })

#include <trommel/kernel_end.h>

typedef struct paths_args {
    bench_args bench;
    uint64_t count, side;
} paths_args;

static const opt paths_options[] = {
    {OPT_SECTION, .help = "Input"},
    {OPT_BYTES, "count", .brief = "numbers", .argument = "N", .fallback = "4M",
     .offset = offsetof(paths_args, count),
     .help =
         "numbers (f32), at most 16M, which is where the float tier ends; K, M are powers of 1024"},
    {OPT_COUNT, "side", .brief = "", .argument = "N", .least = 2, .most = 256, .fallback = "96",
     .offset = offsetof(paths_args, side), .help = "samples along each side of the soup's volume"},
    BENCH_OPTIONS(paths_args),
    {0},
};

static const tml_gl_path all_paths[] = {TML_GL_PATH_INTEGER, TML_GL_PATH_FLOAT,
                                        TML_GL_PATH_FLOAT_PACKED, TML_GL_PATH_PACKED};
enum { PATHS = sizeof all_paths / sizeof all_paths[0] };

static const bench_column paths_columns[] = {
    BENCH_COLUMN("integer_median_s", "integer ms", 1e3),
    BENCH_COLUMN("float_median_s", "float ms", 1e3),
    BENCH_COLUMN("float_packed_median_s", "float-packed ms", 1e3),
    BENCH_COLUMN("packed_median_s", "packed ms", 1e3),
    {0},
};

/* A path's context and buffers; in and out: f32, count. */
typedef struct path_job {
    tml_context *tml;
    uint64_t count, triangles;
    const float *numbers;
    float *read; /* one for all */
    tml_buffer in, out, kept, volume;
    tml_surface_desc soup;
} path_job;

static bool run_write(void *user)
{
    const path_job *job = user;
    return tml_buffer_write(job->tml, job->in, 0, job->count, job->numbers) == TML_OK &&
           tml_sync(job->tml) == TML_OK;
}

static bool run_map(void *user)
{
    const path_job *job = user;
    return tml_map(job->tml, &(tml_map_desc){.kernel = TML_USE(paths_double),
                                             .in = {job->in},
                                             .out = {job->out}}) == TML_OK &&
           tml_sync(job->tml) == TML_OK;
}

static bool run_compact(void *user)
{
    const path_job *job = user;
    return tml_compact(job->tml, &(tml_compact_desc){.keep = {.kernel = TML_USE(paths_is_low)},
                                                     .payloads = {{.in = job->in, .out = job->out}},
                                                     .count = job->kept}) == TML_OK &&
           tml_sync(job->tml) == TML_OK;
}

static bool run_soup(void *user)
{
    path_job *job = user;
    tml_surface_result result;
    if (tml_surface(job->tml, &job->soup, &result))
        return false;
    job->triangles = result.triangle_count;
    tml_surface_free(job->tml, &result);
    return tml_sync(job->tml) == TML_OK;
}

static bool run_read(void *user)
{
    const path_job *job = user;
    return tml_buffer_read(job->tml, job->out, job->read) == TML_OK;
}

/* Is out the row's correct result? */
static bool is_mapped(const path_job *job)
{
    for (uint64_t i = 0; i < job->count; i++)
        if (job->read[i] != 2.0f * job->numbers[i] + 1.0f)
            return false;
    return true;
}

static bool is_compacted(const path_job *job)
{
    uint64_t at = 0, total = 0;
    for (uint64_t i = 0; i < job->count; i++)
        if (job->numbers[i] < 0.5f && job->read[at++] != job->numbers[i])
            return false;
    return tml_buffer_read_count(job->tml, job->kept, &total) == TML_OK && total == at;
}

typedef struct path_row {
    const char *name;
    bool (*run)(void *user);
    bool (*is_right)(const path_job *job); /* of the data that are read after a run; NULL: none */
} path_row;
static const path_row rows[] = {{"write", run_write, NULL},
                                {"map", run_map, is_mapped},
                                {"compact, half kept", run_compact, is_compacted},
                                {"soup", run_soup, NULL},
                                {"read", run_read, NULL}};

static tml_status check(const path_row *row, path_job *job)
{
    if (!row->run(job) || (row->is_right && !run_read(job)))
        return TML_ERROR_INTERNAL; /* the log has it */
    return !row->is_right || row->is_right(job)
               ? TML_OK
               : tml_error(job->tml, TML_ERROR_INTERNAL, "%s: not what a loop makes", row->name);
}

/* Times a row on all paths alternately, after checking that the result of each is correct. */
static void measure(bench_session *session, const path_row *row, path_job *jobs)
{
    bench_job timed[PATHS];
    double values[PATHS];
    uint32_t count = 0;
    tml_status status = TML_OK;
    if (!bench_begins(&session->pace, row->name))
        return;
    for (int p = 0; p < PATHS && !status; p++)
        if (jobs[p].tml) {
            status = check(row, &jobs[p]);
            timed[count++] = (bench_job){.name = row->name, .run = row->run, .user = &jobs[p]};
        }
    for (int p = 0; p < PATHS && !status; p++)
        if (jobs[p].tml && jobs[p].triangles != jobs[PATHS - 1].triangles && jobs[PATHS - 1].tml)
            status = tml_error(session->tml, TML_ERROR_INTERNAL,
                               "paths make soups of %llu and %llu triangles",
                               (unsigned long long)jobs[p].triangles,
                               (unsigned long long)jobs[PATHS - 1].triangles);
    if (!status && !bench_run(timed, count, &session->pace))
        status = bench_stopped(session);
    count = 0;
    for (int p = 0; p < PATHS; p++)
        values[p] = jobs[p].tml && !status ? timed[count++].time.median_s : NAN;
    bench_row(session, row->name, status, values);
}

static tml_status prepare(const paths_args *args, const float *volume, path_job *job)
{
    const uint64_t n = args->side;
    const tml_buffer_desc numbers = {.type = TML_F32, .count = args->count};
    tml_status status = tml_buffer_create(job->tml, &numbers, &job->in);
    if (!status)
        status = tml_buffer_create(job->tml, &numbers, &job->out);
    if (!status)
        status = tml_buffer_create(job->tml, &(tml_buffer_desc){.type = TML_U32, .count = 1},
                                   &job->kept);
    if (!status)
        status = tml_buffer_create(
            job->tml, &(tml_buffer_desc){.type = TML_F32, .count = n * n * n, .data = volume},
            &job->volume);
    job->soup = (tml_surface_desc){.volume = job->volume,
                                   .grid = {.dims = {n, n, n}},
                                   .iso = bench_field_iso(BENCH_GYROID, TML_F32),
                                   .normals = TML_NORMALS_NONE,
                                   .soup = true};
    return status;
}

/* Opens the paths that the device has: all, or only the requested one, which the session has
 * opened. */
static tml_status open_paths(const paths_args *args, const bench_session *session,
                             const float *numbers, float *read, const float *volume,
                             path_job jobs[PATHS])
{
    const cli_common *common = &args->bench.common;
    tml_status status = TML_OK;
    for (int p = 0; p < PATHS && !status; p++) {
        const tml_gl_desc gl = {.path = all_paths[p]};
        jobs[p] = (path_job){.count = args->count, .numbers = numbers, .read = read};
        if (common->gl_path && common->gl_path != (uint32_t)all_paths[p])
            continue;
        if (tml_open(&(tml_open_desc){.engine = TML_ENGINE_GL,
                                      .device = common->device,
                                      .threads = (uint32_t)common->threads,
                                      .gl = &gl},
                     &jobs[p].tml))
            continue;
        status = prepare(args, volume, &jobs[p]);
        if (status)
            status = tml_error(session->tml, status, "path %s: %s", tml_gl_path_name(all_paths[p]),
                               tml_last_error(jobs[p].tml));
    }
    return status;
}

static int run(void *user, char **operands, uint32_t operand_count)
{
    const paths_args *args = user;
    static bench_session session;
    bench_args bench = args->bench;
    path_job jobs[PATHS] = {{0}};
    uint64_t n = args->side;
    (void)operands, (void)operand_count;
    if (bench.common.backend != TML_ENGINE_AUTO && bench.common.backend != TML_ENGINE_GL)
        return cli_usage("paths are ways of OpenGL ES: leave --backend away, or say --backend gl");
    if (args->count == 0 || args->count > UINT64_C(1) << 24)
        return cli_usage("--count is %llu, needs 1 to 16M", (unsigned long long)args->count);
    bench.common.backend = TML_ENGINE_GL;
    if (!bench_open(&session, &bench, "paths", paths_columns))
        return session.code;
    float *numbers = malloc(args->count * sizeof *numbers);
    float *read = malloc(args->count * sizeof *read);
    float *volume = malloc(n * n * n * sizeof *volume);
    tml_status status = TML_OK;
    if (!numbers || !read || !volume ||
        !bench_field_fill(session.tml, BENCH_GYROID, TML_F32, n, volume))
        status = tml_error(session.tml, TML_ERROR_OUT_OF_MEMORY, "no memory for the inputs");
    for (uint64_t i = 0; i < args->count && !status; i++)
        numbers[i] = (float)((uint32_t)i * 2654435761u >> 8) * 0x1p-24f;
    if (!status)
        status = open_paths(args, &session, numbers, read, volume, jobs);
    if (!status)
        bench_title(&session, "%llu f32, a soup of %llu^3 samples", (unsigned long long)args->count,
                    (unsigned long long)n);
    for (size_t r = 0; r < sizeof rows / sizeof rows[0] && !status; r++)
        measure(&session, &rows[r], jobs);
    bench_fail(&session, status);
    for (int p = 0; p < PATHS; p++)
        tml_close(jobs[p].tml);
    free(numbers);
    free(read);
    free(volume);
    return bench_close(&session);
}

const cli_command bench_cmd_paths = {
    {"paths", "", "Measures the ways in which values travel through textures on OpenGL ES",
     "Integer textures, float textures, float textures that are packed to be read, bytes alone; "
     "\"-\" where the "
     "device has no such path. What is made is compared with a loop before it is timed.",
     "trommel-bench paths --count 1M\n"
     "  of a million numbers\n",
     paths_options, .without = OPT_MEMORY},
    .args_size = sizeof(paths_args),
    .run = run};
