/* Points against a tree: checks, closed meshes, what the loops are unsure of, and the outputs.
 *
 * After: Edelsbrunner, Muecke: Simulation of Simplicity. 1990 (rays through edges and vertices). */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/simd.h"
#include "exact/exact.h"
#include "stream/stream_internal.h"
#include "tree/collide_order.h"
#include "tree/collide_points_device.h"

/* How far ahead points are brought into the cache, which order takes from all over memory. */
enum { POINTS_AHEAD = 8 };

const points_loops *points_loops_for_processor(void)
{
#if defined(__x86_64__)
    if (tml_simd_level() >= TML_SIMD_AVX2)
        return &points_loops_avx2;
#endif
    return &points_loops_plain;
}

/* ---- closed meshes --------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t hash_of(const float vertex[3])
{
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (int k = 0; k < 3; k++) {
        float at = vertex[k] + 0.0f; /* -0 is 0 */
        uint32_t bits;
        memcpy(&bits, &at, sizeof bits);
        hash = mix(hash + bits);
    }
    return hash;
}

/* A triangle's edges: hashes of both ends together, 0 for one without length; and by_way, the same, negated where the
 * edge goes down. */
static void edges_of(const tml_tree *tree, uint32_t slot, uint64_t edges[3], uint64_t by_way[3])
{
    float at[9];
    uint64_t ends[3];
    collide_triangle(tree, slot, at);
    for (int i = 0; i < 3; i++)
        ends[i] = hash_of(at + 3 * i);
    for (int i = 0; i < 3; i++) {
        uint64_t from = ends[i], to = ends[(i + 1) % 3];
        edges[i] = from == to ? 0 : mix(from + to);
        by_way[i] = from < to ? edges[i] : 0 - edges[i];
    }
}

/* The sums of the edges of a tree whose hash begins with the bits digits of prefix; or of all, bits 0. An edge that does
 * not pair leaves a sum other than 0, but for one chance in 2^64. */
typedef struct edge_sums {
    uint64_t mod_2[16], by_way[16]; /* by the next four bits */
} edge_sums;

static edge_sums sum_edges(const tml_tree *tree, uint64_t prefix, uint32_t bits)
{
    edge_sums sums = {{0}, {0}};
    uint32_t slots = tree->levels ? tree->level_count[0] : 0;
    for (uint32_t slot = 0; slot < slots; slot++) {
        uint64_t edges[3], by_way[3];
        if (tree->ids[slot] == COLLIDE_NO_TRIANGLE)
            continue;
        edges_of(tree, slot, edges, by_way);
        for (int i = 0; i < 3; i++)
            if (bits == 0 || edges[i] >> (64 - bits) == prefix) {
                uint32_t digit = edges[i] >> (60 - bits) & 15;
                sums.mod_2[digit] ^= edges[i];
                sums.by_way[digit] += by_way[i];
            }
    }
    return sums;
}

/* The triangle, and its corner, at which an edge begins that does not pair: found by the digits of its hash. */
static uint32_t open_triangle(const tml_tree *tree, tml_tree_rule rule, int *corner)
{
    uint64_t hash = 0;
    for (uint32_t bits = 0; bits < 64; bits += 4) {
        edge_sums sums = sum_edges(tree, hash, bits);
        const uint64_t *by = rule == TML_TREE_RULE_WINDING ? sums.by_way : sums.mod_2;
        uint32_t digit = 0;
        while (digit < 15 && by[digit] == 0)
            digit++;
        hash = hash << 4 | digit;
    }
    for (uint32_t slot = 0; slot < tree->level_count[0]; slot++) {
        uint64_t edges[3], by_way[3];
        edges_of(tree, slot, edges, by_way);
        for (*corner = 0; *corner < 3; ++*corner)
            if (tree->ids[slot] != COLLIDE_NO_TRIANGLE && edges[*corner] == hash)
                return slot;
    }
    *corner = 0;
    return 0;
}

static bool is_moderate(const tml_tree *tree)
{
    uint64_t words = tree->levels ? (uint64_t)9 * tree->level_count[0] : 0;
    for (uint64_t i = 0; i < words; i++) {
        float size = fabsf(tree->triangles[i]);
        if (size > 0x1p30f || (size < 0x1p-100f && size > 0))
            return false;
    }
    return true;
}

void points_learn(tml_tree *tree)
{
    if (tree->has_edges)
        return;
    edge_sums sums = sum_edges(tree, 0, 0);
    tree->edges_mod_2 = tree->edges_by_way = 0;
    for (int i = 0; i < 16; i++) {
        tree->edges_mod_2 |= sums.mod_2[i];
        tree->edges_by_way |= sums.by_way[i];
    }
    tree->is_moderate = is_moderate(tree);
    tree->has_edges = true;
}

tml_status points_prepare_rule(tml_context *tml, const char *call, tml_tree *tree,
                               tml_tree_rule rule)
{
    if (rule == TML_TREE_RULE_SOLID_ANGLE)
        return points_make_dipoles(tml, call, tree);
    points_learn(tree);
    bool by_way = rule == TML_TREE_RULE_WINDING;
    if (!(by_way ? tree->edges_by_way : tree->edges_mod_2))
        return TML_OK;
    int corner;
    float at[9];
    uint32_t slot = open_triangle(tree, rule, &corner);
    collide_triangle(tree, slot, at);
    const float *from = at + 3 * corner, *to = at + 3 * ((corner + 1) % 3);
    return tml_error(
        tml, TML_ERROR_INVALID_ARGUMENT,
        "%s: desc.tree is not closed: triangle %" PRIu32
        " has an edge, from (%g, %g, %g) to (%g, %g, %g), that %s; close the mesh%s, or ask by "
        "SOLID_ANGLE",
        call, tree->ids[slot], (double)from[0], (double)from[1], (double)from[2], (double)to[0],
        (double)to[1], (double)to[2],
        by_way ? "does not go as often the one way as the other"
               : "belongs to an odd number of triangles",
        by_way && !tree->edges_mod_2 ? ", orient its triangles alike, ask by EVEN_ODD" : "");
}

tml_status points_check_tree(tml_context *tml, const char *call, const tml_tree *tree,
                             tml_tree_rule rule)
{
    if (!tree)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "%s: desc.tree is NULL, needs a tree",
                         call);
    if ((unsigned)rule > TML_TREE_RULE_SOLID_ANGLE)
        return tml_error(
            tml, TML_ERROR_INVALID_ARGUMENT,
            "%s: desc.rule is %d, needs TML_TREE_RULE_EVEN_ODD, _WINDING or _SOLID_ANGLE", call,
            (int)rule);
    return TML_OK;
}

/* ---- what is unsure -------------------------------------------------------------------------- */

/* As edge_code of the loops, exactly: whether the edge from i to the next corner passes above the point. */
static bool passes_above(exact_points *points, const points_ray *ray, int i, bool *is_down)
{
    int axis = (int)ray->axis, y = (axis + 1) % 3, next = (i + 1) % 3;
    *is_down = points->at[i][y] > points->at[3][y];
    if (*is_down == (points->at[next][y] > points->at[3][y]))
        return false;
    return exact_turn(points, axis, i, next, 3) == (*is_down ? 1 : -1);
}

void points_settle(points_ray *ray, uint32_t slot)
{
    float triangle[9], at[9];
    exact_points points;
    bool is_met = false, is_along = false;
    collide_triangle(ray->tree, slot, triangle);
    for (int k = 0; k < 9; k++)
        at[k] = ray->point[k % 3];
    ray->is_on = collide_exact(triangle, at, NULL) != TML_COLLIDE_CLASS_NONE;
    if (ray->is_on)
        return;
    exact_points_load(&points, triangle, at);
    for (int i = 0; i < 3; i++) {
        bool is_down;
        if (passes_above(&points, ray, i, &is_down)) {
            is_met = !is_met;
            is_along |= is_down;
        }
    }
    /* The determinant of corners, seen from the point, has the opposite sign. */
    int side = -exact_side(&points, 0, 1, 2, 3);
    if (!is_met || ((side > 0) == is_along) == ray->is_back)
        return;
    ray->count++;
    ray->turns += is_along ? 1 : -1;
}

/* ---- the call -------------------------------------------------------------------------------- */

typedef struct points_job {
    const tml_tree_nearest_desc *desc;
    const points_loops *loops;
    const float *points;
    uint8_t *sides, *features; /* like what follows, NULL where it is not asked for */
    float *distances, *positions;
    uint32_t *triangles;
    uint64_t count;
    collide_rounds rounds;
    bool wants_sides, wants_nearest;
} points_job;

static bool is_finite(const float *point)
{
    return isfinite(point[0]) && isfinite(point[1]) && isfinite(point[2]);
}

/* The way out of the tree's box that is nearest: crosses the least, mostly. False: the point is not in the box. */
static bool ray_begin(const tml_tree *tree, const float *point, points_ray *ray)
{
    float nearest = INFINITY;
    *ray = (points_ray){.tree = tree, .point = point};
    for (uint32_t k = 0; k < 3; k++) {
        float below = point[k] - tree->lower[k], above = tree->upper[k] - point[k];
        if (!(point[k] >= tree->lower[k] && point[k] <= tree->upper[k]))
            return false; /* NaN, too */
        if (fminf(below, above) < nearest) {
            nearest = fminf(below, above);
            ray->axis = k;
            ray->is_back = below < above;
        }
    }
    return tree->levels > 0;
}

tml_tree_side points_side_of(const points_loops *loops, const tml_tree *tree, tml_tree_rule rule,
                             const float *point)
{
    points_ray ray;
    bool is_within = ray_begin(tree, point, &ray), by_angle = rule == TML_TREE_RULE_SOLID_ANGLE;
    if (is_within)
        loops->cross(&ray);
    bool is_inside = rule == TML_TREE_RULE_WINDING ? ray.turns != 0 : (ray.count & 1) != 0;
    if (by_angle && !ray.is_on && is_finite(point))
        is_inside = points_covers_half(loops, tree, point, 0.0, &is_within);
    return ray.is_on ? TML_TREE_ON : is_inside ? TML_TREE_INSIDE : TML_TREE_OUTSIDE;
}

static points_place place_of(const points_loops *loops, const points_nearest *nearest)
{
    if (isfinite(nearest->squared))
        return loops->place(nearest);
    return (points_place){.at = {NAN, NAN, NAN}, .squared = INFINITY};
}

static float signed_distance(double squared, tml_tree_side side)
{
    double distance = side == TML_TREE_ON ? 0.0 : sqrt(squared);
    return (float)(side == TML_TREE_INSIDE ? -distance : distance);
}

float points_distance(const points_loops *loops, const points_nearest *nearest, tml_tree_side side)
{
    return signed_distance(place_of(loops, nearest).squared, side);
}

/* i: of the outputs. */
static void put_nearest(const points_job *job, uint64_t i, const points_nearest *nearest,
                        tml_tree_side side)
{
    points_place place = place_of(job->loops, nearest);
    if (job->distances)
        job->distances[i] = signed_distance(place.squared, side);
    for (int k = 0; k < 3 && job->positions; k++)
        job->positions[3 * i + (uint64_t)k] = (float)place.at[k];
    if (job->triangles)
        job->triangles[i] = nearest->id;
    if (job->features)
        job->features[i] = (uint8_t)place.feature;
}

/* The k nearest. Those of the last point, if there are k, have k triangles that are no farther than they were from there,
 * and the way between both points: that bounds the search, unless rounding has made it too close. */
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
    uint64_t round = job->rounds.first, first = (uint64_t)task * COLLIDE_ITEMS_A_TASK;
    uint64_t end = TML_MIN_OF(first + COLLIDE_ITEMS_A_TASK, job->count - round);
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
            if (is_finite(point))
                find_several(job->loops, &several, before);
            else
                several.count = 0;
            put_several(job, i, &several, sign);
            continue;
        }
        uint32_t last = nearest.slot;
        nearest = points_none(tree, point, INFINITY);
        if (is_finite(point)) {
            if (last != COLLIDE_NO_TRIANGLE) /* near it, if this point is near the last */
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
    uint64_t round = job->rounds.first, first = (uint64_t)task * COLLIDE_ITEMS_A_TASK;
    uint64_t end = TML_MIN_OF(first + COLLIDE_ITEMS_A_TASK, job->count - round);
    for (uint64_t i = first; i < end; i++)
        job->rounds.order[i] =
            (uint64_t)collide_code(tree, job->points + 3 * (round + i), COLLIDE_CODE_BITS) << 32 |
            i;
}

static const char call[] = "tml_tree_nearest";

static tml_status run_tasks(tml_context *tml, points_job *job)
{
    job->rounds = (collide_rounds){.call = call,
                                   .stage = "points",
                                   .share = 1,
                                   .find_codes = codes_task,
                                   .work = points_task,
                                   .job = job,
                                   .count = job->count};
    return collide_rounds_run(tml, &job->rounds);
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* The desc's outputs, and where their memory goes in a job. */
typedef struct output {
    const char *name;
    tml_buffer buffer;
    tml_type type;
    bool is_of_point; /* one a point, not k */
    void *to;         /* of a pointer */
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
    if (status == TML_OK)
        status = stream_check_length(tml, call, stream_count_of(tml, desc->points), &desc->length);
    if (status == TML_OK)
        status = tml_check_buffer(tml, call, "desc.points", desc->points, point_types,
                                  desc->length.count);
    if (status != TML_OK)
        return status;
    points_job unused; /* where outputs would be mapped */
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

/* Runs the job over the points' and outputs' memory. */
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
    if (status == TML_OK)
        status = run_tasks(tml, job);
    while (mapped-- > 0)
        if (!tml_buffer_is_none(outputs[mapped].buffer))
            tml_buffer_unmap(tml, outputs[mapped].buffer);
    tml_buffer_unmap(tml, job->desc->points);
    return status;
}

static tml_status nearest(tml_context *tml, const tml_tree_nearest_desc *given)
{
    tml_tree_nearest_desc desc = *given;
    points_job job = {.desc = &desc, .loops = points_loops_for_processor()};
    tml_status status = points_check_desc(tml, &desc);
    if (status != TML_OK)
        return status;
    bool has_distances = !tml_buffer_is_none(desc.distances);
    job.wants_sides = !tml_buffer_is_none(desc.sides) || (has_distances && desc.is_signed);
    job.wants_nearest = has_distances || !tml_buffer_is_none(desc.positions) ||
                        !tml_buffer_is_none(desc.triangles) || !tml_buffer_is_none(desc.features);
    status = tml_refuse_recording(tml, call, NULL);
    if (status == TML_OK)
        status = collide_tree_fetch(tml, call, desc.tree, COLLIDE_STALE_ALL);
    if (status == TML_OK && job.wants_sides)
        status = points_prepare_rule(tml, call, desc.tree, desc.rule);
    if (status == TML_OK)
        status = stream_read_length(tml, &desc.length, &job.count);
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
