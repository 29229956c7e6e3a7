/* Measures jobs in turn and reports their fastest and middle run. */
#include "bench_run.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MIN_RUNS = 5, MAX_RUNS = 1000 };
static const double job_seconds = 1.0;
static const double row_seconds = 120.0; /* give up more runs after this, but not the minimum */

double bench_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
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

bool bench_run(bench_job *jobs, uint32_t count, uint32_t repeats)
{
    uint32_t most = repeats && repeats < MAX_RUNS ? repeats : MAX_RUNS, runs = 0;
    double *seconds = calloc((size_t)count * MAX_RUNS, sizeof *seconds);
    bool passed = seconds != NULL;
    for (uint32_t i = 0; passed && i < count; i++)
        passed = jobs[i].run(jobs[i].user);

    double start = bench_now(), fastest_total = 0;
    while (passed && runs < most) {
        fastest_total = row_seconds;
        for (uint32_t i = 0; passed && i < count; i++) {
            double before = bench_now(), total = 0;
            passed = jobs[i].run(jobs[i].user);
            seconds[i * MAX_RUNS + runs] = bench_now() - before;
            for (uint32_t r = 0; r <= runs; r++)
                total += seconds[i * MAX_RUNS + r];
            fastest_total = total < fastest_total ? total : fastest_total;
        }
        runs++;
        if (!repeats && runs >= MIN_RUNS &&
            (fastest_total >= job_seconds || bench_now() - start >= row_seconds))
            break;
    }
    for (uint32_t i = 0; passed && i < count; i++)
        jobs[i].time = summarize(seconds + i * MAX_RUNS, runs);
    free(seconds);
    return passed;
}

/* ---- memcpy --------------------------------------------------------------------------------- */

bool bench_copy_create(tml_context *tml, uint64_t bytes, bench_copy *out)
{
    *out = (bench_copy){.tml = tml, .size = bytes / 2 + 1};
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
    uint32_t shares = tml_concurrency(copy->tml);
    size_t first = copy->size / shares * index;
    size_t last = index + 1 == shares ? copy->size : copy->size / shares * (index + 1);
    memcpy((char *)copy->to + first, (const char *)copy->from + first, last - first);
}

bool bench_copy_run(void *copy)
{
    tml_context *tml = ((bench_copy *)copy)->tml;
    tml_parallel_for(tml, tml_concurrency(tml), copy_share, copy);
    return true;
}
