/* Counts over an indexed mesh: components, edges by use, Euler characteristic, area, volume,
 * bounds.
 *
 * Edges are found without a hash and without sorting them all: half-edges are binned by their lower
 * vertex (count, scan, scatter), and each bin, six or so long, is sorted by the other vertex.
 * Volume is the divergence theorem's sum of signed tetrahedra (Zhang, Chen: Efficient Feature
 * Extraction for 2D/3D Objects in Mesh Representation. 2001), from a vertex of the mesh, so that a
 * mesh far from the origin loses no digits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/call.h"
#include "core/core_internal.h"
#include "surface/mesh_internal.h"

/* Triangles or vertices between two reports of progress. */
enum { BLOCK = 1 << 18 };

typedef struct mesh_view {
    tml_context *tml;
    const float *positions;
    const void *indices;
    bool indices64;
    uint64_t vertex_count, triangle_count;
} mesh_view;

static uint64_t corner_vertex(const mesh_view *mesh, uint64_t corner)
{
    return mesh_index(mesh->indices, mesh->indices64, corner);
}

static tml_status out_of_memory(tml_context *tml, uint64_t size)
{
    return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                     "tml_mesh_examine: no memory for %llu bytes; components_only needs less",
                     (unsigned long long)size);
}

/* Reports every so often that a stage, which goes from first to last of the call, did i of
 * count. */
static tml_status report(tml_context *tml, const char *stage, double first, double last, uint64_t i,
                         uint64_t count)
{
    if (i % BLOCK || tml_progress(tml, stage, first + (last - first) * (double)i / (double)count))
        return TML_OK;
    return tml_error(tml, TML_ERROR_CANCELLED, "tml_mesh_examine: cancelled");
}

static tml_status check_indices(const mesh_view *mesh)
{
    for (uint64_t i = 0; i < 3 * mesh->triangle_count; i++)
        if (corner_vertex(mesh, i) >= mesh->vertex_count)
            return tml_error(
                mesh->tml, TML_ERROR_INVALID_ARGUMENT,
                "tml_mesh_examine: indices: corner %u of triangle %llu is vertex %llu, "
                "needs less than %llu, the count of vertices",
                (unsigned)(i % 3), (unsigned long long)(i / 3),
                (unsigned long long)corner_vertex(mesh, i), (unsigned long long)mesh->vertex_count);
    return TML_OK;
}

/* ---- components ----------------------------------------------------------------------------- */

#define UNUSED UINT64_MAX

/* Counts components, and the vertices in use into the Euler characteristic. forest: one a
 * vertex. */
static tml_status count_components(const mesh_view *mesh, uint64_t *forest, tml_mesh_stats *out)
{
    memset(forest, 0xff, mesh->vertex_count * sizeof *forest); /* UNUSED */
    uint64_t used = 0, unions = 0;
    for (uint64_t t = 0; t < mesh->triangle_count; t++) {
        tml_status status = report(mesh->tml, "components", 0.0, 0.3, t, mesh->triangle_count);
        if (status != TML_OK)
            return status;
        uint64_t first = corner_vertex(mesh, 3 * t);
        for (uint64_t k = 0; k < 3; k++) {
            uint64_t vertex = corner_vertex(mesh, 3 * t + k);
            if (forest[vertex] == UNUSED) {
                forest[vertex] = vertex;
                used++;
            }
            if (forest_root(forest, vertex) != forest_root(forest, first)) {
                forest_unite(forest, vertex, first);
                unions++;
            }
        }
    }
    out->components = used - unions;
    out->euler += (int64_t)used;
    return TML_OK;
}

/* ---- measures ------------------------------------------------------------------------------- */

static tml_status measure(const mesh_view *mesh, tml_mesh_stats *out)
{
    if (mesh->triangle_count == 0)
        return TML_OK;
    const float *base = mesh->positions + 3 * corner_vertex(mesh, 0);
    for (int k = 0; k < 3; k++) {
        out->lower[k] = INFINITY;
        out->upper[k] = -INFINITY;
    }
    for (uint64_t t = 0; t < mesh->triangle_count; t++) {
        tml_status status = report(mesh->tml, "measures", 0.3, 0.5, t, mesh->triangle_count);
        if (status != TML_OK)
            return status;
        double p[3][3], u[3], v[3];
        for (uint64_t c = 0; c < 3; c++) {
            const float *position = mesh->positions + 3 * corner_vertex(mesh, 3 * t + c);
            for (int k = 0; k < 3; k++) {
                p[c][k] = (double)position[k] - (double)base[k];
                out->lower[k] = fmin(out->lower[k], position[k]);
                out->upper[k] = fmax(out->upper[k], position[k]);
            }
        }
        for (int k = 0; k < 3; k++) {
            u[k] = p[1][k] - p[0][k];
            v[k] = p[2][k] - p[0][k];
        }
        double normal[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                            u[0] * v[1] - u[1] * v[0]};
        out->area +=
            0.5 * sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
        out->volume += (p[0][0] * normal[0] + p[0][1] * normal[1] + p[0][2] * normal[2]) / 6.0;
    }
    return TML_OK;
}

/* ---- edges ---------------------------------------------------------------------------------- */

/* A half-edge in the bin of its lower vertex: the other vertex, and in bit 0 whether it leads
 * up. */
static int compare_half_edges(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Bins are short, and a call of qsort costs more than this; a fan's hub is not. */
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

static void count_bin(uint64_t *bin, uint64_t count, tml_mesh_stats *out)
{
    sort_bin(bin, count);
    for (uint64_t i = 0; i < count;) {
        uint64_t uses = 0, up = 0, other = bin[i] >> 1;
        for (; i < count && bin[i] >> 1 == other; i++, uses++)
            up += bin[i] & 1;
        out->boundary_edges += uses == 1;
        out->nonmanifold_edges += uses > 2 || (uses == 2 && up != 1);
        out->euler--;
    }
}

/* The half-edge that starts at a corner. */
typedef struct half_edge {
    uint64_t low, high, up;
} half_edge;

static half_edge half_edge_at(const mesh_view *mesh, uint64_t corner)
{
    uint64_t a = corner_vertex(mesh, corner);
    uint64_t b = corner_vertex(mesh, corner % 3 == 2 ? corner - 2 : corner + 1);
    return (half_edge){TML_MIN_OF(a, b), TML_MAX_OF(a, b), a < b};
}

/* ends: one a vertex; bins: one a corner. An edge from a vertex to itself is none. */
static tml_status count_edges(const mesh_view *mesh, uint64_t *ends, uint64_t *bins,
                              tml_mesh_stats *out)
{
    uint64_t corners = 3 * mesh->triangle_count, total = 0;
    memset(ends, 0, mesh->vertex_count * sizeof *ends);
    for (uint64_t i = 0; i < corners; i++) {
        half_edge edge = half_edge_at(mesh, i);
        ends[edge.low] += edge.low != edge.high;
    }
    for (uint64_t v = 0; v < mesh->vertex_count; v++) {
        uint64_t count = ends[v];
        ends[v] = total; /* the bin's first place; scattering moves it to the bin's end */
        total += count;
    }
    for (uint64_t i = 0; i < corners; i++) {
        tml_status status = report(mesh->tml, "edges", 0.5, 0.8, i, corners);
        if (status != TML_OK)
            return status;
        half_edge edge = half_edge_at(mesh, i);
        if (edge.low != edge.high)
            bins[ends[edge.low]++] = edge.high << 1 | edge.up;
    }
    for (uint64_t v = 0, first = 0; v < mesh->vertex_count; first = ends[v++]) {
        tml_status status = report(mesh->tml, "edges", 0.8, 1.0, v, mesh->vertex_count);
        if (status != TML_OK)
            return status;
        count_bin(bins + first, ends[v] - first, out);
    }
    return TML_OK;
}

/* ---- the call ------------------------------------------------------------------------------- */

static tml_status examine(const mesh_view *mesh, bool components_only, tml_mesh_stats *out)
{
    tml_context *tml = mesh->tml;
    tml_status status = check_indices(mesh);
    if (status != TML_OK || mesh->triangle_count == 0)
        return status;
    uint64_t words = mesh->vertex_count + (components_only ? 0 : 3 * mesh->triangle_count);
    uint64_t size = words * sizeof(uint64_t);
    uint64_t *memory = tml_alloc_array(tml, words, sizeof *memory);
    if (!memory)
        return out_of_memory(tml, size);
    out->euler = (int64_t)mesh->triangle_count;
    status = count_components(mesh, memory, out);
    if (status == TML_OK)
        status = measure(mesh, out);
    if (status == TML_OK && !components_only)
        status = count_edges(mesh, memory, memory + mesh->vertex_count, out);
    if (components_only)
        out->euler = 0;
    tml_free(tml, memory, size);
    return status;
}

static tml_status mesh_examine(tml_context *tml, tml_buffer vertices, tml_buffer indices,
                               bool components_only, tml_mesh_stats *out)
{
    static const tml_type vertex_types[] = {TML_VEC(TML_F32, 3), TML_TYPE_NONE};
    static const tml_type index_types[] = {TML_VEC(TML_U32, 3), TML_VEC(TML_U64, 3), TML_TYPE_NONE};
    const char *call = "tml_mesh_examine";
    tml_mesh_stats stats = {0};
    tml_status status = tml_check_buffer(tml, call, "vertices", vertices, vertex_types, 0);
    if (status == TML_OK)
        status = tml_check_buffer(tml, call, "indices", indices, index_types, 0);
    if (status != TML_OK)
        return status;

    void *positions = NULL, *corners = NULL;
    status = tml_buffer_map(tml, vertices, &positions);
    if (status != TML_OK)
        return status;
    status = tml_buffer_map(tml, indices, &corners);
    if (status == TML_OK) {
        mesh_view mesh = {.tml = tml, .positions = positions, .indices = corners};
        tml_type index_type = TML_TYPE_NONE;
        tml_buffer_describe(tml, vertices, NULL, &mesh.vertex_count);
        tml_buffer_describe(tml, indices, &index_type, &mesh.triangle_count);
        mesh.indices64 = tml_type_scalar(index_type) == TML_U64;
        status = examine(&mesh, components_only, &stats);
        tml_buffer_unmap(tml, indices);
    }
    tml_buffer_unmap(tml, vertices);
    if (status == TML_OK)
        *out = stats;
    return status;
}

tml_status tml_mesh_examine(tml_context *tml, tml_buffer vertices, tml_buffer indices,
                            bool components_only, tml_mesh_stats *out)
{
    tml_status status = TML_ENTER(tml, out);
    return status ? status
                  : tml_leave(tml, mesh_examine(tml, vertices, indices, components_only, out));
}
