/* The operations that are measured, as jobs on given inputs. A job is created once, checked against
 * a plain loop, and then run any number of times. The command and the comparisons with peers share
 * the jobs. */
#ifndef BENCH_OPS_H
#define BENCH_OPS_H

#include "bench_run.h"

#include <trommel/trommel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum bench_kind {
    BENCH_COPY,         /* map by the identity: the device's cost of moving the bytes */
    BENCH_COMPACT,      /* by a kernel: u32 values below a limit are kept */
    BENCH_FLAGS,        /* by a flag byte, of the same elements */
    BENCH_PARTITION,    /* by a flag byte */
    BENCH_UNIQUE,       /* of runs, which begin where values lie below a limit */
    BENCH_SCAN,         /* exclusive; u32, u64, f32 or f64 */
    BENCH_SEGMENTS,     /* exclusive scan of the segments that begin like the runs */
    BENCH_REDUCE,       /* sum; u8, u16, u32, u64, f32 or f64 */
    BENCH_HISTOGRAM,    /* of u8 or u16; of u32, of as many bins as desc says */
    BENCH_SORT,         /* only the keys; u8, u16, u32, u64, f32 or f64 */
    BENCH_PAIRS,        /* a sort of u32 keys with a payload of u32 */
    BENCH_SEGMENT_SORT, /* u32 keys, sorted in segments of keep_below elements */
    BENCH_SEGMENT_KEYS, /* the same by one sort of u64, with the segment above the key */
    BENCH_TOP_K,        /* the largest keys, sorted, and their indices; types as sort */
    BENCH_EXPAND,       /* counts from 0 to 7, 2 in the middle, to source and rank */
    BENCH_SURFACE,      /* welded, one isovalue */
    BENCH_DENSITIES,    /* of a fluid's particles; on the host */
    BENCH_LABELS,       /* boundaries of all labels, shared; on the host */
    BENCH_KIND_COUNT
} bench_kind;

/* The kernel of compact: values below params.u[0] are kept. */
const tml_kernel *bench_is_below(void);

/* "compact", and the operations of streams as an option's choices. */
const char *bench_kind_name(bench_kind kind);
/* Does the operation depend on keep_below? */
bool bench_kind_has_limit(bench_kind kind);

typedef struct bench_desc {
    bench_kind kind;
    tml_type type;    /* of data */
    const void *data; /* host memory of the caller, which must stay */
    uint64_t count;   /* elements or samples */
    uint32_t keep_below;
    uint64_t k;      /* of top_k */
    uint32_t bins;   /* histogram of u32; 0: 256 */
    bool is_one_bin; /* all elements are in one */
    tml_grid grid;   /* surface */
    tml_normals normals;
    tml_topology topology;
    bool soup, waits; /* waits: also wait for a device's counts */
    double iso;
    /* Surface: data are count points (f32x3), from which a field with this radius is made on the
     * grid. 0: data are samples. */
    double radius;
    /* Surface: the points are a fluid's (bench_fluid_fill). The job determines the grid, and the
     * isovalue of the fluid's density. */
    bool is_fluid;
    /* Surface: isovalues that successive runs use, with the volume's index. NULL: iso only, without
     * an index. */
    const double *sweep;
    uint32_t sweep_count;
    /* Labels: iterations. Surface: iterations of a run, which then only smooths the mesh. */
    uint32_t smooth;
} bench_desc;

/* Inputs and outputs of one run. If caches could hold them, there are several sets, which
 * successive runs use, so that each run finds its input in memory. */
typedef struct bench_set {
    tml_buffer in, aux, out, out2;
} bench_set;
enum { BENCH_SETS = 32 };

typedef struct bench_op {
    tml_context *tml;
    bench_desc desc;
    uint64_t bytes;        /* that must move: read once and written once */
    uint64_t result_count; /* kept elements, triangles; 0 if the result is not a stream */
    uint64_t vertex_count; /* surface */
    /* inside */
    void *derived; /* inputs in addition to data, or in its place */
    size_t derived_size;
    uint64_t derived_count;
    bench_set sets[BENCH_SETS];
    uint32_t set_count, runs;
    tml_buffer total, index;
    tml_surface_desc surface;
    tml_field_desc field; /* of the surface, with desc.radius; it points here */
    tml_buffer densities; /* of a fluid */
} bench_op;

tml_status bench_op_create(tml_context *tml, const bench_desc *desc, bench_op *out);
/* A bench_job's run: enqueues the operation once. */
bool bench_op_run(void *op);
/* Checks the operation's result, and sets result_count and bytes. On failure, reports the reason
 * through tml_error. */
tml_status bench_op_check(bench_op *op);
void bench_op_destroy(bench_op *op);

#ifdef __cplusplus
}
#endif
#endif
