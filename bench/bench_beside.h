/* A job measured next to a copy of as many bytes: memcpy on as many threads, or the device's own
 * copy. */
#ifndef BENCH_BESIDE_H
#define BENCH_BESIDE_H

#include "bench_ops.h"
#include "bench_report.h"

typedef struct bench_beside {
    bench_time time, copy_time;
    double peer_s; /* 0: unknown */
} bench_beside;

/* Runs the job and the copy alternately. If the copy is timed by the host's clock, so is the job,
 * and a peer, if there is one, takes part as well. */
tml_status bench_beside_copy(const bench_session *session, bench_job job, const bench_job *peer,
                             uint64_t bytes, bench_beside *out);

/* Creates an operation, checks it, and runs it as bench_beside_copy does. The caller destroys it,
 * also on failure. */
tml_status bench_op_beside_copy(const bench_session *session, const bench_desc *desc,
                                const char *name, bench_op *op, bench_beside *out);

#define BENCH_COPY_COLUMNS                                                                         \
    BENCH_TIME_COLUMNS, BENCH_COLUMN("bytes", NULL, 0),                                            \
        BENCH_COLUMN("bytes_per_second", "GB/s", 1e-9), BENCH_COLUMN("copy_s", NULL, 1),           \
        BENCH_COLUMN("copy_share", "% of copy", 100)
enum { BENCH_COPY_COLUMN_COUNT = 7 };
/* Their values. */
void bench_copy_values(const bench_beside *times, uint64_t bytes,
                       double values[BENCH_COPY_COLUMN_COUNT]);

#endif
