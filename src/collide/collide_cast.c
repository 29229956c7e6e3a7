/* Rays against a tree: checks, what the loops are unsure of, and the outputs.
 *
 * A triangle is met if the ray's line, moved by (e, e^2, e^3), e infinitely small, passes through its interior: if the
 * determinants of the direction and each edge's ends, seen from the origin, have one sign. Where a determinant is 0, the
 * first component of direction x edge that is not has the sign that moving gives it. After: Edelsbrunner, Muecke:
 * Simulation of Simplicity. 1990. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <trommel/kernel_math.h>

#include "collide/collide_cast.h"
#include "collide/collide_order.h"
#include "collide/exact_signs.h"
#include "core/simd.h"
#include "kernels/kernel.h"
#include "stream/stream_internal.h"
/* Formulas in the language of kernels/kernel.h, which must come first. */
#include "kernels/collide.k.h"

static const char call[] = "tml_tree_cast";

/* Rays of a task, and tasks between two reports of progress. */

static const cast_loops *loops_for_processor(void)
{
#if defined(__x86_64__)
    if (tml_simd_level() >= TML_SIMD_AVX2)
        return &cast_loops_avx2;
#endif
    return &cast_loops_plain;
}

/* ---- a ray ----------------------------------------------------------------------------------- */

/* A difference from the origin, a product with it and the quotient here are off by less than 2^-21 of themselves in all.
 * A direction below 2^-100 along an axis enters later than told, and leaves perhaps never; one above 2^100 enters as soon
 * as told or later. */
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

/* False: it hits nothing. */
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

/* ---- hits ------------------------------------------------------------------------------------ */

/* Points of an exact_points: a triangle's corners, then these. */
enum { ORIGIN = 3, DIRECTION, ZERO };

static void load_exactly(exact_points *points, const cast_ray *ray, const float triangle[9])
{
    float others[9] = {0};
    memcpy(others, ray->origin, sizeof ray->origin);
    memcpy(others + 3, ray->direction, sizeof ray->direction);
    exact_points_load(points, triangle, others);
}

/* The sign of an edge, from corner i to the next. 0: it lies along the ray. */
static int edge_sign(exact_points *points, int i)
{
    const exact_vector way = {ZERO, DIRECTION};
    int next = (i + 1) % 3;
    int sign = exact_volume(points, (exact_vector[]){way, {ORIGIN, i}, {ORIGIN, next}});
    for (int axis = 0; axis < 3 && sign == 0; axis++)
        sign = exact_cross(points, axis, way, (exact_vector){i, next});
    return sign;
}

static bool passes_through(exact_points *points)
{
    int sign = edge_sign(points, 0);
    return sign != 0 && edge_sign(points, 1) == sign && edge_sign(points, 2) == sign;
}

static void take(cast_ray *ray, uint32_t slot, float t)
{
    uint32_t id = ray->tree->ids[slot];
    uint64_t hit = (uint64_t)tml_float_bits(t) << 32 | id;
    if (ray->want != TML_CAST_NEAREST) {
        if (ray->hits)
            ray->hits[ray->count] = hit;
        ray->count++;
        ray->is_over = ray->want == TML_CAST_ANY;
    } else if (hit < ray->best) {
        ray->best = hit;
        ray->slot = slot;
        ray->t_far = t;
    }
}

typedef struct triangle_t {
    double t, error;
} triangle_t;

/* 2^-76 more, so that 2^-49 of it covers coordinates that were taken for 0, below 2^-126. */
static double farthest(const double v[3])
{
    return fmax(fmax(fabs(v[0]), fabs(v[1])), fabs(v[2])) + 0x1p-76;
}

static double dot(const double u[3], const double v[3])
{
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
}

/* Where the ray meets the triangle's plane; error is infinite or NaN where that is not known. Determinants are sums of
 * six products, each off by less than 2^-49 of the factors' farthest coordinates: 3 differences, 2 products and 3 sums
 * are rounded, by 2^-53 each. */
static triangle_t estimate_t(const cast_ray *ray, const float at[9])
{
    double u[3], v[3], from[3], way[3];
    for (int k = 0; k < 3; k++) {
        u[k] = (double)at[3 + k] - (double)at[k];
        v[k] = (double)at[6 + k] - (double)at[k];
        from[k] = (double)at[k] - (double)ray->origin[k];
        way[k] = (double)ray->direction[k];
    }
    double normal[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                        u[0] * v[1] - u[1] * v[0]};
    double size = farthest(u) * farthest(v) * 6 * 0x1p-49, n = dot(normal, from);
    double m = dot(normal, way), n_error = size * farthest(from), m_error = size * farthest(way);
    double t = n / m, certain = fabs(m) - m_error;
    double error = (n_error + fabs(t) * m_error) / certain + fabs(t) * 0x1p-51;
    return (triangle_t){t, certain > 0 ? error : (double)INFINITY};
}

static void take_exactly(cast_ray *ray, uint32_t slot, exact_points *points)
{
    static const exact_vector n[3] = {{0, 1}, {0, 2}, {ORIGIN, 0}};
    static const exact_vector m[3] = {{0, 1}, {0, 2}, {ZERO, DIRECTION}};
    if (exact_quotient_order(points, n, m, ray->t_min) >= 0 &&
        exact_quotient_order(points, n, m, ray->t_max) <= 0)
        take(ray, slot, exact_quotient_round(points, n, m));
}

void cast_take(cast_ray *ray, uint32_t slot, bool is_sure)
{
    float triangle[9];
    exact_points points;
    bool is_loaded = false;
    collide_triangle(ray->tree, slot, triangle);
    if (!is_sure) {
        load_exactly(&points, ray, triangle);
        is_loaded = true;
        if (!passes_through(&points))
            return;
    }
    triangle_t t = estimate_t(ray, triangle);
    double low = t.t - t.error, high = t.t + t.error;
    if (high < (double)ray->t_min || low > (double)ray->t_max || (float)low > ray->t_far)
        return;
    if (low > (double)ray->t_min && high < (double)ray->t_max && (float)low == (float)high) {
        take(ray, slot, (float)low);
        return;
    }
    if (!is_loaded)
        load_exactly(&points, ray, triangle);
    take_exactly(ray, slot, &points);
}

/* ---- the call -------------------------------------------------------------------------------- */

typedef struct cast_job {
    const tml_tree_cast_desc *desc;
    const cast_loops *loops;
    const float *origins, *directions, *limits, *poses; /* like what follows, NULL if not given */
    const uint32_t *pose_of;
    uint8_t *hits;
    uint32_t *counts, *rays, *triangles;
    float *t, *barycentrics;
    uint32_t *total;
    bool is_total_64;
    uint64_t count, pose_count;
    collide_rounds rounds;
    uint64_t
        *first; /* ALL: hits of rays before each; while they are counted, at one further, its own */
    uint64_t *found; /* ALL: hits as cast_ray has them; NULL while they are counted */
    uint64_t room;   /* ALL: hits to write */
} cast_job;

/* Ray number i, in the tree's frame. False: it names a pose that is not there. */
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

/* Weights of the second and third corner where the ray meets the triangle: of the determinants' sum, that of the edge
 * across. */
static void put_barycentrics(const cast_ray *ray, float out[2])
{
    float at[9];
    double to[3][3], across[3][3], way[3];
    collide_triangle(ray->tree, ray->slot, at);
    for (int k = 0; k < 9; k++)
        to[k / 3][k % 3] = (double)at[k] - (double)ray->origin[k % 3];
    for (int k = 0; k < 3; k++)
        way[k] = (double)ray->direction[k];
    double part[3], sum = 0;
    for (int i = 0; i < 3; i++) {
        const double *u = to[(i + 1) % 3], *v = to[(i + 2) % 3];
        for (int k = 0; k < 3; k++)
            across[i][k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        part[i] = dot(way, across[i]);
        sum += part[i];
    }
    for (int i = 0; i < 2; i++)
        out[i] = (float)fmin(fmax(sum != 0 ? part[i + 1] / sum : 0, 0), 1);
}

static void put_ray(const cast_job *job, uint64_t i, const cast_ray *ray)
{
    bool is_hit = ray->best != UINT64_MAX;
    if (job->hits)
        job->hits[i] = is_hit || ray->count > 0;
    if (ray->want != TML_CAST_NEAREST) {
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

/* Sorts by Heap's way: no memory, and no order of hits is slow. After: Williams: Algorithm 232, Heapsort. 1964. */
static void sort_hits(uint64_t *hits, uint64_t count)
{
    for (uint64_t sorted = count, start = count / 2; sorted > 1;) {
        uint64_t at, moving;
        if (start > 0) {
            at = --start;
            moving = hits[at];
        } else {
            at = 0;
            moving = hits[--sorted];
            hits[sorted] = hits[0];
        }
        for (uint64_t child = 2 * at + 1; child < sorted; child = 2 * at + 1) {
            child += child + 1 < sorted && hits[child + 1] > hits[child];
            if (hits[child] <= moving)
                break;
            hits[at] = hits[child];
            at = child;
        }
        hits[at] = moving;
    }
}

static void put_hits(const cast_job *job, uint64_t i)
{
    uint64_t first = job->first[i], end = job->first[i + 1];
    sort_hits(job->found + first, end - first);
    for (uint64_t at = first; at < TML_MIN_OF(end, job->room); at++) {
        uint32_t bits = (uint32_t)(job->found[at] >> 32);
        if (job->rays)
            job->rays[at] = (uint32_t)i;
        if (job->triangles)
            job->triangles[at] = (uint32_t)job->found[at];
        if (job->t)
            memcpy(job->t + at, &bits, sizeof bits);
    }
}

static void put(const cast_job *job, uint64_t i, const cast_ray *ray)
{
    if (job->found) {
        put_hits(job, i);
        return;
    }
    put_ray(job, i, ray);
    if (job->first)
        job->first[i + 1] = ray->count;
}

/* Loads ray number i. False: it hits nothing. */
static bool begin(const cast_job *job, uint64_t i, cast_ray *ray)
{
    const float for_all[2] = {0, job->desc->t_max == 0.0f ? INFINITY : job->desc->t_max};
    *ray = (cast_ray){.tree = job->desc->tree, .want = job->desc->want, .best = UINT64_MAX};
    if (job->found)
        ray->hits = job->found + job->first[i];
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

static void rays_task(void *argument, uint32_t task)
{
    const cast_job *job = argument;
    uint64_t round = job->rounds.first, at = (uint64_t)task * COLLIDE_ITEMS_A_TASK;
    uint64_t end = TML_MIN_OF(at + COLLIDE_ITEMS_A_TASK, job->count - round), numbers[CAST_WALKS];
    cast_walk walks[CAST_WALKS];
    while (at < end) {
        uint32_t going = 0;
        for (; going < CAST_WALKS && at < end; at++) {
            uint64_t i = round + (job->rounds.order ? (uint32_t)job->rounds.order[at] : at);
            if (job->rounds.order && at + CAST_WALKS < end)
                prefetch_ray(job, round + (uint32_t)job->rounds.order[at + CAST_WALKS]);
            if (begin(job, i, &walks[going].ray))
                numbers[going++] = i;
            else
                put(job, i, &walks[going].ray);
        }
        job->loops->follow(walks, going);
        for (uint32_t k = 0; k < going; k++)
            put(job, numbers[k], &walks[k].ray);
    }
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Rays go by where they begin, and among these by where they point: near ones find the tree's nodes in the cache. */
enum { PLACE_BITS = 7, WAY_BITS = COLLIDE_CODE_BITS - PLACE_BITS };

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
    uint64_t round = job->rounds.first, first = (uint64_t)task * COLLIDE_ITEMS_A_TASK;
    uint64_t end = TML_MIN_OF(first + COLLIDE_ITEMS_A_TASK, job->count - round);
    for (uint64_t i = first; i < end; i++) {
        float origin[3], direction[3];
        uint64_t code = 0;
        if (load_ray(job, round + i, origin, direction))
            code = (uint64_t)collide_code(job->desc->tree, origin, PLACE_BITS) << 3 * WAY_BITS |
                   way_code(direction);
        job->rounds.order[i] = code << 32 | i;
    }
}

static tml_status no_memory(tml_context *tml, size_t size)
{
    return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %zu bytes", call, size);
}

static tml_status run_in_order(tml_context *tml, cast_job *job)
{
    job->rounds = (collide_rounds){.call = call,
                                   .stage = "rays",
                                   .before = job->found ? 0.5 : 0.0,
                                   .share = job->first ? 0.5 : 1.0,
                                   .find_codes = codes_task,
                                   .work = rays_task,
                                   .job = job,
                                   .count = job->count};
    return collide_rounds_run(tml, &job->rounds);
}

/* Counts every ray's hits; then finds them again, and puts them where they belong. */
static tml_status run_all(tml_context *tml, cast_job *job)
{
    job->first = tml_alloc_array(tml, job->count + 1, sizeof *job->first);
    if (!job->first)
        return no_memory(tml, (size_t)(job->count + 1) * sizeof *job->first);
    job->first[0] = 0;
    tml_status status = run_in_order(tml, job);
    for (uint64_t i = 0; i < job->count && status == TML_OK; i++)
        job->first[i + 1] += job->first[i];
    uint64_t total = job->first[job->count];
    if (status == TML_OK && total > 0 && job->room > 0) {
        job->found = tml_alloc_array(tml, total, sizeof *job->found);
        status = job->found ? run_in_order(tml, job)
                            : no_memory(tml, (size_t)(total * sizeof *job->found));
        tml_free(tml, job->found, (size_t)total * sizeof *job->found);
    }
    tml_free(tml, job->first, (size_t)(job->count + 1) * sizeof *job->first);
    if (status == TML_OK && job->total && job->is_total_64)
        memcpy(job->total, &total, sizeof total);
    else if (status == TML_OK && job->total)
        *job->total = (uint32_t)TML_MIN_OF(total, (uint64_t)UINT32_MAX);
    return status;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* A buffer of the desc, what it must be, and where its memory goes in a job. */
typedef struct field {
    const char *name;
    tml_buffer buffer;
    tml_type type;   /* NONE: u32 or u64 */
    uint32_t wants;  /* bits of what it is for; 0: an input */
    bool is_one_ray; /* one element a ray; else as many as there is room for */
    void *to;        /* of a pointer */
} field;
enum { FIELD_COUNT = 12, INPUT_COUNT = 5, OUTPUT_COUNT = FIELD_COUNT - INPUT_COUNT };

#define WANTS(name) (1u << TML_CAST_##name)
#define FIELD(name, type, wants, is)                                                               \
    {                                                                                              \
        "desc." #name, d->name, type, wants, is, &job->name                                        \
    }

static void list_fields(const tml_tree_cast_desc *d, cast_job *job, field out[FIELD_COUNT])
{
    const uint32_t all = WANTS(ALL), nearest = WANTS(NEAREST), counts = all | WANTS(COUNT);
    const uint32_t any = counts | nearest | WANTS(ANY);
    const tml_type vec2_type = TML_VEC(TML_F32, 2), vec3_type = TML_VEC(TML_F32, 3);
    bool one = d->want != TML_CAST_ALL;
    const field fields[FIELD_COUNT] = {
        FIELD(origins, vec3_type, 0, true),
        FIELD(directions, vec3_type, 0, true),
        FIELD(limits, vec2_type, 0, true),
        FIELD(pose_of, TML_U32, 0, true),
        FIELD(poses, TML_VEC(TML_F32, 4), 0, false),
        FIELD(hits, TML_U8, any, true),
        FIELD(counts, TML_U32, counts, true),
        FIELD(rays, TML_U32, all, false),
        FIELD(triangles, TML_U32, all | nearest, one),
        FIELD(t, TML_F32, all | nearest, one),
        FIELD(barycentrics, vec2_type, nearest, true),
        FIELD(total, TML_TYPE_NONE, all, false),
    };
    memcpy(out, fields, sizeof fields);
}

static tml_status check_field(tml_context *tml, const tml_tree_cast_desc *d, const field *f)
{
    static const char *const names[] = {"NEAREST", "ANY", "COUNT", "ALL"};
    const tml_type types[] = {f->type, TML_TYPE_NONE};
    if (f->wants && !(f->wants >> d->want & 1))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s is given, and desc.want is TML_CAST_%s, which has none", call,
                         f->name, names[d->want]);
    return f->type == TML_TYPE_NONE ? stream_check_count(tml, call, f->name, f->buffer, 0)
                                    : tml_check_buffer(tml, call, f->name, f->buffer, types,
                                                       f->is_one_ray ? d->length.count : 0);
}

static tml_status check_fields(tml_context *tml, const tml_tree_cast_desc *d)
{
    cast_job unused;
    field fields[FIELD_COUNT];
    stream_field outputs[OUTPUT_COUNT];
    stream_input inputs[INPUT_COUNT + 1] = {{"desc.length.device", d->length.device, 0}};
    bool has_output = false;
    list_fields(d, &unused, fields);
    for (int i = 0; i < FIELD_COUNT; i++) {
        const field *f = &fields[i];
        bool is_output = i >= INPUT_COUNT, is_given = !tml_buffer_is_none(f->buffer);
        tml_status status = is_given || i < 2 ? check_field(tml, d, f) : TML_OK;
        if (status != TML_OK)
            return status;
        has_output |= is_output && is_given;
        if (is_output)
            outputs[i - INPUT_COUNT] = (stream_field){f->name, f->buffer};
        else
            inputs[i + 1] = (stream_input){f->name, f->buffer, 0};
    }
    if (!has_output)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: no output is given; needs one of those that desc.want has", call);
    return stream_check_memory(tml, call, outputs, OUTPUT_COUNT, inputs, INPUT_COUNT + 1);
}

static tml_status check_poses(tml_context *tml, const tml_tree_cast_desc *d)
{
    uint64_t rows = stream_count_of(tml, d->poses);
    bool is_none = tml_buffer_is_none(d->poses);
    if (is_none && !tml_buffer_is_none(d->pose_of))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.pose_of is given and desc.poses is not", call);
    if (!is_none && (rows == 0 || rows % 3 != 0))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.poses has %" PRIu64 " rows, needs three a pose", call, rows);
    return TML_OK;
}

static tml_status check_desc(tml_context *tml, tml_tree_cast_desc *d)
{
    static const tml_type origin_types[] = {TML_VEC(TML_F32, 3), TML_TYPE_NONE};
    if (!d->tree)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "%s: desc.tree is NULL, needs a tree",
                         call);
    if ((unsigned)d->want > TML_CAST_ALL)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "%s: desc.want is not a tml_cast_want",
                         call);
    if (!(d->t_max >= 0.0f))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.t_max is %g, needs 0, for no limit, or more", call,
                         (double)d->t_max);
    tml_status status = tml_check_buffer(tml, call, "desc.origins", d->origins, origin_types, 0);
    if (status == TML_OK)
        status = stream_check_length(tml, call, stream_count_of(tml, d->origins), &d->length);
    if (status == TML_OK)
        status = check_fields(tml, d);
    return status == TML_OK ? check_poses(tml, d) : status;
}

/* Runs the job over its buffers' memory. */
static tml_status run_mapped(tml_context *tml, cast_job *job)
{
    field fields[FIELD_COUNT];
    int mapped = 0;
    tml_status status = TML_OK;
    list_fields(job->desc, job, fields);
    for (; mapped < FIELD_COUNT; mapped++) {
        void *memory = NULL;
        if (tml_buffer_is_none(fields[mapped].buffer))
            continue;
        status = tml_buffer_map(tml, fields[mapped].buffer, &memory);
        if (status != TML_OK)
            break;
        memcpy(fields[mapped].to, &memory, sizeof memory);
        if (mapped >= INPUT_COUNT && !fields[mapped].is_one_ray &&
            fields[mapped].type != TML_TYPE_NONE)
            job->room = TML_MIN_OF(job->room, stream_count_of(tml, fields[mapped].buffer));
    }
    if (job->room == UINT64_MAX)
        job->room = 0;
    if (status == TML_OK && job->desc->want == TML_CAST_ALL)
        status = run_all(tml, job);
    else if (status == TML_OK)
        status = run_in_order(tml, job);
    while (mapped-- > 0)
        if (!tml_buffer_is_none(fields[mapped].buffer))
            tml_buffer_unmap(tml, fields[mapped].buffer);
    return status;
}

tml_status cast_on_host(tml_context *tml, const tml_tree_cast_desc *desc, uint64_t count)
{
    cast_job job = {.desc = desc,
                    .loops = loops_for_processor(),
                    .count = count,
                    .pose_count = stream_count_of(tml, desc->poses) / 3,
                    .room = UINT64_MAX};
    tml_type total_type = TML_TYPE_NONE;
    if (tml_buffer_describe(tml, desc->total, &total_type, NULL))
        job.is_total_64 = total_type == TML_U64;
    tml_status status = collide_tree_fetch(tml, call, desc->tree, COLLIDE_STALE_ALL);
    return status == TML_OK ? run_mapped(tml, &job) : status;
}

static tml_status cast(tml_context *tml, const tml_tree_cast_desc *given)
{
    tml_tree_cast_desc desc = *given;
    uint64_t count = 0;
    tml_status status = check_desc(tml, &desc);
    if (status == TML_OK)
        status = tml_refuse_recording(tml, call, NULL);
    if (status == TML_OK)
        status = collide_tree_fetch(tml, call, desc.tree, COLLIDE_STALE_SIZES);
    if (status == TML_OK)
        status = stream_read_length(tml, &desc.length, &count);
    if (status == TML_OK && rays_run_on_device(tml, &desc, count))
        return rays_on_device(tml, &desc, count);
    return status == TML_OK && (count > 0 || desc.want == TML_CAST_ALL)
               ? cast_on_host(tml, &desc, count)
               : status;
}

tml_status tml_tree_cast(tml_context *tml, const tml_tree_cast_desc *desc)
{
    tml_status status = TML_ENTER(tml, desc);
    return status ? status : tml_leave(tml, cast(tml, desc));
}

#include "kernels/kernel_end.h"
