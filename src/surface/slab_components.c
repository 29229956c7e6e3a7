/* Connected components of a mesh that comes in slabs. See slab_components.h. */
#include "surface/slab_components.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "core/call.h"
#include "core/core_internal.h"

enum { BLOCK = 1 << 14 }; /* triangles per task */

static tml_status slab_components_out_of_memory(tml_context *tml, uint64_t size)
{
    return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                     "tml_surface_slabs: no memory for %" PRIu64
                     " bytes of desc.components; make desc.memory or slab_layers less",
                     size);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

typedef struct slab_job {
    const mesh_forest *forest;
    mesh_triangles triangles;
    uint64_t count;         /* triangles */
    _Atomic uint64_t named; /* the largest vertex named, plus 1 */
    const tml_context *tml;
} slab_job;

static void name_block(void *argument, uint32_t block)
{
    slab_job *job = argument;
    const mesh_triangles *t = &job->triangles;
    const uint64_t first = 3 * (uint64_t)block * BLOCK,
                   end = TML_MIN_OF(first + 3 * BLOCK, 3 * job->count);
    uint64_t named = 0;
    for (uint64_t i = first; i < end; i++)
        named = TML_MAX_OF(named, mesh_index(t->indices, t->indices64, i) + 1);
    uint64_t most = atomic_load_explicit(&job->named, memory_order_relaxed);
    while (named > most &&
           !atomic_compare_exchange_weak_explicit(&job->named, &most, named, memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
}

static void unite_block(void *argument, uint32_t block)
{
    const slab_job *job = argument;
    const uint64_t first = (uint64_t)block * BLOCK;
    if (tml_is_cancelled(job->tml))
        return;
    (void)forest_unite_triangles(job->forest, &job->triangles, first,
                                 TML_MIN_OF(first + BLOCK, job->count));
}

/* ---- what is kept ---------------------------------------------------------------------------- */

/* The vertices of a slab's forest. [0, own_first): the share's first layer; none in the first slab,
 * which owns that layer. [own_first, next_first): the slab's own. [next_first, end): the next's. */
typedef struct slab_numbers {
    uint64_t own_first, next_first, end;
} slab_numbers;

/* Returns a vertex's place in c->kept; n->end if the vertex is not kept. */
static uint64_t place_of(const slab_components *c, const slab_numbers *n, uint64_t vertex)
{
    return vertex < c->below_count   ? vertex
           : vertex >= n->next_first ? c->below_count + (vertex - n->next_first)
                                     : n->end;
}

/* Stores the forest's sets in c->kept. Adds the sets without a kept vertex to c->closed. */
static void slab_components_keep(tml_context *tml, slab_components *c, const slab_numbers *n)
{
    uint64_t used, sets, open = 0;
    forest_count(tml, &c->forest, &used, &sets);
    for (uint64_t k = 0; k < c->below_count + c->next_count; k++) {
        uint64_t vertex = k < c->below_count ? k : n->next_first + (k - c->below_count);
        uint64_t root = forest_root(&c->forest, vertex), place = place_of(c, n, root);
        if (!forest_uses(&c->forest, vertex)) {
            c->kept[k] = FOREST_UNUSED;
            continue;
        }
        if (place == n->end) /* the root is not kept: the vertex becomes the root */
            forest_set_root(&c->forest, root, vertex);
        c->kept[k] = place == n->end ? k : place;
        open += c->kept[k] == k;
    }
    c->closed += sets - open;
}

static tml_status grow(tml_context *tml, slab_components *c, uint64_t kept, uint64_t vertices)
{
    if (kept > c->kept_room) {
        uint64_t *more = tml_alloc_array(tml, kept, sizeof *more);
        if (!more)
            return slab_components_out_of_memory(tml, kept * sizeof *more);
        if (c->kept_room)
            memcpy(more, c->kept, (size_t)c->kept_room * sizeof *more);
        tml_free(tml, c->kept, c->kept_room * sizeof *more);
        c->kept = more;
        c->kept_room = kept;
    }
    return forest_reset(tml, &c->forest, vertices)
               ? TML_OK
               : slab_components_out_of_memory(tml, forest_size(vertices));
}

tml_status slab_components_add(tml_context *tml, slab_components *c, const void *indices,
                               bool indices64, uint64_t triangle_count, uint64_t vertex_first,
                               uint64_t vertex_count)
{
    slab_numbers n = {.own_first = c->is_begun ? c->below_count : 0};
    slab_job job = {.triangles = {indices, indices64, vertex_first - n.own_first, NULL},
                    .forest = &c->forest,
                    .count = triangle_count,
                    .tml = tml};
    const uint32_t blocks = (uint32_t)TML_CEIL_DIV(triangle_count, BLOCK);
    const uint64_t known = c->is_begun ? c->below_count + c->next_count : 0;
    tml_parallel_for(tml, blocks, name_block, &job);
    const uint64_t named = atomic_load_explicit(&job.named, memory_order_relaxed);
    const uint64_t own_end = vertex_first + vertex_count;
    n.next_first = n.own_first + vertex_count;
    c->next_count = named > own_end ? named - own_end : 0;
    n.end = n.next_first + c->next_count;
    tml_status status = grow(tml, c, TML_MAX_OF(known, c->below_count + c->next_count), n.end);
    if (status != TML_OK)
        return status;
    for (uint64_t k = 0; k < known;
         k++) /* a place is a vertex of the forest, as own vertices come after those below */
        if (c->kept[k] != FOREST_UNUSED)
            forest_set_root(&c->forest, k, c->kept[k]);
    tml_parallel_for(tml, blocks, unite_block, &job);
    if (tml_is_cancelled(tml))
        return tml_error(tml, TML_ERROR_CANCELLED, "tml_surface_slabs: cancelled");
    c->is_begun = true;
    slab_components_keep(tml, c, &n);
    return TML_OK;
}

void slab_components_free(tml_context *tml, slab_components *c)
{
    forest_destroy(tml, &c->forest);
    tml_free(tml, c->kept, c->kept_room * sizeof *c->kept);
    *c = (slab_components){0};
}

/* ---- shares ---------------------------------------------------------------------------------- */

tml_status slab_components_seam(tml_context *tml, const slab_components *c, tml_surface_seam *out)
{
    const uint64_t count = c->is_begun ? c->below_count + c->next_count : 0;
    uint64_t *sets = tml_alloc_array(tml, count, sizeof *sets);
    if (count && !sets)
        return slab_components_out_of_memory(tml, count * sizeof *sets);
    if (count)
        memcpy(sets, c->kept, (size_t)count * sizeof *sets);
    *out =
        (tml_surface_seam){sets, c->is_begun ? c->below_count : 0, c->is_begun ? c->next_count : 0};
    return TML_OK;
}

void surface_seams_free(tml_context *tml, tml_surface_seam *seams, uint32_t count)
{
    for (uint32_t p = 0; seams && p < count; p++)
        tml_free(tml, seams[p].sets,
                 (seams[p].below_count + seams[p].above_count) * sizeof *seams[p].sets);
    tml_free(tml, seams, count * sizeof *seams);
}

static tml_status check_sets(tml_context *tml, const char *what, const uint64_t *sets,
                             uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (sets[i] != FOREST_UNUSED && sets[i] > i)
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "tml_surface_join: %s[%" PRIu64 "] is %" PRIu64
                             ", needs a place up to its own, or UINT64_MAX",
                             what, i, sets[i]);
    return TML_OK;
}

static tml_status join(tml_context *tml, tml_surface_seam *seam, const uint64_t *below,
                       uint64_t below_count, uint64_t *components)
{
    const uint64_t count = seam->below_count + seam->above_count;
    tml_status status = check_sets(tml, "seam.sets", seam->sets, count);
    TML_THEN(status, check_sets(tml, "below", below, below_count));
    if (status == TML_OK && below_count > seam->below_count)
        status = tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                           "tml_surface_join: below_count is %" PRIu64
                           ", needs at most seam.below_count %" PRIu64,
                           below_count, seam->below_count);
    slab_components c = {.next_count = seam->above_count,
                         .kept = seam->sets ? seam->sets + seam->below_count : NULL};
    if (status == TML_OK && !forest_reset(tml, &c.forest, count))
        status = slab_components_out_of_memory(tml, forest_size(count));
    if (status != TML_OK)
        return status;
    for (uint64_t k = 0; k < count; k++)
        if (seam->sets[k] != FOREST_UNUSED)
            forest_unite(&c.forest, (const uint64_t[]){k, seam->sets[k], k});
    for (uint64_t i = 0; i < below_count; i++)
        if (below[i] != FOREST_UNUSED)
            forest_unite(&c.forest, (const uint64_t[]){i, below[i], i});
    slab_components_keep(tml, &c, &(slab_numbers){0, seam->below_count, count});
    *components += c.closed;
    forest_destroy(tml, &c.forest);
    return TML_OK;
}

tml_status tml_surface_join(tml_context *tml, tml_surface_seam *seam, const uint64_t *below,
                            uint64_t below_count, uint64_t *components)
{
    tml_status status = TML_ENTER(tml, seam, components);
    if (status == TML_OK && below_count && !below)
        return tml_leave(tml,
                         tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                                   "tml_surface_join: below is NULL, needs %" PRIu64 " numbers",
                                   below_count));
    return status ? status : tml_leave(tml, join(tml, seam, below, below_count, components));
}
