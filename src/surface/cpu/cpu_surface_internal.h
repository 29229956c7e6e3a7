/* What the CPU surface's files share: the workspace of a part, and how the volume's rows are
 * reached.
 *
 * Rows and columns of a workspace are those of the part's box, with one more outside sample on
 * every side when the surface is capped ("pad"). The work is cut into chunks: a few rows of one
 * slice. Within a chunk the row table counts from zero; the chunk table says where the chunk
 * starts. */
#ifndef TML_CPU_SURFACE_INTERNAL_H
#define TML_CPU_SURFACE_INTERNAL_H

#include "cpu/cpu_parts.h"
#include "surface/cpu/cpu_surface_simd.h"
#include "surface/surface_space.h"

/* Vertices and triangles before a row in its chunk, and where its y- and z-edges' vertices
 * begin. */
typedef struct row_entry {
    uint32_t vertices, triangles;
    uint32_t x_edges, y_edges;
} row_entry;

typedef struct chunk_entry {
    uint64_t vertices,
        triangles; /* first the chunk's own counts, then the sum of those before it */
    uint64_t cells;
} chunk_entry;

/* A threshold as what the type is compared as: samples >= it are those >= the isovalue. Of labels the
 * value alone counts. */
typedef struct threshold {
    enum { THRESHOLD_VALUE, THRESHOLD_ALL, THRESHOLD_NONE } kind;
    union {
        uint64_t u64; /* integers, in its low bytes */
        float f32;
        double f64;
    } value;
} threshold;

typedef struct workspace {
    surface_part *part;
    uint64_t pad;              /* 1 with caps */
    bool pad_below, pad_above; /* along z, where a slab need not have it */
    uint64_t size[3];          /* samples, with the pad */
    uint64_t own_first,
        own_end;         /* slices that this run emits: all but those of a slab's neighbours */
    uint64_t words;      /* in a row */
    uint64_t rows;       /* size[1] * size[2] */
    uint64_t chunk_rows; /* rows in a chunk; the last of a slice may have fewer */
    uint64_t chunks_per_slice;
    uint64_t chunk_count;
    threshold limit;
    surface_word *bits;        /* rows * words, and one more */
    surface_word *sample_mask; /* words each: samples, x-edges, no cells */
    surface_word *x_mask;
    surface_word *no_mask;
    row_entry *entries; /* rows */
    uint8_t *flags;     /* rows: ROW_ */
    chunk_entry *chunks;
    surface_word *present; /* as bits, or NULL when nothing is missing */
    surface_word *cells;   /* as bits: cells whose eight corners are present */
} workspace;

/* The samples of slices [first, first + count) of the whole volume. For a volume that is all of it;
 * a field's slabs are evaluated one after another. */
typedef struct sample_window {
    const unsigned char *samples;
    uint64_t first, count;
} sample_window;

typedef struct surface_job {
    tml_context *tml;
    const surface_plan *plan;
    const surface_simd *simd;
    size_t sample_size;
    workspace *spaces; /* plan->part_count of them */
    workspace *space;  /* the one at work, in stages that go part by part */
    sample_window window;
    const surface_case *cases;
    uint64_t first_chunk; /* task i does chunk first_chunk + i */
    atomic_bool nan;
} surface_job;

/* Row (y, z) of the whole volume. */
static inline const unsigned char *sample_row(const surface_job *job, uint64_t y, uint64_t z)
{
    const uint64_t *dims = job->plan->dims;
    assert(z >= job->window.first && z - job->window.first < job->window.count && y < dims[1]);
    return job->window.samples +
           ((z - job->window.first) * dims[1] + y) * dims[0] * job->sample_size;
}

/* Samples of the pad before an axis's first. */
static inline uint64_t pad_before(const workspace *space, int axis)
{
    return axis == 2 ? space->pad_below : space->pad;
}

/* Column, row or slice i of a workspace in the whole volume; the pad takes the sample beside it. */
static inline uint64_t box_index(const workspace *space, int axis, uint64_t i)
{
    uint64_t count = space->part->box.count[axis], pad = pad_before(space, axis);
    uint64_t inside = i < pad ? 0 : i - pad;
    return space->part->box.first[axis] + (inside < count ? inside : count - 1);
}

/* Does index i of an axis lie in the pad? */
static inline bool is_in_pad(const workspace *space, int axis, uint64_t i)
{
    bool after = axis == 2 ? space->pad_above : space->pad;
    return (pad_before(space, axis) && i == 0) || (after && i == space->size[axis] - 1);
}

/* Where slice z of the whole volume lies in a buffer of the plan's, as a slice. */
static inline uint64_t held_slice(const surface_plan *plan, uint64_t z)
{
    assert(!plan->held_count || (z >= plan->held_first && z - plan->held_first < plan->held_count));
    return z - plan->held_first;
}

/* Bits of row y of slice z of a workspace, in one of its planes. */
static inline const surface_word *plane_row(const workspace *space, const surface_word *plane,
                                            uint64_t y, uint64_t z)
{
    return plane + (y + space->size[1] * z) * space->words;
}

/* Where a chunk's rows are. */
typedef struct chunk_place {
    uint64_t z, y_first, y_end;
} chunk_place;
static inline chunk_place chunk_locate(const workspace *space, uint64_t chunk)
{
    uint64_t y = chunk % space->chunks_per_slice * space->chunk_rows;
    return (chunk_place){chunk / space->chunks_per_slice, y,
                         TML_MIN_OF(y + space->chunk_rows, space->size[1])};
}
static inline const chunk_entry *chunk_of_row(const workspace *space, uint64_t y, uint64_t z)
{
    return &space->chunks[z * space->chunks_per_slice + y / space->chunk_rows];
}

/* The four rows of bits that a row of cells at (y, z) lies between; past the border, the row
 * itself. */
surface_rows rows_at(const workspace *space, uint64_t y, uint64_t z);

/* The crossed edges that row (y, z) owns and that have a vertex, for up to GROUP_WORDS words from
 * first on; returns how many words. */
uint64_t find_edges(const surface_simd *simd, const workspace *space, uint64_t y, uint64_t z,
                    uint64_t first, surface_edges *out);

/* Slices of a field that are evaluated at a time. */
uint64_t field_slab_slices(const surface_plan *plan);
/* Makes slices [first, first + count) available in job->window. */
tml_status window_load(surface_job *job, uint64_t first, uint64_t count);

/* Runs a task for each chunk of slices [z_first, z_end) of job->space, in a few batches so that
 * progress can be told; false when cancelled. from ... to: the fraction of the whole call. */
bool run_chunks(surface_job *job, uint64_t z_first, uint64_t z_end, tml_task_fn task,
                const char *stage, double from, double to);

/* Writes vertices and triangles of job->space (cpu_surface_emit.c). */
tml_status surface_emit(surface_job *job, double from, double to);

/* Fills the index (cpu_surface_index.c). */
tml_status surface_index_run(surface_job *job);

/* Normals of vertices, which are made many at a time (cpu_surface_normals.c). */
typedef struct normal_queue {
    const surface_job *job;
    uint64_t first; /* the vertex of lane 0 */
    surface_stencil stencil;
    struct {
        int8_t end, d[3];
    } neighbours[SURFACE_STENCIL]; /* of the stencil: of which end, how far along x, y and z */
    int64_t offsets[3][SURFACE_STENCIL]; /* of the stencil's samples in bytes from the lower end of
                                          * an edge, by its axis, away from the volume's border */
    bool has_nan;                        /* samples that the normals look at may be NaN */
    bool has_border;                     /* around has an end on the volume's border */
    surface_around around;
} normal_queue;

/* Vertices that follow those in the queue: on edges of one axis whose lower ends lie in row (y, z) of
 * the whole volume. */
typedef struct normal_edges {
    int axis;
    uint64_t y, z;
    uint64_t count;
    uint64_t column;   /* of the whole volume, from which x counts */
    const uint32_t *x; /* count columns, ascending */
    const float *t;    /* of the vertices on their edges */
} normal_edges;

void surface_normals_begin(normal_queue *queue, const surface_job *job, uint64_t first);
void surface_normals_add(normal_queue *queue, const normal_edges *edges);
void surface_normals_flush(normal_queue *queue);

#endif
