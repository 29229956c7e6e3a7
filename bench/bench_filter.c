/* Measures ways to filter a stream; see the header. */
#include "bench_filter.h"

#include "bench_data.h"
#include "bench_ops.h"
#include "bench_run.h"

#include <string.h>

#ifdef TML_GL
#    include "gl/gl_classic.h"
#endif

/* A row ends before a length that would take longer than this, by the time of the one before. */
static const double run_seconds = 5.0;

/* ---- ways ------------------------------------------------------------------------------------ */

typedef struct filter_way {
    const char *name;
    tml_method method;
    int classic; /* a gl_classic_form; -1: none */
} filter_way;

static const filter_way ways[] = {
    {"look_back", TML_METHOD_LOOK_BACK, -1},
    {"reduce_then_scan", TML_METHOD_REDUCE_THEN_SCAN, -1},
    {"histopyramid", TML_METHOD_HISTOPYRAMID, -1},
#ifdef TML_GL
    {"classic, one fetch", TML_METHOD_AUTO, GL_CLASSIC_PARTIAL_SUMS},
    {"classic, four fetches", TML_METHOD_AUTO, GL_CLASSIC_FOUR_FETCHES},
#endif
    {"scan_search", TML_METHOD_SCAN_SEARCH, -1},
    {"bitonic", TML_METHOD_BITONIC, -1},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

/* One way over one stream. */
typedef struct filter_job {
    tml_context *tml;
    const filter_way *way;
    uint32_t limit;
    uint64_t count, kept, room;
    const uint32_t *data;
    tml_buffer in, out, total;
} filter_job;

static tml_status enqueue(const filter_job *job)
{
#ifdef TML_GL
    if (job->way->classic >= 0)
        return gl_classic_compact(job->tml, &(gl_classic_desc){
                                                .form = (gl_classic_form)job->way->classic,
                                                .keep = bench_is_below(),
                                                .params.u = {job->limit},
                                                .in = job->in,
                                                .out = job->out,
                                                .count = job->total,
                                            });
#endif
    return tml_compact(job->tml, &(tml_compact_desc){
                                     .keep = {.kernel = bench_is_below(), .params.u = {job->limit}},
                                     .payloads = {{.in = job->in, .out = job->out}},
                                     .method = job->way->method,
                                     .count = job->total,
                                 });
}

static bool run_job(void *user)
{
    return enqueue(user) == TML_OK;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* Position of the record that the way looks at as number i. */
static uint64_t position(const filter_job *job, uint64_t i)
{
#ifdef TML_GL
    if (job->way->classic >= 0)
        return gl_classic_index(gl_classic_side(job->count), i);
#endif
    (void)job;
    return i;
}

static uint64_t positions(const filter_job *job)
{
#ifdef TML_GL
    uint64_t side = gl_classic_side(job->count);
    if (job->way->classic >= 0)
        return side * side;
#endif
    return job->count;
}

static tml_status check(const filter_job *job)
{
    uint32_t *out = tml_alloc(job->tml, job->room * sizeof *out);
    uint64_t total = 0, at = 0;
    tml_status status = out ? tml_buffer_read(job->tml, job->out, out) : TML_ERROR_OUT_OF_MEMORY;
    if (!status)
        status = tml_buffer_read_count(job->tml, job->total, &total);
    bool passed = total == job->kept;
    for (uint64_t i = 0; !status && passed && i < positions(job); i++) {
        uint64_t p = position(job, i);
        if (p < job->count && job->data[p] < job->limit)
            passed = out[at++] == job->data[p];
    }
    tml_free(job->tml, out, job->room * sizeof *out);
    if (!status && !passed)
        status = tml_error(job->tml, TML_ERROR_INTERNAL,
                           "%s of %llu records differs from a plain loop's", job->way->name,
                           (unsigned long long)job->count);
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static uint64_t expected_count(const filter_job *job)
{
    uint64_t expected = job->kept + job->kept / 16 + 1;
    return expected < job->count ? expected : job->count;
}

static tml_status create(filter_job *job, bool exact)
{
    job->kept = 0;
    for (uint64_t i = 0; i < job->count; i++)
        job->kept += job->data[i] < job->limit;
    job->room = exact ? job->count : expected_count(job);
    tml_status status = tml_buffer_create(
        job->tml,
        &(tml_buffer_desc){.type = TML_U32, .count = job->count, .data = job->data, .label = "in"},
        &job->in);
    if (!status)
        status = tml_buffer_create(
            job->tml, &(tml_buffer_desc){.type = TML_U32, .count = job->room, .label = "out"},
            &job->out);
    if (!status)
        status = tml_buffer_create(
            job->tml, &(tml_buffer_desc){.type = TML_U32, .count = 1, .label = "total"},
            &job->total);
    return status;
}

static void destroy(filter_job *job)
{
    tml_buffer_destroy(job->tml, job->in);
    tml_buffer_destroy(job->tml, job->out);
    tml_buffer_destroy(job->tml, job->total);
}

/* Checks and times one way over one stream; *seconds is 0 where it is unsupported. */
static tml_status measure(filter_job *job, uint32_t repeats, double *seconds)
{
    bench_job timed = {.name = job->way->name, .run = run_job, .user = job, .device = job->tml};
    *seconds = 0;
    tml_status status = enqueue(job);
    if (status == TML_ERROR_UNSUPPORTED)
        return TML_OK;
    if (!status)
        status = check(job);
    if (!status && !bench_run(&timed, 1, repeats))
        status = tml_is_cancelled(job->tml) ? TML_ERROR_CANCELLED : TML_ERROR_INTERNAL;
    if (!status)
        *seconds = timed.time.median_s;
    return status;
}

static tml_status add_column(bench_filter *filter, uint32_t column, filter_job *job, bool exact,
                             uint32_t repeats, bench_filter_row *rows)
{
    job->count = filter->counts[column];
    tml_status status = create(job, exact);
    for (size_t w = 0; w < WAYS && !status; w++) {
        double before = column > 0 ? rows[w].ns[column - 1] : 0, seconds;
        double expected = before * 1e-9 * (double)job->count;
        if ((column > 0 && before == 0) || expected > run_seconds)
            continue;
        job->way = &ways[w];
        status = measure(job, repeats ? repeats : expected > 0.5 ? 2 : 0, &seconds);
        rows[w].ns[column] = seconds / (double)job->count * 1e9;
    }
    destroy(job);
    return status;
}

void bench_filter_start(bench_filter *filter, uint64_t most)
{
    *filter = (bench_filter){.count_count = 0};
    uint64_t count = 1 << 16;
    do {
        filter->counts[filter->count_count++] = count;
        count *= 4;
    } while (count <= most && filter->count_count < BENCH_FILTER_COUNTS);
}

tml_status bench_filter_add(bench_filter *filter, tml_context *tml, bool exact, double percent,
                            uint32_t repeats)
{
    static const char *const engines[] = {"auto", "cpu", "vulkan", "gl"};
    bench_filter_row rows[WAYS] = {{0}};
    uint64_t most = filter->counts[filter->count_count - 1];
    uint32_t *data = tml_alloc(tml, most * sizeof *data);
    if (!data)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for %llu records",
                         (unsigned long long)most);
    bench_stream_fill(tml, most, data);
    filter_job job = {.tml = tml, .limit = bench_stream_threshold(percent), .data = data};
    tml_status status = TML_OK;
    for (uint32_t c = 0; c < filter->count_count && !status; c++)
        status = add_column(filter, c, &job, exact, repeats, rows);
    tml_free(tml, data, most * sizeof *data);

    bool has_row = false;
    for (size_t w = 0; w < WAYS; w++)
        has_row = has_row || rows[w].ns[0] > 0;
    if (!status && !has_row && !exact) /* an exact row follows an expected one */
        tml_log(tml, TML_LOG_WARNING, "filter: this device has no way to filter u32: %s",
                tml_last_error(tml));
    tml_device_info device;
    tml_context_describe(tml, &device);
    for (size_t w = 0; w < WAYS && !status; w++)
        if (rows[w].ns[0] > 0 && filter->row_count < BENCH_FILTER_ROWS) {
            bench_filter_row *row = &filter->rows[filter->row_count++];
            *row = rows[w];
            row->engine = engines[device.engine];
            row->method = ways[w].name;
            row->mode = device.engine != TML_ENGINE_GL ? "" : exact ? "exact" : "expected";
        }
    return status;
}
