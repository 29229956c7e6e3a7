/* Timing for benchmarks. The jobs of a comparison run alternately, round after round, so that a
 * machine whose clock rate drifts slows all of them equally. */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include <trommel/extend.h>

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
    bool (*before)(void *user); /* NULL, or untimed preparation of each run */
    /* If set, the job only enqueues on this context. It is timed by the device's clock if there is
     * one; short jobs are timed several runs at a time, so that starting and ending a command
     * buffer does not count. NULL: timed by the host's clock. */
    tml_context *device;
    uint32_t batch;  /* inside: runs at a time */
    bench_time time; /* out */
} bench_job;

/* How long rows may take, and who is notified of them. Zeroed: each row takes as long as it
 * needs. */
typedef struct bench_pace {
    uint32_t repeats;  /* rounds per row; 0: enough to give every job its seconds, at least five */
    double seconds;    /* 0: one */
    double deadline;   /* by bench_now: the row that runs then ends with its round; 0: none */
    bool by_processor; /* by processor time of all threads, for jobs of the host */
    /* Optional: is the row to be run? bench_begins calls it before the row's input is made. */
    bool (*begins)(void *user, const char *row);
    /* Optional, after each round: is the row to go on? */
    bool (*goes_on)(void *user, const char *row, uint32_t rounds);
    void *user;
} bench_pace;
bool bench_begins(const bench_pace *pace, const char *row);

/* Warms up, then runs the jobs in rounds, at least one. The first job's name is the row's. A device
 * is warmed up until it has left its idle clock rate, but at most for the row's seconds; otherwise
 * each job runs once. Returns false if a job failed, if the row is not to go on, or if out of
 * memory. */
bool bench_run(bench_job *jobs, uint32_t count, const bench_pace *pace);

/* A job: memcpy on as many threads as the context has. It reads and writes, in total, as many bytes
 * as some operation must move. */
typedef struct bench_copy {
    tml_context *tml;
    uint32_t shares;
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
