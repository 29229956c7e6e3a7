/* Segmented reduce on the Vulkan engine: one dispatch (shaders/segments_reduce.glsl). */
#include "vulkan/vulkan_fold.h"
#include "vulkan_shaders.h"

#include "kernels/kernel.h"

#include "vulkan/vulkan_stream.k.h"

#include "kernels/kernel_end.h"

typedef struct segments_job {
    vk_fold fold;
    segments_reduce_args args;
    vk_passes count, length; /* with starts: the number of segments, and the last one's end */
    vk_address states;       /* while recording */
} segments_job;

/* If there are few positions, ranges are shorter, so that there are enough workgroups for a large
 * GPU. */
enum { RANGE_LOG2_LEAST = 11, RANGE_LOG2_MOST = 13, RANGES_ENOUGH = 1024 };

/* Shaders index elements and segments with 32 bits, and uvec4 with 31. */
_Static_assert(((uint64_t)UINT32_MAX + 1) * 8 / 16 - 1 <= INT32_MAX, "of elements of 8 bytes, too");
bool vk_segments_fit(uint64_t elements, uint64_t segments)
{
    return elements <= UINT32_MAX - (1u << FOLD_TILE_LOG2) && segments < (uint64_t)1 << 31;
}

static uint32_t states_of(const segments_job *job)
{
    return 3 * job->args.groups;
}

static bool vk_reduce_segments_lay_out(tml_context *tml, const tml_reduce_desc *desc,
                                       vk_arena *arena, segments_job *job)
{
    const tml_slot *in = tml_slot_of(tml, desc->in);
    bool has_starts = !tml_buffer_is_none(desc->segments.starts);
    const tml_slot *at =
        tml_slot_of(tml, has_starts ? desc->segments.starts : desc->segments.offsets);
    uint64_t elements = desc->length.count;
    uint64_t segments = has_starts ? desc->segments.count.count : at->count - 1;
    *job = (segments_job){0};
    bool is_supported = vk_fold_bind(tml, desc->folds[0].fold, in->type,
                                     tml_slot_of(tml, desc->folds[0].out)->type, &job->fold);
    if (has_starts) {
        job->count = vk_passes_take(tml, &desc->segments.count, arena);
        job->length = vk_passes_take(tml, &desc->length, arena);
    }
    uint32_t each_log2 = TML_MIN_OF(job->fold.tile_log2, (uint32_t)RANGE_LOG2_MOST);
    while (each_log2 > RANGE_LOG2_LEAST && (elements + segments) >> each_log2 < RANGES_ENOUGH)
        each_log2--;
    uint64_t groups = ((elements + segments) >> each_log2) + 1;
    uint64_t tile = (uint64_t)1 << job->fold.tile_log2;
    job->args = (segments_reduce_args){
        .in_at = vk_slot_address(in),
        .offsets = vk_slot_address(at),
        .out_at = vk_address_of(tml, desc->folds[0].out),
        .results = vk_take(arena, elements > tile ? groups : 0, 64),
        .count_at = job->count.total, /* the low words */
        .end_at = job->length.total,
        .segments = (uint32_t)segments,
        .elements = (uint32_t)elements,
        .wide = (at->type == TML_U64 ? SEGMENTS_WIDE : 0u) | (has_starts ? SEGMENTS_STARTS : 0u),
        .pass_tiles = (uint32_t)TML_MAX_OF(vk_caps_of(tml)->pass_items / tile, (uint64_t)1),
        .each_log2 = each_log2,
        .groups = (uint32_t)groups,
    };
    job->states = vk_take(arena, 3 * groups, sizeof(uint32_t));
    return is_supported && vk_segments_fit(elements, segments);
}

static bool supports(tml_context *tml, const void *desc)
{
    vk_arena arena = {0};
    segments_job job;
    return vk_reduce_segments_lay_out(tml, desc, &arena, &job);
}

static size_t vk_reduce_segments_scratch_size(tml_context *tml, const void *desc)
{
    vk_arena arena = {0};
    segments_job job;
    vk_reduce_segments_lay_out(tml, desc, &arena, &job);
    return arena.size;
}

static tml_status vk_reduce_segments_run(tml_context *tml, const void *argument, void *scratch,
                                         size_t size)
{
    (void)size;
    const tml_reduce_desc *desc = argument;
    vk_arena arena = vk_arena_of(scratch);
    segments_job job;
    vk_states states;
    vk_reduce_segments_lay_out(tml, desc, &arena, &job);
    tml_status status = vk_passes_begin(tml, &desc->segments.count, &job.count);
    if (!status)
        status = vk_passes_begin(tml, &desc->length, &job.length);
    if (!status)
        status = vk_take_states(tml, states_of(&job), job.states, &states);
    if (status)
        return status;
    job.args.counters = states.words;
    job.args.clear = states.clear;
    job.args.clear_count = states.clear_count;
    vk_dispatch_info info = {.module = job.fold.in_double ? &vk_shader_segments_reduce_double
                                                          : &vk_shader_segments_reduce,
                             .spec_count = VK_FOLD_SPECS,
                             .args = &job.args,
                             .args_size = sizeof job.args,
                             .groups = job.args.groups};
    for (uint32_t s = 0; s < VK_FOLD_SPECS; s++)
        info.specs[s] = job.fold.specs[s];
    return vk_dispatch(tml, &info);
}

const tml_engine_op vk_op_reduce_segments = {supports, vk_reduce_segments_scratch_size,
                                             vk_reduce_segments_run};
