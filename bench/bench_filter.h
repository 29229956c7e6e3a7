/* The classic comparison of ways to filter a stream: nanoseconds a record for each engine's methods, over
 * streams of growing length. On OpenGL ES each method runs twice, by an expected count (what is kept and
 * a sixteenth more), which waits for nothing, and by the exact count, which is read first; and the
 * HistoPyramids of 2006 run beside (gl/gl_classic.h). */
#ifndef BENCH_FILTER_H
#define BENCH_FILTER_H

#include <trommel/trommel.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BENCH_FILTER_COUNTS = 8, BENCH_FILTER_ROWS = 40 };

typedef struct bench_filter_row {
    const char *engine;
    const char *method;
    const char *mode; /* "expected", "exact"; "" where there is but one */
    double ns
        [BENCH_FILTER_COUNTS]; /* a record; 0: not measured, since it takes too long or is unsupported */
} bench_filter_row;

typedef struct bench_filter {
    uint64_t counts[BENCH_FILTER_COUNTS];
    uint32_t count_count, row_count;
    bench_filter_row rows[BENCH_FILTER_ROWS];
} bench_filter;

/* Sets the lengths: 64k records, four times that, ... up to most (at least one). */
void bench_filter_start(bench_filter *filter, uint64_t most);

/* Adds the rows of a context's engine, on u32 records of which percent are kept. exact: the context has
 * exact counts (tml_gl_desc); others but GL's have but one mode. Results are checked before they are
 * timed. */
tml_status bench_filter_add(bench_filter *filter, tml_context *tml, bool exact, double percent,
                            uint32_t repeats);

#ifdef __cplusplus
}
#endif
#endif
