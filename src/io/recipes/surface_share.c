/* Shares of a surface among processes. Layers are divided before the processes work; counts and
 * components are combined afterwards. Components continue from share to share through seams
 * (tml_surface_join): from rank 0 up, each process joins what the process below it left, and passes
 * on its own. */
#include <inttypes.h>
#include <string.h>
#include <trommel/extend.h>

#include "io/recipes/surface_share.h"

enum { BRICK_LAYERS = 4 };
/* Cost of a brick that is only looked up, relative to a brick with a surface in it. */
static const double idle_brick = 1.0 / 64;

/* ---- layers ---------------------------------------------------------------------------------- */

static bool range_is_crossed(const float range[2], double isovalue)
{
    return (double)range[0] < isovalue && isovalue <= (double)range[1];
}

/* Is a surface in a brick of this range, or beside it? */
static bool brick_is_crossed(const float range[2], const tml_surface_desc *surface)
{
    if (!surface->isovalues && !surface->label_count)
        return range_is_crossed(range, surface->iso);
    for (uint32_t i = 0; surface->isovalues && i < surface->isovalue_count; i++)
        if (range_is_crossed(range, surface->isovalues[i]))
            return true;
    for (uint32_t i = 0; i < surface->label_count; i++) {
        const double label = (double)surface->labels[i];
        if ((double)range[0] <= label && label <= (double)range[1] && range[0] < range[1])
            return true;
    }
    return false;
}

/* Returns the cost of a layer of bricks. */
static double brick_layer_cost(const tml_volume_index *bricks, uint64_t brick_layer,
                               const tml_surface_desc *surface)
{
    const uint64_t one[3] = {bricks->dims[0], bricks->dims[1], 1};
    uint64_t count = tml_volume_index_count(one), crossed = 0;
    const float *ranges = bricks->ranges + 2 * count * brick_layer;
    for (uint64_t b = 0; b < count; b++)
        crossed += brick_is_crossed(ranges + 2 * b, surface);
    return (double)crossed + idle_brick * (double)count;
}

/* Divides layers evenly. If there are fewer layers than processes, the first processes have one
 * each. */
static layer_share share_evenly(uint64_t first, uint64_t count, uint64_t rank, uint64_t ranks)
{
    if (count < ranks)
        return (layer_share){first + (rank < count ? rank : count), rank < count};
    const uint64_t begin = count / ranks * rank + count % ranks * rank / ranks;
    const uint64_t end = count / ranks * (rank + 1) + count % ranks * (rank + 1) / ranks;
    return (layer_share){first + begin, end - begin};
}

layer_share tml_share_layers(uint64_t first, uint64_t count, const tml_team *team,
                             const tml_volume_index *bricks, const tml_surface_desc *surface)
{
    const uint32_t rank = team->rank, ranks = team->count;
    if (!bricks || count <= ranks)
        return share_evenly(first, count, rank, ranks);
    double total = 0, sum = 0, cost = 0;
    for (uint64_t z = first; z < first + count; z++) {
        if (z == first || z % BRICK_LAYERS == 0)
            cost = brick_layer_cost(bricks, z / BRICK_LAYERS, surface);
        total += cost;
    }
    /* A share ends where the sum of costs reaches its part of the total, but leaves a layer for
     * each later share. */
    uint64_t begin = 0, end = 0;
    for (uint64_t k = 0, share = 0; k < count && share <= rank; k++) {
        const uint64_t z = first + k, after = count - k - 1;
        if (k == 0 || z % BRICK_LAYERS == 0)
            cost = brick_layer_cost(bricks, z / BRICK_LAYERS, surface);
        sum += cost;
        const uint64_t left = ranks - share - 1;
        if (left == 0)
            continue;
        if (sum * ranks >= total * (double)(share + 1) || after == left) {
            if (share + 1 == rank)
                begin = k + 1;
            if (share == rank)
                end = k + 1;
            share++;
        }
    }
    if (rank == ranks - 1)
        end = count;
    return (layer_share){first + begin, end - begin};
}

/* ---- components ------------------------------------------------------------------------------ */

static tml_status share_no_memory(tml_context *tml, uint64_t size)
{
    return tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                     "tml_surface_save: no memory for %" PRIu64 " bytes of counts", size);
}

/* The seams of a process: numbers for the process above, part after part, and those from below. */
typedef struct seam_exchange {
    tml_surface_result *result;
    uint64_t parts; /* most parts of any process */
    uint64_t *above_counts, *below_counts;
    uint64_t *above, *below;
    uint64_t above_size, below_size; /* bytes */
} seam_exchange;

/* Joins the numbers from below to this process's seams, and counts the components that end here. */
static tml_status join_seams(tml_context *tml, seam_exchange *e)
{
    tml_status status = TML_OK;
    uint64_t *above = e->above, *below = e->below;
    for (uint32_t p = 0; e->result->seams && p < e->result->part_count && status == TML_OK; p++) {
        tml_surface_seam *seam = &e->result->seams[p];
        status = tml_surface_join(tml, seam, below, e->below_counts[p], &e->result->components);
        if (seam->above_count)
            memcpy(above, seam->sets + seam->below_count, seam->above_count * sizeof *above);
        above += seam->above_count;
        below += e->below_counts[p];
    }
    return status;
}

static tml_status exchange_seams(tml_context *tml, const tml_team *team, seam_exchange *e)
{
    const uint64_t counts_size = e->parts * sizeof *e->above_counts;
    for (uint32_t p = 0; e->result->seams && p < e->result->part_count; p++) {
        e->above_counts[p] = e->result->seams[p].above_count;
        e->above_size += e->above_counts[p] * sizeof *e->above;
    }
    tml_status status = team->shift(team->user, tml, false, e->above_counts,
                                    team->rank + 1 < team->count ? counts_size : 0, e->below_counts,
                                    team->rank ? counts_size : 0);
    for (uint64_t p = 0; p < e->parts; p++)
        e->below_size += e->below_counts[p] * sizeof *e->below;
    if (status != TML_OK)
        return status;
    e->above = tml_alloc(tml, e->above_size + e->below_size + 1);
    if (!e->above)
        return share_no_memory(tml, e->above_size + e->below_size);
    e->below = e->above + e->above_size / sizeof *e->above;
    if (team->rank == 0)
        status = join_seams(tml, e);
    for (uint32_t r = 1; r < team->count && status == TML_OK; r++) { /* from rank r - 1 to rank r */
        status =
            team->shift(team->user, tml, false, e->above, team->rank + 1 == r ? e->above_size : 0,
                        e->below, team->rank == r ? e->below_size : 0);
        if (status == TML_OK && team->rank == r)
            status = join_seams(tml, e);
    }
    tml_free(tml, e->above, e->above_size + e->below_size + 1);
    return status;
}

/* Computes the largest and the sum of each of count numbers over all processes. */
static tml_status gather_numbers(tml_context *tml, const tml_team *team, const uint64_t *mine,
                                 uint64_t count, uint64_t *most, uint64_t *sums)
{
    const uint64_t size = count * team->count * sizeof *mine;
    uint64_t *all = tml_alloc(tml, size);
    if (!all)
        return share_no_memory(tml, size);
    tml_status status = team->gather(team->user, tml, count, mine, all);
    for (uint64_t i = 0; i < count; i++)
        most[i] = sums[i] = 0;
    for (uint64_t i = 0; i < count * team->count && status == TML_OK; i++) {
        most[i % count] = all[i] > most[i % count] ? all[i] : most[i % count];
        sums[i % count] += all[i];
    }
    tml_free(tml, all, size);
    return status;
}

tml_status tml_share_join_components(tml_context *tml, const tml_team *team,
                                     tml_surface_result *result)
{
    const uint64_t mine = result->part_count;
    uint64_t sum;
    seam_exchange e = {.result = result};
    tml_status status = gather_numbers(tml, team, &mine, 1, &e.parts, &sum);
    if (status != TML_OK)
        return status;
    const uint64_t size = 2 * e.parts * sizeof *e.above_counts + 1;
    e.above_counts = tml_alloc(tml, size);
    if (!e.above_counts)
        return share_no_memory(tml, size);
    memset(e.above_counts, 0, size);
    e.below_counts = e.above_counts + e.parts;
    status = exchange_seams(tml, team, &e);
    tml_free(tml, e.above_counts, size);
    return status;
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* Sets totals and parts to those of all processes. counts: vertices, triangles of each part. */
static void join_parts(tml_surface_result *result, const uint64_t *counts, uint64_t part_count)
{
    result->vertex_count = result->triangle_count = 0;
    for (uint64_t p = 0; p < part_count; p++) {
        tml_mesh_part part = {.vertex_first = result->vertex_count,
                              .vertex_count = counts[2 * p],
                              .triangle_first = result->triangle_count,
                              .triangle_count = counts[2 * p + 1]};
        result->vertex_count += part.vertex_count;
        result->triangle_count += part.triangle_count;
        if (p < result->part_count) {
            part.value = result->parts[p].value;
            part.label = result->parts[p].label;
            result->parts[p] = part;
        }
    }
}

tml_status tml_share_join_results(tml_context *tml, const tml_team *team, bool soup,
                                  tml_surface_result *result)
{
    enum { PARTS, CELLS, COMPONENTS, NUMBERS };
    const uint64_t mine[NUMBERS] = {result->part_count, result->active_cells, result->components};
    uint64_t most[NUMBERS], sums[NUMBERS];
    tml_status status = gather_numbers(tml, team, mine, NUMBERS, most, sums);
    if (status != TML_OK)
        return status;
    result->active_cells = sums[CELLS];
    result->components = sums[COMPONENTS];
    const uint64_t count = 2 * most[PARTS], size = 3 * count * sizeof(uint64_t) + 1;
    uint64_t *counts = tml_alloc(tml, size);
    if (!counts)
        return share_no_memory(tml, size);
    uint64_t *before = counts + count, *all = before + count;
    memset(counts, 0, size);
    for (uint32_t p = 0; p < result->part_count; p++) {
        const tml_mesh_part *part = &result->parts[p];
        counts[2 * p] = soup ? 3 * part->triangle_count : part->vertex_count;
        counts[2 * p + 1] = part->triangle_count;
    }
    status = team->scan(team->user, tml, count, counts, before, all);
    if (status == TML_OK)
        join_parts(result, all, most[PARTS]);
    tml_free(tml, counts, size);
    return status;
}
