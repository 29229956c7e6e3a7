/* The operations that are measured, as jobs on given inputs. Each is made once, checked against a
 * plain loop, and then run any number of times; the command and the comparison with peers share
 * them. */
#ifndef BENCH_OPS_H
#define BENCH_OPS_H

#include "bench_run.h"

#include <trommel/trommel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_op {
    tml_context *tml;
    tml_type type;
    uint64_t count;        /* elements or samples */
    const void *data;      /* host memory of the caller */
    uint64_t bytes;        /* that must move: read once and written once */
    uint64_t result_count; /* kept elements, triangles; 0 where the result is no stream */
    uint64_t vertex_count; /* surface */
    /* inside */
    uint32_t keep_below;
    tml_grid grid;
    double iso;
    tml_buffer in, out, total;
} bench_op;

/* u32 values below the limit are kept. */
tml_status bench_compact_create(tml_context *tml, const uint32_t *data, uint64_t count,
                                uint32_t limit, bench_op *out);
bool bench_compact_run(void *op);

/* Exclusive; u32, u64, f32 or f64. */
tml_status bench_scan_create(tml_context *tml, tml_type type, const void *data, uint64_t count,
                             bench_op *out);
bool bench_scan_run(void *op);

/* Sum; u8, u16, u32, u64, f32 or f64. */
tml_status bench_reduce_create(tml_context *tml, tml_type type, const void *data, uint64_t count,
                               bench_op *out);
bool bench_reduce_run(void *op);

/* Welded, no normals, one isovalue; the library allocates and frees the mesh within each run. */
tml_status bench_surface_create(tml_context *tml, tml_type type, const void *data,
                                const tml_grid *grid, double iso, bench_op *out);
bool bench_surface_run(void *op);

/* Is the operation's result right? Fills what result_count and bytes say. On failure says why
 * through tml_error. */
tml_status bench_compact_check(bench_op *op);
tml_status bench_scan_check(bench_op *op);
tml_status bench_reduce_check(bench_op *op);
tml_status bench_surface_check(bench_op *op);

void bench_op_destroy(bench_op *op);

#ifdef __cplusplus
}
#endif
#endif
