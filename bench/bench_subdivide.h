/* Subdivision, measured: a torus of bench_meshes.h to a level, and a finer one for a camera. */
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

/* A torus of 4096 triangles to that level, seen to be whole and in place before anything is timed:
 * once with the levels' topology and once when that is known, and its limit and normals; then one
 * of 98304 triangles for a camera that sees all of it on a picture of 3840 x 2160 pixels, which
 * then moves from run to run. What is uniform, and a frame, only enqueues and is timed by the
 * device's clock where there is one; what is adaptive otherwise waits, and is timed by the host's.
 * levels: 0 to TML_SUBDIVIDE_MAX_LEVELS. take is given each row when it is made. */
tml_status bench_subdivide(tml_context *tml, uint32_t levels, const bench_pace *pace,
                           void (*take)(void *user, const bench_subdivide_row *row), void *user);

#ifdef __cplusplus
}
#endif
#endif
