/* tml_tree_nearest: checks of the desc, parallel tasks over the points, and the outputs. */
#include <inttypes.h>
#include <math.h>

#include "stream/desc.h"
#include "tree/tree_order.h"
#include "tree/tree_points_device.h"

/* How many points ahead to prefetch. Sorted points are scattered in memory. */
enum { POINTS_AHEAD = 8 };

typedef struct points_job {
    const tml_tree_nearest_desc *desc;
    const points_loops *loops;
    const float *points;
    uint8_t *sides, *features; /* these and the next: NULL if not requested */
    float *distances, *positions;
    uint32_t *triangles;
    uint64_t count;
    tree_rounds rounds;
    bool wants_sides, wants_nearest;
} points_job;

/* Writes a point's outputs. i: their index. */
static void put_nearest(const points_job *job, uint64_t i, const points_nearest *nearest,
                        tml_tree_side side)
{
    points_place place = points_place_of(job->loops, nearest);
    if (job->distances)
        job->distances[i] = points_signed_distance(place.squared, side);
    for (int k = 0; k < 3 && job->positions; k++)
        job->positions[3 * i + (uint64_t)k] = (float)place.at[k];
    if (job->triangles)
        job->triangles[i] = nearest->id;
    if (job->features)
        job->features[i] = (uint8_t)place.feature;
}

/* Finds the k nearest triangles. last: the previous point, or NULL. If the previous search found k
 * triangles, they are at most as far from this point as from that one plus the distance of the
 * points. That bounds the search. If rounding made the bound too small, searches again without
 * it. */
static void find_several(const points_loops *loops, points_nearest *nearest, const float *last)
{
    double limit = INFINITY;
    if (last && nearest->count == nearest->k) {
        double way = 0;
        for (int k = 0; k < 3; k++)
            way += pow((double)nearest->point[k] - (double)last[k], 2);
        double reach = sqrt(nearest->found[nearest->k - 1].squared) + sqrt(way);
        limit = reach * reach * (1 + 0x1p-20);
    }
    do {
        nearest->squared = limit;
        nearest->id = COLLIDE_NO_TRIANGLE;
        nearest->count = 0;
        loops->find(nearest);
        limit = isfinite(limit) ? INFINITY : NAN;
    } while (nearest->count < nearest->k && !isnan(limit));
}

static void put_several(const points_job *job, uint64_t i, const points_nearest *nearest,
                        tml_tree_side side)
{
    for (uint32_t j = 0; j < nearest->k; j++) {
        points_nearest one = points_none(nearest->tree, nearest->point, INFINITY);
        if (j < nearest->count) {
            one.squared = nearest->found[j].squared;
            one.slot = nearest->found[j].slot;
            one.id = nearest->found[j].id;
        }
        put_nearest(job, i * nearest->k + j, &one, side);
    }
}

static void points_task(void *argument, uint32_t task)
{
    const points_job *job = argument;
    const tml_tree *tree = job->desc->tree;
    uint64_t round = job->rounds.first, first = (uint64_t)task * TREE_ITEMS_A_TASK;
    uint64_t end = TML_MIN_OF(first + TREE_ITEMS_A_TASK, job->count - round);
    points_found found[TML_TREE_NEAREST_MAX];
    points_nearest nearest = {.slot = COLLIDE_NO_TRIANGLE};
    points_nearest several = {.tree = tree, .k = job->desc->k, .found = found};
    for (uint64_t at = first; at < end; at++) {
        uint64_t i = round + (job->rounds.order ? (uint32_t)job->rounds.order[at] : at);
        const float *point = job->points + 3 * i;
        if (job->rounds.order && at + POINTS_AHEAD < end)
            __builtin_prefetch(job->points +
                               3 * (round + (uint32_t)job->rounds.order[at + POINTS_AHEAD]));
        tml_tree_side side = job->wants_sides
                                 ? points_side_of(job->loops, tree, job->desc->rule, point)
                                 : TML_TREE_OUTSIDE;
        if (job->sides)
            job->sides[i] = (uint8_t)side;
        if (!job->wants_nearest)
            continue;
        tml_tree_side sign = job->desc->is_signed ? side : TML_TREE_OUTSIDE;
        if (several.k > 1) {
            const float *before = several.point;
            several.point = point;
            if (points_is_finite(point))
                find_several(job->loops, &several, before);
            else
                several.count = 0;
            put_several(job, i, &several, sign);
            continue;
        }
        uint32_t last = nearest.slot;
        nearest = points_none(tree, point, INFINITY);
        if (points_is_finite(point)) {
            if (last != COLLIDE_NO_TRIANGLE) /* likely near this point too */
                job->loops->offer(&nearest, last);
            job->loops->find(&nearest);
        }
        put_nearest(job, i, &nearest, sign);
    }
}

/* ---- order ----------------------------------------------------------------------------------- */

static void codes_task(void *argument, uint32_t task)
{
    const points_job *job = argument;
    const tml_tree *tree = job->desc->tree;
    uint64_t round = job->rounds.first, first = (uint64_t)task * TREE_ITEMS_A_TASK;
    uint64_t end = TML_MIN_OF(first + TREE_ITEMS_A_TASK, job->count - round);
    for (uint64_t i = first; i < end; i++)
        job->rounds.order[i] =
            (uint64_t)tree_code(tree, job->points + 3 * (round + i), TREE_CODE_BITS) << 32 | i;
}

static const char call[] = "tml_tree_nearest";

static tml_status run_tasks(tml_context *tml, points_job *job)
{
    job->rounds = (tree_rounds){.call = call,
                                .stage = "points",
                                .share = 1,
                                .find_codes = codes_task,
                                .work = points_task,
                                .job = job,
                                .count = job->count};
    return tree_rounds_run(tml, &job->rounds);
}

/* ---- checks ---------------------------------------------------------------------------------- */

enum { TREE, RULE, LENGTH, POINTS, DISTANCES, POSITIONS, TRIANGLES, FEATURES, SIDES };
#define ROW(field, ...) DESC_ROW(tml_tree_nearest_desc, field, __VA_ARGS__)
#define OUT(field, ...) ROW(field, DESC_OUT, .is_optional = true, __VA_ARGS__)
static const desc_row rows[] = {
    [TREE] = ROW(tree, DESC_POINTER, .of = "a tree"),
    [RULE] = ROW(rule, DESC_ENUM, .of = "tml_tree_rule", .most = TML_TREE_RULE_SOLID_ANGLE),
    [LENGTH] = ROW(length, DESC_LENGTHS, .like = DESC_LIKE(POINTS)),
    [POINTS] = ROW(points, DESC_IN, .types = stream_f32x3_types, .count = DESC_LENGTH),
    [DISTANCES] = OUT(distances, .types = stream_f32_types, .count = DESC_TIMES),
    [POSITIONS] = OUT(positions, .types = stream_f32x3_types, .count = DESC_TIMES),
    [TRIANGLES] = OUT(triangles, .types = stream_u32_types, .count = DESC_TIMES),
    [FEATURES] = OUT(features, .types = stream_u8_types, .count = DESC_TIMES),
    [SIDES] = OUT(sides, .types = stream_u8_types, .count = DESC_LENGTH)};
static const desc_table table = {rows, TML_ARRAY_SIZE(rows)};

static tml_status points_check_desc(tml_context *tml, tml_tree_nearest_desc *desc)
{
    if (desc->k > TML_TREE_NEAREST_MAX)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.k is %" PRIu32 ", needs 1 to %d triangles a point", call,
                         desc->k, TML_TREE_NEAREST_MAX);
    desc->k = TML_MAX_OF(desc->k, 1u);
    desc_numbers numbers = {.times = desc->k};
    tml_status status = desc_check(tml, call, &table, desc, &numbers);
    if (status || desc_given(&table, desc) >> DISTANCES)
        return status;
    return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                     "%s: no output is given; needs one of desc.sides, distances, positions, "
                     "triangles and features",
                     call);
}

/* Maps the points and outputs, and runs the job on them. */
static tml_status run_mapped(tml_context *tml, points_job *job)
{
    void *const to[TML_ARRAY_SIZE(rows)] = {
        [POINTS] = &job->points,       [DISTANCES] = &job->distances, [POSITIONS] = &job->positions,
        [TRIANGLES] = &job->triangles, [FEATURES] = &job->features,   [SIDES] = &job->sides};
    tml_status status = desc_map_buffers(tml, &table, job->desc, to);
    TML_THEN(status, run_tasks(tml, job));
    desc_unmap_buffers(tml, &table, job->desc, to);
    return status;
}

static tml_status nearest(tml_context *tml, const tml_tree_nearest_desc *given)
{
    tml_tree_nearest_desc desc = *given;
    points_job job = {.desc = &desc, .loops = SIMD_CHOOSE(points_loops)};
    tml_status status = points_check_desc(tml, &desc);
    if (status != TML_OK)
        return status;
    bool has_distances = !tml_buffer_is_none(desc.distances);
    job.wants_sides = !tml_buffer_is_none(desc.sides) || (has_distances && desc.is_signed);
    job.wants_nearest = has_distances || !tml_buffer_is_none(desc.positions) ||
                        !tml_buffer_is_none(desc.triangles) || !tml_buffer_is_none(desc.features);
    status = tml_refuse_recording(tml, call, NULL);
    TML_THEN(status, tree_fetch(tml, call, desc.tree, COLLIDE_STALE_ALL));
    if (status == TML_OK && job.wants_sides)
        status = points_prepare_rule(tml, call, desc.tree, desc.rule);
    TML_THEN(status, stream_read_length(tml, &desc.length, &job.count));
    if (status != TML_OK || job.count == 0)
        return status;
    bool is_told = false;
    bool has_kernels = desc.k == 1 && !(job.wants_sides && desc.rule == TML_TREE_RULE_SOLID_ANGLE);
    if (has_kernels && job.count >= POINTS_LEAST && job.count <= POINTS_MOST &&
        points_run_on_device(tml, desc.tree)) {
        if (!job.wants_nearest)
            return points_sides_on_device(tml, &desc, job.count);
        status = points_nearest_on_device(tml, &desc, job.count, &is_told);
    }
    return status != TML_OK || is_told ? status : run_mapped(tml, &job);
}

tml_status tml_tree_nearest(tml_context *tml, const tml_tree_nearest_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, nearest(tml, desc));
}
