/* Measures ways to filter a stream. */
#include "papers_table.h"

#include "bench_data.h"
#include "bench_ops.h"
#include "bench_run.h"
#include "papers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const table_engines[TABLE_ENGINES] = {
    [TML_ENGINE_CPU] = "cpu", [TML_ENGINE_VULKAN] = "vulkan", [TML_ENGINE_GL] = "gl"};

/* On a software driver, lengths end here, since longer ones would take minutes. */
static const uint64_t software_most = 1 << 20;

/* A row ends before the first length at which a run would take longer than this many seconds,
 * estimated from the previous length: on hardware, and on a software driver. */
static const double run_seconds[] = {5.0, 4.0};
static const double row_seconds = 0.05;

/* ---- ways ------------------------------------------------------------------------------------ */

/* The library's methods, then the papers'. */
static const tml_method methods[] = {TML_METHOD_LOOK_BACK, TML_METHOD_REDUCE_THEN_SCAN,
                                     TML_METHOD_HISTOPYRAMID};
enum { METHODS = sizeof methods / sizeof methods[0], WAYS = METHODS + PAPERS_FILTERS };

/* One way over one stream. */
typedef struct filter_job {
    tml_context *tml;
    const char *name;
    tml_method method;
    const papers_filter *paper; /* a paper's filter instead of method; NULL: none */
    uint32_t limit;
    uint64_t count, kept, room;
    const uint32_t *data;
    tml_buffer in, out, total;
    papers_space space;
    char refusal[256]; /* why the first unsupported method is unsupported */
} filter_job;

static void set_way(filter_job *job, size_t way)
{
    job->method = way < METHODS ? methods[way] : TML_METHOD_AUTO;
    job->paper = way < METHODS ? NULL : &papers_filters[way - METHODS];
    job->name = job->paper ? job->paper->name : tml_method_name(job->method);
}

static tml_status enqueue(const filter_job *job)
{
    if (job->paper)
        return job->paper->run(job->tml, &(papers_filter_desc){.keep = bench_is_below(),
                                                               .params.u = {job->limit},
                                                               .in = job->in,
                                                               .out = job->out,
                                                               .count = job->total,
                                                               .space = &job->space});
    return tml_compact(job->tml, &(tml_compact_desc){
                                     .keep = {.kernel = bench_is_below(), .params.u = {job->limit}},
                                     .payloads = {{.in = job->in, .out = job->out}},
                                     .method = job->method,
                                     .count = job->total,
                                 });
}

static bool run_job(void *user)
{
    return enqueue(user) == TML_OK;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static int compare_words(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Lists the kept elements in the method's order; sorted, for a method without order. */
static void list_kept(const filter_job *job, papers_order order, uint32_t *out)
{
    uint32_t side = papers_square_side(job->count);
    bool in_z_order = order == PAPERS_IN_Z_ORDER;
    uint64_t positions = in_z_order ? (uint64_t)side * side : job->count, at = 0;
    for (uint64_t i = 0; i < positions; i++) {
        uint64_t p = in_z_order ? papers_square_index(side, i) : i;
        if (p < job->count && job->data[p] < job->limit)
            out[at++] = job->data[p];
    }
    if (order == PAPERS_UNORDERED)
        qsort(out, job->kept, sizeof *out, compare_words);
}

static tml_status check(const filter_job *job)
{
    papers_order order = job->paper ? job->paper->order : PAPERS_IN_ORDER;
    uint32_t *out = tml_alloc(job->tml, job->room * sizeof *out);
    uint32_t *expected = tml_alloc(job->tml, job->room * sizeof *out);
    uint64_t total = 0;
    tml_status status =
        out && expected ? tml_buffer_read(job->tml, job->out, out) : TML_ERROR_OUT_OF_MEMORY;
    if (!status)
        status = tml_buffer_read_count(job->tml, job->total, &total);
    bool passed = !status && total == job->kept;
    if (passed) {
        list_kept(job, order, expected);
        if (order == PAPERS_UNORDERED)
            qsort(out, job->kept, sizeof *out, compare_words);
        passed = memcmp(out, expected, job->kept * sizeof *out) == 0;
    }
    tml_free(job->tml, out, job->room * sizeof *out);
    tml_free(job->tml, expected, job->room * sizeof *out);
    if (!status && !passed)
        status = tml_error(job->tml, TML_ERROR_INTERNAL,
                           "%s of %llu records differs from a plain loop's", job->name,
                           (unsigned long long)job->count);
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static uint64_t expected_count(const filter_job *job)
{
    uint64_t expected = job->kept + job->kept / 16 + 1;
    return expected < job->count ? expected : job->count;
}

static tml_status create(filter_job *job, table_mode mode)
{
    job->kept = 0;
    for (uint64_t i = 0; i < job->count; i++)
        job->kept += job->data[i] < job->limit;
    job->room = mode == TABLE_EXPECTED ? expected_count(job) : job->count;
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
    return status ? status : papers_space_create(job->tml, job->count, &job->space);
}

static void destroy(filter_job *job)
{
    tml_buffer_destroy(job->tml, job->in);
    tml_buffer_destroy(job->tml, job->out);
    tml_buffer_destroy(job->tml, job->total);
    papers_space_destroy(job->tml, &job->space);
}

/* Checks and times one method on one stream. *seconds is 0 if the method is unsupported. */
static tml_status measure(filter_job *job, uint32_t repeats, double *seconds)
{
    bench_job timed = {.name = job->name, .run = run_job, .user = job, .device = job->tml};
    *seconds = 0;
    tml_status status = enqueue(job);
    if (status == TML_ERROR_UNSUPPORTED) {
        if (!job->refusal[0])
            snprintf(job->refusal, sizeof job->refusal, "%s", tml_last_error(job->tml));
        return TML_OK;
    }
    if (!status)
        status = check(job);
    if (!status &&
        !bench_run(
            &timed, 1,
            &(bench_pace){.goes_on = papers_tell_row, .repeats = repeats, .seconds = row_seconds}))
        status = tml_is_cancelled(job->tml) ? TML_ERROR_CANCELLED : TML_ERROR_INTERNAL;
    if (!status)
        *seconds = timed.time.median_s;
    return status;
}

/* Software drivers are so slow that a second per row would take minutes for all rows. */
static uint32_t repeats_of(bool is_software, double expected)
{
    if (is_software)
        return expected > 0.5 ? 1 : 3;
    return expected > 0.5 ? 2 : 0;
}

static tml_status add_column(filter_table *filter, uint32_t column, filter_job *job,
                             table_mode mode, bool is_software, uint32_t repeats, table_row *rows)
{
    job->count = filter->counts[column];
    tml_status status = create(job, mode);
    for (size_t w = 0; w < WAYS && !status; w++) {
        double before = column > 0 ? rows[w].ns[column - 1] : 0, seconds;
        double expected = before * 1e-9 * (double)job->count;
        if ((column > 0 && before == 0) || expected > run_seconds[is_software])
            continue;
        set_way(job, w);
        status = measure(job, repeats ? repeats : repeats_of(is_software, expected), &seconds);
        rows[w].ns[column] = seconds / (double)job->count * 1e9;
    }
    destroy(job);
    return status;
}

void filter_table_start(filter_table *filter, uint64_t most)
{
    *filter = (filter_table){.count_count = 0};
    for (uint64_t count = 1 << 16; count < most; count *= 2)
        filter->counts[filter->count_count++] = count;
    filter->counts[filter->count_count++] = most;
}

tml_status filter_table_add(filter_table *filter, tml_context *tml, table_mode mode, double percent,
                            uint32_t repeats)
{
    static const char *const modes[TABLE_MODES] = {"expected", "room for all", "exact"};
    table_row rows[WAYS] = {{0}};
    uint64_t most = filter->counts[filter->count_count - 1];
    uint32_t *data = tml_alloc(tml, most * sizeof *data);
    if (!data)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "no memory for %llu records",
                         (unsigned long long)most);
    bench_stream_fill(tml, most, data);
    filter_job job = {.tml = tml, .limit = bench_stream_threshold(percent), .data = data};
    tml_device_info device;
    tml_context_describe(tml, &device);
    tml_status status = TML_OK;
    for (uint32_t c = 0; c < filter->count_count && !status; c++)
        if (!device.is_software || filter->counts[c] <= software_most)
            status = add_column(filter, c, &job, mode, device.is_software, repeats, rows);
    tml_free(tml, data, most * sizeof *data);

    bool has_row = false;
    for (size_t w = 0; w < WAYS; w++)
        has_row = has_row || rows[w].ns[0] > 0;
    if (!status && !has_row && mode == TABLE_EXPECTED) /* the other modes' follow */
        tml_log(tml, TML_LOG_WARNING, "filter: this device has no way to filter u32: %s",
                job.refusal);
    for (size_t w = 0; w < WAYS && !status; w++)
        if (rows[w].ns[0] > 0 && filter->row_count < TABLE_ROWS) {
            table_row *row = &filter->rows[filter->row_count++];
            *row = rows[w];
            row->engine = table_engines[device.engine];
            set_way(&job, w);
            row->method = job.name;
            row->mode = device.engine != TML_ENGINE_GL ? "" : modes[mode];
        }
    return status;
}

bool papers_tell_row(void *user, const char *row, uint32_t rounds)
{
    (void)user;
    if (rounds == 1)
        fprintf(stderr, "trommel-papers: measuring %s\n", row);
    return true;
}
