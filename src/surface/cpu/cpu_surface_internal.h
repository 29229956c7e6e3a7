/* Shared by the files of the CPU's surface: the workspace of a part, and the volume's rows.
 *
 * A workspace has the samples of the part's box. With caps, a pad of one outside sample surrounds
 * them. A task handles a chunk: a few rows of one layer. The row table holds exclusive prefix sums
 * within a chunk; the chunk table holds those of the chunks. */
#ifndef TML_CPU_SURFACE_INTERNAL_H
#define TML_CPU_SURFACE_INTERNAL_H

#include "cpu/cpu_parts.h"
#include "surface/cpu/cpu_surface_simd.h"
#include "surface/surface_space.h"
#include "surface/surface_topology.h"

/* Vertices and triangles in the chunk's earlier rows; the row's own crossed x- and y-edges. */
typedef struct row_entry {
    uint32_t vertices, triangles;
    uint32_t x_edges, y_edges;
} row_entry;

/* A row with open cells (topology_is_open): open cells in the chunk's earlier rows; its own open
 * cells; its vertices on edges, which come first; its vertices in cells. */
typedef struct open_entry {
    uint32_t before, count;
    uint32_t on_edges, own;
} open_entry;

/* vertices and triangles are the chunk's counts; after scan_chunks, their exclusive prefix sums. */
typedef struct chunk_entry {
    uint64_t vertices, triangles;
    uint64_t cells;
    uint64_t open; /* open cells; after find_meshes, those of the chunks before */
} chunk_entry;

/* The isovalue in the type that samples are compared as. A sample >= value is inside. With labels,
 * which use only value, a sample == value is inside. */
typedef struct threshold {
    enum { THRESHOLD_VALUE, THRESHOLD_ALL, THRESHOLD_NONE } kind;
    union {
        uint8_t u8; /* integers: the bits of a sample, signed or not */
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        float f32;
        double f64;
    } value;
} threshold;

typedef struct workspace {
    surface_part *part;
    uint64_t pad;                /* 1 with caps */
    bool pad_below, pad_above;   /* along z; a slab inside the part has neither */
    uint64_t size[3];            /* samples, with the pad */
    uint64_t own_first, own_end; /* layers that this run emits: all but a slab's halo */
    uint64_t words;              /* per row */
    uint64_t rows;               /* size[1] * size[2] */
    uint64_t chunk_rows;         /* rows per chunk; a layer's last chunk may have fewer */
    uint64_t chunks_per_slice;
    uint64_t chunk_count;
    threshold limit;
    surface_word *bits;        /* rows * words, and one more */
    surface_word *sample_mask; /* three masks of one row: samples, x-edges, no cells */
    surface_word *x_mask;
    surface_word *no_mask;
    row_entry *entries; /* one per row */
    open_entry *open;   /* one per row; NULL: not trilinear */
    uint8_t *flags;     /* one per row: ROW_ */
    chunk_entry *chunks;
    surface_word *present; /* laid out like bits; NULL: no sample is missing */
    surface_word *cells;   /* laid out like bits: cells whose eight corners are present */
    uint16_t *meshes;      /* of the open cells, in order; open_count of them */
    uint64_t open_count;
} workspace;

/* The samples of layers [first, first + count) of the whole volume: those that plan->volume holds,
 * or the slab of a field that was evaluated last. */
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
    workspace *space;  /* the current one, in stages that work part by part */
    sample_window window;
    uint8_t *marks; /* of a field: marks of the bricks in the window (cpu_field_bricks) */
    const surface_case *cases;
    uint64_t first_chunk; /* task i handles chunk first_chunk + i */
    atomic_bool nan;
    bool is_unit; /* positions are indices; axes: the axis of each component */
    int axes[3];
} surface_job;

/* Row (y, z) of the whole volume: the number of its first sample in the window, and its address. */
static inline uint64_t row_number(const surface_job *job, uint64_t y, uint64_t z)
{
    const uint64_t *dims = job->plan->dims;
    assert(z >= job->window.first && z - job->window.first < job->window.count && y < dims[1]);
    return ((z - job->window.first) * dims[1] + y) * dims[0];
}
static inline const unsigned char *sample_row(const surface_job *job, uint64_t y, uint64_t z)
{
    return job->window.samples + row_number(job, y, z) * job->sample_size;
}

/* Returns the number of pad samples before the first sample on an axis. */
static inline uint64_t pad_before(const workspace *space, int axis)
{
    return axis == 2 ? space->pad_below : space->pad;
}

/* Returns the index in the volume of index i of a workspace. A pad repeats the border sample. */
static inline uint64_t box_index(const workspace *space, int axis, uint64_t i)
{
    uint64_t count = space->part->box.count[axis], pad = pad_before(space, axis);
    uint64_t inside = i < pad ? 0 : i - pad;
    return space->part->box.first[axis] + (inside < count ? inside : count - 1);
}

static inline bool is_in_pad(const workspace *space, int axis, uint64_t i)
{
    bool after = axis == 2 ? space->pad_above : space->pad;
    return (pad_before(space, axis) && i == 0) || (after && i == space->size[axis] - 1);
}

/* Returns the layer of the plan's buffers that holds layer z of the whole volume. */
static inline uint64_t held_slice(const surface_plan *plan, uint64_t z)
{
    assert(!plan->held_count || (z >= plan->held_first && z - plan->held_first < plan->held_count));
    return z - plan->held_first;
}

/* Returns row (y, z) of a workspace in its bits, present or cells. */
static inline const surface_word *plane_row(const workspace *space, const surface_word *plane,
                                            uint64_t y, uint64_t z)
{
    return plane + (y + space->size[1] * z) * space->words;
}

/* The rows of a chunk: [y_first, y_end) of layer z. */
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

/* The four rows of bits around the row of cells at (y, z). Past the border, the last one
 * repeats. */
static inline surface_rows rows_at(const workspace *space, uint64_t y, uint64_t z)
{
    uint64_t y1 = y + 1 < space->size[1] ? y + 1 : y;
    uint64_t z1 = z + 1 < space->size[2] ? z + 1 : z;
    return (surface_rows){
        {plane_row(space, space->bits, y, z), plane_row(space, space->bits, y1, z),
         plane_row(space, space->bits, y, z1), plane_row(space, space->bits, y1, z1)}};
}

/* Returns the case of the cell at a bit of word w of the rows. */
static inline unsigned case_of(const surface_rows *rows, uint64_t w, unsigned bit)
{
    unsigned index = 0;
    for (unsigned i = 0; i < 4; i++) {
        const surface_word *row = rows->row[i] + w;
        index |= (unsigned)(row[0] >> bit & 1) << (2 * i);
        index |= (unsigned)((bit < 63 ? row[0] >> (bit + 1) : row[1]) & 1) << (2 * i + 1);
    }
    return index;
}

/* Finds the edges with a vertex that row (y, z) owns, in up to GROUP_WORDS words from word first
 * on. Returns the number of words. */
uint64_t find_edges(const surface_simd *simd, const workspace *space, uint64_t y, uint64_t z,
                    uint64_t first, surface_edges *out);

/* Returns the number of layers of a field that are evaluated at a time, without the halo. */
uint64_t field_slab_slices(const surface_plan *plan);
/* Makes layers [first, first + count) available in job->window. has_bits, for a field: evaluates
 * what the vertices of job->space need, by its sign bits; otherwise what sign bits need. */
tml_status window_load(surface_job *job, uint64_t first, uint64_t count, bool has_bits);
/* Runs a task over layers [z_first, z_end), one slab of a field after another; a volume is one
 * slab. A slab has a halo of back layers below and ahead layers above. */
tml_status run_windows(surface_job *job, uint64_t z_first, uint64_t z_end, uint64_t back,
                       uint64_t ahead, tml_task_fn task, const char *stage, double from, double to);

/* Runs a task for each chunk of layers [z_first, z_end) of job->space. Between batches of chunks,
 * reports progress in [from, to]. Returns false if cancelled. */
bool run_chunks(surface_job *job, uint64_t z_first, uint64_t z_end, tml_task_fn task,
                const char *stage, double from, double to);

/* Writes vertices and triangles of job->space (cpu_surface_emit.c). */
tml_status surface_emit(surface_job *job, double from, double to);

/* Chooses the meshes of all open cells in the counted layers. The row and chunk tables count open
 * cells as separated ones; corrects these counts (cpu_surface_topology.c). */
tml_status find_meshes(surface_job *job, uint64_t z_first, uint64_t z_end, double from, double to);
void meshes_free(surface_job *job, workspace *space);
/* Writes the own vertices of a row's cells, from number first of the outputs on. */
void open_vertices(const surface_job *job, uint64_t y, uint64_t z, uint64_t first);

static inline bool has_open(const workspace *space)
{
    return SURFACE_HAS_TRILINEAR && space->open;
}
static inline const open_entry *open_of_row(const workspace *space, uint64_t y, uint64_t z)
{
    return &space->open[y + space->size[1] * z];
}
/* Returns NULL if no row has open cells. */
static inline uint16_t *meshes_of_row(const workspace *space, uint64_t y, uint64_t z)
{
    if (!space->meshes)
        return NULL;
    return space->meshes + chunk_of_row(space, y, z)->open + open_of_row(space, y, z)->before;
}

/* Computes the position of a point that is given in samples of the volume. */
static inline void cpu_surface_position(const surface_axes *axes, const double at[3], float out[3])
{
    for (int c = 0; c < 3; c++)
        out[c] = (float)(axes->origin[c] + axes->step[2][c] * at[2] + axes->step[1][c] * at[1] +
                         axes->step[0][c] * at[0]);
}

/* Gathers the plan's outputs from plan->welded (cpu_surface_soup.c). */
tml_status surface_soup_run(const surface_job *job);

/* Fills the brick index (cpu_surface_index.c). */
tml_status surface_index_run(surface_job *job);

/* Vertices whose normals are computed together (cpu_surface_normals.c). */
enum { BORDER_STENCILS = 16 };
typedef struct normal_queue {
    const surface_job *job;
    uint64_t count;
    uint64_t number[SURFACE_LANES]; /* of the vertices in the outputs */
    float t[SURFACE_LANES];         /* of the vertices on their edges */
    int64_t strides[3];             /* samples per step along each axis */
    surface_stencil stencil;
    struct {
        int8_t end, d[3];
    } neighbours[SURFACE_STENCIL]; /* end of the edge, and steps from it along x, y and z */
    /* Samples from the lower end of an edge to each neighbour, by the edge's axis. For edges away
     * from the volume's border. */
    int64_t offsets[3][SURFACE_STENCIL];
    int64_t clamped[BORDER_STENCILS][SURFACE_STENCIL]; /* the same for other edges in the queue */
    uint32_t clamped_count;
    bool has_nan;    /* gradients may read a NaN sample */
    bool has_border; /* around.at is set */
    surface_around around;
} normal_queue;

/* Edges of one axis whose lower ends are in row (y, z) of the whole volume. */
typedef struct normal_edges {
    int axis;
    uint64_t y, z;
    uint64_t count;
    uint64_t number;   /* of the first vertex in the outputs; the others follow it */
    const uint32_t *x; /* count columns of the whole volume, ascending */
    const float *t;    /* of the vertices on their edges */
} normal_edges;

void surface_normals_begin(normal_queue *queue, const surface_job *job);
void surface_normals_add(normal_queue *queue, const normal_edges *edges);
/* Computes the normals of vertices away from the volume's border, if usual_normals supports them.
 * Vertices are numbered from first on. The caller queues the vertices in the mask border
 * afterwards. Returns false if it did nothing. */
bool surface_normals_usual(normal_queue *queue, surface_lanes *lanes, const float *t,
                           uint64_t border, uint64_t first);
void surface_normals_flush(normal_queue *queue);

#endif
