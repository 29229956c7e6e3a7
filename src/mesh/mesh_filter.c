/* Cleans a mesh: removes triangles with two corners of equal position, and all components of a part
 * except the largest.
 *
 * Both filters flag the triangles to keep. Then triangles and used vertices are compacted: a
 * vertex's number is the rank of its bit. All passes process the mesh in stretches, and keep one
 * bit per triangle and per vertex, so a mesh in mapped files needs little memory. The host does
 * this for every engine. */
#include "core/call.h"
#include "mesh/mesh_components.h"

#include <string.h>

#include "core/core_internal.h"

/* STRETCH: triangles between releases of pages. ROWS_STRETCH: bytes of rows between them. */
enum { STRETCH = 1 << 18, ROWS_STRETCH = 4 << 20 };

typedef struct filter {
    mesh_sweep sweep;
    mesh_bits kept; /* triangles */
    mesh_bits used; /* vertices */
    /* The vertices to merge, in order: their sets, and their numbers. */
    mesh_forest forest;
    uint64_t *vertices, merged;
} filter;

static tml_status mesh_filter_out_of_memory(tml_context *tml, uint64_t size)
{
    return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                     "%s: no memory for %llu bytes to filter the mesh; leave out "
                     "largest_component and drop_degenerate, or take a region at a time",
                     tml_call_name(tml), (unsigned long long)size);
}

static void set_index(const tml_mesh *mesh, uint64_t i, uint64_t vertex)
{
    if (mesh->indices64)
        ((uint64_t *)mesh->indices)[i] = vertex;
    else
        ((uint32_t *)mesh->indices)[i] = (uint32_t)vertex;
}

static bool same_position(const tml_mesh *mesh, uint64_t a, uint64_t b)
{
    const float *p = mesh->positions + 3 * a, *q = mesh->positions + 3 * b;
    return p[0] == q[0] && p[1] == q[1] && p[2] == q[2];
}

/* ---- degenerate triangles ------------------------------------------------------------------- */

/* Returns whether the triangle has corners of equal position. Flags these corners. */
static bool merges_corners(const filter *f, uint64_t triangle)
{
    const tml_mesh *mesh = f->sweep.mesh;
    bool merges = false;
    uint64_t v[3];
    for (uint64_t k = 0; k < 3; k++)
        v[k] = mesh_vertex_at(mesh, 3 * triangle + k);
    for (uint64_t k = 0; k < 3; k++) {
        uint64_t a = v[k], b = v[(k + 1) % 3];
        if (!same_position(mesh, a, b))
            continue;
        merges = true;
        bits_set(&f->used, a);
        bits_set(&f->used, b);
    }
    return merges;
}

static void flag_degenerate(void *argument, uint64_t first, uint64_t end)
{
    const filter *f = argument;
    for (uint64_t from = first; from < end; from += BITS_A_WORD) {
        uint64_t word = 0;
        for (uint64_t t = from; t < TML_MIN_OF(from + BITS_A_WORD, end); t++)
            word |= (uint64_t)!merges_corners(f, t) << (t - from);
        atomic_store_explicit(&f->kept.words[from / BITS_A_WORD], word, memory_order_relaxed);
    }
}

static void unite_equal(void *argument, uint64_t first, uint64_t end)
{
    const filter *f = argument;
    const tml_mesh *mesh = f->sweep.mesh;
    for (uint64_t t = first; t < end; t++)
        for (uint64_t k = 0; k < 3 && !bits_get(&f->kept, t); k++) {
            uint64_t a = mesh_vertex_at(mesh, 3 * t + k);
            uint64_t b = mesh_vertex_at(mesh, 3 * t + (k + 1) % 3);
            if (!same_position(mesh, a, b))
                continue;
            a = bits_rank(&f->used, a);
            b = bits_rank(&f->used, b);
            forest_unite(&f->forest, (const uint64_t[]){a, b, b});
        }
}

static void replace_merged(void *argument, uint64_t first, uint64_t end)
{
    const filter *f = argument;
    for (uint64_t i = 3 * first; i < 3 * end; i++) {
        uint64_t vertex = mesh_vertex_at(f->sweep.mesh, i);
        if (!bits_get(&f->used, vertex))
            continue;
        uint64_t root = f->vertices[forest_root(&f->forest, bits_rank(&f->used, vertex))];
        if (root != vertex)
            set_index(f->sweep.mesh, i, root);
    }
}

/* In all triangles, merges the corners of equal position of every removed triangle. */
static tml_status merge_corners(filter *f)
{
    tml_context *tml = f->sweep.tml;
    const uint64_t count = f->merged;
    f->vertices = tml_alloc_array(tml, count, sizeof *f->vertices);
    if (!forest_create(tml, count, &f->forest) || !f->vertices)
        return mesh_filter_out_of_memory(tml, forest_size(count) + count * sizeof *f->vertices);
    for (uint64_t v = 0, k = 0; k < count; v++)
        if (bits_get(&f->used, v))
            f->vertices[k++] = v;
    tml_status status = mesh_sweep_all(&f->sweep, unite_equal, f);
    return status == TML_OK ? mesh_sweep_all(&f->sweep, replace_merged, f) : status;
}

static tml_status drop_degenerate_triangles(filter *f)
{
    tml_context *tml = f->sweep.tml;
    tml_status status = bits_create(tml, f->sweep.mesh->vertex_count, true, &f->used);
    TML_THEN(status, mesh_sweep_all(&f->sweep, flag_degenerate, f));
    f->merged = status == TML_OK ? bits_rank_all(&f->used) : 0;
    if (f->merged)
        status = merge_corners(f);
    bits_destroy(tml, &f->used);
    forest_destroy(tml, &f->forest);
    tml_free(tml, f->vertices, f->merged * sizeof *f->vertices);
    return status;
}

/* ---- compaction ----------------------------------------------------------------------------- */

/* Compacts rows of size bytes by their bits, in place. rows may be NULL. */
static void keep_rows(const tml_mesh *mesh, void *rows, size_t size, const mesh_bits *bits)
{
    const uint64_t stretch = rows ? ROWS_STRETCH / size : 0;
    unsigned char *to = rows;
    for (uint64_t first = 0; rows && first < bits->count; first += stretch) {
        const uint64_t stretch_end = TML_MIN_OF(first + stretch, bits->count);
        for (uint64_t at = first, end = stretch_end; bits_run(bits, &at, &end);
             at = end, end = stretch_end) {
            unsigned char *from = (unsigned char *)rows + at * size;
            if (to != from)
                memmove(to, from, (end - at) * size);
            to += (end - at) * size;
        }
        mesh_let_pages_go(mesh);
    }
}

/* Updates the parts to what is left of each. */
static void count_parts(const filter *f)
{
    const tml_mesh *mesh = f->sweep.mesh;
    uint64_t vertices = 0, triangles = 0;
    for (uint32_t p = 0; p < mesh->part_count; p++) {
        tml_mesh_part *part = &mesh->parts[p];
        const uint64_t vertex = part->vertex_first, triangle = part->triangle_first;
        part->vertex_first = vertices;
        part->triangle_first = triangles;
        vertices += part->vertex_count = bits_count(&f->used, vertex, vertex + part->vertex_count);
        triangles += part->triangle_count =
            bits_count(&f->kept, triangle, triangle + part->triangle_count);
    }
}

static void flag_used(void *argument, uint64_t first, uint64_t end)
{
    const filter *f = argument;
    for (uint64_t at = first, to = end; bits_run(&f->kept, &at, &to); at = to, to = end)
        for (uint64_t i = 3 * at; i < 3 * to; i++)
            bits_set(&f->used, mesh_vertex_at(f->sweep.mesh, i));
}

static void renumber(void *argument, uint64_t first, uint64_t end)
{
    const filter *f = argument;
    const tml_mesh *mesh = f->sweep.mesh;
    for (uint64_t at = first, to = end; bits_run(&f->kept, &at, &to); at = to, to = end)
        for (uint64_t i = 3 * at; i < 3 * to; i++)
            set_index(mesh, i, bits_rank(&f->used, mesh_vertex_at(mesh, i)));
}

/* Removes the triangles whose bit is 0, and the vertices that no other triangle uses. */
static tml_status compact(filter *f, tml_mesh *mesh, const mesh_rows *rows)
{
    tml_status status = bits_create(f->sweep.tml, mesh->vertex_count, true, &f->used);
    TML_THEN(status, mesh_sweep_all(&f->sweep, flag_used, f));
    if (status != TML_OK)
        return status;
    const uint64_t vertices = bits_rank_all(&f->used);
    status = mesh_sweep_all(&f->sweep, renumber, f);
    if (status != TML_OK)
        return status;
    const uint64_t triangles = bits_count(&f->kept, 0, mesh->triangle_count);
    count_parts(f);
    keep_rows(mesh, mesh->indices, 3 * (mesh->indices64 ? sizeof(uint64_t) : sizeof(uint32_t)),
              &f->kept);
    if (rows)
        keep_rows(mesh, rows->rows, rows->size, &f->kept);
    keep_rows(mesh, mesh->face_labels, 2 * tml_type_size(mesh->face_label_type), &f->kept);
    keep_rows(mesh, mesh->uv_indices, 3 * sizeof(uint32_t), &f->kept);
    keep_rows(mesh, mesh->positions, 3 * sizeof(float), &f->used);
    keep_rows(mesh, mesh->normals, 3 * sizeof(float), &f->used);
    keep_rows(mesh, mesh->values, sizeof(float), &f->used);
    for (uint32_t i = 0; i < mesh->attribute_count; i++)
        keep_rows(mesh, mesh->attributes[i].data, mesh->attributes[i].components * sizeof(float),
                  &f->used);
    if (!mesh->uv_indices) {
        keep_rows(mesh, mesh->uvs, 2 * sizeof(float), &f->used);
        mesh->uv_count = mesh->uvs ? vertices : 0;
    }
    mesh->vertex_count = vertices;
    mesh->triangle_count = triangles;
    return TML_OK;
}

tml_status mesh_keep(tml_context *tml, tml_mesh *mesh, const mesh_rows *triangles,
                     const mesh_bits *kept)
{
    filter f = {.sweep = {tml, mesh, STRETCH}, .kept = *kept};
    tml_status status = compact(&f, mesh, triangles);
    bits_destroy(tml, &f.used);
    return status;
}

tml_status mesh_filter_by(tml_context *tml, tml_mesh *mesh, const mesh_rows *triangles,
                          bool largest_component, bool drop_degenerate, uint64_t stretch,
                          uint64_t *components)
{
    filter f = {.sweep = {tml, mesh, stretch}};
    uint64_t unasked, *counted = components ? components : &unasked;
    *counted = 0;
    if (mesh->triangle_count == 0 || (!largest_component && !drop_degenerate && !components))
        return TML_OK;
    tml_status status = bits_create(tml, mesh->triangle_count, false, &f.kept);
    if (status == TML_OK && drop_degenerate)
        status = drop_degenerate_triangles(&f);
    else if (status == TML_OK)
        bits_set_all(&f.kept);
    if (status == TML_OK && (largest_component || components))
        status = mesh_components(&f.sweep, &f.kept, largest_component, counted);
    if (status == TML_OK && bits_count(&f.kept, 0, mesh->triangle_count) < mesh->triangle_count)
        status = compact(&f, mesh, triangles);
    bits_destroy(tml, &f.kept);
    bits_destroy(tml, &f.used);
    return status;
}

tml_status mesh_filter(tml_context *tml, tml_mesh *mesh, const mesh_rows *triangles,
                       bool largest_component, bool drop_degenerate, uint64_t *components)
{
    return mesh_filter_by(tml, mesh, triangles, largest_component, drop_degenerate, STRETCH,
                          components);
}

/* ---- the call ------------------------------------------------------------------------------- */

/* Checks that the parts follow one another from the mesh's start to its end. */
static tml_status check_parts(tml_context *tml, const char *call, const tml_mesh *mesh)
{
    uint64_t vertices = 0, triangles = 0;
    for (uint32_t p = 0; p < mesh->part_count; p++) {
        const tml_mesh_part *part = &mesh->parts[p];
        if (part->vertex_first != vertices || part->triangle_first != triangles ||
            part->vertex_count > mesh->vertex_count - vertices ||
            part->triangle_count > mesh->triangle_count - triangles)
            return tml_error(
                tml, TML_ERROR_INVALID_ARGUMENT,
                "%s: mesh.parts[%u] has vertices [%llu, +%llu) and triangles [%llu, "
                "+%llu), needs to begin at %llu and %llu and to end within %llu and %llu",
                call, p, (unsigned long long)part->vertex_first,
                (unsigned long long)part->vertex_count, (unsigned long long)part->triangle_first,
                (unsigned long long)part->triangle_count, (unsigned long long)vertices,
                (unsigned long long)triangles, (unsigned long long)mesh->vertex_count,
                (unsigned long long)mesh->triangle_count);
        vertices += part->vertex_count;
        triangles += part->triangle_count;
    }
    if (vertices == mesh->vertex_count && triangles == mesh->triangle_count)
        return TML_OK;
    return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                     "%s: mesh.parts have %llu vertices and %llu triangles, need the "
                     "mesh's %llu and %llu; one part may be all of it",
                     call, (unsigned long long)vertices, (unsigned long long)triangles,
                     (unsigned long long)mesh->vertex_count,
                     (unsigned long long)mesh->triangle_count);
}

typedef struct index_check {
    const tml_mesh *mesh;
    _Atomic uint64_t bad; /* the first corner whose vertex is in another part or does not exist */
} index_check;

static void check_block(void *argument, uint64_t first, uint64_t end)
{
    index_check *check = argument;
    const tml_mesh *mesh = check->mesh;
    const tml_mesh_part *part = &mesh->parts[mesh_part_of(mesh, first)];
    uint64_t i = 3 * first;
    for (; i < 3 * end; i++) {
        while (i / 3 - part->triangle_first >= part->triangle_count)
            part++;
        if (mesh_vertex_at(mesh, i) - part->vertex_first >= part->vertex_count)
            break;
    }
    uint64_t least = atomic_load_explicit(&check->bad, memory_order_relaxed);
    while (i < 3 * end && i < least &&
           !atomic_compare_exchange_weak_explicit(&check->bad, &least, i, memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
}

static tml_status check_indices(tml_context *tml, const char *call, const tml_mesh *mesh)
{
    index_check check = {mesh, UINT64_MAX};
    tml_status status = mesh_sweep_all(&(mesh_sweep){tml, mesh, STRETCH}, check_block, &check);
    const uint64_t i = atomic_load_explicit(&check.bad, memory_order_relaxed);
    if (status != TML_OK || i == UINT64_MAX)
        return status;
    const uint32_t p = mesh_part_of(mesh, i / 3);
    const tml_mesh_part *part = &mesh->parts[p];
    return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                     "%s: mesh.indices: corner %u of triangle %llu is vertex %llu, "
                     "needs one of part %u's [%llu, +%llu)",
                     call, (unsigned)(i % 3), (unsigned long long)(i / 3),
                     (unsigned long long)mesh_vertex_at(mesh, i), p,
                     (unsigned long long)part->vertex_first,
                     (unsigned long long)part->vertex_count);
}

tml_status mesh_check(tml_context *tml, const char *call, tml_mesh *mesh, tml_mesh_part *whole)
{
    *whole =
        (tml_mesh_part){.vertex_count = mesh->vertex_count, .triangle_count = mesh->triangle_count};
    if (!mesh->parts)
        mesh->part_count = 1;
    mesh->parts = mesh->parts ? mesh->parts : whole;
    if (mesh->quads || (mesh->triangle_count && !mesh->indices))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "%s: mesh.%s, needs indexed triangles",
                         call, mesh->quads ? "quads is true" : "indices is NULL");
    tml_status status = check_parts(tml, call, mesh);
    return status ? status : check_indices(tml, call, mesh);
}

static tml_status mesh_clean(tml_context *tml, tml_mesh *mesh, bool largest_component,
                             bool drop_degenerate, uint64_t *components)
{
    tml_mesh_part whole, *parts = mesh->parts;
    tml_status status = mesh_check(tml, "tml_mesh_clean", mesh, &whole);
    TML_THEN(status, mesh_filter(tml, mesh, NULL, largest_component, drop_degenerate, components));
    mesh->parts = parts;
    return status;
}

tml_status tml_mesh_clean(tml_context *tml, tml_mesh *mesh, bool largest_component,
                          bool drop_degenerate, uint64_t *components)
{
    tml_status status = TML_ENTER(tml, mesh);
    return status ? status
                  : tml_leave(
                        tml, mesh_clean(tml, mesh, largest_component, drop_degenerate, components));
}
