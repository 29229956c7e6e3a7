/* Measures jobs alternately, and reports the fastest and the median run of each. */
#include "bench_run.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
#endif
#ifdef TML_GL
#    include <trommel/gl.h>
#endif

enum { MIN_RUNS = 5, MAX_RUNS = 1000, MAX_BATCH = 64 };
static const double job_seconds = 1.0;
static const double row_seconds = 120.0; /* give up more runs after this, but not the minimum */
static const double warm_seconds = 0.25;
static const double batch_seconds = 2e-3;

static double seconds_on(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double bench_now(void)
{
    return seconds_on(CLOCK_MONOTONIC);
}

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bench_time summarize(double *seconds, uint32_t runs)
{
    qsort(seconds, runs, sizeof *seconds, compare_times);
    double median = 0.5 * (seconds[(runs - 1) / 2] + seconds[runs / 2]);
    return (bench_time){.min_s = seconds[0], .median_s = median, .runs = runs};
}

/* ---- one look at a clock --------------------------------------------------------------------- */

static tml_engine_kind engine_of(tml_context *tml)
{
    tml_device_info info;
    tml_context_describe(tml, &info);
    return info.engine;
}

/* Does the job's device lower its clock rate when idle? */
static bool rests(const bench_job *job)
{
    tml_device_info info;
    if (!job->device)
        return false;
    tml_context_describe(job->device, &info);
    return info.engine != TML_ENGINE_CPU && !info.is_software;
}

/* Starts the device's clock; false if it has none. */
static bool device_begin(tml_context *tml)
{
    return engine_of(tml) != TML_ENGINE_CPU && tml_time_begin(tml) == TML_OK;
}

static bool device_end(tml_context *tml, double *seconds)
{
    return tml_time_end(tml, seconds) == TML_OK;
}

/* Seconds of one run. */
static bool time_job(bench_job *job, bool by_processor, double *seconds)
{
    clockid_t clock = by_processor ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
    uint32_t batch = job->batch ? job->batch : 1;
    if (job->before &&
        (!job->before(job->user) || (job->device && tml_sync(job->device) != TML_OK)))
        return false;
    bool has_clock = job->device && device_begin(job->device), passed = true;
    double before = seconds_on(clock);
    for (uint32_t i = 0; passed && i < batch; i++)
        passed = job->run(job->user);
    if (has_clock)
        passed &= device_end(job->device, seconds);
    else if (job->device)
        passed = passed && tml_sync(job->device) == TML_OK;
    if (!has_clock)
        *seconds = seconds_on(clock) - before;
    *seconds /= batch;
    return passed;
}

/* Runs the job until the device is warm, and determines how many runs to time at once. */
static bool warm_up(bench_job *job, const bench_pace *pace)
{
    double start = bench_now(), seconds = 0;
    /* Short rows follow each other so closely that the device does not become idle between them. */
    bool is_brief = pace->seconds > 0 && pace->seconds < warm_seconds;
    double least = is_brief ? pace->seconds : warm_seconds;
    bool passed, is_short;
    job->batch = 1;
    do {
        passed = time_job(job, false, &seconds);
        is_short = job->device && !job->before && seconds * job->batch < batch_seconds &&
                   job->batch < MAX_BATCH;
        if (is_short)
            job->batch *= 2;
    } while (passed && (is_short || (rests(job) && bench_now() - start < least)));
    return passed;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

bool bench_begins(const bench_pace *pace, const char *row)
{
    return !pace->begins || pace->begins(pace->user, row);
}

/* Are there enough rounds? fastest: the least sum, over all rounds, of a job's seconds. */
static bool is_enough(const bench_pace *pace, uint32_t runs, double fastest, double start)
{
    double now = bench_now();
    if (runs >= MAX_RUNS || (pace->repeats && runs >= pace->repeats) ||
        (pace->deadline > 0 && now >= pace->deadline))
        return true;
    return !pace->repeats && runs >= MIN_RUNS &&
           (fastest >= (pace->seconds > 0 ? pace->seconds : job_seconds) ||
            now - start >= row_seconds);
}

bool bench_run(bench_job *jobs, uint32_t count, const bench_pace *pace)
{
    uint32_t runs = 0;
    double *seconds = calloc((size_t)count * MAX_RUNS, sizeof *seconds);
    bool passed = seconds != NULL;
    for (uint32_t i = 0; passed && i < count; i++)
        passed = warm_up(&jobs[i], pace);

    double start = bench_now(), fastest_total = 0;
    do {
        fastest_total = row_seconds;
        for (uint32_t i = 0; passed && i < count; i++) {
            double total = 0;
            passed = time_job(&jobs[i], pace->by_processor, &seconds[i * MAX_RUNS + runs]);
            for (uint32_t r = 0; r <= runs; r++)
                total += seconds[i * MAX_RUNS + r] * jobs[i].batch; /* of a run */
            fastest_total = total < fastest_total ? total : fastest_total;
        }
        runs++;
        if (pace->goes_on)
            passed = passed && pace->goes_on(pace->user, jobs[0].name, runs);
    } while (passed && !is_enough(pace, runs, fastest_total, start));
    for (uint32_t i = 0; passed && i < count; i++)
        jobs[i].time = summarize(seconds + i * MAX_RUNS, runs);
    free(seconds);
    return passed;
}

/* ---- memcpy --------------------------------------------------------------------------------- */

bool bench_copy_create(tml_context *tml, uint64_t bytes, bench_copy *out)
{
    tml_device_info info;
    tml_context_describe(tml, &info);
    *out = (bench_copy){.tml = tml, .shares = info.concurrency, .size = bytes / 2 + 1};
    out->from = tml_alloc(tml, out->size);
    out->to = tml_alloc(tml, out->size);
    if (!out->from || !out->to) {
        bench_copy_destroy(out);
        return false;
    }
    memset(out->from, 1, out->size);
    memset(out->to, 2, out->size);
    return true;
}

void bench_copy_destroy(bench_copy *copy)
{
    tml_free(copy->tml, copy->from, copy->size);
    tml_free(copy->tml, copy->to, copy->size);
    *copy = (bench_copy){0};
}

/* One share of the block for each thread. */
static void copy_share(void *argument, uint32_t index)
{
    const bench_copy *copy = argument;
    const uint32_t shares = copy->shares;
    size_t first = copy->size / shares * index;
    size_t last = index + 1 == shares ? copy->size : copy->size / shares * (index + 1);
    memcpy((char *)copy->to + first, (const char *)copy->from + first, last - first);
}

bool bench_copy_run(void *copy)
{
    const bench_copy *it = copy;
    tml_parallel_for(it->tml, it->shares, copy_share, copy);
    return true;
}
