/* Counts and measures of an indexed mesh: components, boundary and non-manifold edges, Euler
 * characteristic, area, volume, bounds.
 *
 * Half-edges are binned by their lower vertex (count, scan, scatter). Each bin, of about six, is
 * sorted by the other vertex, so edges need neither a hash table nor one large sort. The volume is
 * a sum of signed tetrahedra. Their apex is a vertex of the mesh, so a mesh far from the origin
 * loses no precision. After: Zhang, Chen: Efficient Feature Extraction for 2D/3D Objects in Mesh
 * Representation. 2001. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/core_internal.h"
#include "mesh/mesh_arrays.h"
#include "stream/stream_internal.h"

/* Triangles or vertices per task. The sums of the tasks are added in order, so the result does not
 * depend on the number of threads. */
enum { BLOCK = 1 << 16 };

typedef struct mesh_view {
    tml_context *tml;
    const float *positions;
    const void *indices;
    bool indices64;
    uint64_t vertex_count, triangle_count;
} mesh_view;

/* Shared by the tasks of a stage. Task i handles block first_block + i. */
typedef struct stage_job {
    const mesh_view *mesh;
    uint64_t first_block;
    mesh_forest forest;
    _Atomic uint64_t wrong_corner; /* the first corner whose index is out of range */
    tml_mesh_stats *partial;       /* sums per block */
    bool is_alone;                 /* one thread: counters need no atomic additions */
    _Atomic uint64_t *ends;        /* per vertex: its bin's size, then start, then end */
    uint64_t *bins;                /* half-edges, one per corner */
} stage_job;

static uint64_t corner_vertex(const mesh_view *mesh, uint64_t corner)
{
    return mesh_index(mesh->indices, mesh->indices64, corner);
}

static tml_status mesh_stats_out_of_memory(tml_context *tml, uint64_t size)
{
    return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                     "tml_mesh_examine: no memory for %llu bytes; components_only needs less",
                     (unsigned long long)size);
}

/* The triangles or vertices of a block: [first, end). */
typedef struct block_range {
    uint64_t number, first, end;
} block_range;

static block_range range_of(const stage_job *job, uint32_t task, uint64_t count)
{
    uint64_t number = job->first_block + task;
    return (block_range){number, number * BLOCK, TML_MIN_OF((number + 1) * BLOCK, count)};
}

/* Runs a task for each block of count items. Between batches of blocks, reports progress within
 * [from, to]. */
static tml_status run_blocks(stage_job *job, uint64_t count, tml_task_fn task, const char *stage,
                             double from, double to)
{
    tml_context *tml = job->mesh->tml;
    uint64_t blocks = TML_CEIL_DIV(count, BLOCK), batch = 8 * (uint64_t)tml_concurrency(tml);
    for (uint64_t first = 0; first < blocks; first += batch) {
        if (!tml_progress(tml, stage, from + (to - from) * (double)first / (double)blocks))
            return tml_error(tml, TML_ERROR_CANCELLED, "tml_mesh_examine: cancelled");
        job->first_block = first;
        tml_parallel_for(tml, (uint32_t)TML_MIN_OF(batch, blocks - first), task, job);
    }
    return TML_OK;
}

/* ---- components ----------------------------------------------------------------------------- */

/* Checks the indices of a block's triangles, and unites each triangle's vertices. */
static void unite_block(void *argument, uint32_t task)
{
    stage_job *job = argument;
    const mesh_view *mesh = job->mesh;
    block_range range = range_of(job, task, mesh->triangle_count);
    const mesh_triangles triangles = {mesh->indices, mesh->indices64, 0, NULL};
    uint64_t wrong = forest_unite_triangles(&job->forest, &triangles, range.first, range.end);
    uint64_t first = atomic_load_explicit(&job->wrong_corner, memory_order_relaxed);
    while (wrong < first &&
           !atomic_compare_exchange_weak_explicit(&job->wrong_corner, &first, wrong,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

/* Counts components. Adds the number of used vertices to the Euler characteristic. */
static tml_status count_components(const mesh_view *mesh, double last, tml_mesh_stats *out)
{
    stage_job job = {.mesh = mesh};
    atomic_init(&job.wrong_corner, UINT64_MAX);
    if (!forest_create(mesh->tml, mesh->vertex_count, &job.forest))
        return mesh_stats_out_of_memory(mesh->tml, forest_size(mesh->vertex_count));
    tml_status status = run_blocks(&job, mesh->triangle_count, unite_block, "components", 0, last);
    uint64_t wrong = atomic_load_explicit(&job.wrong_corner, memory_order_relaxed);
    uint64_t used = 0;
    if (status == TML_OK && wrong != UINT64_MAX)
        status = tml_error(
            mesh->tml, TML_ERROR_INVALID_ARGUMENT,
            "tml_mesh_examine: mesh.indices: corner %u of triangle %llu is vertex %llu, needs less "
            "than %llu, the count of vertices",
            (unsigned)(wrong % 3), (unsigned long long)(wrong / 3),
            (unsigned long long)corner_vertex(mesh, wrong), (unsigned long long)mesh->vertex_count);
    else if (status == TML_OK)
        forest_count(mesh->tml, &job.forest, &used, &out->components);
    forest_destroy(mesh->tml, &job.forest);
    out->euler += (int64_t)used;
    return status;
}

/* ---- measures ------------------------------------------------------------------------------- */

/* Returns whether the triangle has a vertex twice. It then has no edges. */
static bool is_line(const mesh_view *mesh, uint64_t triangle)
{
    const uint64_t a = corner_vertex(mesh, 3 * triangle), b = corner_vertex(mesh, 3 * triangle + 1),
                   c = corner_vertex(mesh, 3 * triangle + 2);
    return a == b || b == c || c == a;
}

static void measure_block(void *argument, uint32_t task)
{
    const stage_job *job = argument;
    const mesh_view *mesh = job->mesh;
    const float *base = mesh->positions + 3 * corner_vertex(mesh, 0);
    block_range range = range_of(job, task, mesh->triangle_count);
    float lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    double area = 0, volume = 0;
    uint64_t degenerate = 0;
    int64_t lines = 0;
    for (uint64_t t = range.first; t < range.end; t++) {
        double p[3][3], u[3], v[3];
        for (uint64_t c = 0; c < 3; c++) {
            const float *position = mesh->positions + 3 * corner_vertex(mesh, 3 * t + c);
            for (int k = 0; k < 3; k++) {
                p[c][k] = (double)position[k] - (double)base[k];
                lower[k] = position[k] < lower[k] ? position[k] : lower[k];
                upper[k] = position[k] > upper[k] ? position[k] : upper[k];
            }
        }
        for (int k = 0; k < 3; k++) {
            u[k] = p[1][k] - p[0][k];
            v[k] = p[2][k] - p[0][k];
        }
        double normal[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                            u[0] * v[1] - u[1] * v[0]};
        const double twice =
            sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
        area += 0.5 * twice;
        degenerate += twice == 0;
        lines += is_line(mesh, t);
        volume += (p[0][0] * normal[0] + p[0][1] * normal[1] + p[0][2] * normal[2]) / 6.0;
    }
    tml_mesh_stats *out = &job->partial[range.number];
    out->area = area;
    out->volume = volume;
    out->degenerate_triangles = degenerate;
    out->euler = -lines; /* these are not faces */
    for (int k = 0; k < 3; k++) {
        out->lower[k] = (double)lower[k];
        out->upper[k] = (double)upper[k];
    }
}

static tml_status measure(stage_job *job, tml_mesh_stats *out)
{
    uint64_t count = job->mesh->triangle_count;
    tml_status status = run_blocks(job, count, measure_block, "measures", 0.3, 0.5);
    for (int k = 0; k < 3; k++) {
        out->lower[k] = INFINITY;
        out->upper[k] = -INFINITY;
    }
    for (uint64_t b = 0; b < TML_CEIL_DIV(count, BLOCK) && status == TML_OK; b++) {
        const tml_mesh_stats *part = &job->partial[b];
        out->area += part->area;
        out->volume += part->volume;
        out->degenerate_triangles += part->degenerate_triangles;
        out->euler += part->euler;
        for (int k = 0; k < 3; k++) {
            out->lower[k] = fmin(out->lower[k], part->lower[k]);
            out->upper[k] = fmax(out->upper[k], part->upper[k]);
        }
    }
    return status;
}

/* ---- edges ---------------------------------------------------------------------------------- */

/* A half-edge in the bin of its lower vertex: the higher vertex << 1; bit 0: it ends there. */
static int compare_half_edges(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Insertion sort for short bins, for which qsort costs more. The hub of a fan has a long bin. */
static void sort_bin(uint64_t *bin, uint64_t count)
{
    enum { SHORT_BIN = 24 };
    if (count > SHORT_BIN) {
        qsort(bin, count, sizeof *bin, compare_half_edges);
        return;
    }
    for (uint64_t i = 1; i < count; i++) {
        uint64_t moving = bin[i], j = i;
        for (; j > 0 && bin[j - 1] > moving; j--)
            bin[j] = bin[j - 1];
        bin[j] = moving;
    }
}

/* Counts a bin's edges. A surface that bounds a volume uses each edge equally often in both
 * directions; if this one does not, volume becomes NaN. */
static void count_bin(uint64_t *bin, uint64_t count, tml_mesh_stats *out)
{
    sort_bin(bin, count);
    for (uint64_t i = 0; i < count;) {
        uint64_t uses = 0, up = 0, other = bin[i] >> 1;
        for (; i < count && bin[i] >> 1 == other; i++, uses++)
            up += bin[i] & 1;
        out->boundary_edges += uses == 1;
        out->nonmanifold_edges += uses > 2 || (uses == 2 && up != 1);
        out->misoriented_edges += uses == 2 && up != 1;
        if (2 * up != uses)
            out->volume = (double)NAN;
        out->euler--;
    }
}

/* The half-edge that starts at a corner. If its triangle has a vertex twice, it is none: from a
 * vertex to itself. */
typedef struct half_edge {
    uint64_t low, high, up;
} half_edge;

static half_edge half_edge_at(const mesh_view *mesh, uint64_t corner)
{
    uint64_t a = corner_vertex(mesh, corner);
    uint64_t b = corner_vertex(mesh, corner % 3 == 2 ? corner - 2 : corner + 1);
    if (is_line(mesh, corner / 3))
        b = a;
    return (half_edge){TML_MIN_OF(a, b), TML_MAX_OF(a, b), a < b};
}

/* Adds 1 and returns the old value. */
static uint64_t advance(const stage_job *job, _Atomic uint64_t *counter)
{
    if (!job->is_alone)
        return atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
    uint64_t before = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, before + 1, memory_order_relaxed);
    return before;
}

/* A half-edge from a vertex to itself is not an edge. */
static void size_bins_block(void *argument, uint32_t task)
{
    const stage_job *job = argument;
    block_range range = range_of(job, task, job->mesh->triangle_count);
    for (uint64_t i = 3 * range.first; i < 3 * range.end; i++) {
        half_edge edge = half_edge_at(job->mesh, i);
        if (edge.low != edge.high)
            advance(job, &job->ends[edge.low]);
    }
}

static void fill_bins_block(void *argument, uint32_t task)
{
    const stage_job *job = argument;
    block_range range = range_of(job, task, job->mesh->triangle_count);
    for (uint64_t i = 3 * range.first; i < 3 * range.end; i++) {
        half_edge edge = half_edge_at(job->mesh, i);
        if (edge.low != edge.high)
            job->bins[advance(job, &job->ends[edge.low])] = edge.high << 1 | edge.up;
    }
}

/* ends[v] is the end of v's bin and the start of the next one. */
static void count_bins_block(void *argument, uint32_t task)
{
    const stage_job *job = argument;
    block_range range = range_of(job, task, job->mesh->vertex_count);
    tml_mesh_stats *out = &job->partial[range.number];
    *out = (tml_mesh_stats){0};
    for (uint64_t v = range.first; v < range.end; v++) {
        uint64_t first = v > 0 ? atomic_load_explicit(&job->ends[v - 1], memory_order_relaxed) : 0;
        count_bin(job->bins + first,
                  atomic_load_explicit(&job->ends[v], memory_order_relaxed) - first, out);
    }
}

static tml_status count_edges(stage_job *job, tml_mesh_stats *out)
{
    const mesh_view *mesh = job->mesh;
    uint64_t total = 0;
    memset(job->ends, 0, mesh->vertex_count * sizeof *job->ends);
    tml_status status = run_blocks(job, mesh->triangle_count, size_bins_block, "edges", 0.5, 0.6);
    for (uint64_t v = 0; v < mesh->vertex_count; v++) {
        uint64_t count = atomic_load_explicit(&job->ends[v], memory_order_relaxed);
        /* Exclusive prefix sum: the bin's start. fill_bins_block advances it to the bin's end. */
        atomic_store_explicit(&job->ends[v], total, memory_order_relaxed);
        total += count;
    }
    TML_THEN(status, run_blocks(job, mesh->triangle_count, fill_bins_block, "edges", 0.6, 0.8));
    TML_THEN(status, run_blocks(job, mesh->vertex_count, count_bins_block, "edges", 0.8, 1.0));
    for (uint64_t b = 0; b < TML_CEIL_DIV(mesh->vertex_count, BLOCK) && status == TML_OK; b++) {
        out->boundary_edges += job->partial[b].boundary_edges;
        out->nonmanifold_edges += job->partial[b].nonmanifold_edges;
        out->misoriented_edges += job->partial[b].misoriented_edges;
        out->volume += job->partial[b].volume; /* 0, or NaN */
        out->euler += job->partial[b].euler;
    }
    return status;
}

/* ---- the call ------------------------------------------------------------------------------- */

static tml_status measure_and_count(const mesh_view *mesh, tml_mesh_stats *out)
{
    tml_context *tml = mesh->tml;
    stage_job job = {.mesh = mesh, .is_alone = tml_concurrency(tml) == 1};
    uint64_t blocks = TML_CEIL_DIV(TML_MAX_OF(mesh->vertex_count, mesh->triangle_count), BLOCK);
    uint64_t words = mesh->vertex_count + 3 * mesh->triangle_count;
    uint64_t size = words * sizeof(uint64_t) + blocks * sizeof *job.partial;
    job.partial = tml_alloc_array(tml, blocks, sizeof *job.partial);
    uint64_t *memory = tml_alloc_array(tml, words, sizeof *memory);
    tml_status status = TML_OK;
    if (!job.partial || !memory)
        status = mesh_stats_out_of_memory(tml, size);
    job.ends = (_Atomic uint64_t *)memory;
    job.bins = memory ? memory + mesh->vertex_count : NULL;
    TML_THEN(status, measure(&job, out));
    TML_THEN(status, count_edges(&job, out));
    tml_free(tml, memory, words * sizeof *memory);
    tml_free(tml, job.partial, blocks * sizeof *job.partial);
    return status;
}

static tml_status examine(const mesh_view *mesh, bool components_only, tml_mesh_stats *out)
{
    if (mesh->triangle_count == 0)
        return TML_OK;
    tml_status status = count_components(mesh, components_only ? 1.0 : 0.3, out);
    out->euler = components_only ? 0 : out->euler + (int64_t)mesh->triangle_count;
    return status || components_only ? status : measure_and_count(mesh, out);
}

static tml_status mesh_examine(tml_context *tml, const tml_mesh_buffers *buffers,
                               bool components_only, tml_mesh_stats *out)
{
    const char *call = "tml_mesh_examine";
    tml_mesh_stats stats = {0};
    tml_status status =
        tml_check_buffer(tml, call, "mesh.positions", buffers->positions, stream_f32x3_types, 0);
    TML_THEN(status, tml_check_buffer(tml, call, "mesh.indices", buffers->indices,
                                      stream_triangle_types, 0));
    if (status != TML_OK)
        return status;

    void *positions = NULL, *corners = NULL;
    status = tml_buffer_map(tml, buffers->positions, &positions);
    if (status != TML_OK)
        return status;
    status = tml_buffer_map(tml, buffers->indices, &corners);
    if (status == TML_OK) {
        mesh_view mesh = {.tml = tml, .positions = positions, .indices = corners};
        tml_type index_type = TML_TYPE_NONE;
        tml_buffer_describe(tml, buffers->positions, NULL, &mesh.vertex_count);
        tml_buffer_describe(tml, buffers->indices, &index_type, &mesh.triangle_count);
        mesh.indices64 = tml_type_scalar(index_type) == TML_U64;
        status = examine(&mesh, components_only, &stats);
        tml_buffer_unmap(tml, buffers->indices);
    }
    tml_buffer_unmap(tml, buffers->positions);
    if (status == TML_OK)
        *out = stats;
    return status;
}

tml_status tml_mesh_examine(tml_context *tml, const tml_mesh_buffers *mesh, bool components_only,
                            tml_mesh_stats *out)
{
    tml_status status = TML_ENTER(tml, mesh, out);
    return status ? status : tml_leave(tml, mesh_examine(tml, mesh, components_only, out));
}
