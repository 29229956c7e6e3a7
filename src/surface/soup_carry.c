/* Triangle soup from the pieces of a welded mesh. See soup_carry.h. */
#include "surface/soup_carry.h"

#include <inttypes.h>
#include <string.h>

#include "core/core_internal.h"

static const uint64_t components[SOUP_ARRAYS] = {3, 3, 1};

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

static void piece_arrays(const tml_surface_piece *piece, const float *out[SOUP_ARRAYS])
{
    out[0] = piece->positions;
    out[1] = piece->normals;
    out[2] = piece->values;
}

/* Copies triangles' vertices from the piece or the carry to the soup's triangle place on. */
static void gather_corners(const soup_carry *carry, const tml_surface_piece *piece,
                           const uint64_t *triangles, uint64_t count, uint64_t place)
{
    const float *arrays[SOUP_ARRAYS];
    piece_arrays(piece, arrays);
    for (int a = 0; a < SOUP_ARRAYS; a++) {
        if (!arrays[a] || count == 0)
            continue;
        uint64_t n = components[a];
        float *to = (float *)carry->soup[a].memory + 3 * n * place;
        for (uint64_t i = 0; i < 3 * count; i++, to += n) {
            bool is_new = triangles[i] >= piece->vertex_first;
            const float *from = is_new ? arrays[a] + n * (triangles[i] - piece->vertex_first)
                                       : (const float *)carry->waiting[a].memory +
                                             n * (triangles[i] - carry->vertex_first);
            memcpy(to, from, n * sizeof *to);
        }
    }
}

/* Number of triangles before the first one that names a vertex of the next piece. */
static uint64_t complete_count(const tml_surface_piece *piece)
{
    const uint64_t *corner = piece->indices;
    uint64_t end = piece->vertex_first + piece->vertex_count;
    for (uint64_t i = 0; i < 3 * piece->triangle_count; i++)
        if (corner[i] >= end)
            return i / 3;
    return piece->triangle_count;
}

/* Carries the piece's triangles from first on, and its vertices from the lowest that they name. */
static tml_status keep(tml_context *tml, soup_carry *carry, const tml_surface_piece *piece,
                       uint64_t first)
{
    uint64_t count = piece->triangle_count - first;
    const uint64_t *corners = count ? (const uint64_t *)piece->indices + 3 * first : NULL;
    uint64_t low = piece->vertex_first + piece->vertex_count;
    for (uint64_t i = 0; i < 3 * count; i++)
        low = TML_MIN_OF(low, corners[i]);
    assert(low >= piece->vertex_first);
    uint64_t skipped = low - piece->vertex_first;
    const float *arrays[SOUP_ARRAYS];
    piece_arrays(piece, arrays);
    carry->triangle_count = 0; /* stays 0 on failure */
    tml_status status = array_grow(tml, &carry->waiting[SOUP_ARRAYS], 3 * count * sizeof *corners);
    for (int a = 0; a < SOUP_ARRAYS && status == TML_OK; a++) {
        uint64_t size = (piece->vertex_count - skipped) * components[a] * sizeof(float);
        if (!arrays[a] || size == 0)
            continue;
        status = array_grow(tml, &carry->waiting[a], size);
        if (status == TML_OK)
            memcpy(carry->waiting[a].memory, arrays[a] + skipped * components[a], size);
    }
    if (status != TML_OK)
        return status;
    carry->triangles = carry->waiting[SOUP_ARRAYS].memory;
    if (count)
        memcpy(carry->triangles, corners, 3 * count * sizeof *corners);
    carry->triangle_count = count;
    carry->vertex_first = low;
    carry->vertex_count = piece->vertex_count - skipped;
    return TML_OK;
}

tml_status soup_carry_add(tml_context *tml, soup_carry *carry, const tml_surface_piece *piece,
                          tml_surface_piece *out)
{
    uint64_t waited = carry->triangle_count, complete = complete_count(piece);
    uint64_t count = waited + complete;
    const float *arrays[SOUP_ARRAYS];
    piece_arrays(piece, arrays);
    tml_status status = TML_OK;
    for (int a = 0; a < SOUP_ARRAYS && status == TML_OK; a++)
        if (arrays[a])
            status = array_grow(tml, &carry->soup[a], 3 * count * components[a] * sizeof(float));
    if (status != TML_OK)
        return status;
    gather_corners(carry, piece, carry->triangles, waited, 0);
    gather_corners(carry, piece, piece->indices, complete, waited);
    *out = *piece;
    out->vertex_first = 3 * carry->done;
    out->vertex_count = 3 * count;
    out->triangle_first = carry->done;
    out->triangle_count = count;
    out->positions = carry->soup[0].memory;
    out->normals = arrays[1] ? carry->soup[1].memory : NULL;
    out->values = arrays[2] ? carry->soup[2].memory : NULL;
    out->indices = NULL;
    carry->done += count;
    return keep(tml, carry, piece, complete);
}

void soup_carry_free(tml_context *tml, soup_carry *carry)
{
    for (int a = 0; a <= SOUP_ARRAYS; a++)
        tml_free(tml, carry->waiting[a].memory, carry->waiting[a].size);
    for (int a = 0; a < SOUP_ARRAYS; a++)
        tml_free(tml, carry->soup[a].memory, carry->soup[a].size);
    *carry = (soup_carry){0};
}
