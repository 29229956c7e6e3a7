/* Benchmarks of subdivision: a torus of bench_meshes.h subdivided to a level, and a finer torus
 * subdivided for a camera. */
#ifndef BENCH_SUBDIVIDE_H
#define BENCH_SUBDIVIDE_H

#include "bench_run.h"

#include <trommel/trommel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_subdivide_row {
    const char *name; /* "topology and positions" */
    const char *key;  /* how a peer's times name it: "first" */
    uint64_t triangles;
    bench_time time;
} bench_subdivide_row;

/* Measures two tori. First, a torus of 4096 triangles, subdivided to that level: with the levels'
 * topology, then with the topology known, then its limit and normals. It is checked to be complete
 * and in place before it is timed. Second, a torus of 98304 triangles for a camera that sees all of
 * it on a picture of 3840 x 2160 pixels and then moves from run to run. Uniform levels and a frame
 * only enqueue, and are timed by the device's clock if there is one. Other adaptive calls wait, and
 * are timed by the host's clock. levels: 0 to TML_SUBDIVIDE_MAX_LEVELS. Calls take with each row
 * when it is measured. */
tml_status bench_subdivide(tml_context *tml, uint32_t levels, const bench_pace *pace,
                           void (*take)(void *user, const bench_subdivide_row *row), void *user);

#ifdef __cplusplus
}
#endif
#endif
