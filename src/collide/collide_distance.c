/* tml_collide_distance: checks the desc, and computes the distances on the host or the device. */
#include <math.h>

#include "collide/collide_distance.h"
#include "core/call.h"

/* Returns the first given field that only tml_collide_distance_enqueue supports; NULL: none. */
static const char *field_of_enqueue(const tml_collide_distance_desc *desc)
{
    const struct {
        const char *name;
        tml_buffer buffer;
    } buffers[] = {{"pose_buffer", desc->pose_buffer}, {"distances", desc->distances},
                   {"points_a", desc->points_a},       {"points_b", desc->points_b},
                   {"triangles", desc->triangles},     {"needed", desc->needed}};
    for (size_t i = 0; i < TML_ARRAY_SIZE(buffers); i++)
        if (!tml_buffer_is_none(buffers[i].buffer))
            return buffers[i].name;
    if (desc->length.count || desc->length.exact || !tml_buffer_is_none(desc->length.device))
        return "length";
    return desc->capacity ? "capacity" : NULL;
}

static tml_status distance_check_desc(tml_context *tml, const tml_collide_distance_desc *desc)
{
    const char *wrong = NULL;
    const char *other = field_of_enqueue(desc);
    if (other)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT,
                         "tml_collide_distance: desc.%s is given, which is for "
                         "tml_collide_distance_enqueue; poses come from the host here, and results "
                         "go to out",
                         other);
    if (!desc->a || !desc->b)
        wrong = !desc->a ? "desc.a is NULL, needs a tree" : "desc.b is NULL, needs a tree";
    else if (!desc->poses && desc->pose_count > 1)
        wrong = "desc.pose_count is more than 1 though desc.poses is NULL";
    else if (desc->poses && desc->pose_count == 0)
        wrong = "desc.pose_count is 0 though desc.poses is given";
    else if (!(desc->limit >= 0))
        wrong = "desc.limit is below 0 or NaN; 0 is none";
    else if (!(desc->tolerance >= 0 && desc->tolerance < INFINITY))
        wrong = "desc.tolerance is below 0 or not finite";
    else if ((unsigned)desc->method > TML_COLLIDE_METHOD_BREADTH_FIRST)
        wrong = "desc.method is none of TML_COLLIDE_METHOD_AUTO, _DEPTH_FIRST and _BREADTH_FIRST";
    if (wrong)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "tml_collide_distance: %s", wrong);
    if (desc->method == TML_COLLIDE_METHOD_BREADTH_FIRST && tml->engine->tier)
        return tml_error(tml, TML_ERROR_UNSUPPORTED,
                         "tml_collide_distance: desc.method is TML_COLLIDE_METHOD_BREADTH_FIRST, "
                         "which %s has not; leave it TML_COLLIDE_METHOD_AUTO",
                         tml->engine->tier(tml));
    return tml_refuse_recording(tml, "tml_collide_distance", NULL);
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
    const char *call = "tml_collide_distance";
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
