/* tml_tree_nearest: checks of the desc, parallel tasks over the points, and the outputs. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "stream/stream_internal.h"
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

/* An output of the desc, and which pointer of a job receives its memory. */
typedef struct output {
    const char *name;
    tml_buffer buffer;
    tml_type type;
    bool is_of_point; /* one element per point; false: k */
    void *to;         /* the pointer to set */
} output;
enum { OUTPUT_COUNT = 5 };
#define OUTPUT(desc, job, field, type, is_of_point)                                                \
    {                                                                                              \
        "desc." #field, (desc)->field, type, is_of_point, &(job)->field                            \
    }
#define OUTPUTS(desc, job)                                                                         \
    {                                                                                              \
        OUTPUT(desc, job, sides, TML_U8, true), OUTPUT(desc, job, distances, TML_F32, false),      \
            OUTPUT(desc, job, positions, TML_VEC(TML_F32, 3), false),                              \
            OUTPUT(desc, job, triangles, TML_U32, false),                                          \
            OUTPUT(desc, job, features, TML_U8, false)                                             \
    }

static tml_status points_check_desc(tml_context *tml, tml_tree_nearest_desc *desc)
{
    static const tml_type point_types[] = {TML_VEC(TML_F32, 3), TML_TYPE_NONE};
    tml_status status = points_check_tree(tml, call, desc->tree, desc->rule);
    if (status == TML_OK && desc->k > TML_TREE_NEAREST_MAX)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.k is %" PRIu32 ", needs 1 to %d triangles a point", call,
                         desc->k, TML_TREE_NEAREST_MAX);
    if (status != TML_OK)
        return status;
    desc->k = desc->k ? desc->k : 1;
    status = tml_check_buffer(tml, call, "desc.points", desc->points, point_types, 0);
    TML_THEN(status,
             stream_check_length(tml, call, stream_count_of(tml, desc->points), &desc->length));
    TML_THEN(status, tml_check_buffer(tml, call, "desc.points", desc->points, point_types,
                                      desc->length.count));
    if (status != TML_OK)
        return status;
    points_job unused; /* its pointers are never set */
    const output outputs[] = OUTPUTS(desc, &unused);
    stream_field fields[OUTPUT_COUNT];
    bool is_any = false;
    for (int i = 0; i < OUTPUT_COUNT && status == TML_OK; i++) {
        const tml_type types[] = {outputs[i].type, TML_TYPE_NONE};
        fields[i] = (stream_field){outputs[i].name, outputs[i].buffer};
        if (tml_buffer_is_none(outputs[i].buffer))
            continue;
        is_any = true;
        uint64_t each = outputs[i].is_of_point ? 1 : desc->k, count = desc->length.count;
        status = tml_check_buffer(tml, call, outputs[i].name, outputs[i].buffer, types,
                                  count > UINT64_MAX / each ? UINT64_MAX : count * each);
    }
    if (status != TML_OK)
        return status;
    if (!is_any)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: no output is given; needs one of desc.sides, distances, positions, "
                         "triangles and features",
                         call);
    const stream_input inputs[] = {{"desc.points", desc->points, 0},
                                   {"desc.length.device", desc->length.device, 0}};
    return stream_check_memory(tml, call, fields, OUTPUT_COUNT, inputs, TML_ARRAY_SIZE(inputs));
}

/* Maps the points and outputs, and runs the job on them. */
static tml_status run_mapped(tml_context *tml, points_job *job)
{
    output outputs[] = OUTPUTS(job->desc, job);
    void *memory = NULL;
    int mapped = 0;
    tml_status status = tml_buffer_map(tml, job->desc->points, &memory);
    if (status != TML_OK)
        return status;
    job->points = memory;
    for (; mapped < OUTPUT_COUNT && status == TML_OK; mapped++)
        if (!tml_buffer_is_none(outputs[mapped].buffer)) {
            status = tml_buffer_map(tml, outputs[mapped].buffer, &memory);
            if (status != TML_OK)
                break;
            memcpy(outputs[mapped].to, &memory, sizeof memory);
        }
    TML_THEN(status, run_tasks(tml, job));
    while (mapped-- > 0)
        if (!tml_buffer_is_none(outputs[mapped].buffer))
            tml_buffer_unmap(tml, outputs[mapped].buffer);
    tml_buffer_unmap(tml, job->desc->points);
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
