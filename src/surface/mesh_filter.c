/* Cleans a mesh: removes triangles with two corners of equal position, and all components of a
 * part but the largest.
 *
 * Both filters flag the triangles to keep. Triangles and vertices in use are then compacted: the
 * exclusive prefix sum of the vertices' flags numbers them. The host does this for every engine. */
#include "core/call.h"
#include "surface/mesh_internal.h"

#include <stdatomic.h>
#include <string.h>

#include "core/core_internal.h"

/* Triangles between two checks of the cancel flag, and in a parallel task. */
enum { BLOCK = 1 << 16 };

typedef struct filter {
    tml_context *tml;
    mesh_arrays *mesh;
    uint8_t *kept; /* of each triangle: 1 to keep, 0 to remove */
} filter;

static tml_status out_of_memory(tml_context *tml, uint64_t size)
{
    return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                     "tml_surface: no memory for %llu bytes to filter the mesh; leave out "
                     "largest_component and drop_degenerate, or surface a region at a time",
                     (unsigned long long)size);
}

static tml_status stop_if_cancelled(tml_context *tml, uint64_t triangle)
{
    if (triangle % BLOCK || !tml_is_cancelled(tml))
        return TML_OK;
    return tml_error(tml, TML_ERROR_CANCELLED, "tml_surface: cancelled while filtering the mesh");
}

static void set_index(const mesh_arrays *mesh, uint64_t i, uint64_t vertex)
{
    if (mesh->indices64)
        ((uint64_t *)mesh->indices)[i] = vertex;
    else
        ((uint32_t *)mesh->indices)[i] = (uint32_t)vertex;
}

static uint64_t corner_vertex(const mesh_arrays *mesh, uint64_t corner)
{
    return mesh_index(mesh->indices, mesh->indices64, corner);
}

static bool same_position(const mesh_arrays *mesh, uint64_t a, uint64_t b)
{
    const float *p = mesh->positions + 3 * a, *q = mesh->positions + 3 * b;
    return p[0] == q[0] && p[1] == q[1] && p[2] == q[2];
}

/* ---- degenerate triangles ------------------------------------------------------------------- */

static bool is_degenerate(const mesh_arrays *mesh, uint64_t triangle)
{
    uint64_t v[3];
    for (uint64_t k = 0; k < 3; k++)
        v[k] = corner_vertex(mesh, 3 * triangle + k);
    return same_position(mesh, v[0], v[1]) || same_position(mesh, v[1], v[2]) ||
           same_position(mesh, v[2], v[0]);
}

static void flag_degenerate_block(void *argument, uint32_t block)
{
    const filter *f = argument;
    uint64_t first = (uint64_t)block * BLOCK;
    uint64_t end = TML_MIN_OF(first + BLOCK, f->mesh->triangle_count);
    for (uint64_t t = first; t < end; t++)
        f->kept[t] = !is_degenerate(f->mesh, t);
}

/* Merges the corners of equal position of every removed triangle, in all triangles. */
static tml_status merge_corners(const filter *f)
{
    const mesh_arrays *mesh = f->mesh;
    mesh_forest forest;
    if (!forest_create(f->tml, mesh->vertex_count, &forest))
        return out_of_memory(f->tml, forest_size(mesh->vertex_count));
    for (uint64_t t = 0; t < mesh->triangle_count; t++) {
        for (uint64_t k = 0; k < 3 && !f->kept[t]; k++) {
            uint64_t a = corner_vertex(mesh, 3 * t + k);
            uint64_t b = corner_vertex(mesh, 3 * t + (k + 1) % 3);
            if (same_position(mesh, a, b))
                forest_unite(&forest, (const uint64_t[]){a, b, b});
        }
    }
    for (uint64_t i = 0; i < 3 * mesh->triangle_count; i++)
        set_index(mesh, i, forest_root(&forest, corner_vertex(mesh, i)));
    forest_destroy(f->tml, &forest);
    return TML_OK;
}

static tml_status drop_degenerate_triangles(const filter *f)
{
    uint64_t blocks = TML_CEIL_DIV(f->mesh->triangle_count, BLOCK);
    tml_parallel_for(f->tml, (uint32_t)blocks, flag_degenerate_block, (void *)f);
    bool any = memchr(f->kept, 0, f->mesh->triangle_count) != NULL;
    return any ? merge_corners(f) : TML_OK;
}

/* ---- components ----------------------------------------------------------------------------- */

typedef struct component_job {
    const filter *f;
    mesh_forest forest;
    _Atomic uint64_t *sizes; /* at a root: triangles of its component; else 0 */
    uint64_t first, end;     /* triangles of this run; task i does the ith BLOCK of them */
    uint64_t *largest;       /* of each block: root of its largest component */
    uint64_t kept_root;
} component_job;

static uint64_t root_at(const component_job *job, uint64_t triangle)
{
    return forest_root(&job->forest, corner_vertex(job->f->mesh, 3 * triangle));
}

static void unite_block(void *argument, uint32_t block)
{
    const component_job *job = argument;
    uint64_t first = job->first + (uint64_t)block * BLOCK;
    uint64_t end = TML_MIN_OF(first + BLOCK, job->end);
    if (tml_is_cancelled(job->f->tml))
        return;
    const mesh_arrays *mesh = job->f->mesh;
    const mesh_triangles triangles = {mesh->indices, mesh->indices64, 0, job->f->kept};
    (void)forest_unite_triangles(&job->forest, &triangles, first, end);
}

/* Consecutive triangles are mostly of one component: one atomic addition serves a run of them. */
static void size_block(void *argument, uint32_t block)
{
    const component_job *job = argument;
    uint64_t first = job->first + (uint64_t)block * BLOCK, last_root = 0, run = 0;
    uint64_t end = TML_MIN_OF(first + BLOCK, job->end);
    for (uint64_t t = first; t < end; t++) {
        if (!job->f->kept[t])
            continue;
        uint64_t root = root_at(job, t);
        if (root != last_root && run) {
            atomic_fetch_add_explicit(&job->sizes[last_root], run, memory_order_relaxed);
            run = 0;
        }
        last_root = root;
        run++;
    }
    if (run)
        atomic_fetch_add_explicit(&job->sizes[last_root], run, memory_order_relaxed);
}

static uint64_t size_of(const component_job *job, uint64_t root)
{
    return atomic_load_explicit(&job->sizes[root], memory_order_relaxed);
}

/* The largest component with a triangle in the block; of equal sizes, the first. */
static void find_largest_block(void *argument, uint32_t block)
{
    const component_job *job = argument;
    uint64_t first = job->first + (uint64_t)block * BLOCK, largest = UINT64_MAX;
    uint64_t end = TML_MIN_OF(first + BLOCK, job->end);
    for (uint64_t t = first; t < end; t++) {
        uint64_t root = job->f->kept[t] ? root_at(job, t) : largest;
        if (root != largest &&
            (largest == UINT64_MAX || size_of(job, root) > size_of(job, largest)))
            largest = root;
    }
    job->largest[block] = largest;
}

static void flag_largest_block(void *argument, uint32_t block)
{
    const component_job *job = argument;
    uint64_t first = job->first + (uint64_t)block * BLOCK;
    uint64_t end = TML_MIN_OF(first + BLOCK, job->end);
    for (uint64_t t = first; t < end; t++)
        job->f->kept[t] &= root_at(job, t) == job->kept_root;
}

/* Flags the triangles of a part's largest component to keep. */
static void keep_largest(component_job *job, const tml_surface_part *part)
{
    tml_context *tml = job->f->tml;
    uint32_t blocks = (uint32_t)TML_CEIL_DIV(part->triangle_count, BLOCK);
    job->first = part->triangle_first;
    job->end = job->first + part->triangle_count;
    tml_parallel_for(tml, blocks, size_block, job);
    tml_parallel_for(tml, blocks, find_largest_block, job);
    uint64_t largest = UINT64_MAX;
    for (uint32_t b = 0; b < blocks; b++)
        if (job->largest[b] != UINT64_MAX &&
            (largest == UINT64_MAX || size_of(job, job->largest[b]) > size_of(job, largest)))
            largest = job->largest[b];
    job->kept_root = largest;
    tml_parallel_for(tml, blocks, flag_largest_block, job);
}

static tml_status keep_largest_components(const filter *f)
{
    const mesh_arrays *mesh = f->mesh;
    component_job job = {.f = f, .first = 0, .end = mesh->triangle_count};
    uint64_t blocks = TML_CEIL_DIV(mesh->triangle_count, BLOCK);
    uint64_t words = mesh->vertex_count + blocks;
    uint64_t *memory = tml_alloc_array(f->tml, words, sizeof *memory);
    bool has_memory = forest_create(f->tml, mesh->vertex_count, &job.forest) && memory;
    tml_status status = TML_OK;
    if (has_memory) {
        memset(memory, 0, words * sizeof *memory);
        job.sizes = (_Atomic uint64_t *)memory;
        job.largest = memory + mesh->vertex_count;
        tml_parallel_for(f->tml, (uint32_t)blocks, unite_block, &job);
        status = stop_if_cancelled(f->tml, 0);
    } else {
        status = out_of_memory(f->tml, words * sizeof *memory + forest_size(mesh->vertex_count));
    }
    for (uint32_t p = 0; p < mesh->part_count && status == TML_OK; p++)
        keep_largest(&job, &mesh->parts[p]);
    forest_destroy(f->tml, &job.forest);
    tml_free(f->tml, memory, words * sizeof *memory);
    return status;
}

/* ---- compaction ----------------------------------------------------------------------------- */

/* Compacts rows of size bytes by their flags, in place. rows may be NULL. */
static void keep_rows(void *rows, size_t size, const uint8_t *flags, uint64_t count)
{
    if (!rows)
        return;
    unsigned char *from = rows, *to = rows;
    for (uint64_t i = 0; i < count; i++, from += size)
        if (flags[i]) {
            if (to != from)
                memcpy(to, from, size);
            to += size;
        }
}

static uint64_t count_flags(const uint8_t *flags, uint64_t count)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++)
        sum += flags[i];
    return sum;
}

/* Removes the triangles whose flag is 0. */
static void compact_triangles(const filter *f)
{
    mesh_arrays *mesh = f->mesh;
    uint64_t before = mesh->triangle_count, kept = 0;
    for (uint32_t p = 0; p < mesh->part_count; p++) {
        tml_surface_part *part = &mesh->parts[p];
        uint64_t first = part->triangle_first;
        part->triangle_first = kept;
        part->triangle_count = count_flags(f->kept + first, part->triangle_count);
        kept += part->triangle_count;
    }
    mesh->triangle_count = kept;
    keep_rows(mesh->indices, 3 * (mesh->indices64 ? sizeof(uint64_t) : sizeof(uint32_t)), f->kept,
              before);
}

/* Removes the vertices that no triangle uses. */
static tml_status compact_vertices(const filter *f)
{
    tml_context *tml = f->tml;
    mesh_arrays *mesh = f->mesh;
    uint64_t count = mesh->vertex_count, corners = 3 * mesh->triangle_count;
    uint64_t size = count * (sizeof(uint64_t) + sizeof(uint8_t));
    uint64_t *number = tml_alloc_array(tml, count, sizeof(uint64_t) + sizeof(uint8_t));
    if (!number)
        return out_of_memory(tml, size);
    uint8_t *used = (uint8_t *)(number + count);
    memset(used, 0, count);
    for (uint64_t i = 0; i < corners; i++)
        used[corner_vertex(mesh, i)] = 1;
    uint64_t kept = 0;
    for (uint64_t v = 0; v < count; v++) {
        number[v] = kept;
        kept += used[v];
    }
    for (uint64_t i = 0; i < corners; i++)
        set_index(mesh, i, number[corner_vertex(mesh, i)]);
    kept = 0;
    for (uint32_t p = 0; p < mesh->part_count; p++) {
        tml_surface_part *part = &mesh->parts[p];
        uint64_t first = part->vertex_first;
        part->vertex_first = kept;
        part->vertex_count = count_flags(used + first, part->vertex_count);
        kept += part->vertex_count;
    }
    mesh->vertex_count = kept;
    keep_rows(mesh->positions, 3 * sizeof(float), used, count);
    keep_rows(mesh->normals, 3 * sizeof(float), used, count);
    keep_rows(mesh->values, sizeof(float), used, count);
    for (int i = 0; i < TML_FIELD_MAX_ATTRIBUTES; i++)
        keep_rows(mesh->attributes[i].data, mesh->attributes[i].components * sizeof(float), used,
                  count);
    tml_free(tml, number, size);
    return TML_OK;
}

tml_status mesh_filter(tml_context *tml, mesh_arrays *mesh, bool largest_component,
                       bool drop_degenerate)
{
    uint64_t count = mesh->triangle_count;
    if (count == 0 || (!largest_component && !drop_degenerate))
        return TML_OK;
    filter f = {.tml = tml, .mesh = mesh, .kept = tml_alloc_array(tml, count, 1)};
    if (!f.kept)
        return out_of_memory(tml, count);
    memset(f.kept, 1, count);
    tml_status status = drop_degenerate ? drop_degenerate_triangles(&f) : TML_OK;
    if (status == TML_OK && largest_component)
        status = keep_largest_components(&f);
    bool any_gone = memchr(f.kept, 0, count) != NULL;
    if (status == TML_OK && any_gone) {
        compact_triangles(&f);
        status = compact_vertices(&f);
    }
    tml_free(tml, f.kept, count);
    return status;
}

/* Checks that the parts follow one another from the mesh's begin to its end. */
static tml_status check_parts(tml_context *tml, const mesh_arrays *mesh)
{
    uint64_t vertices = 0, triangles = 0;
    for (uint32_t p = 0; p < mesh->part_count; p++) {
        const tml_surface_part *part = &mesh->parts[p];
        if (part->vertex_first != vertices || part->triangle_first != triangles ||
            part->vertex_count > mesh->vertex_count - vertices ||
            part->triangle_count > mesh->triangle_count - triangles)
            return tml_error(
                tml, TML_ERROR_INVALID_ARGUMENT,
                "tml_mesh_clean: mesh.parts[%u] has vertices [%llu, +%llu) and triangles [%llu, "
                "+%llu), needs to begin at %llu and %llu and to end within %llu and %llu",
                p, (unsigned long long)part->vertex_first, (unsigned long long)part->vertex_count,
                (unsigned long long)part->triangle_first, (unsigned long long)part->triangle_count,
                (unsigned long long)vertices, (unsigned long long)triangles,
                (unsigned long long)mesh->vertex_count, (unsigned long long)mesh->triangle_count);
        vertices += part->vertex_count;
        triangles += part->triangle_count;
    }
    if (vertices == mesh->vertex_count && triangles == mesh->triangle_count)
        return TML_OK;
    return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                     "tml_mesh_clean: mesh.parts have %llu vertices and %llu triangles, need the "
                     "mesh's %llu and %llu; one part may be all of it",
                     (unsigned long long)vertices, (unsigned long long)triangles,
                     (unsigned long long)mesh->vertex_count,
                     (unsigned long long)mesh->triangle_count);
}

static tml_status check_indices(tml_context *tml, const mesh_arrays *mesh)
{
    tml_status status = TML_OK;
    for (uint32_t p = 0; p < mesh->part_count; p++) {
        const tml_surface_part *part = &mesh->parts[p];
        uint64_t first = 3 * part->triangle_first, end = first + 3 * part->triangle_count;
        for (uint64_t i = first; i < end && status == TML_OK; i++) {
            uint64_t vertex = corner_vertex(mesh, i);
            if (vertex - part->vertex_first >= part->vertex_count)
                return tml_error(
                    tml, TML_ERROR_INVALID_ARGUMENT,
                    "tml_mesh_clean: mesh.indices: corner %u of triangle %llu is vertex %llu, "
                    "needs "
                    "one of part %u's [%llu, +%llu)",
                    (unsigned)(i % 3), (unsigned long long)(i / 3), (unsigned long long)vertex, p,
                    (unsigned long long)part->vertex_first, (unsigned long long)part->vertex_count);
            status = stop_if_cancelled(tml, i);
        }
    }
    return status;
}

static tml_status mesh_clean(tml_context *tml, tml_mesh_arrays *mesh, bool largest_component,
                             bool drop_degenerate)
{
    tml_status status = check_parts(tml, mesh);
    if (status == TML_OK)
        status = check_indices(tml, mesh);
    if (status != TML_OK)
        return status;
    return mesh_filter(tml, mesh, largest_component, drop_degenerate);
}

tml_status tml_mesh_clean(tml_context *tml, tml_mesh_arrays *mesh, bool largest_component,
                          bool drop_degenerate)
{
    tml_status status = TML_ENTER(tml, mesh);
    return status ? status
                  : tml_leave(tml, mesh_clean(tml, mesh, largest_component, drop_degenerate));
}
