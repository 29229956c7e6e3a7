/* Ray casting on the host: checks of the desc, parallel tasks over the rays, and the outputs. */
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <trommel/kernel_math.h>

#include "core/simd.h"
#include "exact/exact.h"
#include "stream/desc.h"
#include "tree/tree_cast.h"
#include "tree/tree_order.h"

#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must be included first. */
#include "kernels/collide.k.h"

/* ---- a ray ----------------------------------------------------------------------------------- */

/* Sets enter and leave, which bound t from below and above. The difference from the origin, the
 * product and the quotient together have a relative error below 2^-21. A direction below 2^-100
 * enters no earlier than enter gives, and has no bound on leaving; a direction above 2^100 has
 * enter 0. */
static void set_axis(cast_ray *ray, uint32_t k)
{
    const float least = 0x1p-100f, most = 0x1p100f;
    float way = fabsf(ray->direction[k]), slow = 1.0f / fminf(fmaxf(way, least), most);
    bool is_back = ray->direction[k] < 0.0f;
    float enter = way > most ? 0.0f : slow * (1.0f - 0x1p-21f);
    float leave = way < least ? INFINITY : slow * (1.0f + 0x1p-21f);
    if (way == 0.0f)
        enter = INFINITY;
    ray->enter[k] = is_back ? -enter : enter;
    ray->leave[k] = is_back ? -leave : leave;
    ray->plane[k] = COLLIDE_WIDTH * k + (is_back ? COLLIDE_HIGH_WORDS : 0);
}

/* Returns false if the ray can hit nothing. */
static bool ray_begin(cast_ray *ray, const float limits[2])
{
    uint32_t z = 0;
    for (uint32_t k = 0; k < 3; k++) {
        if (!isfinite(ray->origin[k]) || !isfinite(ray->direction[k]))
            return false;
        if (fabsf(ray->direction[k]) > fabsf(ray->direction[z]))
            z = k;
    }
    if (ray->direction[z] == 0.0f || !(limits[0] <= limits[1]) || ray->tree->levels == 0)
        return false;
    ray->t_min = limits[0] > 0.0f ? limits[0] : 0.0f;
    ray->t_max = ray->t_far = fminf(limits[1], CAST_T_MAX);
    for (uint32_t k = 0; k < 3; k++)
        set_axis(ray, k);
    ray->axis = z;
    ray->slope_x = ray->direction[(z + 1) % 3] / ray->direction[z];
    ray->slope_y = ray->direction[(z + 2) % 3] / ray->direction[z];
    ray->best = UINT64_MAX;
    return ray->t_min <= ray->t_max;
}

/* ---- the call -------------------------------------------------------------------------------- */

typedef struct cast_job {
    const char *call;
    const tml_tree_cast_desc *desc;
    void *scratch; /* NULL: allocate */
    const cast_loops *loops;
    const float *origins, *directions, *limits, *poses; /* these and the next: NULL if not given */
    const uint32_t *pose_of;
    uint8_t *hits;
    uint32_t *counts, *rays, *triangles;
    float *t, *barycentrics;
    _Atomic uint64_t total;
    uint64_t count, pose_count;
    tree_rounds rounds;
    uint64_t
        *first; /* ALL: hits before each ray; in the counting pass, [i + 1] is ray i's own count */
    uint64_t *found; /* ALL: hits, encoded as in cast_ray; NULL in the counting pass */
    uint64_t room;   /* ALL: number of hits to write */
} cast_job;

/* Loads ray i in the tree's frame. Returns false if its pose does not exist. */
static bool load_ray(const cast_job *job, uint64_t i, float origin[3], float direction[3])
{
    memcpy(origin, job->origins + 3 * i, 3 * sizeof *origin);
    memcpy(direction, job->directions + 3 * i, 3 * sizeof *direction);
    if (!job->poses)
        return true;
    uint64_t pose = job->pose_of ? job->pose_of[i] : 0;
    if (pose >= job->pose_count)
        return false;
    vec3 from = VEC3(origin[0], origin[1], origin[2]);
    vec3 way = VEC3(direction[0], direction[1], direction[2]);
    for (uint32_t k = 0; k < 3; k++) {
        const float *row = job->poses + 12 * pose + 4 * k;
        origin[k] = collide_pose_row(VEC4(row[0], row[1], row[2], row[3]), from);
        direction[k] = collide_pose_row(VEC4(row[0], row[1], row[2], 0), way);
    }
    return true;
}

/* Barycentric weights of the second and third corner at the hit: the determinant of the opposite
 * edge over the sum of all three. */
static void put_barycentrics(const cast_ray *ray, float out[2])
{
    float at[9];
    double to[3][3], across[3][3], way[3];
    tree_triangle(ray->tree, ray->slot, at);
    for (int k = 0; k < 9; k++)
        to[k / 3][k % 3] = (double)at[k] - (double)ray->origin[k % 3];
    for (int k = 0; k < 3; k++)
        way[k] = (double)ray->direction[k];
    double part[3], sum = 0;
    for (int i = 0; i < 3; i++) {
        const double *u = to[(i + 1) % 3], *v = to[(i + 2) % 3];
        for (int k = 0; k < 3; k++)
            across[i][k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        part[i] = cast_dot(way, across[i]);
        sum += part[i];
    }
    for (int i = 0; i < 2; i++) {
        double weight = sum != 0 ? part[i + 1] / sum : 0;
        out[i] = weight > 0 ? (float)fmin(weight, 1) : 0;
    }
}

static void put_ray(const cast_job *job, uint64_t i, const cast_ray *ray)
{
    bool is_hit = ray->best != UINT64_MAX;
    if (job->hits)
        job->hits[i] = is_hit || ray->count > 0;
    if (ray->want != TML_TREE_CAST_NEAREST) {
        if (job->counts)
            job->counts[i] = (uint32_t)TML_MIN_OF(ray->count, (uint64_t)UINT32_MAX);
        return;
    }
    if (job->triangles)
        job->triangles[i] = (uint32_t)ray->best;
    if (job->t)
        job->t[i] = is_hit ? ray->t_far : INFINITY;
    if (job->barycentrics && is_hit)
        put_barycentrics(ray, job->barycentrics + 2 * i);
    else if (job->barycentrics)
        job->barycentrics[2 * i] = job->barycentrics[2 * i + 1] = NAN;
}

static void put_hits(const cast_job *job, uint64_t i)
{
    uint64_t first = job->first[i], end = TML_MIN_OF(job->first[i + 1], job->room);
    if (first < end)
        cast_sort_hits(job->found + first, end - first);
    for (uint64_t at = first; at < end; at++) {
        uint32_t bits = (uint32_t)(job->found[at] >> 32);
        if (job->rays)
            job->rays[at] = (uint32_t)i;
        if (job->triangles)
            job->triangles[at] = (uint32_t)job->found[at];
        if (job->t)
            memcpy(job->t + at, &bits, sizeof bits);
    }
}

static void cast_put(const cast_job *job, uint64_t i, const cast_ray *ray)
{
    if (job->found) {
        put_hits(job, i);
        return;
    }
    put_ray(job, i, ray);
    if (job->first)
        job->first[i + 1] = ray->count;
}

/* Prepares ray i. Returns false if it can hit nothing. */
static bool cast_begin(const cast_job *job, uint64_t i, cast_ray *ray)
{
    const float for_all[2] = {0, job->desc->t_max == 0.0f ? INFINITY : job->desc->t_max};
    *ray = (cast_ray){.tree = job->desc->tree, .want = job->desc->want, .best = UINT64_MAX};
    if (job->found && job->first[i] >= job->room)
        return false;
    if (job->found) {
        ray->hits = job->found + job->first[i];
        ray->room = job->room - job->first[i];
    }
    return load_ray(job, i, ray->origin, ray->direction) &&
           ray_begin(ray, job->limits ? job->limits + 2 * i : for_all);
}

static void prefetch_ray(const cast_job *job, uint64_t i)
{
    __builtin_prefetch(job->origins + 3 * i);
    __builtin_prefetch(job->directions + 3 * i);
    if (job->limits)
        __builtin_prefetch(job->limits + 2 * i);
}

static void cast_task(void *argument, uint32_t task)
{
    cast_job *job = argument;
    uint64_t round = job->rounds.first, at = (uint64_t)task * TREE_ITEMS_A_TASK;
    uint64_t end = TML_MIN_OF(at + TREE_ITEMS_A_TASK, job->count - round), numbers[CAST_WALKS];
    cast_walk walks[CAST_WALKS];
    uint64_t total = 0;
    while (at < end) {
        uint32_t going = 0;
        for (; going < CAST_WALKS && at < end; at++) {
            uint64_t i = round + (job->rounds.order ? (uint32_t)job->rounds.order[at] : at);
            if (job->rounds.order && at + CAST_WALKS < end)
                prefetch_ray(job, round + (uint32_t)job->rounds.order[at + CAST_WALKS]);
            if (cast_begin(job, i, &walks[going].ray))
                numbers[going++] = i;
            else
                cast_put(job, i, &walks[going].ray);
        }
        job->loops->follow(walks, going);
        for (uint32_t k = 0; k < going; k++) {
            cast_put(job, numbers[k], &walks[k].ray);
            total += walks[k].ray.count + (walks[k].ray.best != UINT64_MAX);
        }
    }
    if (!job->found)
        atomic_fetch_add_explicit(&job->total, total, memory_order_relaxed);
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Rays are sorted by origin, then direction: neighbours find the tree's nodes in the cache. */
enum { PLACE_BITS = 7, WAY_BITS = TREE_CODE_BITS - PLACE_BITS };

static uint32_t way_code(const float direction[3])
{
    float size = fmaxf(fmaxf(fabsf(direction[0]), fabsf(direction[1])), fabsf(direction[2]));
    uint32_t code = 0;
    for (uint32_t k = 0; k < 3; k++) {
        float at = (direction[k] / size + 1.0f) * (float)(1 << (WAY_BITS - 1));
        const float most = (float)((1 << WAY_BITS) - 1);
        code |= collide_spread((uint32_t)(at > 0.0f ? TML_MIN_OF(at, most) : 0.0f))
                << k; /* NaN: 0 */
    }
    return code;
}

static void codes_task(void *argument, uint32_t task)
{
    const cast_job *job = argument;
    uint64_t round = job->rounds.first, first = (uint64_t)task * TREE_ITEMS_A_TASK;
    uint64_t end = TML_MIN_OF(first + TREE_ITEMS_A_TASK, job->count - round);
    for (uint64_t i = first; i < end; i++) {
        float origin[3], direction[3];
        uint64_t code = 0;
        if (load_ray(job, round + i, origin, direction))
            code = (uint64_t)tree_code(job->desc->tree, origin, PLACE_BITS) << 3 * WAY_BITS |
                   way_code(direction);
        job->rounds.order[i] = code << 32 | i;
    }
}

static tml_status run_in_order(tml_context *tml, cast_job *job)
{
    job->rounds = (tree_rounds){.call = job->call,
                                .stage = "rays",
                                .before = job->found ? 0.5 : 0.0,
                                .share = job->first ? 0.5 : 1.0,
                                .find_codes = codes_task,
                                .work = cast_task,
                                .job = job,
                                .count = job->count,
                                .scratch = job->scratch};
    return tree_rounds_run(tml, &job->rounds);
}

/* Returns count words: the next ones of the call's scratch if it has some, else newly allocated.
 * The caller frees the latter. */
static uint64_t *take_memory(tml_context *tml, cast_job *job, uint64_t **scratch, uint64_t count)
{
    uint64_t *memory = *scratch;
    if (memory) {
        *scratch += count;
        return memory;
    }
    memory = tml_alloc_array(tml, count, sizeof *memory);
    if (!memory)
        (void)tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %zu bytes", job->call,
                        (size_t)(count * sizeof *memory));
    return memory;
}

/* Counts every ray's hits, then finds those again that have room, and writes them. */
static tml_status run_all(tml_context *tml, cast_job *job)
{
    uint64_t *scratch = job->scratch;
    if (scratch)
        scratch += tree_rounds_size(job->count) / sizeof *scratch;
    job->first = take_memory(tml, job, &scratch, job->count + 1);
    if (!job->first)
        return TML_ERROR_OUT_OF_MEMORY;
    job->first[0] = 0;
    tml_status status = run_in_order(tml, job);
    for (uint64_t i = 0; i < job->count && status == TML_OK; i++)
        job->first[i + 1] += job->first[i];
    job->room = TML_MIN_OF(job->room, job->first[job->count]);
    if (status == TML_OK && job->room > 0) {
        job->found = take_memory(tml, job, &scratch, job->room);
        status = job->found ? run_in_order(tml, job) : TML_ERROR_OUT_OF_MEMORY;
        if (!job->scratch)
            tml_free(tml, job->found, (size_t)job->room * sizeof *job->found);
    }
    if (!job->scratch)
        tml_free(tml, job->first, (size_t)(job->count + 1) * sizeof *job->first);
    return status;
}

/* ---- checks ---------------------------------------------------------------------------------- */

enum { TREE, LENGTH, ORIGINS, DIRECTIONS, WANT, T_MAX, LIMITS, POSES, POSE_OF, OUTS };
enum { T = OUTS, TRIANGLES, BARYCENTRICS, HITS, COUNTS, RAYS, TOTAL, UNSURE, UNSURE_COUNT };
static const desc_range positive = {0, INFINITY, "0, for no limit, or more"};
static const tml_type vec2s[] = {TML_VEC(TML_F32, 2), TML_TYPE_NONE},
                      vec4s[] = {TML_VEC(TML_F32, 4), TML_TYPE_NONE};
#define ROW(field, ...) DESC_ROW(tml_tree_cast_desc, field, __VA_ARGS__)
#define OUT(field, ...) ROW(field, DESC_OUT, .is_optional = true, __VA_ARGS__)
static const desc_row rows[] = {
    [TREE] = ROW(tree, DESC_POINTER, .of = "a tree"),
    [LENGTH] = ROW(length, DESC_LENGTHS, .like = DESC_LIKE(ORIGINS)),
    [ORIGINS] = ROW(origins, DESC_IN, .types = stream_f32x3_types, .count = DESC_LENGTH),
    [DIRECTIONS] = ROW(directions, DESC_IN, .types = stream_f32x3_types, .count = DESC_LENGTH),
    [WANT] = ROW(want, DESC_ENUM, .of = "tml_tree_cast_want", .most = TML_TREE_CAST_ALL),
    [T_MAX] = ROW(t_max, DESC_F32, .range = &positive),
    [LIMITS] = ROW(limits, DESC_IN, .is_optional = true, .types = vec2s, .count = DESC_LENGTH),
    [POSES] = ROW(poses, DESC_IN, .is_optional = true, .types = vec4s),
    [POSE_OF] =
        ROW(pose_of, DESC_IN, .is_optional = true, .types = stream_u32_types, .count = DESC_LENGTH),
    [T] = OUT(t, .types = stream_f32_types, .count = DESC_OUTS),
    [TRIANGLES] = OUT(triangles, .types = stream_u32_types, .count = DESC_OUTS),
    [BARYCENTRICS] = OUT(barycentrics, .types = vec2s, .count = DESC_LENGTH),
    [HITS] = OUT(hits, .types = stream_u8_types, .count = DESC_LENGTH),
    [COUNTS] = OUT(counts, .types = stream_u32_types, .count = DESC_LENGTH),
    [RAYS] = OUT(rays, .types = stream_u32_types),
    [TOTAL] = OUT(total, .types = stream_count_types, .count = DESC_ONE),
    [UNSURE] = OUT(unsure, .types = stream_u32_types),
    [UNSURE_COUNT] = OUT(unsure_count, .types = stream_count_types, .count = DESC_ONE)};
static const desc_table table = {rows, TML_ARRAY_SIZE(rows)};

/* The outputs that a want has, beside unsure and unsure_count. */
enum { EVERY = 1 << HITS | 1 << TOTAL };
static const uint32_t outputs_of[] = {
    [TML_TREE_CAST_NEAREST] = EVERY | 1 << T | 1 << TRIANGLES | 1 << BARYCENTRICS,
    [TML_TREE_CAST_ANY] = EVERY,
    [TML_TREE_CAST_COUNT] = EVERY | 1 << COUNTS,
    [TML_TREE_CAST_ALL] = EVERY | 1 << T | 1 << TRIANGLES | 1 << COUNTS | 1 << RAYS};

static tml_status check_outputs(tml_context *tml, const char *call, const tml_tree_cast_desc *d)
{
    static const char *const names[] = {"NEAREST", "ANY", "COUNT", "ALL"};
    const uint32_t given = desc_given(&table, d), outputs = outputs_of[d->want];
    for (uint32_t row = OUTS; row <= TOTAL; row++)
        if ((given & ~outputs) >> row & 1)
            return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                             "%s: %s is given, and desc.want is TML_TREE_CAST_%s, which has none",
                             call, rows[row].name, names[d->want]);
    return given & outputs
               ? TML_OK
               : tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                           "%s: no output is given; needs one of those that desc.want has", call);
}

static tml_status check_poses(tml_context *tml, const char *call, const tml_tree_cast_desc *d)
{
    uint64_t count = stream_count_of(tml, d->poses);
    bool is_none = tml_buffer_is_none(d->poses);
    if (is_none && !tml_buffer_is_none(d->pose_of))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.pose_of is given and desc.poses is not", call);
    if (!is_none && (count == 0 || count % 3 != 0))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.poses has %" PRIu64 " rows, needs three a pose", call, count);
    return TML_OK;
}

tml_status cast_check_desc(tml_context *tml, const char *call, tml_tree_cast_desc *d)
{
    desc_numbers numbers = {.outs = d->want == TML_TREE_CAST_ALL ? DESC_ANY : DESC_LENGTH};
    tml_status status = desc_check(tml, call, &table, d, &numbers);
    TML_THEN(status, check_outputs(tml, call, d));
    return status ? status : check_poses(tml, call, d);
}

/* Maps the desc's buffers, and runs the job on them. */
static tml_status run_mapped(tml_context *tml, cast_job *job)
{
    void *const to[TML_ARRAY_SIZE(rows)] = {[ORIGINS] = &job->origins,
                                            [DIRECTIONS] = &job->directions,
                                            [LIMITS] = &job->limits,
                                            [POSES] = &job->poses,
                                            [POSE_OF] = &job->pose_of,
                                            [T] = &job->t,
                                            [TRIANGLES] = &job->triangles,
                                            [BARYCENTRICS] = &job->barycentrics,
                                            [HITS] = &job->hits,
                                            [COUNTS] = &job->counts,
                                            [RAYS] = &job->rays};
    const bool is_all = job->desc->want == TML_TREE_CAST_ALL;
    tml_status status = desc_map_buffers(tml, &table, job->desc, to);
    TML_THEN(status, is_all ? run_all(tml, job) : run_in_order(tml, job));
    desc_unmap_buffers(tml, &table, job->desc, to);
    return status;
}

uint64_t cast_hit_room(const tml_context *tml, const tml_tree_cast_desc *desc)
{
    const tml_buffer arrays[] = {desc->rays, desc->triangles, desc->t};
    uint64_t room = UINT64_MAX;
    for (int i = 0; i < 3 && desc->want == TML_TREE_CAST_ALL; i++)
        if (!tml_buffer_is_none(arrays[i]))
            room = TML_MIN_OF(room, stream_count_of(tml, arrays[i]));
    return room == UINT64_MAX ? 0 : room;
}

size_t cast_scratch_size(const tml_context *tml, const tml_tree_cast_desc *desc)
{
    uint64_t words =
        desc->want == TML_TREE_CAST_ALL ? desc->length.count + 1 + cast_hit_room(tml, desc) : 0;
    size_t order = tree_rounds_size(desc->length.count);
    return words < SIZE_MAX / 16 ? order + (size_t)words * sizeof(uint64_t) : SIZE_MAX;
}

tml_status cast_put_total(tml_context *tml, tml_buffer to, uint64_t total)
{
    tml_type type = TML_TYPE_NONE;
    const uint32_t narrow = (uint32_t)TML_MIN_OF(total, (uint64_t)UINT32_MAX);
    if (!tml_buffer_describe(tml, to, &type, NULL))
        return TML_OK;
    return tml_buffer_write(tml, to, 0, 1, type == TML_U64 ? (const void *)&total : &narrow);
}

tml_status cast_add_total(tml_context *tml, tml_buffer to, uint64_t more)
{
    uint64_t total = 0; /* little-endian: reads a u32 or a u64 */
    tml_status status = tml_buffer_read(tml, to, &total);
    return status == TML_OK ? cast_put_total(tml, to, total + more) : status;
}

tml_status cast_on_host(tml_context *tml, const char *call, const tml_tree_cast_desc *desc,
                        uint64_t count, void *scratch, uint64_t *total)
{
    cast_job job = {.call = call,
                    .desc = desc,
                    .scratch = scratch,
                    .loops = SIMD_CHOOSE(cast_loops),
                    .count = count,
                    .pose_count = stream_count_of(tml, desc->poses) / 3,
                    .room = cast_hit_room(tml, desc)};
    tml_status status = tree_fetch(tml, call, desc->tree, COLLIDE_STALE_ALL);
    TML_THEN(status, run_mapped(tml, &job));
    if (total)
        *total = job.total;
    return status == TML_OK ? cast_put_total(tml, desc->total, job.total) : status;
}

#include "kernels/kernel_end.h"
