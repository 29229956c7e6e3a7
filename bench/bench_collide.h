/* Benchmarks of collision: two tori of bench_meshes.h, their trees, and which of their triangles
 * meet; and the distance of two balls. */
#ifndef BENCH_COLLIDE_H
#define BENCH_COLLIDE_H

#include "bench_meshes.h"
#include "bench_run.h"

#include <trommel/trommel.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BENCH_COLLIDE_POSES = 100, BENCH_COLLIDE_POINTS = 1 << 20 };

typedef struct bench_collide_row {
    const char *name; /* "linked tori" */
    uint32_t poses;   /* 0: no query */
    uint64_t pairs;
    uint64_t rays; /* 0: none */
    bench_time time;
} bench_collide_row;

typedef struct bench_collide_desc {
    uint64_t triangles; /* of each torus, about */
    uint32_t poses;     /* of the rows of many poses */
    tml_collide_method method;
    uint64_t rays;
    const bench_mesh *target; /* of rays; NULL: the torus */
    uint64_t balls;           /* triangles of each of two balls, about */
} bench_collide_desc;

/* Builds, refits and queries trees, on any engine, after checking that both descents give the same
 * pairs. Calls take with each row when it is measured. */
tml_status bench_collide(tml_context *tml, const bench_collide_desc *what, const bench_pace *pace,
                         void (*take)(void *user, const bench_collide_row *row), void *user);

#ifdef __cplusplus
}
#endif
#endif
