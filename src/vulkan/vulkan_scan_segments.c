/* Segmented scan of integers on the Vulkan engine (shaders/scan_segments.glsl): one dispatch, with
 * decoupled look-back, or by one workgroup if the stream is short. Without forward progress:
 * reduce, then scan, in three dispatches. */
#include "vulkan/vulkan_internal.h"
#include "vulkan_shaders.h"

#include "kernels/kernel.h"

#include "vulkan/vulkan_args.k.h"
#include "vulkan/vulkan_stream.k.h"

#include "kernels/kernel_end.h"

enum { SHORT_TILES = 2 }; /* most elements for one workgroup in place of several dispatches */

typedef struct scan_segments_job {
    tml_context *tml;
    const vk_module *module;
    uint32_t specs[SCAN_SPECS];
    uint32_t tiles;
    uint32_t sum_size;
    uint32_t state_words;
    vk_address scratch; /* states while recording; reduce, then scan: carry-outs */
    scan_segments_args args;
} scan_segments_job;

static scan_segments_job vk_scan_segments_lay_out(tml_context *tml, const tml_scan_desc *desc,
                                                  vk_arena *arena)
{
    const tml_slot *in = tml_slot_of(tml, desc->in), *at = tml_slot_of(tml, desc->segments.offsets);
    uint32_t sum_size = (uint32_t)tml_slot_of(tml, desc->out)->element_size;
    bool is_wide = sum_size == 8;
    uint32_t tile = is_wide ? SCAN_TILE_OF_8 : SCAN_TILE_OF_4;
    scan_segments_job job = {
        .tml = tml,
        .module = is_wide ? &vk_shader_scan_segments_u64 : &vk_shader_scan_segments_u32,
        .specs = {[SCAN_SPEC_IN_LOG2] = (uint32_t)__builtin_ctzll(in->element_size),
                  [SCAN_SPEC_SIGNED] = tml_type_is_signed(in->type),
                  [SCAN_SPEC_INCLUSIVE] = desc->inclusive,
                  [SCAN_SPEC_WIDE] = at->type == TML_U64},
        .tiles = (uint32_t)TML_CEIL_DIV(desc->length.count, tile),
        .sum_size = sum_size,
        .args = {.in_at = vk_slot_address(in),
                 .offsets = vk_slot_address(at),
                 .out_at = vk_address_of(tml, desc->out),
                 .segments = (uint32_t)(at->count - 1),
                 .elements = (uint32_t)desc->length.count}};
    job.state_words = STATES_FIRST + (is_wide ? 3 : 2) * job.tiles;
    if (vk_caps_of(tml)->forward_progress) {
        job.scratch = vk_take(arena, job.state_words, sizeof(uint32_t));
    } else {
        job.scratch = vk_take(arena, job.tiles, sum_size);
        job.args.heads = vk_take(arena, job.tiles, sizeof(uint32_t));
    }
    return job;
}

static tml_status step(const scan_segments_job *job, uint32_t mode, uint32_t groups)
{
    vk_dispatch_info info = {.module = job->module,
                             .spec_count = SCAN_SPECS,
                             .look = mode == SCAN_ONE_PASS ? LOOK_SCAN_SEGMENTS : LOOK_NONE,
                             .args = &job->args,
                             .args_size = sizeof job->args,
                             .groups = groups};
    for (uint32_t s = 0; s < SCAN_SPECS; s++)
        info.specs[s] = job->specs[s];
    info.specs[SCAN_SPEC_MODE] = mode;
    return vk_dispatch(job->tml, &info);
}

static tml_status in_one_pass(scan_segments_job *job)
{
    vk_states states;
    tml_status status = vk_take_states(job->tml, job->state_words, job->scratch, &states);
    if (status)
        return status;
    job->args.states = states.words;
    job->args.clear = states.clear;
    job->args.clear_count = states.clear_count;
    job->args.stalled = states.stalled;
    return step(job, SCAN_ONE_PASS, job->tiles);
}

static tml_status vk_scan_segments_reduce_then_scan(scan_segments_job *job)
{
    job->args.states = job->scratch;
    tml_status status = step(job, SCAN_SUMS, job->tiles);
    if (status)
        return status;
    scan_segments_job of_sums = *job;
    of_sums.specs[SCAN_SPEC_IN_LOG2] = job->sum_size == 4 ? 2 : 3;
    of_sums.specs[SCAN_SPEC_SIGNED] = false;
    of_sums.specs[SCAN_SPEC_INCLUSIVE] = true;
    status = step(&of_sums, SCAN_TILES, 1);
    return status ? status : step(job, SCAN_ADD, job->tiles);
}

size_t vk_scan_segments_scratch(tml_context *tml, const tml_scan_desc *desc)
{
    vk_arena arena = {0};
    (void)vk_scan_segments_lay_out(tml, desc, &arena);
    return arena.size;
}

tml_status vk_scan_segments(tml_context *tml, const tml_scan_desc *desc, void *scratch)
{
    vk_arena arena = vk_arena_of(scratch);
    scan_segments_job job = vk_scan_segments_lay_out(tml, desc, &arena);
    if (job.tiles == 0)
        return TML_OK;
    if (job.tiles <= SHORT_TILES)
        return step(&job, SCAN_ALL, 1);
    return vk_caps_of(tml)->forward_progress ? in_one_pass(&job)
                                             : vk_scan_segments_reduce_then_scan(&job);
}
