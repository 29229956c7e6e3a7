/* tml_collide_distance: checks the desc, and computes the distances on the host or the device. Also
 * the checks of tml_collide_distance_enqueue. */
#include <float.h>
#include <math.h>

#include "collide/collide_distance.h"
#include "stream/desc.h"

static const char call[] = "tml_collide_distance";

/* The fields of tml_collide_distance, and then those of tml_collide_distance_enqueue alone. */
enum { A, B, LIMIT, TOLERANCE, METHOD, FIELDS };
enum { LENGTH = FIELDS, POSE_BUFFER, DISTANCES, POINTS_A, POINTS_B, TRIANGLES, NEEDED };
static const desc_range limits = {0, INFINITY, "0, for no limit, or more"},
                        tolerances = {0, DBL_MAX, "0 or more, and not infinity"};
static const tml_type doubles[] = {TML_F64, TML_TYPE_NONE},
                      pairs[] = {TML_VEC(TML_U32, 2), TML_TYPE_NONE};
#define ROW(field, ...) DESC_ROW(tml_collide_distance_desc, field, __VA_ARGS__)
#define OUT(field, ...) ROW(field, DESC_OUT, .is_optional = true, __VA_ARGS__)
static const desc_row rows[] = {
    [A] = ROW(a, DESC_POINTER, .of = "a tree"),
    [B] = ROW(b, DESC_POINTER, .of = "a tree"),
    [LIMIT] = ROW(limit, DESC_F64, .range = &limits),
    [TOLERANCE] = ROW(tolerance, DESC_F64, .range = &tolerances),
    [METHOD] = ROW(method, DESC_ENUM, .of = "tml_collide_method",
                   .most = TML_COLLIDE_METHOD_BREADTH_FIRST),
    [LENGTH] = ROW(length, DESC_LENGTHS),
    [POSE_BUFFER] = ROW(pose_buffer, DESC_IN, .is_optional = true, .types = stream_f32_types,
                        .count = DESC_TIMES),
    [DISTANCES] = ROW(distances, DESC_OUT, .types = doubles, .count = DESC_LENGTH),
    [POINTS_A] = OUT(points_a, .types = stream_f32x3_types, .count = DESC_LENGTH),
    [POINTS_B] = OUT(points_b, .types = stream_f32x3_types, .count = DESC_LENGTH),
    [TRIANGLES] = OUT(triangles, .types = pairs, .count = DESC_LENGTH),
    [NEEDED] = OUT(needed, .types = stream_u32_types, .count = DESC_ONE)};

/* Returns the first given field that only tml_collide_distance_enqueue supports; NULL: none. */
static const char *field_of_enqueue(const tml_collide_distance_desc *desc)
{
    const uint32_t given = desc_given(&DESC_TABLE(rows), desc);
    if (desc->length.count || desc->length.exact || !tml_buffer_is_none(desc->length.device))
        return rows[LENGTH].name;
    for (uint32_t row = POSE_BUFFER; row <= NEEDED; row++)
        if (given >> row & 1)
            return rows[row].name;
    return desc->capacity ? "desc.capacity" : NULL;
}

static tml_status distance_check_desc(tml_context *tml, const tml_collide_distance_desc *desc)
{
    tml_collide_distance_desc checked = *desc;
    const char *other = field_of_enqueue(desc);
    if (other)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: %s is given, which is for tml_collide_distance_enqueue; poses come "
                         "from the host here, and results go to out",
                         call, other);
    tml_status status =
        desc_check(tml, call, &(desc_table){rows, FIELDS}, &checked, &(desc_numbers){0});
    if (status)
        return status;
    if (desc->poses ? desc->pose_count == 0 : desc->pose_count > 1)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "%s: desc.pose_count is %u, needs %s",
                         call, desc->pose_count,
                         desc->poses ? "at least 1 with desc.poses"
                                     : "at most 1 without desc.poses");
    if (desc->method == TML_COLLIDE_METHOD_BREADTH_FIRST && tml->engine->tier)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "%s: desc.method is TML_COLLIDE_METHOD_BREADTH_FIRST, "
                         "which %s has not; leave it TML_COLLIDE_METHOD_AUTO",
                         call, tml->engine->tier(tml));
    return tml_refuse_recording(tml, call, NULL);
}

tml_status distance_check_enqueue(tml_context *tml, const char *name,
                                  tml_collide_distance_desc *desc)
{
    enum { POSES_MOST = 1 << 20 };
    const bool has_poses = !tml_buffer_is_none(desc->pose_buffer);
    const uint64_t given = has_poses ? stream_count_of(tml, desc->pose_buffer) / 12 : 1;
    desc_numbers numbers = {.of[DESC_LENGTH] = given, .times = 12};
    const char *wrong = NULL;
    if (desc->poses || desc->pose_count)
        wrong = "desc.poses or desc.pose_count is given, which are for tml_collide_distance; give "
                "desc.pose_buffer and desc.length";
    else if (desc->method || desc->memory_limit)
        wrong = "desc.method or desc.memory_limit is given, which are for tml_collide_distance; "
                "desc.capacity limits memory here";
    if (wrong)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "%s: %s", name, wrong);
    tml_status status = desc_check(tml, name, &DESC_TABLE(rows), desc, &numbers);
    if (status)
        return status;
    if (desc->length.count > POSES_MOST || (!has_poses && desc->length.count > 1))
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "%s: desc.length.count is %zu, needs at most %d poses, or 1 without "
                         "desc.pose_buffer",
                         name, (size_t)desc->length.count, (int)POSES_MOST);
    desc->limit = desc->limit > 0 ? desc->limit : (double)INFINITY;
    return TML_OK;
}

/* Whether the device is likely faster. Any call takes some tenths of a millisecond there. */
static bool is_broad_faster(const distance_job *job)
{
    enum { TRIANGLES_AND_POSES = 1 << 14 };
    return job->tml->device.engine == TML_ENGINE_VULKAN &&
           (uint64_t)job->pose_count * (job->a->count + job->b->count) >= TRIANGLES_AND_POSES;
}

static tml_status distance(tml_context *tml, const tml_collide_distance_desc *desc,
                           tml_collide_distance_result *out)
{
    tml_status status = distance_check_desc(tml, desc);
    if (status != TML_OK)
        return status;
    distance_job job = {.tml = tml,
                        .a = desc->a,
                        .b = desc->b,
                        .pose_count = TML_MAX_OF(desc->pose_count, 1u),
                        .limit = desc->limit > 0 ? desc->limit : INFINITY,
                        .tolerance = desc->tolerance,
                        .memory_limit = desc->memory_limit,
                        .out = out};
    collide_pose *made = tml_alloc_array(tml, job.pose_count, sizeof *made);
    if (!made)
        return tml_error(tml, TML_ERROR_OUT_OF_MEMORY, "%s: no memory for %u poses, %zu bytes each",
                         call, job.pose_count, sizeof *made);
    job.poses = made;
    bool is_broad = desc->method == TML_COLLIDE_METHOD_BREADTH_FIRST ||
                    (desc->method == TML_COLLIDE_METHOD_AUTO && is_broad_faster(&job));
    status =
        trees_fetch(tml, call, job.a, job.b, is_broad ? COLLIDE_STALE_SIZES : COLLIDE_STALE_ALL);
    for (uint32_t p = 0; p < job.pose_count && status == TML_OK; p++)
        status = collide_pose_make(tml, call, job.a, job.b,
                                   desc->poses ? desc->poses + 12 * (size_t)p : NULL, p, &made[p]);
    TML_THEN(status, is_broad ? distance_on_device(&job) : distance_depth_first(&job));
    tml_free(tml, made, job.pose_count * sizeof *made);
    return status;
}

tml_status tml_collide_distance(tml_context *tml, const tml_collide_distance_desc *desc,
                                tml_collide_distance_result *out)
{
    tml_status status = TML_ENTER(tml, desc, out);
    return status ? status : tml_leave(tml, distance(tml, desc, out));
}
