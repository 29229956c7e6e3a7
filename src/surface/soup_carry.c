/* A triangle soup from the pieces of a welded mesh. See soup_carry.h. */
#include "surface/soup_carry.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "core/core_internal.h"

enum { BLOCK = 1 << 14 }; /* triangles per task */

static tml_status array_grow(tml_context *tml, soup_array *array, uint64_t size)
{
    if (size <= array->size)
        return TML_OK;
    tml_free(tml, array->memory, array->size);
    array->memory = tml_alloc_array(tml, size, 1);
    array->size = array->memory ? (size_t)size : 0;
    if (array->memory)
        return TML_OK;
    return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                     "tml_surface_slabs: no memory for %" PRIu64 " bytes of soup; make desc.memory "
                     "or slab_layers less",
                     size);
}

static void piece_arrays(const tml_mesh *mesh, const float *out[SOUP_ARRAYS])
{
    out[0] = mesh->positions;
    out[1] = mesh->normals;
    out[2] = mesh->values;
    for (uint32_t i = 0; i < TML_MESH_MAX_ATTRIBUTES; i++)
        out[3 + i] = i < mesh->attribute_count ? mesh->attributes[i].data : NULL;
}

/* Floats per vertex of an array that the mesh has. */
static uint64_t components_of(const tml_mesh *mesh, int array)
{
    return array < 2 ? 3 : array == 2 ? 1 : mesh->attributes[array - 3].components;
}

typedef struct soup_job {
    const soup_carry *carry;
    const tml_surface_piece *piece;
    const uint64_t *triangles;
    uint64_t count, place;
    _Atomic uint64_t complete;
} soup_job;

static void gather_block(void *argument, uint32_t block)
{
    const soup_job *job = argument;
    const soup_carry *carry = job->carry;
    const tml_surface_piece *piece = job->piece;
    const uint64_t first = (uint64_t)block * BLOCK, end = TML_MIN_OF(first + BLOCK, job->count);
    const float *arrays[SOUP_ARRAYS];
    piece_arrays(&piece->mesh, arrays);
    for (int a = 0; a < SOUP_ARRAYS; a++) {
        if (!arrays[a])
            continue;
        uint64_t n = components_of(&piece->mesh, a);
        float *to = (float *)carry->soup[a].memory + 3 * n * (job->place + first);
        for (uint64_t i = 3 * first; i < 3 * end; i++, to += n) {
            uint64_t vertex = job->triangles[i];
            const float *from =
                vertex >= piece->part.vertex_first
                    ? arrays[a] + n * (vertex - piece->part.vertex_first)
                    : (const float *)carry->waiting[a].memory + n * (vertex - carry->vertex_first);
            memcpy(to, from, n * sizeof *to);
        }
    }
}

/* Copies the vertices of triangles, from the piece or carried, to soup triangles from place on. */
static void gather_corners(tml_context *tml, const soup_carry *carry,
                           const tml_surface_piece *piece, const uint64_t *triangles,
                           uint64_t count, uint64_t place)
{
    soup_job job = {carry, piece, triangles, count, place, 0};
    tml_parallel_for(tml, (uint32_t)TML_CEIL_DIV(count, BLOCK), gather_block, &job);
}

static void complete_block(void *argument, uint32_t block)
{
    soup_job *job = argument;
    const tml_surface_piece *piece = job->piece;
    const uint64_t *corner = piece->mesh.indices;
    const uint64_t vertex_end = piece->part.vertex_first + piece->mesh.vertex_count;
    const uint64_t first = (uint64_t)block * BLOCK, end = TML_MIN_OF(first + BLOCK, job->count);
    uint64_t i = 3 * first;
    while (i < 3 * end && corner[i] < vertex_end)
        i++;
    uint64_t least = atomic_load_explicit(&job->complete, memory_order_relaxed);
    while (i < 3 * end && i / 3 < least &&
           !atomic_compare_exchange_weak_explicit(&job->complete, &least, i / 3,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

/* Returns the number of triangles before the first one that names a vertex of the next piece. */
static uint64_t complete_count(tml_context *tml, const tml_surface_piece *piece)
{
    const uint64_t count = piece->mesh.triangle_count;
    soup_job job = {NULL, piece, NULL, count, 0, count};
    tml_parallel_for(tml, (uint32_t)TML_CEIL_DIV(count, BLOCK), complete_block, &job);
    return atomic_load_explicit(&job.complete, memory_order_relaxed);
}

/* Carries the piece's triangles from first on, and its vertices from the lowest named on. */
static tml_status carry_keep(tml_context *tml, soup_carry *carry, const tml_surface_piece *piece,
                             uint64_t first)
{
    const tml_mesh *mesh = &piece->mesh;
    uint64_t count = mesh->triangle_count - first;
    const uint64_t *corners = count ? (const uint64_t *)mesh->indices + 3 * first : NULL;
    uint64_t low = piece->part.vertex_first + mesh->vertex_count;
    for (uint64_t i = 0; i < 3 * count; i++)
        low = TML_MIN_OF(low, corners[i]);
    assert(low >= piece->part.vertex_first);
    uint64_t skipped = low - piece->part.vertex_first;
    const float *arrays[SOUP_ARRAYS];
    piece_arrays(&piece->mesh, arrays);
    carry->triangle_count = 0; /* stays 0 on failure */
    tml_status status = array_grow(tml, &carry->waiting[SOUP_ARRAYS], 3 * count * sizeof *corners);
    for (int a = 0; a < SOUP_ARRAYS && status == TML_OK; a++) {
        if (!arrays[a] || mesh->vertex_count == skipped)
            continue;
        const uint64_t n = components_of(mesh, a);
        const uint64_t size = (mesh->vertex_count - skipped) * n * sizeof(float);
        status = array_grow(tml, &carry->waiting[a], size);
        if (status == TML_OK)
            memcpy(carry->waiting[a].memory, arrays[a] + skipped * n, size);
    }
    if (status != TML_OK)
        return status;
    carry->triangles = carry->waiting[SOUP_ARRAYS].memory;
    if (count)
        memcpy(carry->triangles, corners, 3 * count * sizeof *corners);
    carry->triangle_count = count;
    carry->vertex_first = low;
    carry->vertex_count = mesh->vertex_count - skipped;
    return TML_OK;
}

tml_status soup_carry_add(tml_context *tml, soup_carry *carry, const tml_surface_piece *piece,
                          tml_surface_piece *out)
{
    uint64_t waited = carry->triangle_count, complete = complete_count(tml, piece);
    uint64_t count = waited + complete;
    const float *arrays[SOUP_ARRAYS];
    piece_arrays(&piece->mesh, arrays);
    tml_status status = TML_OK;
    for (int a = 0; a < SOUP_ARRAYS && status == TML_OK; a++)
        if (arrays[a])
            status = array_grow(tml, &carry->soup[a],
                                3 * count * components_of(&piece->mesh, a) * sizeof(float));
    if (status != TML_OK)
        return status;
    gather_corners(tml, carry, piece, carry->triangles, waited, 0);
    gather_corners(tml, carry, piece, piece->mesh.indices, complete, waited);
    *out = *piece;
    out->part.vertex_first = 3 * carry->done;
    out->part.vertex_count = 3 * count;
    out->part.triangle_first = carry->done;
    out->part.triangle_count = count;
    tml_mesh *soup = &out->mesh;
    soup->vertex_count = 3 * count;
    soup->triangle_count = count;
    soup->positions = carry->soup[0].memory;
    soup->normals = arrays[1] ? carry->soup[1].memory : NULL;
    soup->values = arrays[2] ? carry->soup[2].memory : NULL;
    soup->attributes = carry->attributes;
    for (uint32_t i = 0; i < soup->attribute_count; i++) {
        soup->attributes[i] = piece->mesh.attributes[i];
        soup->attributes[i].data = arrays[3 + i] ? carry->soup[3 + i].memory : NULL;
    }
    soup->indices = NULL;
    carry->done += count;
    return carry_keep(tml, carry, piece, complete);
}

void soup_carry_free(tml_context *tml, soup_carry *carry)
{
    for (int a = 0; a <= SOUP_ARRAYS; a++)
        tml_free(tml, carry->waiting[a].memory, carry->waiting[a].size);
    for (int a = 0; a < SOUP_ARRAYS; a++)
        tml_free(tml, carry->soup[a].memory, carry->soup[a].size);
    *carry = (soup_carry){0};
}
