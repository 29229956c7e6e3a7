/* Timing for benchmarks: jobs that are compared run in turn, round after round, so that a machine
 * whose clock drifts slows them alike. */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include <trommel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_time {
    double min_s, median_s;
    uint32_t runs;
} bench_time;

typedef struct bench_job {
    const char *name;
    bool (*run)(void *user); /* false: failed, which ends the measurement */
    void *user;
    bool (*before)(void *user); /* NULL, or what each run needs and its time does not count */
    /* Set: the job only enqueues on this context. It is timed by the device's own clock where there
     * is one, short ones several runs at a time, so that what starts and ends a command buffer does
     * not count. NULL: by the host's clock. */
    tml_context *device;
    uint32_t batch;  /* inside: runs at a time */
    bench_time time; /* out */
} bench_job;

/* Warms up (a device for long enough to leave its resting clock rate, else one run of each job),
 * then runs the jobs in rounds: repeats of them, or (0) as many as give every job a second, at least
 * five. False when a job failed or memory is short. */
bool bench_run(bench_job *jobs, uint32_t count, uint32_t repeats);

/* A job: memcpy on as many threads as the context has, reading and writing together as many bytes
 * as some operation must move. */
typedef struct bench_copy {
    tml_context *tml;
    size_t size; /* of each of the two blocks: half of the bytes that move */
    void *from, *to;
} bench_copy;
bool bench_copy_create(tml_context *tml, uint64_t bytes, bench_copy *out);
void bench_copy_destroy(bench_copy *copy);
bool bench_copy_run(void *copy);

/* Seconds on a clock that never jumps. */
double bench_now(void);

#ifdef __cplusplus
}
#endif
#endif
