/* tml_collide: checks the desc, chooses a descent, and sorts the pairs that it found.
 *
 * After: Gottschalk, Lin, Manocha: OBBTree: A Hierarchical Structure for Rapid Interference
 * Detection. 1996; Lauterbach, Mo, Manocha: gProximity: Hierarchical GPU-based Operations for
 * Collision and Distance Queries. 2010. */
#include <math.h>
#include <string.h>

#ifdef TML_VULKAN
#    include <trommel/vulkan.h>
extern const tml_vulkan_kernel collide_own_kernels[]; /* made by the build */
#endif

#include "collide/collide_internal.h"
#include "core/call.h"
#include "core/host_sort.h"
#include "exact/exact.h"
#include "kernels/kernel.h"
/* Formulas in the language of kernels/kernel.h, which must be included first. */
#include "kernels/collide.k.h"

/* ---- order ----------------------------------------------------------------------------------- */

/* Poses are divided into this many ranges per thread. */
enum { RANGES_A_THREAD = 32 };

ALWAYS_INLINE uint64_t pair_key(const void *record)
{
    const tml_collide_pair *pair = record;
    return (uint64_t)pair->a << 32 | pair->b;
}

/* Sorts a pose's pairs by a and b, into to. pairs is undefined afterwards. */
static void sort_pairs(tml_collide_pair *pairs, tml_collide_pair *to, uint64_t count)
{
    if (count <= HOST_SORT_FEW) {
        host_sort_few(pairs, to, count, sizeof *pairs, pair_key);
        return;
    }
    tml_collide_pair *sorted = host_sort(pairs, to, count, sizeof *pairs, pair_key, 0);
    if (sorted != to)
        memcpy(to, sorted, (size_t)count * sizeof *pairs);
}

typedef struct order_work {
    const collide_job *job;
    const uint64_t *first; /* number of pairs before each pose */
    tml_collide_pair *to;
    uint32_t ranges;
} order_work;

static void order_task(void *argument, uint32_t range)
{
    const order_work *work = argument;
    uint64_t poses = work->job->pose_count;
    for (uint64_t p = poses * range / work->ranges; p < poses * (range + 1) / work->ranges; p++)
        sort_pairs(work->job->pairs + work->first[p], work->to + work->first[p],
                   work->first[p + 1] - work->first[p]);
}

/* Sorts the job's pairs by pose, a and b. Except for FIRST, they already are in the order of poses.
 * first: number of pairs before each pose. */
static tml_status order_pairs(collide_job *job, const uint64_t *first)
{
    uint64_t count = first[job->pose_count];
    tml_collide_pair *ordered = tml_alloc_array(job->tml, count, sizeof *ordered);
    if (!ordered)
        return tml_error(job->tml, TML_ERROR_OUT_OF_MEMORY,
                         "tml_collide: no memory for %zu bytes to sort in",
                         (size_t)count * sizeof *ordered);
    uint32_t ranges = TML_MIN_OF(job->pose_count, RANGES_A_THREAD * tml_concurrency(job->tml));
    order_work work = {job, first, ordered, ranges};
    if (job->want == TML_COLLIDE_WANT_FIRST)
        for (uint64_t i = 0; i < count; i++)
            ordered[first[job->pairs[i].pose]] = job->pairs[i];
    else
        tml_parallel_for(job->tml, ranges, order_task, &work);
    tml_free(job->tml, job->pairs, (size_t)job->pair_capacity * sizeof *job->pairs);
    job->pairs = ordered;
    job->pair_capacity = count;
    return TML_OK;
}

/* ---- segments -------------------------------------------------------------------------------- */

typedef struct segment_job {
    const collide_job *job;
    const uint32_t *a_slots, *b_slots; /* slot of each triangle */
    float *out;
} segment_job;

enum { SEGMENTS_A_TASK = 256 };
/* Bits of tml_collide_result.owned. */
enum { OWNED_PAIRS = 1, OWNED_SEGMENTS = 2 };

static void segment_task(void *argument, uint32_t task)
{
    const segment_job *work = argument;
    const collide_job *job = work->job;
    uint64_t first = (uint64_t)task * SEGMENTS_A_TASK;
    uint64_t end = TML_MIN_OF(first + SEGMENTS_A_TASK, job->pair_count);
    for (uint64_t i = first; i < end; i++) {
        const tml_collide_pair *pair = &job->pairs[i];
        float a[9], b[9];
        tree_triangle(job->a, work->a_slots[pair->a], a);
        collide_posed_triangle(job->b, &job->poses[pair->pose], work->b_slots[pair->b], b);
        float *ends = work->out + 6 * i;
        if (job->is_self)
            (void)collide_exact_neighbours(a, b, ends);
        else
            (void)collide_exact(a, b, ends);
    }
}

/* Returns the slot of each triangle of the mesh; NULL if memory is short. The caller frees it. */
static uint32_t *slots_of(tml_context *tml, const tml_tree *tree)
{
    uint32_t *slots = tml_alloc_array(tml, tree->triangle_count, sizeof *slots);
    for (uint32_t slot = 0; slots && slot < tree->level_count[0]; slot++)
        if (tree->ids[slot] != COLLIDE_NO_TRIANGLE)
            slots[tree->ids[slot]] = slot;
    return slots;
}

/* Computes the intersection segments of the job's pairs, in the order of the pairs. */
static tml_status make_segments(collide_job *job, float *out)
{
    const uint32_t parts = COLLIDE_STALE_IDS | COLLIDE_STALE_TRIANGLES;
    tml_status status = trees_fetch(job->tml, "tml_collide", job->a, job->b, parts);
    if (status != TML_OK)
        return status;
    uint32_t *a = slots_of(job->tml, job->a);
    uint32_t *b = job->is_self ? a : slots_of(job->tml, job->b);
    if (a && b) {
        segment_job work = {.job = job, .a_slots = a, .b_slots = b, .out = out};
        uint64_t tasks = TML_CEIL_DIV(job->pair_count, SEGMENTS_A_TASK);
        assert(tasks <= UINT32_MAX); /* 2^40 pairs are 16 TiB */
        tml_parallel_for(job->tml, (uint32_t)tasks, segment_task, &work);
    } else {
        status = tml_error(job->tml, TML_ERROR_OUT_OF_MEMORY,
                           "tml_collide: no memory to make segments in");
    }
    if (!job->is_self)
        tml_free(job->tml, b, (size_t)job->b->triangle_count * sizeof *b);
    tml_free(job->tml, a, (size_t)job->a->triangle_count * sizeof *a);
    return status;
}

/* ---- the call -------------------------------------------------------------------------------- */

static tml_status collide_check_desc(tml_context *tml, const tml_collide_desc *desc)
{
    const char *wrong = NULL;
    if (!desc->a)
        wrong = "desc.a is NULL, needs a tree";
    else if ((unsigned)desc->want > TML_COLLIDE_WANT_FIRST)
        wrong = "desc.want is none of TML_COLLIDE_WANT_ALL, _COUNT and _FIRST";
    else if ((unsigned)desc->method > TML_COLLIDE_METHOD_BREADTH_FIRST)
        wrong = "desc.method is none of TML_COLLIDE_METHOD_AUTO, _DEPTH_FIRST and _BREADTH_FIRST";
    else if (!desc->b && desc->poses)
        wrong = "desc.poses is given without desc.b; a mesh and itself have no pose";
    else if (desc->poses && desc->pose_count == 0)
        wrong = "desc.pose_count is 0 though desc.poses is given";
    else if (!desc->poses && desc->pose_count > 1)
        wrong = "desc.pose_count is more than 1 though desc.poses is NULL";
    else if (desc->classes >> TML_COLLIDE_CLASS_COUNT || desc->classes & 1)
        wrong = "desc.classes has bits that are no class; they are 1u << "
                "TML_COLLIDE_CLASS_CROSSING and "
                "so on";
    else if (desc->want == TML_COLLIDE_WANT_COUNT && (desc->pairs || desc->segments))
        wrong = "desc.pairs or desc.segments is given though desc.want is TML_COLLIDE_WANT_COUNT";
    else if (desc->pairs && desc->segments && !desc->segments_out)
        wrong = "desc.segments_out is NULL though desc.pairs is given and desc.segments asked for";
    else if (desc->segments_out && !(desc->pairs && desc->segments))
        wrong = "desc.segments_out is given without desc.pairs and desc.segments";
    if (wrong)
        return tml_error(tml, TML_ERROR_INVALID_ARGUMENT, "tml_collide: %s", wrong);
    if (desc->method == TML_COLLIDE_METHOD_BREADTH_FIRST && tml->engine->tier)
        return tml_error(
            tml, TML_ERROR_UNSUPPORTED,
            "tml_collide: desc.method is TML_COLLIDE_METHOD_BREADTH_FIRST, which %s has not; "
            "leave it TML_COLLIDE_METHOD_AUTO, or use the integer path or the CPU engine",
            tml->engine->tier(tml));
    return tml_refuse_recording(tml, "tml_collide", NULL);
}

/* Sorts the job's pairs, and writes pairs and segments to the caller's arrays or to new ones. */
static tml_status deliver(collide_job *job, const tml_collide_desc *desc, tml_collide_result *out)
{
    tml_context *tml = job->tml;
    out->count = 0;
    for (uint32_t p = 0; p < job->pose_count; p++) {
        out->first[p] = out->count;
        out->count += job->pose_counts[p];
    }
    out->first[job->pose_count] = out->count;
    if (desc->want == TML_COLLIDE_WANT_COUNT)
        return TML_OK;
    if (desc->pairs && out->count > desc->capacity)
        return tml_error(
            tml, TML_ERROR_CAPACITY,
            "tml_collide: desc.capacity is %llu, needs %llu pairs; TML_COLLIDE_WANT_COUNT tells "
            "beforehand",
            (unsigned long long)desc->capacity, (unsigned long long)out->count);
    size_t size = (size_t)out->count * sizeof *job->pairs;
    tml_status status = size ? order_pairs(job, out->first) : TML_OK;
    if (status != TML_OK)
        return status;
    if (desc->segments && size) {
        size_t segments_size = (size_t)out->count * 6 * sizeof *out->segments;
        float *segments = desc->pairs ? desc->segments_out
                                      : tml_alloc_array(tml, out->count, 6 * sizeof *segments);
        if (!segments)
            status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                               "tml_collide: no memory for %zu bytes of segments", segments_size);
        else
            status = make_segments(job, segments);
        if (status != TML_OK && !desc->pairs)
            tml_free(tml, segments, segments_size);
        else
            out->segments = segments;
    }
    if (status != TML_OK)
        return status;
    if (desc->pairs && size)
        memcpy(desc->pairs, job->pairs, size);
    out->pairs = desc->pairs;
    if (!desc->pairs && size) { /* the job's array becomes the result's */
        out->pairs = job->pairs;
        job->pairs = NULL;
        job->pair_capacity = 0;
    }
    out->owned = desc->pairs ? 0 : OWNED_PAIRS | OWNED_SEGMENTS;
    return TML_OK;
}

void collide_learn(tml_context *tml)
{
#ifdef TML_VULKAN
    if (tml->engine->learn)
        tml->engine->learn(tml, collide_own_kernels);
#else
    (void)tml;
#endif
}

/* Whether the device is likely faster. For FIRST, the host often knows after some twenty pairs of
 * boxes whether meshes meet, which takes 4 us per pose. An H100 needs more than 1000 poses to match
 * 16 threads; OpenGL ES on it, whose probe takes 0.6 s, is still slower at 10,000 poses. */
static bool is_broad_faster(const collide_job *job)
{
    enum { FIRST_POSES_A_THREAD = 64 };
    const tml_engine *engine = job->tml->engine;
    if (engine->is_host || engine->tier)
        return false;
    return job->want != TML_COLLIDE_WANT_FIRST ||
           (job->tml->device.engine == TML_ENGINE_VULKAN &&
            job->pose_count > (uint64_t)FIRST_POSES_A_THREAD * tml_concurrency(job->tml));
}

static tml_status collide(collide_job *job, const tml_collide_desc *desc, const tml_tree *b,
                          collide_pose *poses)
{
    bool is_broad = desc->method == TML_COLLIDE_METHOD_BREADTH_FIRST ||
                    (desc->method == TML_COLLIDE_METHOD_AUTO && is_broad_faster(job));
    uint32_t parts = is_broad ? COLLIDE_STALE_SIZES : COLLIDE_STALE_ALL;
    tml_status status = trees_fetch(job->tml, "tml_collide", job->a, job->b, parts);
    for (uint32_t p = 0; p < job->pose_count && status == TML_OK; p++)
        status = collide_pose_make(job->tml, "tml_collide", job->a, b,
                                   desc->poses ? desc->poses + 12 * (size_t)p : NULL, p, &poses[p]);
    if (status != TML_OK)
        return status;
    collide_learn(job->tml);
    return is_broad ? collide_breadth_first(job) : collide_depth_first(job);
}

static tml_status collide_meshes(tml_context *tml, const tml_collide_desc *desc,
                                 tml_collide_result *out)
{
    tml_status status = collide_check_desc(tml, desc);
    if (status != TML_OK)
        return status;
    uint32_t pose_count = TML_MAX_OF(desc->pose_count, 1u);
    tml_tree *b = desc->b ? desc->b : desc->a;
    collide_job job = {.tml = tml,
                       .a = desc->a,
                       .b = b,
                       .is_self = !desc->b,
                       .pose_count = pose_count,
                       .want = desc->want,
                       .classes = desc->classes ? desc->classes : ~1u,
                       .memory_limit = desc->memory_limit};
    collide_pose *poses = tml_alloc_array(tml, pose_count, sizeof *poses);
    tml_collide_result result = {.pose_count = pose_count};
    job.poses = poses;
    job.pose_counts = tml_alloc_array(tml, pose_count, sizeof *job.pose_counts);
    result.first = tml_alloc_array(tml, (uint64_t)pose_count + 1, sizeof *result.first);
    /* tml_free requires the sizes. */
    size_t poses_size = pose_count * sizeof *poses;
    size_t counts_size = pose_count * sizeof *job.pose_counts;
    size_t first_size = ((size_t)pose_count + 1) * sizeof *result.first;
    if (!poses || !job.pose_counts || !result.first) {
        status = tml_error(tml, TML_ERROR_OUT_OF_MEMORY,
                           "tml_collide: no memory for %u poses, %zu bytes each; ask for some at a "
                           "time",
                           pose_count, sizeof *poses + sizeof *job.pose_counts + sizeof(uint64_t));
    } else {
        memset(job.pose_counts, 0, counts_size);
        status = collide(&job, desc, b, poses);
    }
    TML_THEN(status, deliver(&job, desc, &result));
    memcpy(result.class_counts, job.class_counts, sizeof result.class_counts);
    result.node_pairs = job.node_pairs;
    memcpy(result.step_pairs, job.step_pairs, sizeof result.step_pairs);
    result.step_count = job.step_count;
    result.tested = job.tested;
    result.unsure = job.unsure;
    result.parts = job.parts;
    tml_free(tml, job.pairs, (size_t)job.pair_capacity * sizeof *job.pairs);
    tml_free(tml, job.pose_counts, counts_size);
    tml_free(tml, poses, poses_size);
    if (status == TML_OK) {
        *out = result;
    } else {
        tml_free(tml, result.first, first_size);
        out->count = status == TML_ERROR_CAPACITY ? result.count : 0;
    }
    return status;
}

tml_status tml_collide(tml_context *tml, const tml_collide_desc *desc, tml_collide_result *out)
{
    if (out)
        *out = (tml_collide_result){.count = 0};
    tml_status status = TML_ENTER(tml, desc, out);
    return status ? status : tml_leave(tml, collide_meshes(tml, desc, out));
}

static void result_free(tml_context *tml, tml_collide_result *result)
{
    if (result->owned & OWNED_PAIRS)
        tml_free(tml, result->pairs, (size_t)result->count * sizeof *result->pairs);
    if (result->owned & OWNED_SEGMENTS)
        tml_free(tml, result->segments, (size_t)result->count * 6 * sizeof *result->segments);
    if (result->first)
        tml_free(tml, result->first, ((size_t)result->pose_count + 1) * sizeof *result->first);
    *result = (tml_collide_result){.count = 0};
}

void tml_collide_free(tml_context *tml, tml_collide_result *result)
{
    if (TML_ENTER(tml, result) != TML_OK)
        return;
    result_free(tml, result);
    (void)tml_leave(tml, TML_OK);
}

#include "kernels/kernel_end.h"
