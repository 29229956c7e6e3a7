/* Segmented scan on the Vulkan engine: of floats in this file (shaders/segments_scan.glsl;
 * vulkan/vulkan_stream.k.h lists the steps), of integers in vulkan_scan_segments.c. One invocation
 * scans a short segment. Middling and long segments are appended to lists on the device, over which
 * a fixed number of workgroups loops. Long segments are cut into the tiles of tml_scan, so that the
 * work is proportional to the number of elements. The lists have capacity for segments that do not
 * overlap. */
#include "vulkan/vulkan_fold.h"
#include "vulkan_shaders.h"

#include "kernels/kernel.h"

#include "vulkan/vulkan_stream.k.h"

#include "kernels/kernel_end.h"

enum { MAX_SPECS = 4 };

typedef struct segments_job {
    tml_context *tml;
    const vk_module *module;
    uint32_t spec_count;
    uint32_t specs[MAX_SPECS];
    uint32_t segments;
    uint64_t most_tiles;
    segments_args args;
} segments_job;

/* The most elements of a short segment and of a middling one, and the elements of a tile. */
typedef struct segments_shape {
    uint64_t short_most, middling_most, tile;
    size_t result_size;
} segments_shape;

/* Lays out for up to n elements and so many segments. */
static void vk_segments_lay_out(tml_context *tml, tml_buffer in, uint64_t n, tml_buffer offsets,
                                uint64_t segments, tml_buffer out, const segments_shape *shape,
                                vk_arena *arena, segments_job *job)
{
    const tml_slot *from = tml_slot_of(tml, in), *at = tml_slot_of(tml, offsets);
    uint64_t middling = TML_MIN_OF(segments, n / shape->short_most);
    uint64_t longs = TML_MIN_OF(segments, n / shape->middling_most);
    *job = (segments_job){.tml = tml, .segments = (uint32_t)segments};
    job->most_tiles = longs ? n / shape->tile + longs : 0;
    segments_args *args = &job->args;
    args->in_at = vk_slot_address(from);
    args->offsets = vk_slot_address(at);
    args->out_at = vk_address_of(tml, out);
    args->counters = vk_take(arena, SEGMENTS_COUNTERS, sizeof(uint32_t));
    args->tiles = vk_take(arena, longs, sizeof(uint32_t)); /* adjacent to the counters */
    args->longs = vk_take(arena, longs, sizeof(uint32_t));
    args->middling = vk_take(arena, middling, sizeof(uint32_t));
    args->results = vk_take(arena, job->most_tiles, shape->result_size);
    args->segments = (uint32_t)segments;
    args->elements = (uint32_t)n;
    args->wide = at->type == TML_U64;
    args->middling_room = (uint32_t)middling;
    args->long_room = (uint32_t)longs;
    args->pass_tiles = (uint32_t)TML_MAX_OF(vk_caps_of(tml)->pass_items / shape->tile, (uint64_t)1);
}

static tml_status step(const segments_job *job, uint32_t mode, uint64_t groups)
{
    vk_dispatch_info info = {.module = job->module,
                             .spec_count = job->spec_count,
                             .args = &job->args,
                             .args_size = sizeof job->args,
                             .groups = groups};
    for (uint32_t s = 0; s < job->spec_count; s++)
        info.specs[s] = job->specs[s];
    info.specs[SCAN_SPEC_MODE] = mode;
    return vk_dispatch(job->tml, &info);
}

static tml_status step_over_segments(const segments_job *job, uint32_t mode)
{
    return step(job, mode, TML_CEIL_DIV((uint64_t)job->segments, VK_GROUP));
}

static tml_status step_over_list(const segments_job *job, uint32_t mode, uint64_t most)
{
    return step(job, mode, TML_MIN_OF(most, (uint64_t)SEGMENTS_GROUPS));
}

/* Lists the segments of each kind, and scans the long ones' tile counts. */
static tml_status vk_segments_find(const segments_job *job, vk_address scan_scratch)
{
    const segments_args *args = &job->args;
    uint64_t words = SEGMENTS_COUNTERS + (uint64_t)args->long_room;
    tml_status status = vk_fill(job->tml, args->counters, words, 0);
    if (!status)
        status = step_over_segments(job, SEGMENTS_FIND);
    if (!status && args->long_room > 0)
        status = vk_scan_counts(job->tml, args->tiles, args->long_room, scan_scratch, 0,
                                args->counters + 4 * SEGMENTS_TILE_COUNT);
    return status;
}

static tml_status do_middling(const segments_job *job)
{
    uint32_t per_group = VK_GROUP / vk_caps_of(job->tml)->subgroup;
    return step_over_list(job, SEGMENTS_MIDDLING,
                          TML_CEIL_DIV((uint64_t)job->args.middling_room, per_group));
}

/* ---- scan ------------------------------------------------------------------------------------ */

enum { QUAD = 4, SHORT_QUADS = 8 };

static void scan_specs(const tml_scan_desc *desc, tml_type in_type, segments_job *job)
{
    job->spec_count = 4;
    job->specs[SCAN_SPEC_IN_LOG2] = (uint32_t)__builtin_ctzll(tml_type_size(in_type));
    job->specs[SCAN_SPEC_SIGNED] = tml_type_is_signed(in_type);
    job->specs[SCAN_SPEC_INCLUSIVE] = desc->inclusive;
}

/* Floats: a segment's sums are those of tml_scan for a stream of its own. */
static void scan_lay_out(tml_context *tml, const tml_scan_desc *desc, vk_arena *arena,
                         segments_job *job, vk_address *scan_scratch)
{
    tml_type sum_type = tml_slot_of(tml, desc->out)->type;
    uint32_t lanes = vk_caps_of(tml)->subgroup, rows = sum_type == TML_F32 ? 8 : 4;
    vk_segments_lay_out(
        tml, desc->in, desc->length.count, desc->segments.offsets,
        tml_slot_of(tml, desc->segments.offsets)->count - 1, desc->out,
        &(segments_shape){.short_most = QUAD * TML_MIN_OF(lanes, (uint32_t)SHORT_QUADS),
                          .middling_most = (uint64_t)QUAD * rows * lanes,
                          .tile = (uint64_t)QUAD * rows * VK_GROUP,
                          .result_size = tml_type_size(sum_type)},
        arena, job);
    *scan_scratch = vk_take(arena, vk_scan_counts_scratch(job->args.long_room), 1);
    job->module = sum_type == TML_F32 ? &vk_shader_segments_scan_f32 : &vk_shader_segments_scan_f64;
    scan_specs(desc, tml_slot_of(tml, desc->in)->type, job);
}

static bool is_of_integers(const tml_context *tml, const tml_scan_desc *desc)
{
    return !tml_type_is_float(tml_slot_of(tml, desc->out)->type);
}

static bool scan_supports(tml_context *tml, const void *argument)
{
    const tml_scan_desc *desc = argument;
    return (tml_slot_of(tml, desc->out)->type != TML_F64 || vk_caps_of(tml)->float64) &&
           vk_segments_fit(desc->length.count, tml_slot_of(tml, desc->segments.offsets)->count - 1);
}

static size_t scan_scratch_size(tml_context *tml, const void *argument)
{
    const tml_scan_desc *desc = argument;
    if (is_of_integers(tml, desc))
        return vk_scan_segments_scratch(tml, desc);
    vk_arena arena = {0};
    segments_job job;
    vk_address scan_scratch;
    scan_lay_out(tml, desc, &arena, &job, &scan_scratch);
    return arena.size;
}

/* The job of a step whose elements are the tiles' sums (SEGMENTS_LONG). */
static segments_job job_of_sums(const segments_job *job, size_t sum_size, bool inclusive)
{
    segments_job of_sums = *job;
    of_sums.specs[SCAN_SPEC_IN_LOG2] = sum_size == 4 ? 2 : 3;
    of_sums.specs[SCAN_SPEC_SIGNED] = false;
    of_sums.specs[SCAN_SPEC_INCLUSIVE] = inclusive;
    return of_sums;
}

static tml_status scan_long(const segments_job *job, size_t sum_size)
{
    tml_status status = step_over_list(job, SEGMENTS_TILES, job->most_tiles);
    if (status)
        return status;
    segments_job of_sums = job_of_sums(job, sum_size, false);
    status = step_over_list(&of_sums, SEGMENTS_LONG, job->args.long_room);
    return status ? status : step_over_list(job, SEGMENTS_ADD, job->most_tiles);
}

static tml_status scan_each(tml_context *tml, const tml_scan_desc *desc, void *scratch)
{
    vk_arena arena = vk_arena_of(scratch);
    segments_job job;
    vk_address scan_scratch;
    scan_lay_out(tml, desc, &arena, &job, &scan_scratch);
    tml_status status = vk_segments_find(&job, scan_scratch);
    if (!status)
        status = step_over_segments(&job, SEGMENTS_SHORT);
    if (!status)
        status = do_middling(&job);
    if (!status && job.args.long_room > 0)
        status = scan_long(&job, tml_slot_of(tml, desc->out)->element_size);
    return status;
}

static tml_status scan_run(tml_context *tml, const void *argument, void *scratch, size_t size)
{
    (void)size;
    const tml_scan_desc *desc = argument;
    return is_of_integers(tml, desc) ? vk_scan_segments(tml, desc, scratch)
                                     : scan_each(tml, desc, scratch);
}

const tml_engine_op vk_op_scan_segments = {scan_supports, scan_scratch_size, scan_run};
